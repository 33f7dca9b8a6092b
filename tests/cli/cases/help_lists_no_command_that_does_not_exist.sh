! xtts-precompute --help | grep -E "^ +(warm|config|doctor|bench|monitor) "
