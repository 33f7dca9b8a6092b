"""Faults of the trainer itself, at 7e78353, that a user may take for ours, and how to avoid them."""

from __future__ import annotations

import re
import shlex
import sys
import traceback

# Our arguments for keys that some versions of the trainer refuse in their YAML.
_OURS = {"preprocessing_mode": "--mode", "cache_path": "--cache"}
_REFUSED_KEY = re.compile(r"(Data|Model|Training)Config\.__init__\(\) got an unexpected keyword argument '(\w+)'")


def fault_of(error: BaseException) -> str | None:
    """Returns one line that explains a known fault of the trainer, or None."""
    words = str(error)
    refused = _REFUSED_KEY.search(words)
    if refused:
        section, key = refused[1].lower(), refused[2]
        instead = f"take it out of the file, and say {_OURS[key]} here" if key in _OURS else _mended()
        return f"this version of the trainer has no key {section}.{key}: {instead}"
    if words == "unsupported operand type(s) for /: 'str' and 'float'":
        return f"a number of its configuration, such as 1e-4, is a text in YAML (1.0e-4 is a number): {_mended()}"
    if "Attempted to pad to a smaller size than the input element" in words:
        return (
            "with pad_to_fixed_length it fails at texts of more than max_text_length tokens: set "
            "data.max_text_tokens to the same number, which cuts them"
        )
    lacking = re.search(r"Metadata file not found: (\S*metadata(?:_train|_eval)?\.csv)", words)
    if lacking:
        return (
            f"there is no {lacking[1]}. The trainer reads the layout of LJSpeech alone, lines of ID|TEXT and "
            "wavs/ID.wav: train_main.py metadata_train.csv in --train-data and metadata_eval.csv in --val-data; "
            "myxtts.cli metadata.csv, unless its configuration names other lists. A loop of your own trains on a cache "
            'of any layout: xp.myxtts.open("config.yaml", data="./data", cache="./cache")'
        )
    functions = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    if "Binding inputs to tf.function failed" in words and "train_step" in functions:
        return (
            "with pad_to_fixed_length its compiled step takes full batches alone, and an epoch's last one may be "
            "short: accumulate over two steps, --grad-accum 2 (gradient_accumulation_steps), which takes any batch"
        )
    if words == "'NoneType' object has no attribute 'items'" and "_train_epoch" in functions:
        return (
            "its compiled step gives no losses: take --grad-accum 2 (gradient_accumulation_steps) or more; " + _mended()
        )
    return None


def _mended() -> str:
    words = sys.argv
    file = words[words.index("--config") + 1] if "--config" in words[:-1] else "config.yaml"
    return shlex.join(["xtts-precompute", "config", "check", file, "--fix"]) + " mends the file"
