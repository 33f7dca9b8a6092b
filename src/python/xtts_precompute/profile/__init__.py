"""What a training step's time goes to: StepProfiler, its report, and the command `xtts-precompute-profile`."""
