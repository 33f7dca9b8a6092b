! xtts-precompute --help | grep -E "^ +(diff|merge|warm|config|doctor|bench|monitor) "
