"""What all rooms use: errors, checks of arguments, arrays over C++ memory, optional frameworks."""
