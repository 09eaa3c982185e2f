"""The interface's types under this package's names. No other module imports from the generated schema."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Literal, TypeAlias, TypedDict, TypeVar

from .schema import (
    CancelledSale,
    Entry,
    Kind,
    ListOrder,
    OnSilence,
    Outcome,
    Prints,
    Receipt,
    ReceiptCopy,
    Sale,
    SaleState,
    Status,
    TrainingResult,
)
from .schema import Close as Close
from .schema import CloseOfDay as MadeClose
from .schema import Event as Progress
from .schema import Print as Printed

__all__ = ["Amount", "CancelledSale", "Close", "Kind", "MadeClose", "Printed", "Progress", "Receipt", "Sale", "Status"]

T = TypeVar("T")
Amount: TypeAlias = Decimal | str
"""An exact amount, such as `Decimal("12.34")` or `"12.34"`. A float is refused."""
Copy: TypeAlias = ReceiptCopy
MaybeAwaitable: TypeAlias = T | Awaitable[T]
"""The result of a callback. Only an AsyncTerminal takes an awaitable one."""
OnReference: TypeAlias = Callable[[str], MaybeAwaitable[None]]
OnStep: TypeAlias = Callable[[Sale], MaybeAwaitable[None]]
OnSignature: TypeAlias = Callable[[Sale], MaybeAwaitable[bool]]
OnConfirm: TypeAlias = Callable[[Sale], MaybeAwaitable[bool | Decimal | str]]


class Options(TypedDict, total=False):
    """Further fields of a transaction. The manual describes them at `POST /v1/sales`."""

    currency: str
    tip: Amount | Literal["ask"]
    entry: Entry
    accept_partial: bool
    confirm: Literal["till"]
    on_silence: OnSilence
    training: TrainingResult
    of: str
    till: str
    number: int
    payment: str
    registration: str
    receipts: Prints
    till_data: dict[str, str]
    operator: str
    parameters: dict[str, object]


class Filters(TypedDict, total=False):
    """Filters of a list of transactions. `from_` and `to` are times in RFC 3339."""

    amount: Amount
    from_: str
    to: str
    kind: Kind
    last4: str
    limit: int
    order: ListOrder
    outcome: Outcome
    reference: str
    since: int
    state: SaleState
    till: str
    training: bool
