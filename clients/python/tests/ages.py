"""A line to a real agent that makes it look newer or older, by the description (clients/openapi.json)."""

import json
import re
import threading
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DESCRIBED: Any = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
SCHEMAS, PATHS = DESCRIBED["components"]["schemas"], DESCRIBED["paths"]
WORD, FIELD, VALUE = "later-word", "laterField", {"state": "ended", "outcome": "approved", "of": [{}]}  # unknown


def whole(schema: Any) -> Any:
    """Follows a reference, and leaves out `null`."""
    if "$ref" in schema:
        return whole(DESCRIBED["components"][schema["$ref"].split("/")[2]][schema["$ref"].split("/")[3]])
    return whole(schema["anyOf"][0]) if "anyOf" in schema else schema


def aged(is_newer: bool, value: Any, schema: Any) -> Any:
    """Changes a value and everything in it. In a map, an unknown field would be an entry, so maps stay as they are."""
    schema = whole(schema)
    if isinstance(value, list):
        return [aged(is_newer, one, schema.get("items", {})) for one in value]
    if not isinstance(value, dict) or schema.get("additionalProperties"):
        return value
    changed: dict[str, Any] = {FIELD: VALUE} if is_newer else {}
    for name, one in value.items():
        of = schema.get("properties", {}).get(name, {})
        if is_newer and name in ("reason", "step") and of and "enum" not in whole(of):
            changed[name] = WORD
        elif is_newer or "earlier version" not in of.get("description", ""):
            changed[name] = aged(is_newer, one, of)
    return changed


class Line(ThreadingHTTPServer):
    """The line. `loses` answers to a begin are dropped, and `cuts` streams are cut inside their third event."""

    def __init__(self, is_newer: bool, agent: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.is_newer, self.agent, self.loses, self.cuts, self.streams = is_newer, agent, 0, 0, 0
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Line

    def carry(self) -> None:
        path, line = self.path.partition("?")[0], self.server
        asked = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not line.is_newer and path == "/v1/latest":
            return self.answer(404, "application/problem+json", b'{"status": 404, "code": "not-found"}')
        # The till may end a stream at any time.
        with suppress(OSError), closing(HTTPConnection(line.agent.removeprefix("http://"), timeout=60)) as agent:
            agent.request(self.command, self.path, asked or None, dict(self.headers))
            got = agent.getresponse()
            kind = got.headers.get_content_type()
            if kind == "text/event-stream":
                self.answer(200, kind)
                return self.stream(got)
            body = got.read()
            if line.loses and (self.command, path) == ("POST", "/v1/sales"):
                line.loses -= 1
                return None
            if kind.endswith("json"):
                of = next(of for one, of in PATHS.items() if re.fullmatch(re.sub("{.+?}", "[^/]+", one), path))
                described = whole(of[self.command.lower()]["responses"][str(got.status)])["content"][kind]["schema"]
                body = json.dumps(aged(line.is_newer, json.loads(body), described)).encode()
            return self.answer(got.status, kind, body)

    do_GET = do_POST = carry  # noqa: N815

    def answer(self, status: int, kind: str, body: bytes = b"") -> None:
        head = f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def stream(self, got: HTTPResponse) -> None:
        line, told, latest = self.server, 0, b""
        line.streams += 1
        for text in got:
            latest = text if text.startswith(b"id: ") else latest
            told += (is_event := text.startswith(b"data: "))
            if told == 3 and line.cuts:
                line.cuts -= 1
                self.wfile.write(text[:20])
                return
            if is_event:
                event = json.loads(text[6:])
                data = aged(line.is_newer, event, SCHEMAS["Event"]) | {"step": event["step"]}
                text = b"data: %s\n" % json.dumps(data).encode()
                if line.is_newer:
                    later = json.dumps({name: one for name, one in data.items() if name != "sale"} | {"step": WORD})
                    text += b"\n%sevent: %s\ndata: %s\n" % (latest, WORD.encode(), later.encode())
            self.wfile.write(text)
