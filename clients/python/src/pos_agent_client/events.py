"""The stream of events: Server-Sent Events, without a connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from .errors import BrokenStream
from .types import Progress, Sale

LONGEST_LINE = 1024 * 1024
"""The longest line and the longest event, in bytes."""


@dataclass(frozen=True)
class Event:
    """A step. `data` is the agent's object, and `id` goes into `events(after=…)`."""

    step: str
    data: Progress
    id: str | None = None

    @property
    def reference(self) -> str:
        """The reference of the transaction, or an empty text for a step of the terminal itself."""
        return self.data.get("reference", "")

    @property
    def sale(self) -> Sale | None:
        """The transaction, if the step changes it."""
        return self.data.get("sale")


@dataclass(frozen=True)
class Reset:
    """Events were missed. Ask for the sales and the status again."""

    id: str | None = None


class EventReader:
    """Reads events from bytes that may be divided anywhere. `last_id` is that of the last event."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        self.starts()

    def starts(self) -> None:
        """Forgets an event that an earlier connection left incomplete."""
        self._rest, self._skips_line_feed, self._is_first = bytearray(), False, True
        self._forget()

    def _forget(self) -> None:
        self._step, self._id, self._data, self._size = "", self.last_id, list[str](), 0

    def feed(self, chunk: bytes) -> Iterator[Event | Reset]:
        """Yields the events that these bytes complete."""
        for line in self._lines(chunk):
            if line:
                self._field(line)
            elif (event := self._event()) is not None:
                yield event

    def _lines(self, chunk: bytes) -> Iterator[str]:
        """Yields each whole line. A line ends with CR LF, LF or CR, and CR LF may be divided."""
        if self._skips_line_feed and chunk:
            chunk, self._skips_line_feed = chunk.removeprefix(b"\n"), False
        self._skips_line_feed = chunk.endswith(b"\r") or (self._skips_line_feed and not chunk)
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in ended:
            self._grow(end)
            line = self._rest.decode("utf-8", "replace")
            self._rest.clear()
            yield line.removeprefix("\ufeff") if self._is_first else line
            self._is_first = False
        self._grow(rest)

    def _grow(self, more: bytes) -> None:
        self._rest += more
        if len(self._rest) > LONGEST_LINE:
            raise BrokenStream(f"a line has more than {LONGEST_LINE} bytes")

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._step = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)
            self._size += len(value) + 1
            if self._size > LONGEST_LINE:
                raise BrokenStream(f"an event has more than {LONGEST_LINE} bytes")

    def _event(self) -> Event | Reset | None:
        self.last_id, step, text = self._id, self._step, "\n".join(self._data)
        self._forget()
        if not text and step != "reset":
            return None
        if step == "reset":
            return Reset(self.last_id)
        try:
            data: Any = json.loads(text)
        except ValueError:
            raise BrokenStream("an event is not JSON") from None
        if not isinstance(data, dict):
            raise BrokenStream("an event is not an object")
        return Event(step or str(data.get("step", "message")), cast("Progress", data), self.last_id)
