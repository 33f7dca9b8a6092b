# The plain command on a corpus of which two clips in eighteen are longer than 9.3 s and 200 bytes
# of text. Then an update with a longer clip yet, and another number than the cache's.
cat >make_data.py <<'PYTHON'
import sys
import wave

first, last = int(sys.argv[1]), int(sys.argv[2])
for number in range(first, last):
    seconds = {7: 10.5, 16: 12.0, 18: 20.0}.get(number, 1.0 + number / 10)
    with wave.open(f"data/{number:02}.wav", "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes((i * i // 7 + i * number) % 251 for i in range(int(seconds * 8000) * 2)))
    with open(f"data/{number:02}.txt", "w") as file:
        file.write("spoken " * int(seconds * 3))
PYTHON
mkdir data
python3 make_data.py 0 18
xtts-precompute data cache --set corpus.clipped=keep --quiet
echo "exit code $?"
xtts-precompute info cache --json | python3 -c 'import json, sys
recipe = json.load(sys.stdin)["recipe"]
print(recipe["features"]["max_frames"], recipe["text"]["max_tokens"])'
xtts-precompute data cache --set corpus.clipped=keep 2>&1 | cut -d"(" -f1
python3 make_data.py 18 19
xtts-precompute data cache --set corpus.clipped=keep --quiet --json >report.json
check_json build <report.json && python3 -c 'import json
report = json.load(open("report.json"))
print(report["records"], report["lengths"], report["rejects"]["kinds"][0]["example"]["reason"])'
xtts-precompute data cache --set corpus.clipped=keep --set max_frames=1024 --quiet
echo "exit code $?"
xtts-precompute data whisper --recipe whisper-80 --set corpus.clipped=keep --quiet --json | python3 -c 'import json, sys
report = json.load(sys.stdin)
print(report["records"], report["cut"], report["cut_texts"], report["lengths"])'
xtts-precompute data short --recipe tacotron2 --set corpus.clipped=keep --dry-run --quiet --json >dry.json
check_json build_dry_run <dry.json && python3 -c 'import json
print(json.load(open("dry.json"))["lengths"])'
xtts-precompute data short --recipe tacotron2 --set corpus.clipped=keep --dry-run | grep -A 1 Lengths
