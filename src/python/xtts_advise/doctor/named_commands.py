"""The commands of remedies, with the names that the user has given: to be pasted as they stand."""

from __future__ import annotations

import dataclasses
import re
import shlex

from ..findings import Check


@dataclasses.dataclass(frozen=True)
class Names:
    data: str = ""  # "": it stays DATA
    cache: str = ""
    recipe_words: str = ""  # "--config config.yaml", for commands that build
    loader: str = ""

    def put_into(self, checks: list[Check]) -> None:
        for check in checks:
            for finding in check.findings:
                finding.remedy = self.in_text(finding.remedy)

    def in_text(self, text: str) -> str:
        """Replaces the words DATA and CACHE of the commands that stand in backticks."""
        return re.sub("`(xtts-precompute [^`]*)`", lambda found: f"`{self._in_command(found[1])}`", text)

    def _in_command(self, command: str) -> str:
        words = command.split()
        builds = "DATA" in words and not {"--config", "--recipe"} & set(words)
        told: list[str] = []
        for word in words:
            given = {"DATA": self.data, "CACHE": self.cache}.get(word, "")
            if told[-1:] == ["--loader"]:
                given = self.loader
            told.append(shlex.quote(given) if given else word)
            if word == "CACHE" and builds and self.recipe_words:
                told.append(self.recipe_words)
        return " ".join(told)
