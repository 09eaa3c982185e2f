//! What the readers of a family can do. The session, the check of the configuration, the doctor and the manual use this
//! list.

macro_rules! capabilities {
    ($($name:ident = $words:literal;)*) => {
        /// A capability of a family of readers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Capability {
            $(#[doc = concat!("The readers can ", $words, ".")] $name,)*
        }

        impl Capability {
            /// All capabilities, in the order of the manual.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns what the readers can do, after "can" or "cannot".
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

impl Capability {
    /// The capabilities that a till asks for.
    pub const OF_TILLS: &[Self] = &[Self::TypedCard, Self::AmountEntry, Self::TipEntry, Self::Texts];
}

capabilities! {
    TypedCard = "let a card number be typed";
    TypedVerificationValue = "let a verification value be typed and seal it";
    ChoiceOfTypingCommand = "choose between two commands for typing";
    AmountEntry = "let the customer type an amount";
    TipEntry = "ask for a tip";
    Texts = "show the agent's texts";
    ClockReading = "report their clock";
    DateApart = "set their date only by a command of its own";
    ConfigurationFiles = "name their programs or configuration files";
    SlotEvents = "report a card in the slot by themselves";
    EndsWait = "end the wait for a tap when a card is inserted or swiped";
    PinAfterCard = "ask for the PIN of a chip card after the card was read";
    TellsTap = "hear the gateway's answer after a tap";
    LongCommands = "announce that they accept long commands";
    Connects = "open the connection to the terminal";
}
