"""Sound that is decoded, or features that are computed, for each clip in each epoch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import words
from .files import Source
from .finds import find
from .project import Function, Project, calls_in, class_of, last_name

_DEPTH = 4
_WORK = re.compile(
    r"librosa\.(load|stft|resample|core\.(load|stft|resample|audio\.load)|feature\.\w+|effects\.\w+|pyin|cqt)"
    r"|torchaudio\.(load|functional\.\w+|compliance\.kaldi\.\w+|sox_effects\.\w+)"
    r"|(soundfile|sf)\.read|scipy\.io\.wavfile\.read|scipy\.signal\.(resample\w*|stft)|audioread\.\w+|audio2numpy\.\w+"
    r"|pydub\.AudioSegment\.from_\w+|torch\.stft|pyworld\.\w+|parselmouth\.\w+|resampy\.resample"
    r"|whisper\.(load_audio|log_mel_spectrogram)|decord\.AudioReader"
)
# Objects that compute features when they are called.
_TRANSFORMS = re.compile(r"torchaudio\.transforms\.(\w*Spectrogram|MFCC|LFCC|Resample|\w*Mel\w*|SpectralCentroid)")
# A method of an object whose class is not known: its name tells.
_NAMES = re.compile(
    r"(load|read)_(wav|audio|waveform)\w*|(log_?)?mel_?spec\w*|melspectrogram|resample\w*|wav_?(to|2)_?mel\w*"
    r"|extract_(mel|fbank)\w*|(compute_)?(mfcc|fbank)"
)


class Work(NamedTuple):
    """A call that decodes or computes."""

    call: ast.Call
    name: str
    certainty: str


def finds(project: Project) -> Iterator[dict[str, Any]]:
    """Yields one find for each data set, at the nearest call that does the work."""
    transforms = {source.path: _transforms_of(source) for source in project.sources}
    for function in _entries(project):
        owner = class_of(function)
        answer = words.trains(owner.name) if owner is not None else False
        if answer is None:
            answer = words.file_trains(function.source.path)
        if owner is None or answer is False or words.serves_other_files(project.users_of(owner)):
            continue
        for reached in project.reachable(function, _DEPTH, lambda one, call: not _is_kept(one, call)):
            work = _first_work(project, transforms, reached)
            if work is None:
                continue
            text = f"{owner.name}.{function.node.name} calls {work.name} for each clip"
            if reached.node is not function.node:
                text += f", in {reached.node.name}()"
            if project.users_of(owner) or len(project.sources) == 1:
                yield find(reached.source, work.call, "features_in_getitem", text + ".", certainty=work.certainty)
            else:
                text += ". No scanned file makes such a data set."
                yield find(reached.source, work.call, "features_in_getitem", text, status="warn", certainty="low")
            break


def _entries(project: Project) -> Iterator[Function]:
    """Yields what runs for each clip: __getitem__, a collate method beside it, and __iter__ of a data set."""
    for name in ("__getitem__", "collate_fn", "collate", "__iter__"):
        for function in project.functions.get(name, []):
            owner = class_of(function)
            if owner is None:
                continue
            bases = {last_name(base) for base in owner.bases}
            methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
            if name == "__iter__" and "IterableDataset" not in bases:
                continue
            if name.startswith("collate") and "__getitem__" not in methods and "IterableDataset" not in bases:
                continue
            yield function


def _first_work(
    project: Project, transforms: dict[str, dict[tuple[ast.AST, str], str]], function: Function
) -> Work | None:
    for call in project.calls_of(function):
        if _is_kept(function, call):
            continue
        name = function.source.name_of(call.func)
        if _WORK.fullmatch(name):
            return Work(call, name, "high")
        made = _transform_of(transforms[function.source.path], function, name)
        if made:
            return Work(call, f"{name} ({made})", "high")
        last = last_name(call.func)
        if _NAMES.fullmatch(last) and not project.called_by(function, call) and _some_works(project, last):
            return Work(call, name or last, "medium")
    return None


def _some_works(project: Project, name: str) -> bool:
    """Whether a function of this name does the work; also where no scanned file has one."""
    candidates = project.functions.get(name, [])
    if not candidates:
        return True
    for candidate in candidates:
        for reached in project.reachable(candidate, 2):
            names = [reached.source.name_of(call.func) for call in project.calls_of(reached)]
            if any(_WORK.fullmatch(one) for one in names):
                return True
    return False


def _transforms_of(source: Source) -> dict[tuple[ast.AST, str], str]:
    """Returns what holds an object that computes, by class, or file, and name: "self.mel"."""
    found: dict[tuple[ast.AST, str], str] = {}
    for call, name in source.calls:
        if not _TRANSFORMS.fullmatch(name):
            continue
        above = list(source.above(call))
        assign = next((one for one in above if isinstance(one, ast.Assign)), None)
        owner = next((one for one in above if isinstance(one, ast.ClassDef)), source.tree)
        for target in assign.targets if assign is not None else []:
            held = source.name_of(target)
            if held:
                found[(owner if held.startswith("self.") else source.tree, held)] = name
    return found


def _transform_of(transforms: dict[tuple[ast.AST, str], str], function: Function, name: str) -> str:
    """Returns "torchaudio.transforms.MelSpectrogram" for self.mel, or a name of the file, that holds one."""
    owner = class_of(function)
    if name.startswith("self.") and owner is not None:
        return transforms.get((owner, name), "")
    return transforms.get((function.source.tree, name), "")


def _is_kept(function: Function, call: ast.Call) -> bool:
    """Whether the call runs until its result is kept: below a question for a file, beside a save, or in a dict."""
    child: ast.AST = call
    for one in function.source.above(call):
        if one is function.node:
            break
        if isinstance(one, ast.ExceptHandler):
            return True
        if isinstance(one, ast.If) and child is not one.test:
            exists = _asks_for_file(one.test)
            if exists is not None and exists == (child in one.orelse):
                return True
            branch = one.orelse if child in one.orelse else one.body
            if any(_saves(statement) for statement in branch) or _remembers(function.source, one.test, branch):
                return True
        child = one
    return any(
        isinstance(one, ast.If)
        and one is not child
        and one.lineno < call.lineno
        and _asks_for_file(one.test)
        and _returns(one.body)
        for one in function.node.body
    )


def _saves(statement: ast.stmt) -> bool:
    return any(last_name(call.func) in ("save", "savez", "dump", "save_file") for call in calls_in(statement))


def _remembers(source: Source, test: ast.AST, branch: list[ast.stmt]) -> bool:
    """Whether it is `if key not in self.known: self.known[key] = ...`."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn):
        return False
    known = source.name_of(test.comparators[0])
    return bool(known) and any(
        isinstance(target, ast.Subscript) and source.name_of(target.value) == known
        for statement in branch
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _asks_for_file(test: ast.AST) -> bool | None:
    """Returns True for "the file is there", False for "it is not", None for any other condition."""
    is_there = True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_there = test.operand, False
    for one in ast.walk(test):
        if isinstance(one, ast.Call) and last_name(one.func) in ("exists", "isfile", "is_file"):
            return is_there
    return None


def _returns(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return) and body[-1].value is not None
