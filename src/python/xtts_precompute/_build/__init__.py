"""What only builds need: the compiled part that builds, the program, and bars. Loaded by the first call."""
