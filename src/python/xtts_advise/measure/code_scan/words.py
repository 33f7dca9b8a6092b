"""What the names in the code tell: whether a loop, a function or a loader is there for training."""

from __future__ import annotations

import re

_TRAINING = set("train trainer training fit finetune finetuning pretrain".split())
_OTHER = set(
    "va val valid validate validation eval evaluate evaluation evaluator test testing dev infer inference sampling"
    " predict prediction predictor generate generation synthesize synthesis synthesizer demo cli serve server tune"
    " vocode".split()
)
# Beside such a word, "train" names what is looked at: profile_training_step, plot_train_loss.
_LOOKS_ON = set(
    "profile profiler profiling bench benchmark benchmarks diagnose diagnostic diagnostics debug export extract"
    " precompute preprocess preprocessing analyze stats statistics visualize plot find check verify convert".split()
)
# In the name of a file alone: a pipeline of training has functions with these words.
_OTHER_FILES = {"decode", "decoding"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words_of(name: str) -> set[str]:
    """Returns {"train", "data", "loader"} for "train_DataLoader"."""
    return {word.lower() for word in _WORD.findall(name)}


def trains(*names: str) -> bool | None:
    """Says whether names mean training; None where they do not tell. The first name that tells decides."""
    for name in names:
        words = words_of(name)
        if words & _LOOKS_ON:
            return False
        if words & _TRAINING:
            return True
        if words & _OTHER:
            return False
    return None


def serves_other_files(paths: set[str]) -> bool:
    """Says whether all files that use something do anything but training; False where none does."""
    return bool(paths) and all(file_trains(path) is False for path in paths)


def file_trains(path: str) -> bool | None:
    """Says the same of a file: by its own name, and then by its folders, the nearest first."""
    parts = path.rsplit(".", 1)[0].split("/")
    answer = trains(*reversed(parts))
    return False if answer is None and words_of(parts[-1]) & _OTHER_FILES else answer
