"""What FFmpeg's own encoders make, in each container that takes it: our samples beside a second decoder's.

Each file holds another sound in each channel. The mean of our channels must have an equal share of each, and the
first channel nothing of the others. Where no second decoder is known, the encoded sound itself is the reference:
length, shift, share of each channel, and signal to noise.

    encoded_sound.py FOLDER --decoder build/check/tests/parity/decoded_sound \\
        --worker build/check/libexec/xtts-precompute/xtts-decode > tests/parity/encoded_sound.tsv

It needs ffmpeg, NumPy and soundfile, and uses the other decoders that it finds: Debian's mpg123, opus-tools,
vorbis-tools, faad, flac, wavpack, speex and libdca-utils. Ten minutes; files that lie in FOLDER are not encoded
again. A share of 1.0 is that of each channel in the mean; shares are told where one differs by more than 0.15.
"""

import argparse
import collections
import ctypes
import ctypes.util
import pathlib
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy
import soundfile

RATES_HZ = (48000, 44100, 16000, 8000)
CHANNELS = (1, 2, 6)
SECONDS = 1.5
# Muxers that write no file or several, or the same as another one under another name.
LEFT_OUT = set(
    "null hash md5 framecrc framehash framemd5 streamhash uncodedframecrc crc tee fifo fifo_test segment "
    "stream_segment,ssegment hls dash hds smoothstreaming rtp rtp_mpegts rtsp sap webm_chunk webm_dash_manifest image2 "
    "image2pipe ffmetadata chromaprint alsa oss pulse opengl sdl,sdl2 fbdev caca xv video4linux2,v4l2 mkvtimestamp_v2 "
    "data rawvideo asf_stream ipod psp 3g2 f4v ogv oga svcd vcd vob dvd mxf_d10 mxf_opatom ismv".split()
)
# Codecs that libavformat does not tell of these muxers: they take more than the one that they name.
ALSO = {
    "mpegts": {"aac", "ac3", "eac3", "mp2", "libmp3lame", "libopus", "dca", "s302m", "truehd"},
    "ogg": {"flac", "libopus", "opus", "libspeex"},
    "latm": {"aac"},
}
# (container, codec) -> a command of another decoder, which writes OUT from IN.
DECODERS = {
    ("aac", "aac"): "faad -q -o OUT IN",
    ("dts", "dts"): "dcadec -o wav IN > OUT",
    ("flac", "flac"): "flac -s -d -f IN -o OUT",
    ("mov", "aac"): "faad -q -o OUT IN",
    ("mp3", "mp2"): "mpg123 -q -w OUT IN",
    ("mp3", "mp3"): "mpg123 -q -w OUT IN",
    ("ogg", "opus"): "opusdec --quiet --float IN OUT",
    ("ogg", "speex"): "speexdec --no-enh IN OUT",
    ("ogg", "vorbis"): "oggdec -Q -o OUT IN",
    ("wv", "wavpack"): "wvunpack -q -y IN -o OUT",
}
# The containers that libsndfile reads as their writer meant them. It takes FFmpeg's VOC of several blocks for one, and
# its 64-bit WAV of floats for one of whole numbers.
BY_SNDFILE = {"aiff", "au", "caf", "ircam", "wav"}
# An encoder of one rate is given its own.
OWN_RATE_HZ = {"g722": 16000, "libcodec2": 8000, "libgsm": 8000, "libgsm_ms": 8000, "g726": 8000, "g726le": 8000}


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


def sounds(rate_hz, channel_count):
    """[frames, channels]: a band of noise that rises and falls in each channel; the fourth of six is low."""
    frames = int(SECONDS * rate_hz)
    random = numpy.random.default_rng(1)
    frequencies = numpy.fft.rfftfreq(frames, 1 / rate_hz)
    channels = []
    for channel in range(channel_count):
        low, high = (40, 90) if channel_count == 6 and channel == 3 else (250 + 300 * channel, 1000 + 300 * channel)
        spectrum = numpy.where((frequencies >= low) & (frequencies <= high), 1.0, 0.0)
        phases = random.uniform(0, 2 * numpy.pi, len(frequencies))
        noise = numpy.fft.irfft(spectrum * numpy.exp(1j * phases), frames)
        channels.append(0.25 * noise / abs(noise).max())
    return numpy.stack(channels, axis=1).astype("f4")


def encoders():
    text = run(["ffmpeg", "-hide_banner", "-encoders"], text=True).stdout
    return re.findall(r"^ A\S+ (\S+)", text.split("------")[1], re.MULTILINE)


def muxers():
    """{name: suffix}."""
    text = run(["ffmpeg", "-hide_banner", "-muxers"], text=True).stdout
    found = {}
    for name in re.findall(r"^ +E (\S+)", text, re.MULTILINE):
        if name in LEFT_OUT:
            continue
        about = run(["ffmpeg", "-hide_banner", "-h", f"muxer={name}"], text=True).stdout
        suffixes = re.search(r"Common extensions: (\w+)", about)
        found[name.split(",")[0]] = suffixes[1] if suffixes else name.split(",")[0]
    return found


def accepts():
    """A function (encoder, muxer) -> whether libavformat says that it takes the codec, or has it as its own."""
    format_library = ctypes.CDLL(ctypes.util.find_library("avformat"))
    codec_library = ctypes.CDLL(ctypes.util.find_library("avcodec"))
    format_library.av_guess_format.restype = ctypes.c_void_p
    codec_library.avcodec_find_encoder_by_name.restype = ctypes.c_void_p

    def ask(encoder, muxer):
        codec = codec_library.avcodec_find_encoder_by_name(encoder.encode())
        output = format_library.av_guess_format(muxer.encode(), None, None)
        if not codec or not output:
            return False
        number = ctypes.cast(codec + 2 * ctypes.sizeof(ctypes.c_void_p) + 4, ctypes.POINTER(ctypes.c_int))[0]
        # AVOutputFormat: name, long name, media type and suffixes, then the codec of sound.
        own = ctypes.cast(output + 4 * ctypes.sizeof(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int))[0]
        return (
            number == own
            or encoder in ALSO.get(muxer, ())
            or format_library.avformat_query_codec(ctypes.c_void_p(output), number, -2) == 1
        )

    return ask


def encode(folder, encoder, muxer, suffix, channels):
    """The file and its rate; None where the pair or the number of channels does not go."""
    for rate_hz in (OWN_RATE_HZ[encoder],) if encoder in OWN_RATE_HZ else RATES_HZ:
        path = folder / f"{encoder}.{muxer}.{channels}.{rate_hz}.{suffix}"
        if path.exists():
            return path, rate_hz
        command = ["ffmpeg", "-y", "-v", "error", "-i", folder / f"{rate_hz}.{channels}.wav", "-map_metadata", "-1"]
        command += ["-c:a", encoder, "-strict", "-2", "-f", muxer, path]
        done = run(command)
        if done.returncode == 0 and path.exists() and path.stat().st_size > 100:
            return path, rate_hz
        path.unlink(missing_ok=True)
        if b"rate" not in done.stderr:
            return None
    return None


def second_decoding(path, container, codec):
    """(name, [frames, channels], rate) of another decoder; None where there is none."""
    command = DECODERS.get((container.split(",")[0], codec))
    program = command.split()[0] if command else "libsndfile"
    if command and shutil.which(program):
        out = pathlib.Path(f"{path}.{program}.wav")
        run(command.replace("IN", f"'{path}'").replace("OUT", f"'{out}'"), shell=True)
    elif not command and container in BY_SNDFILE:
        out = path
    else:
        return None
    try:
        return program, *soundfile.read(out, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError):
        return None


def shift_of(ours, reference):
    """How many samples `ours` is late."""
    count = min(len(ours), len(reference), 1 << 16)
    size = 1 << (2 * count - 1).bit_length()
    product = numpy.fft.irfft(
        numpy.fft.rfft(ours[:count], size) * numpy.conj(numpy.fft.rfft(reference[:count], size)), size
    )
    shift = int(numpy.argmax(product))
    return shift if shift < size // 2 else shift - size


def decibel(error, signal):
    power = numpy.sum(numpy.square(signal, dtype="f8"))
    return 10 * numpy.log10(power / max(numpy.sum(numpy.square(error, dtype="f8")), power * 1e-30))


def shares(ours, channels):
    """The share of each channel in `ours`, and the signal to noise of what they make together."""
    count = min(len(ours), len(channels))
    found, *_ = numpy.linalg.lstsq(channels[:count].astype("f8"), ours[:count].astype("f8"), rcond=None)
    return found, decibel(ours[:count] - channels[:count] @ found, ours[:count])


def aligned(ours, reference):
    shift = shift_of(ours, reference.mean(axis=1) if reference.ndim == 2 else reference)
    return shift, ours[shift:] if shift >= 0 else numpy.concatenate([numpy.zeros(-shift, "f4"), ours])


def judge(path, reference):
    """What our samples are beside [frames, channels], in words, and the signal to noise."""
    mean = numpy.fromfile(f"{path}.mean", "f4")
    first = numpy.fromfile(f"{path}.first", "f4")
    channels = reference.shape[1]
    mixed = reference[:, 0].copy()
    for channel in range(1, channels):
        mixed += reference[:, channel]
    mixed /= numpy.float32(channels)
    if numpy.array_equal(mixed, mean) and numpy.array_equal(first, reference[:, 0]):
        return "equal", None
    shift, placed = aligned(mean, reference)
    found, noise_db = shares(placed, reference)
    _, placed_first = aligned(first, reference[:, :1])
    found_first, first_db = shares(placed_first, reference)
    words = []
    if not numpy.allclose(found, 1 / channels, atol=0.15 / channels):
        words.append("SHARES " + " ".join(f"{share * channels:.1f}" for share in found))
    if not numpy.allclose(found_first, numpy.eye(channels)[0], atol=0.15):
        words.append("FIRST CHANNEL " + " ".join(f"{share:.1f}" for share in found_first))
    if shift:
        words.append(f"{abs(shift)} samples {'late' if shift > 0 else 'early'}")
    longer = len(mean) - len(reference)
    if longer:
        words.append(f"{abs(longer)} samples {'longer' if longer > 0 else 'shorter'}")
    return "; ".join(words) or "in place", min(noise_db, first_db)


def decode(paths, arguments):
    """{path: [container, codec, rate, channels, words]}."""
    done = run([arguments.decoder, arguments.worker], input="\n".join(map(str, paths)) + "\n", text=True)
    return {fields[0]: fields[1:] for fields in (line.split("\t") for line in done.stdout.splitlines())}


def compare(item, folder, decoded):
    """(encoder, what it is compared with, outcome), signal to noise, (container, channels); None: the encoder has made
    other channels or another rate of the sound."""
    (encoder, muxer, channels), (path, rate_hz) = item
    container, codec, our_rate, our_channels, words = decoded[str(path)]
    place = (muxer, channels)
    if not container:
        return (encoder, "", "refused: " + words), None, place
    if int(our_rate) != rate_hz or int(our_channels) != channels:
        return None
    second = second_decoding(path, container, codec)
    if second and second[2] == rate_hz and second[1].shape[1] == channels:
        name, reference = second[:2]
    else:
        name = "the sound"
        reference = soundfile.read(folder / f"{rate_hz}.{channels}.wav", dtype="float32", always_2d=True)[0]
    outcome, decibels = judge(path, reference)
    return (encoder, name, outcome + (f"; told: {words}" if words else "")), decibels, place


def table_of(rows):
    """Lines: encoder, containers with their numbers of channels, compared with, outcome, least signal to noise."""
    groups = collections.defaultdict(lambda: (collections.defaultdict(list), []))
    for key, decibels, (muxer, channels) in filter(None, rows):
        places, found = groups[key]
        places[muxer].append(channels)
        found += [] if decibels is None else [decibels]
    for (encoder, name, outcome), (places, found) in groups.items():
        by_channels = collections.defaultdict(list)
        for muxer, channels in places.items():
            by_channels[",".join(map(str, channels))].append(muxer)
        where = "; ".join(f"{' '.join(muxers)} ({channels})" for channels, muxers in by_channels.items())
        yield encoder, where, name, outcome, f"{min(found):.0f} dB" if found else ""


def versions():
    ffmpeg = run(["ffmpeg", "-version"], text=True).stdout.split()[2]
    packages = "mpg123 opus-tools vorbis-tools faad flac wavpack speex libdca-utils".split()
    found = run(["dpkg-query", "-W", "-f", "${Package} ${Version}, ", *packages], text=True).stdout
    return f"# FFmpeg {ffmpeg}; libsndfile {soundfile.__libsndfile_version__}; {found.rstrip(', ')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--decoder", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--encoders", nargs="*")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    for rate_hz in RATES_HZ:
        for channels in CHANNELS:
            soundfile.write(folder / f"{rate_hz}.{channels}.wav", sounds(rate_hz, channels), rate_hz, subtype="PCM_16")
    is_accepted = accepts()
    suffixes = muxers()
    jobs = [
        (encoder, muxer, channels)
        for encoder in arguments.encoders or encoders()
        for muxer in suffixes
        if is_accepted(encoder, muxer)
        for channels in CHANNELS
    ]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda job: encode(folder, job[0], job[1], suffixes[job[1]], job[2]), jobs))
        files = {job: file for job, file in zip(jobs, made) if file}
        decoded = decode([file[0] for file in files.values()], arguments)
        rows = list(pool.map(lambda item: compare(item, folder, decoded), files.items()))
    print(versions())
    print("# encoder", "containers (channels)", "compared with", "outcome", "signal to noise", sep="\t")
    for row in table_of(rows):
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
