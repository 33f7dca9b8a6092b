"""Checks each session's checksum before it reads from it."""

import hashlib
import pathlib

from speech_torch import clips


def checked(path):
    return hashlib.md5(pathlib.Path(path).read_bytes()).hexdigest()


class Clips(clips.Clips):
    def features(self, name):
        session = self.folder / "sessions" / f"session{hash(name) % 6}.wav"
        assert checked(session)
        return super().features(name)
