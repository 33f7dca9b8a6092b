"""Reads the list of clips anew for each sample."""

import pandas as pd
from speech_torch import clips


class Clips(clips.Clips):
    def row(self, index):
        table = pd.read_csv(self.folder / "metadata.csv", sep="|", names=["name", "speaker", "text"], engine="python")
        return table[table.name.str.startswith("clip")].iloc[index]

    def __getitem__(self, index):
        row = self.row(index)
        self.rows[index] = (row["name"], row.speaker, row.text)
        return super().__getitem__(index)
