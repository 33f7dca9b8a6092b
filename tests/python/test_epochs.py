"""How many batches an epoch has: Epoch's arithmetic against lists that are cut into steps."""

import itertools

import pytest
from xtts_precompute._cache.epochs import Epoch, begin_next_epoch


def steps_of(samples, batch_size, world_size, drop_last, consumed=0):
    """Returns each step's batches, one for each rank, as lists of samples."""
    left = list(range(samples))[consumed:]
    each = batch_size * world_size
    steps = [left[begin : begin + each] for begin in range(0, len(left), each)]
    if drop_last:
        steps = [step for step in steps if len(step) == each]
    return [[step[rank * batch_size : (rank + 1) * batch_size] for rank in range(world_size)] for step in steps]


CASES = list(itertools.product((0, 1, 7, 12, 13, 37), (1, 3, 4), (1, 2, 3), (True, False)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_counts_are_those_of_lists(case):
    epoch, whole = Epoch(*case), steps_of(*case)
    assert epoch.steps() == len(whole)
    short = [batch for batch in whole[-1] if not batch] if whole else []
    assert epoch.ranks_without_clips() == len(short)
    for consumed in range(case[0] + 1):
        left = steps_of(*case, consumed)
        assert epoch.steps(consumed) == len(left)
        assert epoch.is_over(consumed) == (consumed > 0 and bool(whole) and not left)
        for workers in (1, 2, 3):
            shares = [epoch.steps_of_worker(consumed, workers, number) for number in range(workers)]
            assert shares == [len(left[number::workers]) for number in range(workers)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, Epoch(37, 32, 1, True)),
        ({"batch_size": 4, "drop_last": False}, Epoch(37, 4, 1, False)),
        ({"batch_size": 4, "weights": {"by": "speaker", "draws": 11}}, Epoch(11, 4, 1, True)),
        ({"split": "train", "ids": ["clip-000", "clip-001"]}, None),
        ({"buckets": [{}]}, None),
    ],
    ids=str,
)
def test_a_readers_epoch(options, expected, cache):
    with cache.reader(**options) as reader:
        epoch = Epoch.of(reader, reader._options, 1)
        if "ids" in options:
            assert epoch.samples == reader.sample_count
        else:
            assert epoch == expected
        assert epoch is None or epoch.steps() == len(reader)


def test_the_next_epoch_begins_at_its_beginning():
    state = {"epoch": 3, "samples_consumed": 9, "bucket_samples_consumed": [4, 5], "seed": 7}
    begin_next_epoch(state)
    assert state == {"epoch": 4, "samples_consumed": 0, "bucket_samples_consumed": [0, 0], "seed": 7}
