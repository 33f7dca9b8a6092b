! xtts-precompute --help | grep -E "^ +(convert|merge|compact|warm|config|doctor|bench|monitor) "
