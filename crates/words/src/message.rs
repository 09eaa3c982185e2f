//! All messages except the reasons, with the arguments that their texts may use. A message file contains these
//! messages, then the three texts of each reason, and nothing else. The order matters, because the program has no table
//! of their names.

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

            /// The number of messages. In a message file, the texts of the reasons follow them.
            pub(super) const COUNT: usize = [$(Self::$name),*].len();

            /// Returns the message's name in the message files.
            #[cfg(test)]
            pub(super) fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }

            /// Returns the message's position in a message file.
            pub(super) fn place(self) -> usize {
                self as usize
            }
        }
    };
}

messages! {
    /// The separator between the whole part and the decimals of an amount.
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
    /// The state of a transaction that a till of the fleet began.
    AskedByFleet = "asked-by-fleet" ["till", "text"],
    /// The agent waits for a card to store.
    WaitingForCardToStore = "waiting-for-card-to-store",
    /// The transaction needs no card and is in progress.
    BeingSent = "being-sent",
    ReaderReady = "reader-ready",
    /// No transaction is at the reader.
    Idle = "idle",
    /// The gateway receives too many requests, and the agent asks again automatically.
    AskedAgain = "asked-again",
    /// The gateway is being asked.
    Authorising = "authorising",
    /// The gateway decides after the customer has acted.
    CustomerActs = "customer-acts" ["url"],
    /// The signature must be compared.
    CompareSignature = "compare-signature" ["amount"],
    /// The signature must be compared, and the till confirms afterwards.
    CompareSignatureFirst = "compare-signature-first" ["amount"],
    /// The till must confirm that it accepts the approval.
    TillConfirms = "till-confirms" ["amount"],
    /// The outcome of a payment is unknown; the payment is being reversed.
    BeingTakenBack = "being-taken-back" ["what", "why"],
    /// The outcome of a reservation is unknown; the reservation is being reversed.
    ReservationBeingTakenBack = "reservation-being-taken-back" ["what", "why"],
    /// The outcome of a capture, refund, reversal or credit is unknown; the transaction is being finished.
    BeingFinished = "being-finished" ["what", "why"],
    /// An addition to one of these texts: the reason why the last attempt gave no outcome.
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
    /// A card to be inserted.
    InsertCard = "step-insert-card",
    /// A card to be swiped, because the chip failed.
    SwipeCard = "step-swipe-card",
    /// Another attempt: several cards, or no card that works.
    TryAgain = "step-try-again",
    /// A card number to be typed.
    TypeCard = "step-type-card",
    /// The choice of one of several applications.
    ChoosingApplication = "step-choosing-application",
    /// The reading of the card, which must stay in place.
    ReadingCard = "step-reading-card",
    /// PIN entry before the first digit.
    PinEntry = "step-pin-entry",
    /// PIN entry with this many digits.
    PinDigits = "step-pin-digits" ["digits"],
    PinWrong = "step-pin-wrong",
    /// A wrong PIN; the chip permits no further attempt.
    PinNoTries = "step-pin-no-tries",
    /// A wrong PIN; one attempt is left.
    PinOneTry = "step-pin-one-try",
    /// A wrong PIN; some attempts are left.
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
    /// The label of the charged amount, if it includes a tip.
    Total = "total",
    Requested = "requested",
    ApprovedPart = "approved-part",
    Brand = "brand",
    Application = "application",
    Aid = "aid",
    Card = "card",
    Entry = "entry",
    AuthCode = "auth-code",
    /// Printed on the merchant's copy only.
    AcquirerCode = "acquirer-code",
    /// Printed on the merchant's copy only.
    ClearingId = "clearing-id",
    /// Printed on the merchant's copy only.
    PaymentId = "payment-id",
    /// The id under which the gateway stores the card.
    RegistrationId = "registration-id",
    /// Printed on the merchant's copy only.
    ResultCode = "result-code",
    /// Printed on the merchant's copy only.
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
    /// A PIN whose correctness is not proven.
    PinEntered = "pin-entered",
    BySignature = "by-signature",
    PinVerifiedAndSignature = "pin-verified-and-signature",
    /// A PIN whose correctness is not proven, and a signature.
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
    /// The mark at both ends of a receipt that may have been printed already.
    Duplicate = "duplicate",
    /// The mark at both ends of a receipt of training mode.
    Training = "training",
    /// The text below the mark of training mode.
    TrainingNoPayment = "training-no-payment",

    // ---- Slip of a close of day

    CloseOfDay = "close-of-day",
    CloseNumber = "close-number",
    /// The date that is closed.
    BusinessDay = "business-day",
    /// The time of the previous close.
    PeriodFrom = "period-from",
    /// The text that replaces that time in the first close.
    Beginning = "beginning",
    /// The time of this close.
    PeriodTo = "period-to",
    /// The first and the last receipt number of the close.
    ReceiptNumbers = "receipt-numbers",
    /// The amount taken from cards.
    Taken = "taken",
    /// The amount refunded or paid out.
    Given = "given",
    /// The heading of the net amount, which is the amount taken minus the amount given.
    Net = "net",
    /// The text that replaces the net amount if no money moved.
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
    /// The text that replaces that list if it is empty.
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
    /// The line below a shortened list.
    AndMore = "and-more" ["count"],

    // ---- Refusals: the reason why a command is not carried out

    RefusedAmountDiffers = "refused-amount-differs" ["reference", "kind", "amount"],
    RefusedBusy = "refused-busy" ["reference", "till"],
    RefusedBusyElsewhere = "refused-busy-elsewhere",
    RefusedNotReady = "refused-not-ready" ["why"],
    RefusedNothingTyped = "refused-nothing-typed" ["why"],
    RefusedNoSignature = "refused-no-signature" ["state"],
    RefusedSignatureAccepted = "refused-signature-accepted" ["state"],
    RefusedSignatureRefused = "refused-signature-refused" ["state"],
    RefusedNoConfirmation = "refused-no-confirmation" ["state"],
    RefusedAllTaken = "refused-all-taken" ["state"],
    RefusedPartTaken = "refused-part-taken" ["amount", "state"],
    RefusedNothingTaken = "refused-nothing-taken" ["state"],
    RefusedNoReceipt = "refused-no-receipt" ["state"],
    RefusedNotPossible = "refused-not-possible" ["why"],
    RefusedParameter = "refused-parameter" ["name", "why"],
    RefusedAmount = "refused-amount" ["why"],
    RefusedTip = "refused-tip" ["why"],
    RefusedTrainingOff = "refused-training-off",
    RefusedCurrency = "refused-currency" ["wanted", "terminal"],
    RefusedNoneYet = "refused-none-yet" ["till"],
    RefusedNoSuchSale = "refused-no-such-sale" ["till", "reference"],
    RefusedNoCloseYet = "refused-no-close-yet",
    RefusedCloseNotMade = "refused-close-not-made",
    RefusedNoSuchClose = "refused-no-such-close" ["number"],
    RefusedLine = "refused-line" ["at", "why"],
    RefusedPrinter = "refused-printer" ["why"],
    RefusedGateway = "refused-gateway" ["why"],
    RefusedJournal = "refused-journal" ["why"],

    // ---- Refusals: rights

    DeniedLacks = "denied-lacks" ["caller", "rights", "purpose", "key"],
    DeniedNameless = "denied-nameless" ["caller", "rights", "purpose"],
    DeniedNotItsTill = "denied-not-its-till" ["caller", "tills", "till"],
    DeniedNotItsTillOfPeer = "denied-not-its-till-of-peer" ["caller", "tills", "till", "key"],
    DeniedWhichTill = "denied-which-till" ["tills"],
    DeniedOperatorRequired = "denied-operator-required",
    DeniedRole = "denied-role" ["operator", "role", "needs"],
    /// One of two roles.
    OneRole = "one-role" ["first", "other"],
    DeniedStatedOperator = "denied-stated-operator" ["key"],
    DeniedStatedOperatorOfPeer = "denied-stated-operator-of-peer" ["key"],
    DeniedOnlyAtTheSocket = "denied-only-at-the-socket",
    OneRight = "one-right" ["rights"],
    SeveralRights = "several-rights" ["rights"],
    OneOfRights = "one-of-rights" ["rights"],
    /// The purpose of a missing right that the command itself needs.
    ForThis = "for-this",
    ForOtherTill = "for-other-till",
    ForEarlierOfOtherTill = "for-earlier-of-other-till",
    ForUnknownPayment = "for-unknown-payment",
    ForAuthentication = "for-authentication",
    CallerTill = "caller-till" ["till"],
    CallerUser = "caller-user" ["user"],
    CallerNameless = "caller-nameless",
    /// A key of the configuration, in a till's entry.
    KeyOfToken = "key-of-token" ["key", "till"],
    KeyOfPeer = "key-of-peer" ["key", "user"],
    KeyOfFleet = "key-of-fleet" ["key", "till"],
    KeyOfUser = "key-of-user" ["key", "user"],
    KeyOfSocket = "key-of-socket",

    // ---- Refusals: operators

    OperatorWrongPin = "operator-wrong-pin",
    OperatorLocked = "operator-locked" ["seconds"],
    OperatorPinUnderWay = "operator-pin-under-way",
    OperatorSessionEnded = "operator-session-ended",
    OperatorSupervisorNeeded = "operator-supervisor-needed" ["command"],
    OperatorNotApproved = "operator-not-approved" ["why"],
    OperatorNoSupervisor = "operator-no-supervisor" ["name"],
    OperatorUnknown = "operator-unknown" ["name"],
    OperatorExists = "operator-exists" ["name"],
    OperatorTooMany = "operator-too-many" ["most"],
    OperatorPinLength = "operator-pin-length" ["digits"],
    ApprovalUnknown = "approval-unknown",
    ApprovalOtherTill = "approval-other-till",
    ApprovalOtherOperator = "approval-other-operator",
    ApprovalOtherCommand = "approval-other-command" ["approved", "command"],
    /// A command that needs a supervisor.
    Command = "command" ["kind", "amount", "of", "card", "tip", "typed", "reference"],
    CommandOfTransaction = "command-of-transaction" ["number"],
    CommandOfPayment = "command-of-payment" ["payment"],
    CommandOfCard = "command-of-card" ["registration"],
    CommandWithTip = "command-with-tip",
    CommandTyped = "command-typed",

    // ---- Details of refusals: the terminal

    NothingTyped = "nothing-typed",
    ReaderInUse = "reader-in-use",
    AmountBeingTyped = "amount-being-typed",
    TerminalStopping = "terminal-stopping",
    NoRandomNumbers = "no-random-numbers" ["why"],
    CommandNotResolved = "command-not-resolved",
    PinNotDigested = "pin-not-digested",
    TrainingBusy = "training-busy",
    TrainingWithin = "training-within",
    StateUnknown = "state-unknown",
    NoPrinter = "no-printer",
    TrainingNotPrinted = "training-not-printed",
    LooksLikeCardNumber = "looks-like-card-number",

    // ---- Details of refusals: amounts

    AboveLimit = "above-limit" ["amount", "limit"],
    LimitOfOtherCurrency = "limit-of-other-currency" ["limit"],
    TipAboveAmount = "tip-above-amount" ["tip", "amount"],
    TotalNotPossible = "total-not-possible" ["why"],
    NothingGiven = "nothing-given",
    GivenInOtherCurrency = "given-in-other-currency" ["currency"],
    AboveGivenLimit = "above-given-limit" ["amount", "limit"],

    // ---- Details of refusals: the earlier transaction

    NotOfTraining = "not-of-training",
    PaymentNotOfTraining = "payment-not-of-training" ["payment"],
    PaymentOfTraining = "payment-of-training" ["payment"],
    TransactionNotOfTraining = "transaction-not-of-training" ["number"],
    TransactionOfTraining = "transaction-of-training" ["number"],
    OfAnotherAccount = "of-another-account" ["number"],
    NoTransactionNumber = "no-transaction-number" ["number"],
    IsReversal = "is-reversal" ["payment", "number"],
    AmountNeeded = "amount-needed",
    NeedsMore = "needs-more" ["kind"],
    NoId = "no-id" ["name"],
    RestReferencesUsed = "rest-references-used",
    NoDecisionAwaited = "no-decision-awaited" ["number"],
    TransactionEnded = "transaction-ended" ["number"],
    OlderThanCopy = "older-than-copy" ["number"],
    NotComparedYet = "not-compared-yet",
    ListIncomplete = "list-incomplete",
    CannotBeLookedUp = "cannot-be-looked-up" ["number", "why"],
    NotListedByGateway = "not-listed-by-gateway",
    LinkedUnknown = "linked-unknown" ["count", "number"],

    // ---- Attention: the reader

    AttentionReaderOpening = "attention-reader-opening",
    AttentionReaderAbsent = "attention-reader-absent" ["why"],
    AttentionReaderOtherDevice = "attention-reader-other-device" ["why"],
    AttentionReaderNotListed = "attention-reader-not-listed" ["why"],
    AttentionReaderNoKeys = "attention-reader-no-keys" ["why"],
    AttentionReaderClearData = "attention-reader-clear-data" ["why"],
    AttentionReaderNotEncrypting = "attention-reader-not-encrypting" ["why"],
    AttentionReaderFlooding = "attention-reader-flooding" ["why"],
    AttentionReaderRestarting = "attention-reader-restarting" ["why"],
    AttentionReaderCardLeft = "attention-reader-card-left",
    AttentionReaderKeysLow = "attention-reader-keys-low" ["count"],

    // ---- Attention: the gateway

    AttentionGatewayUnreachable = "attention-gateway-unreachable" ["why"],
    AttentionGatewayNoAnswer = "attention-gateway-no-answer" ["why"],
    AttentionGatewayOutOfOrder = "attention-gateway-out-of-order" ["why"],
    AttentionGatewayThrottles = "attention-gateway-throttles",
    AttentionGatewayRefusesRequest = "attention-gateway-refuses-request" ["detail"],
    AttentionGatewayRefusesToken = "attention-gateway-refuses-token" ["why"],
    AttentionGatewayUntrustedCertificate = "attention-gateway-untrusted-certificate" ["why"],
    AttentionGatewayCertificateExpired = "attention-gateway-certificate-expired" ["why"],
    AttentionGatewayOwnCertificateRefused = "attention-gateway-own-certificate-refused" ["why"],
    AttentionGatewayOwnCertificateExpired = "attention-gateway-own-certificate-expired" ["why"],
    AttentionGatewayNotUsable = "attention-gateway-not-usable" ["why"],
    AttentionGatewayCertificateEnds = "attention-gateway-certificate-ends" ["why"],
    AttentionCaCertificateEnds = "attention-ca-certificate-ends" ["why"],
    AttentionOwnCertificateEnds = "attention-own-certificate-ends" ["why"],
    AttentionTokenEnds = "attention-token-ends" ["why"],
    AttentionGatewayFilesUnused = "attention-gateway-files-unused" ["why"],

    // ---- Attention: printers

    AttentionPrinterNoPaper = "attention-printer-no-paper" ["name", "why"],
    AttentionPrinterPaperLow = "attention-printer-paper-low" ["name", "why"],
    AttentionPrinterCoverOpen = "attention-printer-cover-open" ["name", "why"],
    AttentionPrinterPaperJam = "attention-printer-paper-jam" ["name", "why"],
    AttentionPrinterError = "attention-printer-error" ["name", "why"],
    AttentionPrinterPausing = "attention-printer-pausing" ["name", "why"],
    AttentionPrinterOffline = "attention-printer-offline" ["name", "why"],
    AttentionPrinterAbsent = "attention-printer-absent" ["name", "why"],
    AttentionPrinterInterrupted = "attention-printer-interrupted" ["name", "why"],
    AttentionPrinterSilent = "attention-printer-silent" ["name", "why"],

    // ---- Attention: clocks and journal

    AttentionClockUntrusted = "attention-clock-untrusted",
    AttentionClockBehindJournal = "attention-clock-behind-journal" ["board", "latest"],
    AttentionClocksDiffer = "attention-clocks-differ" ["seconds"],
    AttentionReaderClockDiffers = "attention-reader-clock-differs" ["seconds"],
    AttentionJournalFull = "attention-journal-full" ["why"],
    AttentionJournalNearlyFull = "attention-journal-nearly-full" ["free"],
    AttentionJournalCannotBeWritten = "attention-journal-cannot-be-written" ["why"],
    AttentionJournalOldCopy = "attention-journal-old-copy" ["why"],
    AttentionJournalWasOldCopy = "attention-journal-was-old-copy" ["number"],
    AttentionJournalNotCompared = "attention-journal-not-compared" ["why"],
    AttentionJournalListIncomplete = "attention-journal-list-incomplete" ["why"],
    AttentionJournalBeganAnew = "attention-journal-began-anew" ["count"],
    CopyLacksReferences = "copy-lacks-references" ["count"],
    JournalIsOldCopy = "journal-is-old-copy" ["why"],
    GatewayTimeUnknown = "gateway-time-unknown" ["why"],
    SoldOnAnotherJournal = "sold-on-another-journal" ["why"],
    JournalGone = "journal-gone" ["why", "rescued"],
    RescuedIntoJournal = "rescued-into-journal",
    RescuedIntoFile = "rescued-into-file" ["file"],
    RescuedNothing = "rescued-nothing",

    // ---- Attention: transactions and tills

    /// A transaction that is unconfirmed or needs a person.
    AttentionSaleUnconfirmed = "attention-sale-unconfirmed" ["reference", "till", "state"],
    AttentionSaleLeftAlone = "attention-sale-left-alone" ["reference", "till", "why"],
    AttentionSignatureAwaited = "attention-signature-awaited" ["reference", "till"],
    AttentionConfirmationAwaited = "attention-confirmation-awaited" ["reference", "till"],
    AttentionTillPortClosed = "attention-till-port-closed" ["why"],
    AttentionFleetMessage = "attention-fleet-message" ["author", "text"],
    AttentionFleetSettingsTrial = "attention-fleet-settings-trial" ["version"],
    AttentionFleetSettingsReturned = "attention-fleet-settings-returned" ["version", "why"],
    AttentionFleetSettingsDrift = "attention-fleet-settings-drift" ["settings"],
    AttentionFleetSettingsUnusable = "attention-fleet-settings-unusable" ["why"],
    AttentionFleetKeysUnusable = "attention-fleet-keys-unusable" ["why"],
    LeftAsTraining = "left-as-training",
    LeftToAnotherAccount = "left-to-another-account",
    LeftToAnotherTerminal = "left-to-another-terminal" ["theirs", "ours"],

    // ---- The devices in the status

    ReaderIs = "reader-is" ["model", "firmware", "serial"],
    GatewayNotAskedYet = "gateway-not-asked-yet",
    GatewayConnected = "gateway-connected",
    GatewayAnswers = "gateway-answers",
    PrinterReady = "printer-is-ready",
    PrinterNotUsedYet = "printer-not-used-yet",
    PrinterOneWaits = "printer-one-waits" ["why"],
    PrinterSomeWait = "printer-some-wait" ["why", "count"],
    ClockOfBoard = "clock-of-board",
    ClockOfReader = "clock-of-reader",
    JournalWritten = "journal-written",
}
