"""Will precomputing help, and by how much? Predicts a training step with features made on the fly, and from a cache.

The model: a batch on the fly takes its clips by the measured rate, and its bytes from the storage unless they stay in
memory. A loader with workers prepares the next batch while the step runs, so a step lasts as long as the slower of the
two. Without workers they add up. Where the step computes on the CPU, both share the processors: the truth is between
these two. docs/doctor.md tells it to users.
"""

from __future__ import annotations

import dataclasses
import math

from .. import targets
from ..charts import Bar, Bars, Chart, Stack
from ..findings import Check, Evidence, Finding, Gain
from ..ranges import Range
from ..words import counted, duration, fine_percent, percent, short

NAME = "will_it_help"
_TITLE = "Will precomputing help?"

_GOOD_SHARE = 0.3  # of a step that data may take: the users' own judgement
_WORTHWHILE = 1.15  # a smaller gain is within the noise of training
_MODEL_SHARE = 0.8  # a step is "the model's" from this share on: the users' third picture
# The users' second picture: a GPU that is steadily this low, in percent.
_LOW_UTILIZATION, _STEADY_DEVIATION = 20.0, 5.0
# Handing a batch over, and what else a trainer does between steps. A loader that keeps all processors busy makes the
# trainer's own thread wait for one.
_OVERLAP_LOSS, _BUSY_LOSS = 0.1, 0.2
_RUN_MARGIN = 0.03  # how far two trainings with the same data differ by themselves
_USUAL_STEPS_MS = (25.0, 50.0, 100.0, 200.0, 500.0)  # shown where no step is known

# Why a GPU idles, as far as the measurements tell.
DATA_LATE = "data that comes late"
NOT_COMPILED = "a step that is not compiled"
MODEL = "the model's own work"
UNKNOWN = "cannot tell"


@dataclasses.dataclass
class Supply:
    """Batches from one way of loading."""

    way: str  # "librosa 0.10.2, 8 workers"
    clips_per_s: Range
    rate_has_reads: bool = False  # the storage was read meanwhile; else the files were in memory
    disk_batch_ms: Range | None = None  # of a batch from the storage
    stays_in_memory: bool = True  # an epoch's bytes fit, so only the first epoch reads the storage
    is_overlapped: bool = True  # prepares batches while the step runs
    cpu_ms_per_clip: float = 0.0
    beside_step: tuple[float, Range] | None = None  # a step that sleeps so long, and what it then took with its batch

    def batch_ms(self, batch_size: int) -> Range:
        """What loading a batch takes."""
        compute = Range(1e3 * batch_size / self.clips_per_s.high, 1e3 * batch_size / self.clips_per_s.low)
        if self.stays_in_memory or self.disk_batch_ms is None:
            return compute
        return Range(max(compute.low, self.disk_batch_ms.low), compute.high + self.disk_batch_ms.high)

    def whole_ms(self, step_ms: float, batch_ms: float) -> float:
        return max(step_ms, batch_ms) if self.is_overlapped else step_ms + batch_ms


@dataclasses.dataclass
class Measured:
    """A profile, or a trace, of the user's own training."""

    step_ms: Range | None = None  # the step now; it needs no prediction then
    data_share: float | None = None
    gpu_utilization: float | None = None  # percent, mean
    gpu_utilization_std: float | None = None
    source: str = "the profile that was given"


@dataclasses.dataclass
class Question:
    on_the_fly: Supply
    cache: Supply | None = None  # None: no cache could be measured
    batch_size: int = 32
    clip_count: int = 0
    step_ms: Range | None = None  # of training with data for free
    step_source: str = ""
    step_uses_cpu: bool = False
    usable_cores: float = 1.0
    build_s: Range | None = None
    has_cache: bool = False  # the user has built one already
    is_trainers_way: bool = True  # on_the_fly is how the trainer loads; else this program's own way
    is_own_loader: bool = False  # on_the_fly is the user's own loader, timed
    trainer: str = ""  # the configuration or code of the user's trainer
    not_timed: str = ""  # why its own loader was not timed
    names_loader: bool = False  # by --loader
    measured: Measured = dataclasses.field(default_factory=Measured)


@dataclasses.dataclass(frozen=True)
class Prediction:
    step_ms_now: Range
    step_ms_cached: Range
    gain: Range  # times as fast
    computing_now: Range  # shares of the step in which the model computes
    computing_cached: Range
    saved_s: Range  # in each epoch

    def spanned(self, other: Prediction) -> Prediction:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other))
        return Prediction(*(Range(*one).spanned(Range(*two)) for one, two in pairs))

    def epochs_until_paid(self, build_s: Range | None) -> Range | None:
        return build_s.over(self.saved_s) if build_s and self.saved_s.low > 0 else None


def predict(question: Question, step_ms: Range) -> Prediction:
    """Both ways have the same step, so a gain is that of one step, at either end of its range."""
    return _predict_at(question, step_ms.low).spanned(_predict_at(question, step_ms.high))


def _predict_at(question: Question, step: float) -> Prediction:
    assert question.cache is not None
    now = _step_with(question, question.on_the_fly, step)
    if question.measured.step_ms:
        now = Range(max(question.measured.step_ms.low, step), max(question.measured.step_ms.high, step))
    cached = _step_with(question, question.cache, step)
    steps = question.clip_count / max(question.batch_size, 1)
    return Prediction(
        now,
        cached,
        now.over(cached).wider(_RUN_MARGIN),
        _share_of_step(step, now),
        _share_of_step(step, cached),
        Range(steps * (now.low - cached.high) / 1e3, steps * (now.high - cached.low) / 1e3),
    )


def _step_with(question: Question, supply: Supply, step_ms: float) -> Range:
    batch = supply.batch_ms(question.batch_size)
    if supply.beside_step and not question.step_uses_cpu:
        slept_ms, took = supply.beside_step
        now = took.times(supply.whole_ms(step_ms, batch.middle) / supply.whole_ms(slept_ms, batch.middle))
        return Range(max(now.low, step_ms), max(now.high, step_ms))
    whole = Range(step_ms + batch.low, step_ms + batch.high)
    if not supply.is_overlapped:
        return whole
    overlapped = Range(max(step_ms, batch.low), max(step_ms, batch.high))
    work_ms = supply.cpu_ms_per_clip * question.batch_size / question.usable_cores
    if not question.step_uses_cpu:
        busy = min(work_ms / overlapped.low, 1.0)
        return Range(overlapped.low, min(whole.high, overlapped.high * (1 + _OVERLAP_LOSS + _BUSY_LOSS * busy)))
    # The step and the loader share the processors. At the least the work of both is spread over them. At the most the
    # step stands still meanwhile: its threads wait for one another, so all of them wait for the one whose processor a
    # worker takes.
    return Range(
        max(overlapped.low, step_ms + (1 - _OVERLAP_LOSS) * min(work_ms, batch.low)),
        step_ms + max(batch.high, work_ms * question.usable_cores),
    )


def _share_of_step(step_ms: float, whole_ms: Range) -> Range:
    return Range(min(step_ms / whole_ms.high, 1.0), min(step_ms / whole_ms.low, 1.0))


def picture_of(question: Question) -> str:
    measured = question.measured
    if measured.data_share is not None:
        if measured.data_share > _GOOD_SHARE:
            return DATA_LATE
        deviation = _STEADY_DEVIATION if measured.gpu_utilization_std is None else measured.gpu_utilization_std
        is_low = measured.gpu_utilization is not None and measured.gpu_utilization < _LOW_UTILIZATION
        if is_low and deviation <= _STEADY_DEVIATION:
            return NOT_COMPILED
        if measured.data_share < 1 - _MODEL_SHARE:
            return MODEL
    if question.step_ms is None or question.cache is None:
        return UNKNOWN
    found = predict(question, question.step_ms)
    if found.gain.low >= _WORTHWHILE:
        return DATA_LATE
    return MODEL if found.computing_now.low >= _MODEL_SHARE else UNKNOWN


def check(question: Question) -> Check:
    made = Check(NAME, _TITLE)
    for supply in filter(None, (question.on_the_fly, question.cache)):
        made.evidence += _evidence_of(supply, question.batch_size)
    share = question.measured.data_share
    if share is not None:
        source = question.measured.source
        made.evidence.append(
            Evidence("share of your step that data costs", fine_percent(share), source, share, "share")
        )
    picture = picture_of(question)
    source = "the prediction; a profile would tell more" if share is None else question.measured.source
    made.evidence.append(Evidence("what a GPU waits for here", picture, source))
    if picture == NOT_COMPILED:
        made.findings.append(_not_compiled())
    if question.trainer and not _is_own(question):
        return _without_promise(question, made)
    if question.step_ms is None:
        return _without_step(question, made)
    if question.cache is None:
        made.summary, made.is_judged = "No cache could be measured, so nothing is predicted.", False
        return made
    found = predict(question, question.step_ms)
    made.evidence += _evidence_of_prediction(question, question.step_ms, found)
    made.charts += _charts_of(question.step_ms, found)
    made.findings.insert(0, _verdict(question, found, picture))
    return made.conclude("")


def _verdict(question: Question, found: Prediction, picture: str) -> Finding:
    is_measured = question.is_trainers_way or _is_own(question)
    most = f"{max(found.gain.high, 1):.2f} times as fast."
    if found.gain.middle >= _WORTHWHILE:
        return _yes(question, found, is_measured)
    if not is_measured:  # this program is faster than librosa, so its own rate proves no "No"
        return Finding(
            "cannot_tell",
            f"Not if your loader is as fast as this program: training would become at most {most} "
            "Your loader was not measured, because librosa could not be run here.",
            "Name the Python that you train with (--python), or give a profile of your training: "
            "`xtts-precompute profile --loader --step --json`.",
        )
    remedy = "Look at the model's own step: `xtts-precompute profile --loader M:N --step M:N` names its parts."
    return Finding(
        "pass",
        f"No: data is not what training waits for. At most it becomes {most}",
        "" if picture == NOT_COMPILED else remedy,
    )


def _yes(question: Question, found: Prediction, is_measured: bool) -> Finding:
    is_sure = found.gain.low >= _WORTHWHILE
    is_own = _is_own(question)
    against = "" if is_own else f"against loading {question.on_the_fly.way}, "
    answer = "Yes" if is_sure else "Perhaps"
    becomes = f"a step of {found.step_ms_now.text(' ms')} becomes {found.step_ms_cached.text(' ms')}"
    text = [
        f"{answer}: {against}training becomes {_gain_words(found.gain)}: {becomes}.",
        f"This is for training on {'the CPU' if question.step_uses_cpu else 'a GPU'}.",
    ]
    if not is_measured:
        text.append("Your own loader was not measured: librosa is not there, so this program's stands for it.")
    epochs = found.epochs_until_paid(question.build_s)
    if epochs and question.build_s and not question.has_cache:
        text.append(f"Building takes {duration(question.build_s.middle)}, which is saved after {_epochs_text(epochs)}.")
    remedy = ["Build a cache with `xtts-precompute DATA CACHE`, and train from it."]
    if question.has_cache:
        remedy = ["Train from the cache."]
    if not is_own:
        remedy.append("--loader train:loader, or `xtts-precompute trace -- python train.py`, times your own loader.")
    gain = Gain(max(found.gain.low, 1), found.gain.high, "predicted from rates measured here")
    return Finding("fail" if is_sure else "warn", " ".join(text), " ".join(remedy), gain=gain)


def says_no(check: Check) -> bool:
    return check.summary.startswith("No:")


def _is_own(question: Question) -> bool:
    """Whether the user's own loading was measured."""
    return question.is_own_loader or question.measured.step_ms is not None


def _not_compiled() -> Finding:
    return Finding(
        "fail",
        "The GPU is low and steady, and the step does not wait for data: this is a step that is not compiled. "
        "Precomputing does not mend it.",
        "Run the step in a compiled graph: @tf.function with jit_compile, or torch.compile.",
        gain=Gain(2, 3, "documented by the trainer's users, not measured"),
    )


def _without_promise(question: Question, made: Check) -> Check:
    """The rates of a loader that the trainer may not use promise nothing."""
    cache = f", and {question.cache.clips_per_s.text()} from a cache" if question.cache else ""
    why = f" ({question.not_timed})" if question.not_timed else ""
    made.findings.insert(
        0,
        Finding(
            "cannot_tell",
            f"The loader of your trainer ({question.trainer}) was not timed, so no gain is promised{why}. Made "
            f"{question.on_the_fly.way}, this corpus gives {question.on_the_fly.clips_per_s.text()} clips a second"
            f"{cache}.",
            "Time your training, as it is: `xtts-precompute trace -- python train.py`."
            + ("" if question.names_loader else " Or name its loader: --loader train:loader."),
        ),
    )
    return made.conclude("")


def _without_step(question: Question, made: Check) -> Check:
    batch = question.on_the_fly.batch_ms(question.batch_size)
    loading = f"Loading a batch of {question.batch_size} on the fly takes {batch.text(' ms')}."
    longest = _longest_step_helped(question) if question.cache else None
    less = f"A cache helps if your training step takes less than about {longest:.0f} ms. " if longest else ""
    made.summary, made.is_judged = f"{less}{loading} Give --step-ms to get a verdict.", False
    for step in _USUAL_STEPS_MS if question.cache else ():
        found = predict(question, Range(step, step))
        made.evidence.append(
            Evidence(
                f"with a step of {short(step)} ms",
                f"{_gain_words(found.gain)}; it computes {_share_words(found.computing_now)} of the time now, "
                f"{_share_words(found.computing_cached)} from a cache",
                "predicted",
                found.gain.middle,
                "times",
            )
        )
    return made


def _longest_step_helped(question: Question) -> float | None:
    """The longest step that a cache makes clearly faster; None: there is none, or all are."""

    def helps(step_ms: float) -> bool:
        return predict(question, Range(step_ms, step_ms)).gain.middle >= _WORTHWHILE

    low, high = 1.0, 1e6
    if not helps(low) or helps(high):
        return None
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if helps(middle) else (low, middle)
    return low


def _evidence_of(supply: Supply, batch_size: int) -> list[Evidence]:
    in_memory = "measured, files in memory"
    with_reads = "measured, with reads: the system keeps nothing of this storage in memory"
    rows = [
        _row(
            f"clips a second, {supply.way}",
            supply.clips_per_s,
            "1/s",
            with_reads if supply.rate_has_reads else in_memory,
        )
    ]
    disk = supply.disk_batch_ms
    if disk:
        source = "measured; in each epoch, since it does not fit into memory"
        if supply.stays_in_memory:
            source = "measured; only in the first epoch, since all fits into memory"
        if disk.low < disk.high:
            source += "; at most, because clips so small do not tell how fast a cache's large files come"
        rows.append(_row(f"reading a batch from the storage, {supply.way}", disk, "ms", source))
    return [
        *rows,
        _row(f"a batch of {batch_size}, {supply.way}", supply.batch_ms(batch_size), "ms", "by the rows above"),
    ]


def _evidence_of_prediction(question: Question, step_ms: Range, found: Prediction) -> list[Evidence]:
    rows = [_row("the step without a wait for data", step_ms, "ms", question.step_source)]
    if question.step_uses_cpu:
        cores = question.usable_cores
        source = "training runs on the CPU (--train-on)"
        rows.append(Evidence("processors that step and loader share", short(cores), source, cores, "processors"))
    now_source = "predicted"
    if question.measured.step_ms:
        now_source = question.measured.source
    elif question.on_the_fly.beside_step:
        now_source = f"your loader, timed beside a step that sleeps {short(question.on_the_fly.beside_step[0])} ms"
    gain = f"{found.gain.low:.2f} to {found.gain.high:.2f}"
    rows += [
        _row("the step now", found.step_ms_now, "ms", now_source),
        _row("the step from a cache", found.step_ms_cached, "ms", "predicted"),
        _steps_row("steps a second now", found.step_ms_now),
        _steps_row("steps a second from a cache", found.step_ms_cached),
        Evidence("how many times as fast", gain, "predicted", found.gain.middle, "times"),
        _share_row("share of a step that is computing, now", found.computing_now),
        _share_row("share of a step that is computing, from a cache", found.computing_cached),
    ]
    if question.build_s:
        rows.append(_row("building the cache", question.build_s, "s", "by the rate of this program"))
    if found.saved_s.low > 0:
        rows.append(_row("saved in each epoch", found.saved_s, "s", "predicted"))
    epochs = found.epochs_until_paid(question.build_s)
    if epochs:
        rows.append(_row("epochs until building has paid", epochs, "epochs", "predicted"))
    return rows


def _charts_of(step_ms: Range, found: Prediction) -> list[Chart]:
    bars = [
        Bar(label, one.middle, one.low, one.high)
        for label, one in (
            ("now", found.step_ms_now),
            ("from a cache", found.step_ms_cached),
            ("without a wait", step_ms),
        )
    ]
    waiting = max(found.step_ms_now.middle - step_ms.middle, 0.0)
    parts = [("the model", step_ms.middle), ("waiting for data", waiting)]
    return [
        Chart("A training step, before and after", Bars("ms", bars), "predicted"),
        Chart("The split of a step now", Stack("ms", parts), "predicted"),
    ]


def _row(what: str, value: Range, unit: str, source: str) -> Evidence:
    return Evidence(what, value.text(f" {unit}"), source, value.middle, unit)


def _steps_row(what: str, step_ms: Range) -> Evidence:
    per_s = Range(1e3, 1e3).over(step_ms)
    return Evidence(what, f"{per_s.text()}, {targets.of_steps(per_s.middle)}", "predicted", per_s.middle, "1/s")


def _share_row(what: str, share: Range) -> Evidence:
    return Evidence(what, _share_words(share), "predicted", share.middle, "share")


def _share_words(share: Range) -> str:
    low, high = percent(share.low).removesuffix(" %"), percent(share.high)
    return high if f"{low} %" == high else f"{low} to {high}"


def _gain_words(gain: Range) -> str:
    return Gain(gain.low, gain.high).words


def _epochs_text(epochs: Range) -> str:
    """A part of an epoch is an epoch."""
    low, high = (math.ceil(min(max(one, 1.0), 1e6)) for one in (epochs.low, epochs.high))
    last = counted(high, "epoch", "epochs")
    return last if low == high else f"{low:,} to {last}"
