"""Reads a text's sounds aloud by espeak, for each sample."""

import string

from phonemizer import phonemize
from speech_torch import clips


class Clips(clips.Clips):
    def tokens(self, text):
        phones = " ".join(phonemize(word, language="en-us", backend="espeak", strip=True) for word in text.split())
        return [ord(phone) % 64 for phone in phones if phone not in string.punctuation]
