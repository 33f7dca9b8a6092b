for _ in 1 2 3 4 5; do xtts-precompute completion bash | head -n 1 | cut -c 1-17; [ "${PIPESTATUS[0]}" -eq 0 ]; done
