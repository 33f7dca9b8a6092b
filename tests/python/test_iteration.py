"""Where a reader stands, what holds a slot, and the error when no slot is left."""

import gc
import json
import pickle
import threading

import pytest
import xtts_precompute as xp

BATCHES = 9  # batches of 4, from 37 clips


@pytest.fixture
def reader(cache):
    return cache.reader(batch_size=4, seed=11)


def epochs(cache, *wanted):
    """Returns the ids by batch of these epochs, each begun by set_epoch()."""
    found = []
    other = cache.reader(batch_size=4, seed=11)
    for epoch in wanted:
        other.set_epoch(epoch)
        found.append([batch.ids for batch in other])
    return found


def test_each_for_is_an_epoch(cache, reader):
    assert reader.epoch == 0
    runs = [[batch.ids for batch in reader] for _ in range(3)]
    assert runs == epochs(cache, 0, 1, 2) and reader.epoch == 3
    assert all(len(run) == BATCHES == len(reader) for run in runs)


def test_an_iterator_that_has_ended_stays_ended(reader):
    iterator = iter(reader)
    assert sum(1 for _ in iterator) == BATCHES
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


def test_break_goes_on_behind(cache, reader):
    for batch in reader:
        first = batch.ids
        break
    assert reader.epoch == 0
    rest = [batch.ids for batch in reader]
    assert [[first, *rest]] == epochs(cache, 0)
    assert [batch.ids for batch in reader] == epochs(cache, 1)[0]


def test_set_epoch_begins_anew(cache, reader):
    next(iter(reader))
    reader.set_epoch(0)
    assert [batch.ids for batch in reader] == epochs(cache, 0)[0]
    reader.set_epoch(7)
    assert reader.epoch == 7 and [batch.ids for batch in reader] == epochs(cache, 7)[0]
    with pytest.raises(xp.InvalidArgumentError):
        reader.set_epoch(-1)


@pytest.mark.parametrize("taken", [0, 1, 5, BATCHES])
def test_state_goes_on_exactly(taken, cache, reader):
    for _ in range(taken):
        next(reader)
    state = json.loads(json.dumps(reader.state_dict()))
    other = cache.reader(batch_size=4, seed=11)
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert [batch.ids for batch in other] == epochs(cache, 0)[0][taken:]
    assert [batch.ids for batch in other] == epochs(cache, 1)[0]


def test_state_behind_an_end_is_the_next_beginning(cache, reader):
    for _ in reader:
        pass
    other = cache.reader(batch_size=4, seed=11)
    other.load_state_dict(reader.state_dict())
    assert other.epoch == reader.epoch == 1
    assert [batch.ids for batch in other] == [batch.ids for batch in reader] == epochs(cache, 1)[0]


def test_state_goes_on_in_another_world(cache, reader):
    seen = [clip_id for _ in range(2) for clip_id in next(reader).ids]
    for rank in range(3):
        other = cache.reader(batch_size=3, seed=11, rank=rank, world_size=3, drop_last=False)
        other.load_state_dict(reader.state_dict())
        seen += [clip_id for batch in other for clip_id in batch.ids]
    assert sorted(seen) == sorted(cache.ids)


def test_a_state_that_is_not_this_readers(cache, reader, second_path):
    state = reader.state_dict()
    for wrong, error, message in (
        ({**state, "cache": "0" * 32}, xp.MismatchError, "state"),
        ({**state, "selection": "0" * 32}, xp.MismatchError, "state"),
        ({**state, "extra": 1}, xp.InvalidArgumentError, "no key of a reader's state 'extra'"),
        ({key: value for key, value in state.items() if key != "epoch"}, xp.InvalidArgumentError, "has no 'epoch'"),
        ({**state, "epoch": "three"}, xp.InvalidArgumentError, "never gives"),
        (None, xp.InvalidArgumentError, "not None"),
        ({**state, "epoch": -3}, xp.InvalidArgumentError, "never gives"),
    ):
        with pytest.raises(error, match=message):
            reader.load_state_dict(wrong)
    with pytest.raises(xp.MismatchError):
        xp.open(second_path).reader(batch_size=4, seed=11).load_state_dict(state)
    assert reader.state_dict() == state


def slots_free(reader, prefetch=4):
    """Returns how many batches can be held at once."""
    reader.set_epoch(0)
    held = []
    try:
        while True:
            held.append(next(reader))
    except xp.BusyError as error:
        assert f"all {prefetch} batch slots are held" in str(error) and "prefetch=" in str(error)
    return len(held)


def test_kept_batches_cost_slots_and_come_back(reader):
    assert slots_free(reader) == 4
    kept = next(reader)
    assert slots_free(reader) == 3
    array = kept.mel
    kept.release()
    assert slots_free(reader) == 3  # the array still holds the slot
    del array
    assert slots_free(reader) == 4
    kept.release()


def test_a_batch_that_nobody_refers_to_any_more_is_collected_before_the_error(reader):
    for _ in range(4):
        cycle = [next(reader).mel]
        cycle.append(cycle)
    del cycle
    gc.disable()
    try:
        assert next(reader) is not None
    finally:
        gc.enable()


def test_next_waits_for_who_lets_go(reader, monkeypatch):
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 60)
    held = [next(reader) for _ in range(4)]
    timer = threading.Timer(0.3, held.clear)
    timer.start()
    assert next(reader) is not None and held == []
    timer.join()


def test_jax_computes_behind_and_the_plain_loop_goes_on(cache, monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 60)
    step = jax.jit(lambda mel: jax.numpy.linalg.svd(mel @ mel.swapaxes(1, 2))[1].sum())
    for take in (jax.numpy.asarray, lambda mel: mel):
        reader = cache.reader(batch_size=4, prefetch=3)
        results = [step(take(batch.mel)) for _ in range(3) for batch in reader]
        assert len(results) == 3 * len(reader)


def test_a_batch_is_no_sequence(reader):
    batch = next(reader)
    for use in (lambda: iter(batch), lambda: list(batch), lambda: batch[0]):
        with pytest.raises((TypeError, xp.InvalidArgumentError), match="not iterable|by name, not by 0"):
            use()


def test_a_released_batch_says_so(reader):
    with next(reader) as batch:
        mel = batch.mel
        first = float(mel[0, 0, 0])
    assert float(mel[0, 0, 0]) == first
    assert repr(batch) == "<Batch, released>" and "mel" not in dir(batch)  # what a debugger calls
    for use in (
        lambda: batch.mel,
        lambda: len(batch),
        lambda: batch["tokens"],
        lambda: batch.speaker,
        lambda: batch.columns,
    ):
        with pytest.raises(xp.InvalidArgumentError, match="the batch was released"):
            use()


def test_exceptions_in_the_loop_leak_no_slot(reader):
    for _ in range(BATCHES):  # more batches than slots
        with pytest.raises(ZeroDivisionError):
            for batch in reader:
                1 // int(batch.mel_len[0] - batch.mel_len[0])
        del batch
    gc.collect()
    assert slots_free(reader) == 4


def test_closed_readers(cache):
    with cache.reader(batch_size=4) as reader:
        batch = next(reader)
    reader.close()
    assert "closed" in repr(reader) and batch.mel[0, 0, 0] == batch.mel[0, 0, 0]
    for use in (lambda: next(reader), lambda: reader.set_epoch(1), lambda: reader.load_state_dict(reader.state_dict())):
        with pytest.raises(xp.InvalidArgumentError, match="the reader is closed"):
            use()


def test_a_closed_reader_tells_where_it_stood(cache):
    reader, same = (cache.reader(batch_size=4, seed=3) for _ in range(2))
    for one in (reader, same):
        next(one)
    reader.close()
    assert reader.stats().batch_count == 1 and reader.stats().reading == same.stats().reading
    assert (len(reader), reader.sample_count, reader.samples_per_epoch, reader.epoch) == (
        BATCHES,
        len(cache),
        len(cache),
        0,
    )
    assert reader.state_dict() == same.state_dict()
    assert next(pickle.loads(pickle.dumps(reader))).ids == next(same).ids


def test_stats_count_what_was_done(cache, truth, reader):
    for batch in reader:
        del batch
    stats = reader.stats()
    assert stats.batch_count == BATCHES and stats.sample_count == 4 * BATCHES
    assert 0 < stats.ms_p50 <= stats.ms_p95 <= stats.ms_p99 and stats.ms_mean > 0 and stats.ms_std >= 0
    assert stats.cache_hits <= stats.sample_count and stats.reading.startswith("mapped: ") and "iB" in stats.storage
    assert stats.check_failures == 0 and stats.first_failures == () and stats.batches_in_place == 0
    other = cache.reader(batch_size=4, drop_last=False)
    for batch in other:
        del batch
    expected = sum(mel.nbytes for mel in truth.mels.values()) + sum(tokens.nbytes for tokens in truth.tokens.values())
    assert other.stats().bytes == expected
    in_place = cache.reader(batch_size=4, shuffle=None)
    for batch in in_place:
        del batch
    assert in_place.stats().batches_in_place > 0


def test_repr_of_a_reader(cache, reader):
    assert "ids=[" in repr(cache.reader(batch_size=4, ids=list(cache.ids))) and cache.ids[20] not in repr(
        cache.reader(batch_size=4, ids=list(cache.ids))
    )
    assert "epoch 0, 9 batches of 37 clips" in repr(reader) and "seed=11" in repr(reader)


def test_an_epoch_without_a_batch_is_told(cache):
    reader = cache.reader(batch_size=len(cache) + 1)
    with pytest.warns(
        UserWarning, match=f"an epoch has no batch: {len(cache)} clips do not fill one of {len(cache) + 1}"
    ):
        assert list(reader) == []
    with pytest.warns(
        UserWarning, match="no clip of the split 'test' is chosen: .*--overwrite --set corpus.train_split"
    ):
        assert list(cache.reader(batch_size=2, split="test")) == []
