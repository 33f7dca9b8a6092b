#!/usr/bin/env python3
"""PCM -> log-mel on one core, by us and by the peers, alternating in one run.

    features_vs_peers.py BUILD/tests/bench/features_ours [--wavs FOLDER] [--rounds 15] [--core 0]

All compute the same clips of 6.5 s (22,050 Hz, 1024/256, 80 mels): noise, or speech repeated to
that length (--wavs). Peers that are not installed are named and left out. Each peer runs as a
practitioner would run it: cached window and filters, one thread pinned to the core, inference
mode, float32.

Times are processor times of the process, so that a busy machine disturbs less. Prints the median
and the best of the rounds, and how many times as fast as the fastest peer each is (ratio). Compare
ratios within a run only.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  # it reads the environment

RATE, N_FFT, HOP, MELS, SECONDS, CLIPS = 22050, 1024, 256, 80, 6.5, 20
LENGTH = int(RATE * SECONDS)


def slaney_filters():
    """Gives 80 triangles of Slaney's scale and norm: [80, 513] float32, as librosa.filters.mel."""

    def to_hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))

    edges = to_hz(np.linspace(0.0, 15 + 27 * np.log(11025 / 1000) / np.log(6.4), MELS + 2))
    hz = np.arange(N_FFT // 2 + 1) * RATE / N_FFT
    rise = (hz - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - hz) / (edges[2:] - edges[1:-1])[:, None]
    return (np.maximum(0, np.minimum(rise, fall)) * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def torch_stft(filters):
    import torch

    torch.set_num_threads(1)
    window, basis = torch.hann_window(N_FFT), torch.from_numpy(filters)

    def run(clip):
        with torch.inference_mode():
            spectrum = torch.stft(
                torch.from_numpy(clip), N_FFT, HOP, N_FFT, window, center=True, pad_mode="constant", return_complex=True
            ).abs()
            return torch.log(torch.clamp(basis @ spectrum, min=1e-5)).numpy().T

    return run


def torchaudio_mel(_filters):
    import torch
    import torchaudio

    torch.set_num_threads(1)
    mel = torchaudio.transforms.MelSpectrogram(
        RATE,
        N_FFT,
        N_FFT,
        HOP,
        0.0,
        RATE / 2,
        n_mels=MELS,
        power=1.0,
        norm="slaney",
        mel_scale="slaney",
        pad_mode="constant",
    )

    def run(clip):
        with torch.inference_mode():
            return torch.log(torch.clamp(mel(torch.from_numpy(clip)), min=1e-5)).numpy().T

    return run


def tensorflow_xla(filters):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    basis = tf.constant(filters.T)

    @tf.function(jit_compile=True)
    def mel(clip):
        padded = tf.pad(clip, [[N_FFT // 2, N_FFT // 2]])
        spectrum = tf.abs(tf.signal.stft(padded, N_FFT, HOP, N_FFT))
        return tf.math.log(tf.maximum(spectrum @ basis, 1e-5))

    return lambda clip: mel(tf.constant(clip)).numpy()


def librosa_mel(filters):
    import librosa

    def run(clip):
        spectrum = np.abs(librosa.stft(clip, n_fft=N_FFT, hop_length=HOP, pad_mode="constant"))
        return np.log(np.maximum(filters @ spectrum, 1e-5)).T

    return run


def scipy_rfft(filters):
    import scipy.fft
    import scipy.signal

    window, basis = scipy.signal.get_window("hann", N_FFT).astype(np.float32), np.ascontiguousarray(filters.T)

    def run(clip):
        frames = np.lib.stride_tricks.sliding_window_view(np.pad(clip, N_FFT // 2), N_FFT)[::HOP]
        spectrum = np.abs(scipy.fft.rfft(frames * window, overwrite_x=True))
        return np.log(np.maximum(spectrum @ basis, 1e-5))

    return run


def make_clips(wavs):
    if wavs is None:
        return (np.random.default_rng(1).standard_normal((CLIPS, LENGTH)) * 0.1).astype(np.float32)
    import soundfile

    paths = sorted(pathlib.Path(wavs).glob("*.wav"))
    speech = [soundfile.read(path, dtype="float32")[0] for path in paths]
    return np.stack([np.resize(speech[i % len(speech)], LENGTH) for i in range(CLIPS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("--wavs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--core", type=int, default=0)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {arguments.core})
    clips, filters, runs = make_clips(arguments.wavs), slaney_filters(), {}
    for name, make in (
        ("torch.stft + matmul", torch_stft),
        ("torchaudio", torchaudio_mel),
        ("TensorFlow XLA", tensorflow_xla),
        ("librosa", librosa_mel),
        ("scipy rfft", scipy_rfft),
    ):
        try:
            runs[name] = make(filters)
        except (ImportError, OSError, RuntimeError) as missing:  # torchaudio raises when it does not fit torch
            print(f"left out: {name} ({missing})")

    first = {name: run(clips[0]) for name, run in runs.items()}
    for name, mel in first.items():  # all did the same task, not only one of the same shape
        assert np.max(np.abs(mel - first["scipy rfft"])) < 2e-2, name

    seconds = {name: [] for name in runs}
    seconds.update({"ours, double": [], "ours, float32": []})
    with tempfile.NamedTemporaryFile(suffix=".f32") as raw:
        clips.tofile(raw)
        raw.flush()
        for _ in range(arguments.rounds):
            for name, run in runs.items():
                for clip in clips[:2]:
                    run(clip)
                start = time.process_time()
                for clip in clips:
                    run(clip)
                seconds[name].append(time.process_time() - start)
            for precision in ("double", "float32"):
                out = subprocess.run([arguments.ours, raw.name, str(CLIPS), precision], check=True, capture_output=True)
                seconds[f"ours, {precision}"].append(float(out.stdout))

    frames = CLIPS * (1 + LENGTH // HOP)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    best = {name: min(times) for name, times in seconds.items()}
    fastest, fastest_best = min(medians[name] for name in runs), min(best[name] for name in runs)
    print(f"{'':20} {'x real time':>11} {'us a frame':>10} {'ratio':>6}   best: {'x real time':>11} {'ratio':>6}")
    for name, median in sorted(medians.items(), key=lambda item: item[1]):
        print(
            f"{name:20} {CLIPS * SECONDS / median:11.0f} {median / frames * 1e6:10.2f} {fastest / median:6.2f}"
            f"         {CLIPS * SECONDS / best[name]:11.0f} {fastest_best / best[name]:6.2f}"
        )


if __name__ == "__main__":
    main()
