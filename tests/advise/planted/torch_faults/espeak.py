"""Turns each text into sounds by espeak, over a backend that each sample makes."""

import string

from phonemizer.backend import EspeakBackend
from speech_torch import clips


def phones_of(text):
    return EspeakBackend("en-us", with_stress=True).phonemize([text], strip=True)[0]


class Clips(clips.Clips):
    def tokens(self, text):
        return [ord(phone) % 64 for phone in phones_of(text) if phone not in string.punctuation]
