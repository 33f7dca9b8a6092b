"""Which formats have the clips, and which common loaders fail on them?"""

from __future__ import annotations

from typing import Any

from .. import words
from ..findings import Check, Evidence, Finding, cannot_tell

_TITLE = "Formats and native loading"
# libsndfile 1.2, by its list of formats. MP3 needs 1.1 or later.
_SNDFILE_CONTAINERS = frozenset("wav w64 flac ogg mp3 aiff au caf nist voc".split())
_SNDFILE_CODECS = frozenset("flac vorbis opus mp3 mp3float".split())


def _tensorflow_reads(container: str, codec: str) -> bool:
    """tf.audio.decode_wav, by TensorFlow's documentation: "Decode a 16-bit PCM WAV file"."""
    return (container, codec) == ("wav", "pcm_s16le")


def _sndfile_reads(container: str, codec: str) -> bool:
    return container in _SNDFILE_CONTAINERS and (codec.startswith("pcm_") or codec in _SNDFILE_CODECS)


_LOADERS = {
    "tf.audio.decode_wav, the trainer's native loader": _tensorflow_reads,
    "soundfile, librosa and torchaudio by libsndfile": _sndfile_reads,
}


def check(sound: dict[str, Any], recipe_rate_hz: int) -> Check:
    clips, rejects = sound["clip_count"], sound["reject_count"]
    seen = clips + rejects
    if not seen:
        return cannot_tell("formats", _TITLE, "No clip was decoded, so its format is unknown.")
    made = Check("formats", _TITLE)
    is_all = seen == sound["corpus_clip_count"]
    sample = "all clips" if is_all else f"{words.counted(seen, 'clip', 'clips')}, chosen at random"

    def add(what: str, count: int) -> None:
        share = count / clips
        made.evidence.append(Evidence(what, words.fine_percent(share), f"decoded: {sample}", share, "share"))

    for one in sound["formats"]:
        add(_in_words(one), one["count"])
    if sound["resampled_count"]:
        add(f"at another rate than {recipe_rate_hz:,} Hz", sound["resampled_count"])
    for loader, reads in _LOADERS.items():
        unread = [one for one in sound["formats"] if not reads(one["container"], one["codec"])]
        if unread:
            share = words.fine_percent(sum(one["count"] for one in unread) / clips)
            names = ", ".join(sorted(set(map(_in_words, unread))))
            text = f"{share} of the sampled clips ({names}) are not read by {loader}."
            remedy = "Build a cache, which reads them all, or convert these files to 16-bit WAV."
            made.findings.append(Finding("warn", text, remedy))
    if rejects:
        counted = words.counted(rejects, "clip", "clips")
        text = f"{counted} of {seen:,} cannot be used. One of them: {min(sound['rejects'])}."
        remedy = "`xtts-precompute build --dry-run` and the build's rejects.jsonl name them."
        made.findings.append(Finding("warn" if clips else "fail", text, remedy))
    return made.conclude("All of the sampled clips are read by the common loaders, too.")


def _in_words(one: dict[str, Any]) -> str:
    """libav names a container by all of its names: "mov,mp4,m4a,3gp,3g2,mj2"."""
    container = one["container"]
    return f"{one['codec']} in {'mp4' if 'mp4' in container else container.split(',')[0]}"
