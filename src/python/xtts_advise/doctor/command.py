"""xtts-precompute doctor: why does the GPU starve, and will a cache help?"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import time
from typing import Any

from ..findings import Check, cannot_tell, document_of, reached
from ..probe import Program
from ..running import begin, dumped
from ..running import run as run_command
from ..trace import command as trace
from ..words import Failure, bringing, number_of
from .diagnose import Diagnosis, diagnose
from .named_commands import Names
from .request import Request
from .support import support_text
from .text import text_of

_RESULTS_FOLDER = "./gpu_analysis_results"  # that the users' own scripts write to
_CACHE = "./cache"  # of commands, where none is named
_FILE_WIDTH = 100
_TRACE_S = "120"
_LOOKED_AT = ("data", "cache", "config", "code", "trace")


def main(words: list[str]) -> int:
    return run_command(sys.modules[__name__], "doctor", words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in (*_LOOKED_AT, "out", "loader", "profile", "recipe", "python", "gpu"):
        parser.add_argument(f"--{name}", default="")
    for name in ("step", "step-ms", "batch-size", "workers", "for"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--train-on", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--lang", choices=["en", "fa"], default="en")
    parser.add_argument("--fail-on", choices=["", "warn", "fail"], default="")
    parser.add_argument("--quick-fix", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("program", nargs="*")


def run(options: argparse.Namespace, program: Program) -> tuple[str, str, dict[str, Any]]:
    """Returns what is printed, the message of a --fail-on that is reached, and the JSON document."""
    program.is_quiet = options.quiet
    request = _request_of(options, program)
    if options.out:
        _prepare(options.out)
    show = (lambda _: None) if options.quiet else begin
    try:
        diagnosis = diagnose(request, program, show)
    finally:
        show("")
    named = {"recipe": options.recipe, "config": options.config if _is_launched(options.config) else ""}
    recipe_words = [f"--{option} {shlex.quote(given)}" for option, given in named.items() if given]
    Names(options.data, options.cache or _CACHE, "".join(recipe_words[:1]), options.loader).put_into(diagnosis.checks)
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    printed = text_of(diagnosis, options.config, shutil.get_terminal_size((80, 24)).columns, is_coloured=is_coloured)
    document = {**document_of(diagnosis.checks), "machine": diagnosis.machine}
    if options.quick_fix:
        told, fixed = _quick_fix(options, program)
        printed, document = printed + told, {**document, **fixed}
    if options.out:
        _write_reports(options, program, diagnosis, document)
    titles = reached(diagnosis.checks, options.fail_on)
    return printed, f"--fail-on {options.fail_on}: {titles}" if titles else "", document


def _request_of(options: argparse.Namespace, program: Program) -> Request:
    if options.quick_fix and not options.config:
        raise Failure("invalid_argument", "--quick-fix mends a configuration: name it by --config")
    if options.all and not options.data:
        raise Failure("invalid_argument", "--all examines a corpus: name it by --data")
    if not any(getattr(options, name) for name in (*_LOOKED_AT, "program")):
        raise Failure(
            "invalid_argument",
            "doctor needs something to look at: --data DATA, --cache CACHE, --config FILE, --code DIR or --trace FILE",
        )
    if options.step and not options.loader:
        raise Failure("invalid_argument", "--step is profiled with the batches of your loader: name it by --loader")
    for name, place in (("--loader", options.loader), ("--step", options.step)):
        if place and (not re.fullmatch(r"[^\W\d][\w.]*:[\w.]+", place) or place.partition(":")[0].endswith(".py")):
            raise Failure("invalid_argument", f"{name} {place}: write MODULE:NAME, as in train:{name[2:]} for train.py")
    if options.trace and options.program:
        raise Failure("invalid_argument", "--trace and a program both say what training calls: give one of them")
    if options.step_ms and (options.profile or options.step):
        other = "--profile" if options.profile else "--step"
        raise Failure("invalid_argument", f"--step-ms and {other} both say how long a step takes: give one of them")
    options.out = options.out or (_RESULTS_FOLDER if options.all else "")
    batch_size = number_of("--batch-size", options.batch_size, 1, 100_000, is_whole=True)
    workers = number_of("--workers", options.workers, 0, 64, is_whole=True)
    named = {name: getattr(options, name) for name in (*_LOOKED_AT, "profile", "step", "loader", "recipe", "python")}
    return Request(
        **named,
        tracing=(lambda: _traced(options, program)) if options.program else None,
        sweeps=options.all,
        batch_size=None if batch_size is None else int(batch_size),
        worker_count=None if workers is None else int(workers),
        step_ms=number_of("--step-ms", options.step_ms, 1, 1e7),
        trains_on_cpu=options.train_on == "cpu",
        runs_frameworks=not options.quick_fix,
        writable=options.out or os.environ.get("TMPDIR", "/tmp"),
        configuration=(lambda: _configuration(options, program)) if options.config else None,
    )


def _traced(options: argparse.Namespace, program: Program) -> dict[str, Any]:
    """Runs the training, and keeps what was found beside the other reports."""
    words, seconds = trace.program_of(options.program), trace.seconds_of(getattr(options, "for") or _TRACE_S)
    program.inform(f"running {shlex.join(words)} for at most {seconds:g} s")
    report, code = trace.traced(words, seconds, None, sys.stderr)
    document = trace.document_of(report, code)
    if code:
        program.warn(f"the training ended with exit code {code}; what was recorded until then is judged")
    if options.out:
        _write(os.path.join(options.out, "trace.json"), dumped(document))
    return document


def _config_options(options: argparse.Namespace, fix: bool) -> argparse.Namespace:
    return argparse.Namespace(
        file=options.config, gpu=options.gpu, gpus="", cache=options.cache, reader="launcher", fix=fix
    )


def _configuration(options: argparse.Namespace, program: Program) -> Check:
    """A GPU that nobody knows is a mistake on the command line. A file that cannot be judged is an answer."""
    try:
        from ..config import command, gpus, trainer

        if options.gpu and _is_launched(options.config):
            gpus.named(trainer.load(), options.gpu)
    except ImportError:
        why = f"this Python lacks ruamel.yaml: {bringing(['ruamel.yaml'])}"
        return cannot_tell("configuration", "Configuration", f"{options.config} was not judged: {why}.")
    try:
        return command.judge(_config_options(options, fix=False), program).check
    except Failure as error:
        return cannot_tell("configuration", "Configuration", f"{options.config} was not judged: {error}.")


def _is_launched(config: str) -> bool:
    """Whether builds take this file, and `xtts-precompute train` runs its trainer. What is no file is told later."""
    try:
        from ..config import trainer

        return not config or trainer.of_file(config).has_launcher
    except (ImportError, Failure):
        return True


def _quick_fix(options: argparse.Namespace, program: Program) -> tuple[str, dict[str, Any]]:
    """Writes the changes of the configuration, and says what to type next."""
    try:
        from ..config import command
    except ImportError:
        raise Failure("unsupported", f"--quick-fix needs ruamel.yaml: {bringing(['ruamel.yaml'])}") from None
    fix = command.judge(_config_options(options, fix=True), program)
    if not _is_launched(options.config):
        told = "Now train as before: a build and `xtts-precompute train` take no such file."
        return f"{command.fix_text(fix)}{told}\n", fix.json()
    data = shlex.quote(options.data) if options.data else "DATA"
    cache = shlex.quote(options.cache or _CACHE)
    config = shlex.quote(options.config)
    make = "" if options.cache else f"  xtts-precompute {data} {cache} --config {config}\n"
    train = f"  xtts-precompute train --cache {cache} -- -m myxtts.cli train --config {config} --data-path {data}\n"
    return f"{command.fix_text(fix)}Now train:\n{make}{train}", fix.json()


def _prepare(folder: str) -> None:
    """Known before a minute of measuring."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise Failure("invalid_argument", f"--out {folder} is a file: name a folder, which is made where it is missing")
    try:
        os.makedirs(folder, exist_ok=True)
        trial = os.path.join(folder, ".xtts-doctor-trial")
        with open(trial, "wb"):
            pass
        os.unlink(trial)
    except OSError as error:
        raise Failure("resource", f"--out {folder} cannot be written: {error.strerror}") from None


def _write_reports(
    options: argparse.Namespace, program: Program, diagnosis: Diagnosis, document: dict[str, Any]
) -> None:
    """Everything that the doctor knows, in the folder that the user named."""
    versions = program.version()
    given = " ".join(
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in sorted(vars(options).items())
        if value and value is not True
    )
    texts = {
        "diagnostic_report.txt": text_of(diagnosis, options.config, _FILE_WIDTH, is_whole=True),
        "diagnostic_report.json": dumped(document),
        "support.txt": support_text(
            diagnosis, versions, f"xtts-precompute doctor {given}", options.config, os.environ.get("HOME", "")
        ),
    }
    page = _page(diagnosis, options, versions.partition("\n")[0])
    if page:
        texts["diagnostic_report.html"] = page
    for name, text in texts.items():
        _write(os.path.join(options.out, name), text)
    kinds = ".html, .txt and .json" if page else ".txt and .json"
    program.inform(f"wrote {options.out}: diagnostic_report{kinds}, and support.txt to send to support")
    if not page:
        program.warn(f"no HTML was written, because this Python lacks jinja2: {bringing(['jinja2'])}")


def _page(diagnosis: Diagnosis, options: argparse.Namespace, version: str) -> str:
    try:
        from ..page.page import Facts, page_of
    except ImportError:
        return ""
    date = time.strftime("%Y-%m-%d %H:%M")
    facts = Facts("Will precomputing help?", date, diagnosis.machine, [version], options.config)
    return page_of(facts, diagnosis.checks, options.lang)


def _write(path: str, text: str) -> None:
    """The file is the old one or the new one, whatever fails."""
    made = f"{path}.new-{os.getpid()}"
    try:
        with open(made, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
    except OSError as error:
        raise Failure("resource", f"writing {path}: {error.strerror}") from None
