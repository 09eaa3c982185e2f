//! Is: what a driver and a simulated reader share: packets and their check bytes.
//! Is not: a message, a rule or a wire.
//! Invariant: what is damaged is dropped, and a peer cannot make it keep more than one longest message.

// The packets of Miura MPI and VIPA, which carry APDUs.
pub mod apdu_link;
