//! All messages except the reasons, with the arguments that their texts may use. A message file has these messages and
//! the three texts of each reason, and nothing else.

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $key:literal $([$($argument:literal),*])?,)*) => {
        /// A text by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* #[doc = concat!("`", $key, "`.")] $name,)*
        }

        impl Message {
            /// All messages, with the arguments that their texts may use.
            #[cfg(test)]
            pub(super) const ALL: &[(Self, &[&str])] = &[$((Self::$name, &[$($($argument),*)?]),)*];

            /// Returns the message's name in the message files.
            #[must_use]
            pub(super) fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }
        }
    };
}

messages! {
    /// The separator between the whole and the decimals of an amount.
    DecimalSeparator = "decimal-separator",
    /// A date with its time, in its written form.
    DateAndTime = "date-and-time" ["day", "month", "month-name", "year", "time"],
    /// A date without a time.
    DateAlone = "date-alone" ["day", "month", "month-name", "year"],
    /// The names of the months, for dates, separated by spaces.
    Months = "months",

    // ---- Names of the kinds, for the cashier

    CalledCapture = "called-capture",
    CalledCredit = "called-credit",
    CalledForgetCard = "called-forget-card",
    CalledIncrement = "called-increment",
    CalledPreAuthorisation = "called-pre-authorisation",
    CalledReauthorisation = "called-reauthorisation",
    CalledRefund = "called-refund",
    CalledReversal = "called-reversal",
    CalledStoreCard = "called-store-card",

    // ---- Titles of the receipts

    TitleCapture = "title-capture",
    TitleCredit = "title-credit",
    TitleForgetCard = "title-forget-card",
    TitleIncrement = "title-increment",
    TitlePreAuthorisation = "title-pre-authorisation",
    TitleReauthorisation = "title-reauthorisation",
    TitleRefund = "title-refund",
    TitleReversal = "title-reversal",
    TitleSale = "title-sale",
    TitleStoreCard = "title-store-card",

    // ---- Failures by kind; in capitals on paper

    NotCharged = "not-charged",
    NothingReserved = "nothing-reserved",
    NothingMoreReserved = "nothing-more-reserved",
    NothingReservedAnew = "nothing-reserved-anew",
    NothingPaidOut = "nothing-paid-out",
    NothingCaptured = "nothing-captured",
    NothingRefunded = "nothing-refunded",
    NothingReversed = "nothing-reversed",
    NothingStored = "nothing-stored",
    NothingForgotten = "nothing-forgotten",

    // ---- States of a transaction, for the cashier

    /// The agent waits for a card.
    WaitingForCard = "waiting-for-card" ["amount"],
    /// The agent waits for a card that is to be stored.
    WaitingForCardToStore = "waiting-for-card-to-store",
    /// The transaction needs no card and is in progress.
    BeingSent = "being-sent",
    ReaderReady = "reader-ready",
    /// No transaction is at the reader.
    Idle = "idle",
    /// The gateway has too many requests and is asked again automatically.
    AskedAgain = "asked-again",
    /// The gateway is being asked.
    Authorising = "authorising",
    /// The gateway decides after the customer has acted.
    CustomerActs = "customer-acts" ["url"],
    /// The signature has to be compared.
    CompareSignature = "compare-signature" ["amount"],
    /// The signature has to be compared, and the till confirms afterwards.
    CompareSignatureFirst = "compare-signature-first" ["amount"],
    /// The till has to confirm that it takes the approval.
    TillConfirms = "till-confirms" ["amount"],
    /// The outcome of a payment is unknown; the payment is being reversed.
    BeingTakenBack = "being-taken-back" ["what", "why"],
    /// The outcome of a reservation is unknown; the reservation is being reversed.
    ReservationBeingTakenBack = "reservation-being-taken-back" ["what", "why"],
    /// The outcome of a capture, refund, reversal or credit is unknown; the transaction is being finished.
    BeingFinished = "being-finished" ["what", "why"],
    /// An addition to one of these: why the last try gave no outcome.
    LastTry = "last-try" ["why"],
    /// The transaction needs a person and does not continue automatically.
    NeedsPerson = "needs-person" ["what", "why"],
    /// The journal cannot be written, so the outcome is unknown.
    JournalCannotBeWritten = "journal-cannot-be-written",
    /// The terminal was restarted and asks whether the transaction had been sent.
    AskingWhetherSent = "asking-whether-sent",
    /// An alarm for a person.
    Alarm = "alarm" ["why"],

    // ---- Outcomes of a transaction, for the cashier

    EndedApproved = "ended-approved" ["what", "amount"],
    EndedPartiallyApproved = "ended-partially-approved" ["what", "amount", "part"],
    /// Declined by the bank or the card.
    EndedDeclined = "ended-declined" ["what", "nothing", "why"],
    /// Cancelled by a person.
    EndedCancelled = "ended-cancelled" ["what", "nothing", "why"],
    /// No payment exists.
    EndedNotSent = "ended-not-sent" ["what", "nothing", "why"],
    /// Reversed.
    EndedReversed = "ended-reversed" ["what", "nothing", "why"],

    // ---- Steps at the reader, for the cashier

    /// The choice of a tip, before a card is asked for.
    ChoosingTip = "step-choosing-tip",
    /// A card, presented in any way.
    PresentCard = "step-present-card",
    /// A card in the slot only.
    InsertCard = "step-insert-card",
    /// A card to be swiped, because the chip failed.
    SwipeCard = "step-swipe-card",
    /// Another try: several cards, or no card that works.
    TryAgain = "step-try-again",
    /// A card number to be typed.
    TypeCard = "step-type-card",
    /// The choice of one of several applications.
    ChoosingApplication = "step-choosing-application",
    /// The reading of the card, which must stay in place.
    ReadingCard = "step-reading-card",
    /// PIN entry without a digit yet.
    PinEntry = "step-pin-entry",
    /// PIN entry with this many digits.
    PinDigits = "step-pin-digits" ["digits"],
    PinWrong = "step-pin-wrong",
    /// A wrong PIN; the chip allows no further try.
    PinNoTries = "step-pin-no-tries",
    /// A wrong PIN; one try is left.
    PinOneTry = "step-pin-one-try",
    /// A wrong PIN; some tries are left.
    PinTries = "step-pin-tries" ["tries"],
    /// The PIN was typed.
    PinDone = "step-pin-done",
    /// The transaction is over; the card can be removed.
    RemoveCard = "step-remove-card",

    // ---- Labels of a receipt

    Terminal = "terminal",
    MerchantId = "merchant-id",
    Date = "date",
    SaleNumber = "sale-number",
    Reference = "reference",
    Operator = "operator",
    Supervisor = "supervisor",
    Amount = "amount",
    Tip = "tip",
    /// The label of the charged amount when it includes a tip.
    Total = "total",
    Requested = "requested",
    ApprovedPart = "approved-part",
    Brand = "brand",
    Application = "application",
    Aid = "aid",
    Card = "card",
    Entry = "entry",
    AuthCode = "auth-code",
    /// On the merchant's copy only.
    AcquirerCode = "acquirer-code",
    /// On the merchant's copy only.
    ClearingId = "clearing-id",
    /// On the merchant's copy only.
    PaymentId = "payment-id",
    /// The id under which the gateway keeps the card.
    RegistrationId = "registration-id",
    /// On the merchant's copy only.
    ResultCode = "result-code",
    /// On the merchant's copy only.
    ReasonWord = "reason-word",
    /// The heading of the earlier transaction.
    Original = "original",

    // ---- Outcomes on a receipt

    Approved = "approved",
    CardStored = "card-stored",
    CardForgotten = "card-forgotten",
    PartiallyApproved = "partially-approved",
    Declined = "declined",
    Cancelled = "cancelled",
    /// No payment exists.
    NotCarriedOut = "not-carried-out",
    Reversed = "reversed",
    /// The text after "reversed".
    TakenBack = "taken-back" ["nothing"],
    /// The outcome is unknown and the payment is being reversed.
    UnconfirmedTakenBack = "unconfirmed-taken-back",
    /// The note that the customer may see two bookings until then, for payments.
    TwoBookings = "two-bookings",
    /// The note that the customer may see two reservations until then, for reservations.
    TwoReservations = "two-reservations",
    /// The outcome is unknown and the transaction is being finished.
    UnconfirmedFinished = "unconfirmed-finished",

    // ---- Card entry and cardholder verification

    EntryManual = "entry-manual",
    EntryMagstripe = "entry-magstripe",
    EntryFallback = "entry-fallback",
    EntryChip = "entry-chip",
    EntryContactless = "entry-contactless",
    EntryContactlessMagstripe = "entry-contactless-magstripe",
    PinVerified = "pin-verified",
    PinVerifiedOnline = "pin-verified-online",
    /// A PIN that is not proven to be right.
    PinEntered = "pin-entered",
    BySignature = "by-signature",
    PinVerifiedAndSignature = "pin-verified-and-signature",
    /// A PIN that is not proven to be right, and a signature.
    PinEnteredAndSignature = "pin-entered-and-signature",
    VerifiedOnDevice = "verified-on-device",
    /// A verification on the customer's device that is not proven.
    OnDevice = "on-device",
    NoVerification = "no-verification",

    // ---- Agreements to sign, and the ends of a receipt

    /// For a payment.
    AgreeToPay = "agree-to-pay",
    /// For a reservation.
    AgreeToReserve = "agree-to-reserve",
    /// For money paid to the customer.
    AgreeToCredit = "agree-to-credit",
    /// The label above the signature line.
    Signature = "signature",
    MerchantCopy = "merchant-copy",
    CustomerCopy = "customer-copy",
    /// The line above `CUSTOMER COPY`.
    KeepReceipt = "keep-receipt",
    /// At both ends of a receipt that may have been printed already.
    Duplicate = "duplicate",
    /// At both ends of a receipt of training mode.
    Training = "training",
    /// Below the mark of training mode.
    TrainingNoPayment = "training-no-payment",

    // ---- Slip of a close of day

    CloseOfDay = "close-of-day",
    CloseNumber = "close-number",
    /// The date that is closed.
    BusinessDay = "business-day",
    /// The time of the previous close.
    PeriodFrom = "period-from",
    /// The text in place of that time in the first close.
    Beginning = "beginning",
    /// The time of this close.
    PeriodTo = "period-to",
    /// The first and the last receipt number of the close.
    ReceiptNumbers = "receipt-numbers",
    /// The amount taken from cards.
    Taken = "taken",
    /// The amount refunded or paid out.
    Given = "given",
    /// The heading of the amount taken less the amount given.
    Net = "net",
    /// The text in place of that amount when no money moved.
    NothingMoved = "nothing-moved",
    /// The tips, which are part of the sums of the sales.
    TipsInSales = "tips-in-sales",
    /// Reversals of payments that are not in the journal.
    OfUnknown = "of-unknown",
    CountDeclined = "count-declined",
    CountTakenBack = "count-taken-back",
    CountCancelled = "count-cancelled",
    CountNotSent = "count-not-sent",
    /// The heading of the amounts by till.
    ByTill = "by-till",
    /// The heading of the amounts by operator.
    ByOperator = "by-operator",
    /// The heading of the transactions without an outcome.
    OpenItems = "open-items",
    /// The text in place of that list when it is empty.
    NothingOpen = "nothing-open",

    // ---- Reasons why an item is open

    OpenNeedsPerson = "open-needs-person",
    OpenUnconfirmed = "open-unconfirmed",
    OpenAwaitingSignature = "open-awaiting-signature",
    OpenAwaitingTill = "open-awaiting-till",
    OpenUnderWay = "open-under-way",
    OpenUnreadable = "open-unreadable",
    /// A reserved amount.
    OpenReserved = "open-reserved",
    /// The line below a list that was cut.
    AndMore = "and-more" ["count"],
}
