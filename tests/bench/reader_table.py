"""The readers of readers_vs_peers.py by name, in the order of its table, and the table itself.

Needs nothing but Python.
"""

import statistics

# Commands of reader_ours. All other readers are compared with the first.
OURS = "ours, C++, global"
OF_PROGRAM = {
    OURS: "global",
    "ours, C++, global, two fillers": "global2",
    "ours, C++, none, in place": "none",
    "limit: memcpy into one buffer, 2 threads": "copy2",
    "limit: memcpy into one buffer, 1 thread": "copy1",
    "limit: pointers": "pointers",
}
OURS_PYTHON = "ours, Python, global"

# Classes of reader_by_hand.py and reader_loaders.py, and whether they offer a loader: shuffled
# batches, and threads or processes ahead of the consumer.
PEERS = {
    OURS_PYTHON: ("Ours", False),
    "ours, Python, none, in place": ("OursInPlace", False),
    "numpy memmap, views, no batch": ("MemmapViews", False),
    "numpy memmap + take, 2 threads, by hand": ("MemmapTake", False),
    "Arrow, by hand": ("Arrow", False),
    "py-lmdb, 1 thread, by hand": ("Lmdb", False),
    "h5py, slices": ("H5pySlices", False),
    "h5py, fancy": ("H5pyFancy", False),
    "Hugging Face, indices": ("HuggingFace", True),
    "Hugging Face, shuffle and iter": ("HuggingFaceShuffled", True),
    "Hugging Face in DataLoader, 2 workers": ("HuggingFaceTorch", True),
    "FFCV, 2 workers": ("Ffcv", True),
    "SPDL over memmap, 2 threads": ("Spdl", True),
    "SPDL, buffers reused by hand": ("SpdlReuse", True),
    "Grain over memmap, 2 threads": ("Grain", True),
    "py-lmdb in DataLoader, 2 workers": ("LmdbTorch", True),
    "memmap in DataLoader, 2 workers": ("TorchMemmap", True),
    ".npy files in DataLoader, 2 workers": ("TorchNpy", True),
}


def per_s(answer):
    return answer["samples"] / answer["seconds"]


def steady_per_s(answer):
    """Gives samples a second without an epoch's first batch, for which some peers start threads."""
    batches = answer["batch_ms"]
    if not batches:
        return None
    return answer["samples"] / (len(batches) + answer["epochs"]) / statistics.fmean(batches) * 1e3


def ratio(pairs, answers, rate):
    """Gives our rate over the reader's, as the median over the rounds' pairs. None: the reader has
    no such rate."""
    if any(rate(answer) is None for answer in answers):
        return None
    return statistics.median(rate(ours) / rate(answer) for ours, answer in zip(pairs, answers))


def number(value, form):
    return "" if value is None else format(value, form)


def intervals(answers):
    """Gives median and p99 of all rounds together, and the median of the rounds' std/mean."""
    pooled = sorted(ms for answer in answers for ms in answer["batch_ms"])
    if not pooled:
        return ["", "", ""]
    variations = [statistics.pstdev(answer["batch_ms"]) / statistics.fmean(answer["batch_ms"]) for answer in answers]
    return [
        f"{pooled[len(pooled) // 2]:.2f}",
        f"{pooled[min(len(pooled) - 1, int(0.99 * len(pooled)))]:.2f}",
        f"{statistics.median(variations):.2f}",
    ]


def table(results, beside):
    """Gives Markdown, in the order of the measurements."""
    columns = [
        "reader",
        "samples/s",
        "lowest–highest round",
        "without the first batch",
        "ms a batch, median",
        "p99",
        "std / mean",
    ]
    columns += ["ours / it", "the same without the first batch"]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, answers in results.items():
        rates = [per_s(answer) for answer in answers]
        steady = [rate for rate in map(steady_per_s, answers) if rate is not None]
        cells = [
            name,
            f"{statistics.median(rates):.0f}",
            f"{min(rates):.0f}–{max(rates):.0f}",
            number(statistics.median(steady) if steady else None, ".0f"),
            *intervals(answers),
            f"{ratio(beside[name], answers, per_s):.2f}",
            number(ratio(beside[name], answers, steady_per_s), ".2f"),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(results, beside):
    loaders = [name for name in results if name in PEERS and PEERS[name][1]]
    if not loaders:
        return "no peer that offers a loader was measured"
    lines = []
    for rate, what in ((per_s, "whole epochs"), (steady_per_s, "without an epoch's first batch")):
        nearest = min(loaders, key=lambda name: ratio(beside[name], results[name], rate))
        lines.append(
            f"{what}: the fastest peer that offers a loader is {nearest}; ours, C++, is"
            f" {ratio(beside[nearest], results[nearest], rate):.2f} times as fast"
        )
    limit = "limit: memcpy into one buffer, 2 threads"
    lines.append(f"of memcpy by two threads: {ratio(beside[limit], results[limit], per_s):.2f}")
    if OURS_PYTHON in results:
        lines.append(f"Python / C++: {1 / ratio(beside[OURS_PYTHON], results[OURS_PYTHON], per_s):.2f}")
    return "\n".join(lines)
