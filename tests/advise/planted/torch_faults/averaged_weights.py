"""Keeps an average of the weights, one Python number after the other."""

import torch
from speech_torch import trainer


class Average:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.weights = {name: weight.tolist() for name, weight in self.flat(model)}

    def flat(self, model):
        return ((name, weight.detach().flatten()) for name, weight in model.state_dict().items())

    def update(self, model):
        for name, weight in self.flat(model):
            kept = self.weights[name]
            self.weights[name] = [self.decay * old + (1 - self.decay) * new for old, new in zip(kept, weight.tolist())]


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        self.average = Average(self.model)

    @torch.no_grad()
    def after_step(self, step, loss):
        super().after_step(step, loss)
        self.average.update(self.model)
