"""The error for an unknown name lists the known ones."""

import numpy as np
import pytest
import xtts_precompute as xp


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"shufle": "none"},
            r"no argument of reader\(\) 'shufle' \(did you mean 'shuffle'\?\); there are: batch_size, split",
        ),
        ({"shuffle": "globall"}, r"no shuffle 'globall' \(did you mean 'global'\?\); there are: global, window, none"),
        ({"split": "training"}, r"no split 'training' \(did you mean 'train'\?\); there are: train, validation, test"),
        (
            {"reading": "directly"},
            r"no reading 'directly' \(did you mean 'direct'\?\); there are: auto, mapped, direct",
        ),
        ({"reading": "Direct"}, r"did you mean 'direct'"),
        ({"pin_memory": True}, r"no argument of reader\(\) 'pin_memory'; there are"),
        ({"on_damage": "ignored"}, r"did you mean 'ignore'"),
        ({"ids": []}, "no clip is chosen"),
        ({"ids": "clip-001"}, "must be a list of ids, not one text"),
        ({"exclude": [3]}, "3 is no id"),
        ({"columns": "mel"}, r"columns=\['mel'\]"),
        ({"columns": []}, "columns is empty"),
        ({"columns": {"mel": "float33"}}, r"did you mean 'float32'"),
        ({"columns": {"mel": len}}, "no dtype for column 'mel'"),
        ({"columns": {"mel": {"type": "float32"}}}, r"did you mean 'dtype'"),
        ({"columns": [{"dtype": "float32"}]}, "has no 'name'"),
        ({"columns": {"tokens": "float32"}}, "tokens"),
        ({"weights": "language"}, 'must be a dict, as in weights={"by"'),
        ({"weights": {"temperature": 1}}, "has no 'by'"),
        ({"weights": {"by": "laguage"}}, "did you mean 'language'"),
        ({"weights": {"by": "language", "temprature": 1}}, "did you mean 'temperature'"),
        ({"weights": {"by": "language"}, "shuffle": "none"}, "weights need shuffle global"),
        ({"buckets": []}, "buckets is empty"),
        ({"buckets": {"mel": 40}}, "must be a list"),
        ({"buckets": [{"mels": 40}]}, "did you mean 'mel'"),
        ({"buckets": [{"mel": 1}]}, "bucket"),
        ({"crop": 32}, r'crop=\{"frames": 32\}'),
        ({"crop": {"frames": 0}}, "crop frames is 0, but must be from 1"),
        ({"crop": {"frames": 8}, "buckets": [{}]}, "so buckets have nothing to sort by"),
        ({"batch_size": 0}, "batch_size is 0, but must be from 1 to"),
        ({"batch_size": 1.5}, "must be a whole number, not 1.5"),
        ({"batch_size": True}, "batch_size is True"),
        ({"seed": -1}, "seed is -1, but must be from 0"),
        ({"rank": 2, "world_size": 2}, "ranks go from 0 to 1"),
        ({"prefetch": 2}, "prefetch is 2, but must be from 3"),
        ({"threads": 0}, "threads is 0"),
        ({"where": "secnds > 1"}, "there is no field 'secnds'"),
        ({"where": 3}, "where must be a text"),
        ({"where": 0}, "where must be a text"),
        ({"where": "id == '\udcff'"}, "where holds .* no valid Unicode"),
        ({"ids": ["\udcff"]}, "ids holds .* no valid Unicode"),
        ({"ids": 3}, "ids must be a list, not 3"),
        ({"exclude": 0}, "exclude must be a list, not 0"),
        ({"columns": 3}, "columns must be a list, not 3"),
        ({"buckets": 3}, "buckets must be a list, not 3"),
        ({"batch_size": int}, "batch_size must be a whole number"),
        ({"batch_size": np.True_}, "batch_size is np.True_|batch_size is True"),
        ({"batch_size": np.arange(2)}, "batch_size must be a whole number"),
        ({"columns": {"mel": {"pad_value": "x"}}}, "pad_value of column 'mel' must be a number, not 'x'"),
        ({"weights": {"by": "language", "temperature": None}}, "temperature must be a number, not None"),
        ({"drop_last": "no"}, "drop_last must be True or False, not 'no'"),
        ({"verify": "false"}, "verify must be True or False"),
        ({"lock_memory": None}, "lock_memory must be True or False"),
    ],
    ids=str,
)
def test_wrong_arguments(options, message, cache):
    with pytest.raises(xp.InvalidArgumentError, match=message) as caught:
        cache.reader(**options)
    assert isinstance(caught.value, ValueError) and caught.value.code == "invalid argument"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"columns": ["mell"]}, xp.NotFoundError),
        ({"ids": ["nobody"]}, xp.NotFoundError),
        ({"device": "tpu"}, xp.UnsupportedError),
    ],
    ids=str,
)
def test_what_the_cache_or_the_build_has_not(options, error, cache):
    with pytest.raises(error, match="there is|has no clip"):
        cache.reader(**options)


def test_arguments_are_keywords(cache):
    with pytest.raises(TypeError):
        cache.reader(32)


def test_numbers_of_numpy_are_numbers(cache):
    assert len(cache.reader(batch_size=np.int64(8), seed=np.uint64(2**64 - 1), drop_last=np.True_)) == 4
    assert len(cache.reader(batch_size=8, columns={"mel": {"pad_value": np.float32(1)}}, drop_last=0)) == 5
