xtts-precompute build data cache --device 0
