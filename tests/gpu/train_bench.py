"""Does data keep a GPU waiting? A small TTS network trains on it, in one run:

on one batch that is on the GPU already, with xp.torch.Loader, with a DataLoader over the cache, and
with mels that a DataLoader or SPDL makes on the fly. It prints rows of a table in Markdown.

    python train_bench.py CACHE DATA

CACHE has the recipe tacotron2 and DATA's clips.
"""

import sys
import time
from pathlib import Path

import torch
import xtts_precompute as xp
from torch import nn

BATCH, STEPS, WARMUP, ROUNDS, WORKERS = 32, 60, 20, 4, 8


class SmallTts(nn.Module):
    """A text encoder, and a decoder of convolutions: 18.5 ms a step on an H200.

    With half of the width, Python would take longer to launch the kernels than they run.
    """

    def __init__(self, channels, width=1024, layers=6):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.text = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True), 2)
        self.first = nn.Conv1d(channels, width, 5, padding=2)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(layers))
        self.last = nn.Conv1d(width, channels, 5, padding=2)

    def forward(self, tokens, mel):
        known = self.text(self.embed(tokens.clamp(0, 255).long())).mean(1)
        x = self.first(mel.transpose(1, 2)) + known[:, :, None]
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return self.last(x).transpose(1, 2)


def batches_of(make):
    """Yields batches without an end."""
    while True:
        yield from make()


class OnTheFly:
    """Mels that are computed for each sample, as trainers do."""

    def __init__(self, folder):
        import soundfile
        import torchaudio

        self._read, self._resample = soundfile.read, torchaudio.functional.resample
        self._mel = torchaudio.transforms.MelSpectrogram(22050, 1024, hop_length=256, n_mels=80, power=1.0)
        self._paths = sorted(Path(folder).glob("wavs/*"))

    def __len__(self):
        return len(self._paths)

    def __getitem__(self, index):
        sound, rate = self._read(self._paths[index], dtype="float32", always_2d=True)
        sound = self._resample(torch.from_numpy(sound.mean(1)), rate, 22050)
        frames = torch.log(self._mel(sound).clamp(min=1e-5)).T[:800]
        padded = torch.zeros(800, 80)
        padded[: len(frames)] = frames
        return torch.zeros(200, dtype=torch.int32), padded


def on_the_fly(data):
    """A DataLoader whose workers compute mels."""
    loader = torch.utils.data.DataLoader(
        data,
        BATCH,
        sampler=torch.utils.data.RandomSampler(data, replacement=True, num_samples=BATCH * 300),
        num_workers=WORKERS,
        pin_memory=True,
        drop_last=True,
        persistent_workers=True,
    )
    return lambda: ((tokens.cuda(non_blocking=True), mel.cuda(non_blocking=True)) for tokens, mel in loader)


def on_the_fly_by_spdl(data):
    """Meta's SPDL: the same work in threads."""
    from spdl.pipeline import PipelineBuilder

    def indices():
        while True:
            yield int(torch.randint(len(data), ()))

    def pinned(samples):
        return [torch.stack(column).pin_memory() for column in zip(*samples)]

    def batches():
        made = PipelineBuilder().add_source(indices()).pipe(data.__getitem__, concurrency=WORKERS)
        pipeline = made.aggregate(BATCH).pipe(pinned, concurrency=2).add_sink(4).build(num_threads=WORKERS + 2)
        with pipeline.auto_stop():
            for tokens, mel in pipeline:
                yield tokens.cuda(non_blocking=True), mel.cuda(non_blocking=True)

    return batches


class Training:
    """Trains a network of its own on one way of data, a round at a time."""

    def __init__(self, make, channels):
        torch.manual_seed(0)
        self._model = SmallTts(channels).cuda()
        self._optimizer = torch.optim.AdamW(self._model.parameters())
        self._batches = batches_of(make)
        self.ms, self.idle = float("inf"), 1.0

    def _run(self, count):
        marks = []
        for _ in range(count):
            tokens, mel = next(self._batches)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            with torch.autocast("cuda", torch.bfloat16):
                loss = nn.functional.l1_loss(self._model(tokens, mel), mel)
            self._optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self._optimizer.step()
            end.record()
            del tokens, mel
            marks.append((start, end))
        torch.cuda.synchronize()
        return marks

    def round(self):
        """Runs STEPS steps. Keeps the best round's ms a step, and its share in which no step was on the GPU."""
        self._run(WARMUP)  # uses up what workers made during other rounds
        begin = time.perf_counter()
        marks = self._run(STEPS)
        ms = 1e3 * (time.perf_counter() - begin) / STEPS
        if ms < self.ms:
            busy = sum(start.elapsed_time(end) for start, end in marks)
            self.ms, self.idle = ms, max(0.0, 1 - busy / (STEPS * ms))


def main(path, folder):
    cache = xp.open(path)
    channels = cache.columns["mel"].shape[1]
    draws = {"weights": {"by": "speaker", "temperature": 1.0, "draws": BATCH * 300}}

    def ours(**options):
        loader = xp.torch.Loader(cache, batch_size=BATCH, fields=("tokens", "mel"), **draws, **options)
        return lambda: ((batch.tokens, batch.mel) for batch in loader)

    def dataloader():
        data = xp.torch.BatchDataset(cache, batch_size=BATCH, fields=("tokens", "mel"), **draws)
        loader = torch.utils.data.DataLoader(
            data, batch_size=None, num_workers=2, pin_memory=True, persistent_workers=True
        )
        return lambda: ((b.tokens.cuda(non_blocking=True), b.mel.cuda(non_blocking=True)) for b in loader)

    # A batch of the cache, again and again, so that only the way to it differs.
    held = tuple(tensor.clone() for tensor in next(ours(device="cuda")()))
    ways = {
        "one batch that is on the GPU already": lambda: lambda: iter([held]),
        'xp.torch.Loader(device="cuda")': lambda: ours(device="cuda"),
        "a DataLoader with two workers over the cache": dataloader,
        f"mels on the fly, a DataLoader with {WORKERS} workers": lambda: on_the_fly(OnTheFly(folder)),
        f"mels on the fly, SPDL with {WORKERS} threads": lambda: on_the_fly_by_spdl(OnTheFly(folder)),
    }
    trainings = {}
    for name, way in ways.items():
        try:
            trainings[name] = Training(way(), channels)
        except ImportError as error:
            print(f"| {name} | not measured: {error} |")
    for _ in range(ROUNDS):  # in turn: a machine's other work disturbs all of them alike
        for training in trainings.values():
            training.round()
    first = next(iter(trainings.values())).ms
    for name, training in trainings.items():
        print(
            f"| {name} | {training.ms:.2f} ms a step, {100 * first / training.ms:.0f} % of the steps with one batch; "
            f"no step on the GPU {100 * training.idle:.1f} % of the time |"
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
