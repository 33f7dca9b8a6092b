#!/usr/bin/env python3
"""strange_nodes PROGRAM [FILTER | all]: every kind of node stands in for every file of a cache.

The nodes replace each file and folder in turn: links to a file, to a folder, to nothing, to
themselves; a second name of a file (hard link); FIFO, socket, folder, device (as root). Commands
run on each case. A command ends in time with an exit code of the table, names the file where it
fails, and makes, changes or removes nothing outside the cache.

Each node meets two of the commands, the next node others. FILTER: all commands, on the cases whose
name holds this text."""

import hashlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 60  # far more than any of these takes, on a busy machine too
EXIT_CODES = {0, 2, 3, 4, 5, 6}
# A command may need no look at the node to know that it cannot go on. Then it says one of these.
OTHER_ANSWERS = (
    "give a folder that does not exist yet",
    "is incomplete: the command that was making it has not published it",
    "an unfinished build",
)


def snapshot(folder):
    """Lists all that lies there, to the byte. Opens only regular files."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            full = os.path.join(path, name)
            facts = os.lstat(full)
            content = None
            if stat.S_ISREG(facts.st_mode):
                with open(full, "rb") as file:
                    content = hashlib.blake2b(file.read()).hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.readlink(full)
            found[os.path.relpath(full, folder)] = (stat.S_IFMT(facts.st_mode), content)
    return found


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


# Each function puts a node at `path`. `victims` is what must not change. `old` is what stood at
# `path` before (absent, or in victims).
def link_to_file(path, victims, old):
    os.symlink(os.path.join(victims, "old" if os.path.isfile(old) else "letter.txt"), path)


def link_to_folder(path, victims, old):
    os.symlink(old if os.path.isdir(old) else os.path.join(victims, "photos"), path)


def dangling_link(path, victims, old):
    os.symlink(os.path.join(victims, "not-there"), path)


def link_loop(path, victims, old):
    os.symlink(os.path.basename(path), path)


def second_name(path, victims, old):
    os.link(os.path.join(victims, "letter.txt"), path)


def fifo(path, victims, old):
    os.mkfifo(path)


def unix_socket(path, victims, old):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # its path may be too long for a socket's address
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))
    os.chdir(here)


def folder(path, victims, old):
    os.mkdir(path)
    with open(os.path.join(path, "note.txt"), "w") as file:
        file.write("somebody's note\n")


def device(path, victims, old):
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


KINDS = [link_to_file, link_to_folder, dangling_link, link_loop, second_name, fifo, unix_socket, folder, device]


class Trial:
    def __init__(self, program, root, wanted):
        self.program, self.root = program, root
        self.is_sample, self.wanted = not wanted, "" if wanted == "all" else wanted
        self.case_count = 0
        self.data = os.path.join(root, "data")
        self.templates = os.path.join(root, "templates")
        self.place = os.path.join(root, "place")  # cache and victims of the present case
        self.cache = os.path.join(self.place, "cache")
        self.victims = os.path.join(self.place, "victims")
        self.run_count = 0
        self.failures = []

    def call(self, arguments, seconds_max=SECONDS_MAX):
        """Gives the exit code (None: it hung) and the output."""
        self.run_count += 1
        with subprocess.Popen(
            [self.program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.place,
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds_max)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None, ""
        return process.returncode, said.decode(errors="replace")

    def make_templates(self):
        os.makedirs(self.templates)
        os.makedirs(self.place)
        subprocess.run([sys.executable, os.path.join(HERE, "make_clips.py"), self.data, "5"], check=True)
        small = ["--set", "features.max_frames=96", "--quiet"]
        self.build = ["build", self.data, "CACHE", *small, "--max-rejects", "1"]
        whole = os.path.join(self.templates, "whole")
        code, said = self.call(["build", self.data, whole, *small, "--max-rejects", "1"])
        assert code == 0, said
        unfinished = os.path.join(self.templates, "unfinished")
        code, said = self.call(["build", self.data, unfinished, *small])  # clip 3 is no sound
        assert code == 3 and os.path.exists(os.path.join(unfinished, ".build", "journal")), said
        for part in (1, 2):
            code, said = self.call(
                [
                    "build",
                    self.data,
                    os.path.join(self.root, f"part-{part}"),
                    *small,
                    "--max-rejects",
                    "1",
                    "--partition",
                    f"{part}/2",
                ]
            )
            assert code == 0, said

    def commands(self):
        """Yields name, arguments, and whether the cache's own files may change."""
        new = os.path.join(self.place, "new")
        for name, arguments, changes in [
            ("build", self.build, True),
            ("build --overwrite", [*self.build, "--overwrite"], True),
            ("verify --repair", ["verify", "CACHE", "--repair", "--data", self.data], True),
            ("compact", ["compact", "CACHE"], True),
            ("info", ["info", "CACHE"], False),
            ("ls", ["ls", "CACHE"], False),
            ("show", ["show", "CACHE", "clip-0001"], False),
            ("verify", ["verify", "CACHE"], False),
            ("verify --level quick", ["verify", "CACHE", "--level", "quick", "--json"], False),
            ("bench --cold", ["bench", "CACHE", "--batch-size", "1", "--num-batches", "1", "--cold"], False),
            ("diff", ["diff", "CACHE", os.path.join(self.templates, "whole")], False),
            ("convert", ["convert", "CACHE", new, "--layout", "packed"], False),
            ("convert to", ["convert", os.path.join(self.templates, "whole"), "CACHE"], True),
            ("build --dry-run", [*self.build, "--dry-run"], False),
        ]:
            yield name, [self.cache if argument == "CACHE" else argument for argument in arguments], changes

    def lay_out(self, template, target, kind):
        """Makes a fresh cache with the node in it. False: the two do not go together."""
        remove(self.place)
        os.makedirs(self.place)
        shutil.copytree(template, self.cache, symlinks=True)
        os.makedirs(os.path.join(self.victims, "photos"))
        for name in (
            "letter.txt",
            "photos/photo.jpg",
            "photos/journal",
            "photos/lock",
            "photos/mel.tmp",
            "photos/records-0",
        ):
            with open(os.path.join(self.victims, name), "w") as file:
                file.write(f"somebody's {name}\n")
        path = os.path.join(self.cache, target)
        old = os.path.join(self.victims, "old")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.rename(path, old)  # a link to it leads to what the cache would hold
        elif kind is link_to_file and target == ".build":
            return False
        if kind is folder and os.path.isdir(old):
            return False  # a folder in a folder's place
        kind(path, self.victims, old)
        return True

    def check(self, case, name, arguments, changes, target):
        outside = snapshot(self.victims)
        inside = snapshot(self.cache)
        code, said = self.call(arguments)
        what = f"{case}: {name}"
        if code is None:
            self.failures.append(f"{what}: hung")
        elif code not in EXIT_CODES:
            self.failures.append(f"{what}: exit code {code}: {said[-300:]}")
        elif (
            code not in (0, 3)
            and os.path.basename(target) not in said
            and not any(answer in said for answer in OTHER_ANSWERS)
        ):
            self.failures.append(f"{what}: exit code {code} and does not name the file: {said[-300:]}")
        if snapshot(self.victims) != outside:
            self.failures.append(
                f"{what}: changed what lies outside: "
                f"{sorted(set(outside.items()) ^ set(snapshot(self.victims).items()))[:4]}"
            )
        if not changes and snapshot(self.cache) != inside:
            self.failures.append(f"{what}: a command that reads changed the cache")
        return (changes and snapshot(self.cache) != inside) or snapshot(self.victims) != outside

    def try_target(self, template, target):
        for kind in KINDS:
            case = f"{os.path.basename(template)}/{target} is a {kind.__name__}"
            if (kind is device and os.geteuid() != 0) or self.wanted not in case:
                continue
            is_fresh = False
            self.case_count += 1
            for number, (name, arguments, changes) in enumerate(self.commands()):
                if self.is_sample and (self.case_count + number) % 7 != 0:
                    continue
                if not is_fresh and not self.lay_out(template, target, kind):
                    break
                is_fresh = not self.check(case, name, arguments, changes, target)
                remove(os.path.join(self.place, "new"))

    def try_merge(self):
        """Merges a part whose shard is a link: it is refused, or copied as what it is."""
        for kind in (link_to_file, dangling_link, fifo):
            if self.wanted not in f"merge {kind.__name__}":
                continue
            part = os.path.join(self.root, "part-1")
            shard = next(
                os.path.relpath(os.path.join(path, name), part)
                for path, _, names in os.walk(os.path.join(part, "shards"))
                for name in names
            )
            if not self.lay_out(part, shard, kind):
                continue
            outside = snapshot(self.victims)
            merged = os.path.join(self.place, "merged")
            code, said = self.call(
                ["merge", merged, self.cache, os.path.join(self.root, "part-2"), "--max-rejects", "1"]
            )
            case = f"merge, {shard} is a {kind.__name__}"
            if code not in EXIT_CODES - {0} or os.path.basename(shard) not in said:
                self.failures.append(f"{case}: exit code {code}: {said[-300:]}")
            if snapshot(self.victims) != outside:
                self.failures.append(f"{case}: changed what lies outside")
            if os.path.isdir(merged) and any(kind == stat.S_IFLNK for kind, _ in snapshot(merged).values()):
                self.failures.append(f"{case}: there is a link in what was merged")

    def run(self):
        self.make_templates()
        for template in ("whole", "unfinished"):
            path = os.path.join(self.templates, template)
            targets = sorted(snapshot(path))
            names = [
                ".build",
                ".build/lock",
                ".build/lease",
                ".build/journal",
                ".build/xtts-precompute",
                ".build/manifest.json.tmp",
                ".build/rejects.jsonl.tmp",
                ".build/sources.bin.tmp",
                ".build/mel-0.tmp",
                ".build/records-0",
                "sources.bin.tmp",
                "shards/mel",
            ]
            for target in targets + [name for name in names if name not in targets]:
                self.try_target(path, target)
        self.try_merge()


def main():
    root = tempfile.mkdtemp(prefix="strange nodes ")
    signal.alarm(1500)
    trial = Trial(os.path.abspath(sys.argv[1]), root, sys.argv[2] if len(sys.argv) > 2 else "")
    try:
        trial.run()
    finally:
        remove(root)
    for failure in trial.failures:
        print(failure)
    print(f"{trial.run_count} commands, {len(trial.failures)} of them wrong")
    sys.exit(1 if trial.failures else 0)


if __name__ == "__main__":
    main()
