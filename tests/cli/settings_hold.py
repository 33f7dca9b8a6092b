#!/usr/bin/env python3
"""settings_hold PROGRAM FOLDER: changes each setting of a recipe in a cache that is there.

The table "A cache keeps its settings" of docs/settings.md says what each key makes anew. The
program's own list of keys (`recipes NAME`) and that table must agree. For each key, a cache is
built, updated with another value, and compared clip by clip with one that is built from nothing.
"""

import concurrent.futures
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import wave

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = "tacotron2"
LENIENT = ["--max-rejects", "100%", "--max-dropped", "100%", "--max-gone", "100%"]

# The other value of each key, and settings that give the key its meaning. A key that is true or
# false and always has a meaning needs no row.
VALUES = """
name                                other
about                               other
fits                                [other]
features.columns.mel                false    features.columns.linear=true
features.columns.wave               int16
features.sample_rate_hz             24000
features.channels                   first
features.resampler                  soxr_vhq
features.trim.method                top_db
features.trim.top_db                30       trim.method=top_db
features.trim.frame_samples         512      trim.method=top_db
features.trim.hop_samples           128      trim.method=top_db
features.loudness.method            peak
features.loudness.target            0.2      loudness.method=rms
features.loudness.limit_peak        false    loudness.method=rms
features.loudness.then_peak_to_one  true     loudness.method=rms
features.loudness.rms_plus          0.001    loudness.method=rms
features.loudness.rounding          once     loudness.method=rms
features.sample_scale               2
features.zeros.front_samples        100
features.zeros.back_samples         100
features.zeros.multiple_samples     512
features.stft.n_fft                 2048
features.stft.win_samples           512
features.stft.hop_samples           512
features.stft.window                hamming
features.stft.symmetry              symmetric
features.stft.framing               end
features.stft.pad_mode              zeros
features.stft.preemphasis           0.97
features.stft.multiple_frames       4
features.spectrum                   power
features.spectrum_floor             0.1      spectrum=root_plus spectrum_floor=0.2
features.mel.n_mels                 40
features.mel.f_min_hz               50
features.mel.f_max_hz               7000
features.mel.scale                  htk
features.mel.norm                   none
features.mel.triangles              mel
features.mel.bins_rate_hz           24000
features.log.base                   ten
features.log.mode                   add
features.log.floor                  0.001
features.log.range                  8
features.normalize.method           min_max
features.normalize.offset           1        normalize.method=affine
features.normalize.scale            2        normalize.method=affine
features.normalize.channel_offsets  [1,2]    normalize.method=channels mel.n_mels=2 channel_scales=[1,1]
features.normalize.channel_scales   [1,2]    normalize.method=channels mel.n_mels=2 channel_scales=[1,1]
features.max_frames                 40
features.pad                        samples
features.pad_value                  1
features.too_long                   truncate max_frames=40
features.precision                  float32
text.tokens                         none
text.vocabulary                     abcdehnorstu text.tokens=characters text.vocabulary=Sentcduo
text.max_tokens                     8
text.too_long                       truncate text.max_tokens=8
text.unknown                        unk      text.tokens=characters text.vocabulary=Sentcduo
text.normalize                      [nfc]
corpus.layout                       folder   corpus.layout=table
corpus.language                     fa
corpus.speaker                      one
corpus.speaker_pattern              ^([a-z]) corpus.speaker_column=note
corpus.train_split                  0.5
corpus.validation_split             0.5      corpus.train_split=0.5
corpus.validation_clips_max         1        corpus.validation_split=0.9 corpus.train_split=0.1
corpus.split_seed                   7        corpus.train_split=0.5 corpus.validation_split=0.5
corpus.split_by                     source   corpus.train_split=0.5 corpus.validation_split=0.5
corpus.train_subset_fraction        0.5
corpus.subset_seed                  7        corpus.train_subset_fraction=0.5
corpus.metadata_train_file          other.csv corpus.layout=table metadata_train_file=list.csv
corpus.metadata_eval_file           more.csv corpus.layout=table metadata_train_file=list.csv
corpus.wavs_train_folder            other    corpus.layout=table metadata_train_file=list.csv
corpus.wavs_eval_folder other corpus.layout=table metadata_train_file=list.csv metadata_eval_file=more.csv
corpus.audio_column                 audio2
corpus.id_column                    id2
corpus.text_column                  text2
corpus.normalized_column            text2
corpus.speaker_column               speaker2
corpus.language_column              speaker2
corpus.split_column                 split2
corpus.start_column                 start2
corpus.end_column                   end2
corpus.encoding                     cp1252
corpus.max_source_seconds           1
corpus.max_clip_seconds             0.5
corpus.too_short                    drop     corpus.too_short_seconds=0.3
corpus.too_short_seconds            0.3
corpus.silent                       drop
corpus.silent_dbfs                  -10
corpus.clipped                      drop
corpus.clipped_share                1e-7     corpus.clipped=drop
corpus.not_finite                   drop
corpus.low_rate                     drop
corpus.source_rate_below            16001
corpus.duplicates                   drop
corpus.no_text                      drop
corpus.truncated                    keep
storage.store                       hdf5
storage.layout                      packed
storage.dtype                       float16
"""


def sound(path, seconds, pitch_hz, rate_hz=16000, level=0.3):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        for n in range(int(seconds * rate_hz)):
            value = max(-1.0, min(1.0, level * math.sin(2 * math.pi * pitch_hz * n / rate_hz)))
            file.writeframes(struct.pack("<h", int(32767 * value)))


def not_finite(path):
    samples = struct.pack("<4000f", *([float("nan")] + [0.1, -0.1] * 1999 + [0.1]))
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 3, 1, 16000, 64000, 4, 32)
    body = head + b"data" + struct.pack("<I", len(samples)) + samples
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def make_corpus(data):
    """Each odd clip of the rules, parts of a source, broken sound and broken times."""
    for number in range(4):
        for folder, pitch in (("wavs", 200), ("other", 300)):
            sound(data / folder / f"c{number}.wav", 0.4 + 0.1 * number, pitch + 40 * number)
    sound(data / "wavs/silent.wav", 0.4, 200, level=0.0)
    sound(data / "wavs/clipped.wav", 0.4, 200, level=3.0)
    sound(data / "wavs/short.wav", 0.01, 200)
    sound(data / "wavs/low.wav", 0.5, 200, rate_hz=3000)
    sound(data / "wavs/long.wav", 1.5, 250)
    shutil.copy(data / "wavs/c0.wav", data / "wavs/twin.wav")
    not_finite(data / "wavs/nan.wav")
    (data / "wavs/broken.wav").write_bytes(b"RIFF no sound")
    (data / "wavs/cut.wav").write_bytes((data / "wavs/c1.wav").read_bytes()[:9000])
    header = "audio,audio2,id,id2,text,text2,speaker,speaker2,split2,start,end,start2,end2,note"
    rows = [header]
    names = [f"c{n}" for n in range(4)] + ["silent", "clipped", "short", "low", "twin", "nan", "broken", "cut"]
    for number, name in enumerate(names):
        text = "" if name == "low" else f"Sentence nümber {number}"
        rows.append(
            f"wavs/{name}.wav,{'other' if name[0] == 'c' and len(name) == 2 else 'wavs'}/{name}.wav"
            f",{name},{name if number else 'first'},{text},Another {number}"
            f",s{number % 2},t{number % 3},{'train' if number % 2 else 'test'},,,,,n"
        )
    for name, times in (("a", "0,0.4,0.1,0.5"), ("b", "0.5,1,0.5,1.2"), ("z", "7,8,0.2,0.9")):
        rows.append(f"wavs/long.wav,wavs/long.wav,{name},{name},Part {name},Other {name},s0,t0,train,{times},n")
    (data / "list.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    sound(data / "wavs/more.wav", 0.5, 600)
    sound(data / "other/more.wav", 0.5, 700)
    return rows


def add_lists(data, rows):
    (data / "other.csv").write_text("\n".join(rows).replace("Part", "Piece") + "\n")
    more = rows[1].replace("c0", "more").replace("first", "more")
    (data / "more.csv").write_text("\n".join([rows[0], more]) + "\n", encoding="utf-8")


class Program:
    def __init__(self, path, data):
        self.path, self.data = path, data

    def run(self, *arguments):
        return subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, check=False)

    def build(self, cache, *arguments, data=None):
        return self.run("build", data or self.data, cache, *LENIENT, "--json", "-j1", *arguments)

    def keys(self):
        """All keys and values, from the YAML of a recipe; those without meaning stand there as comments."""
        section, keys = [], {}
        for line in self.run("recipes", RECIPE).stdout.splitlines():
            found = re.match(r"( *)(?:# )?([a-z_0-9]+):( ?)(.*)", line)
            if not found or (line.lstrip().startswith("#") and "not used while" not in line):
                continue
            depth = len(found[1]) // 2
            section = [*section[:depth], found[2]]
            if found[4]:
                keys[".".join(section)] = found[4].split()[0]
        return keys


def table_of(document):
    """The rows of the table: patterns of keys, and the word that begins what they do."""
    rows = []
    text = document.read_text(encoding="utf-8").split("## A cache keeps its settings")[1]
    for line in text.split("\n## ")[0].splitlines():
        found = re.match(r"\| (`.*`) \| ([a-z]+)", line)
        if found:
            rows.append((re.findall(r"`([^`]*)`", found[1]), found[2]))
    return rows


def effect_of(key, table):
    found = [
        effect
        for patterns, effect in table
        if any(re.fullmatch(p.replace(".", r"\.").replace("*", ".*"), key) for p in patterns)
    ]
    return found[0] if len(found) == 1 else f"it stands in {len(found)} rows of the table"


def described(program, cache, keeps_splits):
    """What a reader gets of each clip, and what is not stored."""
    listed = json.loads(program.run("ls", cache, "--json").stdout)["clips"]
    rejects = (cache / "rejects.jsonl").read_text().splitlines()
    if keeps_splits:
        listed = [{name: value for name, value in one.items() if name != "split"} for one in listed]
        rejects = [re.sub(r'"split":"[a-z]*",', "", line) for line in rejects]
    info = json.loads(program.run("info", cache, "--json").stdout)
    return {
        "clips": sorted(listed, key=lambda one: one["id"]),
        "rejects": sorted(rejects),
        "fingerprints": info["fingerprints"],
        "columns": [(one["name"], one["dtype"], one["shape"]) for one in info["columns"]],
    }


def first_difference(one, two, path=""):
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        pairs = [(name, one[name], two[name]) for name in one]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = [(number, *both) for number, both in enumerate(zip(one, two, strict=True))]
    else:
        return "" if one == two else f"{path}: updated {one}, from nothing {two}"
    return next(filter(None, (first_difference(a, b, f"{path}/{n}") for n, a, b in pairs)), "")


def difference(program, updated, fresh, keeps_splits):
    one, two = (described(program, cache, keeps_splits) for cache in (updated, fresh))
    compared = program.run("diff", updated, fresh)
    # Numbers of names are append-only.
    allowed = ("  speaker_number:", "  language_number:", *(["  split:"] if keeps_splits else []))
    others = [line for line in compared.stdout.splitlines() if line.startswith("  ") and not line.startswith(allowed)]
    is_equal = compared.returncode == 0 or not others
    return first_difference(one, two) or ("" if is_equal else compared.stdout)


def check_key(program, folder, key, value, others, effect):
    """An empty text, or what is wrong."""
    place = folder / key
    place.mkdir(parents=True)
    others = ["features.max_frames=160", "text.max_tokens=40", *others]
    if effect == "stay":
        others.append("corpus.duplicates=keep")  # which twin is the first hangs on their splits
    settings = [word for setting in others for word in ("--set", setting)]
    is_key = ("." + key).endswith
    kept = [s for s in others if not is_key("." + s.split("=")[0])]
    if key == "text.tokens":
        kept.remove("text.max_tokens=40")  # without tokens it is no key
    changed = [word for setting in [*kept, f"{key}={value}"] for word in ("--set", setting)]
    # The list of this test stands alone but where two lists are the question.
    needs_two = key == "corpus.metadata_train_file" or "metadata_train_file" in " ".join(others)
    data = folder.parent / "two-lists" if needs_two else None
    built = program.build(place / "cache", "--recipe", RECIPE, *settings, data=data)
    fresh = program.build(place / "fresh", "--recipe", RECIPE, *changed, data=data)
    if built.returncode or fresh.returncode:
        return f"not built: {built.stderr}{fresh.stderr}"
    updated = program.build(place / "cache", "--set", f"{key}={value}", data=data)
    if effect == "refused":
        if updated.returncode != 2 or "--overwrite" not in updated.stderr:
            return f"not refused: {updated.returncode} {updated.stderr}"
        updated = program.build(place / "cache", "--set", f"{key}={value}", "--overwrite", data=data)
    if updated.returncode:
        return f"not updated: {updated.stderr}"
    counts = json.loads(updated.stdout)["accounting"]
    if effect == "tokens" and counts["changed"]:
        return "sound was computed again"
    text = difference(program, place / "cache", place / "fresh", effect == "stay")
    if text:
        return text
    again = program.build(place / "cache", data=data)
    if again.returncode or not json.loads(again.stdout)["unchanged"]:
        return f"the setting does not hold: {again.stdout}{again.stderr}"
    verified = program.run("verify", place / "cache", "--level", "deep")
    if verified.returncode:
        return verified.stdout + verified.stderr
    shutil.rmtree(place)
    return ""


def main():
    program_path, folder = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    only = sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    rows = make_corpus(folder / "data")
    shutil.copytree(folder / "data", folder / "two-lists")
    add_lists(folder / "two-lists", rows)
    program = Program(program_path, folder / "data")
    values = {words[0]: words[1:] for words in map(str.split, VALUES.strip().splitlines())}
    table = table_of(ROOT / "docs/settings.md")
    keys = program.keys()
    switches = {"true": "false", "false": "true"}
    values = {key: [switches[value]] for key, value in keys.items() if value in switches} | values
    problems = [f"{key}: this test has no other value for it" for key in keys if key not in values]
    problems += [f"{key}: no key of a recipe" for key in values if key not in keys]
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for key in keys:
            effect = effect_of(key, table)
            if effect not in ("nothing", "refused", "tokens", "lists", "stay", "rules"):
                problems.append(f"{key}: {effect}")
            elif key in values and (not only or key in only):
                value, *others = values[key]
                jobs[key] = threads.submit(check_key, program, folder / "keys", key, value, others, effect)
        problems += [f"{key}: {job.result()}" for key, job in jobs.items() if job.result()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
