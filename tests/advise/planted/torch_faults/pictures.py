"""Draws each step's spectrogram."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from speech_torch import trainer


def draw(mel, path):
    figure, axes = plt.subplots(figsize=(8, 4))
    axes.imshow(mel.T, origin="lower", aspect="auto")
    axes.set_title("target")
    figure.savefig(path)
    plt.close(figure)


class Trainer(trainer.Trainer):
    def step(self, batch):
        loss = super().step(batch)
        draw(batch[0][0].detach().cpu().numpy(), f"{self.args.data}/target.png")
        return loss
