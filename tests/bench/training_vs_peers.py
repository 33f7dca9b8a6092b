#!/usr/bin/env python3
"""Training before and after: features on the fly (librosa), from .npy files, and from the cache.

    training_vs_peers.py DATA [--work DIR] [--clips N] [--rounds R] [--seconds S] [--only REGEX]
        [--json FILE]

DATA is some clips in LJSpeech's layout. They are copied under other ids until there are N. Each
way (training_ways.py), in PyTorch and in TensorFlow, runs in a process of its own, in turn, R
times. It reads batches of 32 alone, then trains a small network on them, with real data and with
one batch again and again.

Prints the medians over the rounds; compare ratios within a run. Needs the package with its builder,
librosa, and torch or tensorflow. A way that lacks something is left out and named.
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
    """Makes data/, npy/ and cache/ of so many clips. Files are copies, not links, so that each is
    read from pages of its own, as in a real corpus."""
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
        [sys.executable, WAYS_FILE, name, folder, str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Otherwise PyTorch's threads spin while they wait for one another: beside other work, a
        # collate of 2 ms then takes 500 ms.
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )
    watch = quiet.Watch({process.pid})
    # The time of ended workers would count as other work. So we ask for a session's time while it
    # lives.
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
    text = (
        "| | batch alone, ms | std/mean | samples/s | × cache | step, ms | std/mean | wait, ms | data "
        "| steps/s | samples/s | data for free | std/mean | others |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
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
            f"| {name} | {batch:.2f} | {middle(answers, 'batch_variation'):.2f} |"
            f" {32e3 / batch:,.0f} | {ratio} | {step:.0f} |"
            f" {middle(answers, 'step', 'variation'):.1%} | {middle(answers, 'data', 'ms', 'mean'):.2f} |"
            f" {middle(answers, 'data', 'share'):.1%} | {middle(answers, 'steps_per_s'):.2f} |"
            f" {middle(answers, 'samples_per_s'):.0f} | × {middle(answers, 'synthetic', 'gain'):.2f} |"
            f" {middle(answers, 'synthetic', 'step', 'variation'):.1%} | {middle(answers, 'others'):.0%} |\n"
        )
    return text


def targets(results):
    """Compares each cache row with its targets."""
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
                    f"{name}: {best:.1f} times as fast as the faster {kind} (target {least}): "
                    f"{'met' if best >= least else 'MISSED'}"
                )
        share, variation = middle(ours, "data", "share"), middle(ours, "step", "variation")
        free = middle(ours, "synthetic", "step", "variation")
        lines.append(
            f"{name}: data {share:.2%} of the step (target 5 %): {'met' if share < 0.05 else 'MISSED'};"
            f" variation of the step {variation:.1%} (target 10 %; {free:.1%} with data for free): "
            f"{'met' if variation < 0.1 else 'MISSED'}"
        )
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
            print(
                f"round {number + 1}: {name}: {last['batch_ms']:.2f} ms a batch, "
                f"{last['step']['ms']['mean']:.0f} ms a step, "
                f"data {last['data']['share']:.1%}; others {last['others']:.0%}",
                file=sys.stderr,
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    print(table(results))
    print(targets(results))


if __name__ == "__main__":
    main()
