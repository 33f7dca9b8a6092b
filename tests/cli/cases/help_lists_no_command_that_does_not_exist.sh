! xtts-precompute --help | grep -E "^ +(diff|convert|merge|compact|warm|config|doctor|bench|monitor) "
