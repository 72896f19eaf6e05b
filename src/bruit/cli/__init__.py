"""The command line: each command is one module and a call into the library."""

from bruit.cli.app import main

__all__ = ["main"]
