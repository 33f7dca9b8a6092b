"""Adds up the loss as a Python number in each step."""

from speech_torch import trainer


class Trainer(trainer.Trainer):
    total = 0.0

    def after_step(self, step, loss):
        self.total += loss.item()
        if step % self.args.log_every == 0:
            print(f"step {step} loss {self.total / step:.4f}", flush=True)
