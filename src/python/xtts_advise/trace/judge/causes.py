"""What is known of calls: one row for each kind, the first that fits counts.

`names` is searched in the names of a call and of all that it calls; `code` in its line. Where
`unit` is given, a row holds within samples ("sample") or steps ("step") alone. `cache` says whether a
cache of features takes the call out of the training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .calls import CALLBACK, MADE, Call, calls_of, name_of_callee
from .recording import Stack


@dataclass(frozen=True)
class Cause:
    name: str
    names: str
    remedy: str
    cache: str = "no"  # "yes", "part" or "no"
    unit: str = ""
    code: str = ""
    purpose: str = ""  # what the call is for, where its name does not tell
    is_model: bool = False  # the training's own work, and no fault
    of_gpu: bool = False  # it costs where it waits for a GPU

    def fits(self, names: list[str], code: str) -> bool:
        if self.names and any(re.search(self.names, name) for name in names):
            return True
        return bool(self.code and re.search(self.code, code))


CACHE_WORDS = "A cache holds it, computed once: `xtts-precompute DATA CACHE`."

CAUSES = (
    Cause(
        "prediction",
        r"^(keras|tf_keras)\.(predict|evaluate)$",
        "The training stands still while the model predicts, and each such call makes a data set: do it once an "
        "epoch, or call model(clips, training=False).",
        unit="step",
    ),
    Cause(
        "phonemizer",
        r"phonemiz|espeak|g2p",
        "Phonemize once, before the training, and keep the result with the clips "
        "(add_column stores it in a cache). Mels in a cache do not take this call away.",
        "part",
    ),
    Cause(
        "loader made anew",
        r"DataLoader\.__iter__|_MultiProcessingDataLoaderIter\.(__init__|__del__|_shutdown_workers)|_DataLoaderIter\.__init__",
        "Make the loader once, before the loop; persistent_workers=True keeps its workers from epoch to epoch.",
        unit="step",
        purpose="to start and end its workers",
    ),
    Cause(
        "process",
        r"subprocess\.|popen|multiprocessing\.(context|process)|posix_spawn|os\.system",
        "Start no process for each {unit}: do its work once, before the training, or keep one process open.",
        "part",
    ),
    Cause(
        "lock",
        r"threading\.(Lock|RLock|Condition|Semaphore)|SemLock|synchronize\.|filelock|fcntl|_thread\.(lock|RLock)",
        "Hold no lock while a clip is loaded: the others stand still meanwhile. Give each worker its own file handle.",
        unit="sample",
    ),
    Cause(
        "manager",
        r"multiprocessing\.(managers|connection)",
        "Each look into a shared list or dict asks another process. Keep paths and texts in a NumPy array.",
    ),
    Cause(
        "table",
        r"^(pandas|csv|_csv)\.|\.read_csv|\.read_json|json\.(load|loads|decoder)|yaml\.|sqlite3|openpyxl",
        "Read the list once, in the data set's __init__, and keep its rows.",
        unit="sample",
    ),
    Cause(
        "tokenizer",
        r"transformers\.|tokenizers\.|sentencepiece|[Tt]okenizer|sre_|re\._compil|_sre|re\.compile",
        "Make the tokenizer and its patterns once, in the data set's __init__, "
        "or store the tokens: they do not change from epoch to epoch.",
        unit="sample",
    ),
    Cause(
        "filter design",
        r"Resample\.__init__|_get_sinc_resample_kernel|librosa\.filters|signal\.firwin|firwin|fir_filter|"
        r"MelScale\.__init__|MelSpectrogram\.__init__|melscale_fbanks|filter_design|_fir|create_fb_matrix",
        "Make the resampler or the filters once, in the data set's __init__. " + CACHE_WORDS,
        "yes",
    ),
    Cause(
        "decoding",
        r"torchaudio\._backend|torchaudio\.load|torchaudio\.(info|io)|soundfile\.|librosa\.core\.audio|librosa\.load|"
        r"audioread|scipy\.io\.wavfile|^wave\.|pydub|^av\.|torchcodec|decode_wav|AudioFile",
        CACHE_WORDS,
        "yes",
        unit="sample",
    ),
    Cause(
        "resampling",
        r"resampl|soxr|samplerate|upfirdn",
        CACHE_WORDS,
        "yes",
    ),
    Cause(
        "features",
        r"librosa\.|torchaudio\.(transforms|functional|compliance)|\.stft|spectrogram|melspec|scipy\.signal|"
        r"pyworld|parselmouth|\.fft",
        CACHE_WORDS,
        "yes",
        unit="sample",
        code=r"\b(harvest|stonemask|cheaptrick|d4c|melspectrogram|stft|mfcc|pyin|swipe)\(",  # extensions show no frame
    ),
    Cause(
        "array file",
        r"numpy\.lib\.(npyio|_npyio|format)|numpy\.load|h5py\.|zarr|torch\.serialization|numpy\.(fromfile|memmap)",
        "Keep the features of all clips in few files that are mapped into memory. " + CACHE_WORDS,
        "yes",
        unit="sample",
    ),
    Cause(
        "archive",
        r"zipfile\.|tarfile\.|gzip\.|bz2\.|lzma\.",
        "Open the archive once for each worker, or unpack it before the training. " + CACHE_WORDS,
        "yes",
        unit="sample",
    ),
    Cause("copy", r"copy\.(deepcopy|copy)|pickle\.|_pickle", "Copy only what is changed.", unit="sample"),
    Cause(
        "picture",
        r"matplotlib|PIL\.|plotly|seaborn",
        "Draw seldom (every 500 steps), or in another process; close each figure.",
    ),
    Cause(
        "summary",
        r"tensorboard|summary_ops|tensorflow\.python\.summary|summary\.|wandb|mlflow|comet_ml|"
        r"LightningModule\.log(_dict)?$|logger_connector",
        "Write pictures and histograms seldom (every 100 steps), and scalars every 10.",
    ),
    Cause(
        "garbage",
        r"gc\.collect|empty_cache|clear_session",
        "Take it out of the step: memory is reused without it. Where memory runs out, lower the batch.",
        code=r"gc\.collect|empty_cache|clear_session",
    ),
    Cause(
        "checkpoint",
        r"torch\.serialization|\.save_weights|saving\.|posix\.fsync|\.fsync|posix\.sync|checkpoint",
        "Save more seldom, and copy the weights to the host and write them in a thread.",
        code=r"fsync|os\.sync|torch\.save|save_weights",
        unit="step",
    ),
    Cause(
        "network",
        r"^(socket|ssl|http|urllib|urllib3|requests|aiohttp)\b|_socket\.|http\.client|urllib\.request",
        "Send it from another thread, and seldom: the step waits for the answer.",
    ),
    Cause(
        "loss scale",
        r"GradScaler|get_scale|_maybe_opt_step|isfinite|isnan|isinf",
        "Ask the GPU for it seldom: each look waits until the GPU has done all work before it. "
        "GradScaler skips steps that are not finite by itself.",
        code=r"get_scale|isfinite|isnan|isinf|\.any\(\)",
        unit="step",
        of_gpu=True,
    ),
    Cause(
        "host copy",
        r"TensorBase\.(item|cpu|tolist|numpy|__bool__|__float__)|EagerTensor(Base)?\.numpy|cuda\.synchronize",
        "Each such call waits until the GPU has done all work before it. Keep the value there, "
        "and look every 50 steps.",
        code=r"\.item\(\)|\.cpu\(\)|\.numpy\(\)|\.tolist\(\)|synchronize\(\)",
        unit="step",
        of_gpu=True,
    ),
    Cause(
        "printing",
        r"(?<![a-z_])logging\.|tqdm\.|rich\.|builtins\.print|TextIOWrapper\.(write|flush)",
        "Print every 50 steps, or from another thread.",
        code=r"\bprint\(|flush\(",
    ),
    Cause(
        "batching",
        r"collate|pad_sequence",
        "Pad to a fixed length while the features are made, so that a batch is one copy. " + CACHE_WORDS,
        "yes",
        unit="sample",
        code=r"collate|pad_sequence",
    ),
    Cause(
        "model",
        r"^torch\.(nn|autograd|optim|_C|functional|_tensor|_VF|_ops|amp|cuda|distributed|utils\.checkpoint)\b|"
        r"^(keras|tensorflow|jax|flax|optax)\.|Tensor(Base)?\.|^torch\._foreach",
        "",
        is_model=True,
        unit="step",
    ),
)

_MANY_NUMBERS = 300  # in a step
_WAITS = 0.5  # of a call's time: it stands still
_MODELS = {"torch", "tensorflow", "keras", "jax"}

MADE_ANEW = Cause(
    "made anew", "", "It is made in each {unit}: make it once, before the loop or in the data set's __init__."
)
SLOW_MOUNT = Cause(
    "slow mount",
    "",
    "Each read is handed to another machine or process: put the corpus on the local disk. "
    "A cache there is smaller, and read in long pieces: `xtts-precompute DATA CACHE`.",
    "part",
)
COMPUTES_IN_SAMPLE = Cause(
    "own code",
    "",
    "If its result is the same in each epoch, compute it once and store it (add_column keeps it in a cache); "
    "if it is random, write it with whole arrays in place of loops.",
    "part",
)
COMPUTES_IN_STEP = Cause(
    "own code",
    "",
    "It runs on the processor, inside of the step, while the GPU waits: no cache mends that. Write it with the "
    "framework's own operations or compile it (numba), or compute it before the training.",
)


CALLS_BACK = Cause(
    "callback",
    "",
    "Keras calls it within the training, which stands still meanwhile: have it called more seldom.",
)


def _computes_numbers(call: Call) -> bool:
    """In a loop of Python, one by one: no work of a model's operations."""
    return sum(often for name, often in call.c_names.items() if name.startswith("math.")) >= _MANY_NUMBERS


def calls_with_causes(
    stacks: Iterable[Stack], counts: dict[str, Any] | None, unit: str, has_gpu: bool = True
) -> Iterator[tuple[Call, Cause | None]]:
    """A call that does not tell by itself, such as a library's fit(), is one for each cause that runs below it."""
    for call in calls_of(stacks, counts):
        groups: dict[str, list[Stack]] = {}
        if call.target != CALLBACK and _told(call, unit, [[call.name, call.target], sorted(call.c_names)]) is None:
            for stack in call.below:
                known = _fitting([place.name for place in stack.path], unit)
                groups.setdefault(known.name if known else "", []).append(stack)
        if len(groups.keys() - {""}) < 2:
            yield call, cause_of(call, unit, has_gpu)
            continue
        longest = max(groups.keys() - {""}, key=lambda name: _wall_of(groups[name]))
        groups[longest] += groups.pop("", [])
        for below in groups.values():
            yield _part_of_call(call, below, unit, has_gpu)


def _part_of_call(call: Call, below: list[Stack], unit: str, has_gpu: bool) -> tuple[Call, Cause | None]:
    names = {place.name for stack in below for place in stack.path}
    processor_s = sum(stack.processor_s for stack in below)
    part = replace(call, wall_s=_wall_of(below), processor_s=processor_s, names=names, below=below)
    cause = cause_of(part, unit, has_gpu)
    if cause is not None:  # the callee that tells
        part.name = next(
            (
                name_of_callee(stack.path[number:])
                for stack in below
                for number, place in enumerate(stack.path)
                if cause.fits([place.name], "")
            ),
            call.name,
        )
    return part, cause


def _wall_of(stacks: list[Stack]) -> float:
    return sum(stack.wall_s for stack in stacks)


def _fitting(names: list[str], unit: str, code: str = "") -> Cause | None:
    return next((cause for cause in CAUSES if cause.unit in ("", unit) and cause.fits(names, code)), None)


def _told(call: Call, unit: str, names: list[list[str]]) -> Cause | None:
    """The call itself tells more than what happens to run far below it."""
    code = call.code
    for some in names:
        known = _fitting(some, unit, code)
        if known is not None:
            return known
        if call.target == MADE:
            return MADE_ANEW
        code = ""
    return None


def cause_of(call: Call, unit: str, has_gpu: bool = True) -> Cause | None:
    """None: the call is the training's own work."""
    if call.target == CALLBACK:
        names = sorted(call.names)
        known = [cause for cause in CAUSES if cause.unit in ("", unit) and not cause.is_model]
        return next((cause for cause in known if cause.fits(names, "")), CALLS_BACK)
    if unit == "step" and call.is_own and _computes_numbers(call):
        return COMPUTES_IN_STEP
    told = _told(call, unit, [[call.name, call.target], sorted(call.c_names), sorted(call.names)])
    if told is not None and told.of_gpu and not has_gpu and call.waits < _WAITS:
        return COMPUTES_IN_STEP if call.is_own else None
    if told is not None:
        return None if told.is_model else told
    if unit == "step" and call.is_own and call.modules & _MODELS and "numpy" not in call.modules:
        return None  # operators of tensors, such as a @ b, are no calls
    return COMPUTES_IN_SAMPLE if unit == "sample" else COMPUTES_IN_STEP
