cp -r cache copy
xtts-precompute diff cache copy --quiet
