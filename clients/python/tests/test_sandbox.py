"""A whole shop: the real agent and the real front, with a simulated reader, gateway and printer.

POS_SANDBOX names the program `pos-sandbox`; without it, nothing here runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from pos_agent_client import (
    AlreadyKnown,
    AmountDiffers,
    AsyncTerminal,
    Busy,
    Event,
    InvalidWebhook,
    NotFound,
    OutcomeUnknown,
    Pairing,
    PairingClosed,
    Reset,
    Terminal,
    Unauthorized,
    Unconfirmed,
    WrongCertificate,
    pair,
    pair_async,
    verify_webhook,
)
from pos_agent_client.tls import fingerprint_of

from .conftest import Both, FakeTerminal, reply

SANDBOX = os.environ.get("POS_SANDBOX", "")
pytestmark = pytest.mark.skipif(not SANDBOX, reason="POS_SANDBOX names no pos-sandbox")


class Shop:
    """A running sandbox, and the hands of its customer and its technician."""

    def __init__(self, webhook: str) -> None:
        command = [SANDBOX, "--json", "--webhook", webhook]
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.program.stdout
        self.at: dict[str, Any] = json.loads(self.program.stdout.readline())
        self.agent, self.token, self.https = self.at["agent"], self.at["token"], self.at["https"]
        self.ca = Path(self.at["ca"]).read_text()
        self._hands = httpx.Client(base_url=self.at["simulator"], timeout=90, trust_env=False)

    def do(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._hands.request(method, f"/simulator{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content.strip() else None

    def card(self, card: str = "tap", **more: Any) -> None:
        self.do("POST", "/card", {"card": card, **more})

    def kill(self, program: str) -> None:
        self.do("POST", "/power", {"program": program})

    def payments(self, sale: Any) -> list[Any]:
        return [one for one in self.do("GET", "/ledger") if one["id"] == sale["paymentId"]]

    def approve(self, till: str) -> str:
        """Acts as the person at the terminal, who approves the waiting till and reads its code."""
        code: str = self.do("GET", "/pairing")["waiting"][0]["code"]
        self.do("POST", "/pairing", {"approve": code, "till": till})
        return code

    def close(self) -> None:
        self._hands.close()
        assert self.program.stdin
        self.program.stdin.close()
        self.program.wait(30)


@pytest.fixture(scope="module")
def hooks() -> Iterator[FakeTerminal]:
    receiver = FakeTerminal()
    receiver.replies = [reply({})]
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def shop(hooks: FakeTerminal) -> Iterator[Shop]:
    shop = Shop(f"{hooks.url}/hook")
    yield shop
    shop.close()


@pytest.fixture
def till(shop: Shop, both: Both) -> Callable[..., Any]:
    """Calls a method of the terminal as till-1, at the agent's own port."""
    return lambda name, *args, **more: both(more.pop("url", shop.agent), name, *args, token=shop.token, **more)


class Background:
    """Threads that end with the program, because some calls never return by themselves."""

    def submit(self, call: Callable[..., Any], *args: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(call(*args, **more))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


@pytest.fixture
def background() -> Background:
    return Background()


def reference() -> str:
    return f"order {uuid.uuid4().hex}"


def until(look: Callable[[], Any], seconds: float = 20) -> Any:
    ends = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.1)
    return found


class Cutter:
    """A proxy that passes requests on, and cuts the first connections when the answer comes."""

    def __init__(self, url: str, cuts: int) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self.target, self.cuts, self.count = (host, int(port)), cuts, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._serve, args=(client, self.count <= self.cuts), daemon=True).start()

    def _serve(self, client: socket.socket, cuts: bool) -> None:
        with client, socket.create_connection(self.target) as server:
            threading.Thread(target=self._copy, args=(client, server), daemon=True).start()
            while data := server.recv(65536):
                if cuts:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass


def test_a_sale_is_approved(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card("chip-pin")
    steps: list[Any] = []
    told: list[str] = []
    sale = till("sell", "12.34", on_step=steps.append, on_reference=told.append, till_data={"table": "7"})
    assert (sale["outcome"], sale["approvedAmount"], sale["tillData"]) == ("approved", "12.34", {"table": "7"})
    assert till("cancel", sale["reference"])["cancel"] == "too-late"
    assert (told, steps[-1]) == ([sale["reference"]], sale)
    assert len(shop.payments(sale)) == 1
    assert till("latest")["number"] == sale["number"]


def test_a_sale_is_declined_or_approved_in_part(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card()
    assert till("sell", "5.51")["outcome"] == "declined"
    shop.card()
    partial = till("sell", "5.60", accept_partial=True)
    assert (partial["outcome"], partial["approvedAmount"]) == ("partially-approved", "2.80")


@pytest.mark.parametrize(("accepted", "outcome"), [(True, "approved"), (False, "reversed")])
def test_a_signature_is_compared(shop: Shop, till: Callable[..., Any], accepted: bool, outcome: str) -> None:
    shop.card("chip-signature")
    assert till("sell", "3.00", on_signature=lambda _: accepted)["outcome"] == outcome


@pytest.mark.parametrize(
    ("taken", "outcome"), [(True, "approved"), (False, "reversed"), ("8.00", "approved"), ("99.00", None)]
)
def test_the_till_confirms(shop: Shop, till: Callable[..., Any], taken: Any, outcome: str | None) -> None:
    shop.card()
    if outcome is None:
        with pytest.raises(OutcomeUnknown) as refused:
            till("sell", "12.00", on_confirm=lambda _: taken)
        assert refused.value.reference
        assert till("confirm", refused.value.reference, False)["state"] != "awaiting-till"
        return
    sale = till("sell", "12.00", on_confirm=lambda _: taken)
    assert sale["outcome"] == outcome
    if taken == "8.00":
        assert sale["rest"]["amount"] == "4.00"


def test_a_sale_is_cancelled_by_another_part_of_the_till(till: Callable[..., Any], background: Background) -> None:
    wanted = reference()
    selling = background.submit(till, "sell", "4.00", reference=wanted)
    until(lambda: till("status").get("current", {}).get("reference") == wanted)
    with pytest.raises(Busy) as busy:
        till("sell", "5.00")
    assert busy.value.raw["reference"] == wanted
    assert till("cancel", wanted)["cancel"] == "in-time"
    assert selling.result(30)["outcome"] == "cancelled"
    assert till("cancel", wanted)["cancel"] == "in-time", "the same answer again"


def test_a_lost_answer_of_the_bank_is_reversed(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card()
    assert till("sell", "5.71")["outcome"] == "reversed"


def test_what_the_terminal_does_not_know_is_unconfirmed(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card()
    with pytest.raises(Unconfirmed) as unknown:
        till("sell", "5.70")
    assert unknown.value.sale
    assert unknown.value.sale["state"] == "unconfirmed"
    assert till("show", unknown.value.sale["reference"], wait_s=1)["state"] == "unconfirmed"
    assert till("status")["unconfirmed"]


@pytest.mark.parametrize(
    ("training", "outcome"),
    [("declined", "declined"), ("not-sent", "not-sent"), ("reversed", "reversed"), ("cancelled", "cancelled")],
)
def test_the_other_outcomes_are_trained(till: Callable[..., Any], training: str, outcome: str) -> None:
    wanted = reference()

    def sold() -> Any:
        try:
            return till("sell", "2.00", reference=wanted, training=training)
        except Busy:
            return None

    # The terminal stays busy for a moment after the training transaction before this one has ended.
    assert until(sold)["outcome"] == outcome
    assert till("follow", wanted, training=True)["outcome"] == outcome
    with pytest.raises(NotFound):
        till("follow", wanted)


@pytest.mark.parametrize("cuts", [1, 2])
def test_a_lost_answer_charges_once(shop: Shop, till: Callable[..., Any], cuts: int) -> None:
    shop.card()
    proxy = Cutter(shop.agent, cuts)
    sale = till("sell", "6.00", url=proxy.url)
    assert (sale["outcome"], proxy.count > cuts) == ("approved", True)
    assert len(shop.payments(sale)) == 1
    assert [one["reference"] for one in till("sales", reference=sale["reference"])] == [sale["reference"]]


def test_the_agent_is_killed_while_it_waits_for_a_card(
    shop: Shop, till: Callable[..., Any], background: Background
) -> None:
    wanted = reference()
    selling = background.submit(till, "sell", "7.00", reference=wanted)
    until(lambda: till("status").get("current", {}).get("reference") == wanted)
    shop.kill("agent")
    assert selling.result(90)["outcome"] in ("cancelled", "not-sent")


def test_a_terminal_that_stays_down_leaves_the_outcome_unknown(
    shop: Shop, till: Callable[..., Any], background: Background
) -> None:
    wanted = reference()
    selling = background.submit(till, "sell", "7.00", reference=wanted)
    until(lambda: till("status").get("current", {}).get("reference") == wanted)
    shop.do("POST", "/power", {"program": "agent", "down": True})
    with pytest.raises(OutcomeUnknown) as unknown:
        selling.result(120)
    assert unknown.value.reference == wanted
    shop.do("POST", "/power", {"program": "agent", "down": False})
    assert till("sell", "7.00", reference=wanted, repeat=True)["outcome"] in ("cancelled", "not-sent")


def test_a_reference_is_one_transaction(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card()
    sale = till("sell", "8.00", reference=reference())
    with pytest.raises(AlreadyKnown) as known:
        till("sell", "8.00", reference=sale["reference"])
    assert known.value.sale["outcome"] == "approved"
    again = till("sell", "8.00", reference=sale["reference"], repeat=True)
    assert (again["number"], again["replayed"]) == (sale["number"], True)
    with pytest.raises(AmountDiffers):
        till("sell", "8.01", reference=sale["reference"])
    assert len(shop.payments(sale)) == 1
    with pytest.raises(NotFound):
        till("show", "never")


def test_too_many_requests_at_once_are_all_answered(
    till: Callable[..., Any], background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(seconds)

    async def sleep_async(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(seconds)

    monkeypatch.setattr("pos_agent_client.client._sleep", sleep)
    monkeypatch.setattr("pos_agent_client.client._sleep_async", sleep_async)
    wanted = reference()
    till("begin", "9.00", reference=wanted)
    asked = [background.submit(till, "show", wanted, wait_s=3) for _ in range(12)]
    assert {one.result(60)["reference"] for one in asked} == {wanted}
    assert pauses, "some were refused with 429"
    till("cancel", wanted)


def test_a_refund_and_the_receipts(shop: Shop, till: Callable[..., Any]) -> None:
    shop.card()
    sale = till("sell", "10.00", reference=reference())
    part = till("refund", sale["reference"], "4.00")
    assert (part["outcome"], part["approvedAmount"]) == ("approved", "4.00")
    assert till("show", sale["reference"])["left"] == "6.00"
    text = till("receipt", sale["reference"], width=32)
    assert "10.00" in text
    assert max(map(len, text.splitlines())) <= 32
    receipt = till("receipt", sale["reference"], as_="json", copy="merchant")
    assert receipt["copy"] == "merchant"
    assert "state" in till("print_receipt", sale["reference"])
    rest = till("refund", sale["reference"])
    assert rest["approvedAmount"] == "6.00"
    shop.card()
    reserved = till("transact", "pre-authorisation", "20.00", reference=reference())
    assert till("capture", reserved["reference"], "15.00")["outcome"] == "approved"
    shop.card()
    other = till("sell", "1.00", reference=reference())
    assert till("reverse", other["reference"])["outcome"] == "approved"
    newest = till("sales", order="newest", limit=2, take=5)
    numbers = [one["number"] for one in newest]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == 5
    made = till("close", reference=reference())
    assert till("closes", take=1)[0]["number"] == made["number"]
    assert till("show_close", "last")["number"] == made["number"]


def test_events_continue_after_the_last_one(shop: Shop, till: Callable[..., Any], background: Background) -> None:
    listening = background.submit(till, "events", take=3)
    time.sleep(1)
    shop.card()
    sale = till("sell", "1.00")
    first, second, third = listening.result(30)
    assert isinstance(first, Event)
    assert first.reference == sale["reference"]
    assert first.id
    assert till("events", after=first.id, take=2) == [second, third]
    shop.kill("agent")
    assert isinstance(till("events", after=third.id, take=1)[0], Reset)


def test_events_survive_the_agents_death(shop: Shop, both: Both, background: Background) -> None:
    heard: list[Event | Reset] = []

    def listen() -> None:
        with Terminal(shop.agent, shop.token) as terminal:
            for event in terminal.events():
                heard.append(event)
                if isinstance(event, Reset):
                    return

    async def listen_async() -> None:
        async with AsyncTerminal(shop.agent, shop.token) as terminal:
            async for event in terminal.events():
                heard.append(event)
                if isinstance(event, Reset):
                    return

    listening = background.submit(listen if both.kind == "sync" else lambda: asyncio.run(listen_async()))
    time.sleep(1)
    with Terminal(shop.agent, shop.token) as terminal:
        wanted = terminal.begin("1.00")["reference"]
        terminal.cancel(wanted)
        until(lambda: heard)
        shop.kill("agent")
        listening.result(30)
        assert terminal.show(wanted)["outcome"] == "cancelled"


@pytest.fixture
def paired(shop: Shop, both: Both) -> Pairing:
    shop.do("POST", "/pairing", {"open": True})
    fingerprint = fingerprint_of(shop.ca)

    def ask_code() -> str:
        return shop.approve("till-2")

    if both.kind == "sync":
        return pair(shop.https, "till-2", ask_code=ask_code, fingerprint=fingerprint)
    return asyncio.run(pair_async(shop.https, "till-2", ask_code=ask_code, fingerprint=fingerprint))


def test_a_paired_till_trusts_one_ca(shop: Shop, both: Both, paired: Pairing, hooks: FakeTerminal) -> None:
    assert (paired.till, paired.ca_pem.strip()) == ("till-2", shop.ca.strip())
    about: dict[str, Any] = {"token": paired.token, "ca": paired.ca_pem}
    shop.card("chip-pin")
    sale = both(shop.https, "sell", "2.50", reference=reference(), **about)
    assert (sale["outcome"], sale["till"]) == ("approved", "till-2")
    assert "2.50" in both(shop.https, "receipt", sale["reference"], **about)
    with pytest.raises(WrongCertificate):
        both(shop.https, "status", token=paired.token, ca=trustme.CA().cert_pem.bytes())
    with pytest.raises(Unauthorized):
        both(shop.https, "status", token="wrong", ca=paired.ca_pem)

    def sent() -> Any:
        for _, _, headers, body in hooks.requests:
            if body["type"] == "ended" and body["data"]["reference"] == sale["reference"]:
                return headers, body
        return None

    headers, body = until(sent)
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    assert verify_webhook(headers, content, shop.at["webhookSecret"]) == body
    with pytest.raises(InvalidWebhook):
        verify_webhook(headers, content, shop.at["webhookSecret"], now=time.time() + 301)


def test_the_front_is_killed_during_a_sale(shop: Shop, both: Both, paired: Pairing, background: Background) -> None:
    about: dict[str, Any] = {"token": paired.token, "ca": paired.ca_pem}
    wanted = reference()
    selling = background.submit(both, shop.https, "sell", "3.50", reference=wanted, **about)
    until(lambda: both(shop.https, "status", **about).get("current", {}).get("reference") == wanted)
    shop.kill("front")
    shop.card()
    sale = selling.result(90)
    assert (sale["outcome"], sale["reference"]) == ("approved", wanted)
    assert len(shop.payments(sale)) == 1


def test_pairing_is_closed_until_a_person_opens_it(shop: Shop) -> None:
    shop.kill("front")
    with pytest.raises(PairingClosed):
        pair(shop.https, "till-3", ask_code=lambda: "482915", ca=shop.ca)


def test_the_till_of_the_readme_works(shop: Shop) -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    till = text.split("```python\n")[1].split("```")[0]
    shop.card()
    environment = os.environ | {"POS_URL": shop.agent, "POS_TOKEN": shop.token}
    said = subprocess.run([sys.executable, "-c", till], env=environment, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stderr
    assert "store this first" in said.stdout
    assert "APPROVED" in said.stdout
