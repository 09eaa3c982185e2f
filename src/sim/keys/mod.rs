//! The keys of the simulated world: DUKPT, PIN blocks and card cryptograms, from the device's side and from the host's.
//!
//! The only code of the project that can derive keys and decrypt. It is for public test keys: nothing is hardened against
//! side channels, and the agent is built without it (feature `sim`).
//!
//! ```text
//!  reader  Device::next() ─▶ (KSN, TransactionKey) ─▶ working(Usage) ─▶ Key ─▶ cbc_encrypt… / pin_block::encrypt_0
//!  host    initial_key(BDK, KSN) ─▶ transaction_key ─▶ working(Usage) ─▶ Key ─▶ cbc_decrypt  / pin_block::decrypt_0
//!  card    Issuer::card_key(PAN, PSN) ─▶ CardKey ─▶ cryptogram(TLVs), accepts(TLVs, tag 91)
//!  issuer  the same CardKey ─▶ verify(TLVs), issuer_authentication(TLVs, ARC, CSU)
//! ```

pub mod cryptogram;
pub mod pin_block;
pub mod tdes;
pub mod tdes_dukpt;

pub use tdes::{Key, NotWholeBlocks, ZERO_IV};
pub use tdes_dukpt::Ksn;

/// Base derivation key of the test shop's SRED key set: the public test BDK of ANSI X9.24-1:2009, A.4.
pub const TEST_BDK_SRED: Key = Key::new(PUBLIC_TEST_KEY);

/// Base derivation key of the test shop's PIN key set: the same public BDK; the key sets differ by their KSNs (readers: 2.12).
pub const TEST_BDK_PIN: Key = Key::new(PUBLIC_TEST_KEY);

/// KSN of the simulated reader's SRED keys as injected, counter 0 (the key set of the captures M2 and M3, readers: 8.4).
pub const TEST_KSN_SRED: Ksn = Ksn([0xFF, 0xFF, 0x01, 0x02, 0x62, 0x8D, 0x11, 0x00, 0x00, 0x00]);

/// KSN of the simulated reader's PIN keys as injected, counter 0 (the key set of the capture P1, readers: 8.4).
pub const TEST_KSN_PIN: Ksn = Ksn([0xFF, 0xFF, 0x01, 0x02, 0x62, 0x8D, 0x12, 0x00, 0x00, 0x00]);

/// Issuer master key for application cryptograms of every simulated card (security: 1.5).
pub const TEST_IMK_AC: Key = Key::new(PUBLIC_TEST_KEY);

/// The double-length key that the published test vectors of X9.24 and of EMV use.
const PUBLIC_TEST_KEY: [u8; 16] =
    [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10];
