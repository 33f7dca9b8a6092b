"""All measurements: the parent tells those that a child did not reach, too."""

from __future__ import annotations

# By framework and name: what a measurement is compared with, and its words.
MEASUREMENTS: dict[str, dict[str, tuple[str, str]]] = {
    "tensorflow": {
        "graph": ("eager", "tf.function against eager"),
        "xla": ("graph", "tf.function(jit_compile=True) against tf.function"),
        "mixed_precision": ("graph", "float16 against float32, in tf.function"),
    },
    "torch": {
        "channels_last": ("eager", "channels_last against contiguous, in 2-D convolutions"),
        "mixed_precision": ("eager", "autocast against float32"),
        # Last, because a compiler may take the time of all others.
        "compile": ("eager", "torch.compile against eager"),
    },
    "jax": {},
}
