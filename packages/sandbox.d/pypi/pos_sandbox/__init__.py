"""A payment terminal for developers: the real programs with simulated devices, in one file.

>>> with pos_sandbox.opened("--auto") as shop:
...     print(shop["agent"], shop["token"])
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["opened", "program"]


def program() -> Path:
    """Return the path of the program."""
    return Path(__file__).with_name("pos-sandbox")


@contextmanager
def opened(*arguments: str) -> Iterator[dict[str, Any]]:
    """Open a shop, and yield its addresses; the shop ends with the block."""
    command = [str(program()), "--json", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None and running.stdout is not None
        try:
            line = running.stdout.readline()
            if not line:
                raise RuntimeError(f"pos-sandbox ended with {running.wait()}; its standard error says why")
            yield json.loads(line)
        finally:
            running.stdin.close()
            running.wait(timeout=30)
