# A Persian corpus whose list is in Windows-1256, with names that do not match its files.
mkdir -p farsi/wavs
sounds=(data/wavs/*.wav)
for name in one two $'\u0622\u0628' $'\u06CC\u06A9'; do cp "${sounds[0]}" "farsi/wavs/$name.wav"; done
mv $'farsi/wavs/\u0622\u0628.wav' $'farsi/wavs/\u0627\u0653\u0628.wav'
printf '%s\n' \
  $'one|\u0643\u062A\u0627\u0628\u200C\u0647\u0627\u064A \u0645\u0646' \
  $'two|\u0628\u0650\u0633\u064A\u0627\u0631\u200C\u200C \u062E\u0648\u0628' \
  $'\u0622\u0628|\u0622\u0628' \
  $'\u064A\u06A9|\u064A\u06A9' | iconv -f utf-8 -t cp1256 > farsi/metadata.csv

characters=(--set text.tokens=characters --set $'text.vocabulary= \u0627\u0622\u0628\u062A\u062E\u0631\u0633\u06A9\u0645\u0646\u0648\u0647\u06CC')
options=(--encoding cp1256 --max-rejects 1 --quiet "${characters[@]}")
echo '-- as it is:'
xtts-precompute farsi new "${options[@]}" --dry-run 2>&1 | grep Unknown
xtts-precompute farsi new "${options[@]}"
xtts-precompute ls new --columns id,text_len,text
grep -o '"detail":"[^"]*"' new/rejects.jsonl
echo '-- normalized:'
xtts-precompute farsi new "${options[@]}" --set 'text.normalize=[nfc, arabic_letters, zwnj, diacritics]'
xtts-precompute ls new --columns id,text_len,text
xtts-precompute show new one | grep -E '^ *(text|normalized)'
echo '-- without its encoding:'
xtts-precompute farsi other --quiet "${characters[@]}" 2>&1 | head -3
echo '-- with a wrong name:'
xtts-precompute farsi other --encoding cp9999 2>&1 | tail -1
