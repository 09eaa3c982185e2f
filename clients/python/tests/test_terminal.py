"""Requests, problems, pairing and secrets, against a scripted terminal."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import pickle
import traceback
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import trustme

import pos_agent_client
from pos_agent_client import (
    AsyncTerminal,
    Busy,
    NoAnswer,
    NoReceiptYet,
    NotFound,
    Pairing,
    PairingClosed,
    Problem,
    SupervisorNeeded,
    Terminal,
    TooMany,
    Unauthorized,
    WrongCertificate,
    WrongCode,
    pair,
    pair_async,
)
from pos_agent_client.errors import read_problem
from pos_agent_client.tls import fingerprint_of

from .conftest import TOKEN, Both, FakeTerminal, problem, reply, server_context

CODES = {
    ("busy", 409): Busy,
    ("supervisor-needed", 403): SupervisorNeeded,
    ("unauthorized", 401): Unauthorized,
    ("sign-in", 401): Unauthorized,
    ("no-such-sale", 404): NotFound,
    ("no-receipt-yet", 409): NoReceiptYet,
    ("list-under-way", 429): TooMany,
    ("a-later-word", 418): Problem,
}


@pytest.mark.parametrize(("code", "status"), CODES)
def test_a_refusal_is_a_typed_error(both: Both, fake: FakeTerminal, code: str, status: int) -> None:
    fake.replies = [problem(code, status, retryAfterS=60, field="amount", news={"a": 1})]
    with pytest.raises(Problem) as error:
        both(fake.url, "cancel", "r/1")
    assert type(error.value) is CODES[code, status]
    assert (error.value.code, error.value.status, error.value.retry_after_s) == (code, status, 60)
    assert (error.value.raw["field"], error.value.reference) == ("amount", "r/1")
    assert str(error.value) == f"{code}: about {code}"
    assert fake.requests[0][1] == "/v1/sales/r%2F1/cancel"
    again = pickle.loads(pickle.dumps(error.value))  # noqa: S301
    assert (type(again), again.code) == (type(error.value), code)


def test_a_problem_may_lack_anything_but_its_code() -> None:
    for body in (b"", b"{}", b"[]", b'{"code":7}', b"<html>"):
        assert read_problem(500, {}, body) is None
    bare = read_problem(429, {"retry-after": "soon"}, b'{"code":"x"}')
    assert bare is not None
    assert (bare.status, bare.detail, bare.retry_after_s, str(bare)) == (429, "", None, "x")


def test_an_answer_without_success_or_a_problem_is_no_answer(both: Both, fake: FakeTerminal) -> None:
    for strange in (reply(b"<html>", 502), reply({}, 307, Location="http://127.0.0.1:9/"), reply(b"<html>")):
        fake.replies = [strange]
        with pytest.raises(NoAnswer) as error:
            both(fake.url, "status")
        assert not error.value.may_be_done
    assert len(fake.requests) == 3, "no redirect is followed"
    fake.replies = [None]
    with pytest.raises(NoAnswer) as error:
        both(fake.url, "cancel", "r-1")
    assert (error.value.may_be_done, error.value.reference) == (True, "r-1")


def test_passing_refusals_are_repeated_for_reads_and_for_references(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    busy = problem("list-under-way", 429, retryAfterS=2)
    fake.replies = [busy, problem("no-place", 503), reply({"ready": True})]
    assert both(fake.url, "status") == {"ready": True}
    fake.replies = [busy, reply({"number": 1})]
    assert both(fake.url, "close") == {"number": 1}
    assert len({body["reference"] for method, _, _, body in fake.requests if method == "POST"}) == 1
    assert no_pauses == [2, 1, 2]
    fake.replies = [busy]
    with pytest.raises(TooMany):
        both(fake.url, "ask", "POST", "/v1/reader/text", {"text": "x"})
    assert no_pauses == [2, 1, 2], "a command without a reference is not repeated"
    with pytest.raises(TooMany):
        both(fake.url, "status")
    assert sum(no_pauses) <= 5 + 30


def test_lists_follow_their_cursor(both: Both, fake: FakeTerminal) -> None:
    fake.replies = [
        reply({"sales": [{"number": 1}], "next": "a b"}),
        reply({"sales": [], "next": "c"}),
        reply({"sales": [{"number": 2, "news": True}]}),
    ]
    found = both(fake.url, "sales", from_="2026-11-20T00:00:00+01:00", amount=Decimal("1E+1"), training=True, limit=1)
    assert [sale["number"] for sale in found] == [1, 2]
    first, second, _ = [path for _, path, _, _ in fake.requests]
    assert first == "/v1/sales?from=2026-11-20T00%3A00%3A00%2B01%3A00&amount=10&training=true&limit=1"
    assert second == first + "&cursor=a%20b" or second == first + "&cursor=a+b"
    fake.replies = [reply({"closes": [{"number": 3}], "next": "x"}), reply({})]
    assert both(fake.url, "closes") == [{"number": 3}]


def test_the_requests_of_the_other_methods(both: Both, fake: FakeTerminal) -> None:
    fake.replies = [reply({})]
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("show", "a b"), {"wait_s": 300}),
        (("latest",), {}),
        (("signature", "a", False), {}),
        (("confirm", "a", "8.00"), {}),
        (("receipt", "a"), {"as_": "json", "copy": "merchant", "width": 32}),
        (("print_receipt", "a"), {}),
        (("show_close", "last"), {}),
        (("close",), {"reference": "Z", "print": True}),
    ]
    for args, more in calls:
        both(fake.url, *args, **more)
    fake.replies = [reply(b"TOTAL", Content_Type="text/plain")]
    assert both(fake.url, "receipt", "a") == "TOTAL"
    fake.replies = [reply(b"", 204)]
    assert both(fake.url, "ask", "POST", "/v1/reader/text", {"text": "x"}) is None
    assert [(method, path, body) for method, path, _, body in fake.requests] == [
        ("GET", "/v1/sales/a%20b?wait-s=120", None),
        ("GET", "/v1/latest", None),
        ("POST", "/v1/sales/a/signature", {"accepted": False}),
        ("POST", "/v1/sales/a/confirm", {"taken": "part", "amount": "8.00"}),
        ("GET", "/v1/sales/a/receipt?copy=merchant&width=32", None),
        ("POST", "/v1/sales/a/receipt?copy=customer", {}),
        ("GET", "/v1/closes/last", None),
        ("POST", "/v1/closes", {"reference": "Z", "print": True}),
        ("GET", "/v1/sales/a/receipt?copy=customer", None),
        ("POST", "/v1/reader/text", {"text": "x"}),
    ]
    assert fake.requests[8][2]["accept"] == "text/plain"


def test_both_terminals_have_the_same_methods() -> None:
    own = {name for name in vars(Terminal) if not name.startswith("_")}
    assert own == {name for name in vars(AsyncTerminal) if not name.startswith("_")}
    assert "amount" in str(pos_agent_client.Terminal.sell.__signature__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("reference", ["", ".", ".."])
def test_a_reference_stays_in_its_path(reference: str) -> None:
    with Terminal("http://127.0.0.1:9", TOKEN) as terminal, pytest.raises(ValueError, match="no reference"):
        terminal.show(reference)


# TLS and pairing


@pytest.mark.parametrize(
    "url",
    [
        "http://kasse.local:8651",
        "http://192.168.1.2",
        "ftp://127.0.0.1",
        "https://u:p@h",
        "https://h/v1",
        "https://h/terminals/a/v1",
        "https://h/terminals/../a",
        "kasse",
    ],
)
def test_a_token_goes_only_where_it_is_safe(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        Terminal(url, TOKEN)


def test_a_terminal_at_the_server_of_a_fleet_has_a_path(both: Both, fake: FakeTerminal) -> None:
    fake.replies = [reply({"reference": "a/b", "state": "ended"})]
    both(f"{fake.url}/terminals/shop-17-1/", "show", "a/b")
    assert [path for _, path, _, _ in fake.requests] == ["/terminals/shop-17-1/v1/sales/a%2Fb"]


def pem(ca: trustme.CA) -> str:
    return ca.cert_pem.bytes().decode()


def test_only_the_given_ca_is_trusted(both: Both, tls_fake: FakeTerminal, ca: trustme.CA, tmp_path: Path) -> None:
    tls_fake.replies = [reply({"ready": True})]
    file = tmp_path / "ca.pem"
    file.write_text(pem(ca))
    for trusted in (pem(ca), pem(ca).encode(), file, str(file)):
        assert both(tls_fake.url, "status", ca=trusted)["ready"]
    seen = len(tls_fake.requests)
    for wrong in (pem(trustme.CA()), None):
        for call in (("status",), ("sell", "1.00"), ("events",)):
            with pytest.raises(WrongCertificate):
                both(tls_fake.url, *call, ca=wrong)
    assert len(tls_fake.requests) == seen, "the token was sent to nobody else"


def test_a_certificate_for_another_name_is_wrong(both: Both, ca: trustme.CA) -> None:
    fake = FakeTerminal(server_context(ca, "other.local"))
    with pytest.raises(WrongCertificate):
        both(fake.url, "status", ca=pem(ca))
    fake.close()


class Till:
    """Pairs with either function."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, url: str, **more: Any) -> Pairing:
        name = more.pop("name", "kasse-2")
        return pair(url, name, **more) if self.kind == "sync" else asyncio.run(pair_async(url, name, **more))


@pytest.fixture
def pairs(both: Both) -> Till:
    return Till(both.kind)


BEGUN = reply({"goodForS": 300, "request": "5f0c"})
WAITING = reply({"state": "waiting-for-approval"}, 202)
DONE = reply({"till": "kasse-2", "token": TOKEN, "news": 1}, 201)


def test_a_till_is_paired(
    pairs: Till, tls_fake: FakeTerminal, ca: trustme.CA, no_pauses: list[float], tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    file.write_text(pem(ca))
    certificate = reply(pem(ca).encode())
    shown: list[str] = []

    def confirm(text: str) -> bool:
        shown.append(text)
        return True

    ways: list[dict[str, Any]] = [
        {"fingerprint": fingerprint_of(pem(ca)).lower().replace(":", " ")},
        {"confirm_fingerprint": confirm},
        {"ca": pem(ca)},
        {"ca": file},
    ]
    for way in ways:
        tls_fake.requests.clear()
        tls_fake.replies = [*([] if "ca" in way else [certificate]), BEGUN, WAITING, None, DONE]
        paired = pairs(tls_fake.url, ask_code=lambda: " 482915 ", **way)
        assert (paired.till, paired.token, paired.ca_pem) == ("kasse-2", TOKEN, pem(ca))
        assert [(path, body) for _, path, _, body in tls_fake.requests[-4:]] == [
            ("/front/pair", {"name": "kasse-2"}),
            *[("/front/pair/5f0c", {"code": "482915"})] * 3,
        ]
        assert all("authorization" not in headers for _, _, headers, _ in tls_fake.requests)
    assert shown == [fingerprint_of(pem(ca))]
    assert len(shown[0]) == 95
    assert no_pauses == [1, 1] * 4


def test_a_strangers_ca_is_never_accepted(pairs: Till, tls_fake: FakeTerminal, ca: trustme.CA) -> None:
    another = trustme.CA()
    ways: list[tuple[str, dict[str, Any]]] = [
        (pem(ca), {"fingerprint": fingerprint_of(pem(another))}),
        (pem(ca), {"fingerprint": "00"}),
        (pem(ca), {"confirm_fingerprint": lambda _: False}),
        (pem(ca), {"confirm_fingerprint": lambda _: None}),
        (pem(another), {"fingerprint": fingerprint_of(pem(another))}),
        (pem(ca) + pem(another), {"fingerprint": fingerprint_of(pem(ca))}),
        ("nothing", {"fingerprint": fingerprint_of(pem(ca))}),
        ("", {"ca": pem(another)}),
    ]
    for sent, way in ways:
        tls_fake.replies = [reply(sent.encode())]
        with pytest.raises(WrongCertificate):
            pairs(tls_fake.url, ask_code=lambda: "482915", **way)
    assert {path for _, path, _, _ in tls_fake.requests} == {"/front/certificate.pem"}
    with pytest.raises(ValueError, match="prove"):
        pairs(tls_fake.url, ask_code=lambda: "482915")


def test_a_wrong_code_is_asked_for_again(pairs: Till, fake: FakeTerminal, no_pauses: list[float]) -> None:
    wrong = problem("wrong-code", 403)
    codes = iter(["111111", "482915", "000000", "000000"])
    fake.replies = [BEGUN, wrong, problem("agent-down", 503), DONE]
    assert pairs(fake.url, ask_code=lambda: next(codes)).till == "kasse-2"
    fake.replies = [BEGUN, wrong]
    with pytest.raises(WrongCode):
        pairs(fake.url, ask_code=lambda: next(codes))
    fake.replies = [problem("pairing-closed", 403)]
    with pytest.raises(PairingClosed):
        pairs(fake.url, ask_code=lambda: "1")
    fake.replies = [reply({"goodForS": 5, "request": "5f0c"}), WAITING]
    with pytest.raises(pos_agent_client.TerminalError, match="nobody approved"):
        pairs(fake.url, ask_code=lambda: "1")


# Secrets


def test_a_token_is_nowhere_to_be_seen(both: Both, fake: FakeTerminal, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fake.replies = [reply({})]
    both(fake.url, "status")
    fake.replies = [None]
    with pytest.raises(NoAnswer) as error:
        both(fake.url, "status")
    texts = [repr(error.value), str(error.value), *traceback.format_exception(error.value), caplog.text]
    assert not [record for record in caplog.records if record.name.startswith(("pos_agent", "httpx"))]
    with Terminal(fake.url, TOKEN) as terminal:
        texts += [repr(terminal), str(terminal)]
    paired = Pairing("kasse-2", TOKEN, "…")
    texts += [repr(paired), str(paired)]
    assert not any(TOKEN in text for text in texts)
    assert dataclasses.asdict(paired)["token"] == TOKEN, "the till stores it by itself"
    for secret in (terminal, AsyncTerminal(fake.url, TOKEN), paired):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(secret)


def test_no_proxy_comes_from_the_environment(both: Both, fake: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    fake.replies = [reply({"ready": True})]
    assert both(fake.url, "status")["ready"]
