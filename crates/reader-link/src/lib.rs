//! Is: the code that a driver and a simulated reader share: packets and their check bytes.
//! Is not: a message, a rule or a transport.
//! Invariant: damaged data are dropped, and a peer cannot make it keep more than one message of the maximum length.

// The packets of Miura MPI and VIPA, which carry APDUs.
pub mod apdu_link;
