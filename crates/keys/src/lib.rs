//! The keys of the simulated world: DUKPT, PIN blocks and card cryptograms, for the device and for the host. This crate
//! is not part of the agent on a terminal, and is not hardened against side channels. Invariant: every key in it is a
//! public test key.
//!
//! This is the only code of the project that can derive keys and decrypt. The simulated reader encrypts with it, and
//! the simulated payment service decrypts with it. The agent does not depend on it.
//!
//! ```text
//!  reader  Device::next() ─▶ (KSN, TransactionKey) ─▶ working(Usage) ─▶ Key ─▶ cbc_encrypt… / pin_block::encrypt_0
//!  host    initial_key(BDK, KSN) ─▶ transaction_key ─▶ working(Usage) ─▶ Key ─▶ cbc_decrypt  / pin_block::decrypt_0
//!  card    Issuer::card_key(PAN, PSN) ─▶ CardKey ─▶ cryptogram(TLVs), accepts(TLVs, tag 91)
//!  issuer  the same CardKey ─▶ verify(TLVs), issuer_authentication(TLVs, ARC, CSU)
//! ```
//!
//! There are two DUKPT schemes with the same parts: TDES ([`tdes_dukpt`], KSN of 10 bytes) and AES ([`aes_dukpt`], KSN
//! of 12 bytes).

use std::sync::LazyLock;

pub mod aes;
pub mod aes_dukpt;
mod counter;
pub mod cryptogram;
pub mod issuer_script;
pub mod pin_block;
pub mod tdes;
pub mod tdes_dukpt;

pub use self::aes::{AesKey, ZERO_IV_16};
pub use tdes::{Key, NotWholeBlocks, ZERO_IV};
pub use tdes_dukpt::Ksn;

/// The base derivation key of the test shop's SRED key set: the public test BDK of ANSI X9.24-1:2009, A.4.
pub const TEST_BDK_SRED: Key = Key::new(PUBLIC_TEST_KEY);

/// The base derivation key of the test shop's PIN key set, which is the same public BDK. The key sets differ in their
/// KSNs (readers: 2.12).
pub const TEST_BDK_PIN: Key = Key::new(PUBLIC_TEST_KEY);

/// The KSN of the simulated reader's SRED keys at injection, with counter 0 (the key set of captures; readers: 8.4,
/// M2).
pub const TEST_KSN_SRED: Ksn = Ksn([0xFF, 0xFF, 0x01, 0x02, 0x62, 0x8D, 0x11, 0x00, 0x00, 0x00]);

/// The KSN of the simulated reader's PIN keys at injection, with counter 0 (the key set of a capture; readers: 8.4,
/// P1).
pub const TEST_KSN_PIN: Ksn = Ksn([0xFF, 0xFF, 0x01, 0x02, 0x62, 0x8D, 0x12, 0x00, 0x00, 0x00]);

/// The issuer master key for the application cryptograms of every simulated card (security: 1.5).
pub const TEST_IMK_AC: Key = Key::new(PUBLIC_TEST_KEY);

/// The base derivation key of both key sets under AES DUKPT: the public test BDK of ANSI X9.24-3:2017.
pub static TEST_BDK_AES: LazyLock<AesKey> =
    LazyLock::new(|| AesKey::from_bytes(&PUBLIC_TEST_KEY_AES).expect("sixteen bytes are a key"));

/// The KSN of the simulated reader's SRED keys under AES DUKPT at injection, with counter 0. It was chosen for this
/// project.
pub const TEST_KSN_SRED_AES: aes_dukpt::Ksn =
    aes_dukpt::Ksn([0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x11, 0, 0, 0, 0]);

/// The KSN of the simulated reader's PIN keys under AES DUKPT at injection, with counter 0. It was chosen for this
/// project.
pub const TEST_KSN_PIN_AES: aes_dukpt::Ksn =
    aes_dukpt::Ksn([0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x12, 0, 0, 0, 0]);

/// The issuer master key for the integrity of scripts of every simulated card. It has the halves of the public test key
/// in reverse order, so it is a different key.
pub const TEST_IMK_SMI: Key =
    Key::new([0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]);

/// The key of the published test vectors of X9.24-3.
const PUBLIC_TEST_KEY_AES: [u8; 16] =
    [0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10, 0xF1, 0xF1, 0xF1, 0xF1, 0xF1, 0xF1, 0xF1, 0xF1];

/// The double-length key of the published test vectors of X9.24 and of EMV.
const PUBLIC_TEST_KEY: [u8; 16] =
    [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10];
