xtts-precompute recipes --json | check_json recipes; xtts-precompute --json recipes hifigan | check_json recipe
