"""Whole files of many encoders: each row is a name and a command that makes the file.

`{i}` is a WAV of 16 bits, `{o}` the file to make. A command with `|` or `>` runs in a shell, so a
row can be written to a pipe, where no encoder can go back and write a length.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

FF = "ffmpeg -v error -y -i {i} "

# Suffix, and options of ffmpeg. A row with a tilde is written once more to a pipe.
FFMPEG = {
    "wav-u8": "wav~ -c:a pcm_u8",
    "wav-s16": "wav~ -c:a pcm_s16le",
    "wav-s16-exact": "wav -c:a pcm_s16le -bitexact",
    "wav-s24": "wav~ -c:a pcm_s24le",
    "wav-s32": "wav -c:a pcm_s32le",
    "wav-f32": "wav~ -c:a pcm_f32le",
    "wav-f64": "wav -c:a pcm_f64le",
    "wav-alaw": "wav -c:a pcm_alaw",
    "wav-mulaw": "wav~ -c:a pcm_mulaw",
    "wav-adpcm-ms": "wav -c:a adpcm_ms",
    "wav-adpcm-ima": "wav~ -c:a adpcm_ima_wav",
    "wav-mp3": "wav -c:a libmp3lame",
    "wav-tags": "wav -metadata title=Anything -metadata comment=Words",
    "rf64": "wav -rf64 always",
    "w64": "w64~",
    "aiff": "aiff~",
    "aiff-id3": "aiff -write_id3v2 1 -metadata title=Anything",
    "aifc-mulaw": "aiff -c:a pcm_mulaw",
    "au": "au~",
    "au-mulaw": "au -c:a pcm_mulaw",
    "caf": "caf~ -c:a pcm_s16le",
    "caf-alac": "caf -c:a alac",
    "caf-flac": "caf -c:a flac -ar 44100 -t 1",
    "caf-opus": "caf -c:a libopus -ar 48000",
    "voc": "voc",
    "flac": "flac~",
    "flac-12": "flac -compression_level 12",
    "flac-tags": "flac -metadata title=Anything",
    "oggflac": "oga~ -c:a flac -f ogg",
    "vorbis": "ogg~ -c:a libvorbis -q:a 4",
    "vorbis-low": "ogg -c:a libvorbis -q:a 0",
    "vorbis-pages": "ogg~ -c:a libvorbis -page_duration 100000",
    "vorbis-native": "ogg -c:a vorbis -strict -2 -ac 2",
    "opus": "opus~ -c:a libopus -b:a 24k -ar 48000",
    "opus-60": "opus~ -c:a libopus -b:a 16k -frame_duration 60 -ar 48000",
    "opus-pages": "opus -c:a libopus -page_duration 20000 -ar 48000",
    "speex": "spx -c:a libspeex -ar 16000 -ac 1",
    "mp3": "mp3~ -c:a libmp3lame",
    "mp3-q2": "mp3~ -c:a libmp3lame -q:a 2",
    "mp3-q9": "mp3 -c:a libmp3lame -q:a 9",
    "mp3-abr": "mp3 -c:a libmp3lame -b:a 56k -abr 1",
    "mp3-64": "mp3 -c:a libmp3lame -b:a 64k",
    "mp3-32k": "mp3 -c:a libmp3lame -b:a 64k -ar 32000 -ac 1",
    "mp3-48k": "mp3 -c:a libmp3lame -b:a 64k -ar 48000 -ac 1",
    "mp3-cv": "mp3 -c:a libmp3lame -q:a 4 -ar 48000 -ac 1",
    "mp3-no-xing": "mp3 -c:a libmp3lame -write_xing 0",
    "mp3-no-id3": "mp3 -c:a libmp3lame -id3v2_version 0",
    "mp3-id3v1": "mp3 -c:a libmp3lame -write_id3v1 1 -metadata title=Anything",
    "mp3-bare": "mp3~ -c:a libmp3lame -write_xing 0 -id3v2_version 0",
    "mp3-no-reservoir": "mp3 -c:a libmp3lame -reservoir 0",
    "mp2": "mp2~ -c:a mp2 -ar 44100 -b:a 128k",
    "ac3": "ac3 -c:a ac3 -ar 44100",
    "eac3": "eac3 -c:a eac3 -ar 48000",
    "m4a": "m4a -c:a aac",
    "m4a-48k": "m4a -c:a aac -b:a 32k",
    "m4a-front": "m4a -c:a aac -movflags +faststart",
    "m4a-alac": "m4a -c:a alac",
    "m4a-parts": "mp4~ -c:a aac -movflags frag_keyframe+empty_moov -frag_duration 200000",
    "m4a-opus": "mp4 -c:a libopus -ar 48000",
    "mov-pcm": "mov -c:a pcm_s16le",
    "mov-pcm-front": "mov -c:a pcm_s16le -movflags +faststart",
    "adts": "aac~ -c:a aac -f adts",
    "latm": "latm -c:a aac -f latm",
    "mka-opus": "mka~ -c:a libopus -ar 48000",
    "mka-flac": "mka~ -c:a flac",
    "mka-pcm": "mka~ -c:a pcm_s16le",
    "mka-aac": "mka -c:a aac",
    "mka-mp3": "mka -c:a libmp3lame",
    "webm-opus": "webm~ -c:a libopus -ar 48000",
    "webm-vorbis": "webm~ -c:a libvorbis",
    "webm-short": "webm~ -c:a libopus -ar 48000 -cluster_time_limit 300",
    "wv": "wv~ -c:a wavpack",
    "tta": "tta -c:a tta",
    "wma": "wma~ -c:a wmav2 -f asf",
    "ts-aac": "ts -c:a aac -f mpegts",
    "ts-mp2": "ts -c:a mp2 -f mpegts -ar 44100",
    "nut": "nut -c:a pcm_s16le -f nut",
    "flv": "flv -c:a libmp3lame -ar 44100",
    "nut-flac": "nut -c:a flac -f nut",
    "avi": "avi -c:a pcm_s16le",
    "avi-flac": "avi -c:a flac -ar 44100 -t 1",
    "wsaud": "aud -c:a adpcm_ima_ws -f wsaud",
    "wav-g722": "wav -c:a g722 -ar 16000 -ac 1",
}

LAME = {
    "b32": "-b 32",
    "b64": "-b 64",
    "b128": "-b 128 --cbr",
    "b320": "-b 320",
    "V0": "-V 0",
    "V4": "-V 4",
    "V9": "-V 9",
    "abr": "--abr 48",
    "vbr-old": "--vbr-old -V 5",
    "no-tag": "-t",
    "no-tag-V4": "-t -V 4",
    "no-reservoir": "--nores -b 96",
    "free": "--freeformat -b 144",
    "id3v1": "--id3v1-only --tt Anything --ta Anyone",
    "id3v2": "--id3v2-only --tt Anything",
    "id3-both": "--add-id3v2 --tt Anything --ta Anyone",
    "crc": "-p -b 96",
    "mono": "-m m -V 5",
    "16k": "--resample 16 -b 24",
    "8k": "--resample 8 -b 16",
    "48k-V3": "--resample 48 -V 3",
}


def of_ffmpeg() -> Iterator[tuple[str, str, str]]:
    for name, row in FFMPEG.items():
        suffix, _, options = row.partition(" ")
        plain = suffix.rstrip("~")
        yield f"ffmpeg-{name}", plain, FF + options + " {o}"
        if suffix == plain:
            continue
        container = {"mka": "matroska", "m4a": "ipod", "oga": "ogg", "aac": "adts"}.get(plain, plain)
        form = "" if " -f " in " " + options else f" -f {container}"
        yield f"ffmpeg-{name}-pipe", plain, FF + options + form + " - | cat > {o}"


def of_lame() -> Iterator[tuple[str, str, str]]:
    for name, options in LAME.items():
        yield f"lame-{name}", "mp3", f"lame --quiet {options} {{i}} {{o}}"
    for name in ("b64", "V4", "abr", "id3-both", "no-tag"):
        yield f"lame-{name}-pipe", "mp3", f"lame --quiet {LAME[name]} - - < {{i}} | cat > {{o}}"


def of_sox() -> Iterator[tuple[str, str, str]]:
    rows = {
        "wav": "-t wav",
        "wav24": "-b 24 -t wav",
        "wav-mulaw": "-e mu-law -t wav",
        "wav-gsm": "-e gsm-full-rate -t wav",
        "wav-ima": "-e ima-adpcm -t wav",
        "wav-ms": "-e ms-adpcm -t wav",
        "aiff": "-t aiff",
        "aifc": "-t aifc",
        "au": "-t au",
        "caf": "-t caf",
        "w64": "-t w64",
        "voc": "-t voc",
        "sph": "-t sph",
        "sph-mulaw": "-e mu-law -t sph",
        "flac": "-t flac",
        "ogg": "-t ogg",
        "wv": "-t wv",
        "sox": "-t sox",
        "mp3": "-C 64 -t mp3",
        "mp3-vbr": "-C -4.2 -t mp3",
    }
    piped = {"wav", "wav-mulaw", "aiff", "au", "flac", "ogg", "sox", "mp3", "sph"}
    for name, options in rows.items():
        suffix = options.split()[-1]
        yield f"sox-{name}", suffix, f"sox {{i}} {options} {{o}}"
        if name in piped:
            yield f"sox-{name}-pipe", suffix, f"sox {{i}} {options} - | cat > {{o}}"


def of_xiph() -> Iterator[tuple[str, str, str]]:
    for name, options in {
        "q-1": "-q -1",
        "q2": "-q 2",
        "q5": "-q 5",
        "q10": "-q 10",
        "managed": "--managed -b 64",
        "tags": "-t Anything -a Anyone",
        "skeleton": "-k",
        "16k": "--resample 16000",
        "mono": "--downmix",
    }.items():
        yield f"oggenc-{name}", "ogg", f"oggenc -Q {options} -o {{o}} {{i}}"
    yield "oggenc-pipe", "ogg", "oggenc -Q - -o - < {i} | cat > {o}"
    yield "oggenc-raw-pipe", "ogg", "sox {i} -r 16000 -c 1 -t raw - | oggenc -Q -r -R 16000 -C 1 - -o - | cat > {o}"
    for name, options in {
        "b16": "--bitrate 16",
        "b64": "--bitrate 64",
        "b128": "--bitrate 128",
        "cvbr": "--cvbr",
        "cbr": "--hard-cbr --bitrate 32",
        "2.5": "--framesize 2.5",
        "60": "--framesize 60",
        "speech": "--speech --bitrate 24",
        "delay0": "--max-delay 0",
        "padding": "--padding 4096",
        "mono": "--downmix-mono",
    }.items():
        yield f"opusenc-{name}", "opus", f"opusenc --quiet {options} {{i}} {{o}}"
    yield "opusenc-pipe", "opus", "opusenc --quiet - - < {i} | cat > {o}"
    for level in (0, 3, 5, 8):
        yield f"flac-{level}", "flac", f"flac -s -f -{level} -o {{o}} {{i}}"
    yield "flac-pipe", "flac", "flac -s -c - < {i} | cat > {o}"
    yield (
        "flac-raw-pipe",
        "flac",
        (
            "sox {i} -r 16000 -c 1 -b 16 -e signed -t raw - | flac -s -c --force-raw-format --endian=little"
            " --channels=1 --bps=16 --sample-rate=16000 --sign=signed - | cat > {o}"
        ),
    )
    yield "flac-no-seek", "flac", "flac -s -f --no-seektable --no-padding -o {o} {i}"
    yield "flac-id3", "flac", "flac -s -f -o {o} {i} && printf 'TAG%125s' '' >> {o}"
    yield "flac-ogg", "oga", "flac -s -f --ogg -o {o} {i}"
    yield "flac-ogg-pipe", "oga", "flac -s -c --ogg - < {i} | cat > {o}"


def of_wavpack() -> Iterator[tuple[str, str, str]]:
    for name, options in {"plain": "", "high": "-h", "fast": "-f", "hybrid": "-b256"}.items():
        yield f"wavpack-{name}", "wv", f"wavpack -q -y {options} {{i}} -o {{o}}"
    yield "wavpack-pipe", "wv", "wavpack -q -y -i - -o - < {i} | cat > {o}"
    yield "wavpack-tags", "wv", "wavpack -q -y -w Title=Anything {i} -o {o}"


def of_joins() -> Iterator[tuple[str, str, str]]:
    """Files that were joined, and tags at their ends."""
    cv = "ffmpeg -v error -y -i {i} -c:a libmp3lame -q:a 4 -ar 48000 -ac 1 "
    yield "join-ffmpeg-mp3", "mp3", cv + "{o}.mp3 && cat {o}.mp3 {o}.mp3 > {o} && rm {o}.mp3"
    yield (
        "join-ffmpeg-mp3-bare",
        "mp3",
        (cv + "-write_xing 0 -id3v2_version 0 {o}.mp3 && cat {o}.mp3 {o}.mp3 > {o} && rm {o}.mp3"),
    )
    short = FF + "-t 0.5 {o}.wav && oggenc -Q {o}.wav -o {o}.ogg && rm {o}.wav && "
    copy = FF.replace("{i}", "{o}.ogg") + "-c copy {o} && rm {o}.ogg"
    yield "oggenc-in-mka", "mka", short + copy
    flac = FF + "-c:a flac -f ogg {o}.oga && cat {o}.oga {o}.oga > {o} && rm {o}.oga"
    yield "join-oggflac", "oga", flac
    yield "join-ogg", "ogg", "oggenc -Q -q 3 -o {o}.ogg {i} && cat {o}.ogg {o}.ogg > {o} && rm {o}.ogg"
    yield "join-opus", "opus", ("opusenc --quiet {i} {o}.opus && cat {o}.opus {o}.opus > {o} && rm {o}.opus")
    for name, options in {"cbr": "-b 64", "vbr": "-V 4", "id3": "--add-id3v2 --tt Anything -V 4"}.items():
        one = f"lame --quiet {options} {{i}} {{o}}.mp3"
        yield f"join-lame-{name}", "mp3", one + " && cat {o}.mp3 {o}.mp3 > {o} && rm {o}.mp3"
        ape = r"printf 'APETAGEX\320\007\000\000\040\000\000\000' && head -c 16 /dev/zero"
        yield f"ape-lame-{name}", "mp3", one + " && { cat {o}.mp3; " + ape + "; } > {o} && rm {o}.mp3"
        yield (
            f"ape-id3v1-lame-{name}",
            "mp3",
            (one + " && { cat {o}.mp3; " + ape + "; printf 'TAG%125s' ''; } > {o} && rm {o}.mp3"),
        )
        yield f"zeros-lame-{name}", "mp3", (one + " && { cat {o}.mp3; head -c 300 /dev/zero; } > {o} && rm {o}.mp3")


ENCODERS = {
    "ffmpeg": of_ffmpeg,
    "lame": of_lame,
    "sox": of_sox,
    "oggenc": of_xiph,
    "opusenc": of_xiph,
    "flac": of_xiph,
    "wavpack": of_wavpack,
}


def missing() -> set[str]:
    return {name for name in ENCODERS if shutil.which(name) is None}


def rows() -> list[tuple[str, str, str]]:
    """Name, suffix and command of each file whose encoders are installed."""
    absent = missing()
    made = [row for rows_of in dict.fromkeys(ENCODERS.values()) for row in rows_of()]
    made += of_joins()

    def is_made(command: str) -> bool:
        return not absent & set(command.replace("|", " ").replace("&", " ").split())

    return [row for row in made if is_made(row[2])]
