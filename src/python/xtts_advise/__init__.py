"""The adviser: judges and speaks. It needs neither the compiled module nor NumPy."""
