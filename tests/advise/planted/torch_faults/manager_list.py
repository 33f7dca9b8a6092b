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

    def as_long(self, index):
        letters = len(self.rows[index][2])
        return [other for other in range(len(self.rows)) if abs(len(self.rows[other][2]) - letters) < 4]

    def __getitem__(self, index):
        self.alike = set(self.same_speaker(index)) & set(self.as_long(index))
        return super().__getitem__(index)
