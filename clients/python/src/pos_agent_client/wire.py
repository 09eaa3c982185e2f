"""What a flow asks of its driver, and what the driver answers. Nothing here opens a connection.

A flow is a generator: it yields requests, pauses and calls, and its driver sends the result of each back. So each
operation is written once, and runs with a blocking driver and with an asynchronous one (`client.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """A request. `answer_s` is how long its answer may take."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    what: Literal["begin", "show", "cancel", "sign", "confirm", "other"] = "other"
    answer_s: float = 35.0


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No answer came, or the rest of a stream did not."""

    why: str
    may_be_done: bool
    wrong_certificate: bool = False


@dataclass(frozen=True)
class Sleep:
    """Pauses the flow."""

    seconds: float


@dataclass(frozen=True)
class Call:
    """Calls the till's own function. The driver sends its result back."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Emit:
    """Hands one item to the caller's loop."""

    item: Any


@dataclass(frozen=True)
class Listen:
    """Opens a stream. The driver sends an `Answer` (without a body if it is a 200) or `Lost` back."""

    request: Request


@dataclass(frozen=True)
class Read:
    """Reads the next bytes of the open stream. The driver sends them or `Lost` back."""


Effect: TypeAlias = Request | Sleep | Call | Emit | Listen | Read
Flow: TypeAlias = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Items(Generic[T]):
    """A flow that emits items of this type."""

    flow: Flow[None]


def post(
    path: str,
    body: Mapping[str, Any],
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    what: Literal["begin", "cancel", "sign", "confirm", "other"] = "other",
) -> Request:
    """Returns a command. One about a transaction waits less for its answer, because it is repeated."""
    answer_s = 35 if what == "other" else 15
    return Request("POST", path, query=query or {}, body=body, headers=headers or {}, what=what, answer_s=answer_s)


def training_query(training: bool) -> dict[str, str]:
    """Returns the query that reaches a training transaction, which has its own references."""
    return {"training": "true"} if training else {}


def sale_path(reference: str, rest: str = "") -> str:
    """Returns the path of a transaction. A reference may have any printable ASCII character."""
    if reference in ("", ".", ".."):
        raise ValueError(f"{reference!r} is no reference")
    return f"/v1/sales/{quote(reference, safe='')}" + (f"/{rest}" if rest else "")
