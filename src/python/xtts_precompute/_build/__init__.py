"""What only builds need: the compiled builder, the program, progress bars. Loaded at the first call."""
