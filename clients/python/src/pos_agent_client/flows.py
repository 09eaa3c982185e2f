"""Every operation of a terminal, as a flow. `client.py` gives them to `Terminal` and `AsyncTerminal`.

The path of a sale: `sell` makes the reference, `_transact` asks what the follower wants to know, and the follower
(`follow.py`) decides what each answer means.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from decimal import Decimal
from time import monotonic as _now
from typing import Any, Literal, Unpack, cast, overload

from .errors import (
    AlreadyKnown,
    NoAnswer,
    OutcomeUnknown,
    Problem,
    Unconfirmed,
    WrongCertificate,
    read_problem,
    reference_of,
)
from .events import Event, EventReader, Reset
from .follow import LONGEST_SILENCE, PASSING, PAUSE, Follower, Next, Refused, Said, Silent, WasThere, next_actor, read
from .follow import show as show_request
from .types import (
    Amount,
    CancelledSale,
    Close,
    Copy,
    Filters,
    Kind,
    MadeClose,
    OnConfirm,
    OnReference,
    OnSignature,
    OnStep,
    Options,
    Printed,
    Receipt,
    Sale,
    Status,
)
from .wire import Answer, Call, Emit, Flow, Items, Listen, Lost, Read, Request, Sleep, post, sale_path, training_query

RECOVERY = 15.0
"""The seconds for which an unconfirmed transaction is watched, because most are reversed within this time."""
LONGEST_BACK_OFF = 30.0
"""The longest pause before a lost stream of events is opened again, in seconds."""


# Transactions


def sell(
    amount: Amount,
    *,
    reference: str | None = None,
    repeat: bool = False,
    on_reference: OnReference | None = None,
    on_step: OnStep | None = None,
    on_signature: OnSignature | None = None,
    on_confirm: OnConfirm | None = None,
    supervisor: str | None = None,
    callback: str | None = None,
    **options: Unpack[Options],
) -> Flow[Sale]:
    """Takes a payment and returns the ended sale. Only its `outcome` says whether money was charged.

    A lost answer is asked for again with the same reference, so nothing is charged twice. `Problem` and `NoAnswer` mean
    that nothing was charged. `OutcomeUnknown` means that nobody knows yet, and names the reference to ask for. It comes
    after 30 s without an answer, or if the terminal itself does not know the outcome for 15 s (`Unconfirmed`).

    - `reference`: the till's own, stored before the call. Without one, a new one is made and told to `on_reference`.
    - `repeat`: the same call was made before, perhaps by a program that has ended. It goes on with that transaction.
    - `on_step`: gets the sale when its step or state changes. Steps of less than a second may be left out.
    - `on_signature`: compares the slip with the card, and returns whether the signature matches.
    - `on_confirm`: says after the approval what the till takes: `True` all, `False` nothing, or a part as an amount.
    - `supervisor`: the token of an approval.
    - `callback`: the address that gets the events of this transaction by webhook. The terminal must permit it.
    """
    return transact(
        "sale",
        amount,
        reference=reference,
        repeat=repeat,
        on_reference=on_reference,
        on_step=on_step,
        on_signature=on_signature,
        on_confirm=on_confirm,
        supervisor=supervisor,
        callback=callback,
        **options,
    )


def transact(
    kind: Kind,
    amount: Amount | None = None,
    *,
    reference: str | None = None,
    repeat: bool = False,
    on_reference: OnReference | None = None,
    on_step: OnStep | None = None,
    on_signature: OnSignature | None = None,
    on_confirm: OnConfirm | None = None,
    supervisor: str | None = None,
    callback: str | None = None,
    **options: Unpack[Options],
) -> Flow[Sale]:
    """Carries out a transaction of any kind, and returns it when it has ended. See `sell`."""
    if on_confirm:
        options.setdefault("confirm", "till")
    follower = _beginning(kind, amount, reference, repeat, (supervisor, callback), options)
    return _annotated(follower, _transact(follower, on_reference, on_step, on_signature, on_confirm))


def begin(
    amount: Amount | None = None,
    *,
    kind: Kind = "sale",
    reference: str | None = None,
    repeat: bool = False,
    on_reference: OnReference | None = None,
    supervisor: str | None = None,
    callback: str | None = None,
    **options: Unpack[Options],
) -> Flow[Sale]:
    """Begins a transaction, and returns it as soon as the terminal has stored it. `follow` waits for its outcome."""
    follower = _beginning(kind, amount, reference, repeat, (supervisor, callback), options)
    return _annotated(follower, _begin(follower, on_reference))


def follow(
    reference: str,
    *,
    training: bool = False,
    on_step: OnStep | None = None,
    on_signature: OnSignature | None = None,
    on_confirm: OnConfirm | None = None,
) -> Flow[Sale]:
    """Goes on with a transaction of the terminal, and returns it when it has ended.

    A `Problem` says nothing about the outcome.
    """
    asked = show_request(reference, training=training)
    follower = Follower(reference, asked, 1 if on_step else 20, may_stand=True, training=training)

    def going_on() -> Flow[Sale]:
        try:
            sale = yield from show(reference, training=training)
        except NoAnswer:
            sale = (yield from _answer(follower)).sale
        return (yield from _until_ended(follower, sale, on_step, on_signature, on_confirm))

    return _annotated(follower, going_on())


def refund(
    of: str,
    amount: Amount | None = None,
    *,
    reference: str | None = None,
    repeat: bool = False,
    callback: str | None = None,
) -> Flow[Sale]:
    """Pays back all that is left of an earlier transaction, or a part."""
    return transact("refund", amount, of=of, reference=reference, repeat=repeat, callback=callback)


def reverse(of: str, *, reference: str | None = None, repeat: bool = False, callback: str | None = None) -> Flow[Sale]:
    """Reverses an earlier transaction."""
    return transact("reversal", of=of, reference=reference, repeat=repeat, callback=callback)


def capture(
    of: str,
    amount: Amount | None = None,
    *,
    reference: str | None = None,
    repeat: bool = False,
    callback: str | None = None,
) -> Flow[Sale]:
    """Charges all that is left of a reservation, or a part."""
    return transact("capture", amount, of=of, reference=reference, repeat=repeat, callback=callback)


def _beginning(
    kind: Kind,
    amount: Amount | None,
    reference: str | None,
    repeat: bool,
    extra: tuple[str | None, str | None],
    options: Options,
) -> Follower:
    reference = secrets.token_hex(16) if reference is None else reference
    sale_path(reference)
    body: dict[str, Any] = {"reference": reference, "kind": kind}
    if amount is not None:
        body["amount"] = amount_text(amount)
    for name, value in options.items():
        body[_camel(name)] = amount_text(cast("Amount", value)) if name == "tip" else value
    given = dict(zip(("Pos-Supervisor", "Pos-Callback"), extra, strict=True))
    headers = {name: value for name, value in given.items() if value}
    return Follower(
        reference,
        post("/v1/sales", body, headers=headers, what="begin"),
        may_stand=repeat,
        training="training" in options,
    )


def _transact(
    follower: Follower,
    on_reference: OnReference | None,
    on_step: OnStep | None,
    on_signature: OnSignature | None,
    on_confirm: OnConfirm | None,
) -> Flow[Sale]:
    sale = yield from _begin(follower, on_reference)
    follower.wait_s = 1 if on_step else follower.wait_s
    return (yield from _until_ended(follower, sale, on_step, on_signature, on_confirm))


def _begin(follower: Follower, on_reference: OnReference | None) -> Flow[Sale]:
    if on_reference:
        yield Call(on_reference, (follower.reference,))
    return (yield from _answer(follower)).sale


def _until_ended(
    follower: Follower,
    sale: Sale,
    on_step: OnStep | None,
    on_signature: OnSignature | None,
    on_confirm: OnConfirm | None,
) -> Flow[Sale]:
    told: object = None
    unconfirmed_since: float | None = None
    while True:
        step = (sale["state"], sale.get("step"), sale.get("text"))
        if on_step and step != told:
            yield Call(on_step, (sale,))
        told = step
        match next_actor(sale):
            case "none":
                return sale
            case "recovery" if _now() < (unconfirmed_since := unconfirmed_since or _now()) + RECOVERY:
                yield Sleep(PAUSE)
                follower.wait_s = min(follower.wait_s, 5)
                follower.watch()
            case "recovery":
                detail = sale.get("text") or "the outcome is not known yet; the terminal goes on until it is"
                raise Unconfirmed(follower.reference, f"{sale['state']}: {detail}", sale)
            case "cashier" if on_signature:
                accepted = yield Call(on_signature, (sale,))
                if not isinstance(accepted, bool):
                    raise TypeError(f"on_signature: must return True or False, not {accepted!r}")
                follower.sign(accepted)
            case "till" if on_confirm:
                follower.confirm(_taken((yield Call(on_confirm, (sale,)))))
            case "cashier" | "till":
                # Somebody else answers. The wait of the terminal ends at once while it needs a person.
                yield Sleep(PAUSE)
                follower.watch()
            case _:
                follower.watch()
        sale = (yield from _answer(follower)).sale


def _answer(follower: Follower) -> Flow[Said]:
    """Asks the follower's question until there is an answer."""
    while True:
        asked, lost, after = follower.asked, None, 0.0
        answer: Answer | Lost = yield asked
        if isinstance(answer, Lost):
            lost = answer
            if lost.wrong_certificate and not follower.may_stand:
                raise WrongCertificate(lost.why)
        said = read(asked, answer)
        if isinstance(said, Refused):
            after = min(said.problem.retry_after_s or 0, LONGEST_SILENCE)
        now = _now()
        match follower.heard(said, now):
            case Said() as said:
                return said
            case WasThere(sale):
                raise AlreadyKnown(follower.reference, sale)
            case Next(at):
                yield Sleep(max(at - now, after))
            case Silent(may_stand=False):
                raise NoAnswer(lost.why if lost else "the terminal gives no answer", may_be_done=False)
            case Silent():
                why = lost.why if lost else "the terminal gives no answer"
                detail = f"the outcome is unknown ({why}); it is not declined: ask for this reference again"
                raise OutcomeUnknown(follower.reference, detail)
            case Refused(problem) if asked.what == "begin":
                raise problem
            case Refused(problem) if problem.code == "no-confirmation-awaited":
                follower.watch()
            case Refused(problem):
                detail = f"the confirmation was refused ({problem}), and the transaction stands: confirm it again"
                raise OutcomeUnknown(follower.reference, detail) from problem


def _annotated(follower: Follower, flow: Flow[Sale]) -> Flow[Sale]:
    """Adds the reference to each error, so that a till which is interrupted can ask for it."""
    try:
        return (yield from flow)
    except GeneratorExit:
        raise
    except BaseException as error:
        if reference_of(error) is None:
            error.reference = follower.reference  # type: ignore[attr-defined]
        if not isinstance(error, Exception):
            error.add_note(f"the transaction {follower.reference} may go on at the terminal: ask for its reference")
        raise


def _taken(word: object) -> dict[str, str]:
    if isinstance(word, bool):
        return {"taken": "all" if word else "nothing"}
    return {"taken": "part", "amount": amount_text(cast("Amount", word))}


def show(reference: str, *, wait_s: int = 0, training: bool = False) -> Flow[Sale]:
    """Returns the present state of a transaction, or waits at most 120 s for its end or for a person's turn."""
    return _asked(show_request(reference, wait_s, training))


def latest(*, training: bool = False) -> Flow[Sale]:
    """Returns the till's latest transaction."""
    return _asked(Request("GET", "/v1/latest", query=training_query(training)))


def cancel(reference: str, *, training: bool = False) -> Flow[CancelledSale]:
    """Cancels a transaction. `cancel` of the answer is `in-time` if nothing is charged, or `too-late`."""
    return _command(reference, "cancel", {}, training)


def signature(reference: str, accepted: bool, *, training: bool = False) -> Flow[Sale]:
    """Reports whether the signature on the slip matches the card."""
    return _command(reference, "signature", {"accepted": accepted}, training)


def confirm(reference: str, taken: bool | Amount, *, training: bool = False) -> Flow[Sale]:
    """Confirms what the till takes: `True` all, `False` nothing, or a part as an amount."""
    return _command(reference, "confirm", _taken(taken), training)


def _command(reference: str, path: str, body: Mapping[str, Any], training: bool) -> Flow[Any]:
    return _asked(post(sale_path(reference, path), body, query=training_query(training)), reference)


# Lists, receipts and closes


def sales(**filters: Unpack[Filters]) -> Items[Sale]:
    """Yields the till's transactions, oldest first unless `order="newest"`. Further pages are fetched when needed."""
    return Items(_pages("/v1/sales", "sales", dict(filters)))


def closes(*, limit: int | None = None) -> Items[Close]:
    """Yields the closes of day, newest first. `limit` is the size of a page."""
    return Items(_pages("/v1/closes", "closes", {} if limit is None else {"limit": limit}))


def close(*, reference: str | None = None, print: bool = False) -> Flow[MadeClose]:  # noqa: A002
    """Closes the day. The same reference returns the same close."""
    reference = secrets.token_hex(16) if reference is None else reference
    request = Request("POST", "/v1/closes", body={"reference": reference, "print": print}, answer_s=145)
    return _asked(request, reference)


def show_close(number: int | Literal["last", "open"]) -> Flow[Close]:
    """Returns a close of day. `"open"` is the next one with its present sums."""
    return _asked(Request("GET", f"/v1/closes/{number}", answer_s=145))


@overload
def receipt(
    reference: str, *, as_: Literal["json"], copy: Copy = "customer", width: int | None = None, training: bool = False
) -> Flow[Receipt]: ...
@overload
def receipt(
    reference: str,
    *,
    as_: Literal["text"] = "text",
    copy: Copy = "customer",
    width: int | None = None,
    training: bool = False,
) -> Flow[str]: ...
def receipt(
    reference: str,
    *,
    as_: Literal["text", "json"] = "text",
    copy: Copy = "customer",
    width: int | None = None,
    training: bool = False,
) -> Flow[Any]:
    """Returns a receipt as text, or as data with `as_="json"`. `width` is 24 to 64 characters in a line."""
    query = {"copy": str(copy)} | ({} if width is None else {"width": str(width)}) | training_query(training)
    accept = "application/json" if as_ == "json" else "text/plain"
    request = Request("GET", sale_path(reference, "receipt"), query=query, headers={"Accept": accept})
    return _asked(request) if as_ == "json" else _text(request)


def _text(request: Request) -> Flow[str]:
    return (yield from exchange(request)).body.decode()


def print_receipt(reference: str, *, copy: Copy = "customer", training: bool = False) -> Flow[Printed]:
    """Prints a receipt. A second print is marked as a duplicate."""
    query = {"copy": str(copy)} | training_query(training)
    return _asked(post(sale_path(reference, "receipt"), {}, query=query), reference)


def status() -> Flow[Status]:
    """Returns whether the terminal can take a sale, and what prevents it."""
    return _asked(Request("GET", "/v1/status"))


def ask(
    method: Literal["GET", "POST", "DELETE"],
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    answer_s: float = 35,
) -> Flow[Any]:
    """Makes any other request of the interface, once, and returns its JSON."""
    body = {} if body is None and method == "POST" else body
    return _asked(Request(method, path, query=query or {}, body=body, headers=headers or {}, answer_s=answer_s))


def _pages(path: str, name: str, filters: Mapping[str, Any]) -> Flow[None]:
    query = {key.rstrip("_"): _query_text(key, value) for key, value in filters.items()}
    while True:
        page = yield from _asked(Request("GET", path, query=query))
        for item in page.get(name, []):
            yield Emit(item)
        if "next" not in page:
            return
        query["cursor"] = str(page["next"])


def _asked(request: Request, reference: str | None = None) -> Flow[Any]:
    answer = yield from exchange(request, reference)
    if not answer.body:
        return None
    try:
        return json.loads(answer.body)
    except ValueError:
        raise NoAnswer("the answer cannot be read", may_be_done=request.method != "GET") from None


def exchange(request: Request, reference: str | None = None) -> Flow[Answer]:
    """Makes a request. A refusal that passes is repeated for a read, and for a command with a reference."""
    waited = 0.0
    while True:
        answer: Answer | Lost = yield request
        error: NoAnswer | WrongCertificate | Problem
        if isinstance(answer, Answer):
            if 200 <= answer.status < 300:
                return answer
            error = refusal(request, answer)
        elif answer.wrong_certificate:
            error = WrongCertificate(answer.why)
        else:
            error = NoAnswer(answer.why, answer.may_be_done)
        error.reference = reference
        pause = _pause(error) if request.method == "GET" or reference else None
        if pause is None or waited + pause > LONGEST_SILENCE:
            raise error
        waited += pause
        yield Sleep(pause)


def refusal(request: Request, answer: Answer) -> Problem | NoAnswer:
    """Returns the error for an answer without success."""
    problem = read_problem(answer.status, answer.headers, answer.body)
    may_be_done = request.method != "GET"
    return problem or NoAnswer(f"the answer is HTTP {answer.status}, and not a terminal's", may_be_done)


def _pause(error: Exception) -> float | None:
    """Returns the seconds until a refused request may be repeated, or `None` for other errors."""
    if not isinstance(error, Problem) or error.status not in (408, 429, 503):
        return None
    return max(error.retry_after_s, PAUSE) if error.retry_after_s else PAUSE if error.code in PASSING else None


# Events


def events(after: str | None = None) -> Items[Event | Reset]:
    """Yields each step of the terminal and of the till's transactions, for ever. Close the iterator to stop.

    A lost connection is opened again, and continues after the last event. A `Reset` says that events were missed: ask
    for the sales and the status again. `after` is the `id` of the last event that the till has handled.
    """
    return Items(_events(EventReader(after)))


def _events(reader: EventReader) -> Flow[None]:
    attempt = 0
    while True:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": reader.last_id} if reader.last_id else {})
        request = Request("GET", "/v1/events", headers=headers)
        answer: Answer | Lost = yield Listen(request)
        pause = min(2.0**attempt, LONGEST_BACK_OFF)
        if isinstance(answer, Lost):
            if answer.wrong_certificate:
                raise WrongCertificate(answer.why)
        elif answer.status == 200:
            reader.starts()
            while isinstance(chunk := (yield Read()), bytes):
                attempt = 0
                for event in reader.feed(chunk):
                    yield Emit(event)
            pause = min(2.0**attempt, LONGEST_BACK_OFF)
        else:
            error = refusal(request, answer)
            if answer.status < 500 and answer.status not in (408, 429):
                raise error
            pause = max(pause, _pause(error) or 0)
        attempt = min(attempt + 1, 5)
        yield Sleep(pause)


# Words


def amount_text(amount: Amount) -> str:
    """Returns an amount as the interface writes it."""
    if isinstance(amount, Decimal):
        if not amount.is_finite():
            raise ValueError(f"{amount} is no amount")
        return format(amount, "f")
    if isinstance(amount, str):
        return amount
    raise TypeError(f"an amount is a Decimal or a str, such as '12.34', not {type(amount).__name__}")


def _query_text(name: str, value: object) -> str:
    if name == "amount":
        return amount_text(cast("Amount", value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
