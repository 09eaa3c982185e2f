//! The names of each kind of transaction, for the customer and the cashier: one row per kind.

use super::Message;
use pos_terms::transaction::Kind;

/// The messages about one kind.
pub(super) struct KindMessages {
    /// The title of the receipt.
    pub(super) title: Message,
    /// The name of the kind before an outcome. A payment needs no name.
    pub(super) called: Option<Message>,
    /// The statement about a failure, for example that nothing was charged.
    pub(super) nothing: Message,
}

pub(super) fn messages(kind: Kind) -> KindMessages {
    use Message as M;
    let (title, called, nothing) = match kind {
        Kind::Sale | Kind::ByRegistration => (M::TitleSale, None, M::NotCharged),
        Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration => {
            (M::TitlePreAuthorisation, Some(M::CalledPreAuthorisation), M::NothingReserved)
        }
        Kind::Credit => (M::TitleCredit, Some(M::CalledCredit), M::NothingPaidOut),
        Kind::StoreCard => (M::TitleStoreCard, Some(M::CalledStoreCard), M::NothingStored),
        Kind::ForgetCard => (M::TitleForgetCard, Some(M::CalledForgetCard), M::NothingForgotten),
        Kind::Capture => (M::TitleCapture, Some(M::CalledCapture), M::NothingCaptured),
        Kind::Refund => (M::TitleRefund, Some(M::CalledRefund), M::NothingRefunded),
        Kind::Reversal => (M::TitleReversal, Some(M::CalledReversal), M::NothingReversed),
        Kind::Increment => (M::TitleIncrement, Some(M::CalledIncrement), M::NothingMoreReserved),
        Kind::Reauthorisation => (M::TitleReauthorisation, Some(M::CalledReauthorisation), M::NothingReservedAnew),
    };
    KindMessages { title, called, nothing }
}
