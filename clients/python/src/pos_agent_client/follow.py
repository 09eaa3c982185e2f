"""One transaction, from its begin to its outcome, without a connection and without a clock.

The follower decides the next question, and what an answer or a missing answer means for the till. Its rules are those
of `crates/till-api/src/follow.rs`, and both play the cases in `follow-cases.json`:

- Without an answer, the same question is asked again. A repeated begin has the same reference, so it never becomes a
  second transaction.
- A begin without an answer may have been carried out. From then on, only a refusal that follows a search for the
  reference proves that there is no transaction.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from .errors import Problem, read_problem
from .types import Sale
from .wire import Answer, Lost, Request, post, sale_path, training_query

PAUSE = 1.0
"""The seconds before the same question is asked again."""
LONGEST_SILENCE = 30.0
"""The seconds for which a question is repeated. The terminal may restart in this time."""
PASSING = frozenset({"no-answer", "no-place", "timeout", "too-many-requests"})
"""Refusals with a passing cause, which is not the content of the request."""
AFTER_THE_LOOK = frozenset(
    {
        "amount-differs",
        "busy",
        "supervisor-needed",
        "not-approved",
        "amount",
        "currency",
        "not-possible",
        "parameter",
        "not-ready",
    }
)
"""Refusals that prove that no earlier request with this reference was carried out."""
KNOWN_FAULTS = frozenset({"gateway", "not-ready", "printer", "journal"})
"""The other known refusals with a 5xx. An unknown one may come after the transaction began."""

NextActor: TypeAlias = Literal["agent", "cashier", "till", "recovery", "none"]
_NEXT_ACTOR: dict[str, NextActor] = {
    "awaiting-signature": "cashier",
    "awaiting-till": "till",
    "unconfirmed": "recovery",
    "unconfirmed-finishing": "recovery",
    "ended": "none",
}


def next_actor(sale: Sale) -> NextActor:
    """Returns who acts next. In a state that only a newer agent knows, it is the agent."""
    return _NEXT_ACTOR.get(sale["state"], "agent")


@dataclass(frozen=True)
class Refused:
    """The begin was refused and there is no transaction, or the till's confirmation was refused."""

    problem: Problem


@dataclass(frozen=True)
class NotHeard:
    """No answer came, or it is unreadable. The request may have been carried out if `may_be_done` is true."""

    may_be_done: bool


@dataclass(frozen=True)
class Said:
    """The state of the transaction, and whether a cancel came in time."""

    sale: Sale
    in_time: bool | None = None


@dataclass(frozen=True)
class WasThere:
    """The reference belongs to a transaction that existed before this follower began."""

    sale: Sale


@dataclass(frozen=True)
class Next:
    """The time to ask `Follower.asked`. A time in the past means immediately."""

    at: float


@dataclass(frozen=True)
class Silent:
    """No answer came for too long. The transaction may exist if `may_stand` is true."""

    may_stand: bool


Heard: TypeAlias = Said | WasThere | Next | Refused | Silent


def read(asked: Request, answer: Answer | Lost) -> Said | Refused | NotHeard:
    """Interprets the answer to a question about a transaction."""
    may_be_done = asked.method == "POST"
    if isinstance(answer, Lost):
        return NotHeard(answer.may_be_done)
    if not 200 <= answer.status < 300:
        problem = read_problem(answer.status, answer.headers, answer.body)
        return NotHeard(may_be_done) if problem is None or problem.code == "no-answer" else Refused(problem)
    try:
        body: Any = json.loads(answer.body)
    except ValueError:
        return NotHeard(may_be_done)
    if not isinstance(body, dict) or not isinstance(body.get("state"), str):
        return NotHeard(may_be_done)
    if asked.what != "cancel":
        return Said(cast("Sale", body))
    return Said(cast("Sale", body), body["cancel"] == "in-time") if "cancel" in body else NotHeard(may_be_done)


@dataclass
class Follower:
    """A till's view of one transaction. `asked` is the question that is open or due."""

    reference: str
    asked: Request
    wait_s: int = 20
    may_stand: bool = False
    """True if the transaction exists at the terminal, or may exist."""
    training: bool = False
    _silent_since: float | None = field(default=None, repr=False)

    def watch(self) -> None:
        """Asks for the present state next."""
        self.asked = show(self.reference, self.wait_s, self.training)

    def cancel(self) -> None:
        """Asks to cancel the transaction next."""
        self._command("cancel", {}, "cancel")

    def sign(self, accepted: bool) -> None:
        """Accepts or refuses the signature next."""
        self._command("signature", {"accepted": accepted}, "sign")

    def confirm(self, taken: dict[str, str]) -> None:
        """Confirms next what the till takes."""
        self._command("confirm", taken, "confirm")

    def _command(self, path: str, body: dict[str, Any], what: Literal["cancel", "sign", "confirm"]) -> None:
        query = training_query(self.training)
        self.asked = post(sale_path(self.reference, path), body, query=query, what=what)

    def heard(self, said: Said | Refused | NotHeard, now: float) -> Heard:
        """Handles the answer to the question, or the missing answer."""
        what = self.asked.what
        if isinstance(said, NotHeard):
            self.may_stand |= said.may_be_done
            return self._not_answered(now, Silent(self.may_stand))
        if isinstance(said, Said):
            if what == "begin" and said.sale.get("replayed") and not self.may_stand:
                return WasThere(said.sale)
            self.may_stand, self._silent_since = True, None
            return said
        code = said.problem.code
        if what == "begin" and self._says_nothing(said.problem):
            return self._not_answered(now, Silent(True) if self.may_stand else said)
        if what == "confirm" and code in PASSING:
            return self._not_answered(now, said)
        if what in ("begin", "confirm"):
            return said
        # What can no longer be cancelled or signed is looked at.
        if what in ("cancel", "sign"):
            self.watch()
            return Next(now if what == "cancel" else now + PAUSE)
        return self._not_answered(now, Silent(self.may_stand))

    def _not_answered(self, now: float, last: Heard) -> Heard:
        if self._silent_since is None:
            self._silent_since = now
        return Next(now + PAUSE) if now < self._silent_since + LONGEST_SILENCE else last

    def _says_nothing(self, problem: Problem) -> bool:
        """Returns whether a refusal of the begin leaves open whether an earlier begin was carried out."""
        code = problem.code
        is_unknown_fault = problem.status >= 500 and code not in KNOWN_FAULTS
        return is_unknown_fault or code in PASSING or (self.may_stand and code not in AFTER_THE_LOOK)


def show(reference: str, wait_s: int = 0, training: bool = False) -> Request:
    """Returns the question for the state of a transaction."""
    query = {"wait-s": str(min(wait_s, 120))} if wait_s else {}
    query |= training_query(training)
    return Request("GET", sale_path(reference), query=query, what="show", answer_s=25 + max(wait_s, 10))
