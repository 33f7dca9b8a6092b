"""Where the time of a training step goes: StepProfiler, its report, and `xtts-precompute profile`."""
