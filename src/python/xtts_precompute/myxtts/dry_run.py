"""What the trainer's program will read and resume, found before TensorFlow is imported.

A child process runs the program up to the point where XTTSTrainer gets its data. It runs the trainer's
own arguments, defaults and configuration. TensorFlow, PyTorch and other heavy modules, and the trainer's
model and training, are names there that do nothing. Only programs that are known to come to that
point first are run: `myxtts.cli train`, and train_main.py.

`python -m xtts_precompute.myxtts.dry_run gpus|none [-m] PROGRAM ...` is the child.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import json
import logging.handlers
import os
import runpy
import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

from .._base.errors import InvalidArgumentError
from .features import has_native_in

_LIMIT_S = 60.0
_HEAVY = (
    "GPUtil keras librosa matplotlib numba pandas phonemizer PIL scipy sklearn soundfile tensorboard tensorflow "
    "tensorflow_model_optimization torch torchaudio tqdm transformers unidecode wandb"
).split()
_OURS = ("data", "evaluation", "inference", "models", "optimization", "training", "utils.audio", "utils.text")
_MARK = "xtts-dry-run: "
_TRAIN_MAIN = "train_main.py"


@dataclasses.dataclass(frozen=True)
class Planned:
    """What a program of the trainer's will do."""

    config: Any
    """The trainer's DataConfig, as a plain object."""
    train: str
    val: str
    resumes: str | None
    """The checkpoint that it resumes."""
    has_native: bool
    gpus: int


def planned(words: Sequence[str], is_module: bool) -> Planned | None:
    """Returns what the program will do; None if that is not known before it does it.

    InvalidArgumentError: its configuration has a value that is none.
    """
    if is_module:
        is_known = words[0] == "myxtts.cli" and "train" in words[1:2]
    else:
        is_known = os.path.basename(words[0]) == _TRAIN_MAIN
    if not is_known or {"-h", "--help"} & set(words):
        return None
    found = _asked(words, is_module, "gpus")
    # The trainer may choose lengths by the GPU's memory, if TensorFlow sees the GPU.
    if found is None or (found.gpus and _asked(words, is_module, "none") != dataclasses.replace(found, gpus=0)):
        return None
    return found


def _asked(words: Sequence[str], is_module: bool, gpus: str) -> Planned | None:
    command = [sys.executable, "-m", __name__, gpus, *(["-m"] if is_module else []), *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_LIMIT_S, stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line.removeprefix(_MARK) for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        return None
    said = json.loads(lines[-1])
    if "error" in said:
        raise InvalidArgumentError(said["error"])
    return Planned(**{**said, "config": types.SimpleNamespace(**said["config"])})


# ---- the child


class _Nothing:
    """A value that does nothing: each call, attribute and item is another one."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __call__(self, *given: Any, **_: Any) -> Any:
        # A decorator leaves the function or class as it is.
        return given[0] if len(given) == 1 and isinstance(given[0], (type, types.FunctionType)) else _Nothing()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name)

    def __getitem__(self, _: Any) -> Any:
        return _Nothing()

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __mro_entries__(self, _: Any) -> tuple[type, ...]:
        return ()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class _NoModule(types.ModuleType):
    """A module in which every name is _Nothing."""

    __path__ = ()  # type: ignore[assignment]
    __version__ = "0"

    __getattr__ = _Nothing.__getattr__


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that do nothing in place of the heavy ones."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        inner = fullname.removeprefix("myxtts.")
        is_ours = inner != fullname and any(inner == one or inner.startswith(f"{one}.") for one in _OURS)
        if fullname.split(".")[0] not in _HEAVY and not is_ours:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return _NoModule(spec.name)

    def exec_module(self, module: Any) -> None:
        if module.__name__ == "tensorflow":
            module.config = _Nothing()
            module.config.list_physical_devices = lambda kind=None: [_Nothing()] * (_Trainer.gpus * (kind == "GPU"))
        elif module.__name__.startswith("myxtts.training"):
            module.XTTSTrainer = module.MemoryIsolatedDualGPUTrainer = _Trainer


class _Trainer(_Nothing):
    """In place of XTTSTrainer: says what it was given, and ends the process."""

    gpus = 0

    def __init__(self, *given: Any, config: Any = None, resume_checkpoint: str | None = None, **_: Any) -> None:
        super().__init__()
        self._config = config if config is not None else given[0]
        self._resumes = resume_checkpoint

    def prepare_datasets(self, train_data_path: str, val_data_path: str | None = None) -> None:
        data = self._config.data
        package = os.path.dirname(str(sys.modules["myxtts"].__file__))
        _say({
            "config": {name: value for name, value in vars(data).items() if _is_plain(value)},
            "train": os.fspath(train_data_path),
            "val": os.fspath(val_data_path or train_data_path),
            "resumes": self._resumes,
            "gpus": _Trainer.gpus,
            "has_native": has_native_in(package),
        })  # fmt: skip


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list))


def _say(what: dict[str, Any]) -> None:
    print(f"\n{_MARK}{json.dumps(what)}", flush=True)
    os._exit(0)


def main(words: list[str]) -> None:
    """Runs the program up to its data."""
    from ..profile.gpu import count
    from .installer import with_key

    logging.handlers.RotatingFileHandler = lambda *_, **__: logging.NullHandler()  # type: ignore[assignment,misc] # no file of a run
    _Trainer.gpus = count() if words.pop(0) == "gpus" else 0
    sys.meta_path.insert(0, _Finder())
    is_module = words[0] == "-m"
    words = words[is_module:]
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(words[0])))
    sys.argv = words
    try:
        config = importlib.import_module("myxtts.config.config")
        config.DataConfig = with_key(config.DataConfig)  # type: ignore[attr-defined]
        if is_module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")
    except InvalidArgumentError as error:
        _say({"error": str(error)})
    except SystemExit as end:
        if isinstance(end.__context__, InvalidArgumentError):
            _say({"error": str(end.__context__)})
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
