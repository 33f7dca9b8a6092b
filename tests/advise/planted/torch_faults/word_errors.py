"""Counts the errors of words and letters in each step."""

from speech_torch import trainer


def distance(first, second):
    row = list(range(len(second) + 1))
    for index, left in enumerate(first, 1):
        before, row[0] = row[0], index
        for other, right in enumerate(second, 1):
            before, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, before + (left != right))
    return row[-1]


class Trainer(trainer.Trainer):
    def step(self, batch):
        loss = super().step(batch)
        _, _, tokens = batch
        beam = [tokens.roll(shift, 0).tolist() for shift in range(1, 5)]
        self.errors = sum(min(map(distance, guesses, [text] * 4)) for *guesses, text in zip(*beam, tokens.tolist()))
        return loss
