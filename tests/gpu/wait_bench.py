"""Does a step of 10 ms wait for its batch? The GPU's own clock (events) says.

    python wait_bench.py CACHE

The step is a kernel of a fixed length, so nothing but the data can make it longer. A second row has
batches whose copy alone takes some ms: it must hide behind the kernel before it. The rows are of a
table in Markdown.
"""

import itertools
import os
import sys
import time

import torch
import xtts_precompute as xp

WARMUP, STEPS = 20, 200


def cycles_of(milliseconds):
    """Returns how many cycles of torch.cuda._sleep() take so long."""
    cycles = 1_000_000
    for _ in range(4):  # each round is longer, so the clock has risen at the last one
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.cuda._sleep(cycles)
        end.record()
        end.synchronize()
        cycles = int(cycles * milliseconds / begin.elapsed_time(end))
    return cycles


def waited(loader, cycles):
    """Runs steps. Returns (ms a step, share in which the GPU ran no step, ms the host waited in next())."""
    steps, hosts = [], []
    while len(steps) < WARMUP + STEPS:
        batches = iter(loader)
        while len(steps) < WARMUP + STEPS:
            asked = time.perf_counter()
            batch = next(batches, None)
            if batch is None:
                break
            hosts.append(time.perf_counter() - asked)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            torch.cuda._sleep(cycles)
            batch.mel.sum(dtype=torch.float32)  # the step reads its batch
            end.record()
            steps.append((begin, end))
            if len(steps) > 2:
                steps[-3][1].synchronize()  # with more steps in store, the host would hide a wait
            del batch
    torch.cuda.synchronize()
    steps = steps[WARMUP:]
    whole = steps[0][0].elapsed_time(steps[-1][1])
    idle = sum(one[1].elapsed_time(other[0]) for one, other in itertools.pairwise(steps))
    # In next() the host also waits for the step two before, whose slot it needs: that is no lack of data.
    return whole / STEPS, idle / whole, 1e3 * sum(hosts[WARMUP:]) / STEPS


def copy_ms(bytes_count):
    """Returns how long a plain page-locked copy of so many bytes takes."""
    host = torch.empty(bytes_count, dtype=torch.uint8, pin_memory=True)
    there = torch.empty(bytes_count, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        there.copy_(host, non_blocking=True)
        end.record()
        end.synchronize()
    return begin.elapsed_time(end)


def main(path):
    cache = xp.open(path)
    threads = min(8, os.cpu_count() or 1)  # two do not fill batches of 1,024 in a step
    for batch_size, step_ms in ((32, 10.0), (1024, 12.0)):
        draws = {"weights": {"by": "speaker", "temperature": 1.0, "draws": batch_size * (WARMUP + STEPS)}}
        loader = xp.torch.Loader(
            cache, batch_size=batch_size, fields=("tokens", "mel", "mel_len"), device="cuda", threads=threads, **draws
        )
        lengths = next(iter(loader)).mel_len
        copied = copy_ms(int(lengths.sum()) * cache.columns["mel"].shape[1] * 4)
        ms, idle, host = waited(loader, cycles_of(step_ms))
        print(
            f"| a kernel of {step_ms:.1f} ms, batches of {batch_size} whose copy takes {copied:.2f} ms | "
            f"{ms:.2f} ms a step; the GPU waits {100 * idle:.2f} %, the host {host:.3f} ms in next() |"
        )


if __name__ == "__main__":
    main(sys.argv[1])
