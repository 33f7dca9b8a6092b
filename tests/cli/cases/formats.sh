xtts-precompute formats | grep -E '^(wav|hls|g722|s16le|png_pipe|pcm_s16le|demuxer|decoder) ' | cut -d' ' -f1 | sort -u
xtts-precompute formats --json | check_json formats
