"""Peers of readers_vs_peers.py that are read by hand (memmap, Arrow, LMDB, HDF5), and our package.

A peer stores the samples in its own form (once a folder), opens it in a process of its own and
gives the batches of an epoch, [32, 800, 80] float32 and [32, 200] int32, in a seeded order over all
samples. The folder holds the raw samples: mels.f32 and tokens.i32.
"""

import collections
import concurrent.futures

import numpy as np

CLIPS, BATCH, FRAMES, MELS, TOKENS, SEED, WORKERS = 4096, 32, 800, 80, 200, 7, 2


def sources(folder):
    return (
        np.memmap(folder / "mels.f32", np.float32, "r", shape=(CLIPS, FRAMES, MELS)),
        np.memmap(folder / "tokens.i32", np.int32, "r", shape=(CLIPS, TOKENS)),
    )


def order(epoch):
    return np.random.default_rng((SEED, epoch)).permutation(CLIPS)


def batches_of_indices(epoch):
    return order(epoch).reshape(-1, BATCH)


def new_batch():
    return np.zeros((BATCH, FRAMES, MELS), np.float32), np.zeros((BATCH, TOKENS), np.int32)


class Peer:
    """store() is called once a folder, open() in each process. epoch() gives (mel, tokens) pairs:
    arrays, tensors, or lists of rows. A batch is valid until the next one is asked for."""

    modules = ()

    def __init__(self, folder):
        self.folder = folder

    def store(self):
        pass

    def open(self):
        self.mels, self.tokens = sources(self.folder)

    def epoch(self, epoch):
        raise NotImplementedError


class MemmapViews(Peer):
    """Gives rows in place, so no batch at all. The others show what a batch in one piece costs."""

    def epoch(self, epoch):
        for indices in batches_of_indices(epoch):
            yield [self.mels[i] for i in indices], [self.tokens[i] for i in indices]


class MemmapTake(Peer):
    """Two threads take rows into buffers that are used again; a batch is two tasks."""

    def open(self):
        super().open()
        self.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        self.buffers = [new_batch() for _ in range(4)]

    def epoch(self, epoch):
        def fill(indices, buffer, rows):
            np.take(self.mels, indices[rows], axis=0, out=buffer[0][rows], mode="clip")
            np.take(self.tokens, indices[rows], axis=0, out=buffer[1][rows], mode="clip")

        running = collections.deque()
        halves = slice(0, BATCH // 2), slice(BATCH // 2, BATCH)
        for number, indices in enumerate(batches_of_indices(epoch)):
            buffer = self.buffers[number % len(self.buffers)]
            running.append((buffer, [self.pool.submit(fill, indices, buffer, half) for half in halves]))
            if len(running) == len(self.buffers) - 1:
                yield self.finished(running)
        while running:
            yield self.finished(running)

    @staticmethod
    def finished(running):
        buffer, tasks = running.popleft()
        for task in tasks:
            task.result()
        return buffer


class Arrow(Peer):
    """Hugging Face's layout: a mapped Arrow file with rows as fixed-size lists, copied into one reused
    batch."""

    modules = ("pyarrow",)

    def store(self):
        import pyarrow as pa

        mels, tokens = sources(self.folder)
        schema = pa.schema([("mel", pa.list_(pa.float32(), FRAMES * MELS)), ("tokens", pa.list_(pa.int32(), TOKENS))])
        with pa.OSFile(str(self.folder / "samples.arrow"), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for begin in range(0, CLIPS, 1024):
                part = slice(begin, begin + 1024)
                columns = [
                    pa.FixedSizeListArray.from_arrays(pa.array(rows[part].reshape(-1)), int(np.prod(rows.shape[1:])))
                    for rows in (mels, tokens)
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))

    def open(self):
        import pyarrow as pa

        reader = pa.ipc.open_file(pa.memory_map(str(self.folder / "samples.arrow")))
        parts = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self.mels = [row for part in parts for row in part.column(0).values.to_numpy().reshape(-1, FRAMES, MELS)]
        self.tokens = [row for part in parts for row in part.column(1).values.to_numpy().reshape(-1, TOKENS)]
        self.batch = new_batch()

    def epoch(self, epoch):
        mel, tokens = self.batch
        for indices in batches_of_indices(epoch):
            for row, i in enumerate(indices):
                mel[row] = self.mels[i]
                tokens[row] = self.tokens[i]
            yield mel, tokens


class Lmdb(Peer):
    """One thread copies values (buffers=True) into one reused batch."""

    modules = ("lmdb",)

    def store(self):
        import lmdb

        mels, tokens = sources(self.folder)
        with lmdb.open(str(self.folder / "lmdb"), map_size=4 << 30) as store:
            for begin in range(0, CLIPS, 256):
                with store.begin(write=True) as transaction:
                    for i in range(begin, begin + 256):
                        transaction.put(b"m%06d" % i, mels[i].tobytes())
                        transaction.put(b"t%06d" % i, tokens[i].tobytes())

    def connect(self):
        import lmdb

        self.store_ = lmdb.open(str(self.folder / "lmdb"), readonly=True, lock=False, readahead=True)
        self.transaction = self.store_.begin(buffers=True)

    def open(self):
        self.connect()
        self.batch = new_batch()

    def row(self, i):
        get = self.transaction.get
        return (
            np.frombuffer(get(b"m%06d" % i), np.float32).reshape(FRAMES, MELS),
            np.frombuffer(get(b"t%06d" % i), np.int32),
        )

    def epoch(self, epoch):
        mel, tokens = self.batch
        for indices in batches_of_indices(epoch):
            for slot, i in enumerate(indices):
                mel[slot], tokens[slot] = self.row(i)
            yield mel, tokens


class H5py(Peer):
    modules = ("h5py",)

    def store(self):
        import h5py

        mels, tokens = sources(self.folder)
        with h5py.File(self.folder / "samples.h5", "w", libver="latest") as file:
            file.create_dataset("mel", data=mels, chunks=None)
            file.create_dataset("tokens", data=tokens, chunks=None)

    def open(self):
        import h5py

        file = h5py.File(self.folder / "samples.h5", "r")
        self.mels, self.tokens = file["mel"], file["tokens"]
        self.batch = new_batch()


class H5pySlices(H5py):
    """Reads row after row, by read_direct into one reused batch."""

    def epoch(self, epoch):
        mel, tokens = self.batch
        for indices in batches_of_indices(epoch):
            for slot, i in enumerate(indices):
                self.mels.read_direct(mel, np.s_[i], np.s_[slot])
                self.tokens.read_direct(tokens, np.s_[i], np.s_[slot])
            yield mel, tokens


class H5pyFancy(H5py):
    """Reads all of a batch's rows by one sorted list of indices, as h5py asks for."""

    def epoch(self, epoch):
        for indices in batches_of_indices(epoch):
            rows = np.sort(indices)
            yield self.mels[rows], self.tokens[rows]


class Ours(Peer):
    """The Python package of this project, over the same cache as the C++ program beside it."""

    modules = ("xtts_precompute",)
    shuffle = "global"

    def open(self):
        import xtts_precompute

        cache = xtts_precompute.open(str(self.folder / "cache"))
        self.reader = cache.reader(batch_size=BATCH, shuffle=self.shuffle, seed=SEED)

    def epoch(self, epoch):
        self.reader.set_epoch(epoch)
        for batch in self.reader:
            yield batch.mel, batch.tokens


class OursInPlace(Ours):
    shuffle = "none"
