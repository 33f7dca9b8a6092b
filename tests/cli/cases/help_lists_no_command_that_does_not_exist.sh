! xtts-precompute --help | grep -E "^ +(warm|config|doctor|monitor) "
