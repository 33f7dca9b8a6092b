"""Times the loader that a training uses: as fast as it can, and beside a step that sleeps."""
