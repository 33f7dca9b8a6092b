for command in "" verify info ls show diff recipes completion; do xtts-precompute $command --help; done
