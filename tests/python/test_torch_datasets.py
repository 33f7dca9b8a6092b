"""Data sets for PyTorch's DataLoader: the same batches and clips for any number of workers."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from runtime_support import runtime
from support import ALL_FIELDS, PADDING, SOME_FORMS, build, framework, make_corpus

torch = framework("torch")

from torch_support import ids_of, same_bytes  # noqa: E402

WAITS_FOR_SLOTS = True  # PyTorch lets go of batches, not the test


def data_loader(dataset, workers, start, **options):
    return torch.utils.data.DataLoader(
        dataset, num_workers=workers, multiprocessing_context=start if workers else None, **options
    )


@pytest.mark.filterwarnings(
    "ignore:This DataLoader will create:UserWarning"
)  # there are more workers than cores, on purpose
@pytest.mark.parametrize(
    ("workers", "start", "drop_last"),
    [
        (0, None, True),
        (0, None, False),
        (1, "fork", True),
        (2, "fork", False),
        (3, "fork", True),
        (3, "fork", False),
        (2, "spawn", True),
    ],
)
def test_whole_batches_are_the_same_for_any_workers(workers, start, drop_last, cache):
    options = {"batch_size": 4, "seed": 3, "fields": ALL_FIELDS, "drop_last": drop_last, "world_size": 2}
    for rank in range(2):
        dataset = xp.torch.BatchDataset(cache, rank=rank, **options)
        loader = data_loader(dataset, workers, start, batch_size=None)
        assert len(loader) == (4 if drop_last else 5)
        for epoch in (0, 5):
            dataset.set_epoch(epoch)
            plain = xp.torch.Loader(cache, rank=rank, **options)
            plain.set_epoch(epoch)
            found, expected = (
                list(loader),
                [{name: value if name == "ids" else value.clone() for name, value in batch.items()} for batch in plain],
            )
            assert len(found) == len(expected) == len(loader)
            for batch, other in zip(found, expected):
                assert tuple(batch) == ALL_FIELDS and batch["ids"] == other["ids"]
                assert all(torch.equal(batch[name], other[name]) for name in ALL_FIELDS[:-1])


def test_workers_that_persist_see_the_epoch(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    loader = data_loader(dataset, 2, "spawn", batch_size=None, persistent_workers=True)
    found = []
    for epoch in (0, 1, 0):
        dataset.set_epoch(epoch)
        found.append([clip for batch in loader for clip in batch["ids"]])
    assert found[0] == found[2] != found[1] and len(set(found[1])) == 36


def epochs_of(cache, count, **options):
    """Returns the ids of epochs, batch by batch, as Loader gives them."""
    loader = xp.torch.Loader(cache, batch_size=4, fields=("ids",), **options)
    return [[batch.ids for batch in loader] for _ in range(count)]


def ids_by_batch(loader, count=None):
    return [batch["ids"] for batch in itertools.islice(iter(loader), count)]


@pytest.mark.filterwarnings("error:this worker has")
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
@pytest.mark.parametrize(
    ("workers", "start", "persistent"),
    [
        (0, None, False),
        (1, "fork", False),
        (3, "fork", False),
        (2, "fork", True),
    ],
)
def test_passes_that_nobody_placed_are_of_one_epoch_after_another(workers, start, persistent, cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    loader = data_loader(dataset, workers, start, batch_size=None, persistent_workers=persistent)
    expected = epochs_of(cache, 6)
    assert ids_by_batch(loader) == expected[0]
    assert ids_by_batch(loader, 2) == expected[1][:2]  # left early, perhaps before all workers have begun
    assert ids_by_batch(loader) == expected[2]
    dataset.set_epoch(1)
    assert [ids_by_batch(loader), ids_by_batch(loader)] == expected[1:3]
    dataset.set_epoch(3)
    dataset.set_epoch(4)
    assert ids_by_batch(loader) == expected[4] and dataset.epoch == (4 if workers else 5)
    # A loader of other workers goes on, too.
    assert ids_by_batch(data_loader(dataset, 1, "fork", batch_size=None)) == expected[5]


@pytest.mark.parametrize("again", ["seed", "generator", "loader"])
def test_passes_whose_workers_have_the_same_seed_are_different(again, cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    loader = data_loader(dataset, 2, "fork", batch_size=None)
    for expected in epochs_of(cache, 4):
        if again == "seed":
            torch.manual_seed(1)
        else:
            loader.generator = torch.Generator().manual_seed(5)
        if again == "loader":
            loader = data_loader(dataset, 2, "fork", batch_size=None, generator=torch.Generator().manual_seed(5))
        assert ids_by_batch(loader) == expected


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_loaded_state_counts_for_one_pass_of_the_workers(start, cache):
    expected = epochs_of(cache, 4)
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    dataset.load_state_dict({**dataset.state_dict(), "epoch": 2, "samples_consumed": 12})
    dataset.set_epoch(2)
    loader = data_loader(dataset, 2, start, batch_size=None)
    assert ids_by_batch(loader) == expected[2][3:] and ids_by_batch(loader) == expected[3]
    dataset.set_epoch(2)
    assert ids_by_batch(loader) == expected[2]


class Copied(torch.utils.data.IterableDataset):
    """A data set that reaches workers as bytes, as some schedulers send it; gives warnings."""

    def __init__(self, dataset):
        self.sent = pickle.dumps(dataset)

    def __iter__(self):
        dataset = pickle.loads(self.sent)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(2):
                sum(1 for _ in dataset)
        yield from (str(one.message) for one in told)


def test_a_worker_that_cannot_know_the_epoch_says_so_once(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4)
    told = list(data_loader(Copied(dataset), 2, "fork", batch_size=None))
    assert len(told) == 1 and "call dataset.set_epoch(epoch) before each one" in told[0]
    assert not list(data_loader(Copied(dataset), 0, None, batch_size=None))
    for shuffle in ("none", None):
        ordered = xp.torch.BatchDataset(cache, batch_size=4, shuffle=shuffle)
        assert not list(data_loader(Copied(ordered), 2, "fork", batch_size=None))


def test_passes_in_order_never_warn(cache, recwarn):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",), shuffle="none")
    loader = data_loader(dataset, 2, "fork", batch_size=None)
    assert ids_by_batch(loader) == ids_by_batch(loader) == ids_by_batch(dataset) and not recwarn.list


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_of_batches_are_refused(workers, cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4)
    with pytest.raises(xp.InvalidArgumentError, match=r"DataLoader\(dataset, batch_size=None\)"):
        next(iter(data_loader(dataset, workers, "fork", batch_size=2)))


def test_a_data_set_has_a_state(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    dataset.set_epoch(2)
    expected = [batch.ids for batch in dataset]
    dataset.set_epoch(2)
    for _ in zip(range(3), dataset):
        pass
    state = dataset.state_dict()
    other = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    other.load_state_dict(state)
    assert other.epoch == 2
    other.set_epoch(2)
    assert [batch.ids for batch in other] == expected[3:] and other.epoch == 3
    other.set_epoch(2)
    assert [batch.ids for batch in other] == expected


@pytest.mark.parametrize("drop_last", [True, False])
def test_the_state_behind_the_last_batch_is_the_next_epochs(cache, drop_last):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",), drop_last=drop_last)
    passing = iter(dataset)
    for _ in range(len(dataset)):  # a trainer that counts batches does not ask for one after the last
        next(passing)
    other = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",), drop_last=drop_last)
    other.load_state_dict(dataset.state_dict())
    assert other.epoch == 1 and sum(1 for _ in other) == len(dataset)


def test_the_state_is_of_the_epoch_that_was_set(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, fields=("ids",))
    for _, batch in zip(range(3), dataset):
        del batch
    assert (dataset.state_dict()["epoch"], dataset.state_dict()["samples_consumed"]) == (0, 12)
    dataset.set_epoch(0)
    assert dataset.state_dict()["samples_consumed"] == 12
    dataset.set_epoch(5)
    assert (dataset.state_dict()["epoch"], dataset.state_dict()["samples_consumed"]) == (5, 0)
    dataset.load_state_dict({**dataset.state_dict(), "samples_consumed": 8})
    dataset.set_epoch(6)
    assert (dataset.state_dict()["epoch"], dataset.state_dict()["samples_consumed"]) == (6, 0)


def test_workers_and_buckets_do_not_go_together(cache):
    dataset = xp.torch.BatchDataset(cache, batch_size=4, buckets=[{"mel": 32}, {}])
    assert len(list(data_loader(dataset, 1, "fork", batch_size=None))) > 3
    with pytest.raises(xp.InvalidArgumentError, match="at most one worker"):  # PyTorch raises the worker's error again
        list(data_loader(dataset, 2, "fork", batch_size=None))


@pytest.mark.parametrize(
    ("form", "workers", "start"),
    [*((form, 0, None) for form in SOME_FORMS), (SOME_FORMS[0], 2, "fork"), (SOME_FORMS[2], 2, "spawn")],
)
def test_clips_are_those_of_the_reader(form, workers, start, caches):
    cache = xp.open(caches(form))
    dataset = xp.torch.ClipDataset(cache, fields=ALL_FIELDS)
    assert len(dataset) == len(cache)
    reader = cache.reader(batch_size=8, shuffle="none", drop_last=False)
    by_dataset = data_loader(dataset, workers, start, batch_size=8, collate_fn=dataset.collate)
    by_default = data_loader(dataset, workers, start, batch_size=8)
    for own, plain, expected in zip(by_dataset, by_default, reader):
        rows = expected.valid_count
        assert own["ids"] == plain["ids"] == expected.ids
        for name, array in (
            ("mel", expected.mel),
            ("tokens", expected.tokens),
            ("mel_len", expected.mel_len),
            ("speaker", expected.speaker),
        ):
            assert (
                same_bytes(own[name], array[:rows])
                and own[name].dtype == plain[name].dtype
                and torch.equal(own[name], plain[name])
            )


@pytest.mark.parametrize("form", SOME_FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("wish", [{}, {"pad_value": 1 / 3}])
def test_clips_are_converted_as_by_a_reader(form, dtype, wish, caches):
    cache = xp.open(caches(form))
    columns = {"mel": {"dtype": dtype, **wish}}
    dataset = xp.torch.ClipDataset(cache, columns=columns, fields=("mel",))
    for batch, clip in zip(cache.reader(batch_size=1, shuffle="none", columns=columns), dataset):
        assert same_bytes(clip["mel"], np.asarray(batch.mel[0]))


def test_clips_are_refused_what_a_reader_refuses(cache):
    for wish, why in (({"mel": {"dtype": "float16", "pad_value": 1e9}}, "cannot hold the pad_value"),
                      ({"tokens": "float32"}, "does not convert")):  # fmt: skip
        with pytest.raises(xp.InvalidArgumentError, match=why):
            xp.torch.ClipDataset(cache, columns=wish)


def test_clips_are_chosen_as_by_a_reader(cache):
    split = xp.torch.ClipDataset(cache, split="train", fields=("ids",))
    expected = ids_of(cache.reader(batch_size=5, split="train", shuffle="none", drop_last=False))
    assert [split[index].ids for index in range(len(split))] == expected and split[-1].ids == expected[-1]
    chosen = xp.torch.ClipDataset(
        cache, where='speaker == "ada"', columns={"mel": {"dtype": "float16", "pad_value": 7.0}}
    )
    assert 5 < len(chosen) < len(cache) and tuple(chosen[0]) == ("mel", "mel_len", "speaker", "language")
    sample = chosen[0]
    assert (
        sample.mel.dtype == torch.float16
        and float(sample.mel[-1, -1]) == 7.0
        and int(sample.speaker) == cache.speakers.index("ada")
    )
    assert float(xp.torch.ClipDataset(cache)[0].mel[-1, -1]) == PADDING
    with pytest.raises(IndexError, match="there is no clip 999"):
        chosen[999]
    with pytest.raises(xp.UnsupportedError, match="normalize them in the model"):
        xp.torch.ClipDataset(cache, columns={"mel": {"normalize": "corpus"}})


def test_a_column_that_nobody_asks_for_may_lack_clips(tmp_path):
    make_corpus(tmp_path / "data", 9)
    build(tmp_path / "data", tmp_path / "cache")
    xp.open(tmp_path / "cache").add_column("small", lambda clip: np.array([1], np.uint8), axis="fixed", progress=False)
    table = tmp_path / "data/metadata.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("this is clip-003", "another text"), encoding="utf-8")
    build(tmp_path / "data", tmp_path / "cache")
    cache = xp.open(tmp_path / "cache")
    assert cache.columns["small"].missing == 1
    assert len(xp.torch.ClipDataset(cache, columns=["mel"], where="mel_len > 0")) == 9


@pytest.mark.parametrize("kind", ["ClipDataset", "BatchDataset"])
def test_clips_without_a_cache_are_for_the_loader(kind, corpus):
    with pytest.raises(
        xp.InvalidArgumentError, match=f"{kind} reads caches, and <RuntimeClips .* is none: xp.torch.Loader takes it"
    ):
        getattr(xp.torch, kind)(runtime(corpus))


def test_a_split_without_clips_is_an_empty_data_set(cache, recwarn):
    assert len(xp.torch.ClipDataset(cache, split="test")) == 0 and not recwarn.list


def test_normalized_batches_are_those_of_the_reader(cache):
    columns = {"mel": {"normalize": "corpus"}}
    expected = [np.array(batch.mel) for batch in cache.reader(batch_size=8, columns=columns)]
    dataset = xp.torch.BatchDataset(cache, batch_size=8, columns=columns, fields=("mel",))
    assert all(
        same_bytes(batch.mel, array)
        for batch, array in zip(xp.torch.Loader(cache, batch_size=8, columns=columns), expected)
    )
    assert all(
        same_bytes(batch["mel"], array)
        for batch, array in zip(data_loader(dataset, 2, "fork", batch_size=None), expected)
    )
