"""Keeps its rows in a list that a manager's process owns."""

import multiprocessing

from speech_torch import clips


class Clips(clips.Clips):
    def __init__(self, folder):
        super().__init__(folder)
        self.manager = multiprocessing.Manager()
        self.rows = self.manager.list(self.rows)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "manager"}

    def same_speaker(self, index):
        speaker = self.rows[index][1]
        return [other for other in range(len(self.rows)) if self.rows[other][1] == speaker]

    def __getitem__(self, index):
        assert index in self.same_speaker(index)
        return super().__getitem__(index)
