for command in "" verify info ls show recipes completion; do xtts-precompute $command --help; done
