# A build into a cache of another recipe says what differs, and which option asks for the cache's recipe again.
rm -rf cache
xtts-precompute build data cache --recipe tacotron2 --max-rejects 1 --quiet
xtts-precompute build data cache --max-rejects 1 || echo "exit $?"
xtts-precompute build data cache --recipe tacotron2 --set n_mels=40 --max-rejects 1 || echo "exit $?"
xtts-precompute build data cache --recipe tacotron2 --max-rejects 1 --quiet && echo "the cache's recipe"
