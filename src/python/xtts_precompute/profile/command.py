"""`xtts-precompute profile`: where the time of a training step goes, and what data costs it.

`xtts-precompute profile` and `python -m xtts_precompute.profile` are the same command. It times the
small reference network on a cache's batches, or the user's own loader and step. Then it repeats the
step on one batch alone, which proves what data costs. It ends with the exit codes of xtts-precompute
(README.md).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TextIO

from .._base.commands import run_command, stdout_alone
from .._base.errors import InvalidArgumentError, ResourceError, UnsupportedError, exit_code

PROGRAM = "xtts-precompute profile"
_TOO_SLOW = 4  # the exit code of --fail-over
_EXAMPLES = """examples:
  xtts-precompute profile ./cache                                  # the reference network
  xtts-precompute profile --loader train:loader --step train:step  # your own, of train.py
  xtts-precompute profile ./cache --data-gpu 0 --model-gpu 1
  xtts-precompute profile ./cache --fail-over 5% --json > profile.json

--loader names an iterable of batches, or a function without arguments that returns one. --step names
a function that takes a batch; of a CACHE, that is batch["mel"], batch["mel_len"], batch["tokens"]
and so on. If it also takes `profiler`, it may name its phases (`with profiler.phase("forward"):`);
else backward and optimizer of a PyTorch step are seen by themselves (PyTorch 2.0 and later).

`xtts-precompute doctor --data DATA --profile profile.json` says what a cache would gain.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--json" not in words:
        return run_command(PROGRAM, lambda: _run(_parser().parse_args(words), sys.stdout))
    with stdout_alone() as answer:  # a step may print
        return run_command(PROGRAM, lambda: _run(_parser().parse_args(words), answer), answer)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidArgumentError(f"{message}\n{PROGRAM} --help says more")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Times training steps: where their time goes, and whether data is what they wait for.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cache", metavar="CACHE", nargs="?", help="the folder that xtts-precompute has made")
    parser.add_argument("--loader", metavar="MODULE:NAME", help="your own batches instead of CACHE's")
    parser.add_argument("--step", metavar="MODULE:NAME", help="your own step instead of the reference network's")
    parser.add_argument(
        "--framework", choices=("auto", "torch", "tensorflow"), default="auto", help="auto: the first that is installed"
    )
    parser.add_argument(
        "--num-steps",
        type=_COUNT,
        metavar="N",
        help="steps that count (50; where they take less than 1 s, 2 s of them)",
    )
    parser.add_argument(
        "--warmup", type=_from(0, 1_000_000), metavar="N", help="steps before them that do not (5, or 0.5 s)"
    )
    parser.add_argument("--batch-size", type=_COUNT, metavar="N", help="clips of a batch of CACHE (32)")
    parser.add_argument("--split", metavar="NAME", help="train, validation or test; all clips unless told otherwise")
    parser.add_argument(
        "--device",
        type=_device,
        default="auto",
        metavar="D",
        help="cpu, cuda, cuda:N, or auto: CUDA where the framework finds it",
    )
    parser.add_argument("--data-gpu", type=_GPU, metavar="I", help="the GPU that batches are put on (two GPUs)")
    parser.add_argument("--model-gpu", type=_GPU, metavar="J", help="the GPU that trains (two GPUs)")
    parser.add_argument(
        "--fail-over", type=_percent, metavar="P%", help="exit code 4 if data costs more than this share of a step"
    )
    parser.add_argument(
        "--no-synthetic", action="store_true", help="leave out the steps on one batch alone, and with them the proof"
    )
    parser.add_argument(
        "--attempts",
        type=_from(1, 100),
        default=3,
        metavar="N",
        help="measure at most so often, until no other program disturbs (3)",
    )
    parser.add_argument(
        "--sweep",
        action="store_true",
        help="--loader is a function of batch_size and num_workers: time it over both, without a step",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only on stderr")
    parser.add_argument("--plot", metavar="FILE", type=_picture, help="draw the steps, as .svg or .png")
    return parser


def _from(least: int, most: int) -> Callable[[str], int]:
    def number(word: str) -> int:
        if not re.fullmatch("[0-9]{1,7}", word) or not least <= int(word) <= most:
            raise argparse.ArgumentTypeError(f"is a number from {least} to {most}, not '{word}'")
        return int(word)

    return number


_COUNT = _from(1, 1_000_000)
_GPU = _from(0, 1023)


def _percent(word: str) -> float:
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?%", word) or not float(word[:-1]) <= 100:
        raise argparse.ArgumentTypeError(f"is a share from 0% to 100%, as in 5%, not '{word}'")
    return float(word[:-1]) / 100


def _device(word: str) -> str:
    if not re.fullmatch("auto|cpu|cuda(:[0-9]{1,3})?", word):
        raise argparse.ArgumentTypeError(f"is cpu, cuda, cuda:N or auto, not '{word}'")
    return word


def _picture(word: str) -> str:
    if not word.endswith((".svg", ".png")):
        raise argparse.ArgumentTypeError(f"is a picture: give it a name that ends with .svg or .png, not '{word}'")
    return word


def _check(options: argparse.Namespace) -> None:
    """Refuses what does not fit together, and files that cannot be written, before minutes of steps."""
    if (options.cache is None) == (options.loader is None):
        raise InvalidArgumentError(
            "profile needs batches: name a CACHE, or your own loader by --loader"
            if options.cache is None
            else "profile times one way of loading: name a CACHE, or --loader, not both"
        )
    if options.sweep and (options.loader is None or options.step is not None):
        raise InvalidArgumentError("--sweep times --loader alone: name it, and leave out CACHE and --step")
    if options.loader is not None:
        if options.step is None and not options.sweep:
            raise InvalidArgumentError("--loader needs --step, because the reference network takes a CACHE's batches")
        of_a_cache = {
            "--batch-size": options.batch_size is not None,
            "--split": options.split is not None,
            "--device": options.device != "auto",
            "--framework": options.framework != "auto",
        }
        for option, is_given in of_a_cache.items():
            if is_given:
                raise InvalidArgumentError(f"{option} is for a CACHE: your own loader and step decide that")
    if options.device != "auto" and (options.data_gpu, options.model_gpu) != (None, None):
        raise InvalidArgumentError("--device is one place for all: leave it out with --data-gpu and --model-gpu")
    folder = os.path.dirname(options.plot or "") or "."
    if options.plot is not None and not os.access(folder, os.W_OK):
        raise ResourceError(
            f"--plot {options.plot}: there is no folder '{folder}' that can be written to; name another one"
        )


def _run(options: argparse.Namespace, out: TextIO) -> int:
    _check(options)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # hides TensorFlow's remarks about the processor
    # Without this, PyTorch's threads wait spinning for one another. If anything else runs then,
    # steps take several times as long, which is not the data's fault.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from .measuring import measure

    def tell(message: str) -> None:
        print(f"{PROGRAM}: {message}", file=sys.stderr)

    if options.sweep:
        return _sweep(options, None if options.quiet or options.json else tell, out)
    run, report = measure(options, None if options.quiet or options.json else tell)
    code = 0
    if options.plot is not None:
        try:
            report.save(options.plot)
        except UnsupportedError as error:  # no PNG, and the report is worth minutes
            print(f"{PROGRAM}: {error}", file=sys.stderr)
            code = exit_code(error) or 0
    if options.json:
        about: dict[str, Any] = {
            "cache": options.cache, "framework": run.framework, "device": run.device or report.device,
            "has_text": run.has_text, "parameters": run.parameter_count, "note": run.note,
        }  # fmt: skip
        print(json.dumps({**about, **report.to_json()}, indent=2), file=out)
    else:
        print(run.title, *filter(None, [run.note]), report, sep="\n", file=out)
    if options.fail_over is None or report.least_cost <= options.fail_over:
        return code
    out.flush()
    print(
        f"{PROGRAM}: data costs at least {100 * report.least_cost:.1f} % of a step, and --fail-over allows "
        f"{100 * options.fail_over:g} %"
        + ("; but its two numbers do not agree, so measure again" if report.is_contradictory else ""),
        file=sys.stderr,
    )
    return _TOO_SLOW


def _sweep(options: argparse.Namespace, tell: Callable[[str], None] | None, out: TextIO) -> int:
    from xtts_advise.measure.own_loader.sweep import NoSweep, recommended, settings_of, sweep, table_of
    from xtts_advise.others import DISTURBING, Others

    from .._base.cores import usable_cores
    from .own_code import load, taken_from

    others = Others()
    make = load("--loader", options.loader)

    def batches(**setting: int) -> Iterator[Any]:
        return taken_from(options.loader, lambda: make(**setting))

    try:
        settings, left_out = settings_of(make, usable_cores())
        rows = sweep(batches, settings, options.num_steps, tell or (lambda _: None))
    except NoSweep as error:
        raise InvalidArgumentError(f"--loader {options.loader} {error}") from None
    share = others.share()
    if options.json:
        document = {
            "sweep": [row.to_json() for row in rows],
            "recommended": [row.setting for row in recommended(rows)],
            "left_out": left_out,
            "others_share": share,
        }
        print(json.dumps(document, indent=2), file=out)
    else:
        print(table_of(rows, left_out), file=out)
        if share is not None and share > DISTURBING:
            print(
                f"Other programs took {100 * share:.0f} % of the processors meanwhile: measure again without them.",
                file=out,
            )
    return 0
