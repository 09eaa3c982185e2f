//! Every message that is no reason, with the arguments that its text may use. The message files have these, the three
//! texts of each reason, and nothing else.

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $key:literal $([$($argument:literal),*])?,)*) => {
        /// A text by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* $name,)*
        }

        impl Message {
            /// All of them, with what their texts may use.
            #[cfg(test)]
            pub(super) const ALL: &[(Self, &[&str])] = &[$((Self::$name, &[$($($argument),*)?]),)*];

            /// Its name in the message files.
            #[must_use]
            pub(super) fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }
        }
    };
}

messages! {
    /// Between the whole and the decimals of an amount.
    DecimalSeparator = "decimal-separator",
    /// A date with its time, as people write it.
    DateAndTime = "date-and-time" ["day", "month", "month-name", "year", "time"],
    /// A date without a time.
    DateAlone = "date-alone" ["day", "month", "month-name", "year"],
    /// The names of the months, for dates, with a space between.
    Months = "months",

    // ---- What a transaction is called

    /// A capture, for the cashier.
    CalledCapture = "called-capture",
    /// A credit, for the cashier.
    CalledCredit = "called-credit",
    /// To forget a card, for the cashier.
    CalledForgetCard = "called-forget-card",
    /// An increment, for the cashier.
    CalledIncrement = "called-increment",
    /// A pre-authorisation, for the cashier.
    CalledPreAuthorisation = "called-pre-authorisation",
    /// A reauthorisation, for the cashier.
    CalledReauthorisation = "called-reauthorisation",
    /// A refund, for the cashier.
    CalledRefund = "called-refund",
    /// A reversal, for the cashier.
    CalledReversal = "called-reversal",
    /// To store a card, for the cashier.
    CalledStoreCard = "called-store-card",
    /// Title of a receipt.
    TitleCapture = "title-capture",
    /// Title of a receipt.
    TitleCredit = "title-credit",
    /// Title of a receipt.
    TitleForgetCard = "title-forget-card",
    /// Title of a receipt.
    TitleIncrement = "title-increment",
    /// Title of a receipt.
    TitlePreAuthorisation = "title-pre-authorisation",
    /// Title of a receipt.
    TitleReauthorisation = "title-reauthorisation",
    /// Title of a receipt.
    TitleRefund = "title-refund",
    /// Title of a receipt.
    TitleReversal = "title-reversal",
    /// Title of a receipt.
    TitleSale = "title-sale",
    /// Title of a receipt.
    TitleStoreCard = "title-store-card",

    // ---- What has not happened, when it failed; in capitals on paper

    /// No payment.
    NotCharged = "not-charged",
    /// No reservation.
    NothingReserved = "nothing-reserved",
    /// No increment.
    NothingMoreReserved = "nothing-more-reserved",
    /// No reauthorisation.
    NothingReservedAnew = "nothing-reserved-anew",
    /// No credit.
    NothingPaidOut = "nothing-paid-out",
    /// No capture.
    NothingCaptured = "nothing-captured",
    /// No refund.
    NothingRefunded = "nothing-refunded",
    /// No reversal.
    NothingReversed = "nothing-reversed",
    /// No card stored.
    NothingStored = "nothing-stored",
    /// No card forgotten.
    NothingForgotten = "nothing-forgotten",

    // ---- How a transaction stands, for the cashier

    /// A card is waited for.
    WaitingForCard = "waiting-for-card" ["amount"],
    /// A card is waited for that is stored.
    WaitingForCardToStore = "waiting-for-card-to-store",
    /// It needs no card and is under way.
    BeingSent = "being-sent",
    /// The reader can be used.
    ReaderReady = "reader-ready",
    /// Nothing is at the reader any more.
    Idle = "idle",
    /// The gateway has too many requests, and is asked again by itself.
    AskedAgain = "asked-again",
    /// The gateway is asked.
    Authorising = "authorising",
    /// The gateway decides when the customer has acted.
    CustomerActs = "customer-acts" ["url"],
    /// The signature is to be compared.
    CompareSignature = "compare-signature" ["amount"],
    /// The signature is to be compared, and the till confirms after it.
    CompareSignatureFirst = "compare-signature-first" ["amount"],
    /// The till is to confirm that it takes it.
    TillConfirms = "till-confirms" ["amount"],
    /// Nobody knows, and it is undone: a payment.
    BeingTakenBack = "being-taken-back" ["what", "why"],
    /// Nobody knows, and it is undone: a reservation.
    ReservationBeingTakenBack = "reservation-being-taken-back" ["what", "why"],
    /// Nobody knows, and it is finished: a capture, refund, reversal or credit.
    BeingFinished = "being-finished" ["what", "why"],
    /// Behind one of these: why the last try did not settle it.
    LastTry = "last-try" ["why"],
    /// It does not go on by itself.
    NeedsPerson = "needs-person" ["what", "why"],
    /// The journal cannot be written, so nobody knows.
    JournalCannotBeWritten = "journal-cannot-be-written",
    /// The terminal was restarted, and asks whether the sale had been sent.
    AskingWhetherSent = "asking-whether-sent",
    /// What a person must hear of at once.
    Alarm = "alarm" ["why"],

    // ---- How a transaction ended, for the cashier

    /// In full.
    EndedApproved = "ended-approved" ["what", "amount"],
    /// In part.
    EndedPartiallyApproved = "ended-partially-approved" ["what", "amount", "part"],
    /// By the bank or the card.
    EndedDeclined = "ended-declined" ["what", "nothing", "why"],
    /// By a person.
    EndedCancelled = "ended-cancelled" ["what", "nothing", "why"],
    /// No payment exists.
    EndedNotSent = "ended-not-sent" ["what", "nothing", "why"],
    /// Taken back.
    EndedReversed = "ended-reversed" ["what", "nothing", "why"],

    // ---- The steps at the reader, for the cashier

    /// Any way of presenting it.
    PresentCard = "step-present-card",
    /// The slot only.
    InsertCard = "step-insert-card",
    /// The chip failed.
    SwipeCard = "step-swipe-card",
    /// Several cards, or none that works.
    TryAgain = "step-try-again",
    /// By hand.
    TypeCard = "step-type-card",
    /// Of several applications.
    ChoosingApplication = "step-choosing-application",
    /// It must stay.
    ReadingCard = "step-reading-card",
    /// No digit yet.
    PinEntry = "step-pin-entry",
    /// So many digits.
    PinDigits = "step-pin-digits" ["digits"],
    /// The chip says so.
    PinWrong = "step-pin-wrong",
    /// The chip takes no other.
    PinNoTries = "step-pin-no-tries",
    /// One more.
    PinOneTry = "step-pin-one-try",
    /// Some more.
    PinTries = "step-pin-tries" ["tries"],
    /// It was typed.
    PinDone = "step-pin-done",
    /// The sale is over.
    RemoveCard = "step-remove-card",

    // ---- The receipt

    /// Label.
    Terminal = "terminal",
    /// Label.
    MerchantId = "merchant-id",
    /// Label.
    Date = "date",
    /// Label.
    SaleNumber = "sale-number",
    /// Label.
    Reference = "reference",
    /// Label.
    Operator = "operator",
    /// Label.
    Supervisor = "supervisor",
    /// Label.
    Amount = "amount",
    /// Label.
    Tip = "tip",
    /// Above the amount that is charged, when a tip is in it.
    Total = "total",
    /// Label.
    Requested = "requested",
    /// Label.
    ApprovedPart = "approved-part",
    /// Label.
    Brand = "brand",
    /// Label.
    Application = "application",
    /// Label.
    Aid = "aid",
    /// Label.
    Card = "card",
    /// Label.
    Entry = "entry",
    /// Label.
    AuthCode = "auth-code",
    /// Label; the merchant's copy.
    AcquirerCode = "acquirer-code",
    /// Label; the merchant's copy.
    ClearingId = "clearing-id",
    /// Label; the merchant's copy.
    PaymentId = "payment-id",
    /// Under which the gateway keeps the card.
    RegistrationId = "registration-id",
    /// Label; the merchant's copy.
    ResultCode = "result-code",
    /// Label; the merchant's copy.
    ReasonWord = "reason-word",
    /// Heading of what the earlier transaction was.
    Original = "original",
    /// Outcome.
    Approved = "approved",
    /// A card was stored.
    CardStored = "card-stored",
    /// A stored card was deleted.
    CardForgotten = "card-forgotten",
    /// Outcome.
    PartiallyApproved = "partially-approved",
    /// Outcome.
    Declined = "declined",
    /// Outcome.
    Cancelled = "cancelled",
    /// Outcome: no payment exists.
    NotCarriedOut = "not-carried-out",
    /// Outcome.
    Reversed = "reversed",
    /// Behind "reversed".
    TakenBack = "taken-back" ["nothing"],
    /// Outcome: nobody knows yet, and it is undone.
    UnconfirmedTakenBack = "unconfirmed-taken-back",
    /// What the customer may see until then: payments.
    TwoBookings = "two-bookings",
    /// What the customer may see until then: reservations.
    TwoReservations = "two-reservations",
    /// Outcome: nobody knows yet, and it is finished.
    UnconfirmedFinished = "unconfirmed-finished",
    /// How the card was read.
    EntryManual = "entry-manual",
    /// How the card was read.
    EntryMagstripe = "entry-magstripe",
    /// How the card was read.
    EntryFallback = "entry-fallback",
    /// How the card was read.
    EntryChip = "entry-chip",
    /// How the card was read.
    EntryContactless = "entry-contactless",
    /// How the card was read.
    EntryContactlessMagstripe = "entry-contactless-magstripe",
    /// How the cardholder was verified.
    PinVerified = "pin-verified",
    /// How the cardholder was verified.
    PinVerifiedOnline = "pin-verified-online",
    /// How the cardholder was verified: not proven.
    PinEntered = "pin-entered",
    /// How the cardholder was verified.
    BySignature = "by-signature",
    /// How the cardholder was verified.
    PinVerifiedAndSignature = "pin-verified-and-signature",
    /// How the cardholder was verified: not proven.
    PinEnteredAndSignature = "pin-entered-and-signature",
    /// How the cardholder was verified.
    VerifiedOnDevice = "verified-on-device",
    /// How the cardholder was verified: not proven.
    OnDevice = "on-device",
    /// How the cardholder was verified.
    NoVerification = "no-verification",
    /// What is signed: a payment.
    AgreeToPay = "agree-to-pay",
    /// What is signed: a reservation.
    AgreeToReserve = "agree-to-reserve",
    /// What is signed: money for the customer.
    AgreeToCredit = "agree-to-credit",
    /// Above the line.
    Signature = "signature",
    /// Whose copy.
    MerchantCopy = "merchant-copy",
    /// Whose copy.
    CustomerCopy = "customer-copy",
    /// Above that.
    KeepReceipt = "keep-receipt",
    /// At both ends of a receipt that may have been printed before.
    Duplicate = "duplicate",
    /// At both ends of a receipt of training.
    Training = "training",
    /// Below that.
    TrainingNoPayment = "training-no-payment",

    // ---- The slip of a close of day

    /// Its title.
    CloseOfDay = "close-of-day",
    /// Its number.
    CloseNumber = "close-number",
    /// The date that it closes.
    BusinessDay = "business-day",
    /// When the close before was made.
    PeriodFrom = "period-from",
    /// Instead of that, in the first close.
    Beginning = "beginning",
    /// When it was made.
    PeriodTo = "period-to",
    /// What was taken from cards.
    Taken = "taken",
    /// What was given back or paid out.
    Given = "given",
    /// Above what was taken less what was given.
    Net = "net",
    /// Instead of that.
    NothingMoved = "nothing-moved",
    /// Tips, which are in the sums of the sales.
    TipsInSales = "tips-in-sales",
    /// Reversals of payments that the journal does not know.
    OfUnknown = "of-unknown",
    /// How many were declined.
    CountDeclined = "count-declined",
    /// How many the terminal took back by itself.
    CountTakenBack = "count-taken-back",
    /// How many were cancelled.
    CountCancelled = "count-cancelled",
    /// How many were not sent.
    CountNotSent = "count-not-sent",
    /// Above what each till moved.
    ByTill = "by-till",
    /// Above what each operator moved.
    ByOperator = "by-operator",
    /// Above what has no end yet.
    OpenItems = "open-items",
    /// Instead of that.
    NothingOpen = "nothing-open",
    /// Why something is open.
    OpenNeedsPerson = "open-needs-person",
    /// Why something is open.
    OpenUnconfirmed = "open-unconfirmed",
    /// Why something is open.
    OpenAwaitingSignature = "open-awaiting-signature",
    /// Why something is open.
    OpenAwaitingTill = "open-awaiting-till",
    /// Why something is open.
    OpenUnderWay = "open-under-way",
    /// Why something is open.
    OpenUnreadable = "open-unreadable",
    /// Why something is open: reserved money.
    OpenReserved = "open-reserved",
    /// Below a list that was cut.
    AndMore = "and-more" ["count"],
}
