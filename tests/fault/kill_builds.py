#!/usr/bin/env python3
"""kill_builds PROGRAM COUNT SEED: kills builds of the real program on the real file system.

Makes a corpus of 40 clips (shards of 8), and another with clips added, changed and removed, and
texts mended. Builds and updates a cache of each undisturbed. Then does this again and again: begins
a build or an update, kills its process group (or it alone) with SIGKILL at a random moment, one to
three times in a row, and runs the same command to its end. Then verifies every byte, and compares
every file but sources.bin with the undisturbed cache. Moments are spread over the whole build, or
follow the appearance of a file whose step is too short to be hit by chance. While an update runs,
and after each kill, the published generation must be readable.

Prints where kills have hit, by what lay on the disk. Exit code 1 at any difference. The seed
repeats the plan, not the race.
"""

import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import make_clips

CLIPS = 40
# A record may have 16 MiB, so eight make a shard. Packed records take what they need.
SETTINGS = [
    "--max-gone",
    "100%",
    "--layout",
    "packed",
    "--set",
    "max_frames=52428",
    "--max-rejects",
    "1",
    "--quiet",
    "-j",
    "2",
]
# The names in CACHE/.build/ (or CACHE/) whose appearance is a sign to kill.
SIGNS = [
    ".build/lock",
    ".build/journal",
    ".build/mel-",
    ".build/tokens-",
    ".build/index",
    ".build/manifest.json",
    ".build/rejects",
    "shards/mel/00002-",
    "index-",
    "sources.bin.tmp",
]


def make_corpora(folder):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    make_clips.make_corpus(first, range(CLIPS), seconds=0.3)
    shutil.copytree(first, second, copy_function=os.link)
    numbers = [n for n in range(CLIPS + 6) if n not in (5, 17, 18, 39)]
    for number in (5, 17, 18, 39):
        os.remove(os.path.join(second, "wavs", make_clips.name_of(number) + ".wav"))
    for number in (0, 20, 38):  # other sound under the same name
        os.remove(os.path.join(second, "wavs", make_clips.name_of(number) + ".wav"))
        make_clips.write_sound(second, number, seed=1000 + number, seconds=0.3)
    for number in range(CLIPS, CLIPS + 6):
        make_clips.write_sound(second, number, seconds=0.3)
    os.remove(os.path.join(second, "metadata.csv"))
    make_clips.write_list(second, numbers, {7: "Mended.", 30: "Mended too."})
    return first, second


def files_of(cache):
    """Maps name -> bytes of every file except sources.bin, which is local."""
    found = {}
    for folder, _, names in os.walk(cache):
        for name in names:
            path = os.path.join(folder, name)
            if name != "sources.bin":
                with open(path, "rb") as file:
                    found[os.path.relpath(path, cache)] = file.read()
    return found


def listing(folder):
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def manifest_of(cache):
    try:
        with open(os.path.join(cache, "manifest.json"), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def phase_of(cache, generation):
    """Says in words what a kill has left."""
    manifest = manifest_of(cache)
    build = listing(os.path.join(cache, ".build"))
    if manifest and manifest["generation"] == generation:
        return "8 published, not tidied up" if build or os.path.isdir(os.path.join(cache, ".build")) else "9 all done"
    named = f"index-{manifest['index']['digest']}.bin" if manifest else None
    if any(name.startswith("index-") and name != named for name in listing(cache)):
        return "7 new index there, not published"
    if any(name.startswith("index") for name in build):
        return "6 writing the index"
    if any(name.startswith("tokens-") for name in build) or any(name.startswith("manifest") for name in build):
        return "6 writing the index"
    if "journal" not in build:
        return "1 locked or planning" if build else "0 nothing on the disk"
    with open(os.path.join(cache, ".build", "journal"), "rb") as file:
        sealed = max(file.read().count(b"\n") - 1, 0)
    if any(name.startswith("mel-") for name in build):
        return "4 writing a shard"
    return "5 several shards sealed" if sealed > 1 else "3 one shard sealed" if sealed == 1 else "2 no shard sealed"


class Scene:
    """A first build or an update: where it begins, its command, and what it must end in."""

    def __init__(self, program, folder, name, data, begin_with, generation, store):
        self.program, self.name, self.data, self.begin_with, self.generation = (
            program,
            name,
            data,
            begin_with,
            generation,
        )
        self.settings = SETTINGS + (["--store", store] if store != "lmdb" else [])
        self.undisturbed = os.path.join(folder, f"{store}-{generation}")
        self.begin(self.undisturbed)
        started = time.monotonic()
        subprocess.run(self.command(self.undisturbed), check=True)
        self.duration_s = time.monotonic() - started
        self.expected = files_of(self.undisturbed)

    def begin(self, cache):
        shutil.rmtree(cache, ignore_errors=True)
        if self.begin_with:
            shutil.copytree(self.begin_with, cache)

    def command(self, cache):
        return [self.program, "build", self.data, cache, *self.settings]


class Trial:
    def __init__(self, scene, cache, chance):
        self.scene, self.cache, self.chance = scene, cache, chance
        self.problems = []

    def run(self, *arguments):
        done = subprocess.run(
            [self.scene.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def expect_well(self, what, *arguments):
        code, text = self.run(*arguments)
        if code != 0:
            self.problems.append(f"{what}: {arguments[0]} ended with {code}: {text.strip()[:500]}")

    def expect_readable(self, what):
        if manifest_of(self.cache) is None:
            if self.scene.begin_with:
                self.problems.append(f"{what}: the published cache is gone")
            return
        self.expect_well(what, "verify", self.cache, "--quiet")
        self.expect_well(what, "ls", self.cache)

    def kill_once(self):
        """Gives the phase that the kill hit; None if the build had ended."""
        process = subprocess.Popen(
            self.scene.command(self.cache), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        began = time.monotonic()
        if self.scene.begin_with and self.chance.random() < 0.2:
            self.expect_readable("while the update runs")
        sign = self.chance.choice(SIGNS) if self.chance.random() < 0.4 else None
        # A sign that does not come must not hold the kill back.
        moment = began + self.chance.uniform(0.0, 1.1) * self.scene.duration_s
        latest = began + 3 * self.scene.duration_s if sign else moment
        while process.poll() is None and time.monotonic() < latest:
            if sign and self.is_there(sign):
                time.sleep(self.chance.choice([0.0, 0.0, 0.001, 0.005]))
                break
            time.sleep(0.0002 if sign else min(0.01, max(moment - time.monotonic(), 0.0)))
        had_ended = process.poll() is not None
        if not had_ended and self.chance.random() < 0.25:
            # As the system does when it is out of memory: the decoders must end by themselves.
            process.kill()
        elif not had_ended:
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        if had_ended or code != -signal.SIGKILL:
            if code != 0:
                self.problems.append(f"a build ended with {code} before it was killed")
            return None
        return phase_of(self.cache, self.scene.generation)

    def is_there(self, sign):
        folder, name = os.path.split(sign)
        return any(entry.startswith(name) for entry in listing(os.path.join(self.cache, folder)))

    def finish(self):
        self.expect_well("going on", *self.scene.command(self.cache)[1:])
        self.expect_well("the finished cache", "verify", self.cache, "--level", "full", "--quiet")
        found = files_of(self.cache)
        for name in sorted(self.scene.expected.keys() | found.keys()):
            if name not in found:
                self.problems.append(f"missing {name}")
            elif name not in self.scene.expected:
                self.problems.append(f"unexpected {name}")
            elif found[name] != self.scene.expected[name]:
                self.problems.append(f"other bytes in {name}")


def main():
    program, count, seed = os.path.realpath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    print(f"{count} kills of {program}, seed {seed}", flush=True)
    folder = tempfile.mkdtemp()
    try:
        help_text = subprocess.run([program, "build", "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
        stores = ["lmdb", "hdf5"] if re.search(r"--store.*hdf5", help_text) else ["lmdb"]
        first, second = make_corpora(folder)
        scenes = []
        for store in stores:
            build = Scene(program, folder, f"first build, {store}", first, None, 1, store)
            scenes += [build, Scene(program, folder, f"update, {store}", second, build.undisturbed, 2, store)]
        for scene in scenes:
            print(f"  {scene.name}: {scene.duration_s:.2f} s undisturbed, {len(scene.expected)} files")

        kills, trials, failed = 0, 0, 0
        phases, by_scene = collections.Counter(), collections.Counter()
        cache = os.path.join(folder, "cache")
        began = time.monotonic()
        while kills < count:
            scene = scenes[trials % len(scenes)]
            trials += 1
            scene.begin(cache)
            trial = Trial(scene, cache, chance)
            hits = []
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                phase = trial.kill_once()
                if phase is None:
                    break
                hits.append(phase)
                trial.expect_readable(f"after a kill in phase '{phase}'")
            kills += len(hits)
            phases.update(hits)
            by_scene[scene.name] += len(hits)
            trial.finish()
            if trial.problems:
                failed += 1
                print(f"FAILED: trial {trials}, {scene.name}, killed in {hits}:")
                for problem in trial.problems:
                    print(f"  {problem}")
            if trials % 50 == 0:
                print(f"  {kills} kills, {failed} failures", flush=True)
        print(f"{kills} kills in {trials} builds, {time.monotonic() - began:.0f} s: {failed} differences")
        for phase, hit_count in sorted(phases.items()):
            print(f"  {hit_count:5}  {phase[2:]}")
        for name, hit_count in sorted(by_scene.items()):
            print(f"  {hit_count:5}  {name}")
        return 1 if failed else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
