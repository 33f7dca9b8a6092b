"""The ways of loading that training_vs_peers.py measures, one in a process of its own.

    training_ways.py WAY FOLDER SECONDS      # prints one line of JSON

Reads batches of 32 alone, then trains a small network on them. FOLDER holds data/ (LJSpeech's
layout), npy/ (each clip's mel and tokens as .npy, as users precompute them) and cache/.
"""

import importlib.util
import json
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "samples"))

import common
import numpy as np
import xtts_precompute as xp

BATCH = 32
FIELDS = ("tokens", "mel", "text_len", "mel_len")


class Clips:
    """Clips by position, padded: decoded now, or loaded from .npy."""

    def __init__(self, folder, kind):
        self.clips = common.clips_of(folder / "data")
        self.kind, self.npy = kind, str(folder / "npy")
        self[0]  # librosa compiles at its first call

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        path, text = self.clips[index]
        if self.kind == "fly":
            return common.padded(common.mel_on_the_fly(path), text)
        name = os.path.splitext(os.path.basename(path))[0]
        mel, tokens = np.load(f"{self.npy}/{name}.mel.npy"), np.load(f"{self.npy}/{name}.tokens.npy")
        return (
            np.pad(tokens, (0, common.TOKENS - len(tokens))),
            np.pad(mel, ((0, common.FRAMES - len(mel)), (0, 0))),
            np.int32(len(tokens)),
            np.int32(len(mel)),
        )


def torch_loader(folder, kind, workers):
    import torch

    return torch.utils.data.DataLoader(
        Clips(folder, kind), BATCH, shuffle=True, drop_last=True, num_workers=workers, persistent_workers=workers > 0
    )


def tensorflow_dataset(folder, kind):
    """Makes a data set as users write it: one numpy_function a clip."""
    import tensorflow as tf

    clips = Clips(folder, kind)
    shapes = ([common.TOKENS], [common.FRAMES, common.MELS], [], [])

    def load(index):
        fields = tf.numpy_function(lambda i: clips[int(i)], (index,), (tf.int32, tf.float32, tf.int32, tf.int32))
        return tuple(tf.ensure_shape(field, shape) for field, shape in zip(fields, shapes))

    dataset = tf.data.Dataset.range(len(clips)).shuffle(len(clips)).map(load, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(BATCH, drop_remainder=True).repeat().prefetch(tf.data.AUTOTUNE)


WAYS = {
    "torch: on the fly, 0 workers": lambda folder: torch_loader(folder, "fly", 0),
    "torch: on the fly, 2 workers": lambda folder: torch_loader(folder, "fly", 2),
    "torch: .npy, 0 workers": lambda folder: torch_loader(folder, "npy", 0),
    "torch: .npy, 2 workers": lambda folder: torch_loader(folder, "npy", 2),
    "torch: cache, xp.torch.Loader": lambda folder: xp.torch.Loader(folder / "cache", batch_size=BATCH, fields=FIELDS),
    "tensorflow: on the fly": lambda folder: tensorflow_dataset(folder, "fly"),
    "tensorflow: .npy": lambda folder: tensorflow_dataset(folder, "npy"),
    "tensorflow: cache, Loader": lambda folder: xp.tensorflow.Loader(folder / "cache", batch_size=BATCH, fields=FIELDS),
    "tensorflow: cache, dataset()": lambda folder: xp.tensorflow.dataset(
        folder / "cache", batch_size=BATCH, fields=FIELDS, structure=tuple, repeat=True
    ),
}


def trainer_dataset(folder):
    config = {"preprocessing_mode": "precompute", "batch_size": BATCH}
    return xp.myxtts.open(config, cache=folder / "cache", data=folder / "data", split=None).create_tf_dataset(
        drop_remainder=True
    )


if importlib.util.find_spec("xtts_precompute.myxtts") is not None:
    WAYS["tensorflow: cache, xp.myxtts"] = trainer_dataset


def fields_of(batch):
    return tuple(batch.values()) if isinstance(batch, dict) else tuple(batch)


def torch_step(profiler):
    import torch
    from xtts_precompute.reference_torch import SmallTts, mel_loss

    model = SmallTts()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(batch):
        tokens, mel, text_len, mel_len = fields_of(batch)
        with profiler.phase("train"):
            optimizer.zero_grad()
            loss = mel_loss(model(mel, tokens, text_len), mel, mel_len)
            loss.backward()
            optimizer.step()
        return loss

    return step


def tensorflow_step(profiler):
    import tensorflow as tf
    from xtts_precompute.reference_tensorflow import SmallTts, mel_loss

    model = SmallTts()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.weights)

    @tf.function
    def train(tokens, mel, text_len, mel_len):
        with tf.GradientTape() as tape:
            loss = mel_loss(model(mel, tokens, text_len), mel, mel_len)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
        return loss

    def step(batch):
        with profiler.phase("train"):
            return train(*fields_of(batch))

    return step


def batches_alone(loader, seconds):
    """Gives the ms from one batch to the next, for so many seconds and at least eight batches. Two
    more come first and do not count. Looks at each batch."""
    times, last, begin = [], None, None
    while True:
        for batch in loader:
            float(fields_of(batch)[1][0, 0, 0])
            del batch
            now = time.perf_counter()
            if last is not None:
                times.append(1e3 * (now - last))
            last = now
            begin = begin or now
            if now - begin > seconds and len(times) >= 10:
                return times[2:]


def steps_of(loader, make_step, seconds):
    """Reports on about so many seconds of steps, at least eight, after six that do not count. The
    report includes steps on one batch again and again."""
    profiler = xp.StepProfiler(warmup=0, batch_size=BATCH)
    step = make_step(profiler)
    for batch in profiler.batches(loader, steps=4):
        step(batch)
    each = max(statistics.median(sum(one.values()) for one in profiler._real.steps().by_phase), 0.05)
    profiler = xp.StepProfiler(warmup=6, batch_size=BATCH)
    step = make_step(profiler)
    return profiler.compare(loader, step, steps=max(8, min(60, round(seconds / each))))


def main():
    way, folder, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    loader = WAYS[way](folder)
    times = batches_alone(loader, seconds)
    make_step = torch_step if way.startswith("torch") else tensorflow_step
    report = steps_of(loader, make_step, seconds)
    mean = statistics.fmean(times)
    print(
        json.dumps(
            {
                "batch_ms": mean,
                "batch_p50": statistics.median(times),
                "batch_p99": sorted(times)[int(len(times) * 0.99)],
                "batch_variation": statistics.pstdev(times) / mean,
                "batches": len(times),
                **report.to_json(),
            }
        )
    )


if __name__ == "__main__":
    assert importlib.util.find_spec("librosa"), "pip install librosa"
    main()
