xtts-precompute bench cache --batch-size 1 --num-batches 50 --quiet --png times.png --svg times.svg > /dev/null
head -c 8 times.png | od -An -c
grep -o '<title>.*</title>' times.svg
