xtts-precompute ls cache | head -n 1 | cut -f 1; exit "${PIPESTATUS[0]}"
