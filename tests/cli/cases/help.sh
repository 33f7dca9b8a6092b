for command in "" verify info ls show diff convert compact recipes completion; do xtts-precompute $command --help; done
