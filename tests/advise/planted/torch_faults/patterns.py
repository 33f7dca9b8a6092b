"""Cleans texts by hundreds of patterns, more than Python's `re` remembers."""

import re

from speech_torch import clips

SHORT = {f"{first}{second}.": f"{first}{second}" for first in "abcdefghijklmnopqrstuvwxyz" for second in "abcdefghijklmnoprstuv"}


def spoken(text):
    for short, word in SHORT.items():
        text = re.sub(rf"\b{short[0]}{short[1]}\.(?=\s|$)", word, text, flags=re.IGNORECASE)
    return text


class Clips(clips.Clips):
    def tokens(self, text):
        return super().tokens(spoken(text))
