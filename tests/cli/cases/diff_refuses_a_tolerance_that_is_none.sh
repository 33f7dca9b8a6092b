xtts-precompute diff a b --tolerance -1
