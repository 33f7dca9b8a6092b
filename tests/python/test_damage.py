"""A flipped byte and a cut file: errors that name the clip, or batches without it; never a signal."""

import os
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from support import forge_index, run_python


@pytest.fixture
def damaged(own_path, truth):
    """(cache, the id of a clip with one changed byte in its mel)."""
    clip_id = truth.order[10]
    record = truth.mels[clip_id].tobytes()
    found = 0
    for shard in own_path.glob("shards/mel/*"):
        data = bytearray(shard.read_bytes())
        at = data.find(record)
        if at >= 0:
            data[at + len(record) // 2] ^= 0x10
            shard.write_bytes(data)
            found += 1
    assert found == 1
    return xp.open(own_path), clip_id


def test_a_clip_says_so_itself(damaged):
    cache, clip_id = damaged
    with pytest.raises(xp.CorruptError, match=clip_id) as caught:
        cache[clip_id].mel
    assert caught.value.code == "corrupt"
    assert cache[clip_id].tokens.size and cache[11].mel.size


@pytest.mark.parametrize("shuffle", ["none", "global", "window"])
def test_raise_names_the_clip_and_goes_on(shuffle, damaged, truth):
    cache, clip_id = damaged
    reader = cache.reader(batch_size=4, shuffle=shuffle, seed=1)
    seen, raised = [], 0
    while True:
        try:
            for batch in reader:
                truth.check(batch)
                seen += batch.ids
            break
        except xp.CorruptError as error:
            assert clip_id in str(error) and f"xtts-precompute verify {cache.path} --repair mends it" in str(error)
            raised += 1
    assert raised == 1 and len(seen) == 32 and clip_id not in seen
    assert reader.stats().check_failures == 1 and clip_id in reader.stats().first_failures[0]


def test_skip_leaves_the_clip_out(damaged, truth):
    cache, clip_id = damaged
    reader = cache.reader(batch_size=4, on_damage="skip", drop_last=False)
    seen = []
    with pytest.warns(
        UserWarning,
        match=rf"epoch 0 has left out 1 of {len(cache)} clips so far .*{clip_id}.*verify {cache.path} "
        rf"--repair mends them",
    ):
        for batch in reader:
            truth.check(batch)
            assert len(batch) == 4
            seen += batch.ids
    assert sorted(seen) == sorted(set(truth.order) - {clip_id})
    assert reader.stats().check_failures == 1 and reader.stats().left_out_count == 1


@pytest.fixture
def cut(own_path):
    """(cache, the clips whose mel is whole): the last third of one shard of mels is gone."""
    shard = min(own_path.glob("shards/mel/*"))
    os.truncate(shard, shard.stat().st_size * 2 // 3)
    cache = xp.open(own_path)
    sound = set()
    for clip in cache:
        try:
            assert clip.mel.size
        except xp.CorruptError as error:
            assert f"shards/mel/{shard.name}" in str(error) and clip.id in str(error)
        else:
            sound.add(clip.id)
    assert 0 < len(sound) < len(cache)
    return cache, sound


def test_of_a_shard_that_was_cut_before_opening_the_sound_clips_come(cut, truth):
    cache, sound = cut
    reader = cache.reader(batch_size=4, on_damage="skip", drop_last=False, max_damage=1, seed=2)
    lost = len(cache) - len(sound)
    for epoch in (0, 1):
        seen = []
        with pytest.warns(UserWarning) as told:
            for batch in reader:
                truth.check(batch)
                seen += batch.ids
        assert set(seen) == sound and len(seen) == len(sound)
        assert f"epoch {epoch} has left out {lost} of {len(cache)} clips" in str(told[-1].message)
    stats = reader.stats()
    assert (
        stats.left_out_count == 2 * lost
        and stats.epoch_left_out_count == lost
        and stats.epoch_sample_count == len(cache)
    )


def test_an_epoch_that_loses_more_than_max_damage_is_an_error(cut):
    cache, _ = cut
    reader = cache.reader(batch_size=4, on_damage="skip", drop_last=False)
    for _ in range(2):
        reader.set_epoch(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(xp.CorruptError, match=r"more than max_damage allows \(5 %\).*--repair"):
                for _ in reader:
                    pass
    with pytest.raises(xp.InvalidArgumentError, match="max_damage must be a share from 0 to 1"):
        cache.reader(max_damage=5)


@pytest.mark.parametrize("options", [{"on_damage": "ignore"}, {"verify": False}])
def test_ignore_gives_it_as_it_is(options, damaged, truth):
    cache, clip_id = damaged
    different = 0
    for batch in cache.reader(batch_size=4, drop_last=False, **options):
        for row, name in enumerate(batch.ids):
            ours = np.asarray(batch.mel[row]).view(np.uint32)
            changed = int((ours != truth.padded_mel(name).view(np.uint32)).sum())
            assert changed == (name == clip_id)
            different += changed
    assert different == 1


def test_a_file_that_is_cut_under_a_reader_is_an_error(own_path):
    # In its own process, because a failure would be SIGBUS.
    said = run_python(
        """
import os, sys, glob
import xtts_precompute as xp
cache = xp.open(sys.argv[1])
reader = cache.reader(batch_size=4, seed=1)
next(reader).release()
for shard in glob.glob(sys.argv[1] + "/shards/mel/*"):
    os.truncate(shard, 8192)
kinds = set()
for _ in range(30):
    try:
        next(reader).release()
    except xp.Error as error:
        kinds.add(type(error).__name__)
    except StopIteration:
        reader.set_epoch(1)
print(sorted(kinds))
""",
        own_path,
    )
    assert "CorruptError" in said or "ResourceError" in said, said


def forged(path, old):
    forge_index(path, old, old[:-1] + b"\xff")
    return xp.open(path)


def test_a_forged_text_is_a_typed_error(own_path, truth):
    text = truth.clips[truth.order[3]]["text"].encode()
    cache = forged(own_path, text)
    with pytest.raises(xp.CorruptError, match=f"text of clip {truth.order[3]} is not UTF-8"):
        cache[3].text
    assert cache[4].text == truth.clips[truth.order[4]]["text"]


def test_a_forged_id_is_a_typed_error(own_path, truth):
    cache = forged(own_path, truth.order[3].encode())
    for ask in (lambda: cache.ids[3], lambda: list(cache.ids), lambda: cache[3].id, lambda: cache[3].text):
        with pytest.raises(xp.CorruptError, match="an id is not UTF-8"):
            ask()
    reader = cache.reader(batch_size=4, shuffle="none")
    with pytest.raises(xp.CorruptError, match="an id is not UTF-8"):
        [batch.ids for batch in reader]
