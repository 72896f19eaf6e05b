"""`python -m bruit` is the command line."""

from bruit.cli import main

main()
