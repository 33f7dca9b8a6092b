#!/usr/bin/env bash
# memory_limit.sh PROGRAM: builds with less and less address space (ulimit -v). A build succeeds,
# or ends with exit code 6 and says why. It never ends by a signal or writes a different cache.
# Without a limit, a build stays within --memory.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"

python3 "$here/make_clips.py" "$folder/data" 20
settings=(--layout packed --set max_frames=52428 --max-rejects 1 --quiet -j 2)  # shards of 8 clips
run build "$folder/data" "$folder/plain" "${settings[@]}"
expect_code 0 "build"

# starts_in KIB: tells whether the system can load the libraries in that much address space.
starts_in() { (ulimit -v "$1" && "$program" --version >/dev/null 2>&1); }

refused=0
done_in=0
cache=$folder/cache
# LMDB and the images of two shards take 1 GiB of addresses each. From 270 MiB on, threads, FFTW's
# planner and buffers meet the limit.
for mib in 8000 4000 2000 700 300 270 255 245 235 230 225 220 215 210 205 200 195 190 185; do
  starts_in $((mib * 1024)) || break
  rm -rf "$cache"
  (ulimit -v $((mib * 1024)) && exec "$program" build "$folder/data" "$cache" "${settings[@]}") \
    >"$folder/out" 2>"$folder/err" && code=0 || code=$?
  case $code in
    0) done_in=$((done_in + 1)) ;;
    6)
      refused=$((refused + 1))
      grep -qi 'memory' "$folder/err" || fail "$mib MiB: does not say that it is memory"
      ;;
    *) fail "$mib MiB: exit code $code" ;;
  esac
  run build "$folder/data" "$cache" "${settings[@]}"
  expect_code 0 "going on after $mib MiB"
  same_bytes "$folder/plain" "$cache" "going on after $mib MiB"
done
[ "$done_in" -ge 1 ] || fail "no build ended well within 8,000 MiB"
[ "$refused" -ge 1 ] || fail "no build was refused memory"

# The cache has two padded shards of 128 MiB. A build fills one while it writes the other.
python3 "$here/make_clips.py" "$folder/many" 700 0.1
python3 - "$program" "$folder" <<'PY' || fail "a build took more than --memory"
import resource, subprocess, sys
program, folder = sys.argv[1:]
build = [program, "build", folder + "/many", folder + "/two-shards", "--memory", "512M", "--quiet"]
subprocess.run(build, check=True)
peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"peak of --memory 512M: {peak_mib} MiB")
sys.exit(peak_mib > 512)
PY
conclude "$done_in builds had enough address space, $refused did not"
