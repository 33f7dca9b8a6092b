! xtts-precompute --help | grep -E "^ +(warm|doctor|monitor) "
