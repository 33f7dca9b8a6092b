"""What the tests of the trainer's configuration share."""

import shlex

import numpy as np
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PADDING, PROGRAM, ran

# With these keys, the tests' caches (support.build) are the right ones.
KEYS = {
    "max_mel_frames": MAX_FRAMES, "max_text_length": MAX_TOKENS, "pad_to_fixed_length": True,
    "use_tf_native_loading": False, "batch_size": 4,
    "prefetch_buffer_size": 2,
}  # fmt: skip
SETTINGS = {"features.pad_value": PADDING}


def opened(cache, keys=None, **options):
    """Opens a data set with the tokens of the tests' recipe, unless a tokenizer is given."""
    return xp.myxtts.open(
        {**KEYS, **(keys or {})}, cache, **{"settings": SETTINGS, "progress": False, "tokenizer": "recipe", **options}
    )


def kept(loader):
    """Returns an epoch's batches, as copies."""
    return [xp.myxtts.TrainerBatch(*map(np.array, batch), ids=batch.ids) for batch in loader]


def all_ids(dataset):
    return sorted(clip_id for batch in dataset.reader(drop_last=False, ids=True) for clip_id in batch.ids)


def yaml_file(folder, text, name="config.yaml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def command_of(error):
    """Returns the last lines of an error, as a shell would take them."""
    (line,) = [line for line in str(error).splitlines() if line.startswith("    xtts-precompute ")]
    return shlex.split(line)[1:]


def run_command_of(error, folder=None):
    done = ran(PROGRAM, *command_of(error), "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
