//! The code that a driver and a simulated reader share: packets and their check bytes. This crate contains no messages,
//! rules or transport. Invariant: it drops damaged data. A peer cannot make it keep more than one message of the
//! maximum length, or with APDUs one for each NAD.

// The packets of Miura MPI and VIPA, which carry APDUs.
pub mod apdu_link;
// The frames of ID TECH NEO2.
pub mod neo2_link;
