"""The trainer's own way of reading: `preprocessing_mode: precompute` in its config.yaml, its tuples, its `create_tf_dataset()`.

    import xtts_precompute as xp

    train = xp.myxtts.open("config.yaml", data="./data")                # or their DataConfig, XTTSConfig, or a dict
    for tokens, mel, text_len, mel_len in train.create_tf_dataset():    # [B, 200], [B, 800, 80], [B], [B] with pad_to_fixed_length
        step(tokens, mel, text_len, mel_len)

The configuration is read by the builder's own reader, so that what a build makes of it and what is expected of the cache is one thing;
the installation has to have the builder. src/python/README.md has the keys.

The trainer itself runs on a cache unchanged, by its own command or with one line before its imports:

    python -m xtts_precompute.myxtts --cache ./cache train_main.py --train-data ./data --val-data ./data
    xp.myxtts.install("./cache")
"""

from .batches import Loader, TrainerBatch
from .config import Config, ConfigKey
from .dataset import Dataset, open
from .installer import install

__all__ = ["Config", "ConfigKey", "Dataset", "Loader", "TrainerBatch", "install", "open"]
