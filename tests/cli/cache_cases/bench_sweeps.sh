# Nine clips fill batches of 8 and none of 16. How many threads are tried is up to the machine.
mkdir tones
python3 - <<'PYTHON'
import math, struct, wave
for number in range(9):
    with wave.open(f"tones/{number}.wav", "wb") as file:
        file.setparams((1, 2, 22050, 0, "NONE", ""))
        wave_of = (math.sin(i * (number + 3) / 40) * 9000 for i in range(22050))
        file.writeframes(b"".join(struct.pack("<h", int(one)) for one in wave_of))
PYTHON
xtts-precompute tones nine --no-text --quiet
xtts-precompute bench nine --sweep --num-batches 5
xtts-precompute bench nine --sweep --num-batches 5 --json > sweep.json
check_json bench < sweep.json
python3 - <<'PYTHON'
import json
sweep = json.load(open("sweep.json"))
best, rows = sweep["recommended"], sweep["runs"]
print("sizes", sorted({row["batch_size"] for row in rows}), "prefetch", sorted({row["prefetch"] for row in rows}))
print("in its range", best["ms"]["low"] <= best["ms"]["median"] <= best["ms"]["high"], best["rounds"], best["certainty"])
print("measured again", [sweep[key] for key in ("batch_size", "threads", "prefetch")] ==
      [best[key] for key in ("batch_size", "threads", "prefetch")])
PYTHON
