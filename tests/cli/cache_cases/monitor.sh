mkdir stats
xtts-precompute monitor --cache cache --readers stats --for 1 --interval 250 --csv m.csv --prometheus m.prom --json >found
check_json monitor <found
head -1 m.csv | cut -d, -f1-3
head -2 m.prom
xtts-precompute monitor --interval 1
xtts-precompute monitor --cache no-cache --for 1
