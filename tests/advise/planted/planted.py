"""Does a tracer name what starves a trainer, first or second, and call a healthy one clean?

    planted.py --data FOLDER --trace 'xtts-precompute trace --out OUT --' [NAME...]
    planted.py --data FOLDER --measure [NAME...]     how much slower each fault makes a step, without a tracer
    planted.py --check                               the table itself, against the files

faults.tsv is the table of planted faults and of what is true of each (README.md). OUT becomes a file in which the
tracer writes its findings. A NAME is a row's name, or FRAMEWORK/NAME where both frameworks have one. `--python` is
the trainer's Python. Mounting needs root; what a machine has not is skipped, with the reason.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from answers import Verdict, judged, read_findings
from table import HERE, check, read_table

LAST_LINE = re.compile(r"(\d+) steps, ([\d.]+) ms each")


def missing(row, python):
    """Returns why a row cannot run here, or nothing."""
    needs = row.needs.split() if row.needs != "-" else []
    programs = [name.rstrip("!") for name in needs if name.endswith("!")]
    modules = [row.framework, *(name for name in needs if not name.endswith("!"))]
    for program in programs:
        if not any(os.access(pathlib.Path(folder, program), os.X_OK) for folder in os.get_exec_path()):
            return f"no {program} here"
    script = "import importlib.util, sys\nprint(*(n for n in sys.argv[1:] if not importlib.util.find_spec(n)))"
    absent = subprocess.run([python, "-c", script, *modules], capture_output=True, text=True, check=True).stdout.split()
    if absent:
        return f"no {absent[0]} in the trainer's Python"
    if row.runs.startswith("mount") and (os.geteuid() != 0 or not os.path.exists("/dev/fuse")):
        return "mounting needs root and /dev/fuse"
    return ""


@contextlib.contextmanager
def corpus_for(row, data):
    """Gives the corpus's folder, mounted slowly where the row asks for that."""
    if not row.runs.startswith("mount"):
        yield data
        return
    with tempfile.TemporaryDirectory() as mount:
        subprocess.run(["bindfs", *row.runs.split()[1:], str(data), mount], check=True)
        try:
            yield mount
        finally:
            subprocess.run(["umount", "--lazy", mount], check=True)


def run(command):
    """Returns what a command wrote. It is stopped after 10 minutes."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def step_ms(command):
    return float(LAST_LINE.findall(run(command))[-1][1])


def traced(row, args):
    """Runs the tracer over a row's trainer and judges what it says."""
    begin_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, corpus_for(row, args.data) as data:
        out = pathlib.Path(folder, "findings.json")
        tracer = [part.replace("OUT", str(out)).replace("PYTHON", args.python) for part in shlex.split(args.trace)]
        try:
            run([*tracer, *row.command(args.python, data)])
            verdict = judged(row, read_findings(out))
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr)
            verdict = Verdict(row, said="the tracer failed")
    verdict.seconds = time.monotonic() - begin_s
    return verdict


def measured(row, args):
    """Returns a step's time with the fault and without, each the better of `--pairs` runs, which alternate."""
    times_ms = []
    for _ in range(args.pairs):
        with corpus_for(row, args.data) as data:
            times_ms.append(
                (step_ms(row.command(args.python, data)), step_ms(row.healthy_command(args.python, args.data)))
            )
    with_ms, without_ms = map(min, zip(*times_ms))
    return with_ms, without_ms * clips_ratio(row)


def clips_ratio(row):
    """Returns the share of a healthy batch's clips that the row's batch has: a fault of batches of one is of clips."""
    return 1 / 16 if row.name == "batch_of_one" else 1


def told(verdict):
    row = verdict.row
    if verdict.skipped:
        return f"{row.framework:<11}{row.name:<24} skipped: {verdict.skipped}"
    if row.healthy:
        return f"{row.framework:<11}{row.name:<24} {'clean' if verdict.good else 'NOT CLEAN':<12}{verdict.said[:60]}"
    rank = f"rank {verdict.rank}" if verdict.rank else "not named"
    where = "at its line" if verdict.placed else "elsewhere" if verdict.rank else ""
    untrue = f"UNTRUE: {', '.join(verdict.untrue)}" if verdict.untrue else ""
    said = f"said: {verdict.said[:50]}" if not verdict.good else ""
    return f"{row.framework:<11}{row.name:<24} {rank:<12}{where:<13}{verdict.seconds:5.0f} s  {untrue}{said}"


def summary(verdicts):
    ran = [verdict for verdict in verdicts if not verdict.skipped]
    lines = []
    for kind in ("known", "own", "healthy"):
        of_kind = [verdict for verdict in ran if verdict.row.kind == kind]
        word = "clean" if kind == "healthy" else "named first or second"
        if of_kind:
            lines.append(f"{kind}: {sum(verdict.good for verdict in of_kind)} of {len(of_kind)} {word}")
    lines.append(f"untrue words: {sum(bool(verdict.untrue) for verdict in ran)}; skipped: {len(verdicts) - len(ran)}")
    return "\n".join(lines)


def chosen(rows, names):
    every = {word for row in rows for word in (row.name, row.full_name, row.framework, row.kind)}
    if unknown := sorted(set(names) - every):
        sys.exit(f"planted.py: faults.tsv has no {unknown[0]}")
    words = set(names)
    return [
        row for row in rows if not names or words & {row.name, f"{row.framework}/{row.name}", row.framework, row.kind}
    ]


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows, or a framework, or known, own, healthy")
    parser.add_argument("--data", help="a folder for the corpus; it is made where it is empty")
    parser.add_argument("--trace", help="the tracer's command; OUT and PYTHON in it are replaced")
    parser.add_argument("--python", default=sys.executable, help="the trainer's Python")
    parser.add_argument("--at-least", type=int, default=0, help="how many must be named first or second")
    parser.add_argument("--measure", action="store_true", help="run without a tracer, with and without each fault")
    parser.add_argument("--pairs", type=int, default=1, help="how often --measure runs both")
    parser.add_argument("--check", action="store_true", help="compare the table with the files")
    return parser.parse_args()


def trace_all(rows, args):
    """Prints the table of answers, and returns whether they are good enough."""
    verdicts = []
    for row in rows:
        reason = missing(row, args.python)
        verdicts.append(Verdict(row, skipped=reason) if reason else traced(row, args))
        print(told(verdicts[-1]), flush=True)
    print(summary(verdicts))
    ran = [verdict for verdict in verdicts if not verdict.skipped]
    named = sum(verdict.good for verdict in ran if not verdict.row.healthy)
    return named >= args.at_least and all(verdict.good for verdict in ran if verdict.row.healthy)


def measure_all(rows, args):
    for row in rows:
        if row.healthy or missing(row, args.python):
            continue
        with_ms, without_ms = measured(row, args)
        print(f"{row.full_name}\t{with_ms:.0f} ms\t{without_ms:.0f} ms\t{with_ms / without_ms:.1f}", flush=True)


def main():
    args = parse_args()
    rows = read_table()
    if args.check:
        wrong = check(rows)
        print("\n".join(wrong) or f"{len(rows)} rows hold")
        return bool(wrong)
    if not args.data or not (args.trace or args.measure):
        sys.exit("planted.py needs --data, and --trace or --measure")
    run([args.python, str(HERE / "corpus.py"), args.data])
    rows = chosen(rows, args.names)
    if args.measure:
        measure_all(rows, args)
    return bool(args.trace) and not trace_all(rows, args)


if __name__ == "__main__":
    sys.exit(main())
