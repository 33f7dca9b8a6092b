"""create_torch_loader(): the trainer's tuples as PyTorch tensors."""

from __future__ import annotations

from ..torch import Loader as TensorLoader
from .batches import Loader


class TorchLoader(Loader, TensorLoader):  # type: ignore[misc]
    """A Loader of the batches of `xp.torch.Loader`."""
