xtts-precompute data new --dry-run --json 2> /dev/null | check_json build_dry_run; [ ! -e new ] && echo nothing written
