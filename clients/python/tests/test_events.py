"""The stream of events: bytes divided anywhere, resumption, resets and limits."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pos_agent_client import BrokenStream, Event, Reset, TooMany, Unauthorized
from pos_agent_client.events import LONGEST_LINE, EventReader

from .conftest import Both, FakeTerminal, Reply, problem

TEXT = (
    '\ufeff: listening\n\nid: 7-1\r\nevent: ended\r\ndata: {"till":"ä",\r\ndata: "reference":"r-1"}\r\n\r\n:\n\n'
    'event: reset\nid: 7-2\ndata: {}\n\nretry: 5\nunknown\nid\rdata:{"step":"idle"}\r\revent: x\n\ndata: {"cut": 1}\n'
).encode()


def read(*parts: bytes) -> list[Event | Reset]:
    reader = EventReader()
    return [event for part in parts for event in reader.feed(part)]


WHOLE = read(TEXT)


def test_events_are_read() -> None:
    first, reset, last = WHOLE
    assert isinstance(first, Event)
    assert (first.step, first.id, first.reference, first.sale) == ("ended", "7-1", "r-1", None)
    assert reset == Reset("7-2")
    assert last == Event("idle", {"step": "idle"}, "")  # type: ignore[typeddict-item]


def test_bytes_may_be_divided_at_every_place() -> None:
    for cut in range(len(TEXT) + 1):
        assert read(TEXT[:cut], b"", TEXT[cut:]) == WHOLE, cut
    assert read(*(TEXT[at : at + 1] for at in range(len(TEXT)))) == WHOLE


@given(st.lists(st.integers(0, len(TEXT))))
def test_bytes_may_be_divided_in_any_way(cuts: list[int]) -> None:
    places = sorted([0, *cuts, len(TEXT)])
    assert read(*(TEXT[at:end] for at, end in itertools.pairwise(places))) == WHOLE


@given(
    st.lists(st.tuples(st.dictionaries(st.text(), st.text()), st.sampled_from(["\n", "\r", "\r\n"]))), st.integers(1, 9)
)
def test_what_is_written_is_read(written: list[tuple[dict[str, str], str]], size: int) -> None:
    text = "".join(
        f"event: a{end}id: {number}{end}data: {json.dumps(data)}{end}{end}"
        for number, (data, end) in enumerate(written)
    ).encode()
    events = read(*(text[at : at + size] for at in range(0, len(text), size)))
    assert [(event.id, event.data) for event in events if isinstance(event, Event)] == [
        (str(number), data) for number, (data, _) in enumerate(written)
    ]


@given(st.lists(st.binary()))
def test_any_bytes_are_events_or_a_broken_stream(parts: list[bytes]) -> None:
    with contextlib.suppress(BrokenStream):
        read(*parts)


def test_memory_is_bounded() -> None:
    parts = LONGEST_LINE // 1000 + 2
    with pytest.raises(BrokenStream, match="a line"):
        read(*[b"x" * 1000] * parts)
    with pytest.raises(BrokenStream, match="an event"):
        read(*[b"data:" + b"x" * 1000 + b"\n"] * parts)


@pytest.mark.parametrize("data", [b"{", b"[1]", b"7"])
def test_an_event_is_an_object(data: bytes) -> None:
    with pytest.raises(BrokenStream):
        read(b"data: " + data + b"\n\n")


def stream(text: str) -> Reply:
    return 200, {"Content-Type": "text/event-stream", "Connection": "close"}, text.encode()


def test_a_lost_stream_continues_after_the_last_event(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    fake.replies = [
        stream('id: 1\nevent: idle\ndata: {"till":""}\n\nid: 2\nevent: cut\ndata: {'),
        None,
        None,
        problem("agent-down", 503, retryAfterS=3),
        problem("a-later-word", 502),
        stream("id: 9\nevent: reset\ndata: {}\n\n"),
        stream('event: a-later-step\ndata: {"news":1}\n\n'),
    ]
    events: list[Any] = both(fake.url, "events", take=3, after="0")
    assert [type(event) for event in events] == [Event, Reset, Event]
    assert events[2].step == "a-later-step"
    asked = [headers.get("last-event-id") for _, _, headers, _ in fake.requests]
    assert asked == ["0", "1", "1", "1", "1", "1", "9"]
    assert no_pauses == [1, 2, 4, 8, 16, 1]


def test_a_refusal_ends_the_events_and_a_full_terminal_does_not(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    fake.replies = [problem("too-many-listeners", 429, retryAfterS=5), problem("unauthorized", 401)]
    with pytest.raises(Unauthorized):
        both(fake.url, "events")
    assert no_pauses == [5]
    assert issubclass(TooMany, Exception)


def test_comments_keep_a_stream_alive_and_silence_ends_it(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pos_agent_client.client.SILENCE_S", 0.5)
    began: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for connection in range(2):
                client, _ = listener.accept()
                client.recv(65536)
                began.append(time.monotonic())
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                for _ in range(5):
                    client.sendall(b":\n\n")
                    time.sleep(0.2)
                if connection:
                    client.sendall(b'event: idle\ndata: {"till":""}\n\n')
                kept.append(client)

        kept: list[socket.socket] = []
        threading.Thread(target=serve, daemon=True).start()
        event = both(f"http://127.0.0.1:{listener.getsockname()[1]}", "events", take=1)[0]
        assert event.step == "idle"
        # A second of comments, half a second of silence, and the pause before the next attempt.
        assert 2 < began[1] - began[0] < 10
        for client in kept:
            client.close()
