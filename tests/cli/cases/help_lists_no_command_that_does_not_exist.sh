! xtts-precompute --help | grep -E "^ +(merge|warm|config|doctor|bench|monitor) "
