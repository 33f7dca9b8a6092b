"""Peers of readers_vs_peers.py that offer a loader: Hugging Face datasets, FFCV, SPDL, Grain, and
PyTorch's DataLoader around LMDB, memmap and .npy files.

Each is used as its documentation shows, with two workers or threads. reader_by_hand.py says what a
peer is.
"""

import pathlib
import queue
import tempfile

import numpy as np
from reader_by_hand import (
    BATCH,
    CLIPS,
    FRAMES,
    MELS,
    SEED,
    TOKENS,
    WORKERS,
    Lmdb,
    Peer,
    batches_of_indices,
    new_batch,
    sources,
)


def torch_loader(rows, whole_batches=False):
    """Makes a DataLoader of two workers that stay, and its sampler, whose epoch the caller sets.
    whole_batches: asks the data set for lists of indices, and collates nothing ("disable automatic
    batching")."""
    import torch

    class Sampler:
        epoch = 0

        def __len__(self):
            return CLIPS // BATCH

        def __iter__(self):
            return iter(batches_of_indices(self.epoch).tolist())

    sampler = Sampler()
    how = {"sampler": sampler, "batch_size": None} if whole_batches else {"batch_sampler": sampler}
    return torch.utils.data.DataLoader(rows, num_workers=WORKERS, persistent_workers=True, **how), sampler


class HuggingFace(Peer):
    """Reads with_format('numpy'), the indices of a batch at a time. Tokens become int64."""

    modules = ("datasets",)

    def store(self):
        import datasets

        features = datasets.Features(
            {
                "mel": datasets.Array2D((FRAMES, MELS), "float32"),
                "tokens": datasets.Sequence(datasets.Value("int32"), length=TOKENS),
            }
        )

        def rows(path):
            mels, tokens = sources(pathlib.Path(path))
            for i in range(CLIPS):
                yield {"mel": mels[i], "tokens": tokens[i]}

        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            made = datasets.Dataset.from_generator(
                rows, features=features, gen_kwargs={"path": str(self.folder)}, cache_dir=cache
            )
            made.save_to_disk(str(self.folder / "hf"))

    def open(self):
        import datasets

        datasets.disable_progress_bars()
        self.dataset = datasets.load_from_disk(str(self.folder / "hf")).with_format("numpy")

    def epoch(self, epoch):
        for indices in batches_of_indices(epoch):
            batch = self.dataset[indices.tolist()]
            yield batch["mel"], batch["tokens"]


class HuggingFaceShuffled(HuggingFace):
    """Reads as documented: shuffle(seed), then iter(batch_size)."""

    def epoch(self, epoch):
        shuffled = self.dataset.shuffle(seed=SEED + epoch, keep_in_memory=True)
        for batch in shuffled.iter(BATCH, drop_last_batch=True):
            yield batch["mel"], batch["tokens"]


class HuggingFaceTorch(HuggingFace):
    """Reads with_format('torch') in a DataLoader of two workers, by __getitems__, and collates."""

    modules = ("datasets", "torch")

    def open(self):
        import datasets

        datasets.disable_progress_bars()
        rows = datasets.load_from_disk(str(self.folder / "hf")).with_format("torch")
        self.loader, self.sampler = torch_loader(rows)

    def epoch(self, epoch):
        self.sampler.epoch = epoch
        for batch in self.loader:
            yield batch["mel"], batch["tokens"]


class Ffcv(Peer):
    modules = ("ffcv",)

    def store(self):
        import ffcv.fields
        import ffcv.writer

        mels, tokens = sources(self.folder)

        class Rows:
            def __len__(self):
                return CLIPS

            def __getitem__(self, i):
                return mels[i], tokens[i]

        fields = {
            "mel": ffcv.fields.NDArrayField(np.dtype(np.float32), (FRAMES, MELS)),
            "tokens": ffcv.fields.NDArrayField(np.dtype(np.int32), (TOKENS,)),
        }
        ffcv.writer.DatasetWriter(str(self.folder / "samples.beton"), fields, num_workers=1).from_indexed_dataset(
            Rows()
        )

    def open(self):
        import ffcv.fields.ndarray
        import ffcv.loader

        decoder = ffcv.fields.ndarray.NDArrayDecoder
        self.loader = ffcv.loader.Loader(
            str(self.folder / "samples.beton"),
            batch_size=BATCH,
            num_workers=WORKERS,
            order=ffcv.loader.OrderOption.RANDOM,
            os_cache=True,
            seed=SEED,
            pipelines={"mel": [decoder()], "tokens": [decoder()]},
        )

    def epoch(self, _epoch):  # the loader counts epochs itself, and draws from seed and epoch
        yield from self.loader


class Spdl(Peer):
    """A pipeline whose stage takes a batch out of a memmap; two run at a time."""

    modules = ("spdl.pipeline",)

    def take(self, indices):
        return self.mels[indices], self.tokens[indices]

    def epoch(self, epoch):
        import spdl.pipeline

        pipeline = (
            spdl.pipeline.PipelineBuilder()
            .add_source(iter(batches_of_indices(epoch)))
            .pipe(self.take, concurrency=WORKERS, output_order="input")
            .add_sink(3)
            .build(num_threads=WORKERS)
        )
        with pipeline.auto_stop():
            yield from pipeline


class SpdlReuse(Spdl):
    """Like Spdl, with buffers that are used again: fewer page faults, but the user writes it."""

    def open(self):
        super().open()
        # The buffer that came back last is still in the processor's cache. There are more buffers
        # than are in flight: two being taken, three in the sink, others between them.
        self.free = queue.LifoQueue()
        for _ in range(9):
            self.free.put(new_batch())

    def take(self, indices):
        buffer = self.free.get()
        np.take(self.mels, indices, axis=0, out=buffer[0], mode="clip")
        np.take(self.tokens, indices, axis=0, out=buffer[1], mode="clip")
        return buffer

    def epoch(self, epoch):
        for batch in super().epoch(epoch):
            yield batch
            self.free.put(batch)


class Grain(Peer):
    """grain.MapDataset over memmap: shuffle(seed) and batch, read by two threads."""

    modules = ("grain",)

    def open(self):
        super().open()
        peer = self

        class Rows:
            def __len__(self):
                return CLIPS

            def __getitem__(self, i):
                return peer.mels[i], peer.tokens[i]

        self.rows = Rows()

    def epoch(self, epoch):
        import grain

        samples = grain.MapDataset.source(self.rows).shuffle(seed=SEED + epoch).batch(BATCH, drop_remainder=True)
        yield from samples.to_iter_dataset(grain.ReadOptions(num_threads=WORKERS, prefetch_buffer_size=4))


class LmdbTorch(Lmdb):
    """The usual data set around LMDB, which each of a DataLoader's two workers opens."""

    modules = ("lmdb", "torch")

    def open(self):
        import torch

        peer = self

        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return CLIPS

            def __getitem__(self, i):
                if not hasattr(self, "is_open"):
                    peer.connect()
                    self.is_open = True
                mel, tokens = peer.row(i)
                return torch.from_numpy(mel.copy()), torch.from_numpy(tokens.copy())

        self.loader, self.sampler = torch_loader(Rows())

    def epoch(self, epoch):
        self.sampler.epoch = epoch
        yield from self.loader


class TorchMemmap(Peer):
    """A data set over memmap that gives whole batches, in a DataLoader of two workers."""

    modules = ("torch",)
    whole_batches = True

    def open(self):
        import torch

        super().open()
        peer = self

        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return CLIPS

            def __getitem__(self, i):
                return peer.row(i)

        self.loader, self.sampler = torch_loader(Rows(), self.whole_batches)

    def row(self, i):
        return self.mels[i], self.tokens[i]

    def epoch(self, epoch):
        self.sampler.epoch = epoch
        yield from self.loader


class TorchNpy(TorchMemmap):
    """One .npy file a sample, as most trainers have."""

    whole_batches = False

    def store(self):
        mels, tokens = sources(self.folder)
        (self.folder / "npy").mkdir(exist_ok=True)
        for i in range(CLIPS):
            np.save(self.folder / "npy" / f"{i}.npy", mels[i])
            np.save(self.folder / "npy" / f"{i}.tokens.npy", tokens[i])

    def row(self, i):
        return np.load(self.folder / "npy" / f"{i}.npy"), np.load(self.folder / "npy" / f"{i}.tokens.npy")
