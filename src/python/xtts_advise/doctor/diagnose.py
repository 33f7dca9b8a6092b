"""Asks the program and the trainer's Python for numbers, and judges them, in an order that disturbs no measurement.

Nothing that is looked at is changed. What cannot be measured says "cannot tell" and why.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..findings import Check, Evidence, Finding, cannot_tell
from ..others import Others
from ..probe import Program
from ..ranges import Range, range_of
from ..words import Failure, counted, fine_percent, short, size
from . import code, formats, frameworks, gpu, help, memory, profile_file, real_batches, storage, sweep, trace_file
from .in_python import NotMeasured, TrainersPython, find, scratch_folder

Numbers = dict[str, Any]
_LOADER = Path(__file__).resolve().parents[1] / "trainers/myxtts/loader.py"

_RATE_MARGIN = 0.1  # how far rates measured for a few seconds are from those of an hour, beside what the rounds show
_STEP_MARGIN = 0.1  # how far the steps of a training are from the one that a user has timed
_MOSTLY_CACHED = 0.5  # of the sampled files, after they were read several times
_USUAL_WORKERS, _WORKERS_MAX = 8, 64  # of the trainer's loader, where nobody says
_TELLING_BYTES = 1e6  # reads of smaller files are mostly the time to find them
_BUSY_SHARE, _BUSY_S = 0.2, 0.4  # a machine that is busier than this before anything is measured gives low rates
_USUAL_RECORD_BYTES = 800 * 80 * 4
_OWN_MARGIN = 0.05  # of the user's own loader, which was timed beside a step
_OWN_S, _SWEEP_S, _PROFILE_S = 180, 300, 600
_FRAMEWORKS_S = 35  # and as much again where their files come from a disk


@dataclasses.dataclass
class Request:
    data: str = ""
    cache: str = ""
    config: str = ""  # the trainer's config.yaml
    code: str = ""  # the trainer's folder
    profile: str = ""
    trace: str = ""  # a file, or what `tracing` returned
    tracing: Callable[[], Numbers] | None = None  # runs the training, and records it
    step: str = ""  # "train:step", the user's own; profiled with `loader`
    loader: str = ""  # "train:loader", the user's own
    sweeps: bool = False  # times the loader with other sizes and workers, too
    recipe: str = ""
    python: str = ""
    batch_size: int | None = None
    worker_count: int | None = None  # of the trainer's loader
    step_ms: float | None = None  # of the user's training step, without waiting for data
    trains_on_cpu: bool = False
    runs_frameworks: bool = True
    writable: str = ""  # where a sync is timed
    configuration: Callable[[], Check] | None = None  # judges `config`


@dataclasses.dataclass
class Diagnosis:
    checks: list[Check]
    machine: list[str]  # facts in words


def diagnose(request: Request, program: Program, begin: Callable[[str], None]) -> Diagnosis:
    """begin: told of each step, "reading the storage of ./data"."""
    for path in (request.config, request.code, request.profile, request.trace):
        if path and not os.path.exists(path):
            raise Failure("not_found", f"examining {path}: No such file or directory")
    with scratch_folder() as scratch:
        return _Doctor(request, program, begin, scratch).diagnose(scratch)


class _Doctor:
    def __init__(self, request: Request, program: Program, begin: Callable[[str], None], scratch: str) -> None:
        self._request, self._program, self._begin = request, program, begin
        self._machine: Numbers = program.probe("machine")
        self._others = self._share_of_others()
        self._trace = trace_file.read(request.trace) if request.trace else None
        if request.tracing:
            begin("")
            self._trace = request.tracing()
        self._profile = trace_file.profile_of(self._trace) if self._trace else profile_file.ProfileFacts()
        self._python: TrainersPython | str = self._find_python(scratch)
        self._no_profile = ""
        if request.profile:
            self._profile = profile_file.read(request.profile)
        elif request.step:
            self._profile_step()
        self._settings = self._settings_of_config()
        self._batch_size = self._profile.batch_size or request.batch_size or self._setting("data.batch_size", 1) or 32
        self._worker_count = request.worker_count
        if self._worker_count is None:
            self._worker_count = self._setting("data.num_workers", 0)
        self._corpus: Numbers | None = None
        self._own: Numbers | str = ""  # the user's own loader; a text: why it was not measured
        self._librosa: Numbers | str = ""  # the same
        self._cache: Numbers | None = None

    def diagnose(self, scratch: str) -> Diagnosis:
        request = self._request
        if request.data:
            self._corpus = self._measure_corpus()
            self._own = self._measure_own_loader(scratch)
            if isinstance(self._own, dict):
                self._batch_size = self._own["batch_size"]
            self._librosa = self._measure_librosa(self._corpus)
            self._cache = self._corpus["cache"]
        if request.cache:
            self._cache = self._program.measure("cache", request.cache, f"--batch-size={self._batch_size}")
        return Diagnosis(list(self._checks()), self._machine_in_words())

    def _checks(self) -> Iterator[Check]:
        request = self._request
        yield self._will_it_help()
        yield gpu.check(self._machine)
        if self._trace:
            yield trace_file.check(self._trace)
        if request.sweeps and isinstance(self._own, dict):
            workers = self._worker_count if self._own["workers"] is None else self._own["workers"]
            yield sweep.check(self._own["sweep"], self._batch_size, workers)
        if request.configuration:
            yield request.configuration()
        if request.code:
            yield code.check(self._scan(), request.code)
        if self._corpus:
            yield self._formats(self._corpus)
        if request.runs_frameworks:
            yield from frameworks.check(self._run_frameworks(), self._has_gpu())
        record_bytes = (self._cache or self._corpus or {"record_bytes": _USUAL_RECORD_BYTES})["record_bytes"]
        yield memory.check(
            self._machine, batch_size=self._batch_size, record_bytes=record_bytes, worker_count=self._worker_count
        )
        if self._corpus:
            yield self._storage(self._corpus)
        if request.cache and self._cache:
            yield storage.check(
                self._cache["storage"],
                folder=request.cache,
                batch_size=self._batch_size,
                whole_bytes=self._cache["shard_bytes"],
                memory_available_bytes=self._machine["memory_available_bytes"],
                is_cache=True,
            )
        if self._corpus or self._cache:
            yield self._real_batches()

    # What is known before anything is measured.

    def _share_of_others(self) -> float:
        if not self._request.data:
            return 0.0
        others = Others()
        time.sleep(_BUSY_S)
        return others.share() or 0.0

    def _find_python(self, scratch: str) -> TrainersPython | str:
        try:
            return find(self._request.python, scratch)
        except Failure as error:
            if self._request.python:
                raise
            return str(error)

    def _settings_of_config(self) -> Numbers:
        """What `build --config` makes of the file: no recipe, and why, where it refuses it."""
        nothing = {"recipe": None}
        return dict(self._program.probe("config", self._request.config)) if self._request.config else nothing

    def _setting(self, name: str, least: int) -> int | None:
        for key in (self._settings["recipe"] or {"config": []})["config"]:
            if key["key"] == name and str(key["value"]).isdecimal() and least <= int(key["value"]) <= 100_000:
                return int(key["value"])
        return None

    def _has_gpu(self) -> bool:
        return bool(self._machine["gpus"])

    # What is measured.

    def _profile_step(self) -> None:
        request = self._request
        words = [f"--loader={request.loader}", f"--step={request.step}", "--json"]
        self._begin("profiling the training's step")
        try:
            if isinstance(self._python, str):
                raise NotMeasured(self._python)
            answer = self._python.run_installed("xtts_precompute.profile", *words, limit_s=_PROFILE_S)
            self._profile = profile_file.facts_of(answer, request.step)
        except (NotMeasured, Failure) as error:
            self._no_profile = str(error)

    def _measure_corpus(self) -> Numbers:
        request = self._request
        words = [f"--batch-size={self._batch_size}", f"--workers={self._workers()}"]
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
        request, profile = self._request, self._profile
        is_known = profile.real_step_ms and not request.sweeps
        if not (request.loader or request.config) or is_known:
            return ""
        wish: Numbers = {"place": request.loader}
        if not request.loader:
            if not self._settings["recipe"]:
                return str(self._settings["refused"])
            wish = {"file": str(_LOADER), "config": request.config, "data": request.data, "scratch": scratch}
        step_ms = request.step_ms or (profile.step_ms.middle if profile.step_ms else None)
        folders = [one for one in (request.code, os.getcwd()) if one]
        wish |= {"folders": folders, "step_ms": step_ms, "seconds": 1.5, "rounds": 4, "sweeps": request.sweeps}
        self._begin("timing the trainer's own loader")
        return _own_of(self._answer("own_loader", request=wish, limit_s=_OWN_S + request.sweeps * _SWEEP_S))

    def _measure_librosa(self, corpus: Numbers) -> Numbers | str:
        if isinstance(self._own, dict):
            return "your own loader was"
        if not corpus["files"]:
            return "no clip of the sample is a whole file"
        self._begin("computing features with librosa")
        wish = {name: corpus["recipe"][name] for name in ("sample_rate", "n_fft", "hop", "win", "n_mels", "trims")}
        wish |= {"files": corpus["files"], "workers": self._workers(), "seconds": 1.0, "rounds": 3}
        return _librosa_of(self._answer("on_the_fly", request=wish, limit_s=40))

    def _scan(self) -> Numbers | str:
        request = self._request
        self._begin(f"reading the code in {request.code}")
        words = ["--config", request.config] if request.config else []
        return self._answer("code_scan", request.code, *words, limit_s=40)

    def _run_frameworks(self) -> Numbers | str:
        self._begin("running the installed frameworks")
        words = ["--timeout", str(_FRAMEWORKS_S)]
        cuda = self._machine["gpus"][0]["cuda_version"] if self._has_gpu() else None
        if cuda:
            words += ["--driver-cuda", gpu.cuda_words(cuda)]
        return self._answer("frameworks", *words, limit_s=_FRAMEWORKS_S + 60)

    def _answer(self, module: str, *words: str, request: Any = None, limit_s: float) -> Numbers | str:
        if isinstance(self._python, str):
            return self._python
        try:
            answer = self._python.run(module, *words, request=request, limit_s=limit_s)
        except NotMeasured as error:
            return str(error)
        return answer if isinstance(answer, dict) else f"the check '{module}' in Python answered oddly"

    def _workers(self) -> int:
        count = _USUAL_WORKERS if self._worker_count is None else self._worker_count
        return min(max(count, 1), _WORKERS_MAX)

    # What is judged here, because it needs several measurements.

    def _will_it_help(self) -> Check:
        corpus = self._corpus
        if corpus is None:
            return cannot_tell(
                help.NAME,
                "Will precomputing help?",
                "Without the corpus nothing can be computed on the fly: give --data to get an answer.",
            )
        rates = self._rates_now(corpus)
        if not range_of(rates["all"]):
            return cannot_tell(
                help.NAME,
                "Will precomputing help?",
                "No clip of the sample could be computed, so there is no rate.",
            )
        made = help.check(self._question(corpus, rates))
        made.findings += self._doubts(corpus)
        if self._no_profile:
            made.evidence.append(Evidence("your step", "not profiled", self._no_profile))
        if self._worker_count is None and isinstance(self._own, str):
            made.evidence.append(
                Evidence(
                    "workers of the loader now",
                    str(self._workers()),
                    "assumed: --workers says how many yours has",
                    self._workers(),
                )
            )
        if isinstance(self._librosa, str) and isinstance(self._own, str):
            made.evidence.append(Evidence("librosa, as most trainers use it", "not measured", self._librosa))
        return made

    def _question(self, corpus: Numbers, rates: Numbers) -> help.Question:
        request, profile = self._request, self._profile
        source = "the profile that was given" if request.profile else "the trace that was given"
        question = help.Question(
            self._supply_on_the_fly(corpus, rates),
            self._supply_of_cache(corpus, self._cache) if self._cache and self._cache["clips_per_s"] else None,
            self._batch_size,
            corpus["clip_count"],
            profile.step_ms,
            source,
            request.trains_on_cpu or profile.is_on_cpu,
            self._machine["usable_cores"],
            self._build_s(corpus),
            bool(request.cache),
            not isinstance(self._librosa, str),
            isinstance(self._own, dict) and not profile.real_step_ms,
            request.loader or request.config or request.code,
            self._own if isinstance(self._own, str) else "",
            help.Measured(
                profile.real_step_ms, profile.data_share, profile.gpu_utilization, profile.gpu_utilization_std, source
            ),
        )
        if request.step_ms and not profile.step_ms:
            question.step_ms = Range(request.step_ms, request.step_ms).wider(_STEP_MARGIN)
            question.step_source = "--step-ms, and 10 % on both sides"
        return question

    def _rates_now(self, corpus: Numbers) -> Numbers:
        """The way that the trainer loads now: its own, else librosa where it is installed, else ours."""
        if isinstance(self._own, dict):
            return self._own
        rates: Numbers = corpus["rates"] if isinstance(self._librosa, str) else self._librosa["rates"]
        return rates

    def _stays_cached(self, corpus: Numbers) -> bool:
        """Some file systems keep nothing in the page cache. Then the rates contain the reads."""
        share = corpus["share_in_page_cache"]
        return share is None or share >= _MOSTLY_CACHED

    def _fits(self, size_bytes: float) -> bool:
        return bool(size_bytes < self._machine["memory_available_bytes"] / 2)

    def _supply_on_the_fly(self, corpus: Numbers, rates: Numbers) -> help.Supply:
        if isinstance(self._own, dict):
            return self._supply_of_own(self._own)
        has_workers = self._worker_count != 0
        workers = counted(rates["worker_count"], "worker", "workers") if has_workers else "no workers"
        disk_ms = (storage.batch_ms_deep if has_workers else storage.batch_ms)(corpus["storage"], self._batch_size)
        stays_cached = self._stays_cached(corpus)
        one = range_of(rates["one"])
        return help.Supply(
            f"on the fly with {rates['way']}, {workers}",
            range_of(rates["all" if has_workers else "one"], _RATE_MARGIN) or Range(0, 0),
            not stays_cached,
            Range(disk_ms, disk_ms) if stays_cached and disk_ms else None,
            self._fits(corpus["source_bytes"]),
            has_workers,
            1e3 / one.middle if one else 0.0,
        )

    def _supply_of_own(self, own: Numbers) -> help.Supply:
        rate = range_of(own["all"], _RATE_MARGIN) or Range(0, 0)
        batch_ms, step_ms = 1e3 * self._batch_size / rate.middle, own["step_ms"]
        took = Range(min(own["with_step_ms"]), max(own["with_step_ms"])).wider(_OWN_MARGIN)
        # Else, the batch is made while the step waits for it.
        is_overlapped = took.middle < max(step_ms, batch_ms) + min(step_ms, batch_ms) / 2
        cpu_ms_per_clip = self._machine["usable_cores"] * batch_ms / self._batch_size  # at most
        return help.Supply(
            own["way"],
            rate,
            is_overlapped=is_overlapped,
            cpu_ms_per_clip=cpu_ms_per_clip,
            beside_step=(step_ms, took),
        )

    def _supply_of_cache(self, corpus: Numbers, cache: Numbers) -> help.Supply:
        record_bytes = cache["shard_bytes"] / max(cache["clip_count"], 1)
        # A sample says nothing of the whole cache's size, but its clips do.
        whole_bytes = cache["shard_bytes"] if self._request.cache else record_bytes * corpus["clip_count"]
        measured = cache["storage"] or corpus["storage"]
        disk_ms = None
        if measured["sequential_bytes_per_s"]:
            ms = 1e3 * record_bytes * self._batch_size / measured["sequential_bytes_per_s"]
            tells_little = not cache["storage"] and measured["extent_bytes"] < _TELLING_BYTES
            disk_ms = Range(0.0 if tells_little else ms, ms)
        return help.Supply(
            "cache",
            range_of(cache["clips_per_s"], _RATE_MARGIN) or Range(0, 0),
            False,
            disk_ms,
            self._stays_cached(corpus) and self._fits(whole_bytes),
            True,
            cache["cpu_ms_per_clip"],
        )

    def _build_s(self, corpus: Numbers) -> Range | None:
        """A build uses all processors, the trainer's loader perhaps fewer."""
        cores = self._machine["usable_cores"]
        rates = corpus["rates"]
        has_all = rates["worker_count"] >= int(max(cores, 1))
        rate = range_of(rates["all" if has_all else "one"], _RATE_MARGIN)
        clips = corpus["clip_count"]
        return Range(clips / (rate.high * (1 if has_all else cores)), clips / rate.low) if rate else None

    def _doubts(self, corpus: Numbers) -> Iterator[Finding]:
        """What makes the prediction less sure than its range says."""
        if self._others > _BUSY_SHARE:
            yield Finding(
                "warn",
                f"Other programs used {fine_percent(self._others)} of the processors before the doctor began, so its "
                "rates are too low.",
                "Let the machine be idle and ask again.",
            )
        if corpus["clip_count"] < self._batch_size:
            yield Finding(
                "warn",
                f"A batch of {self._batch_size} is more than the corpus has: "
                f"{counted(corpus['clip_count'], 'clip', 'clips')}.",
                "Give the batch size that you train with: --batch-size.",
            )
        if self._request.cache and self._cache and self._cache["fingerprint"] != corpus["recipe"]["fingerprint"]:
            yield Finding(
                "warn",
                f"The cache has other features than those measured on the fly (recipe {corpus['recipe']['name']}).",
                "Name the cache's recipe: --recipe, or --config.",
            )

    def _formats(self, corpus: Numbers) -> Check:
        """The sample shows only clips that the plan kept. A build counts those of the plan, too."""
        made = formats.check(corpus["sound"], corpus["recipe"]["sample_rate"])
        faults = corpus["faults"]
        if faults["count"] > faults["allowed"]:
            made.findings.insert(
                0,
                Finding(
                    "fail",
                    f"A build would stop: {counted(faults['count'], 'clip', 'clips')} cannot be used, and "
                    f"{faults['allowed']:,} may be. One of them is {faults['first']}.",
                    "`xtts-precompute build DATA CACHE --dry-run` lists them; --max-rejects accepts them.",
                ),
            )
            made.conclude("")
        return made

    def _storage(self, corpus: Numbers) -> Check:
        return storage.check(
            corpus["storage"],
            folder=self._request.data,
            batch_size=self._batch_size,
            whole_bytes=corpus["source_bytes"],
            memory_available_bytes=self._machine["memory_available_bytes"],
            padded_record_bytes=corpus["record_bytes"],
            packed_half_record_bytes=int(2 * corpus["recipe"]["n_mels"] * corpus["sound"]["mean_frames"]),
        )

    def _real_batches(self) -> Check:
        step = self._profile.step_ms
        return real_batches.check(
            batch_size=self._batch_size,
            step_ms=self._request.step_ms or (step.middle if step else 0.0),
            own=self._own["all"] if isinstance(self._own, dict) else None,
            librosa=None if isinstance(self._librosa, str) else self._librosa,
            ours=self._corpus["rates"] if self._corpus else None,
            cache=self._cache,
            is_sample=not self._request.cache,
            no_cache=self._corpus["no_cache"] if self._corpus else "",
        )

    def _machine_in_words(self) -> list[str]:
        machine = self._machine
        cores = counted(machine["core_count"], "processor", "processors")
        if machine["cpu_limit"]:
            cores += f", of which a container may use {short(machine['cpu_limit'])}"
        return [
            cores,
            f"{size(machine['memory_total_bytes'])} of memory",
            machine["gpus"][0]["name"] if self._has_gpu() else "no GPU",
            self._python if isinstance(self._python, str) else f"Python {self._python.version}",
        ]


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
