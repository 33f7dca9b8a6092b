#!/usr/bin/env python3
"""Training before and after: features on the fly (librosa), from .npy files, and from the cache, in PyTorch and TensorFlow.

    training_vs_peers.py DATA [--work DIR] [--clips N] [--rounds R] [--seconds S] [--only REGEX] [--json FILE]

DATA: some clips in LJSpeech's layout, copied under other ids until there are N. Each way (training_ways.py) runs in a process of its own, in turn, R times: batches
of 32 alone, then a small network trained on them, with real data and with one batch again and again. Medians over the rounds are printed; compare ratios within a
run. Needs the package with its builder, librosa, and torch or tensorflow; what is missing is left out and said.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import quiet

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
WAYS_FILE = pathlib.Path(__file__).with_name("training_ways.py")


def prepare(data, folder, clip_count):
    """data/, npy/ and cache/ of so many clips. Copies, not links: each file is read from pages of its own, as those of a real corpus."""
    sys.path.insert(0, str(SAMPLES))
    import common
    import numpy as np
    import xtts_precompute as xp

    done = folder / f"done-{clip_count}"
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data/wavs").mkdir(parents=True)
    (folder / "npy").mkdir()
    sources = [(path, text, common.mel_on_the_fly(path)) for path, text in common.clips_of(data)]
    lines = []
    for number in range(clip_count):
        path, text, mel = sources[number % len(sources)]
        name = f"clip-{number:05d}"
        shutil.copyfile(path, folder / f"data/wavs/{name}{pathlib.Path(path).suffix}")
        np.save(folder / f"npy/{name}.mel.npy", mel)
        np.save(
            folder / f"npy/{name}.tokens.npy",
            np.frombuffer(text.encode(), np.uint8)[: common.TOKENS].astype(np.int32) + 1,
        )
        lines.append(f"{name}|{text}|{text}\n")
    (folder / "data/metadata.csv").write_text("".join(lines), encoding="utf-8")
    report = xp.build(folder / "data", folder / "cache", progress=False)
    assert report.records == clip_count, report
    done.touch()


def ways(pattern):
    import training_ways

    for name in training_ways.WAYS:
        framework = name.partition(":")[0]
        if importlib.util.find_spec(framework) is None:
            print(f"left out: {name} ({framework} is not installed)")
        elif re.search(pattern, name):
            yield name


def measure(name, folder, seconds, patience):
    quiet.wait(patience)
    process = subprocess.Popen(
        [sys.executable, WAYS_FILE, name, folder, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # PyTorch's threads would wait spinning for one another: where others work, too, a collate of 2 ms takes 500.
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )  # fmt: skip
    watch = quiet.Watch({process.pid})
    # Ended workers' time would look like others'; what a session took is asked while it lives.
    took = watch.own_ticks()
    while process.poll() is None:
        took = max(took, watch.own_ticks())
        try:
            out, said = process.communicate(timeout=0.2)
            break
        except subprocess.TimeoutExpired:
            pass
    else:
        out, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name}: exit code {process.returncode}\n{said[-3000:]}")
    watch.own_ticks = lambda: took
    return {**json.loads(out.splitlines()[-1]), "others": watch.share()}


def middle(answers, *keys):
    values = []
    for answer in answers:
        for key in keys:
            answer = answer[key]
        values.append(answer)
    return statistics.median(values)


def table(results):
    text = ("| | batch alone, ms | std/mean | samples/s | × cache | step, ms | std/mean | wait, ms | data | steps/s | samples/s | data for free | std/mean | others |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")  # fmt: skip
    for name, answers in results.items():
        ours = next(
            (
                found
                for other, found in results.items()
                if other.startswith(name.partition(":")[0]) and "cache" in other
            ),
            None,
        )
        ratio = (
            ""
            if ours is None
            else f"{statistics.median(a['batch_ms'] / o['batch_ms'] for a, o in zip(answers, ours)):.1f}"
        )
        batch, step = middle(answers, "batch_ms"), middle(answers, "step", "ms", "mean")
        text += (
            f"| {name} | {batch:.2f} | {middle(answers, 'batch_variation'):.2f} | {32e3 / batch:,.0f} | {ratio} | {step:.0f} |"
            f" {middle(answers, 'step', 'variation'):.1%} | {middle(answers, 'data', 'ms', 'mean'):.2f} | {middle(answers, 'data', 'share'):.1%} |"
            f" {middle(answers, 'steps_per_s'):.2f} | {middle(answers, 'samples_per_s'):.0f} | × {middle(answers, 'synthetic', 'gain'):.2f} |"
            f" {middle(answers, 'synthetic', 'step', 'variation'):.1%} | {middle(answers, 'others'):.0%} |\n"
        )
    return text


def targets(results):
    """The issue's, of each cache row."""
    lines = []
    for name, ours in results.items():
        if "cache" not in name:
            continue
        peers = [
            other for other in results if other.partition(":")[0] == name.partition(":")[0] and "cache" not in other
        ]
        for kind, least in ((".npy", 10), ("on the fly", 50)):
            beside = [other for other in peers if kind in other]
            if beside:
                best = min(
                    statistics.median(a["batch_ms"] / o["batch_ms"] for a, o in zip(results[other], ours))
                    for other in beside
                )
                lines.append(
                    f"{name}: {best:.1f} times as fast as the faster {kind} (target {least}): {'met' if best >= least else 'MISSED'}"
                )
        share, variation = middle(ours, "data", "share"), middle(ours, "step", "variation")
        free = middle(ours, "synthetic", "step", "variation")
        lines.append(f"{name}: data {share:.2%} of the step (target 5 %): {'met' if share < 0.05 else 'MISSED'};"
                     f" variation of the step {variation:.1%} (target 10 %; {free:.1%} with data for free): {'met' if variation < 0.1 else 'MISSED'}")  # fmt: skip
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/training"))
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8, help="of each part of each way")
    parser.add_argument("--only", default="", help="a regular expression: ways to measure")
    parser.add_argument(
        "--patience", type=float, default=20, help="seconds to wait for a quiet moment, before each way"
    )
    parser.add_argument("--json", type=pathlib.Path, help="every answer of every round")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
    prepare(arguments.data, arguments.work, arguments.clips)
    results = {name: [] for name in ways(arguments.only)}
    for number in range(arguments.rounds):
        for name, answers in results.items():
            answers.append(measure(name, arguments.work, arguments.seconds, arguments.patience))
            last = answers[-1]
            print(f"round {number + 1}: {name}: {last['batch_ms']:.2f} ms a batch, {last['step']['ms']['mean']:.0f} ms a step, "
                  f"data {last['data']['share']:.1%}; others {last['others']:.0%}", file=sys.stderr, flush=True)  # fmt: skip
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    print(table(results))
    print(targets(results))


if __name__ == "__main__":
    main()
