#!/usr/bin/env python3
"""How well `window` mixes, beside a true shuffle (`global`), on corpora sorted by speaker.

    mixing.py [--epochs E] [--batch B] [--corpus NAME] [--settings R:G,...]

Orders come from tests/golden/order-v1 (order_v1.py), so from the note, without the reader. Needs
numpy only. Corpora lie as caches do (data set, split, id), with ids that begin with the speaker's:
the clips of a speaker are one run, and the speakers of a language follow one another.

    even        200,000 clips: 5 languages of 20 speakers of 2,000 clips
    zipf        200,000 clips: 1,000 speakers, the k-th with a share of 1/k of the clips, in 8
                languages, the k-th with a share of 1/k of the speakers
    unsorted    the clips of `even` in random places, as where ids say nothing of the speaker

Settings are R samples a stretch and G stretches a window. With padded records of 256,000 bytes,
128 samples are the 32 MiB of the defaults. The columns for each setting:

    speakers    distinct speakers in a batch: mean and the 1st percentile over batches, and the
                mean's ratio to the true shuffle's
    language    total variation distance between a batch's languages and the corpus': 0 is the mix
                of the corpus, 1 is nothing in common. A true shuffle's batch has some, by chance.
                Mean and 99th percentile
    lasting     this distance for 32 batches together. A true shuffle averages it out; a window that
                lacks languages does not
    same        share of a batch's pairs of clips by one speaker, as a multiple of the corpus' share
    adjacent    correlation, from one batch to the next, of the share that the corpus' commonest
                language has in the batch: 0 for a true shuffle
    apart       how many places lie between clips that are neighbours in the corpus, the median
    MiB, s      what a window takes (in memory, twice), and how long a disk of 150 MB/s and 10 ms a
                seek needs for it; then the share of that time that is not seeking
"""

import argparse
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "golden" / "order-v1"))
import order_v1

RECORD_BYTES = 256_800  # mel and tokens of the default recipe


def even():
    clips = numpy.arange(200_000)
    return clips // 2_000, clips // 40_000


def zipf():
    rng = numpy.random.default_rng(7)
    speaker_weights = 1 / numpy.arange(1, 1_001)
    sizes = numpy.maximum(1, numpy.round(200_000 * speaker_weights / speaker_weights.sum())).astype(int)
    language_weights = 1 / numpy.arange(1, 9)
    language_of_speaker = numpy.sort(rng.choice(8, size=1_000, p=language_weights / language_weights.sum()))
    rng.shuffle(sizes)
    speakers = numpy.repeat(numpy.arange(1_000), sizes)
    return speakers, language_of_speaker[speakers]


def unsorted():
    speakers, languages = even()
    places = numpy.random.default_rng(7).permutation(len(speakers))
    return speakers[places], languages[places]


CORPORA = {"even": even, "zipf": zipf, "unsorted": unsorted}


def bijection(n, key):
    """Computes order_v1.bijection for many numbers at once; main() compares the two."""
    bits = max(8, (n - 1).bit_length())
    h = bits // 2
    low_bits = bits - h
    keys = [numpy.uint64(order_v1.mix((key + i * order_v1.GOLDEN) & order_v1.MASK)) for i in range(8)]

    def mix(z):
        z = z + numpy.uint64(order_v1.GOLDEN)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return z ^ (z >> numpy.uint64(31))

    def turn(x):
        high, low = x >> numpy.uint64(low_bits), x & numpy.uint64(2**low_bits - 1)
        for i, key_of_round in enumerate(keys):
            if i % 2 == 0:
                high = high ^ (mix(low ^ key_of_round) & numpy.uint64(2**h - 1))
            else:
                low = low ^ (mix(high ^ key_of_round) & numpy.uint64(2**low_bits - 1))
        return (high << numpy.uint64(low_bits)) | low

    with numpy.errstate(over="ignore"):
        x = turn(numpy.arange(n, dtype=numpy.uint64))
        while (outside := x >= n).any():
            x[outside] = turn(x[outside])
    return x.astype(numpy.int64)


def global_order(n, seed, epoch):
    return bijection(n, order_v1.key_of(seed, epoch, 0))


def window_order(n, seed, epoch, R, G):
    order = []
    for w, window in enumerate(order_v1.windows_of(n, seed, epoch, R, G)):
        laid = numpy.concatenate([numpy.arange(stretch.start, stretch.stop) for stretch in window])
        order.append(laid[bijection(len(laid), order_v1.key_of(seed, epoch, 2 + w))])
    return numpy.concatenate(order)


def compare_with_the_note():
    n, seed, epoch = 3_000, 42, 3
    for R, G in [(128, 4), (7, 16)]:
        assert window_order(n, seed, epoch, R, G).tolist() == order_v1.window_order(n, seed, epoch, R, G)
    forward = order_v1.bijection(n, order_v1.key_of(seed, epoch, 0))
    assert global_order(n, seed, epoch).tolist() == [forward(p) for p in range(n)]


def counts_of(labels, kinds):
    """Counts each kind in each group: [groups, kinds] of labels [groups, members]."""
    groups, members = labels.shape
    flat = numpy.repeat(numpy.arange(groups), members) * kinds + labels.ravel()
    return numpy.bincount(flat, minlength=groups * kinds).reshape(groups, kinds)


def distance(labels, shares):
    counts = counts_of(labels, len(shares))
    return numpy.abs(counts / labels.shape[1] - shares).sum(axis=1) / 2


def measure(orders, speakers, languages, batch):
    speaker_shares = numpy.bincount(speakers) / len(speakers)
    language_shares = numpy.bincount(languages) / len(languages)
    result = {name: [] for name in ["speakers", "language", "lasting", "same", "adjacent", "apart"]}
    for order in orders:
        batches = order[: len(order) // batch * batch].reshape(-1, batch)
        of_speakers = counts_of(speakers[batches], len(speaker_shares))
        result["speakers"].append((of_speakers > 0).sum(axis=1))
        pairs = (of_speakers * (of_speakers - 1)).sum(axis=1) / (batch * (batch - 1))
        result["same"].append(pairs / (speaker_shares**2).sum())
        result["language"].append(distance(languages[batches], language_shares))
        many = order[: len(order) // (32 * batch) * (32 * batch)].reshape(-1, 32 * batch)
        result["lasting"].append(distance(languages[many], language_shares))
        share = (languages[batches] == language_shares.argmax()).mean(axis=1)
        result["adjacent"].append([numpy.corrcoef(share[:-1], share[1:])[0, 1]])
        places = numpy.empty(len(order), dtype=numpy.int64)
        places[order] = numpy.arange(len(order))
        result["apart"].append(numpy.abs(numpy.diff(places)))
    return {name: numpy.concatenate(values) for name, values in result.items()}


def row(name, result, reference, window):
    speakers = result["speakers"]
    ratio = speakers.mean() / reference["speakers"].mean()
    cost = ""
    if window:
        R, G = window
        size_bytes = R * G * RECORD_BYTES
        reading_s = size_bytes / 150e6
        seeking_s = G * 0.010
        cost = (
            f"{size_bytes / 2**20:.0f} | {reading_s + seeking_s:.1f} | "
            f"{100 * reading_s / (reading_s + seeking_s):.0f} %"
        )
    print(
        f"| {name} | {speakers.mean():.1f} | {numpy.percentile(speakers, 1):.0f} | {ratio:.3f} | "
        f"{result['language'].mean():.3f} | {numpy.percentile(result['language'], 99):.3f} | "
        f"{result['lasting'].mean():.3f} | {numpy.percentile(result['lasting'], 99):.3f} | "
        f"{result['same'].mean():.2f} | {result['adjacent'].mean():.2f} | "
        f"{numpy.median(result['apart']):.0f} | {cost or ' | | '} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    parser.add_argument("--settings", default="128:4,128:16,64:32,64:64,128:64,32:64,32:128,8:256")
    arguments = parser.parse_args()
    compare_with_the_note()
    for name in arguments.corpus or CORPORA:
        speakers, languages = CORPORA[name]()
        n = len(speakers)
        print(
            f"\n{name}: {n} clips, {speakers.max() + 1} speakers, {languages.max() + 1} languages, "
            f"batches of {arguments.batch}, {arguments.epochs} epochs\n"
        )
        print(
            "| | speakers | 1 % | ratio | language | 99 % | lasting | 99 % | same | adjacent | apart | MiB "
            "| s | not seeking |"
        )
        print("|" + "---|" * 14)
        orders = [global_order(n, 7, epoch) for epoch in range(arguments.epochs)]
        reference = measure(orders, speakers, languages, arguments.batch)
        row("global", reference, reference, None)
        for setting in arguments.settings.split(","):
            R, G = map(int, setting.split(":"))
            orders = [window_order(n, 7, epoch, R, G) for epoch in range(arguments.epochs)]
            row(f"window {R} x {G}", measure(orders, speakers, languages, arguments.batch), reference, (R, G))


if __name__ == "__main__":
    main()
