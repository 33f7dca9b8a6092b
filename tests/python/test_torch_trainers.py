"""What PyTorch's trainers expect: ranks, Lightning, Accelerate, torchdata."""

import inspect
import sys

import pytest
import xtts_precompute as xp
from support import framework, ran

torch = framework("torch")

from torch_support import same_bytes  # noqa: E402

WAITS_FOR_SLOTS = True  # PyTorch lets go of batches, not the test


# ---- ranks


RANKS = """
import sys
import torch, xtts_precompute as xp
from torch.nn.parallel import DistributedDataParallel

def work(rank, world_size, path, folder, sent):
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
    own = xp.torch.BatchDataset(path, batch_size=4, seed=1, fields=("ids",))
    for dataset in (own, sent):                # the ranks share the memory of the one that was sent to them
        for start, expected in (("fork", found[:len(loader)]), ("spawn", found[len(loader):])):
            options = {"batch_size": None, "num_workers": 2, "multiprocessing_context": start}
            seen = [batch["ids"] for batch in torch.utils.data.DataLoader(dataset, **options)]
            assert seen == expected, start
    torch.save((found, [one.detach().clone() for one in model.parameters()]), f"{folder}/{rank}")
    torch.distributed.destroy_process_group()

if __name__ == "__main__":
    sent = xp.torch.BatchDataset(sys.argv[1], batch_size=4, seed=1, fields=("ids",))
    torch.multiprocessing.spawn(work, (2, sys.argv[1], sys.argv[2], sent), nprocs=2)
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_ranks_are_those_of_torch_distributed(cache, path, tmp_path):
    program = tmp_path / "ranks.py"
    program.write_text(RANKS)
    done = ran(sys.executable, program, path, tmp_path, timeout=300)
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


@pytest.mark.parametrize("asked", ["length", "pass", "state"])
def test_who_was_asked_before_the_group_reads_by_rank_all_the_same(cache, monkeypatch, asked):
    options = {"batch_size": 4, "seed": 1, "fields": ("ids",)}
    loader, expected = xp.torch.Loader(cache, **options), xp.torch.Loader(cache, rank=1, world_size=2, **options)
    assert len(loader) == 9
    if asked == "pass":  # one process reads all of it
        assert sum(1 for _ in loader) == 9
        expected.set_epoch(1)
    elif asked == "state":
        begun = xp.torch.Loader(cache, rank=0, world_size=1, **options)
        next(iter(begun))
        for one in (loader, expected):
            one.load_state_dict(begun.state_dict())
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    assert len(loader) == len(expected) == 4 and loader.epoch == expected.epoch
    for _ in range(2):
        assert [batch.ids for batch in loader] == [batch.ids for batch in expected]


def test_a_launcher_without_a_group_is_an_error(cache, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(xp.InvalidArgumentError, match="init_process_group"):
        len(xp.torch.Loader(cache))
    assert len(xp.torch.Loader(cache, rank=1, world_size=2, batch_size=4)) == 4


# ---- what trainers expect


@pytest.fixture
def lightning(monkeypatch):
    if torch.__version__.startswith("1.") and sys.version_info >= (3, 11):
        # Lightning imports all of torch.distributed where it is available. Python 3.11 refuses
        # parts of that of Debian's PyTorch 1.13.
        monkeypatch.setattr(torch.distributed, "is_available", lambda: False)
    return framework("pytorch_lightning")


def lightning_run(lightning, cache, folder, steps, checkpoint=None):
    """Trains with Lightning.

    Returns the ids that the model was trained on, the number of validation batches, and the
    trainer.
    """

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(80, 1)
            self.seen = []
            self.checked = 0

        def training_step(self, batch, _):
            assert type(batch) is xp.torch.TensorBatch
            self.seen.append(batch.ids)
            return self.layer(batch.mel).mean()

        def validation_step(self, batch, _):
            self.checked += 1

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1e-4)

    model = Model()
    trainer = lightning.Trainer(
        max_steps=steps, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder,
        enable_checkpointing=False, num_sanity_val_steps=2,
    )  # fmt: skip
    trainer.fit(
        model, lightning_loader(cache), xp.torch.Loader(cache, batch_size=8, shuffle="none"), ckpt_path=checkpoint
    )
    return model.seen, model.checked, trainer


def lightning_loader(cache):
    return xp.torch.Loader(cache, batch_size=4, seed=1, fields=("mel", "ids"))


def test_lightning_trains_epoch_after_epoch(lightning, cache, tmp_path):
    plain = lightning_loader(cache)
    seen, checked, _ = lightning_run(lightning, cache, tmp_path, 3 * len(plain))
    assert seen == [batch.ids for _ in range(3) for batch in plain]
    assert checked == 2 + 3 * 4  # validation is whole, also after the sanity check


@pytest.mark.parametrize("workers", [0, 2])
def test_lightning_with_a_data_loader_has_other_epochs_and_is_told_of_resuming(
    lightning, cache, tmp_path, workers, recwarn, monkeypatch
):
    def data_loader(cache):
        dataset = xp.torch.BatchDataset(cache, batch_size=4, seed=1, fields=("mel", "ids"))
        return torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)

    plain = lightning_loader(cache)
    expected = [[batch.ids for batch in plain] for _ in range(3)]
    monkeypatch.setitem(globals(), "lightning_loader", data_loader)
    seen, _, _ = lightning_run(lightning, cache, tmp_path, 27)
    assert [seen[first : first + 9] for first in (0, 9, 18)] == expected
    if not workers:  # a worker's warning goes to its stderr
        told = [str(one.message) for one in recwarn if "does not tell this BatchDataset" in str(one.message)]
        assert len(told) == 1 and told[0].startswith("Lightning ")


def test_lightnings_checkpoints_go_on_within_an_epoch(lightning, cache, tmp_path):
    if tuple(map(int, lightning.__version__.split(".")[:2])) < (2, 2):
        pytest.skip(f"Lightning {lightning.__version__} keeps no state of loaders; those from 2.2 on do")
    plain = lightning_loader(cache)
    expected = [batch.ids for _ in range(3) for batch in plain]
    seen, _, trainer = lightning_run(lightning, cache, tmp_path, 13)
    assert seen == expected[:13]
    trainer.save_checkpoint(tmp_path / "half.ckpt")
    assert lightning_run(lightning, cache, tmp_path, 27, tmp_path / "half.ckpt")[0] == expected[13:]


def test_accelerate_takes_clips_and_leaves_loaders_alone(cache):
    accelerate = framework("accelerate")
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


def needs_accelerate(version):
    """Skips where Accelerate is older: its set_epoch() fails for a DataLoader without a batch size."""
    accelerate = framework("accelerate")
    if int(accelerate.__version__.split(".")[0]) < version:
        pytest.skip(f"Accelerate {accelerate.__version__} cannot prepare a DataLoader without a batch size")


SHARES = """
import os, sys
import accelerate, torch, xtts_precompute as xp

def work(rank, path, folder):
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2, init_method=f"file://{folder}/meet")
    # As a launcher sets them.
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="1")
    accelerator = accelerate.Accelerator(cpu=True)
    assert accelerator.num_processes == 2
    fields = ("mel", "tokens")
    def prepared(**share):
        dataset = xp.torch.BatchDataset(path, batch_size=4, seed=1, fields=fields, **share)
        return accelerator.prepare(torch.utils.data.DataLoader(dataset, batch_size=None))
    try:
        next(iter(prepared()))
        raise AssertionError("both share")
    except xp.InvalidArgumentError as error:
        assert "rank=0, world_size=1" in str(error)
    seen = [[row.numpy().tobytes() for row in batch["tokens"]] for batch in prepared(rank=0, world_size=1)]
    torch.save(seen, f"{folder}/{rank}")
    torch.distributed.destroy_process_group()

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, (sys.argv[1], sys.argv[2]), nprocs=2)
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_accelerate_does_not_share_what_the_data_set_shares(cache, path, tmp_path):
    needs_accelerate(1)
    program = tmp_path / "shares.py"
    program.write_text(SHARES)
    done = ran(sys.executable, program, path, tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = [clip for rank in range(2) for batch in torch.load(tmp_path / str(rank)) for clip in batch]
    assert len(set(seen)) == 36


# ---- Trainer of transformers


@pytest.fixture
def transformers():
    return framework("transformers")


def texts_of(tokens):
    return [row.numpy().tobytes() for row in tokens]


class Heard(torch.nn.Module):
    """A model for Trainer that notes what it is trained on."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(80, 1)
        self.seen = []

    def forward(self, mel, tokens):
        if self.training:
            self.seen.append(texts_of(tokens))
        return {"loss": self.layer(mel).mean() ** 2}


OPTIONS = {"batch_size": 4, "seed": 1, "fields": ("mel", "tokens")}


def trainer_run(transformers, cache, folder, kind, workers, resumes=False, **arguments):
    """Trains with Trainer: 2 epochs of 9 steps. Returns what the model was trained on, and the Trainer."""

    class Trainer(transformers.Trainer):
        def get_train_dataloader(self):
            if kind == "Loader":
                return xp.torch.Loader(cache, **OPTIONS)
            if kind == "its own":
                return super().get_train_dataloader()
            dataset = xp.torch.BatchDataset(cache, **OPTIONS)
            loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
            return self.accelerator.prepare(loader) if kind == "prepared" else loader

        def get_eval_dataloader(self, eval_dataset=None):
            return xp.torch.Loader(cache, batch_size=4, shuffle="none", drop_last=False, fields=("mel", "tokens"))

    known = inspect.signature(transformers.TrainingArguments).parameters
    given = {"use_cpu": True, "save_safetensors": False, "save_steps": 13, "max_steps": 18, "report_to": []}
    given |= {"output_dir": str(folder), "per_device_train_batch_size": 4, "disable_tqdm": True}
    given = transformers.TrainingArguments(**{name: value for name, value in given.items() if name in known})
    model = Heard()
    trainer = Trainer(model=model, args=given, **arguments)
    trainer.train(resume_from_checkpoint=str(folder / "checkpoint-13") if resumes else None)
    return model.seen, trainer


@pytest.mark.parametrize(("kind", "workers"), [("Loader", 0), ("prepared", 0), ("prepared", 2)])
def test_trainer_goes_on_where_it_was(transformers, cache, tmp_path, kind, workers):
    if kind == "prepared":
        needs_accelerate(1)
    plain = xp.torch.Loader(cache, **OPTIONS)
    expected = [texts_of(batch.tokens) for _ in range(2) for batch in plain]
    seen, trainer = trainer_run(transformers, cache, tmp_path, kind, workers)
    assert seen == expected
    assert trainer_run(transformers, cache, tmp_path, kind, workers, resumes=True)[0] == expected[13:]
    assert trainer.evaluate()["eval_runtime"] > 0


@pytest.mark.parametrize("workers", [0, 2])
def test_trainer_with_a_loader_of_its_own_is_told_what_to_write(transformers, cache, tmp_path, workers, recwarn):
    seen, _ = trainer_run(transformers, cache, tmp_path, "plain", workers)
    assert len(seen) == 18 and seen[9:] != seen[:9]  # the second epoch is another one
    if not workers:  # a worker's warning goes to its stderr
        told = [str(one.message) for one in recwarn if "does not tell this BatchDataset" in str(one.message)]
        assert len(told) == 1 and "self.accelerator.prepare(DataLoader(...))" in told[0]
    # Trainer 4 begins each epoch that it leaves out, and so comes to the right one.
    try:
        resumed, _ = trainer_run(transformers, cache, tmp_path, "plain", workers, resumes=True)
    except xp.InvalidArgumentError as error:
        assert "skip_first_batches() does not say in which epoch" in str(error)
    else:
        assert resumed == seen[13:]


def test_trainer_takes_clips_by_position_and_no_batches(transformers, cache, tmp_path):
    dataset = xp.torch.ClipDataset(cache, fields=("mel", "tokens"))
    arguments = {"train_dataset": dataset, "data_collator": dataset.collate}
    seen, _ = trainer_run(transformers, cache, tmp_path, "its own", 0, **arguments)
    assert len(seen) == 18 and len({clip for batch in seen for clip in batch}) == len(cache)
    if not transformers.__version__.startswith("4."):  # whose sampler has another order after that
        assert trainer_run(transformers, cache, tmp_path, "its own", 0, resumes=True, **arguments)[0] == seen[13:]
    with pytest.raises(xp.InvalidArgumentError, match="give it an xp.torch.ClipDataset"):
        trainer_run(transformers, cache, tmp_path, "its own", 0, train_dataset=xp.torch.BatchDataset(cache, **OPTIONS))


def test_skipping_needs_the_epoch(cache):
    accelerate = framework("accelerate")
    plain = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = [[batch.ids for batch in plain] for _ in range(3)]
    loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    with pytest.raises(xp.InvalidArgumentError, match="call loader.set_epoch"):
        next(iter(accelerate.skip_first_batches(loader, 3)))
    loader.set_epoch(1)
    skipped = accelerate.skip_first_batches(loader, 3)
    assert len(skipped) == 6 and [batch["ids"] for batch in skipped] == expected[1][3:]
    assert [batch.ids for batch in loader] == expected[2]
    buckets = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",), buckets=[{"mel": 32}, {}])
    whole = [batch.ids for batch in buckets]
    buckets.set_epoch(0)
    assert [batch["ids"] for batch in accelerate.skip_first_batches(buckets, 2)] == whole[2:]


def test_torchdata_resumes_workers(cache):
    torchdata = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed here")

    def make():
        dataset = xp.torch.BatchDataset(cache, batch_size=4, seed=1, fields=("ids",))
        return torchdata.StatefulDataLoader(dataset, batch_size=None, num_workers=2)

    expected = [batch["ids"] for batch in make()]
    for done in (1, 4, 7):
        loader = make()
        for _ in zip(range(done), loader):
            pass
        state = loader.state_dict()
        other = make()
        other.load_state_dict(state)
        assert [batch["ids"] for batch in other] == expected[done:]
