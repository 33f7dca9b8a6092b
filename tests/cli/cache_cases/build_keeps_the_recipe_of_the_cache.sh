# A build keeps the recipe of the cache. Into another recipe it says what differs, and what keeps the cache's.
rm -rf cache
xtts-precompute build data cache --recipe tacotron2 --max-rejects 1 --quiet
xtts-precompute build data cache --max-rejects 1 --quiet && echo "the cache's recipe"
xtts-precompute build data cache --recipe myxtts --max-rejects 1 || echo "exit $?"
xtts-precompute build data cache --set n_mels=40 --max-rejects 1 || echo "exit $?"
xtts-precompute build data cache --set n_mels=40 --max-rejects 1 --overwrite --quiet
xtts-precompute info cache | grep -E "^recipe|mel "
