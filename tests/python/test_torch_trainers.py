"""What PyTorch's trainers expect: ranks, Lightning, Accelerate, torchdata."""

import subprocess
import sys

import pytest
import xtts_precompute as xp

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here; tests/python/run.sh has an environment with it"
)

from torch_support import same_bytes  # noqa: E402


@pytest.fixture(autouse=True)
def no_patience():
    """Readers wait for slots as usual: PyTorch lets go of batches, not the test."""


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
    done = subprocess.run(
        [sys.executable, program, path, tmp_path], capture_output=True, text=True, timeout=300, check=False
    )
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
    return pytest.importorskip(
        "pytorch_lightning",
        reason="Lightning is not installed here; tests/python/frameworks.sh makes an environment with it",
    )


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
    accelerate = pytest.importorskip(
        "accelerate", reason="Accelerate is not installed here; tests/python/frameworks.sh makes an environment with it"
    )
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
        for _ in zip(range(done), loader):
            pass
        state = loader.state_dict()
        other = make()
        other.load_state_dict(state)
        assert [batch["ids"] for batch in other] == expected[done:]
