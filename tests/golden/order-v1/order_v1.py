#!/usr/bin/env python3
"""Order v1 a second time, in plain Python, from formats/order-v1.md alone. Prints the test vectors.

    order_v1.py > vectors.tsv           (standard library only; any Python from 3.8 on)

The code is written to be clear. It finds windows by laying all stretches out in a list, which the
C++ code never does, so that an error in the arithmetic of either shows. Therefore large orders are
tried only with none and global, and window only with few stretches.

The lines of vectors.tsv have tabs between columns and commas between the items of a list. Keys are
hexadecimal, all else is decimal:

    mix         z, mix(z)                                           both hexadecimal
    key         seed, epoch, stream, key
    bijection   n, key, x ..., B(x) ...
    order       shuffle, n, seed, epoch, R, G, places ..., samples ...
    window      n, seed, epoch, R, G, w, first place, samples, stretches as first sample:samples ...
    steps       n, first, B, W, last, number of steps, then for each step and rank first:count ...
    shares      samples of groups ..., weights ..., N, draws of groups ...
    draws       samples of groups ..., weights ..., N, seed, epoch, draws in the epoch's sequence as
                group:index ...
    buckets     shuffle, seed, epoch, R, G, bucket of each sample ..., B of each bucket ...,
                consumed of each ..., W, last, then for each step and rank bucket:count ..., and
                the places of all of these, one after the other ...
    crop        seed, epoch, place, choices, choice
"""

import math
from fractions import Fraction

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
TAG = int.from_bytes(b"XTTSORD1", "little")


def mix(z):
    z = (z + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def key_of(seed, epoch, stream):
    return mix(mix(mix(mix(TAG) ^ seed) ^ epoch) ^ stream)


def bijection(n, key):
    bits = max(8, (n - 1).bit_length())
    h = bits // 2
    low_bits = bits - h
    keys = [mix((key + i * GOLDEN) & MASK) for i in range(8)]

    def turn(x):
        high, low = divmod(x, 2**low_bits)
        for i, r in enumerate(keys):
            if i % 2 == 0:
                high ^= mix(low ^ r) % 2**h
            else:
                low ^= mix(high ^ r) % 2**low_bits
        return high * 2**low_bits + low

    def forward(x):
        assert 0 <= x < n
        x = turn(x)
        while x >= n:
            x = turn(x)
        return x

    return forward


def windows_of(n, seed, epoch, R, G):
    """Gives a list of windows, each a list of stretches, each a range of samples."""
    stretches = [range(a, min(a + R, n)) for a in range(0, n, R)]
    if not stretches:
        return []
    shuffle = bijection(len(stretches), key_of(seed, epoch, 1))
    turns = [stretches[shuffle(t)] for t in range(len(stretches))]
    return [turns[i : i + G] for i in range(0, len(turns), G)]


def window_order(n, seed, epoch, R, G):
    order = []
    for w, window in enumerate(windows_of(n, seed, epoch, R, G)):
        laid = [sample for stretch in window for sample in stretch]
        shuffle = bijection(len(laid), key_of(seed, epoch, 2 + w))
        order += [laid[shuffle(p)] for p in range(len(laid))]
    return order


def sampler(shuffle, n, seed, epoch, R, G):
    if shuffle == "none":
        return lambda place: place
    if shuffle == "global":
        return bijection(n, key_of(seed, epoch, 0))
    return window_order(n, seed, epoch, R, G).__getitem__


def steps_of(n, first, B, W, last):
    left = n - first
    count = left // (W * B) if last == "drop" else -(-left // (W * B))
    batches = []
    for s in range(count):
        for r in range(W):
            begin = first + (s * W + r) * B
            size = max(0, min(begin + B, n) - begin)
            batches.append((begin if size else n, size))
    return count, batches


def shares_of(counts, weights, N):
    largest = max(w for m, w in zip(counts, weights) if m)
    scale = Fraction(2) ** (53 - math.frexp(largest)[1])
    u = [int(Fraction(w) * scale) if m else 0 for m, w in zip(counts, weights)]
    shares = [N * v // sum(u) for v in u]
    by_remainder = sorted(range(len(u)), key=lambda g: (-(N * u[g] % sum(u)), g))
    for g in by_remainder[: N - sum(shares)]:
        shares[g] += 1
    return shares


def draws_of(counts, weights, N, seed, epoch):
    draws = []
    for g, share in enumerate(shares_of(counts, weights, N)):
        for j in range(share):
            q, rest = divmod(epoch * share + j, counts[g])
            draws.append((g, bijection(counts[g], mix(key_of(seed, 0, 2**63 + g) ^ (q & MASK)))(rest)))
    shuffle = bijection(N, key_of(seed, epoch, 0))
    return [draws[shuffle(p)] for p in range(N)]


def bucket_steps_of(order, bucket_of, B, consumed, W, last):
    """Gives (bucket, places) of each step. `order` is the samples of the epoch's sequence."""
    open_runs = [[] for _ in B]
    to_skip = list(consumed)
    steps = []
    for place, sample in enumerate(order):
        bucket = bucket_of[sample]
        if to_skip[bucket]:
            to_skip[bucket] -= 1
            continue
        open_runs[bucket].append(place)
        if len(open_runs[bucket]) == B[bucket] * W:
            steps.append((bucket, open_runs[bucket]))
            open_runs[bucket] = []
    if last == "pad":
        steps += [(bucket, run) for bucket, run in enumerate(open_runs) if run]
    return steps


def crop_choice(seed, epoch, place, choices):
    return (mix(key_of(seed, epoch, 2**62) ^ place) >> 32) * choices >> 32


def line(*columns):
    def text(column):
        if isinstance(column, (list, tuple, range)):
            return ",".join(":".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in column)
        return str(column)

    print("\t".join(map(text, columns)))


def some(n):
    """Gives all numbers of a small range, some of a large one."""
    return (
        range(n)
        if n <= 64
        else sorted({x % n for x in [0, 1, 2, 3, n // 3, n // 2, n // 2 + 1, n - 2, n - 1, 12345678901]})
    )


def main():
    for z in [0, 1, GOLDEN, TAG, MASK]:
        line("mix", f"{z:016x}", f"{mix(z):016x}")
    for seed, epoch, stream in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (42, 3, 2), (MASK, MASK, 2**63 + 7)]:
        line("key", seed, epoch, stream, f"{key_of(seed, epoch, stream):016x}")
    for n in [1, 2, 3, 5, 10, 64, 255, 256, 257, 512, 513, 4096, 1000000, 2**31 + 11, 2**47 + 1, 2**48 - 1, 2**48]:
        for key in [0, key_of(42, 3, 0)]:
            line("bijection", n, f"{key:016x}", some(n), [bijection(n, key)(x) for x in some(n)])
    for shuffle, n, seed, epoch, R, G in [
        ("none", 7, 42, 3, 1, 1),
        ("global", 1, 42, 3, 1, 1),
        ("global", 10, 42, 3, 1, 1),
        ("global", 10, 42, 4, 1, 1),
        ("global", 10, 43, 3, 1, 1),
        ("global", 300000, 42, 3, 1, 1),
        ("global", 2**48, MASK, MASK, 1, 1),
        ("window", 1, 42, 3, 4, 2),
        ("window", 10, 42, 3, 100, 2),
        ("window", 10, 42, 3, 1, 100),
        ("window", 10, 42, 3, 1, 1),
        ("window", 22, 42, 3, 4, 2),
        ("window", 22, 42, 4, 4, 2),
        ("window", 24, 42, 3, 4, 2),
        ("window", 64, 0, 0, 7, 3),
        ("window", 5000, 42, 3, 512, 4),
        ("window", 30011, 42, 3, 32, 16),
        ("window", 30011, 42, 4, 32, 16),
    ]:
        at = sampler(shuffle, n, seed, epoch, R, G)
        line("order", shuffle, n, seed, epoch, R, G, some(n), [at(p) for p in some(n)])
    for n, R, G in [(22, 4, 2), (24, 4, 2), (10, 100, 2), (64, 7, 3), (5000, 512, 4)]:
        first = 0
        for w, window in enumerate(windows_of(n, 42, 3, R, G)):
            size = sum(map(len, window))
            line("window", n, 42, 3, R, G, w, first, size, [(stretch[0], len(stretch)) for stretch in window])
            first += size
    for n, first, B, W in [
        (22, 0, 4, 2),
        (24, 0, 4, 2),
        (22, 5, 3, 2),
        (3, 0, 4, 3),
        (10, 10, 4, 2),
        (0, 0, 4, 2),
        (2**48, 2**48 - 7, 3, 2),
        (5, 0, 2**32 - 1, 2),
    ]:
        for last in ["drop", "pad"]:
            line("steps", n, first, B, W, last, *steps_of(n, first, B, W, last))
    for counts, weights, N in [
        ([5, 5, 5], [1.0, 1.0, 1.0], 10),
        ([10, 20, 70], [10.0, 20.0, 70.0], 100),
        ([3, 0, 4], [1.0, 5.0, 3.0], 7),
        ([9, 9, 9], [0.1, 0.2, 0.7], 1000),
        ([9, 9], [0.7, 0.3], 10),
        ([9, 9, 9], [0.0, 1e-300, 1e300], 10),
        ([9, 9, 9], [5e-324, 1e-323, 5e-324], 11),
        ([1, 2**48], [1.0, 2.5], 2**48),
        ([1, 1, 1, 1, 1, 1, 1], [0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 1 / 3], 2**47 + 1),
    ]:
        line("shares", counts, [repr(w) for w in weights], N, shares_of(counts, weights, N))
    for counts, weights, N, seed, epoch in [
        ([4, 10], [1.0, 1.0], 20, 42, 3),
        ([4, 10], [1.0, 1.0], 20, 42, 4),
        ([3, 0, 50, 1], [2.0, 9.0, 1.0, 0.5], 30, 7, 0),
        ([3, 0, 50, 1], [2.0, 9.0, 1.0, 0.5], 30, 7, 1),
        ([3, 50], [2.0, 1.0], 9, 7, MASK),
    ]:
        line("draws", counts, [repr(w) for w in weights], N, seed, epoch, draws_of(counts, weights, N, seed, epoch))
    for shuffle, n, seed, epoch, R, G, B, consumed, W, last in [
        ("none", 20, 0, 0, 1, 1, [3, 2], [0, 0], 1, "drop"),
        ("global", 20, 42, 3, 1, 1, [3, 2], [0, 0], 1, "drop"),
        ("global", 20, 42, 3, 1, 1, [3, 2], [0, 0], 2, "pad"),
        ("global", 60, 42, 3, 1, 1, [4, 2, 1], [8, 4, 3], 2, "pad"),
        ("global", 60, 42, 3, 1, 1, [4, 2, 1], [8, 4, 3], 3, "drop"),
        ("window", 60, 42, 3, 7, 2, [4, 2, 1], [0, 8, 0], 2, "pad"),
        ("global", 9, 1, 1, 1, 1, [4, 4], [9, 9], 1, "pad"),
    ]:
        bucket_of = [mix(sample) % len(B) for sample in range(n)]
        at = sampler(shuffle, n, seed, epoch, R, G)
        steps = bucket_steps_of([at(p) for p in range(n)], bucket_of, B, consumed, W, last)
        parts = [(bucket, run[r * B[bucket] : (r + 1) * B[bucket]]) for bucket, run in steps for r in range(W)]
        line(
            "buckets",
            shuffle,
            seed,
            epoch,
            R,
            G,
            bucket_of,
            B,
            consumed,
            W,
            last,
            [(bucket, len(part)) for bucket, part in parts],
            [place for _, part in parts for place in part],
        )
    for seed, epoch, place, choices in [
        (0, 0, 0, 1),
        (42, 3, 0, 769),
        (42, 3, 1, 769),
        (42, 4, 0, 769),
        (43, 3, 0, 769),
        (MASK, MASK, 2**48 - 1, 2**32 - 1),
    ]:
        line("crop", seed, epoch, place, choices, crop_choice(seed, epoch, place, choices))


if __name__ == "__main__":
    main()
