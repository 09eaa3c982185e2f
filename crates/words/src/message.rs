//! Every message that is no reason, with the arguments that its text may use. The message files have these, the three
//! texts of each reason, and nothing else.

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $key:literal $([$($argument:literal),*])?,)*) => {
        /// A text by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* #[doc = concat!("`", $key, "`.")] $name,)*
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

    // ---- What a transaction is called, for the cashier

    CalledCapture = "called-capture",
    CalledCredit = "called-credit",
    CalledForgetCard = "called-forget-card",
    CalledIncrement = "called-increment",
    CalledPreAuthorisation = "called-pre-authorisation",
    CalledReauthorisation = "called-reauthorisation",
    CalledRefund = "called-refund",
    CalledReversal = "called-reversal",
    CalledStoreCard = "called-store-card",

    // ---- The title of its receipt

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

    // ---- What has not happened, when it failed; in capitals on paper

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

    // ---- How a transaction stands, for the cashier

    /// A card is waited for.
    WaitingForCard = "waiting-for-card" ["amount"],
    /// A card is waited for that is stored.
    WaitingForCardToStore = "waiting-for-card-to-store",
    /// It needs no card and is under way.
    BeingSent = "being-sent",
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

    EndedApproved = "ended-approved" ["what", "amount"],
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

    /// Before a card is asked for.
    ChoosingTip = "step-choosing-tip",
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

    // ---- The labels of a receipt

    Terminal = "terminal",
    MerchantId = "merchant-id",
    Date = "date",
    SaleNumber = "sale-number",
    Reference = "reference",
    Operator = "operator",
    Supervisor = "supervisor",
    Amount = "amount",
    Tip = "tip",
    /// Above the amount that is charged, when a tip is in it.
    Total = "total",
    Requested = "requested",
    ApprovedPart = "approved-part",
    Brand = "brand",
    Application = "application",
    Aid = "aid",
    Card = "card",
    Entry = "entry",
    AuthCode = "auth-code",
    /// On the merchant's copy.
    AcquirerCode = "acquirer-code",
    /// On the merchant's copy.
    ClearingId = "clearing-id",
    /// On the merchant's copy.
    PaymentId = "payment-id",
    /// Under which the gateway keeps the card.
    RegistrationId = "registration-id",
    /// On the merchant's copy.
    ResultCode = "result-code",
    /// On the merchant's copy.
    ReasonWord = "reason-word",
    /// Heading of what the earlier transaction was.
    Original = "original",

    // ---- The outcome on a receipt

    Approved = "approved",
    CardStored = "card-stored",
    CardForgotten = "card-forgotten",
    PartiallyApproved = "partially-approved",
    Declined = "declined",
    Cancelled = "cancelled",
    /// No payment exists.
    NotCarriedOut = "not-carried-out",
    Reversed = "reversed",
    /// Behind "reversed".
    TakenBack = "taken-back" ["nothing"],
    /// Nobody knows yet, and it is undone.
    UnconfirmedTakenBack = "unconfirmed-taken-back",
    /// What the customer may see until then: payments.
    TwoBookings = "two-bookings",
    /// What the customer may see until then: reservations.
    TwoReservations = "two-reservations",
    /// Nobody knows yet, and it is finished.
    UnconfirmedFinished = "unconfirmed-finished",

    // ---- How the card was read, and the cardholder verified

    EntryManual = "entry-manual",
    EntryMagstripe = "entry-magstripe",
    EntryFallback = "entry-fallback",
    EntryChip = "entry-chip",
    EntryContactless = "entry-contactless",
    EntryContactlessMagstripe = "entry-contactless-magstripe",
    PinVerified = "pin-verified",
    PinVerifiedOnline = "pin-verified-online",
    /// Not proven.
    PinEntered = "pin-entered",
    BySignature = "by-signature",
    PinVerifiedAndSignature = "pin-verified-and-signature",
    /// Not proven.
    PinEnteredAndSignature = "pin-entered-and-signature",
    VerifiedOnDevice = "verified-on-device",
    /// Not proven.
    OnDevice = "on-device",
    NoVerification = "no-verification",

    // ---- What is signed, and the ends of a receipt

    /// A payment.
    AgreeToPay = "agree-to-pay",
    /// A reservation.
    AgreeToReserve = "agree-to-reserve",
    /// Money for the customer.
    AgreeToCredit = "agree-to-credit",
    /// Above the line.
    Signature = "signature",
    MerchantCopy = "merchant-copy",
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

    CloseOfDay = "close-of-day",
    CloseNumber = "close-number",
    /// The date that it closes.
    BusinessDay = "business-day",
    /// When the close before was made.
    PeriodFrom = "period-from",
    /// Instead of that, in the first close.
    Beginning = "beginning",
    /// When it was made.
    PeriodTo = "period-to",
    /// The first and the last receipt that it counts.
    ReceiptNumbers = "receipt-numbers",
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
    CountDeclined = "count-declined",
    CountTakenBack = "count-taken-back",
    CountCancelled = "count-cancelled",
    CountNotSent = "count-not-sent",
    /// Above what each till moved.
    ByTill = "by-till",
    /// Above what each operator moved.
    ByOperator = "by-operator",
    /// Above what has no end yet.
    OpenItems = "open-items",
    /// Instead of that.
    NothingOpen = "nothing-open",

    // ---- Why something is open

    OpenNeedsPerson = "open-needs-person",
    OpenUnconfirmed = "open-unconfirmed",
    OpenAwaitingSignature = "open-awaiting-signature",
    OpenAwaitingTill = "open-awaiting-till",
    OpenUnderWay = "open-under-way",
    OpenUnreadable = "open-unreadable",
    /// Reserved money.
    OpenReserved = "open-reserved",
    /// Below a list that was cut.
    AndMore = "and-more" ["count"],
}
