# A cache of a shipped recipe's name with other features says so in a line: in info, verify and a build
# by the shipped recipe. Keys that change no numbers are not told.
rm -rf cache other
xtts-precompute build data cache --recipe f5-tts --set resampler=soxr_hq --max-rejects 1 --quiet
xtts-precompute info cache | grep differs
xtts-precompute verify cache | grep differs
xtts-precompute build data cache --recipe f5-tts --max-rejects 1 || echo "exit $?"
xtts-precompute build data other --recipe f5-tts --set max_frames=900 --max-rejects 1 --quiet
xtts-precompute info other | grep differs || echo "no difference"
