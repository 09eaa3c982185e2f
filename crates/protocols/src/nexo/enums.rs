//! The words of nexo, in their exact spelling (the enumerations of `@adyen/api-library` 32.1.0).
//!
//! An unknown word is refused if it decides something. If it concerns only the appearance, it counts as absent
//! ([`known`]).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Maximum number of characters of a word in an error message.
const LONGEST_SHOWN: usize = 40;
/// A text with this many digits may contain a card number, or part of one.
const MANY_DIGITS: usize = 11;

/// A list of words.
pub trait Words: Copy + 'static {
    /// The name of the field that uses these words.
    const FOR: &'static str;
    /// All words.
    const ALL: &'static [Self];

    /// Returns the spelling of the word.
    fn as_str(self) -> &'static str;

    /// Returns the word with this spelling.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.as_str() == word)
    }
}

macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant,)+
        }

        impl Words for $name {
            const FOR: &'static str = stringify!($name);
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                word(from)
            }
        }
    )+};
}

/// Reads a word. The enumerations that serde derives would also accept an object, and their errors would repeat a wrong
/// word of any length.
fn word<'de, W: Words, D: Deserializer<'de>>(from: D) -> Result<W, D::Error> {
    let word = Cow::<'_, str>::deserialize(from)?;
    W::from_word(&word).ok_or_else(|| {
        let shown: String =
            if has_many_digits(&word) { "…".to_owned() } else { word.chars().take(LONGEST_SHOWN).collect() };
        de::Error::custom(format_args!("{shown:?} is not a value of {}", W::FOR))
    })
}

/// Returns whether a text may contain a card number.
pub(super) fn has_many_digits(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= MANY_DIGITS
}

/// Reads a word about appearance. An unknown word counts as absent.
///
/// # Errors
/// Fails if the value is not a text.
pub fn known<'de, W: Words, D: Deserializer<'de>>(from: D) -> Result<Option<W>, D::Error> {
    let word = Option::<Cow<'_, str>>::deserialize(from)?;
    Ok(word.and_then(|word| W::from_word(&word)))
}

words! {
    MessageClass { Service = "Service", Device = "Device", Event = "Event" }
    MessageType { Request = "Request", Response = "Response", Notification = "Notification" }
    /// `MessageCategory`.
    Category {
        Abort = "Abort",
        Admin = "Admin",
        BalanceInquiry = "BalanceInquiry",
        Batch = "Batch",
        CardAcquisition = "CardAcquisition",
        CardReaderApdu = "CardReaderAPDU",
        CardReaderInit = "CardReaderInit",
        CardReaderPowerOff = "CardReaderPowerOff",
        Diagnosis = "Diagnosis",
        Display = "Display",
        EnableService = "EnableService",
        Event = "Event",
        GetTotals = "GetTotals",
        Input = "Input",
        InputUpdate = "InputUpdate",
        Login = "Login",
        Logout = "Logout",
        Loyalty = "Loyalty",
        Pin = "PIN",
        Payment = "Payment",
        Print = "Print",
        Reconciliation = "Reconciliation",
        Reversal = "Reversal",
        Sound = "Sound",
        StoredValue = "StoredValue",
        TransactionStatus = "TransactionStatus",
        Transmit = "Transmit",
    }
    /// `Result`.
    ResultWord { Success = "Success", Failure = "Failure", Partial = "Partial" }
    ErrorCondition {
        Aborted = "Aborted",
        Busy = "Busy",
        Cancel = "Cancel",
        DeviceOut = "DeviceOut",
        InProgress = "InProgress",
        InsertedCard = "InsertedCard",
        InvalidCard = "InvalidCard",
        LoggedOut = "LoggedOut",
        MessageFormat = "MessageFormat",
        NotAllowed = "NotAllowed",
        NotFound = "NotFound",
        PaymentRestriction = "PaymentRestriction",
        Refusal = "Refusal",
        UnavailableDevice = "UnavailableDevice",
        UnavailableService = "UnavailableService",
        UnreachableHost = "UnreachableHost",
        WrongPin = "WrongPIN",
    }
    PaymentType {
        Normal = "Normal",
        Refund = "Refund",
        FirstReservation = "FirstReservation",
        UpdateReservation = "UpdateReservation",
        Completion = "Completion",
        OneTimeReservation = "OneTimeReservation",
        CashAdvance = "CashAdvance",
        CashDeposit = "CashDeposit",
        Instalment = "Instalment",
        IssuerInstalment = "IssuerInstalment",
        PaidOut = "PaidOut",
        Recurring = "Recurring",
    }
    ReversalReason {
        CustCancel = "CustCancel",
        Malfunction = "Malfunction",
        MerchantCancel = "MerchantCancel",
        Unable2Compl = "Unable2Compl",
    }
    TokenRequestedType { Customer = "Customer", Transaction = "Transaction" }
    ForceEntryMode {
        CheckReader = "CheckReader",
        Contactless = "Contactless",
        File = "File",
        Icc = "ICC",
        Keyed = "Keyed",
        MagStripe = "MagStripe",
        Manual = "Manual",
        Rfid = "RFID",
        Scanned = "Scanned",
        SynchronousIcc = "SynchronousICC",
        Tapped = "Tapped",
    }
    EntryMode {
        Contactless = "Contactless",
        File = "File",
        Icc = "ICC",
        Keyed = "Keyed",
        MagStripe = "MagStripe",
        Manual = "Manual",
        Mobile = "Mobile",
        Rfid = "RFID",
        Scanned = "Scanned",
        SynchronousIcc = "SynchronousICC",
        Tapped = "Tapped",
    }
    PaymentInstrumentType {
        Card = "Card",
        Cash = "Cash",
        Check = "Check",
        Mobile = "Mobile",
        StoredValue = "StoredValue",
    }
    AuthenticationMethod {
        Bypass = "Bypass",
        ManualVerification = "ManualVerification",
        MerchantAuthentication = "MerchantAuthentication",
        OfflinePin = "OfflinePIN",
        OnlinePin = "OnlinePIN",
        PaperSignature = "PaperSignature",
        SecureCertificate = "SecureCertificate",
        SecureNoCertificate = "SecureNoCertificate",
        SecuredChannel = "SecuredChannel",
        SignatureCapture = "SignatureCapture",
        UnknownMethod = "UnknownMethod",
    }
    DocumentQualifier {
        CashierReceipt = "CashierReceipt",
        CustomerReceipt = "CustomerReceipt",
        Document = "Document",
        Journal = "Journal",
        SaleReceipt = "SaleReceipt",
        Voucher = "Voucher",
    }
    ResponseMode { Immediate = "Immediate", NotRequired = "NotRequired", PrintEnd = "PrintEnd", SoundEnd = "SoundEnd" }
    OutputFormat { BarCode = "BarCode", MessageRef = "MessageRef", Text = "Text", Xhtml = "XHTML" }
    CharacterStyle { Normal = "Normal", Bold = "Bold", Italic = "Italic", Underlined = "Underlined" }
    CharacterHeight { SingleHeight = "SingleHeight", DoubleHeight = "DoubleHeight", HalfHeight = "HalfHeight" }
    CharacterWidth { SingleWidth = "SingleWidth", DoubleWidth = "DoubleWidth" }
    Alignment { Left = "Left", Centred = "Centred", Right = "Right", Justified = "Justified" }
    /// The spelling in `OutputBarcode`. The library has another list, which contains `QRCODE`.
    BarcodeType {
        Code128 = "Code128",
        Code25 = "Code25",
        Ean13 = "EAN13",
        Ean8 = "EAN8",
        Pdf417 = "PDF417",
        QrCode = "QRCode",
        Upca = "UPCA",
    }
    QrCodeErrorCorrection { H = "H", L = "L", M = "M", Q = "Q" }
    Device {
        CashierDisplay = "CashierDisplay",
        CashierInput = "CashierInput",
        CustomerDisplay = "CustomerDisplay",
        CustomerInput = "CustomerInput",
    }
    InfoQualify {
        CustomerAssistance = "CustomerAssistance",
        Display = "Display",
        Document = "Document",
        Error = "Error",
        Input = "Input",
        PoiReplication = "POIReplication",
        Receipt = "Receipt",
        Sound = "Sound",
        Status = "Status",
        Voucher = "Voucher",
    }
    MenuEntryTag {
        Selectable = "Selectable",
        NonSelectable = "NonSelectable",
        SubMenu = "SubMenu",
        NonSelectableSubMenu = "NonSelectableSubMenu",
    }
    InputCommand {
        DecimalString = "DecimalString",
        DigitString = "DigitString",
        GetAnyKey = "GetAnyKey",
        GetConfirmation = "GetConfirmation",
        GetFunctionKey = "GetFunctionKey",
        GetMenuEntry = "GetMenuEntry",
        Password = "Password",
        SiteManager = "SiteManager",
        TextString = "TextString",
    }
    GlobalStatus { Busy = "Busy", Maintenance = "Maintenance", Ok = "OK", Unreachable = "Unreachable" }
    PrinterStatus {
        NoPaper = "NoPaper",
        Ok = "OK",
        OutOfOrder = "OutOfOrder",
        PaperJam = "PaperJam",
        PaperLow = "PaperLow",
    }
    ReconciliationType {
        AcquirerReconciliation = "AcquirerReconciliation",
        AcquirerSynchronisation = "AcquirerSynchronisation",
        PreviousReconciliation = "PreviousReconciliation",
        SaleReconciliation = "SaleReconciliation",
    }
    /// `TotalDetails`.
    TotalDetail {
        OperatorId = "OperatorID",
        PoiId = "POIID",
        SaleId = "SaleID",
        ShiftNumber = "ShiftNumber",
        TotalsGroupId = "TotalsGroupID",
    }
    /// The types of sums. The misspelling `CompletedDeffered` is part of the protocol.
    TransactionType {
        Award = "Award",
        CashAdvance = "CashAdvance",
        CompletedDeffered = "CompletedDeffered",
        CompletedReservation = "CompletedReservation",
        Credit = "Credit",
        Debit = "Debit",
        Declined = "Declined",
        Failed = "Failed",
        FirstReservation = "FirstReservation",
        IssuerInstalment = "IssuerInstalment",
        OneTimeReservation = "OneTimeReservation",
        Rebate = "Rebate",
        Redemption = "Redemption",
        ReverseAward = "ReverseAward",
        ReverseCredit = "ReverseCredit",
        ReverseDebit = "ReverseDebit",
        ReverseRebate = "ReverseRebate",
        ReverseRedemption = "ReverseRedemption",
        UpdateReservation = "UpdateReservation",
    }
    /// The action of `EnableService`.
    TransactionAction { AbortTransaction = "AbortTransaction", StartTransaction = "StartTransaction" }
    /// The value of `ServicesEnabled` in `EnableService`.
    ServiceEnabled { CardAcquisition = "CardAcquisition", Loyalty = "Loyalty", Payment = "Payment" }
    EventToNotify {
        Abort = "Abort",
        BeginMaintenance = "BeginMaintenance",
        CardInserted = "CardInserted",
        CardRemoved = "CardRemoved",
        Completed = "Completed",
        CustomerLanguage = "CustomerLanguage",
        EndMaintenance = "EndMaintenance",
        Initialised = "Initialised",
        KeyPressed = "KeyPressed",
        NetworkConnected = "NetworkConnected",
        NetworkDisconnected = "NetworkDisconnected",
        OutOfOrder = "OutOfOrder",
        Reject = "Reject",
        SaleAdmin = "SaleAdmin",
        SaleWakeUp = "SaleWakeUp",
        ScanBarcodeResult = "ScanBarcodeResult",
        SecurityAlarm = "SecurityAlarm",
        Shutdown = "Shutdown",
        StopAssistance = "StopAssistance",
    }
    TerminalEnvironment { Attended = "Attended", SemiAttended = "SemiAttended", Unattended = "Unattended" }
    /// `POICapabilities`.
    PoiCapability {
        CashHandling = "CashHandling",
        CashierDisplay = "CashierDisplay",
        CashierError = "CashierError",
        CashierInput = "CashierInput",
        CustomerDisplay = "CustomerDisplay",
        CustomerError = "CustomerError",
        CustomerInput = "CustomerInput",
        EmvContactless = "EMVContactless",
        Icc = "ICC",
        MagStripe = "MagStripe",
        PrinterDocument = "PrinterDocument",
        PrinterReceipt = "PrinterReceipt",
        PrinterVoucher = "PrinterVoucher",
    }
    GenericProfile { Basic = "Basic", Standard = "Standard", Extended = "Extended" }
    /// `ServiceProfiles`.
    ServiceProfile {
        Batch = "Batch",
        CardReader = "CardReader",
        Communication = "Communication",
        Loyalty = "Loyalty",
        OneTimeRes = "OneTimeRes",
        Pin = "PIN",
        Reservation = "Reservation",
        Sound = "Sound",
        StoredValue = "StoredValue",
        Synchro = "Synchro",
    }
}

impl Category {
    /// Returns the name of the request body.
    #[must_use]
    pub fn request_name(self) -> String {
        match self {
            Self::Event => "EventNotification".to_owned(),
            Self::InputUpdate => "InputUpdate".to_owned(),
            _ => format!("{self}Request"),
        }
    }

    /// Returns the name of the response body, or `None` for categories without a response. The stopped request answers
    /// an abort.
    #[must_use]
    pub fn response_name(self) -> Option<String> {
        (!matches!(self, Self::Abort | Self::Event | Self::InputUpdate)).then(|| format!("{self}Response"))
    }
}
