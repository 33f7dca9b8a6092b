#!/usr/bin/env python3
"""What packed, float16 and bfloat16 save on disk, and what they cost or gain our reader.

    storage_forms.py BUILD/cli/xtts-precompute BUILD/tests/bench/reader_forms
        [--work build/forms] [--clips 4096] [--rounds 9]

Makes a corpus of speech-like noise whose lengths are spread as LJSpeech's: 1.1 to 9.2 s, 6.5 s on
average (560 of 800 frames). Builds it once, in padded float32, converts the cache into each form,
and reads all of them in turn in one process. Order is global, in batches of 32. The page cache is
warm, records are verified before, and one byte a page of each batch is touched. Batches have mels
as they are stored, then as float32.

Figures are medians of the rounds. Ratios to padded float32 are the medians of the ratios within a
round. Disk is what the shards of mels occupy. Needs only Python, and twice the padded corpus (3 GB)
of disk and of memory for a warm page cache.
"""

import argparse
import array
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import wave

import quiet
from reader_process import Process

RATE, DISTINCT = 22050, 128
FORMS = [(layout, dtype) for dtype in ("float32", "float16", "bfloat16") for layout in ("padded", "packed")]
WORDS = (
    "printing in the only sense with which we are at present concerned differs from most if not all the arts".split()
)


def seconds_of(chance):
    """Draws a length as LJSpeech's: 1.1 to 10.1 s, most of them between 5 and 9 s. Here none is
    longer than the 800 frames of a record."""
    return min(9.2, max(1.1, chance.gauss(6.75, 2.2)))


def make_corpus(folder, clips):
    """Makes a corpus in LJSpeech's layout: DISTINCT recordings of noise that swells like syllables.
    The other clips are links to them."""
    chance = random.Random(1)
    wavs = folder / "wavs"
    wavs.mkdir(parents=True)
    noise = [chance.gauss(0, 3000) for _ in range(RATE)]
    swell = [0.3 + 0.7 * abs(1 - i % 4410 / 2205) for i in range(RATE)]
    second = array.array("h", (int(max(-32000, min(32000, a * b))) for a, b in zip(noise, swell)))
    lengths = [seconds_of(chance) for _ in range(DISTINCT)]
    with open(folder / "metadata.csv", "w") as lines:
        for i in range(clips):
            name, length = f"clip-{i:05d}", lengths[i % DISTINCT]
            if i < DISTINCT:
                samples = (second * 10)[: int(RATE * length)]
                with wave.open(str(wavs / f"{name}.wav"), "wb") as file:
                    file.setparams((1, 2, RATE, 0, "NONE", ""))
                    file.writeframes(samples.tobytes())
            else:
                os.link(wavs / f"clip-{i % DISTINCT:05d}.wav", wavs / f"{name}.wav")
            text = " ".join(
                WORDS[(i + k) % len(WORDS)] for k in range(int(length * 2.6))
            )  # 2.6 words a second, as read aloud
            lines.write(f"{name}|{text}|{text}\n")


def make_caches(program, work, clips):
    """Gives {(layout, dtype): folder}. A cache that is there already is used again."""
    corpus = work / f"corpus-{clips}"
    caches = {form: work / f"{form[0]}-{form[1]}-{clips}" for form in FORMS}
    if not corpus.exists():
        shutil.rmtree(work / "part", ignore_errors=True)
        make_corpus(work / "part", clips)
        (work / "part").rename(corpus)
    first = caches[FORMS[0]]
    layout, dtype = FORMS[0]
    subprocess.run([program, "build", corpus, first, "--layout", layout, "--dtype", dtype, "--quiet"], check=True)
    for (layout, dtype), folder in caches.items():
        if not (folder / "manifest.json").exists():
            subprocess.run(
                [program, "convert", first, folder, "--layout", layout, "--dtype", dtype, "--quiet"], check=True
            )
    return caches


def mel_bytes(cache):
    return sum(path.stat().st_blocks * 512 for path in (cache / "shards/mel").iterdir())


def measure(reader, arguments):
    """Gives (the answers of each round, other work's share of the processors beside each). A round
    is the quietest of three tries."""
    reader.ask("0")  # verifies records
    rounds, others = [], []
    for round_number in range(arguments.rounds):
        tries = []
        for _ in range(3):
            quiet.wait(arguments.patience)
            watch = quiet.Watch({reader.process.pid})
            answers = reader.ask(str(round_number + 1))
            tries.append((watch.share(), answers))
            if tries[-1][0] <= 0.05:
                break
        share, answers = min(tries, key=lambda pair: pair[0])
        others.append(share)
        rounds.append(answers)
    reader.close()
    return rounds, others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("reader", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/forms"))
    parser.add_argument("--clips", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--patience", type=float, default=5, help="seconds to wait for a quiet moment, before each round"
    )
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    caches = make_caches(arguments.program, arguments.work, arguments.clips)

    rounds, others = measure(Process([arguments.reader, *caches.values()], arguments.work / "reader.log"), arguments)
    info = json.loads(
        subprocess.run(
            [arguments.program, "info", "--json", caches[FORMS[0]]], check=True, capture_output=True, text=True
        ).stdout
    )
    print(
        f"{info['clips']} clips, {info['seconds'] / info['clips']:.2f} s on average; beside the rounds other work took"
        f" {min(others):.0%} to {max(others):.0%} of the processors\n"
    )
    print(
        "| stored | disk, MB | of padded float32 | batch of 32 | MB | samples/s "
        "| lowest–highest round | of padded float32 |"
    )
    print("|" + "---|" * 8)
    base_bytes = mel_bytes(caches[FORMS[0]])
    for number, form in enumerate(form for form in FORMS for _ in range(2)):  # as stored, and as float32
        rates = [answers[number]["per_s"] for answers in rounds]
        ratio = statistics.median(answers[number]["per_s"] / answers[0]["per_s"] for answers in rounds)
        disk, row = mel_bytes(caches[form]), rounds[0][number]
        print(
            f"| {' '.join(form)} | {disk / 1e6:.0f} | {disk / base_bytes:.2f} | {row['batch']} "
            f"| {row['batch_bytes'] / 1e6:.1f} |"
            f" {statistics.median(rates):.0f} | {min(rates):.0f}–{max(rates):.0f} | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
