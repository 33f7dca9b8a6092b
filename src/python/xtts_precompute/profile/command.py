"""`xtts-precompute-profile`: is this cache fast enough to train from, on this machine?

`python -m xtts_precompute.profile` is the same command. It trains a small text-to-speech network on
the cache's batches, and prints where the time of a step goes. Then it trains on one batch alone,
which proves what data costs. It ends with the exit codes of xtts-precompute (README.md).
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from .._base.commands import run_command
from .._base.errors import ResourceError

_EXAMPLES = """examples:
  xtts-precompute-profile ./cache
  xtts-precompute-profile ./cache --framework tensorflow --num-steps 100 --batch-size 16
  xtts-precompute-profile ./cache --json --plot steps.svg > profile.json

To time a training step of your own: help(xtts_precompute.StepProfiler).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    return run_command("xtts-precompute-profile", lambda: _run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xtts-precompute-profile",
        description="Times training steps of a small text-to-speech network on a cache: where their "
        "time goes, and whether data is what they wait for.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cache", metavar="CACHE", help="the folder that xtts-precompute has made")
    parser.add_argument(
        "--framework", choices=("auto", "torch", "tensorflow"), default="auto", help="auto: the first that is installed"
    )
    parser.add_argument("--num-steps", type=_count, default=50, metavar="N", help="steps that count (50)")
    parser.add_argument(
        "--warmup", type=_count_or_none, default=5, metavar="N", help="steps before them that do not (5)"
    )
    parser.add_argument("--batch-size", type=_count, default=32, metavar="N", help="clips of a batch (32)")
    parser.add_argument("--split", metavar="NAME", help="train, validation or test; all clips unless told otherwise")
    parser.add_argument(
        "--device",
        type=_device,
        default="auto",
        metavar="D",
        help="cpu, cuda, cuda:N, or auto: CUDA where the framework finds it",
    )
    parser.add_argument(
        "--no-synthetic", action="store_true", help="leave out the steps on one batch alone, and with them the proof"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    parser.add_argument("--plot", metavar="FILE", type=_picture, help="draw the steps, as .svg or .png")
    return parser


def _count(word: str) -> int:
    return _number(word, 1)


def _count_or_none(word: str) -> int:
    return _number(word, 0)


def _number(word: str, least: int) -> int:
    if not re.fullmatch("[0-9]{1,7}", word) or not least <= int(word) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"is a number from {least} to 1000000, not '{word}'")
    return int(word)


def _device(word: str) -> str:
    if not re.fullmatch("auto|cpu|cuda(:[0-9]{1,3})?", word):
        raise argparse.ArgumentTypeError(f"is cpu, cuda, cuda:N or auto, not '{word}'")
    return word


def _picture(word: str) -> str:
    if not word.endswith((".svg", ".png")):
        raise argparse.ArgumentTypeError(f"is a picture: give it a name that ends with .svg or .png, not '{word}'")
    return word


def _run(options: argparse.Namespace) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # hides TensorFlow's remarks about the processor
    # Without this, PyTorch's threads wait spinning for one another. If anything else runs then,
    # steps take several times as long, which is not the data's fault.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from .._cache.cache import open as open_cache
    from .profiler import StepProfiler
    from .runs import prepare

    folder = os.path.dirname(options.plot or "") or "."
    if options.plot is not None and not os.access(folder, os.W_OK):  # checked now, not after minutes of steps
        raise ResourceError(
            f"--plot {options.plot}: there is no folder '{folder}' that can be written to; name another one"
        )
    # A GPU by number may be another than the framework's current one.
    gpu = {"auto": "auto", "cuda": "auto", "cpu": None}.get(options.device, options.device[5:])
    gpu = int(gpu) if gpu is not None and gpu != "auto" else gpu
    profiler = StepProfiler(warmup=options.warmup, batch_size=options.batch_size, gpu=gpu)
    cache = open_cache(options.cache)
    run = prepare(
        cache,
        profiler,
        framework=options.framework,
        device=options.device,
        batch_size=options.batch_size,
        split=options.split,
    )
    if options.no_synthetic:
        for batch in profiler.batches(run.loader, options.num_steps):
            run.step(batch)
            del batch
        report = profiler.report()
    else:
        report = profiler.compare(run.loader, run.step, options.num_steps)
    run.loader.close()
    if options.plot is not None:
        report.save(options.plot)
    if options.json:
        about: dict[str, Any] = {
            "cache": options.cache, "framework": run.framework, "device": run.device,
            "has_text": run.has_text, "parameters": run.parameter_count,
        }  # fmt: skip
        print(json.dumps({**about, **report.to_json()}, indent=2))
        return
    text = "tokens and mel" if run.has_text else "mel alone, since the cache has no tokens"
    print(
        f"{options.cache}: a network of {run.parameter_count / 1e6:.1f} million parameters on {text}, "
        f"{run.framework} on {run.device}"
    )
    print(report)
