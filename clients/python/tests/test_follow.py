"""The cases of a followed transaction, which every client of the interface plays, and sales with lost answers."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from pos_agent_client import (
    AlreadyKnown,
    AsyncTerminal,
    Busy,
    NoAnswer,
    NotReady,
    OutcomeUnknown,
    Terminal,
    Unauthorized,
    Unconfirmed,
    reference_of,
)
from pos_agent_client import follow as rules
from pos_agent_client.wire import Answer, Lost, Request, post

from .conftest import TOKEN, Both, FakeTerminal, Reply, problem, reply

REPOSITORY = Path(__file__).parents[3]
CASES = json.loads((REPOSITORY / "crates/till-api/src/follow-cases.json").read_text())
STATUS = {
    code: int(status)
    for code, status in re.findall(
        r'= "([a-z-]+)", (\d{3}), "', (REPOSITORY / "crates/till-api/src/problem.rs").read_text()
    )
}
PLAYS = [(case["name"], each, case["play"]) for case in CASES["cases"] for each in case.get("each", [""])]
ACTS = {"agent": "watch", "cashier": "judge", "till": "say", "recovery": "open", "none": "over"}


def sale(state: str = "in-progress", **more: Any) -> dict[str, Any]:
    about = {"till": "kasse-1", "reference": "z 1", "number": 7, "kind": "sale", "amount": "12.34", "currency": "EUR"}
    return {**about, "startedAt": "2026-11-22T12:00:00Z", "text": state, "replayed": False, "state": state, **more}


def begun() -> rules.Follower:
    return rules.Follower("z 1", post("/v1/sales", {"reference": "z 1", "amount": "12.34"}, what="begin"))


def answer_of(line: dict[str, Any]) -> Answer | Lost:
    if code := line.get("refused"):
        status = line.get("status") or STATUS.get(code, 422)
        return Answer(status, {}, json.dumps({"status": status, "code": code, "detail": ""}).encode())
    if "lost" in line or "unreached" in line:
        return Lost("", may_be_done="lost" in line)
    body = sale(**line["sale"]) | ({"cancel": line["stopped"]} if "stopped" in line else {})
    return Answer(200, {}, json.dumps(body).encode())


def comes_to(heard: rules.Heard) -> str:
    match heard:
        case rules.Said(sale):
            return ACTS[rules.next_actor(sale)]
        case rules.WasThere():
            return "another"
        case rules.Next():
            return "again"
        case rules.Refused():
            return "refused"
        case rules.Silent(may_stand):
            return "unknown" if may_stand else "nothing"


@pytest.mark.parametrize(("name", "each", "play"), PLAYS)
def test_every_case_comes_to_what_it_says(name: str, each: str, play: Any) -> None:
    follower, now = begun(), 0.0
    for line in json.loads(json.dumps(play).replace("$each", each)):
        match line.get("till"):
            case "stop":
                follower.cancel()
            case "sign":
                follower.sign(True)
            case "take":
                follower.confirm({"taken": "all"})
            case None:
                heard = follower.heard(rules.read(follower.asked, answer_of(line)), now)
                assert comes_to(heard) == line["then"], (name, line)
                if line["then"] == "watch":
                    follower.watch()
        now += rules.PAUSE


def test_all_cases_are_played_and_the_rules_name_the_same_problems() -> None:
    assert sum(len(play) for _, _, play in PLAYS) > 80
    assert set(CASES["passing"]) == rules.PASSING
    assert set(CASES["afterTheLook"]) == rules.AFTER_THE_LOOK
    faults = {code for code, status in STATUS.items() if status >= 500}
    assert faults - rules.PASSING == rules.KNOWN_FAULTS


@pytest.mark.parametrize("may_stand", [True, False])
def test_a_silence_of_half_a_minute_ends_the_questions(may_stand: bool) -> None:
    follower, now, asked = begun(), 0.0, 1
    while isinstance(heard := follower.heard(rules.NotHeard(may_stand), now), rules.Next):
        now, asked = heard.at, asked + 1
        assert follower.asked.what == "begin"
    assert (asked, heard) == (31, rules.Silent(may_stand))


def bodies(fake: FakeTerminal) -> list[Any]:
    return [body for method, path, _, body in fake.requests if (method, path) == ("POST", "/v1/sales")]


def test_a_sale_survives_lost_answers_with_one_reference(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    fake.replies = [
        None,
        reply(sale("waiting-for-card", replayed=True)),
        None,
        reply(sale("from-a-newer-agent", news=[1])),
        reply(b"<html>"),
        reply(sale("ended", outcome="approved")),
    ]
    told: list[str] = []
    ended = both(fake.url, "sell", Decimal("12.30"), on_reference=told.append, accept_partial=True, tip="1.00")
    assert ended["outcome"] == "approved"
    first, second = bodies(fake)
    assert first == second
    assert told == [first["reference"]]
    assert first == {**first, "kind": "sale", "amount": "12.30", "acceptPartial": True, "tip": "1.00"}
    assert fake.requests[0][2]["authorization"] == f"Bearer {TOKEN}"
    assert no_pauses == [1.0, 1.0, 1.0]


def test_the_address_for_the_events_goes_with_each_request_that_begins_the_transaction(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    address = "https://till.example/pos/42"
    begun, ended = reply(sale("waiting-for-card"), 201), reply(sale("ended", outcome="approved"))
    fake.replies = [None, begun, ended, ended, ended]
    both(fake.url, "sell", "12.34", callback=address)
    both(fake.url, "refund", "1", "1.00", callback=address)
    both(fake.url, "reverse", "1")
    sent = [(method, headers.get("pos-callback")) for method, _, headers, _ in fake.requests]
    assert sent == [("POST", address), ("POST", address), ("GET", None), ("POST", address), ("POST", None)]
    assert no_pauses == [1.0]


def test_steps_signature_and_confirmation_are_told(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    fake.replies = [
        reply(sale("waiting-for-card", step="present-card"), 201),
        reply(sale("waiting-for-card", step="present-card")),
        reply(sale("awaiting-signature")),
        reply(sale("awaiting-till", toConfirm={"amount": "12.34"})),
        problem("no-answer", 503),
        reply(sale("ended", outcome="approved", rest={"amount": "4.34"})),
    ]
    steps: list[str] = []
    ended = both(
        fake.url,
        "sell",
        "12.34",
        reference="z 1",
        on_step=lambda sale: steps.append(sale["state"]),
        on_signature=lambda _: True,
        on_confirm=lambda _: Decimal("8.00"),
    )
    assert ended["rest"]["amount"] == "4.34"
    assert steps == ["waiting-for-card", "awaiting-signature", "awaiting-till", "ended"]
    assert [(path, body) for _, path, _, body in fake.requests[3:]] == [
        ("/v1/sales/z%201/signature", {"accepted": True}),
        ("/v1/sales/z%201/confirm", {"taken": "part", "amount": "8.00"}),
        ("/v1/sales/z%201/confirm", {"taken": "part", "amount": "8.00"}),
    ]
    assert bodies(fake)[0]["confirm"] == "till"


def test_an_unknown_outcome_is_never_a_decline(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    fake.replies = [None]
    with pytest.raises(OutcomeUnknown) as unknown:
        both(fake.url, "sell", "1.00", reference="r-1")
    assert unknown.value.reference == "r-1"
    assert "not declined" in str(unknown.value)
    assert sum(no_pauses) == pytest.approx(30)
    # The same call is repeated: the sale was made, or is refused for certain.
    fake.replies = [reply(sale("ended", outcome="approved", replayed=True))]
    assert both(fake.url, "sell", "1.00", reference="r-1", repeat=True)["outcome"] == "approved"
    fake.replies = [problem("unauthorized", 401), problem("busy", 409)]
    with pytest.raises(Busy) as busy:
        both(fake.url, "sell", "1.00", reference="r-1", repeat=True)
    assert busy.value.reference == "r-1"


def test_a_terminal_that_nobody_reaches_charged_nothing(both: Both, no_pauses: list[float]) -> None:
    with pytest.raises(NoAnswer) as nothing:
        both("http://127.0.0.1:9", "sell", "1.00", reference="r-1")
    assert (nothing.value.may_be_done, nothing.value.reference) == (False, "r-1")


def test_the_ways_a_sale_ends_without_an_outcome(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    def raised(kind: type[Exception], *replies: Reply, **more: Any) -> Any:
        fake.replies = list(replies)
        with pytest.raises(kind) as error:
            both(fake.url, "sell", "1.00", reference="r-1", **more)
        assert reference_of(error.value) == "r-1"
        return error.value

    raised(Unauthorized, problem("unauthorized", 401))
    raised(NotReady, problem("not-ready", 503, retryAfterS=1))
    assert raised(AlreadyKnown, reply(sale("ended", replayed=True))).sale["state"] == "ended"
    for state in ("unconfirmed", "unconfirmed-finishing"):
        assert raised(Unconfirmed, reply(sale(state))).sale["state"] == state
    refused = raised(OutcomeUnknown, reply(sale("awaiting-till")), problem("amount", 422), on_confirm=lambda _: "99.00")
    assert refused.__cause__.code == "amount"
    raised(TypeError, reply(sale("awaiting-signature")), on_signature=lambda _: None)
    raised(ZeroDivisionError, reply(sale("awaiting-signature")), on_signature=lambda _: 1 / 0)


def test_a_reversal_that_takes_some_seconds_is_awaited(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    fake.replies = [reply(sale("unconfirmed")), reply(sale("unconfirmed")), reply(sale("ended", outcome="reversed"))]
    assert both(fake.url, "sell", "1.00")["outcome"] == "reversed"
    assert no_pauses == [1, 1]


def test_a_late_confirmation_is_looked_up(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    late = problem("no-confirmation-awaited", 409)
    fake.replies = [reply(sale("awaiting-till")), late, reply(sale("ended", outcome="reversed"))]
    assert both(fake.url, "sell", "1.00", on_confirm=lambda _: True)["outcome"] == "reversed"


def test_what_nobody_answers_here_is_watched_without_haste(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    waiting = reply(sale("awaiting-signature"))
    fake.replies = [waiting, waiting, waiting, reply(sale("ended", outcome="reversed"))]
    assert both(fake.url, "sell", "1.00")["outcome"] == "reversed"
    assert no_pauses == [1, 1, 1]


def test_too_many_requests_are_asked_again_after_the_time_that_they_name(
    both: Both, fake: FakeTerminal, no_pauses: list[float]
) -> None:
    fake.replies = [problem("too-many-requests", 429, retryAfterS=7), reply(sale("ended", outcome="approved"))]
    assert both(fake.url, "sell", "1.00")["outcome"] == "approved"
    assert no_pauses == [7]


def test_a_refund_names_its_sale(both: Both, fake: FakeTerminal) -> None:
    fake.replies = [reply(sale("ended", kind="refund", outcome="approved"))]
    both(fake.url, "refund", "z 1", "5.00", reference="b")
    both(fake.url, "reverse", "z 1", reference="c")
    both(fake.url, "capture", "z 1", reference="d")
    assert bodies(fake) == [
        {"reference": "b", "kind": "refund", "amount": "5.00", "of": "z 1"},
        {"reference": "c", "kind": "reversal", "of": "z 1"},
        {"reference": "d", "kind": "capture", "of": "z 1"},
    ]


def test_begin_and_follow_are_the_halves_of_a_sale(both: Both, fake: FakeTerminal, no_pauses: list[float]) -> None:
    fake.replies = [reply(sale("waiting-for-card"), 201)]
    assert both(fake.url, "begin", "1.00", reference="z 1")["state"] == "waiting-for-card"
    fake.replies = [None, None, reply(sale("in-progress")), reply(sale("ended", outcome="declined"))]
    assert both(fake.url, "follow", "z 1")["outcome"] == "declined"


@pytest.mark.parametrize("amount", [1.5, 12, True, None])
def test_an_amount_is_exact(amount: Any) -> None:
    with Terminal("http://127.0.0.1:9", TOKEN) as terminal, pytest.raises(TypeError):
        terminal.sell(amount) if amount is not None else terminal.sell()  # type: ignore[call-arg]


def slow(_: Any) -> Reply:
    threading.Event().wait(2)
    return reply(sale("ended", outcome="approved"))


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """Handles Ctrl-C as in a terminal. A program that a shell has started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_leaves_the_reference(fake: FakeTerminal) -> None:
    fake.replies = [reply(sale()), slow]
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    with Terminal(fake.url, TOKEN) as terminal:
        timer.start()
        with pytest.raises(KeyboardInterrupt) as stopped:
            terminal.sell("1.00", on_step=lambda _: None)
    assert reference_of(stopped.value) == bodies(fake)[0]["reference"]
    assert bodies(fake)[0]["reference"] in stopped.value.__notes__[0]


def test_a_cancelled_task_leaves_the_reference(fake: FakeTerminal) -> None:
    fake.replies = [reply(sale()), slow]

    async def run() -> tuple[str | None, str | None]:
        found: list[str | None] = []
        async with AsyncTerminal(fake.url, TOKEN) as terminal:
            task = asyncio.create_task(terminal.sell("1.00"))
            await asyncio.sleep(0.3)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError as error:
                found.append(reference_of(error))
            fake.replies = [reply(sale()), slow]
            try:
                async with asyncio.timeout(0.3):
                    await terminal.sell("1.00")
            except TimeoutError as error:
                found.append(reference_of(error))
        return cast("tuple[str | None, str | None]", tuple(found))

    assert list(asyncio.run(run())) == [body["reference"] for body in bodies(fake)]


def test_an_async_callback_needs_the_async_terminal(fake: FakeTerminal) -> None:
    async def accept(_: Any) -> bool:
        await asyncio.sleep(0)
        return True

    fake.replies = [reply(sale("awaiting-signature")), reply(sale("ended", outcome="approved"))]
    with Terminal(fake.url, TOKEN) as terminal, pytest.raises(TypeError, match="use AsyncTerminal"):
        terminal.sell("1.00", on_signature=accept)
    fake.replies = [reply(sale("awaiting-signature")), reply(sale("ended", outcome="approved"))]
    assert Both("async")(fake.url, "sell", "1.00", on_signature=accept)["outcome"] == "approved"


def test_a_request_is_shown_without_its_headers() -> None:
    assert "secret" not in repr(Request("GET", "/", headers={"Pos-Supervisor": "secret"}))
