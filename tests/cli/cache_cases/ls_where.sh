xtts-precompute ls cache --where 'source_rate > 30000 or text ~ "^[ا-ی]"' | cut -f 1,6
