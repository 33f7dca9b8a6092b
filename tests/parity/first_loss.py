#!/usr/bin/env python3
"""F5-TTS's first loss with a small DiT, on the CPU: from its own loader, and from caches of ours.

    first_loss.py DATA REPOSITORIES --program build/check/cli/xtts-precompute

DATA is a corpus of WAV files at another rate than 24,000 Hz, LJSpeech say; its first clips of up to
10.9 s make one batch. Also tells how far the mels are apart: over all bands, and in the three top
ones. Needs f5-tts, torchdiffeq, and what whole_files.py needs.
"""

import argparse
import importlib.util
import random
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import loading
import numpy as np
import torch
import xtts_precompute

CLIPS = 16
FRAMES_MAX = 1024


def f5_parts():
    """Gives CFM, DiT and MelSpec without the package's trainer, which takes far more."""
    folder = next(iter(importlib.util.find_spec("f5_tts").submodule_search_locations))
    sys.modules["f5_tts.model"] = package = types.ModuleType("f5_tts.model")
    package.__path__ = [folder + "/model"]
    from f5_tts.model.backbones.dit import DiT
    from f5_tts.model.cfm import CFM
    from f5_tts.model.modules import MelSpec

    return CFM, DiT, MelSpec


CFM, DiT, MelSpec = f5_parts()


def own_mels(data):
    mel_of, mels = MelSpec(), {}
    for path in sorted(Path(data).rglob("*.wav"))[:CLIPS]:
        mel = mel_of(torch.from_numpy(loading.load("f5-tts", path))[None])[0].T
        if len(mel) <= FRAMES_MAX:
            mels[path.stem] = mel
    return mels


def cached_mels(program, data, names, resampler):
    with tempfile.TemporaryDirectory() as folder:
        settings = (f"features.max_frames={FRAMES_MAX}", "features.too_long=truncate", f"resampler={resampler}")
        options = [part for setting in settings for part in ("--set", setting)]
        command = [program, "build", data, folder + "/cache", "--recipe", "f5-tts", "--quiet", *options]
        subprocess.run([*command, "--max-rejects", "100%", "--max-dropped", "100%"], check=True)
        cache = xtts_precompute.open(folder + "/cache")
        ids = {id.split("/")[-1]: id for id in cache.ids}
        return {name: torch.from_numpy(np.array(cache[ids[name]].mel)) for name in names}


def seed(number):
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


def first_loss(mels):
    seed(0)
    transformer = DiT(
        dim=256, depth=4, heads=4, ff_mult=2, text_dim=128, conv_layers=2, text_num_embeds=256, mel_dim=100
    )
    model = CFM(transformer, mel_spec_module=MelSpec(), vocab_char_map={chr(code): code for code in range(256)})
    lengths = torch.tensor([len(mel) for mel in mels.values()])
    batch = torch.nn.utils.rnn.pad_sequence(list(mels.values()), batch_first=True)
    seed(1)
    with torch.no_grad():
        return model(batch, text=["a text"] * len(mels), lens=lengths)[0].item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("repositories")
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    loading.REPOSITORIES = options.repositories
    own = own_mels(options.data)
    print(f"{len(own)} clips; its own loader: first loss {first_loss(own):.6f}")
    for resampler in ("soxr_hq", "torchaudio_sinc"):
        mels = cached_mels(options.program, options.data, own, resampler)
        apart = torch.cat([(mels[name] - own[name]).abs() for name in own])
        top = " ".join(f"{band:.2g}" for band in apart.mean(0)[-3:])
        print(
            f"cache, {resampler}: first loss {first_loss(mels):.6f}; mels apart by {apart.mean():.2g} on average, "
            f"{apart.max():.2g} at most, {top} in the three top bands"
        )


if __name__ == "__main__":
    main()
