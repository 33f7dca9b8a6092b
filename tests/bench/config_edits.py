#!/usr/bin/env python3
"""config_edits.py TRAINER [COUNT] [SEED]: does `config check --fix` change what it says, and nothing else?

TRAINER is a checkout of masoodafar-web/MyXTTSModel at 7e78353. Lines of its three configuration files are edited at
random, COUNT times. PyYAML, which the trainer reads with, then has to see exactly the keys and values changed that the
mending names. Texts that one of both parsers refuses are counted. Needs ruamel.yaml and PyYAML.
"""

import collections
import random
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src/python"), str(ROOT / "tests/python")]

from config_texts import STRANGE_KEYS, VALUES  # noqa: E402
from xtts_advise.config import gpus, trainer  # noqa: E402
from xtts_advise.config.check import check  # noqa: E402
from xtts_advise.config.facts import Situation  # noqa: E402
from xtts_advise.config.fix import mend  # noqa: E402
from xtts_advise.probe import Program  # noqa: E402
from xtts_advise.words import Failure  # noqa: E402

ITS = trainer.load()
SITUATION = Situation(gpu=gpus.named(ITS, "24GB"), gpu_count=1)
EDITS_MAX = 3
LINE = re.compile(r"( *)([^:#]*)(:? *)(.*)")


def edited(any_, text):
    lines = text.split("\n")
    for _ in range(any_.randint(1, EDITS_MAX)):
        at, other = any_.randrange(len(lines)), any_.randrange(len(lines))
        indent, key, colon, value = LINE.fullmatch(lines[at]).groups()
        strange = any_.choice(VALUES).replace("{i}", indent)
        lines[at : at + 1] = any_.choice(
            [
                [],
                [lines[at], lines[other]],
                [lines[other]],
                [f"{indent}{key}{colon}{strange}"],
                [f"{indent}{key}{colon}{strange}"],
                [f"{indent}{any_.choice(STRANGE_KEYS)}{colon}{value}"],
                [f"{indent}{any_.choice([*ITS.fields]).partition('.')[2]}{colon}{value}"],
                [any_.choice((" ", "  ", "\t")) + lines[at]],
                [lines[at].removeprefix(" ")],
                [lines[at] + any_.choice((" # mine", "#", "\r", "  ", "\t"))],
                [f"{indent}# {key}{colon}{value}"],
            ]
        )
    return "\n".join(lines)


def keys_of(text):
    """Returns what PyYAML reads: the values by their dotted keys."""
    keys = {}
    for name, section in yaml.safe_load(text).items():
        parts = section.items() if isinstance(section, dict) and section else [("", section)]
        keys |= {f"{name}.{key}".rstrip("."): repr(value) for key, value in parts}
    return keys


def named(changes):
    """Returns the values by their dotted keys, as the mending names them; None: the key goes."""
    is_text = {key: row["type"].startswith("text") for key, row in ITS.fields.items()}
    return {
        one.key: repr(one.after if is_text[one.key] else yaml.safe_load(one.after)) if one.after else None
        for one in changes
    }


def outcome(text):
    try:
        before, stop = keys_of(text), ""
    except (yaml.YAMLError, AttributeError) as error:
        before, stop = {}, "PyYAML stops" + (" for a tab" if "'\\t'" in str(error) else "")
    try:
        fix = mend(text, "f", ITS, lambda now: check(now, "f", ITS, SITUATION, Program()))
    except Failure as error:
        reason = re.sub(r"^f:(\d+: )?|(?<=YAML): .*|(?<=section )\w+ ", "", str(error))
        return f"refused, and {stop or 'PyYAML reads it'}: {reason}"
    if stop:
        return stop
    after = keys_of(fix.text)
    seen = {key: after.get(key) for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return "as named" if seen == named(fix.changes) else f"OTHERWISE: {seen} {named(fix.changes)}\n{text}"


def main():
    checkout, count, seed = Path(sys.argv[1]), *map(int, [*sys.argv[2:], 5000, 1][:2])
    files = [*sorted(checkout.glob("configs/*.yaml")), *sorted(checkout.glob("examples/*.yaml"))]
    texts, any_ = [file.read_text(encoding="utf-8") for file in files], random.Random(seed)
    outcomes = collections.Counter(outcome(edited(any_, any_.choice(texts))) for _ in range(count))
    for words, number in outcomes.most_common():
        print(f"{number:6} {words}")
    return any(words.startswith("OTHERWISE") for words in outcomes)


if __name__ == "__main__":
    sys.exit(main())
