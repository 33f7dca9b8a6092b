"""Random texts in the manner of a config.yaml, for the tests of config check."""

import random

from xtts_advise.config.trainer import load

STRANGE_KEYS = ("zz", "n_mels", '"batch_size"', "'q'", "preprocessing_mode", "bach_size")
VALUES = (
    "1", "0", "200", "true", "no", "1e-4", '"x # y"', "'it''s'", "", "~", "null", "[a, 'b#']", "{a: 1}", "&x 5", "*x",
    "!!str 5", "a b", "a#b", '"a\\"b"', "8 # note", "8\t# n", "x   ", '"#"', "- 1", '"a\n    b"', 
    "|\n{i}  text\n{i}  # in",
    ">-\n{i}  a\n\n{i}  b", "\n{i}- x\n{i}- y", "\n{i}  - x", "\n{i}  sub: 1", "16 #", "22050", '"true"', "سل", "0.5",
    "1_000", "12:30", "yes", "010", "0x1F", "+7", "on", "Off", ".5", "1.", "1e5", "2, 3",
)  # fmt: skip
SECTIONS = ("model", "data", "training", "extra")


class Texts:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self._fields = [name.partition(".")[2] for name in load().fields]

    def one_in(self, count):
        return self.random.randrange(count) == 0

    def any(self, values):
        return self.random.choice(values)

    def key(self):
        return self.any(STRANGE_KEYS) if self.one_in(6) else self.any(self._fields)

    def file(self):
        """A text that looks like a configuration, and is one most of the time."""
        indent = " " * self.random.randint(1, 4)
        text = "# first\n---\n" if self.one_in(6) else ""
        for section in SECTIONS:
            if self.one_in(5):
                continue
            text += f"{section}:{self.any(('', '', '', '', ' # s', ' &s', '  '))}\n"
            for _ in range(self.random.randrange(7)):
                if self.one_in(6):
                    text += self.any(("\n", "  \n", f"{indent}# note: 1\n", "# out\n"))
                colon = self.any((": ", ": ", ": ", " : ", ":  "))
                text += indent + self.key() + colon + self.any(VALUES).replace("{i}", indent) + "\n"
        if self.one_in(8):
            text += "...\n"
        if self.one_in(4):
            text = text.removesuffix("\n")
        if self.one_in(3):
            text = text.replace("\n", "\r\n")
        return "\ufeff" + text if self.one_in(8) else text
