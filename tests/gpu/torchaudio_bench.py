"""Log-mels of decoded clips by torchaudio on the GPU, beside log_mel_bench's rows.

    python torchaudio_bench.py

Clips of 6.5 s lie in the host's memory, and their features come back to it. One clip at a time is
what a script does; 32 at once is the best that torchaudio can do. Float32 is torchaudio's habit;
double is what the recipes compute in. The rows are of a table in Markdown.
"""

import time

import torch
import torchaudio

RATE, SECONDS = 22050, 6.5


def speed(dtype, batch, clips=2000):
    """Returns how many seconds of sound a second computes."""
    mel = torchaudio.transforms.MelSpectrogram(
        RATE, 1024, hop_length=256, f_max=8000, n_mels=80, power=1.0, norm="slaney", mel_scale="slaney"
    ).to("cuda", dtype)
    sounds = [torch.randn(batch, int(RATE * SECONDS)).mul_(0.1).pin_memory() for _ in range(8)]
    results = [None] * 8
    best = 0.0
    for _ in range(4):  # the first one warms up
        begin = time.perf_counter()
        for i in range(clips // batch):
            on_gpu = sounds[i % 8].to("cuda", non_blocking=True).to(dtype)
            frames = torch.log(mel(on_gpu).clamp(min=1e-5)).float()
            if results[i % 8] is None:
                results[i % 8] = torch.empty(frames.shape, pin_memory=True)
            results[i % 8].copy_(frames, non_blocking=True)
        torch.cuda.synchronize()
        best = max(best, clips // batch * batch * SECONDS / (time.perf_counter() - begin))
    return best


for dtype, name in ((torch.float64, "double"), (torch.float32, "float32")):
    for batch in (1, 32):
        print(f"| torchaudio on the GPU, {name}, {batch} clips at once | {speed(dtype, batch):.0f} times real time |")
