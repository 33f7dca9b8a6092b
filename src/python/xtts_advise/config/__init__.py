"""config check: judges a trainer's configuration file, and mends it."""
