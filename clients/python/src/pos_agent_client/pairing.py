"""Pairing: how a till on the network gets its token and the terminal's CA.

A person opens pairing at the terminal, reads the code there, approves it, and types it at the till.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic as _now
from typing import NoReturn
from urllib.parse import quote

from .client import AsyncTerminal, Terminal
from .errors import Problem, TerminalError, WrongCertificate, WrongCode
from .flows import exchange, refusal
from .tls import checked_url, fingerprint_of, is_fingerprint, pem_of, trusting_nobody_yet
from .types import MaybeAwaitable
from .wire import Answer, Call, Flow, Lost, Request, Sleep, post


@dataclass(frozen=True)
class Pairing:
    """A paired till. Store `token` as a secret, and `ca_pem` as the only CA to trust."""

    till: str
    token: str = field(repr=False)
    ca_pem: str = field(repr=False)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pairing has a secret token and cannot be pickled: store its fields")


def pair(
    url: str,
    name: str,
    *,
    ask_code: Callable[[], str],
    fingerprint: str | None = None,
    confirm_fingerprint: Callable[[str], bool] | None = None,
    ca: str | bytes | os.PathLike[str] | None = None,
) -> Pairing:
    """Pairs this till, and waits until a person has approved its code.

    The terminal's CA comes from `ca`, or from the terminal itself. Then its fingerprint must be `fingerprint`, or
    `confirm_fingerprint` shows it to a person, who compares it with that of `pos-front certificate`.
    """
    ca_pem = _known_ca(url, ca, bool(fingerprint or confirm_fingerprint))
    if ca_pem is None:
        with Terminal(url, None, ca=trusting_nobody_yet()) as stranger:
            ca_pem = stranger.drive(_certificate(fingerprint, confirm_fingerprint))
    with Terminal(url, None, ca=ca_pem or None) as terminal:
        till, token = terminal.drive(_token(name, ask_code))
    return Pairing(till, token, ca_pem)


async def pair_async(
    url: str,
    name: str,
    *,
    ask_code: Callable[[], MaybeAwaitable[str]],
    fingerprint: str | None = None,
    confirm_fingerprint: Callable[[str], MaybeAwaitable[bool]] | None = None,
    ca: str | bytes | os.PathLike[str] | None = None,
) -> Pairing:
    """Pairs this till as `pair` does. The callbacks may be asynchronous."""
    ca_pem = _known_ca(url, ca, bool(fingerprint or confirm_fingerprint))
    if ca_pem is None:
        async with AsyncTerminal(url, None, ca=trusting_nobody_yet()) as stranger:
            ca_pem = await stranger.drive(_certificate(fingerprint, confirm_fingerprint))
    async with AsyncTerminal(url, None, ca=ca_pem or None) as terminal:
        till, token = await terminal.drive(_token(name, ask_code))
    return Pairing(till, token, ca_pem)


def _known_ca(url: str, ca: str | bytes | os.PathLike[str] | None, is_checked: bool) -> str | None:
    """Returns the CA, an empty text without TLS, or `None` if the terminal must be asked for it."""
    if checked_url(url).startswith("http:"):
        return ""
    if ca is not None:
        return pem_of(ca)
    if not is_checked:
        raise ValueError("give one of ca, fingerprint and confirm_fingerprint: the terminal must prove who it is")
    return None


def _certificate(wanted: str | None, confirm: Callable[[str], MaybeAwaitable[bool]] | None) -> Flow[str]:
    answer = yield from exchange(Request("GET", "/front/certificate.pem"))
    pem = answer.body.decode("ascii", "replace")
    if wanted is not None and not is_fingerprint(pem, wanted):
        raise WrongCertificate(f"the terminal's CA has another fingerprint: {fingerprint_of(pem)}")
    if confirm is not None and (yield Call(confirm, (fingerprint_of(pem),))) is not True:
        raise WrongCertificate("the fingerprint of the terminal's CA was not confirmed")
    return pem


def _token(name: str, ask_code: Callable[[], MaybeAwaitable[str]]) -> Flow[tuple[str, str]]:
    begun = json.loads((yield from exchange(post("/front/pair", {"name": name}))).body)
    ends = _now() + float(begun.get("goodForS", 300))
    path = f"/front/pair/{quote(str(begun['request']), safe='')}"
    code = str((yield Call(ask_code))).strip()
    while _now() < ends:
        request = post(path, {"code": code})
        answer: Answer | Lost = yield request
        if isinstance(answer, Lost):
            if answer.wrong_certificate:
                raise WrongCertificate(answer.why)
        elif answer.status in (200, 201):
            paired = json.loads(answer.body)
            return str(paired["till"]), str(paired["token"])
        elif answer.status != 202:
            error = refusal(request, answer)
            if isinstance(error, WrongCode):
                # A person may have mistyped it. The terminal allows five attempts.
                if code == (code := str((yield Call(ask_code))).strip()):
                    raise error
                continue
            if not (isinstance(error, Problem) and error.status == 503):
                raise error
        yield Sleep(1)
    raise TerminalError("nobody approved the code in time: pair again")
