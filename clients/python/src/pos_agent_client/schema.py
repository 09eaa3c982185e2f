"""Types of the terminal's interface. generate.py writes this file from the agent's OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

AskedTip = Literal["ask"]
Attention = Literal[
    "reader-opening",
    "reader-absent",
    "reader-other-device",
    "reader-not-listed",
    "reader-no-keys",
    "reader-clear-data",
    "reader-not-encrypting",
    "reader-flooding",
    "reader-restarting",
    "reader-card-left",
    "reader-keys-low",
    "gateway-unreachable",
    "gateway-no-answer",
    "gateway-out-of-order",
    "gateway-throttles",
    "gateway-refuses-request",
    "gateway-refuses-token",
    "gateway-untrusted-certificate",
    "gateway-certificate-expired",
    "gateway-own-certificate-refused",
    "gateway-own-certificate-expired",
    "gateway-not-usable",
    "gateway-certificate-ends",
    "ca-certificate-ends",
    "own-certificate-ends",
    "token-ends",
    "gateway-files-unused",
    "printer-no-paper",
    "printer-paper-low",
    "printer-cover-open",
    "printer-paper-jam",
    "printer-error",
    "printer-pausing",
    "printer-offline",
    "printer-absent",
    "printer-interrupted",
    "printer-silent",
    "clock-untrusted",
    "clocks-differ",
    "journal-full",
    "journal-nearly-full",
    "journal-cannot-be-written",
    "journal-old-copy",
    "journal-not-compared",
    "journal-began-anew",
    "sale-unconfirmed",
    "sale-needs-person",
    "signature-awaited",
    "confirmation-awaited",
    "till-port-closed",
    "fleet-message",
    "fleet-settings-trial",
    "fleet-settings-returned",
    "fleet-settings-drift",
    "fleet-settings-unusable",
    "fleet-keys-unusable",
]
Cancelled = Literal[
    "in-time",
    "too-late",
]
ClockState = Literal[
    "ready",
    "reader-serves",
    "differs",
    "untrusted",
]
Confirms = Literal["till"]
Entry = Literal[
    "manual",
    "chip",
]
GatewayState = Literal[
    "answers",
    "connected",
    "not-asked-yet",
    "throttles",
    "unreachable",
    "no-answer",
    "out-of-order",
    "refuses-token",
    "untrusted-certificate",
    "certificate-expired",
    "own-certificate-refused",
    "own-certificate-expired",
    "not-usable",
]
Health = Literal[
    "answered",
    "awaited",
    "not-counted",
]
JournalState = Literal[
    "ready",
    "nearly-full",
    "full",
    "cannot-be-written",
]
Kind = Literal[
    "sale",
    "pre-authorisation",
    "credit",
    "by-registration",
    "pre-authorisation-by-registration",
    "store-card",
    "forget-card",
    "capture",
    "refund",
    "reversal",
    "increment",
    "reauthorisation",
]
LineAlign = Literal[
    "left",
    "centre",
    "right",
]
LineCode = Literal[
    "ean-8",
    "ean-13",
    "upc-a",
    "code-25",
    "code-128",
    "pdf-417",
    "qr",
    "qr-low",
    "qr-quartile",
    "qr-high",
]
LineStyle = Literal[
    "plain",
    "bold",
    "tall",
    "big",
]
ListOrder = Literal[
    "oldest",
    "newest",
]
LogLevel = Literal[
    "info",
    "debug",
    "trace",
]
OnSilence = Literal[
    "reverse",
    "keep",
]
OpenKind = Literal[
    "needs-person",
    "unconfirmed",
    "awaiting-signature",
    "awaiting-till",
    "under-way",
    "unreadable",
    "pre-authorisation",
]
OperatorName = str
Outcome = Literal[
    "approved",
    "partially-approved",
    "declined",
    "cancelled",
    "not-sent",
    "reversed",
]
PaymentId = str
PrinterState = Literal[
    "ready",
    "not-used-yet",
    "no-paper",
    "paper-low",
    "cover-open",
    "paper-jam",
    "error",
    "pausing",
    "offline",
    "absent",
    "interrupted",
    "silent",
]
Prints = Literal[
    "terminal",
    "till",
]
ReaderState = Literal[
    "ready",
    "opening",
    "absent",
    "other-device",
    "not-listed",
    "no-keys",
    "clear-data",
    "not-encrypting",
    "flooding",
    "restarting",
]
ReceiptCopy = Literal[
    "customer",
    "merchant",
]
ReceiptRowIs = Literal[
    "rule",
    "left",
    "centred",
    "bold",
    "large",
    "amount",
    "pair",
    "status",
    "signature-line",
]
Reference = str
Role = Literal[
    "cashier",
    "supervisor",
    "technician",
]
SaleNumber = int
SaleState = Literal[
    "waiting-for-card",
    "in-progress",
    "awaiting-signature",
    "awaiting-till",
    "unconfirmed",
    "unconfirmed-finishing",
    "ended",
]
Taken = Literal[
    "all",
    "part",
    "nothing",
]
Tip = str
TrainingResult = Literal[
    "approved",
    "declined",
    "partial",
    "signature",
    "unconfirmed",
    "cancelled",
    "no-card",
    "not-sent",
    "reversed",
    "by-amount",
]
WantedLevel = Literal[
    "usual",
    "info",
    "debug",
    "trace",
]


class AmountTyped(TypedDict):
    """An amount that was typed at the reader."""

    amount: str
    currency: str


class Card(TypedDict):
    """The data of a card that tills may see."""

    aid: NotRequired[str]
    brand: NotRequired[str]
    cryptogram: NotRequired[str]
    entryMode: str
    last4: NotRequired[str]
    verification: NotRequired[str]


class CloseDayBody(TypedDict):
    """CloseDayBody"""

    print: NotRequired[bool]
    reference: NotRequired[str | None]


ClosePeriod = TypedDict(
    "ClosePeriod",
    {
        "afterEntry": int,
        "from": "NotRequired[str]",
        "to": str,
        "toEntry": int,
    },
)


class ConfigFile(TypedDict):
    """A configuration file of a reader."""

    name: str
    version: str


class FleetAuthor(TypedDict):
    """The origin of a command of the fleet."""

    author: str
    key: str


class FleetConnection(TypedDict):
    """The begin of a connection."""

    commands: list[str]
    counters: dict[str, int]
    nonce: str
    notSigned: int


class Found(TypedDict):
    """The payments that match the filters."""

    payments: list[dict[str, str]]


class FrontCredentials(TypedDict):
    """An operator's name and PIN."""

    operator: str
    pin: str


class FrontHealth(TypedDict):
    """The state of the front."""

    agent: str
    payouts: NotRequired[int]
    since: str
    webhooks: NotRequired[list[dict[str, Any]]]


class FrontSession(TypedDict):
    """The operator of a browser."""

    operator: str | None
    role: NotRequired[str]
    till: NotRequired[str]


class JudgeSignatureBody(TypedDict):
    """The operator's decision about the signature."""

    accepted: bool


class Keys(TypedDict):
    """The numbers of unused keys in the reader. Each payment uses one or two keys, and without keys no payment is
    possible.
    """

    card: NotRequired[int]
    pin: NotRequired[int]


class LastEntry(TypedDict):
    """The end of the chain."""

    entry: int
    hash: str


class PairedTill(TypedDict):
    """A paired till."""

    till: str
    token: str


class PairingCode(TypedDict):
    """The code that the terminal shows."""

    code: str


class PairingName(TypedDict):
    """The till that asks for a token."""

    name: str


class PairingRequest(TypedDict):
    """A request that waits for its code."""

    goodForS: int
    request: str


class PairingWait(TypedDict):
    """The code is right, and no one has approved it yet."""

    state: Literal["waiting-for-approval"]


class PassFleetAckBody(TypedDict):
    """PassFleetAckBody"""

    journal: str
    number: int


class Port(TypedDict):
    """The port to which tills with a token connect."""

    address: str
    trouble: NotRequired[str]


class SetPinBody(TypedDict):
    """SetPinBody"""

    pin: str


class SettleSaleBody(TypedDict):
    """A person's decision about a transaction that waits for one."""

    keep: bool


class ShowTextBody(TypedDict):
    """ShowTextBody"""

    text: str


class SignInBody(TypedDict):
    """SignInBody"""

    operator: str
    pin: str


class Tips(TypedDict):
    """The tips from the settings in `[tips]`."""

    custom: bool
    default: int
    presets: list[int]
    timeoutS: int


class Turnover(TypedDict):
    """The amounts taken and given in one currency, for a shop, a card brand, a till or an operator."""

    count: int
    currency: str
    given: str
    givenCount: NotRequired[int]
    name: NotRequired[str]
    net: str
    taken: str
    takenCount: NotRequired[int]


class TypeAmountBody(TypedDict):
    """TypeAmountBody"""

    currency: NotRequired[str | None]


class Waits(TypedDict):
    """The terminal's longest waits, in seconds, for a countdown on a page."""

    answerS: int
    cardS: int
    signatureS: int


class WebhookTest(TypedDict):
    """The body of a test, which a person at the terminal asks for (`pos-front webhook test`)."""

    data: dict[str, Any]
    timestamp: str
    type: Literal["test"]


class AddOperatorBody(TypedDict):
    """AddOperatorBody"""

    name: str
    pin: str
    role: Role


Approval = TypedDict(
    "Approval",
    {
        "approval": str,
        "for": "CommandToConfirm",
        "goodForS": int,
        "supervisor": "OperatorName",
    },
)
ApproveBody = TypedDict(
    "ApproveBody",
    {
        "for": "Confirmed",
        "operator": str,
        "pin": str,
    },
)


class AttentionMessage(TypedDict):
    """An entry that needs attention."""

    code: Attention
    sale: NotRequired[str]
    text: str
    till: NotRequired[str]


class BeginSaleBody(TypedDict):
    """The body of `POST /v1/sales`."""

    acceptPartial: NotRequired[bool | None]
    amount: NotRequired[str]
    confirm: NotRequired[Confirms | None]
    currency: NotRequired[str | None]
    entry: NotRequired[Entry | None]
    kind: NotRequired[Kind]
    number: NotRequired[SaleNumber | None]
    of: NotRequired[str | None]
    onSilence: NotRequired[OnSilence | None]
    operator: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any]]
    payment: NotRequired[str | None]
    receipts: NotRequired[Prints | None]
    reference: str
    registration: NotRequired[str | None]
    till: NotRequired[str | None]
    tillData: NotRequired[dict[str, str]]
    tip: NotRequired[Tip | None]
    training: NotRequired[TrainingResult | None]


class CancelledSale(TypedDict):
    """The answer to a cancel: whether the cancel came in time, and the transaction."""

    amount: str
    answer: NotRequired[dict[str, str]]
    approvalCode: NotRequired[str]
    approvedAmount: NotRequired[str]
    by: NotRequired[Who]
    cancel: Cancelled
    cancelText: str
    card: NotRequired[Card]
    code: NotRequired[str]
    currency: str
    endedAt: NotRequired[str]
    kind: Kind
    language: NotRequired[str]
    later: NotRequired[list[Later]]
    left: NotRequired[str]
    leftS: NotRequired[int]
    needsPerson: NotRequired[str]
    number: SaleNumber
    of: NotRequired[str]
    outcome: NotRequired[Outcome]
    paymentId: NotRequired[PaymentId]
    reason: NotRequired[str]
    receiptNumber: int
    receiptOnDemand: NotRequired[bool]
    receiptUrl: NotRequired[str]
    redirectUrl: NotRequired[str]
    reference: Reference
    registration: NotRequired[str]
    replayed: bool
    rest: NotRequired[Later]
    startedAt: str
    state: SaleState
    statusText: NotRequired[str]
    step: NotRequired[str]
    text: str
    till: str
    tillData: NotRequired[dict[str, str]]
    tip: NotRequired[str]
    toConfirm: NotRequired[ToConfirm]
    training: NotRequired[bool]
    unsettled: NotRequired[str]
    until: NotRequired[str]
    waitS: NotRequired[int]


class ChainEntry(TypedDict):
    """An entry of the chain."""

    entry: int
    hash: str


class Clock(TypedDict):
    """The clock."""

    state: ClockState
    text: str
    time: NotRequired[str]


class Close(TypedDict):
    """A close of day. It never changes. A later event of a counted transaction counts in a later close."""

    brands: NotRequired[list[Turnover]]
    by: NotRequired[Who]
    cancelled: int
    day: str
    declined: int
    firstNumber: NotRequired[SaleNumber]
    kinds: list[Sum]
    lastNumber: NotRequired[SaleNumber]
    net: list[Turnover]
    notSent: int
    number: int
    ofUnknown: NotRequired[list[Sum]]
    open: list[OpenItem]
    operators: NotRequired[list[Turnover]]
    own: NotRequired[list[TillSums]]
    period: ClosePeriod
    reference: NotRequired[Reference]
    schemes: list[Sum]
    shifts: NotRequired[list[Shift]]
    takenBack: int
    terminalId: str
    till: str
    tills: list[Turnover]
    tips: list[Sum]


class CloseOfDay(TypedDict):
    """A close as the answer to its request."""

    brands: NotRequired[list[Turnover]]
    by: NotRequired[Who]
    cancelled: int
    day: str
    declined: int
    firstNumber: NotRequired[SaleNumber]
    kinds: list[Sum]
    lastNumber: NotRequired[SaleNumber]
    net: list[Turnover]
    notPrinted: NotRequired[str]
    notSent: int
    number: int
    ofUnknown: NotRequired[list[Sum]]
    open: list[OpenItem]
    operators: NotRequired[list[Turnover]]
    own: NotRequired[list[TillSums]]
    period: ClosePeriod
    reference: NotRequired[Reference]
    replayed: bool
    schemes: list[Sum]
    shifts: NotRequired[list[Shift]]
    takenBack: int
    terminalId: str
    till: str
    tills: list[Turnover]
    tips: list[Sum]


class Closes(TypedDict):
    """Closes"""

    closes: list[Close]
    next: NotRequired[str]


class CommandToConfirm(TypedDict):
    """The command that a supervisor confirms, as resolved by the terminal. It is to be shown to the supervisor."""

    amount: str
    asksTip: NotRequired[bool]
    currency: str
    kind: Kind
    number: NotRequired[SaleNumber]
    payment: NotRequired[PaymentId]
    reference: Reference
    registration: NotRequired[str]
    typed: NotRequired[bool]


class ConfirmSaleBody(TypedDict):
    """The till's confirmation."""

    amount: NotRequired[str]
    taken: Taken


class Confirmed(TypedDict):
    """The command that a supervisor confirms, as it will be sent. It has every field that affects the money."""

    amount: NotRequired[str]
    currency: NotRequired[str | None]
    entry: NotRequired[Entry | None]
    kind: Kind
    number: NotRequired[SaleNumber | None]
    of: NotRequired[str | None]
    payment: NotRequired[str | None]
    reference: str
    registration: NotRequired[str | None]
    till: NotRequired[str | None]
    tip: NotRequired[AskedTip | None]


class Current(TypedDict):
    """The signed-in operator."""

    operator: OperatorName
    role: Role


class Entries(TypedDict):
    """Entries"""

    entries: list[ChainEntry]
    journal: str
    last: LastEntry


class Event(TypedDict):
    """One step for the cashier."""

    reference: str
    sale: NotRequired[Sale]
    step: str
    text: str
    till: str
    training: NotRequired[bool]


class FrontSettings(TypedDict):
    """What a page must know before anyone signs in."""

    accent: NotRequired[str | None]
    browsers: NotRequired[bool]
    currency: str
    customer: NotRequired[bool]
    exponent: int
    language: str
    languages: list[str]
    logo: NotRequired[bool]
    mayPair: NotRequired[bool]
    mayTrain: NotRequired[bool]
    merchant: list[str]
    operators: NotRequired[bool]
    terminal: str
    tips: NotRequired[Tips | None]
    version: str
    waits: NotRequired[Waits | None]


class Gateway(TypedDict):
    """The gateway."""

    cause: NotRequired[str]
    state: GatewayState
    text: str
    url: str


class Journal(TypedDict):
    """The journal."""

    freeBytes: NotRequired[int]
    state: JournalState
    text: str


class Later(TypedDict):
    """A transaction that refers to an earlier one."""

    amount: str
    currency: str
    kind: Kind
    number: SaleNumber
    outcome: NotRequired[Outcome]
    reference: NotRequired[Reference]
    state: SaleState


class LineToPrint(TypedDict):
    """One line to print. It is wrapped if it is wider than the paper."""

    align: NotRequired[LineAlign]
    code: NotRequired[LineCode | None]
    style: NotRequired[LineStyle]
    text: NotRequired[str]
    value: NotRequired[str]


class Log(TypedDict):
    """The changed log level, with its remaining time."""

    leftS: int
    level: LogLevel


class LogLevelBody(TypedDict):
    """LogLevelBody"""

    forS: NotRequired[int | None]
    level: WantedLevel


OpenItem = TypedDict(
    "OpenItem",
    {
        "amount": "NotRequired[str]",
        "currency": "NotRequired[str]",
        "is": "OpenKind",
        "kind": "NotRequired[Kind]",
        "number": "SaleNumber",
        "reference": "NotRequired[Reference]",
        "till": "NotRequired[str]",
    },
)


class Operator(TypedDict):
    """An operator."""

    lockedS: NotRequired[int]
    name: OperatorName
    needsPin: NotRequired[bool]
    role: Role


class Operators(TypedDict):
    """The operators of the terminal."""

    operators: list[Operator]
    pinDigits: NotRequired[int]
    required: bool


class Print(TypedDict):
    """A receipt in a printer's queue."""

    printer: str
    state: PrinterState
    text: str
    waiting: int


class PrintLinesBody(TypedDict):
    """PrintLinesBody"""

    lines: list[LineToPrint]


class Printer(TypedDict):
    """A printer."""

    name: str
    port: str
    state: PrinterState
    text: str
    waiting: int


class Problem(TypedDict):
    """The answer to a request that is not carried out, as a problem details object (RFC 9457, 3). The agent did
    nothing and charged nothing, except possibly with `no-answer`. In that case, ask for the reference again.
    There is no `instance`, because occurrences are only in the terminal's log.
    """

    code: str
    detail: str
    field: NotRequired[str]
    reference: NotRequired[str]
    retryAfterS: NotRequired[int]
    status: int
    till: NotRequired[str]
    title: str
    toConfirm: NotRequired[CommandToConfirm]
    type: str


class Reader(TypedDict):
    """The reader."""

    cannot: NotRequired[list[str]]
    cardLeft: NotRequired[bool]
    changed: NotRequired[str]
    changedAt: NotRequired[str]
    configuration: NotRequired[list[ConfigFile]]
    experimental: NotRequired[bool]
    firmware: NotRequired[str]
    keysLeft: NotRequired[Keys]
    model: NotRequired[str]
    protocol: NotRequired[str]
    serial: NotRequired[str]
    state: ReaderState
    tampered: NotRequired[bool]
    text: str


class Receipt(TypedDict):
    """One copy of a receipt."""

    copy: ReceiptCopy
    language: str
    number: SaleNumber
    reference: Reference
    rows: list[ReceiptRow]
    text: str
    till: str
    width: int


ReceiptRow = TypedDict(
    "ReceiptRow",
    {
        "is": "ReceiptRowIs",
        "text": "NotRequired[str]",
        "value": "NotRequired[str]",
    },
)


class Sale(TypedDict):
    """A transaction as tills see it."""

    amount: str
    answer: NotRequired[dict[str, str]]
    approvalCode: NotRequired[str]
    approvedAmount: NotRequired[str]
    by: NotRequired[Who]
    card: NotRequired[Card]
    code: NotRequired[str]
    currency: str
    endedAt: NotRequired[str]
    kind: Kind
    language: NotRequired[str]
    later: NotRequired[list[Later]]
    left: NotRequired[str]
    leftS: NotRequired[int]
    needsPerson: NotRequired[str]
    number: SaleNumber
    of: NotRequired[str]
    outcome: NotRequired[Outcome]
    paymentId: NotRequired[PaymentId]
    reason: NotRequired[str]
    receiptNumber: int
    receiptOnDemand: NotRequired[bool]
    receiptUrl: NotRequired[str]
    redirectUrl: NotRequired[str]
    reference: Reference
    registration: NotRequired[str]
    replayed: bool
    rest: NotRequired[Later]
    startedAt: str
    state: SaleState
    statusText: NotRequired[str]
    step: NotRequired[str]
    text: str
    till: str
    tillData: NotRequired[dict[str, str]]
    tip: NotRequired[str]
    toConfirm: NotRequired[ToConfirm]
    training: NotRequired[bool]
    unsettled: NotRequired[str]
    until: NotRequired[str]
    waitS: NotRequired[int]


class Sales(TypedDict):
    """A list, for the description only. The answer is written page by page."""

    next: NotRequired[str]
    sales: list[Sale]


class Session(TypedDict):
    """A new session."""

    idleLockS: int
    operator: OperatorName
    role: Role
    session: str
    wrongBefore: NotRequired[int]


class Shift(TypedDict):
    """The sums of one operator in a close. A void counts for the operator who made it, not for the operator of the
    voided transaction.
    """

    kinds: list[Sum]
    operator: str
    tips: list[Sum]


class Status(TypedDict):
    """The terminal's status."""

    attention: list[AttentionMessage]
    busy: bool
    clock: Clock
    currency: NotRequired[str]
    currencyDecimals: NotRequired[int]
    currencyNumber: NotRequired[int]
    current: NotRequired[Sale]
    gateway: Gateway
    health: NotRequired[TerminalHealth]
    http: NotRequired[Port]
    journal: Journal
    language: NotRequired[str]
    logging: NotRequired[Log]
    mayBegin: NotRequired[list[Kind]]
    mayTrain: bool
    merchant: NotRequired[list[str]]
    printers: list[Printer]
    reader: Reader
    ready: bool
    terminalId: str
    tills: NotRequired[list[str]]
    tips: NotRequired[Tips]
    unconfirmed: list[Sale]
    version: str
    waits: NotRequired[Waits]


class Sum(TypedDict):
    """One line of a report."""

    count: int
    currency: str
    kind: Kind
    scheme: NotRequired[str]
    sum: str


class TerminalHealth(TypedDict):
    """The health after an update. It compares the devices that have answered this program with those that answered
    the previous one.
    """

    before: NotRequired[str]
    gateway: Health
    journal: NotRequired[str]
    program: str
    reader: Health


class TillSums(TypedDict):
    """The sums of one till in a close."""

    brands: list[Turnover]
    firstNumber: SaleNumber
    lastNumber: SaleNumber
    schemes: list[Sum]
    till: str


class ToConfirm(TypedDict):
    """The confirmation that is expected from a till, and its deadline."""

    amount: str
    onSilence: OnSilence
    until: str


class Totals(TypedDict):
    """Counts and sums of the transactions after a number."""

    cancelled: int
    carried: list[SaleNumber]
    declined: int
    kinds: list[Sum]
    next: SaleNumber
    notSent: int
    open: list[Sale]
    schemes: list[Sum]
    since: SaleNumber
    takenBack: int
    terminalId: str
    till: NotRequired[str]
    tips: list[Sum]


class WebhookMessage(TypedDict):
    """The body of a webhook (Standard Webhooks 1.0.0)."""

    data: Event
    timestamp: str
    type: str


class Who(TypedDict):
    """The caller of a request, and the person at the counter. The caller is a till, identified by its token, or a
    program at the socket, identified by its user. Old records do not have it.
    """

    fleet: NotRequired[FleetAuthor]
    operator: NotRequired[OperatorName]
    statedOperator: NotRequired[str]
    supervisor: NotRequired[OperatorName]
    token: NotRequired[str]
    uid: NotRequired[int]
