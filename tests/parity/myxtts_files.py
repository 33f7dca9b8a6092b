#!/usr/bin/env python3
"""The myxtts recipe from files: a finished cache against librosa's own steps and their formula.

    myxtts_files.py DATA CACHE

Each clip goes through librosa.load (its decoder and soxr_hq), trim, RMS and peak, STFT, mel, log.
Frame counts and trim points must be equal, and values within 1e-4 of the formula in float64. Lossy
codecs are listed but not judged, because decoders differ there. Shards are read with py-lmdb, so
this also proves that others can read them. Needs librosa, soundfile, lmdb, numpy.
"""

import glob
import struct
import sys
import warnings
from pathlib import Path

import librosa
import lmdb
import numpy as np

warnings.simplefilter("ignore")
RATE, N_FFT, HOP, MELS, FRAMES = 22050, 1024, 256, 80, 800
LOSSLESS = {"wav", "flac"}
TAG_ID, TAG_PATH, TAG_RATE, TAG_TRIM_START, TAG_TRIM_END = 1, 6, 13, 16, 17


def read_facts(bytes_, begin, end):
    fields = {}
    while begin < end:
        tag, _, size = struct.unpack_from("<HHI", bytes_, begin)
        fields[tag] = bytes_[begin + 8 : begin + 8 + size]
        begin += 8 + size
    return fields


def read_cache(cache):
    """Reads a cache of padded float32 by formats/cache-v1.md, sections 4 to 6."""
    for path in sorted(glob.glob(f"{cache}/shards/mel/*.lmdb")):
        with lmdb.open(path, subdir=False, readonly=True, lock=False) as env, env.begin() as transaction:
            for key, value in transaction.cursor():
                if not key.startswith(b"block/"):
                    continue
                facts = transaction.get(key.replace(b"block", b"facts"))
                (count,) = struct.unpack_from("<H", value, 38)
                offsets = struct.unpack_from(f"<{count + 1}I", facts, 64)
                for slot in range(count):
                    offset, length = struct.unpack_from("<QI", value, 240 + 24 * slot)
                    mel = np.frombuffer(value, np.float32, FRAMES * MELS, 4080 + offset).reshape(FRAMES, MELS)
                    assert not mel[length:].any(), "padding is not zero"
                    yield mel[:length], read_facts(facts, offsets[slot], offsets[slot + 1])


def condition(path):
    samples, _ = librosa.load(path, sr=RATE, mono=True)
    kept, (start, end) = librosa.effects.trim(samples, top_db=20, frame_length=N_FFT, hop_length=HOP)
    gain = min(0.1 / np.sqrt(np.mean(kept**2)), 1 / np.max(np.abs(kept)))
    kept = kept * gain
    return kept / np.max(np.abs(kept)), int(start), int(end)


def log_mel(spectrum, dtype):
    filters = librosa.filters.mel(sr=RATE, n_fft=N_FFT, n_mels=MELS, fmin=0, fmax=RATE / 2, dtype=dtype)
    return np.log(np.maximum(filters @ spectrum, 1e-5)).T[:FRAMES]


def librosa_mel(samples):
    return log_mel(
        np.abs(librosa.stft(samples, n_fft=N_FFT, hop_length=HOP, center=True, pad_mode="constant")), np.float32
    )


def formula_mel(samples):
    padded = np.pad(samples.astype(np.float64), N_FFT // 2)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)
    frames = np.stack([padded[i * HOP : i * HOP + N_FFT] * window for i in range(1 + len(samples) // HOP)])
    return log_mel(np.abs(np.fft.rfft(frames)).T, np.float64)


def main():
    data, cache = Path(sys.argv[1]), sys.argv[2]
    groups, failed = {}, 0
    for mel, facts in read_cache(cache):
        path = data / facts[TAG_PATH].decode()
        kind = path.suffix[1:]
        samples, start, end = condition(path)
        ours = struct.unpack("<QQ", facts[TAG_TRIM_START] + facts[TAG_TRIM_END])
        formula, reference = formula_mel(samples), librosa_mel(samples)
        group = groups.setdefault(
            (kind, struct.unpack("<I", facts[TAG_RATE])[0]), {"clips": 0, "trim": 0, "values": [], "to_librosa": 0.0}
        )
        group["clips"] += 1
        if ours != (start, end) or mel.shape != formula.shape:
            group["trim"] += 1
            failed += kind in LOSSLESS
            continue
        errors = np.abs(mel - formula)
        group["values"].append(errors.ravel())
        group["to_librosa"] = max(group["to_librosa"], np.abs(mel - reference).max())
        failed += kind in LOSSLESS and errors.max() > 1e-4
    print(
        f"{'kind':5} {'rate':>6} {'clips':>5} {'trim or length differs':>22} {'max':>9} {'p99.9':>9} "
        f"{'mean':>9} {'max to librosa':>14}"
    )
    for (kind, rate), group in sorted(groups.items()):
        errors = np.concatenate(group["values"]) if group["values"] else np.full(1, np.nan)
        print(
            f"{kind:5} {rate:6} {group['clips']:5} {group['trim']:22} {errors.max():9.1e} "
            f"{np.quantile(errors, 0.999):9.1e} "
            f"{errors.mean():9.1e} {group['to_librosa']:14.1e}"
        )
    sys.exit(1 if failed or not groups else 0)


if __name__ == "__main__":
    main()
