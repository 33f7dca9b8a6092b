"""Shared by the training samples: features as a Python trainer computes them on the fly (librosa),
the sample corpus, and the table at the end."""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import xtts_precompute as xp

RATE, N_FFT, HOP, MELS, FRAMES, TOKENS = 22050, 1024, 256, 80, 800, 200


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "data",
        nargs="?",
        type=pathlib.Path,
        help="a corpus in LJSpeech's layout; without it samples/make_corpus.sh makes one",
    )
    parser.add_argument("--cache", type=pathlib.Path, help="of that corpus; built where there is none (DATA-cache)")
    parser.add_argument("--steps", type=int, default=10, help="that count, for each way of loading")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them that do not")
    parser.add_argument("--batch-size", type=int, default=16)
    return parser.parse_args()


@contextlib.contextmanager
def corpus_and_cache(options):
    """Gives the corpus to train on, and its cache, which is built now if it is not there yet."""
    with tempfile.TemporaryDirectory() as folder:
        data = options.data
        if data is None:
            data = pathlib.Path(folder) / "corpus"
            if subprocess.run([pathlib.Path(__file__).with_name("make_corpus.sh"), data], check=False).returncode:
                sys.exit("no sample corpus could be made: give the folder of a corpus in LJSpeech's layout as DATA")
        cache = options.cache or data.with_name(data.name + "-cache")
        if not (cache / "manifest.json").exists():
            report = xp.build(data, cache)  # all there is to do, once
            print(f"built {cache}: {report.records} clips in {report.elapsed_s:.1f} s", file=sys.stderr)
        yield data, cache


def clips_of(data):
    """Gives (path, text) of each line of metadata.csv."""
    found = {path.stem: path for path in (data / "wavs").iterdir()}
    lines = [line.split("|") for line in (data / "metadata.csv").read_text(encoding="utf-8").splitlines() if line]
    return [(str(found[line[0]]), line[-1]) for line in lines if line[0] in found]


def librosa_or_none():
    """Gives librosa, for the part "before"; says so where it is missing."""
    try:
        import librosa
    except ImportError:
        print("NOT SHOWN: loading on the fly, because librosa is not installed: pip install librosa", file=sys.stderr)
        return None
    return librosa


def mel_on_the_fly(path):
    """Computes [frames, 80] float32 by the steps of the recipe `myxtts`: decode, resample, trim,
    normalize, log-mel."""
    import librosa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # librosa warns of audioread, where libsndfile fails
        sound, _ = librosa.load(path, sr=RATE)
    sound, _ = librosa.effects.trim(sound, top_db=20, frame_length=N_FFT, hop_length=HOP)
    sound = sound / np.abs(sound).max()
    mel = librosa.feature.melspectrogram(
        y=sound, sr=RATE, n_fft=N_FFT, hop_length=HOP, n_mels=MELS, power=1.0, pad_mode="constant"
    )
    return np.log(np.maximum(mel, 1e-5)).T.astype(np.float32)[:FRAMES]


def padded(mel, text):
    """Gives (tokens, mel, text_len, mel_len) of one clip, of fixed shape."""
    tokens = np.frombuffer(text.encode(), np.uint8)[:TOKENS].astype(np.int32) + 1
    return (
        np.pad(tokens, (0, TOKENS - len(tokens))),
        np.pad(mel, ((0, FRAMES - len(mel)), (0, 0))),
        np.int32(len(tokens)),
        np.int32(len(mel)),
    )


def print_table(results):
    """Prints (name, report, first loss, last loss) of each way of loading, beside the first way."""
    print(
        f"\n{'':34} {'wait ms':>8} {'step ms':>8} {'variation':>9} {'data':>7} {'samples/s':>9} "
        f"{'steps/s':>8} {'x':>6}   loss"
    )
    first = results[0][1].steps_per_s
    for name, report, begin, end in results:
        numbers = report.to_json()
        print(
            f"{name:34} {numbers['data']['ms']['mean']:8.2f} {numbers['step']['ms']['mean']:8.1f}"
            f" {report.variation:9.1%} {report.data_share:7.1%}"
            f" {report.samples_per_s:9.1f} {report.steps_per_s:8.2f} {report.steps_per_s / first:6.2f}"
            f"   {begin:.2f} -> {end:.2f}"
        )
    print("\nwait: for the next batch; data: its share of the step; x: steps/s beside the first line")


def compare(description, ways_of_loading, train):
    """Trains with each way of loading, and prints what it took."""
    options = arguments(description)
    with corpus_and_cache(options) as (data, cache):
        results = []
        for name, loader in ways_of_loading(data, cache, options.batch_size):
            results.append((name, *train(loader, options)))
            print(f"\n{name}\n{results[-1][1]}", flush=True)
        print_table(results)
