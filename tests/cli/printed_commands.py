#!/usr/bin/env python3
"""printed_commands PROGRAM FOLDER: provokes each case in which a command is printed, and pastes it.

A case makes a cache, damages or changes something, and runs the command that then tells what to
do. All commands that it prints go through a shell, one after the other, as a person pastes them.
Afterwards `verify --level deep` finds nothing, and the recipe is the one of before. Where a case
promises the same bytes, the files are those of before.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
BLOCK = b"XTTSBLK1"  # begins a block's header of 4,080 bytes, and records follow
SETTINGS = ["--recipe", "tacotron2", "--dtype", "float16", "--set", "corpus.too_short=keep"]


class Case:
    """A cache of its own in a folder whose name a shell has to quote."""

    def __init__(self, program, place):
        self.program, self.place = program, place
        place.mkdir(parents=True)
        self.data, self.cache = place / "my data", place / "it's a cache"
        shutil.copytree(place.parents[1] / "corpus", self.data)
        self.partition = []

    def run(self, *words):
        return subprocess.run(
            [self.program, *map(str, words)], capture_output=True, text=True, cwd=self.place, check=False
        )

    def build(self, *words, data=None):
        done = self.run("build", data or self.data, self.cache, *words, *self.partition)
        assert done.returncode == 0, done.stderr
        return done

    def first_build(self, *words):
        self.build(*SETTINGS, *words)

    def add_clip(self, name="LJ001-0009", like="LJ001-0003"):
        shutil.copy(self.data / f"wavs/{like}.wav", self.data / f"wavs/{name}.wav")
        with open(self.data / "metadata.csv", "a", encoding="utf-8") as list_of_clips:
            list_of_clips.write(f"{name}|A new one.|A new one.\n")

    def update(self):
        """Another generation: an index that its shards alone do not tell."""
        self.add_clip()
        (self.data / "wavs/LJ001-0001.wav").write_bytes((self.data / "wavs/LJ001-0002.wav").read_bytes())
        self.build("--max-rejects", "1")

    def file(self, pattern):
        return next(self.cache.glob(pattern))

    def flip(self, pattern, offset):
        path = self.file(pattern)
        bytes_of_file = bytearray(path.read_bytes())
        bytes_of_file[offset] ^= 0x10
        path.write_bytes(bytes_of_file)

    def files(self):
        """Those that are checked, and those that lie beside."""
        return {
            str(p.relative_to(self.cache)): p.read_bytes()
            for p in self.cache.rglob("*")
            if p.is_file() and p.name != "sources.bin"
        }

    def recipe(self):
        info = json.loads(self.run("info", self.cache, "--json").stdout)
        speakers = info.get("speakers")
        return info["recipe"] if "recipe" in info else info["fingerprints"], speakers

    def paste(self, printed, **places):
        """Runs what is printed; `places` fill in the words in capitals."""
        text = printed.stdout + printed.stderr
        on_lines = re.findall(r"^.*(?:  |: )(xtts-precompute [a-z]+ .*)$", text, re.MULTILINE)
        in_sentences = re.findall(r"`(xtts-precompute [^`]+)`|'(xtts-precompute [^']+)'", text)
        commands = on_lines + [one or other for one, other in in_sentences]
        assert commands, f"no command in: {text}"
        shell_path = f"{self.place.parents[1] / 'bin'}:{os.environ['PATH']}"
        for command in dict.fromkeys(commands):
            for word, value in places.items():
                command = re.sub(rf"\b{word}\b", lambda _, value=value: str(value), command)
            done = subprocess.run(
                ["bash", "-c", command],
                capture_output=True,
                text=True,
                cwd=self.place,
                env={**os.environ, "PATH": shell_path},
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.returncode}: {done.stdout}{done.stderr}"
        return commands

    def verify(self, *words):
        return self.run("verify", self.cache, *words)

    def must_be_well(self):
        done = self.verify("--level", "deep", "--data", self.data)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "xtts-precompute" not in done.stdout, done.stdout


def bit_of_an_updated_index(case):
    case.first_build("--max-rejects", "1")
    case.update()
    before = case.files()
    case.flip("index-*.bin", 700)
    case.paste(case.verify())
    assert case.files() == before


def lost_index_of_an_updated_cache(case):
    case.first_build("--max-rejects", "1")
    case.update()
    before = case.files()
    case.file("index-*.bin").unlink()
    case.paste(case.verify())
    assert case.files() == before


def damaged_copy_of_the_index(case):
    case.first_build("--max-rejects", "1")
    before = case.files()
    case.flip("copy-of-index.bin", 700)
    done = case.verify()
    assert done.returncode == 0, done.stdout
    case.paste(done)
    assert case.files() == before


def both_indexes_damaged(case):
    """Nothing in the cache tells the clips: it is made anew, as the same cache."""
    case.first_build("--max-rejects", "1")
    case.update()
    case.flip("index-*.bin", 700)
    case.flip("copy-of-index.bin", 700)
    case.paste(case.verify("--repair"))


def lost_manifest(case):
    case.first_build("--max-rejects", "1")
    before = case.files()
    (case.cache / "manifest.json").unlink()
    case.paste(case.run("build", case.data, case.cache, "--max-rejects", "1"))
    assert case.files() == before


def lost_manifest_and_indexes(case):
    case.first_build("--max-rejects", "1")
    for name in ("manifest.json", "copy-of-index.bin"):
        (case.cache / name).unlink()
    case.flip("index-*.bin", 700)
    printed = case.verify("--repair")
    refused = case.run("build", case.data, case.cache, "--overwrite", "--max-rejects", "1")
    assert refused.returncode == 2 and "--recipe" in refused.stderr, refused.stderr
    commands = case.paste(printed, NAME="tacotron2 --dtype float16 --set corpus.too_short=keep --max-rejects 1")
    assert "--overwrite --recipe NAME" in commands[0], commands


def record(case):
    case.first_build("--max-rejects", "1")
    before = case.files()
    case.flip("shards/mel/*.lmdb", 12000)
    case.paste(case.verify())
    assert case.files() == before


def lost_shard_seen_by_a_build(case):
    case.first_build("--max-rejects", "1")
    before = case.files()
    case.file("shards/mel/*.lmdb").unlink()
    case.paste(case.run("build", case.data, case.cache))
    assert case.files() == before


def moved_data(case):
    case.first_build("--max-rejects", "1")
    case.flip("shards/mel/*.lmdb", 12000)
    case.data = case.data.rename(case.place / "moved $data")
    case.paste(case.verify(), DATA="'moved $data'")


def changed_source(case):
    case.first_build("--max-rejects", "1")
    shutil.copy(case.data / "wavs/LJ001-0002.wav", case.data / "wavs/LJ001-0001.wav")
    case.paste(case.verify("--level", "deep"))


def changed_source_with_audio_elsewhere(case):
    """Lists name audio of another folder, which has moved, too."""
    roots = case.place / "all my sounds"
    (case.data / "wavs").rename(roots)
    os.symlink(roots, case.data / "wavs")
    case.first_build("--max-rejects", "1", "--audio-root", roots)
    shutil.copy(roots / "LJ001-0002.wav", roots / "LJ001-0001.wav")
    case.paste(case.verify("--level", "deep"))
    moved = roots.rename(case.place / "moved sounds")
    (case.data / "wavs").unlink()
    os.symlink(moved, case.data / "wavs")
    shutil.copy(moved / "LJ001-0003.wav", moved / "LJ001-0001.wav")
    case.paste(case.verify("--level", "deep", "--data", case.data, "--audio-root", moved))


def source_that_is_gone(case):
    case.first_build("--max-rejects", "1")
    (case.data / "wavs/LJ001-0001.wav").unlink()
    (case.data / "metadata.csv").write_text(
        (case.data / "metadata.csv").read_text(encoding="utf-8").split("\n", 1)[1], encoding="utf-8"
    )
    case.paste(case.verify("--level", "deep"))


def record_of_a_source_that_is_gone(case):
    case.first_build("--max-rejects", "1")
    case.file("shards/mel/*.lmdb").unlink()
    (case.data / "wavs/LJ001-0001.wav").unlink()
    case.paste(case.verify("--repair"))


def changed_text(case):
    case.first_build("--max-rejects", "1")
    text = (case.data / "metadata.csv").read_text(encoding="utf-8")
    (case.data / "metadata.csv").write_text(text.replace("twice", "thrice"), encoding="utf-8")
    case.paste(case.verify("--level", "deep"))


def texts_of_a_named_column(case):
    rows = (case.data / "metadata.csv").read_text(encoding="utf-8").splitlines()
    (case.data / "metadata.csv").unlink()
    lines = ["audio,said"]
    for row in rows:
        name, text, _ = row.split("|", 2)
        lines.append(f"wavs/{name}.wav,{json.dumps(text.replace(chr(34), ''), ensure_ascii=False)}")
    (case.data / "list.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    case.first_build("--max-rejects", "1", "--text-column", "said")
    text = (case.data / "list.csv").read_text(encoding="utf-8")
    (case.data / "list.csv").write_text(text.replace("twice", "thrice"), encoding="utf-8")
    case.paste(case.verify("--level", "deep"))


def another_instruction_set(case):
    case.first_build("--max-rejects", "1", "--isa", "scalar")
    shutil.copy(case.data / "wavs/LJ001-0002.wav", case.data / "wavs/LJ001-0001.wav")
    case.paste(case.verify("--level", "deep"))


def part_of_a_partition(case):
    case.partition = ["--partition", "1/1"]
    case.first_build("--max-rejects", "1")
    shutil.copy(case.data / "wavs/LJ001-0002.wav", case.data / "wavs/LJ001-0001.wav")
    case.paste(case.verify("--level", "deep"))


def numbers_of_speakers(case):
    case.first_build("--max-rejects", "1", "--set", "corpus.speaker=zoe")
    case.build("--set", "corpus.speaker=anna", "--max-rejects", "1")
    before = case.recipe()
    done = case.build("--overwrite", "--max-rejects", "1")
    assert "keeps the recipe of the cache" in done.stderr, done.stderr
    assert case.recipe() == before, case.recipe()


def interrupted_overwrite(case):
    """Goes on as it began: with the cache's recipe and its numbers of speakers."""
    case.first_build("--max-rejects", "1", "--set", "corpus.speaker=zoe")
    case.build("--set", "corpus.speaker=anna", "--max-rejects", "1")
    before = case.recipe()
    stopped = case.run("build", case.data, case.cache, "--overwrite", "--max-rejects", "0")
    assert stopped.returncode == 3 and (case.cache / ".build/journal").exists(), stopped.stderr
    done = case.build("--overwrite", "--max-rejects", "1")
    assert "keeps the recipe of the cache" in done.stderr, done.stderr
    assert case.recipe() == before, case.recipe()


def features_that_keep_all_clips(case):
    """The hint of a summary, with the data and cache of its build."""
    lenient = ["--max-rejects", "1", "--max-dropped", "100%"]
    done = case.build(*SETTINGS, *lenient, "--set", "max_frames=90")
    hint = re.search(r"with (--overwrite), .*?(--set features.max_frames=\d+) keeps all", done.stdout + done.stderr)
    assert hint, done.stdout + done.stderr
    case.build(hint[1], *hint[2].split(), "--max-rejects", "1")
    assert json.loads(case.run("info", case.cache, "--json").stdout)["clips"] == 4


def next_steps_of_a_build(case):
    done = case.build(*SETTINGS, "--max-rejects", "1", "--set", "corpus.silent_dbfs=-1")
    commands = case.paste(done)
    assert len(commands) == 2, commands


def damage_met_by_a_reader(case):
    case.first_build("--max-rejects", "1")
    before = case.files()
    case.flip("shards/mel/*.lmdb", case.file("shards/mel/*.lmdb").read_bytes().index(BLOCK) + 4120)
    shown = [case.run("show", case.cache, f"LJ001-000{number}") for number in range(1, 5)]
    case.paste(next(one for one in shown if one.returncode == 4))
    assert case.files() == before


def no_cache_there(case):
    done = case.run("info", case.cache)
    case.paste(done, DATA="'my data' --max-rejects 1")


def cache_in_the_folder(case):
    case.first_build("--max-rejects", "1")
    (case.data).rename(case.place.parent / "elsewhere")
    done = case.run("info", case.place)
    case.data = (case.place.parent / "elsewhere").rename(case.data)
    case.paste(done)


CASES = [
    another_instruction_set,
    bit_of_an_updated_index,
    both_indexes_damaged,
    cache_in_the_folder,
    changed_source,
    changed_source_with_audio_elsewhere,
    changed_text,
    damage_met_by_a_reader,
    damaged_copy_of_the_index,
    features_that_keep_all_clips,
    interrupted_overwrite,
    lost_index_of_an_updated_cache,
    lost_manifest,
    lost_manifest_and_indexes,
    lost_shard_seen_by_a_build,
    moved_data,
    next_steps_of_a_build,
    no_cache_there,
    numbers_of_speakers,
    part_of_a_partition,
    record,
    record_of_a_source_that_is_gone,
    source_that_is_gone,
    texts_of_a_named_column,
]
# Cases whose own question is another recipe.
OTHER_RECIPE = {features_that_keep_all_clips, interrupted_overwrite, numbers_of_speakers}


def check(program, folder, case_of):
    case = Case(program, folder / "cases" / case_of.__name__)
    original = Case.first_build
    recipe = []

    def first_build(*words):
        original(case, *words)
        recipe.append(case.recipe()[0])

    case.first_build = first_build
    case_of(case)
    assert not recipe or case_of in OTHER_RECIPE or case.recipe()[0] == recipe[0]
    case.must_be_well()
    shutil.rmtree(case.place)


def main():
    program, folder = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    only = sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    os.symlink(program, folder / "bin/xtts-precompute")
    subprocess.run([sys.executable, ROOT / "make_corpus.py", folder / "corpus"], check=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        jobs = {
            case.__name__: threads.submit(check, program, folder, case)
            for case in CASES
            if not only or case.__name__ in only
        }
        for name, job in jobs.items():
            if job.exception():
                print(f"{name}: {job.exception()!r}\n")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
