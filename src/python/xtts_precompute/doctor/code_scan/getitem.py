"""Sound that is decoded, or features that are computed, in a data set's __getitem__."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator

from .finds import find
from .project import Function, Project, calls_in, class_of

_DEPTH = 4
_WORK = re.compile(
    r"^(librosa\.(load|stft|resample|core\.(load|stft|resample)|feature\..*|effects\.trim|to_mono|griffinlim)"
    r"|torchaudio\.(load|functional\..*|compliance\.kaldi\..*|sox_effects\..*)"
    r"|soundfile\.read|scipy\.io\.wavfile\.read|audioread\..*|pydub\.AudioSegment\.from_.*"
    r"|torch\.stft|pyworld\..*|parselmouth\..*|whisper\.(load_audio|log_mel_spectrogram))$"
)


def finds(project: Project) -> Iterator[Dict[str, Any]]:
    """Yields one find for each data set, at the first call that does the work."""
    for function in project.functions.get("__getitem__", []):
        owner = class_of(function)
        if owner is None:
            continue
        for reached in project.reachable(function, _DEPTH):
            done = _first_work(reached)
            if done is None:
                continue
            call, name = done
            text = f"{owner.name}.__getitem__ calls {name} for each clip"
            if reached.node is not function.node:
                text += f", in {reached.node.name}()"
            yield find(reached.source, call, "features_in_getitem", text + ".")
            break


def _first_work(function: Function) -> Any:
    for call in calls_in(function.node):
        name = function.source.name_of(call.func)
        if _WORK.match(name):
            return call, name
    return None
