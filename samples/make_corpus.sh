#!/usr/bin/env bash
# samples/make_corpus.sh FOLDER [CLIPS]: makes a small corpus to try the project's commands on: 40
# clips, or CLIPS, of synthetic speech (espeak-ng) in LJSpeech's layout. They are WAV, FLAC, MP3,
# Opus and m4a, at 44.1, 48 and 22.05 kHz, mono and stereo.
set -euo pipefail
folder=${1:?usage: samples/make_corpus.sh FOLDER [CLIPS]}
clips=${2:-40}
for tool in espeak-ng ffmpeg; do
  command -v "$tool" >/dev/null || { echo "missing: apt-get install espeak-ng ffmpeg" >&2; exit 1; }
done
mkdir -p "$folder/wavs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sentences=(
  "The quick brown fox jumps over the lazy dog."
  "A journey of a thousand miles begins with a single step."
  "She sells sea shells by the sea shore, and the shells she sells are surely sea shells."
  "In 1912 the library held 3,400 books; today it holds more than two million."
  "Please call me back before half past seven."
  "Rain fell softly on the roof while the old clock struck nine."
  "Nothing travels faster than light, except perhaps bad news."
  "He opened the letter, read it twice, and put it back without a word."
)
numbers_spelt=(
  "" "" ""
  "In nineteen twelve the library held three thousand four hundred books; today it holds more than \
two million."
  "" "" "" ""
)
# extension, sample rate, channels, encoder options
formats=(
  "wav 22050 1"
  "wav 44100 2"
  "flac 44100 2"
  "mp3 44100 2 -b:a 128k"
  "opus 48000 1 -c:a libopus -b:a 48k"
  "m4a 44100 2 -c:a aac -b:a 96k"
  "flac 22050 1"
  "wav 48000 1"
)
voices=(en-us en-gb en-us+f3 en-gb+m3)

: >"$folder/metadata.csv"
for ((i = 0; i < clips; ++i)); do
  sentence=${sentences[i % ${#sentences[@]}]}
  normalized=${numbers_spelt[i % ${#sentences[@]}]:-$sentence}
  voice=${voices[(i / ${#sentences[@]}) % ${#voices[@]}]}
  id=$(printf 'sample-%04d' $((i + 1)))
  espeak-ng -v "$voice" -s $((140 + i % 5 * 10)) -w "$work/speech.wav" "$normalized"
  read -r extension rate channels options <<<"${formats[i % ${#formats[@]}]}"
  # shellcheck disable=SC2086  # the options are words of their own
  ffmpeg -nostdin -v error -y -i "$work/speech.wav" -ar "$rate" -ac "$channels" $options \
    "$folder/wavs/$id.$extension"
  printf '%s|%s|%s\n' "$id" "$sentence" "$normalized" >>"$folder/metadata.csv"
done
echo "$clips clips in $folder" >&2
