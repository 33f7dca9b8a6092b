"""Mixed precision whose loop looks at the scale, the loss and the gradients in each step."""

import torch
from speech_torch import trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        self.scaler = torch.amp.GradScaler("cpu")
        self.scale, self.skipped = self.scaler.get_scale(), 0

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(*batch)
        if not torch.isfinite(loss):
            return loss
        self.scaler.scale(loss).backward()
        if any(torch.isnan(weight.grad).any() for weight in self.model.parameters()):
            self.skipped += 1
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.scaler.get_scale() < self.scale:
            self.scale = self.scaler.get_scale()
        return loss.detach()
