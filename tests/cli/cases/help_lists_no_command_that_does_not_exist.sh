! xtts-precompute --help | grep -E "^ +warm "
