"""Does data keep a GPU waiting? A small TTS network trains on it, in one run:

on synthetic data that is on the GPU already, with xp.torch.Loader, with a DataLoader over the cache,
and with mels made on the fly by a DataLoader. It prints rows of a table in Markdown.

    python train_bench.py CACHE DATA

CACHE has the recipe tacotron2 and DATA's clips.
"""

import sys
import time

import torch
import xtts_precompute as xp
from torch import nn

BATCH, STEPS, WARMUP = 32, 200, 30


class SmallTts(nn.Module):
    """A text encoder, and a decoder of convolutions: some ms a step on a large GPU."""

    def __init__(self, channels, width=512, layers=8):
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


def on_the_fly(folder, cache):
    """A DataLoader whose workers compute mels, as trainers do."""
    import soundfile
    import torchaudio

    mel = torchaudio.transforms.MelSpectrogram(22050, 1024, hop_length=256, n_mels=80, power=1.0)
    clips = [clip for clip in cache if clip.source]

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return len(clips)

        def __getitem__(self, index):
            sound, rate = soundfile.read(f"{folder}/{clips[index].source}", dtype="float32", always_2d=True)
            sound = torchaudio.functional.resample(torch.from_numpy(sound.mean(1)), rate, 22050)
            frames = torch.log(mel(sound).clamp(min=1e-5)).T[:800]
            padded = torch.zeros(800, 80)
            padded[: len(frames)] = frames
            return torch.zeros(200, dtype=torch.int32), padded

    loader = torch.utils.data.DataLoader(
        Data(),
        BATCH,
        sampler=torch.utils.data.RandomSampler(Data(), replacement=True, num_samples=BATCH * 300),
        num_workers=8,
        pin_memory=True,
        drop_last=True,
        persistent_workers=True,
    )
    return lambda: ((tokens.cuda(non_blocking=True), mel.cuda(non_blocking=True)) for tokens, mel in loader)


def timed(make, channels):
    """Returns (ms a step, share of the time in which the GPU had no work of the step)."""
    torch.manual_seed(0)
    model = SmallTts(channels).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batches = batches_of(make)
    marks = []
    for step in range(WARMUP + STEPS):
        if step == WARMUP:
            torch.cuda.synchronize()
            begin = time.perf_counter()
        tokens, mel = next(batches)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        with torch.autocast("cuda", torch.bfloat16):
            loss = nn.functional.l1_loss(model(tokens, mel), mel)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        end.record()
        del tokens, mel
        if step >= WARMUP:
            marks.append((start, end))
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    busy = sum(start.elapsed_time(end) for start, end in marks) / 1e3
    return 1e3 * seconds / STEPS, max(0.0, 1 - busy / seconds)


def main(path, folder):
    cache = xp.open(path)
    channels = cache.columns["mel"].shape[1]
    draws = {"weights": {"by": "speaker", "temperature": 1.0, "draws": BATCH * 300}}
    mel = torch.randn(BATCH, 800, channels, device="cuda")
    tokens = torch.randint(0, 255, (BATCH, 200), device="cuda", dtype=torch.int32)

    def ours(**options):
        loader = xp.torch.Loader(cache, batch_size=BATCH, fields=("tokens", "mel"), **draws, **options)
        return lambda: ((batch.tokens, batch.mel) for batch in loader)

    def dataloader():
        data = xp.torch.BatchDataset(cache, batch_size=BATCH, fields=("tokens", "mel"), **draws)
        loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=2, pin_memory=True)
        return lambda: ((b.tokens.cuda(non_blocking=True), b.mel.cuda(non_blocking=True)) for b in loader)

    ways = {
        "synthetic data on the GPU": lambda: lambda: iter([(tokens, mel)]),
        'xp.torch.Loader(device="cuda")': lambda: ours(device="cuda"),
        "a DataLoader with two workers over the cache": dataloader,
        "mels on the fly, a DataLoader with eight workers": lambda: on_the_fly(folder, cache),
    }
    first = None
    for name, way in ways.items():
        try:
            ms, idle = timed(way(), channels)
        except ImportError as error:
            print(f"| {name} | not measured: {error} |")
            continue
        first = first or ms
        print(f"| {name} | {ms:.2f} ms a step, {100 * first / ms:.0f} % of synthetic; GPU idle {100 * idle:.1f} % |")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
