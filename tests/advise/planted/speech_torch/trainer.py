"""The model, and the loop that trains it."""

import torch
from torch import nn

from .ops import masked_l1


class Acoustic(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.text = nn.Embedding(64, width)
        self.first = nn.Linear(80, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(3))
        self.last = nn.Linear(width, 80)

    def forward(self, mels, tokens):
        hidden = self.first(mels) + self.text(tokens).mean(1, keepdim=True)
        for conv in self.convs:
            hidden = hidden + torch.relu(conv(hidden.transpose(1, 2))).transpose(1, 2)
        return self.last(hidden)


class Trainer:
    def __init__(self, args, queue=None):
        self.args = args
        self.queue = queue  # of the GPU's stand-in, or None
        self.model = Acoustic(args.width)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-2, momentum=0.9)

    def loss(self, mels, lengths, tokens):
        return masked_l1(self.model(mels, tokens), mels, lengths)

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(*batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def after_step(self, step, loss):
        if step % self.args.log_every == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)

    def batches(self, loader):
        while True:
            yield from loader
