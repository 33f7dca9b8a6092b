for command in "" verify info ls show convert compact recipes completion; do xtts-precompute $command --help; done
