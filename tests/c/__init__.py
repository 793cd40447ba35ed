"""The generated C on other compilers and other machines."""
