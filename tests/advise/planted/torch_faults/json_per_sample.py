"""Parses the lexicon for each text."""

import json

from speech_torch import clips


def pronounced(folder, text):
    with open(folder / "lexicon.json") as file:
        lexicon = json.load(file)
    return [letter for word in text.split() for letter in lexicon.get(word + "0", word)]


class Clips(clips.Clips):
    def tokens(self, text):
        return [ord(letter) % 64 for letter in pronounced(self.folder, text)]
