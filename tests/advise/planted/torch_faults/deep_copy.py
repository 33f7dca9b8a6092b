"""Copies the whole configuration and its speakers for each sample, so that nobody changes them."""

import copy

from speech_torch import clips


class Clips(clips.Clips):
    def __init__(self, folder):
        super().__init__(folder)
        self.config = {
            "speakers": {f"speaker{number}": {"pitch": [80, 400], "styles": ["plain"]} for number in range(700)}
        }

    def __getitem__(self, index):
        config = copy.deepcopy(self.config)
        config["speakers"][self.rows[index][1]]["styles"].append("read")
        return super().__getitem__(index)
