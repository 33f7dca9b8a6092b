"""Asks the program and the trainer's Python for numbers, in an order that disturbs no measurement.

Nothing that is looked at is changed. Where something cannot be measured, a text says why.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..others import Others
from ..probe import Program
from ..words import Failure, counted
from . import clock, gpu, profile_file, trace_file
from .in_python import NotMeasured, TrainersPython, find
from .request import Numbers, Request

_USUAL_TRAINER = Path(__file__).resolve().parents[1] / "trainers/myxtts"
_USUAL_WORKERS, _WORKERS_MAX = 8, 64  # of the trainer's loader, where nobody says
_BUSY_S = 0.4
_OWN_S, _SWEEP_S, _PROFILE_S = 180, 300, 600
_FRAMEWORKS_S = 35  # and as much again where their files come from a disk


class Measured:
    def __init__(self, request: Request, program: Program, begin: Callable[[str], None], scratch: str) -> None:
        """begin: told of each step. scratch: a folder for files of ours."""
        self.request = request
        self._program, self._begin = program, begin
        self.machine: Numbers = program.probe("machine")
        self.clocks = clock.read()
        self.others = self._share_of_others()  # of the processors, before anything is measured
        self.python: TrainersPython | str = self._find_python(scratch)
        self.trace = trace_file.read(request.trace) if request.trace else None
        self.profile = profile_file.read(request.profile) if request.profile else self._profile_of_trace()
        self.no_profile = ""
        self._settings = self._settings_of_config()
        self.batch_size = self.profile.batch_size or request.batch_size or self._setting("data.batch_size", 1) or 32
        self.worker_count = request.worker_count
        if self.worker_count is None:
            self.worker_count = self._setting("data.num_workers", 0)
        if self.worker_count is None and self.trace:
            self.worker_count = trace_file.workers_of(self.trace)
        # The storage is read before a training brings its files into the page cache.
        self.corpus = self._measure_corpus() if request.data else None
        if request.tracing:
            begin("")
            self.trace = request.tracing()
            self.profile = self.profile if request.profile else self._profile_of_trace()
            if self.worker_count is None:
                self.worker_count = trace_file.workers_of(self.trace)
        if request.step:
            self._profile_step()
        self.own: Numbers | str = self._measure_own_loader(scratch) if request.data else ""
        if isinstance(self.own, dict):
            self.batch_size = self.own["batch_size"]
        self.librosa: Numbers | str = self._measure_librosa(self.corpus) if self.corpus else ""
        self.cache: Numbers | None = self.corpus["cache"] if self.corpus else None
        if request.cache:
            self.cache = program.measure("cache", request.cache, f"--batch-size={self.batch_size}")

    def _profile_of_trace(self) -> profile_file.ProfileFacts:
        return trace_file.profile_of(self.trace) if self.trace else profile_file.ProfileFacts()

    def _share_of_others(self) -> float:
        if not self.request.data:
            return 0.0
        others = Others()
        time.sleep(_BUSY_S)
        return others.share() or 0.0

    def _find_python(self, scratch: str) -> TrainersPython | str:
        try:
            return find(self.request.python, scratch)
        except Failure as error:
            if self.request.python:
                raise
            return str(error)

    def _settings_of_config(self) -> Numbers:
        """What `build --config` makes of the file: no recipe, and why, where it refuses it."""
        nothing = {"recipe": None}
        return dict(self._program.probe("config", self.request.config)) if self.request.config else nothing

    def _setting(self, name: str, least: int) -> int | None:
        for key in (self._settings["recipe"] or {"config": []})["config"]:
            if key["key"] == name and str(key["value"]).isdecimal() and least <= int(key["value"]) <= 100_000:
                return int(key["value"])
        return None

    def has_gpu(self) -> bool:
        return bool(self.machine["gpus"])

    def _profile_step(self) -> None:
        request = self.request
        words = [f"--loader={request.loader}", f"--step={request.step}", "--json"]
        self._begin("profiling the training's step")
        try:
            if isinstance(self.python, str):
                raise NotMeasured(self.python)
            answer = self.python.run_installed("xtts_precompute.profile", *words, limit_s=_PROFILE_S)
            self.profile = profile_file.facts_of(answer, request.step)
        except (NotMeasured, Failure) as error:
            self.no_profile = str(error)

    def _measure_corpus(self) -> Numbers:
        request = self.request
        words = [f"--batch-size={self.batch_size}", f"--workers={self.workers()}"]
        if request.recipe:
            words.append(f"--recipe={request.recipe}")
        if self._settings["recipe"]:
            words.append(f"--config={request.config}")
        elif request.config:
            self._program.warn(f"the corpus is measured without the configuration: {self._settings['refused']}")
        if request.writable:
            words.append(f"--writable={request.writable}")
        if request.cache:
            words.append("--no-sample-cache")
        return dict(self._program.measure("corpus", request.data, *words))

    def _measure_own_loader(self, scratch: str) -> Numbers | str:
        request, profile = self.request, self.profile
        is_known = profile.real_step_ms and not request.sweeps
        if not (request.loader or request.config) or is_known:
            return ""
        wish: Numbers = {"place": request.loader}
        if not request.loader:
            try:
                file = _trainer_of(request.config) / "loader.py"
            except Failure as error:
                return str(error)
            if not file.exists():
                return f"how {file.parent.name} loads is not known here"
            wish = {"file": str(file), "config": request.config, "data": request.data, "scratch": scratch}
        step_ms = request.step_ms or (profile.step_ms.middle if profile.step_ms else None)
        folders = [one for one in (request.code, os.getcwd()) if one]
        wish |= {"folders": folders, "step_ms": step_ms, "seconds": 1.5, "rounds": 5, "sweeps": request.sweeps}
        self._begin("timing the trainer's own loader")
        return _own_of(self._answer("own_loader", request=wish, limit_s=_OWN_S + request.sweeps * _SWEEP_S))

    def _measure_librosa(self, corpus: Numbers) -> Numbers | str:
        if isinstance(self.own, dict):
            return "your own loader was"
        if not corpus["files"]:
            return "no clip of the sample is a whole file"
        self._begin("computing features with librosa")
        wish = {name: corpus["recipe"][name] for name in ("sample_rate", "n_fft", "hop", "win", "n_mels", "trims")}
        wish |= {"files": corpus["files"], "workers": self.workers(), "seconds": 1.0, "rounds": 3}
        return _librosa_of(self._answer("on_the_fly", request=wish, limit_s=40))

    def scan_code(self) -> Numbers | str:
        request = self.request
        self._begin(f"reading the code in {request.code}")
        words = ["--config", request.config] if request.config else []
        return self._answer("code_scan", request.code, *words, limit_s=40)

    def run_frameworks(self) -> Numbers | str:
        self._begin("running the installed frameworks")
        words = ["--timeout", str(_FRAMEWORKS_S)]
        cuda = self.machine["gpus"][0]["cuda_version"] if self.has_gpu() else None
        if cuda:
            words += ["--driver-cuda", gpu.cuda_words(cuda)]
        return self._answer("frameworks", *words, limit_s=_FRAMEWORKS_S + 60)

    def _answer(self, module: str, *words: str, request: Any = None, limit_s: float) -> Numbers | str:
        if isinstance(self.python, str):
            return self.python
        try:
            answer = self.python.run(module, *words, request=request, limit_s=limit_s)
        except NotMeasured as error:
            return str(error)
        return answer if isinstance(answer, dict) else f"the check '{module}' in Python answered oddly"

    def workers(self) -> int:
        count = _USUAL_WORKERS if self.worker_count is None else self.worker_count
        return min(max(count, 1), _WORKERS_MAX)


def _trainer_of(config: str) -> Path:
    """The folder of the trainer that a configuration is for."""
    try:
        from ..config import trainer
    except ImportError:  # this Python has no library that reads it
        return _USUAL_TRAINER
    return trainer.of_file(config).folder


def _own_of(answer: Numbers | str) -> Numbers | str:
    """The user's own loader, as rates of clips."""
    if isinstance(answer, str):
        return answer
    try:
        if "missing" in answer:
            return str(answer["missing"])
        size, count = answer["batch_size"], answer["workers"]
        workers = "" if count is None else f", {counted(count, 'worker', 'workers')}"
        return {
            "way": f"with your own loader{workers}",
            "all": [1e3 * size / ms for ms in answer["batch_ms"]],
            "step_ms": float(answer["step_ms"]),
            "with_step_ms": [float(ms) for ms in answer["with_step_ms"]],
            "batch_size": int(size),
            "workers": count,
            "note": str(answer.get("note") or ""),
            "sweep": answer.get("sweep"),
        }
    except (TypeError, KeyError, ValueError, ZeroDivisionError) as error:
        return f"its measurement answered oddly: {error!r}"


def _librosa_of(answer: Numbers | str) -> Numbers | str:
    if isinstance(answer, str):
        return answer
    try:
        if "missing" in answer:
            return str(answer["missing"])
        single = answer.get("single_threaded", {"all": [], "setting": ""})
        rates = {
            "way": answer["version"],
            "worker_count": answer["workers"],
            "one": answer["one"],
            "all": answer["all"],
        }
        return {
            "rates": rates,
            "failed": answer["failed"],
            "single_threaded": single["all"],
            "setting": single["setting"],
        }
    except (TypeError, KeyError, AttributeError) as error:
        return f"the measurement with librosa answered oddly: {error!r}"
