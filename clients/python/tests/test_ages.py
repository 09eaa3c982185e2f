"""A newer and an older agent: a real shop behind a line that changes its answers (`ages.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from pos_agent_client import Event, NotFound, Reset, Terminal

from .ages import FIELD, SCHEMAS, VALUE, WORD, Line
from .conftest import Both
from .test_sandbox import SANDBOX, Shop, reference

needs_sandbox = pytest.mark.skipif(not SANDBOX, reason="POS_SANDBOX names no pos-sandbox")


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    shop = Shop("http://127.0.0.1:9/hook")
    yield shop
    shop.close()


@pytest.fixture(params=[True, False], ids=["newer", "older"])
def line(shop: Shop, request: pytest.FixtureRequest) -> Iterator[Line]:
    line = Line(request.param, shop.agent)
    yield line
    line.shutdown()
    line.server_close()


@pytest.fixture
def till(shop: Shop, line: Line, both: Both) -> Callable[..., Any]:
    """Calls a method of the terminal behind the line."""
    return lambda name, *args, **more: both(line.url, name, *args, token=shop.token, **more)


def test_the_description_names_the_fields_that_an_older_agent_lacks() -> None:
    later = {
        f"{of}.{name}"
        for of, schema in SCHEMAS.items()
        for name, one in schema.get("properties", {}).items()
        if "earlier version" in one.get("description", "")
    }
    assert {"Status.waits", "Sale.receiptNumber"} <= later


@needs_sandbox
def test_sales_a_refund_the_receipt_and_the_status(shop: Shop, line: Line, till: Callable[..., Any]) -> None:
    steps: list[Any] = []
    shop.card()
    sale = till("sell", "12.34", on_step=steps.append, till_data={"table": "7"})
    assert (sale["outcome"], sale["approvedAmount"], sale["tillData"]) == ("approved", "12.34", {"table": "7"})
    assert [one.get(FIELD) for one in (sale, sale["card"])] == [VALUE if line.is_newer else None] * 2
    assert ("receiptNumber" in sale) == line.is_newer
    assert steps[-1] == sale
    shop.card()
    declined = till("sell", "5.51")
    assert (declined["outcome"], declined["reason"] == WORD) == ("declined", line.is_newer)
    refund = till("refund", sale["reference"], "4.00")
    assert (refund["kind"], refund["outcome"]) == ("refund", "approved")
    assert till("show", sale["reference"])["left"] == "8.34"
    assert "12.34" in till("receipt", sale["reference"])
    assert "APPROVED" in till("receipt", sale["reference"], as_="json")["text"]
    listed = [one["reference"] for one in till("sales", order="newest", limit=1, take=3)]
    assert listed == [refund["reference"], declined["reference"], sale["reference"]]
    status = till("status")
    assert (status["ready"], "waits" in status) == (True, line.is_newer)
    with pytest.raises(NotFound) as unknown:
        till("follow", "never")
    assert (unknown.value.code, FIELD in unknown.value.raw) == ("no-such-sale", line.is_newer)
    if line.is_newer:
        assert till("latest")["reference"] == refund["reference"]
    else:
        with pytest.raises(NotFound, match="not-found"):
            till("latest")


def events_of(shop: Shop, wanted: str, start: str) -> list[Event | Reset]:
    """Returns the agent's own events after one, up to the end of the transaction."""
    heard: list[Event | Reset] = []
    with Terminal(shop.agent, shop.token) as terminal:
        for event in terminal.events(after=start):
            heard.append(event)
            if isinstance(event, Event) and (event.step, event.reference) == ("ended", wanted):
                break
    return heard


@needs_sandbox
@pytest.mark.usefixtures("no_pauses")
def test_the_events_continue_inside_an_event_that_was_cut(shop: Shop, line: Line, till: Callable[..., Any]) -> None:
    headers = {"Authorization": f"Bearer {shop.token}"}
    with httpx.stream("GET", f"{shop.agent}/v1/events", headers=headers, trust_env=False) as stream:
        start = next(one.removeprefix("id: ") for one in stream.iter_lines() if one.startswith("id: "))
    shop.card()
    sale = till("sell", "3.00", reference=reference())
    direct = events_of(shop, sale["reference"], start)
    line.cuts = 1
    heard = till("events", after=start, take=len(direct) * (2 if line.is_newer else 1))
    assert (line.cuts, line.streams) == (0, 2)
    known = [one for one in heard if one.step != WORD]
    assert [(one.id, one.step) for one in known] == [(one.id, one.step) for one in direct if isinstance(one, Event)]
    last = known[-1]
    assert (last.sale["outcome"], last.sale["number"]) == ("approved", sale["number"])
    assert [one.get(FIELD) for one in (last.data, last.sale)] == [VALUE if line.is_newer else None] * 2
    assert any((one.sale or {}).get("step") == WORD for one in heard) == line.is_newer
    assert any((one.step, one.reference) == (WORD, sale["reference"]) for one in heard) == line.is_newer


@needs_sandbox
@pytest.mark.usefixtures("no_pauses")
def test_a_lost_answer_to_the_begin_charges_once(shop: Shop, line: Line, till: Callable[..., Any]) -> None:
    before = len(shop.do("GET", "/ledger"))
    line.loses = 1
    shop.card()
    sale = till("sell", "6.00")
    assert (line.loses, sale["outcome"], sale["approvedAmount"]) == (0, "approved", "6.00")
    # A second transaction would be the newest one, before its card is charged.
    assert till("sales", order="newest", limit=1, take=1)[0]["reference"] == sale["reference"]
    charged = [(one["id"], one["amount"]) for one in shop.do("GET", "/ledger")[before:]]
    assert charged == [(sale["paymentId"], "6.00")]
