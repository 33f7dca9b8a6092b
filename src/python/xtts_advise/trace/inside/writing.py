"""The file of a recording: JSON, written beside its name and then renamed."""

import os
import sys
import time


def write(recorder):
    import json  # not before it is needed: every Python process loads this module

    with recorder.writing:
        _write(json.dumps(document_of(recorder)), recorder)


def _write(text, recorder):
    path = os.path.join(recorder.folder, f"{os.getpid()}-{int(recorder.began * 1000)}.json")
    try:
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)
    except OSError:
        pass  # the folder is gone: the trace has ended


def document_of(recorder):
    stacks, marks = recorder.stacks, recorder.marks
    used = os.times()
    stacks_of_now = [
        {"thread": thread, "key": list(key), "wall_s": times[0], "processor_s": times[1], "samples": times[2]}
        for (thread, key), times in list(stacks.times.items())
    ]
    loops = [_loop(loop) for loop in list(marks.loops.values())]
    return {
        "version": 1,
        "process": os.getpid(),
        "parent": recorder.parent or os.getppid(),
        "forked": recorder.parent is not None,
        "arguments": list(getattr(sys, "argv", []))[:20],
        "seconds": time.monotonic() - recorder.began,
        "began": recorder.began,
        "processor_s": used.user + used.system,
        "cost_s": recorder.cost_s,
        "processors": len(os.sched_getaffinity(0)),
        "places": [list(place) for place in list(stacks.places)],
        "stacks": stacks_of_now,  # before their places, which only become more
        "loops": loops,
        "units": [_unit(unit) for unit in list(marks.units.values())],
        "modes": sorted(recorder.modes),
        "faults": list(marks.faults) + _faults_of(marks),
        "events": {name: list(rows) for name, rows in list(marks.events.items())},
        "threads": _processor_of_threads(),
    }


def _faults_of(marks):
    counted = [*list(marks.loops.values()), *list(marks.units.values())]
    return [repr(one.counts.fault)[:200] for one in counted if one.counts.fault is not None][:20]


def _loop(loop):
    return {
        "file": loop.file,
        "line": loop.line,
        "function": loop.function,
        "facts": loop.facts,
        "batches": loop.batches,
        "iterators": loop.iterators,
        "asks": list(loop.asks),
        "through": [list(function) for function in loop.through],
        "trains": loop.trains,
        "wait_s": loop.wait_s,
        "step_s": loop.step_s,
        "steps": [list(step) for step in list(loop.steps)],
        "lines": [
            [[place, own, seconds] for (place, own), seconds in list(lines.items())] for lines in list(loop.lines)
        ],
        "stacks": [[list(key), *times] for key, times in list(loop.times.items())],
        "gaps": list(loop.gaps),
        "gap_stacks": [[list(key), *times] for key, times in list(loop.gap_times.items())],
        "counts": _counts(loop.counts),
    }


def _unit(unit):
    return {
        "name": unit.name,
        "calls": unit.calls,
        "samples": unit.samples,
        "seconds": unit.seconds,
        "counts": _counts(unit.counts),
    }


def _counts(counts):
    edges = sorted(counts.edges.values(), key=lambda edge: -edge.count)[:3000]
    return {
        "units": counts.units,
        "edges": [
            {
                "file": edge.file,
                "line": edge.line,
                "caller": edge.caller,
                "module": edge.module,
                "function": edge.function,
                "count": edge.count,
                "repeats": edge.repeats,
                "repeated": edge.repeated,
                "examples": dict(edge.examples),
                "others": edge.others,
            }
            for edge in edges
        ],
    }


def _processor_of_threads():
    """Seconds of processor by the name of threads, those of C++ too: "tf_data_iterato" -> 3.2."""
    seconds = {}
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
                name = file.read().strip()
            with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file:
                run = int(file.read().split()[0])
        except (OSError, ValueError, IndexError):
            continue  # the thread has ended
        seconds[name] = seconds.get(name, 0.0) + run * 1e-9
    return seconds
