# Control characters of a file's name are told, not sent to the terminal, also in an error.
name=$(printf 'a\033[31mb')
xtts-precompute info "$name" 2>&1
xtts-precompute build "$name" cache 2>&1
xtts-precompute build . cache --recipe "$name" 2>&1
mkdir "$name" && xtts-precompute build "$name" cache 2>&1 | tr -dc "\033" | wc -c
