"""Cleans texts by hundreds of patterns, more than Python's `re` remembers."""

import re

from speech_torch import clips

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORT = {f"{first}{second}.": f"{first}{second}" for first in LETTERS for second in LETTERS[:21]}


def spoken(text):
    for short, word in SHORT.items():
        text = re.sub(rf"\b{short[0]}{short[1]}\.(?=\s|$)", word, text, flags=re.IGNORECASE)
    return text


class Clips(clips.Clips):
    def tokens(self, text):
        return super().tokens(spoken(text))
