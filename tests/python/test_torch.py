"""PyTorch: the same bytes, slots that come back, passes and states, DataLoader's workers, ranks."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import xtts_precompute as xp

from support import PADDING, run_python

torch = pytest.importorskip("torch", reason="PyTorch is not installed here; tests/python/run.sh has an environment with it")

ALL = ("mel", "tokens", "mel_len", "text_len", "speaker", "language", "ids")
FORMS = ("lmdb-padded-float32", "hdf5-padded-float16", "lmdb-padded-bfloat16", "hdf5-packed-float32")


@pytest.fixture(autouse=True)
def no_patience():
    """Others let go of batches here: patience as it is."""


def same_bytes(tensor, array):
    assert tuple(tensor.shape) == array.shape
    mine, theirs = tensor.contiguous().view(torch.uint8), np.ascontiguousarray(array).view(np.uint8)
    return bool((mine.reshape(-1).numpy() == theirs.reshape(-1)).all())


def ids_of(batches):
    return [clip for batch in batches for clip in batch.ids]


# ---- Loader: what batches are


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_batches_are_those_of_the_reader(form, shuffle, caches):
    cache = xp.open(caches(form))
    loader = xp.torch.Loader(cache, batch_size=8, shuffle=shuffle, seed=3, drop_last=False, fields=ALL)
    reader = cache.reader(batch_size=8, shuffle=shuffle, seed=3, drop_last=False)
    assert len(loader) == len(reader) == 5
    for batch, expected in zip(loader, reader):
        assert tuple(batch) == ALL and batch.mel is batch["mel"]
        for name in ("mel", "tokens"):
            assert str(batch[name].dtype) == f"torch.{expected[name].dtype}"
            assert same_bytes(batch[name], expected[name])
            assert same_bytes(batch[name.replace("tokens", "text") + "_len"], expected.lengths(name))
        assert same_bytes(batch.speaker, expected.speaker) and same_bytes(batch.language, expected.language)
        assert batch.ids == expected.ids + [""] * (8 - expected.valid_count)


def test_batches_are_what_the_builder_wrote(path, truth):
    for batch in xp.torch.Loader(path, batch_size=8, fields=ALL, drop_last=False):
        for row, clip in enumerate(batch.ids):
            if clip:
                assert same_bytes(batch.mel[row], truth.padded_mel(clip)) and same_bytes(batch.tokens[row], truth.padded_tokens(clip))
        assert not batch.mel_len[[not clip for clip in batch.ids]].any()


def test_only_what_fields_need_is_read(cache):
    loader = xp.torch.Loader(cache, batch_size=8, fields=("text_len", "speaker"), seed=1)
    assert loader._options["columns"] == ["tokens"]
    assert tuple(next(iter(loader))) == ("text_len", "speaker")
    assert tuple(next(iter(xp.torch.Loader(cache, columns={"mel": "float16"}, batch_size=8)))) == ("mel", "mel_len", "speaker", "language")


def test_tensors_can_be_written_and_change_nothing_else(cache):
    for shuffle in ("global", "none"):
        loader = xp.torch.Loader(cache, batch_size=8, shuffle=shuffle, seed=5)
        for _ in range(3):
            for batch in loader:
                for tensor in batch.values():
                    tensor.mul_(0).add_(77)
        reader = cache.reader(batch_size=8, shuffle=shuffle, seed=5)
        loader.set_epoch(0)
        for batch, expected in zip(loader, reader):
            assert same_bytes(batch.mel, expected.mel) and same_bytes(batch.mel_len, expected.mel_len)


def test_in_place_shows_the_cache_itself(cache, path):
    # Both see the file through mappings of their own process: the address says whether there was a copy.
    def addresses(**options):
        loader = xp.torch.Loader(cache, batch_size=8, shuffle="none", **options)
        return [batch.mel.data_ptr() for batch in loader]

    expected = [batch.mel.ctypes.data for batch in cache.reader(batch_size=8, shuffle="none")]
    assert addresses(in_place=True) == expected and not set(addresses()) & set(expected)
    code = """
import sys, xtts_precompute as xp
loader = xp.torch.Loader(sys.argv[1], batch_size=8, shuffle="none", in_place=True)
next(iter(loader)).mel.add_(1)
"""
    died = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False)
    assert died.returncode == -signal.SIGSEGV, died.stderr


def test_a_tensor_keeps_its_slot_and_gives_it_back(cache, monkeypatch):
    monkeypatch.setattr(xp._reader, "_WAIT_FOR_SLOT_S", 0)
    loader = xp.torch.Loader(cache, batch_size=4, prefetch=3, seed=2)
    batches = iter(loader)
    kept = [next(batches).mel[1:, ::2] for _ in range(3)]
    copies = [tensor.clone() for tensor in kept]
    with pytest.raises(xp.BusyError, match="prefetch="):
        next(batches)
    del kept[0]
    assert next(batches).mel.shape == (4, 64, 80)
    loader.close()
    del loader, batches
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(kept, copies[1:]))


def test_no_slot_is_lost_to_exceptions(cache, monkeypatch):
    monkeypatch.setattr(xp._reader, "_WAIT_FOR_SLOT_S", 0)
    loader = xp.torch.Loader(cache, batch_size=4, prefetch=3)

    def step(batch):
        loss = (batch.mel * 2).sum()
        raise RuntimeError(f"not today: {loss}")

    for _ in range(30):
        with pytest.raises(RuntimeError):
            for batch in loader:
                step(batch)
        del batch


def test_a_batch_moves_and_turns_into_what_it_is(cache):
    batch = next(iter(xp.torch.Loader(cache, batch_size=4, fields=ALL)))
    there = batch.to("meta")
    assert type(there) is xp.torch.TensorBatch and there.mel.device.type == "meta" and there.ids == batch.ids
    again = pickle.loads(pickle.dumps(batch))
    assert torch.equal(again.mel, batch.mel)
    with pytest.raises(AttributeError, match="did you mean 'mel'"):
        batch.mell


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_cuda_batches_are_the_same(cache):
    reader = cache.reader(batch_size=8, seed=3)
    for batch, expected in zip(xp.torch.Loader(cache, batch_size=8, seed=3, device="cuda"), reader):
        assert batch.mel.is_cuda and same_bytes(batch.mel.cpu(), expected.mel) and same_bytes(batch.mel_len.cpu(), expected.mel_len)
    assert next(iter(xp.torch.Loader(cache, batch_size=8, pin_memory=True))).mel.is_pinned()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_without_cuda_it_says_so(cache):
    with pytest.raises(xp.UnsupportedError, match="finds no CUDA"):
        xp.torch.Loader(cache, device="cuda:0")
    assert not next(iter(xp.torch.Loader(cache, batch_size=8, pin_memory=True))).mel.is_pinned()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shufle": "none"}, "did you mean 'shuffle'"),
        ({"batch_size": 0}, "batch_size"),
        ({"fields": ("mell",)}, "did you mean 'mel'"),
        ({"fields": "mel"}, "list of names"),
        ({"rank": 1}, "go together"),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"in_place": "no"}, "True or False"),
    ],
)
def test_wrong_arguments_are_told_at_once(options, message, cache):
    with pytest.raises(xp.Error, match=message):
        xp.torch.Loader(cache, **options)


# ---- Loader: passes and states


def test_each_pass_is_an_epoch(cache):
    loader = xp.torch.Loader(cache, batch_size=8, seed=9, fields=("ids",))
    reader = cache.reader(batch_size=8, seed=9)
    for epoch in range(3):
        assert loader.epoch == epoch
        reader.set_epoch(epoch)
        assert ids_of(loader) == ids_of(reader)
    assert loader.epoch == 3
    for batch in loader:
        break
    assert loader.epoch == 3
    reader.set_epoch(4)
    assert ids_of(loader) == ids_of(reader)


def test_one_pass_at_a_time(cache):
    loader = xp.torch.Loader(cache, batch_size=8)
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(xp.InvalidArgumentError, match="make a second loader"):
        next(first)
    assert len(list(ids.mel_len for ids in second)) == 4


@pytest.mark.parametrize("device", ["cpu", "meta"])  # the second makes batches ahead
def test_a_state_goes_on_behind_the_last_batch(device, cache):
    options = {"batch_size": 4, "seed": 1, "fields": ("mel", "ids"), "device": device}
    whole = xp.torch.Loader(cache, **options)
    expected = [[batch.ids for batch in whole] for _ in range(3)]
    per_epoch = len(whole)
    for done in range(2 * per_epoch + 1):
        loader = xp.torch.Loader(cache, **options)
        count = 0
        while count < done:
            for _ in loader:
                count += 1
                if count == done:
                    break
        state = loader.state_dict()
        other = xp.torch.Loader(cache, **options)
        other.load_state_dict(state)
        epoch, place = divmod(done, per_epoch)
        assert other.epoch == epoch
        if done % 2:
            other.set_epoch(epoch)  # as trainers do before each epoch
        assert [batch.ids for batch in other] == expected[epoch][place:]
        if epoch < 2:
            assert [batch.ids for batch in other] == expected[epoch + 1]


def test_a_state_is_for_other_ranks_too(cache):
    one = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = ids_of(one)
    one.set_epoch(0)
    for _, batch in zip(range(2), one):
        pass
    found = []
    loaders = [xp.torch.Loader(cache, batch_size=2, seed=1, fields=("ids",), rank=rank, world_size=2) for rank in range(2)]
    for loader in loaders:
        loader.load_state_dict(one.state_dict())
    for batches in zip(*loaders):
        found += ids_of(batches)
    assert found == expected[8:]


def test_a_pickled_loader_goes_on(cache):
    loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = [batch.ids for batch in loader]
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches)
    assert [batch.ids for batch in pickle.loads(pickle.dumps(loader))] == expected[1:]
    assert [batch.ids for batch in batches] == expected[1:]


def test_a_forked_child_opens_its_own(cache):
    loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = ids_of(loader)
    loader.set_epoch(0)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, pickle.dumps(ids_of(loader)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pickle.loads(pipe.read()) == expected
    assert os.waitpid(child, 0)[1] == 0


def test_memory_stays_flat(path):
    said = run_python(
        """
import gc, os, sys
import torch, xtts_precompute as xp

def resident_kib():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

loader = xp.torch.Loader(sys.argv[1], batch_size=4)
layer = torch.nn.Linear(80, 8)
dataset = xp.torch.ClipDataset(loader.cache)

def epochs(count):
    for number in range(count):
        for batch in loader:
            layer(batch.mel).mean().backward()
            loader.state_dict()
        for batch in torch.utils.data.DataLoader(dataset, batch_size=16, collate_fn=dataset.collate):
            layer(batch.mel).mean().backward()

epochs(50)
before = resident_kib()
epochs(100)
print(resident_kib() - before)
""",
        path,
        timeout_s=300,
    )
    assert int(said) < 4096, f"{said} KiB more"


# ---- data sets for DataLoader


def data_loader(dataset, workers, start, **options):
    return torch.utils.data.DataLoader(dataset, num_workers=workers, multiprocessing_context=start if workers else None, **options)


@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # more workers than cores, on purpose
@pytest.mark.parametrize(
    ("workers", "start", "drop_last"),
    [(0, None, True), (0, None, False), (1, "fork", True), (2, "fork", False), (3, "fork", True), (3, "fork", False), (2, "spawn", True)],
)
def test_whole_batches_are_the_same_for_any_workers(workers, start, drop_last, cache):
    options = {"batch_size": 4, "seed": 3, "fields": ALL, "drop_last": drop_last, "world_size": 2}
    for rank in range(2):
        dataset = xp.torch.BatchDataset(cache, rank=rank, **options)
        loader = data_loader(dataset, workers, start, batch_size=None)
        assert len(loader) == (4 if drop_last else 5)
        for epoch in (0, 5):
            dataset.set_epoch(epoch)
            plain = xp.torch.Loader(cache, rank=rank, **options)
            plain.set_epoch(epoch)
            found, expected = list(loader), [{name: value if name == "ids" else value.clone() for name, value in batch.items()} for batch in plain]
            assert len(found) == len(expected) == len(loader)
            for batch, other in zip(found, expected):
                assert tuple(batch) == ALL and batch["ids"] == other["ids"]
                assert all(torch.equal(batch[name], other[name]) for name in ALL[:-1])


def test_workers_that_persist_see_the_epoch(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    loader = data_loader(dataset, 2, "spawn", batch_size=None, persistent_workers=True)
    found = []
    for epoch in (0, 1, 0):
        dataset.set_epoch(epoch)
        found.append([clip for batch in loader for clip in batch["ids"]])
    assert found[0] == found[2] != found[1] and len(set(found[1])) == 36


def test_a_data_set_has_a_state(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    dataset.set_epoch(2)
    expected = [batch.ids for batch in dataset]
    for _, batch in zip(range(3), dataset):
        pass
    state = dataset.state_dict()
    other = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    other.load_state_dict(state)
    assert other.epoch == 2
    other.set_epoch(2)
    assert [batch.ids for batch in other] == expected[3:] and [batch.ids for batch in other] == expected


def test_workers_and_buckets_do_not_go_together(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, buckets=[{"mel": 32}, {}])
    assert len(list(data_loader(dataset, 1, "fork", batch_size=None))) > 3
    with pytest.raises(xp.InvalidArgumentError, match="at most one worker"):  # as it comes out of the worker
        list(data_loader(dataset, 2, "fork", batch_size=None))


@pytest.mark.parametrize(("form", "workers", "start"), [*((form, 0, None) for form in FORMS), (FORMS[0], 2, "fork"), (FORMS[2], 2, "spawn")])
def test_clips_are_those_of_the_reader(form, workers, start, caches):
    cache = xp.open(caches(form))
    dataset = xp.torch.ClipDataset(cache, fields=ALL)
    assert len(dataset) == len(cache)
    reader = cache.reader(batch_size=8, shuffle="none", drop_last=False)
    by_dataset = data_loader(dataset, workers, start, batch_size=8, collate_fn=dataset.collate)
    by_default = data_loader(dataset, workers, start, batch_size=8)
    for own, plain, expected in zip(by_dataset, by_default, reader):
        rows = expected.valid_count
        assert own["ids"] == plain["ids"] == expected.ids
        for name, array in (("mel", expected.mel), ("tokens", expected.tokens), ("mel_len", expected.mel_len), ("speaker", expected.speaker)):
            assert same_bytes(own[name], array[:rows]) and own[name].dtype == plain[name].dtype and torch.equal(own[name], plain[name])


def test_clips_are_chosen_as_by_a_reader(cache):
    split = xp.torch.ClipDataset(cache, split="train", fields=("ids",))
    expected = ids_of(cache.reader(batch_size=5, split="train", shuffle="none", drop_last=False))
    assert [split[index].ids for index in range(len(split))] == expected and split[-1].ids == expected[-1]
    chosen = xp.torch.ClipDataset(cache, where='speaker == "ada"', columns={"mel": {"dtype": "float16", "pad_value": 7.0}})
    assert 5 < len(chosen) < len(cache) and tuple(chosen[0]) == ("mel", "mel_len", "speaker", "language")
    sample = chosen[0]
    assert sample.mel.dtype == torch.float16 and float(sample.mel[-1, -1]) == 7.0 and int(sample.speaker) == cache.speakers.index("ada")
    assert float(xp.torch.ClipDataset(cache)[0].mel[-1, -1]) == PADDING
    with pytest.raises(IndexError, match="there is no clip 999"):
        chosen[999]
    with pytest.raises(xp.UnsupportedError, match="normalize them in the model"):
        xp.torch.ClipDataset(cache, columns={"mel": {"normalize": "corpus"}})


def test_normalized_batches_are_those_of_the_reader(cache):
    columns = {"mel": {"normalize": "corpus"}}
    expected = [np.array(batch.mel) for batch in cache.reader(batch_size=8, columns=columns)]
    dataset = xp.torch.BatchDataset(cache, batch_size=8, columns=columns, fields=("mel",))
    assert all(same_bytes(batch.mel, array) for batch, array in zip(xp.torch.Loader(cache, batch_size=8, columns=columns), expected))
    assert all(same_bytes(batch["mel"], array) for batch, array in zip(data_loader(dataset, 2, "fork", batch_size=None), expected))


# ---- ranks


RANKS = """
import sys
import torch, xtts_precompute as xp
from torch.nn.parallel import DistributedDataParallel

def work(rank, world_size, path, folder):
    loader = xp.torch.Loader(path, batch_size=4, seed=1, fields=("mel", "ids"))      # before the group, on purpose
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world_size, init_method=f"file://{folder}/meet")
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(80, 1))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    found = []
    for _ in range(2):
        for batch in loader:
            optimizer.zero_grad()
            model(batch.mel).mean().backward()
            optimizer.step()
            found.append(batch.ids)
    dataset = xp.torch.BatchDataset(path, batch_size=4, seed=1, fields=("ids",))
    for start in ("fork", "spawn"):
        workers = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=start)
        assert [batch["ids"] for batch in workers] == found[:len(loader)], start
    torch.save((found, [one.detach().clone() for one in model.parameters()]), f"{folder}/{rank}")
    torch.distributed.destroy_process_group()

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, (2, sys.argv[1], sys.argv[2]), nprocs=2)
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_ranks_are_those_of_torch_distributed(cache, path, tmp_path):
    program = tmp_path / "ranks.py"
    program.write_text(RANKS)
    done = subprocess.run([sys.executable, program, path, tmp_path], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (first, weights), (second, other_weights) = (torch.load(tmp_path / str(rank)) for rank in range(2))
    assert all(torch.equal(one, other) for one, other in zip(weights, other_weights))
    expected = []
    for rank in range(2):
        loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",), rank=rank, world_size=2)
        expected.append([batch.ids for _ in range(2) for batch in loader])
    assert [first, second] == expected
    seen = [clip for batch in first[:4] + second[:4] for clip in batch]
    assert len(seen) == len(set(seen)) == 32


def test_a_launcher_without_a_group_is_an_error(cache, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(xp.InvalidArgumentError, match="init_process_group"):
        len(xp.torch.Loader(cache))
    assert len(xp.torch.Loader(cache, rank=1, world_size=2, batch_size=4)) == 4


# ---- what trainers expect


def test_lightning_trains_and_goes_on(cache, tmp_path):
    lightning = pytest.importorskip("lightning", reason="Lightning is not installed here")

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(80, 1)
            self.seen = []

        def training_step(self, batch, _):
            assert type(batch) is xp.torch.TensorBatch
            self.seen.append(batch.ids)
            return self.layer(batch.mel).mean()

        def validation_step(self, batch, _):
            self.checked = getattr(self, "checked", 0) + 1

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1e-4)

    def fit(model, loader, steps, checkpoint=None):
        trainer = lightning.Trainer(
            max_steps=steps, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
            enable_checkpointing=False, num_sanity_val_steps=2,
        )
        trainer.fit(model, loader, xp.torch.Loader(cache, batch_size=8, shuffle="none"), ckpt_path=checkpoint)
        return trainer

    def make():
        return xp.torch.Loader(cache, batch_size=4, seed=1, fields=("mel", "ids"))

    plain = make()
    expected = [batch.ids for _ in range(3) for batch in plain]
    whole = Model()
    fit(whole, make(), 3 * len(plain))
    assert whole.seen == expected and whole.checked == 2 + 3 * 4  # also behind the sanity check, validation is whole
    half = Model()
    fit(half, make(), 13).save_checkpoint(tmp_path / "half.ckpt")
    assert half.seen == expected[:13]
    rest = Model()
    fit(rest, make(), 27, tmp_path / "half.ckpt")
    assert rest.seen == expected[13:]


def test_accelerate_takes_clips_and_leaves_loaders_alone(cache):
    accelerate = pytest.importorskip("accelerate", reason="Accelerate is not installed here")
    accelerator = accelerate.Accelerator(cpu=True)
    dataset = xp.torch.ClipDataset(cache, fields=("mel", "mel_len"))
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, collate_fn=dataset.collate)
    model = torch.nn.Linear(80, 1)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 1e-4), loader)
    expected = cache.reader(batch_size=8, shuffle="none", drop_last=False)
    for batch, other in zip(loader, expected):
        accelerator.backward(model(batch.mel).mean())
        optimizer.step()
        assert same_bytes(batch.mel, other.mel[: other.valid_count])
    own = xp.torch.Loader(cache, batch_size=8, device=accelerator.device)
    assert accelerator.prepare(own) is own


def test_torchdata_resumes_workers(cache):
    torchdata = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed here")

    def make():
        dataset = xp.torch.BatchDataset(cache, batch_size=4, seed=1, fields=("ids",))
        return torchdata.StatefulDataLoader(dataset, batch_size=None, num_workers=2)

    expected = [batch["ids"] for batch in make()]
    for done in (1, 4, 7):
        loader = make()
        for _, batch in zip(range(done), loader):
            pass
        state = loader.state_dict()
        other = make()
        other.load_state_dict(state)
        assert [batch["ids"] for batch in other] == expected[done:]
