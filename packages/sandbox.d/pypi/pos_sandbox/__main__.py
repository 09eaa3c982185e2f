"""Runs the program with the same arguments."""

import os
import sys

from pos_sandbox import program


def main() -> None:
    """Replace this process with the program."""
    os.execv(program(), ["pos-sandbox", *sys.argv[1:]])


if __name__ == "__main__":
    main()
