"""A find, and the words of each rule."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from .files import Source


class Rule(NamedTuple):
    """What is told of a find, apart from its place."""

    status: str
    certainty: str
    why: str
    remedy: str


RULES: dict[str, Rule] = {
    "python_in_pipeline": Rule(
        "fail",
        "high",
        "Python runs one clip at a time under its lock, and XLA cannot compile it.",
        "Read the clips from a cache, or write this function with TensorFlow's own operations.",
    ),
    "from_generator": Rule(
        "warn",
        "high",
        "A generator is one Python thread, however many processors there are.",
        "Use xtts_precompute.tensorflow on a cache, or a dataset whose source is TensorFlow's own.",
    ),
    "map_in_sequence": Rule(
        "warn",
        "high",
        "The function runs on one element after the other.",
        "Give num_parallel_calls=tf.data.AUTOTUNE.",
    ),
    "no_prefetch": Rule(
        "warn",
        "medium",
        "Each step waits until its batch is made.",
        "End the pipeline with .prefetch(tf.data.AUTOTUNE).",
    ),
    "eager_mode": Rule(
        "fail",
        "high",
        "Functions run line by line, which leaves a GPU at 10 to 15 %.",
        "Remove it, except while you look for an error.",
    ),
    "step_not_compiled": Rule(
        "fail",
        "high",
        "Each operation is started from Python, which leaves a GPU at 10 to 15 %.",
        "Put @tf.function above it, with an input_signature.",
    ),
    "host_sync": Rule(
        "warn",
        "high",
        "The processor waits there until the GPU has finished.",
        "Keep the value on the GPU, and fetch it every hundred steps.",
    ),
    "features_in_getitem": Rule(
        "fail",
        "high",
        "Every clip is decoded and computed again in each epoch.",
        "Compute them once: `xtts-precompute DATA CACHE`, then read the cache with xtts_precompute.torch.",
    ),
    "no_workers": Rule(
        "warn",
        "high",
        "The training process itself makes each batch, and the GPU waits meanwhile.",
        "Give num_workers, or read a cache with xtts_precompute.torch.Loader, which needs no workers.",
    ),
    "no_pinned_memory": Rule(
        "warn",
        "high",
        "Copies to the GPU then go through a second buffer and cannot overlap with computing.",
        "Give pin_memory=True, and non_blocking=True to .to(device).",
    ),
    "workers_restart": Rule(
        "warn",
        "medium",
        "All workers are started anew at the beginning of each epoch.",
        "Give persistent_workers=True.",
    ),
    "varying_shapes": Rule(
        "warn",
        "medium",
        "A compiled step is compiled again for each new length.",
        "Pad to fixed lengths (max_frames, max_tokens), or to a few buckets.",
    ),
}


def find(
    source: Source,
    node: ast.AST,
    rule: str,
    text: str,
    *,
    status: str | None = None,
    certainty: str | None = None,
    remedy: str | None = None,
) -> dict[str, Any]:
    """Returns a find at a node. A status, certainty and remedy of its own replace those of the rule."""
    words = RULES[rule]
    return {
        "rule": rule,
        "file": source.path,
        "line": getattr(node, "lineno", 1),
        "status": status or words.status,
        "text": text,
        "why": words.why,
        "remedy": remedy or words.remedy,
        "certainty": certainty or words.certainty,
    }
