"""Reads a cache in the MyXTTS trainer's own way: its config.yaml, tuples and `create_tf_dataset()`.

    import xtts_precompute as xp

    # Or the trainer's DataConfig or XTTSConfig, or a dict, in place of the file.
    train = xp.myxtts.open("config.yaml", data="./data")
    # With pad_to_fixed_length: [B, 200], [B, 800, 80], [B], [B]
    for tokens, mel, text_len, mel_len in train.create_tf_dataset():
        step(tokens, mel, text_len, mel_len)

The builder's own reader reads the configuration, so that a build and the check of a cache
understand it alike. The installation must have the builder. src/python/README.md lists the keys.

The trainer itself also runs on a cache unchanged, by a command or with one line before its imports:

    python -m xtts_precompute.myxtts --cache ./cache train_main.py --train-data ./data --val-data ./data
    xp.myxtts.install("./cache")
"""

from .batches import Loader, TrainerBatch
from .config import Config, ConfigKey
from .dataset import Dataset, open
from .installer import install

__all__ = ["Config", "ConfigKey", "Dataset", "Loader", "TrainerBatch", "install", "open"]
