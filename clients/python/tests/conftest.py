"""The terminal of the unit tests: a scripted HTTP server, with TLS if a test needs it."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trustme

from pos_agent_client import AsyncTerminal, Terminal

TOKEN = "a-secret-token-5f0c"
Reply = tuple[int, dict[str, str], bytes] | None
"""Status, headers and body, or `None` to cut the connection without an answer."""


def reply(body: Any, status: int = 200, **headers: str) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, content


def problem(code: str, status: int, **more: Any) -> Reply:
    return reply({"status": status, "code": code, "detail": f"about {code}", **more}, status)


class FakeTerminal:
    """A server that gives one reply after the other, and keeps the requests. The last reply is given again."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.replies: list[Reply | Callable[[Any], Reply]] = []
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = (self.command, self.path, headers, json.loads(body) if body else None)
                fake.requests.append(request)
                one = fake.replies.pop(0) if len(fake.replies) > 1 else fake.replies[0]
                given = one(request) if callable(one) else one
                if given is None:
                    self.close_connection = True
                    return
                status, more, content = given
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                if more.get("Transfer-Encoding") is None and more.get("Connection") != "close":
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Both:
    """Runs the same call with the blocking and with the asynchronous terminal, and returns what it returns."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, url: str, name: str, *args: Any, token: str | None = TOKEN, ca: Any = None, **more: Any) -> Any:
        limit = more.pop("take", None)
        if self.kind == "sync":
            with Terminal(url, token, ca=ca) as terminal:
                result = getattr(terminal, name)(*args, **more)
                if not inspect.isgenerator(result):
                    return result
                items = list(itertools.islice(result, limit))
                result.close()
                return items
        return asyncio.run(self._async(url, name, args, token, ca, more, limit))

    async def _async(
        self, url: str, name: str, args: Any, token: str | None, ca: Any, more: Any, limit: int | None
    ) -> Any:
        async with AsyncTerminal(url, token, ca=ca) as terminal:
            result = getattr(terminal, name)(*args, **more)
            if not inspect.isasyncgen(result):
                return await result
            items = []
            async for item in result:
                items.append(item)
                if limit and len(items) == limit:
                    break
            await result.aclose()
            return items


@pytest.fixture(params=["sync", "async"])
def both(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)


@pytest.fixture
def fake() -> Iterator[FakeTerminal]:
    fake = FakeTerminal()
    yield fake
    fake.close()


@pytest.fixture
def ca() -> trustme.CA:
    return trustme.CA()


def server_context(ca: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(*(names or ("127.0.0.1",))).configure_cert(context)
    return context


@pytest.fixture
def tls_fake(ca: trustme.CA) -> Iterator[FakeTerminal]:
    fake = FakeTerminal(server_context(ca))
    yield fake
    fake.close()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Makes pauses short and moves the clock instead. Returns the pauses."""
    pauses: list[float] = []
    clock = [1000.0]

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock[0] += seconds

    async def sleep_async(seconds: float) -> None:
        sleep(seconds)

    monkeypatch.setattr("pos_agent_client.client._sleep", sleep)
    monkeypatch.setattr("pos_agent_client.client._sleep_async", sleep_async)
    monkeypatch.setattr("pos_agent_client.flows._now", lambda: clock[0])
    monkeypatch.setattr("pos_agent_client.pairing._now", lambda: clock[0])
    return pauses
