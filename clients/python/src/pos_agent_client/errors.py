"""The errors of this package.

A transaction that raises `Problem` or `NoAnswer` charged nothing. One that raises `OutcomeUnknown` may have charged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .types import Sale


class TerminalError(Exception):
    """The base of all errors. `reference` is the transaction concerned, if there is one."""

    reference: str | None = None


class NoAnswer(TerminalError):
    """No answer came. If `may_be_done` is true, the terminal may have carried out the request."""

    def __init__(self, detail: str, may_be_done: bool = True) -> None:
        super().__init__(detail, may_be_done)
        self.detail, self.may_be_done = detail, may_be_done

    def __str__(self) -> str:
        return self.detail


class WrongCertificate(TerminalError):
    """The server's certificate is not signed by the terminal's CA, or is for another name."""


class BrokenStream(TerminalError):
    """The stream of events is not one of a terminal, for example because a line has no end."""


class OutcomeUnknown(TerminalError):
    """The transaction may exist, and its outcome is not known here. It is not declined.

    Ask with `show(reference)`, or repeat the same call with the same reference and `repeat=True`.
    """

    def __init__(self, reference: str, detail: str, sale: Sale | None = None) -> None:
        super().__init__(reference, detail, sale)
        self.reference, self.detail, self.sale = reference, detail, sale

    def __str__(self) -> str:
        return f"{self.reference}: {self.detail}"


class Unconfirmed(OutcomeUnknown):
    """The terminal itself does not know the outcome yet, and goes on until it does. `sale` is the present state.

    A payment in the state `unconfirmed` is being reversed: take a new payment with a new reference.
    Never repeat a transaction in the state `unconfirmed-finishing`.
    """


class AlreadyKnown(TerminalError):
    """The reference belonged to a transaction before the first request. `sale` is its present state."""

    def __init__(self, reference: str, sale: Sale) -> None:
        super().__init__(reference, sale)
        self.reference, self.sale = reference, sale

    def __str__(self) -> str:
        return f"{self.reference}: was known before; with repeat=True, the call goes on with that transaction"


class Problem(TerminalError):
    """The terminal refused a request. Programs branch on `code` or on the subclass, and people read `detail`."""

    def __init__(self, status: int, raw: Mapping[str, Any], retry_after_s: int | None = None) -> None:
        super().__init__(status, raw, retry_after_s)
        self.status, self.raw, self.retry_after_s = status, raw, retry_after_s
        self.code = str(raw.get("code", "unknown"))
        self.detail = str(raw.get("detail", raw.get("title", "")))

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}" if self.detail else self.code


class Unauthorized(Problem):
    """The token is missing, unknown or withdrawn. Pair the till again."""


class Forbidden(Problem):
    """The till may not do this."""


class OperatorNeeded(Problem):
    """An operator must sign in first."""


class SupervisorNeeded(Problem):
    """A supervisor must approve the command. `raw["toConfirm"]` is to be shown to the supervisor."""


class Busy(Problem):
    """Another transaction is in progress."""


class NotReady(Problem):
    """The terminal or its agent cannot take a transaction now."""


class TooMany(Problem):
    """The till asks too much at once. `retry_after_s` says when to ask again."""


class NotFound(Problem):
    """There is no such transaction, close or path."""


class AmountDiffers(Problem):
    """The reference belongs to another transaction: its amount, currency or kind differs. Nothing new was begun."""


class NoReceiptYet(Problem):
    """The transaction has no receipt yet."""


class WrongCode(Problem):
    """The pairing code is not the one that the terminal shows."""


class PairingClosed(Problem):
    """A person must open pairing at the terminal first."""


_BY_CODE: dict[str, type[Problem]] = {
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "operator-required": OperatorNeeded,
    "session-ended": OperatorNeeded,
    "supervisor-needed": SupervisorNeeded,
    "not-approved": SupervisorNeeded,
    "busy": Busy,
    "not-ready": NotReady,
    "agent-down": NotReady,
    "amount-differs": AmountDiffers,
    "no-receipt-yet": NoReceiptYet,
    "wrong-code": WrongCode,
    "pairing-closed": PairingClosed,
}
_BY_STATUS: dict[int, type[Problem]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 429: TooMany}


def read_problem(status: int, headers: Mapping[str, str], body: bytes) -> Problem | None:
    """Returns the refusal in an answer, or `None` if it is not one of a terminal."""
    try:
        raw = json.loads(body)
    except ValueError:
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("code"), str):
        return None
    after = str(raw.get("retryAfterS", headers.get("retry-after")))
    after_s = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else None
    kind = _BY_CODE.get(raw["code"]) or _BY_STATUS.get(status, Problem)
    return kind(status, raw, after_s)


def reference_of(error: BaseException | None) -> str | None:
    """Returns the reference of the transaction that an error interrupted, also for Ctrl-C and a cancelled task."""
    while error is not None:
        reference = getattr(error, "reference", None)
        if isinstance(reference, str):
            return reference
        error = error.__cause__ or error.__context__
    return None
