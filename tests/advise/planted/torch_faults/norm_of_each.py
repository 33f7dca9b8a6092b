"""Logs the norm of each parameter's gradient, each by an `.item()`."""

from speech_torch import trainer


class Trainer(trainer.Trainer):
    def step(self, batch):
        loss = super().step(batch)
        self.norms = self.gradient_norms()
        return loss

    def gradient_norms(self):
        return {name: weight.grad.norm().item() for name, weight in self.model.named_parameters()}
