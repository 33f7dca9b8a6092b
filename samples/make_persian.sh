#!/usr/bin/env bash
# samples/make_persian.sh FOLDER [ENCODING]: makes a Persian corpus of six clips (espeak-ng) in
# LJSpeech's layout. Its list is as lists of Persian often are: Arabic letters, Persian digits, zero
# width non-joiners, vowel signs. One file has its name in Unicode's form D, as macOS writes it.
# ENCODING: the list's, such as cp1256.
set -euo pipefail
folder=${1:?usage: samples/make_persian.sh FOLDER [ENCODING]}
encoding=${2:-utf-8}
command -v espeak-ng >/dev/null || { echo "missing: apt-get install espeak-ng" >&2; exit 1; }
mkdir -p "$folder/wavs"

texts=(
  "jomle-1|سلام، این یک جمله کوتاه است."
  "jomle-2|كتاب‌هاي من روي ميز است."
  "jomle-3|من در سال ۱۳۷۵ به دنیا آمدم."
  "jomle-4|او می‌گوید که فردا باران می‌آید."
  "jomle-5|بِسیار خُوب، سَپاس‌گُزارَم."
  "آواز-6|هوا امروز ســرد است."
)
for line in "${texts[@]}"; do
  espeak-ng -v fa -w "$folder/wavs/${line%%|*}.wav" "${line#*|}"
done
mv "$folder/wavs/آواز-6.wav" "$folder/wavs/"$'\u0627\u0653'"واز-6.wav"
if [ "$encoding" != utf-8 ]; then  # Windows-1256 has neither the Persian yeh nor its digits
  texts=("${texts[@]//ی/ي}")
  texts=("${texts[@]//۱۳۷۵/1375}")
fi
printf '%s\n' "${texts[@]}" | iconv -f utf-8 -t "$encoding" >"$folder/metadata.csv"
echo "${#texts[@]} clips in $folder" >&2
