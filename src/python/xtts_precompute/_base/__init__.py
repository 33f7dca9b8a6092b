"""What all rooms use: errors, checks of arguments, arrays over memory of C++, and how a framework is found."""
