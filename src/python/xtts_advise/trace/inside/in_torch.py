"""Marks of PyTorch: batches of a DataLoader, samples of its data set, and optimizer steps."""

import sys


def install(marks):
    """Replaces what is loaded by now. Returns True once there is nothing left to replace."""
    loader = ready("torch.utils.data.dataloader")
    fetch = ready("torch.utils.data._utils.fetch")
    optimizer = ready("torch.optim.optimizer")
    if loader is None or fetch is None or optimizer is None:
        return False
    marks.batches_of(loader._BaseDataLoaderIter, facts_of)
    _mark_samples(marks, fetch)
    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        optimizer.register_optimizer_step_post_hook(lambda *_: marks.trained())
    return True


def ready(name):
    module = sys.modules.get(name)
    specification = getattr(module, "__spec__", None)
    return None if module is None or getattr(specification, "_initializing", False) else module


def _mark_samples(marks, fetch):
    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        kind.fetch = _measured(marks, kind.fetch)


def _measured(marks, original):
    def fetch(self, indices):
        unit = marks.unit(name_of(self.dataset))
        samples = len(indices) if hasattr(indices, "__len__") else 1
        return unit.measured(lambda: original(self, indices), samples)

    return fetch


def name_of(data):
    return type(data).__module__ + "." + type(data).__qualname__


def facts_of(iterator):
    """What the loader was given, in plain values."""
    data = getattr(iterator, "_dataset", None)
    loader = {
        "kind": "torch.utils.data.DataLoader",
        "data": name_of(data),
        "workers": getattr(iterator, "_num_workers", 0),
        "persistent": bool(getattr(iterator, "_persistent_workers", False)),
        "pinned": bool(getattr(iterator, "_pin_memory", False)),
        "ahead": getattr(iterator, "_prefetch_factor", None),
    }
    sampler = getattr(iterator, "_index_sampler", None)
    batch = getattr(sampler, "batch_size", None)
    loader["batch"] = batch if isinstance(batch, int) else None
    try:
        loader["clips"] = len(data)
    except Exception:
        loader["clips"] = None
    return loader
