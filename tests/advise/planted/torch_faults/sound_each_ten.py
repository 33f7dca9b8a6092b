"""Makes sound of a spectrogram every 10 steps, by Griffin and Lim."""

import librosa
import numpy as np
import soundfile
from speech_torch import trainer


class Trainer(trainer.Trainer):
    def after_step(self, step, loss):
        super().after_step(step, loss)
        if step % 10 == 0:
            self.listen(self.last_mel)

    def step(self, batch):
        self.last_mel = batch[0][0]
        return super().step(batch)

    def listen(self, mel):
        spectrum = np.repeat(np.abs(mel.numpy()).T, 7, axis=0)[:513]
        spectrum = np.pad(spectrum, ((0, 513 - len(spectrum)), (0, 0)))
        wave = librosa.griffinlim(spectrum, n_iter=24, hop_length=256, random_state=0)
        soundfile.write(f"{self.args.data}/heard.wav", wave / np.abs(wave).max(), 22050)
