//! Published test vectors for the keys of the simulated world, BER-TLV and track 2.
//!
//! `vectors/crypto-emv.json` is a copy of the collection, in which each case names its source. M1 to P1 are captures of
//! real readers (readers: 8.4). Neither the file nor the bytes typed here are ever edited to make a test pass. Each
//! case that must pass is also tried with one bit flipped.

use std::sync::OnceLock;

use pos_sim::keys::aes_dukpt::{self, Algorithm};
use pos_sim::keys::cryptogram::{self, CardKey, CryptogramError, Issuer};
use pos_sim::keys::pin_block::{self, Malformed, Pin};
use pos_sim::keys::tdes::Padding;
use pos_sim::keys::tdes_dukpt::{Usage, initial_key, transaction_key};
use pos_sim::keys::{AesKey, Key, Ksn, TEST_BDK_AES, TEST_BDK_PIN, TEST_BDK_SRED, ZERO_IV, ZERO_IV_16};
use pos_terms::emv::track2::Track2;
use pos_terms::emv::{Tag, luhn, tlv};
use serde_json::Value;

// ---- TDES DUKPT (ANSI X9.24-1:2009, A.4) ----

#[test]
fn dukpt_initial_key() {
    let case = one("tdes-dukpt-ik");
    let ik = initial_key(&key(&case["inputs"]["bdk"]), ksn(&case["inputs"]["iksn"]));
    assert_eq!(hex(ik.expose()), case["expected"]["ik"]);
    assert_eq!(hex(ik.check_value()), case["expected"]["ik_kcv"]);
    let mut wrong = ksn(&case["inputs"]["iksn"]);
    wrong.0[3] ^= 1;
    assert_ne!(hex(initial_key(&key(&case["inputs"]["bdk"]), wrong).expose()), case["expected"]["ik"]);
}

#[test]
fn dukpt_transaction_and_working_keys() {
    for case in some("tdes-dukpt-FFFF", 26) {
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let ksn = ksn(&given["ksn"]);
        let transaction = transaction_key(&key(&given["ik"]), ksn).unwrap();
        assert_eq!(hex(transaction.expose()), expected["transaction_key"], "{ksn}");
        assert_eq!(hex(initial_key(&key(&given["bdk"]), ksn).expose()), given["ik"]);
        for (usage, name) in [
            (Usage::Pin, "pin_key"),
            (Usage::MacRequest, "mac_request_key"),
            (Usage::MacResponse, "mac_response_key"),
            (Usage::DataRequest, "data_request_key"),
            (Usage::DataResponse, "data_response_key"),
            (Usage::DataRequestVariantOnly, "data_request_variant_only"),
        ] {
            assert_eq!(hex(transaction.working(usage).expose()), expected[name], "{ksn} {name}");
        }
    }
}

#[test]
fn dukpt_sealed_pin_mac_and_data() {
    for case in some("tdes-dukpt-FFFF", 26) {
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let transaction = transaction_key(&key(&given["ik"]), ksn(&given["ksn"])).unwrap();
        let (pin, pan, message) =
            (pin(&given["pin"]), text(&given["pan"]), text(&given["mac_and_data_ascii"]).as_bytes());

        let pin_key = transaction.working(Usage::Pin);
        let mut block = pin_block::encrypt_0(&pin_key, &pin, pan).unwrap();
        assert_eq!(hex(block), expected["encrypted_pin_block"]);
        assert!(pin_block::decrypt_0(&pin_key, &block, pan).unwrap().is(&pin));
        block[0] ^= 1;
        assert!(!pin_block::decrypt_0(&pin_key, &block, pan).is_ok_and(|read| read.is(&pin)));

        for (usage, name) in [(Usage::MacRequest, "mac_request_x919_4"), (Usage::MacResponse, "mac_response_x919_4")] {
            let mac = |message: &[u8]| hex(&transaction.working(usage).mac(message, Padding::Zero)[..4]);
            assert_eq!(mac(message), expected[name]);
            assert_ne!(mac(&flipped(message, 3)), expected[name]);
        }

        let data_key = transaction.working(Usage::DataRequest);
        let sealed = data_key.cbc_encrypt_zero_padded(&ZERO_IV, message);
        assert_eq!(hex(&sealed), expected["encrypted_request"]);
        assert_eq!(data_key.cbc_decrypt(&ZERO_IV, &sealed).unwrap().strip_suffix(&[0; 7]), Some(message));
        assert_ne!(data_key.cbc_decrypt(&ZERO_IV, &flipped(&sealed, 9)).unwrap().strip_suffix(&[0; 7]), Some(message));
        assert!(data_key.cbc_decrypt(&ZERO_IV, &sealed[1..]).is_err());
        assert!(data_key.cbc_encrypt(&ZERO_IV, message).is_err(), "17 bytes are not whole blocks");
    }
}

#[test]
fn dukpt_counter_advance() {
    for case in one("tdes-dukpt-ksn-advance")["inputs"]["cases"].as_array().unwrap() {
        let next = ksn(&case[0]).next().map_or_else(|| "EXHAUSTED".to_owned(), |next| next.to_string());
        assert_eq!(next, case[1]);
    }
    // No device has a key for a counter with eleven one bits, or with none.
    let ik = key(&one("tdes-dukpt-ik")["expected"]["ik"]);
    for counter in [0, 0x7FF, 0x1F_FFFF] {
        assert!(transaction_key(&ik, ksn(&Value::from("FFFF9876543210E00000")).with_counter(counter)).is_none());
    }
}

#[test]
fn dukpt_tracks_of_readers_that_use_the_pin_variant() {
    for case in some("tdes-dukpt-track-dataset", 2) {
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let ksn = ksn(&given["ksn"]);
        let transaction = transaction_key(&initial_key(&key(&given["bdk"]), ksn), ksn).unwrap();
        let open = |usage| transaction.working(usage).cbc_decrypt(&ZERO_IV, &bytes(&given["ciphertext"])).unwrap();
        assert_eq!(hex(open(Usage::Pin)), expected["plaintext_hex"]);
        assert_ne!(hex(open(Usage::DataRequest)), expected["plaintext_hex"]);
    }
}

// ---- AES DUKPT (ANSI X9.24-3:2017) ----

#[test]
fn aes_dukpt_initial_and_update_keys() {
    for (name, length) in [("aes128-dukpt-ik", 16), ("aes256-dukpt-ik", 32), ("aes192-dukpt", 24)] {
        let case = one(name);
        let ksn = aes_ksn(&format!("{}00000000", text(&case["inputs"]["ikid"])));
        let ik = aes_dukpt::initial_key(&aes_key(&case["inputs"]["bdk"]), ksn);
        assert_eq!((hex(ik.expose()).as_str(), ik.expose().len()), (text(&case["expected"]["ik"]), length));
        let mut wrong = ksn;
        wrong.0[7] ^= 1;
        assert_ne!(hex(aes_dukpt::initial_key(&aes_key(&case["inputs"]["bdk"]), wrong).expose()), hex(ik.expose()));
    }
    // These are the document's values (security: 1.3).
    assert_eq!(hex(TEST_BDK_AES.expose()), "FEDCBA9876543210F1F1F1F1F1F1F1F1");
    let ksn = aes_ksn("123456789012345600000000");
    for (ik, update) in [
        ("1273671EA26AC29AFA4D1084127652A1", "9A9770AEE1ACD1B13473D0463A1883B9"),
        ("5B6DEE2B5B7FABFFA32591F35BF8F23DD9329AE85131E584", "8222D2B5467D432E12269F5C85FF9F3F465528EF503A7C11"),
        (
            "CE9CE0C101D1138F97FB6CAD4DF045A7083D4EAE2D35A31789D01CCF0949550F",
            "AEFB210C136278A1279F7C8815F446DB8EBE2AA910B157AA4E6484D8DE9C4807",
        ),
    ] {
        assert_eq!(hex(aes_dukpt::update_key(&aes_key(&Value::from(ik)), ksn).expose()), update);
    }
    assert_eq!(one("aes128-dukpt-update-key")["expected"]["AES128"], "9A9770AEE1ACD1B13473D0463A1883B9");
}

/// The names of the working keys in the file.
const AES_WORKING: &[(&str, aes_dukpt::Usage)] = &[
    ("pin", aes_dukpt::Usage::Pin),
    ("mac_generation", aes_dukpt::Usage::MacGeneration),
    ("mac_verification", aes_dukpt::Usage::MacVerification),
    ("data_encrypt", aes_dukpt::Usage::DataEncrypt),
    ("data_decrypt", aes_dukpt::Usage::DataDecrypt),
    ("key_encryption", aes_dukpt::Usage::KeyEncryption),
];
const AES_ALGORITHMS: &[(&str, Algorithm)] = &[
    ("2TDEA", Algorithm::Tdea2),
    ("AES128", Algorithm::Aes128),
    ("AES192", Algorithm::Aes192),
    ("AES256", Algorithm::Aes256),
    ("HMAC128", Algorithm::Hmac128),
    ("HMAC256", Algorithm::Hmac256),
];

/// Checks every working key in `expected` against the transaction key. Returns their number.
fn aes_working_keys(transaction: &aes_dukpt::TransactionKey, expected: &Value) -> usize {
    let mut compared = 0;
    for (usage_name, usage) in AES_WORKING {
        for (algorithm_name, algorithm) in AES_ALGORITHMS {
            let Some(value) = expected[format!("{usage_name}_{algorithm_name}")].as_str() else { continue };
            assert_eq!(hex(transaction.working(*usage, *algorithm).unwrap().expose()), value, "{usage_name}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn aes_dukpt_transaction_and_working_keys() {
    for (prefix, count, working) in [("aes128-dukpt-1234", 11, 14), ("aes256-dukpt-1234", 11, 22)] {
        for case in some(prefix, count) {
            let (given, expected) = (&case["inputs"], &case["expected"]);
            let ksn = aes_ksn(text(&given["ksn"]));
            let ik = aes_dukpt::initial_key(&aes_key(&given["bdk"]), ksn);
            assert_eq!(hex(ik.expose()), given["ik"]);
            let transaction = aes_dukpt::transaction_key(&ik, ksn).unwrap();
            assert_eq!(hex(transaction.expose()), expected["transaction_key"], "{ksn}");
            assert_eq!(aes_working_keys(&transaction, expected), working, "{ksn}");
            // A device at this transaction derives the same key.
            let before = (0..ksn.counter()).rev().find(|counter| counter.count_ones() <= 16).unwrap();
            let (its, key) = aes_dukpt::Device::new(&ik, ksn.with_counter(before)).next().unwrap();
            assert_eq!((its, hex(key.expose())), (ksn, hex(transaction.expose())));
        }
    }
    let case = one("aes192-dukpt");
    let mut compared = 0;
    for (ksn, expected) in case["expected"].as_object().unwrap().iter().filter(|(_, value)| value.is_object()) {
        let ksn = aes_ksn(ksn);
        let ik = aes_key(&case["expected"]["ik"]);
        let transaction = aes_dukpt::transaction_key(&ik, ksn).unwrap();
        assert_eq!(hex(transaction.expose()), expected["transaction_key"], "{ksn}");
        compared += aes_working_keys(&transaction, expected);
        assert!(transaction.working(aes_dukpt::Usage::Pin, Algorithm::Aes256).is_none(), "longer than its origin");
    }
    assert_eq!(compared, 8 * 4);
    for case in some("aes128-dukpt-ctr-", 6) {
        let (ksn, expected) = (aes_ksn(text(&case["inputs"]["ksn"])), &case["expected"]);
        let transaction = aes_dukpt::transaction_key(&aes_key(&case["inputs"]["ik"]), ksn).unwrap();
        for (name, usage) in &AES_WORKING[..4] {
            if let Some(value) = expected[name].as_str() {
                assert_eq!(hex(transaction.working(*usage, Algorithm::Aes128).unwrap().expose()), value, "{ksn}");
            }
        }
        assert_eq!(hex(transaction.pin_key().expose()), expected["pin"]);
        assert_eq!(hex(transaction.data_key().expose()), expected["data_encrypt"]);
    }
}

#[test]
fn aes_dukpt_sealed_pin_data_and_macs() {
    for case in some_any("aes128-dukpt-1234").into_iter().chain(some_any("aes256-dukpt-1234")) {
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let ksn = aes_ksn(text(&given["ksn"]));
        let transaction = aes_dukpt::transaction_key(&aes_key(&given["ik"]), ksn).unwrap();
        let message = text(&given["mac_and_data_ascii"]).as_bytes();
        if let Some(block) = expected["pin_block_format4"].as_str() {
            let random = bytes(&given["pin_field"])[8..].try_into().unwrap();
            let (key, pin, pan) = (transaction.pin_key(), pin(&given["pin"]), text(&given["pan"]));
            assert_eq!(hex(pin_block::encrypt_4(&key, &pin, pan, random).unwrap()), block);
            assert!(pin_block::decrypt_4(&key, &raw(block), pan).unwrap().is(&pin));
        }
        if let Some(sealed) = expected["data_request_AES128_CBC_iv0_zeropad"].as_str() {
            let key = transaction.data_key();
            assert_eq!(hex(key.cbc_encrypt_zero_padded(&ZERO_IV_16, message)), sealed);
            assert_eq!(key.cbc_decrypt(&ZERO_IV_16, &raw(sealed)).unwrap().strip_suffix(&[0; 15]), Some(message));
            let other = key.cbc_decrypt(&ZERO_IV_16, &flipped(&raw(sealed), 200)).unwrap();
            assert_ne!(other.strip_suffix(&[0; 15]), Some(message));
            assert!(key.cbc_decrypt(&ZERO_IV_16, &raw(sealed)[1..]).is_err());
        }
        if let Some(mac) = expected["cmac_request_AES128_key_AES128"].as_str() {
            let key = transaction.working(aes_dukpt::Usage::MacGeneration, Algorithm::Aes128).unwrap();
            assert_eq!(hex(cmac(&key, message)), mac);
        }
        if let Some(mac) = expected["hmac_sha256_request_HMAC128"].as_str() {
            let key = transaction.working(aes_dukpt::Usage::MacGeneration, Algorithm::Hmac128).unwrap();
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.expose());
            assert_eq!(hex(ring::hmac::sign(&key, message)), mac);
        }
    }
    // These values are typed from the published documents (security: 1.3).
    let ik = aes_key(&Value::from("1273671EA26AC29AFA4D1084127652A1"));
    let first = aes_dukpt::transaction_key(&ik, aes_ksn("123456789012345600000001")).unwrap();
    assert_eq!(hex(first.expose()), "4F21B565BAD9835E112B6465635EAE44");
    assert_eq!(hex(first.pin_key().expose()), "AF8CB133A78F8DC2D1359F18527593FB");
    assert_eq!(hex(first.data_key().expose()), "A35C412EFD41FDB98B69797C02DCD08F");
    let block = raw("A912150391AB65A67E52883D81CE2D15");
    let read = pin_block::decrypt_4(&first.pin_key(), &block, "4111111111111111").unwrap();
    assert!(read.is(&Pin::new("1234").unwrap()));
}

/// Computes the AES-CMAC (NIST SP 800-38B) for the vectors. The simulators do not need it.
fn cmac(key: &AesKey, message: &[u8]) -> [u8; 16] {
    let double = |block: u128| (block << 1) ^ if block >> 127 == 1 { 0x87 } else { 0 };
    let first = double(u128::from_be_bytes(key.encrypt_block([0; 16])));
    let whole = !message.is_empty() && message.len().is_multiple_of(16);
    let mut padded = message.to_vec();
    if !whole {
        padded.push(0x80);
        padded.resize(padded.len().next_multiple_of(16), 0);
    }
    let blocks = padded.as_chunks::<16>().0;
    let mut state = 0;
    for (n, block) in blocks.iter().enumerate() {
        let last = if n + 1 < blocks.len() {
            0
        } else if whole {
            first
        } else {
            double(first)
        };
        state = u128::from_be_bytes(key.encrypt_block((state ^ last ^ u128::from_be_bytes(*block)).to_be_bytes()));
    }
    state.to_be_bytes()
}

#[test]
fn aes_dukpt_registers_after_loading() {
    let case = one("aes-dukpt-intermediate-register");
    let ksn = aes_ksn(&format!("{}00000000", text(&case["inputs"]["ikid"])));
    let device = aes_dukpt::Device::new(&aes_key(&case["inputs"]["ik"]), ksn);
    let registers: Vec<_> = (0..32).map(|bit| hex(device.register(bit).unwrap().expose())).collect();
    assert_eq!(Value::from(registers), case["expected"]["register"]);
}

#[test]
fn aes_dukpt_counter_advance() {
    for case in one("aes-dukpt-ksn-advance")["inputs"]["cases"].as_array().unwrap() {
        let next = aes_ksn(text(&case[0])).next().map_or_else(|| "EXHAUSTED".to_owned(), |next| next.to_string());
        assert_eq!(next, case[1]);
    }
    let ik = aes_key(&one("aes128-dukpt-ik")["expected"]["ik"]);
    // No device has a key for a counter with seventeen one bits, or with none.
    for counter in [0, 0x0001_FFFF, u32::MAX] {
        assert!(aes_dukpt::transaction_key(&ik, aes_ksn("123456789012345600000000").with_counter(counter)).is_none());
    }
    let mut last = aes_dukpt::Device::new(&ik, aes_ksn("1234567890123456FFFE8000"));
    assert_eq!(last.next().unwrap().0.to_string(), "1234567890123456FFFF0000");
    assert!(last.next().is_none());
}

// ---- Captures of real readers (readers: 8.4) ----

#[test]
fn capture_m1_miura_swipe() {
    // The document shows "?_" here. The field's length is 46 (70 characters) and ends before the "_", which is the 5F
    // of tag 5F22. Only track 2 includes its LRC character.
    let track1 = b"%B4761739001010010^VISA ACQUIRER TEST CARD 05^15122011143800575000000?";
    let track2 = b";4761739001010010=15122011143857589?<";
    let plaintext = [b"\x5F\x21\x46", &track1[..], b"\x5F\x22\x25", &track2[..], &[0; 7]].concat();
    sealed_capture(
        "00000200000055400182",
        "C371FDD18C44EE67FFE7C05FBD0DED10",
        "9F24B2A47C9617F411D8EC179D88BE94",
        "72212907C9B93D919511254CA428CE061009857EC1F129D3DE63CBF9F7D5452C36C961C881A11E84EF2F7D6C223C12CF2CC55A87AFC2D097\
         F57D07BFF787A997CA5DB3E0FE46AF9C7C37580459EE6F6065CAD8E1BDACAE01B8ED4E06D232485F3B7A72C88119E3DF27F3553284411FCC\
         8DC25EFC8ECF4AFA",
        &plaintext,
    );
    let ksn = ksn(&Value::from("00000200000055400182"));
    let transaction = transaction_key(&initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap();
    assert_eq!(hex(transaction.expose()), "CD132958F1BD26DA5938B3B066311F90");
}

#[test]
fn captures_m2_and_m3_miura_tap() {
    let plaintext = raw("57124761739001010012234D151220114524040F00000000");
    sealed_capture(
        "FFFF0102628D1100005E",
        "158D5E0AFC810312CB4D9215F6463586",
        "EACBC28A6A7C387C010A899F34E1B1D8",
        "85D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8",
        &plaintext,
    );
    sealed_capture(
        "FFFF0102628D1100005F",
        "158D5E0AFC810312CB4D9215F6463586",
        "4A74DFF687AD33F6EE2C4EFB34B9BEF8",
        "92FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5",
        &plaintext,
    );
    assert_eq!(Track2::from_tag57(&plaintext[2..20]).unwrap().pan(), "4761739001010012234");
}

#[test]
fn capture_p1_miura_pin() {
    let (ksn, pan) = (ksn(&Value::from("FFFF0102628D12000001")), "5413330089099023");
    let ik = initial_key(&TEST_BDK_PIN, ksn);
    assert_eq!(hex(ik.expose()), "1CC53E23ADE96807F732F7FB9954019A");
    let pin_key = transaction_key(&ik, ksn).unwrap().working(Usage::Pin);
    assert_eq!(hex(pin_key.expose()), "235CDC7031E48D2452F99D3191EF26A5");
    let block = raw("8B68AF72199529B8");
    assert_eq!(hex(pin_key.decrypt_block(block.clone().try_into().unwrap())), "044326CFF76F66FD");
    let pin = Pin::new("4315").unwrap();
    assert!(pin_block::decrypt_0(&pin_key, &block, pan).unwrap().is(&pin));
    for bit in 0..64 {
        assert!(!pin_block::decrypt_0(&pin_key, &flipped(&block, bit), pan).is_ok_and(|read| read.is(&pin)));
    }
}

#[test]
fn sealed_example_of_the_simulated_reader() {
    sealed_capture(
        "FFFF9876543210E00001",
        "6AC292FAA1315B4D858AB3A3D7D5933A",
        "448D3F076D8304036A55A3D7E0055A78",
        "F9A2A5F0D3F648B80897216D90744B9767C6411D9F2445FD351FDF4D3B46C226",
        &raw("5A08476173900101011957114761739001010119D15122011758989389000000"),
    );
}

#[test]
fn capture_v1_vipa_chip() {
    let plaintext = raw("5713374245001751006D241220117111234500000F5A08374245001751006F80");
    vipa_capture(
        "FFFF98765432110010A4",
        "F4595B3348D466ED3AC511A30A8589BB",
        "ED02AA537757D99F",
        "31846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0",
        &plaintext,
    );
    let ksn = ksn(&Value::from("FFFF98765432110010A4"));
    assert_eq!(hex(initial_key(&TEST_BDK_SRED, ksn).expose()), "6D2C525761C664844CFD7F336A00AF61");
}

#[test]
fn captures_v2_and_v3_vipa_swipe() {
    // The initial value of V2 is not published; it follows from the known first block. The ends are published.
    let track1 = vipa_plaintext(
        "FFFF9876543211000620",
        "AC2B83C506DEC9D5E27D51E1D70559E7",
        "A79DDD0FF736B32B",
        "87A73106F57B8FBDD383A257ED8C713A62BFAE83E9B0D202C50FE1F7DA8739338C768BA61506C1D3404191C7C8C3016929A0CCE6621B95191\
         D5A006382605FB0C17963725B548ABC37FFDA146E0429E7",
    );
    assert!(track1.starts_with(b"\xDF\xDB\x05\x4A%B54"));
    assert!(track1.ends_with(b"24180001234563^FDCS TEST CARD /MASTERCARD^25121010001111123456789012?C\x80\0"));
    let track2 = vipa_plaintext(
        "FFFF9876543211000637",
        "C4956D9F61937D7E1D49584443C944A9",
        "3FD6DFA75E67258A",
        "4B989D098BDFB546440317F5CDBF51D2E28E70AAD885FC0B95F8EFCD97E8D832284B4EB8DD03C792",
    );
    assert!(track2.starts_with(b"\xDF\xDB\x06"));
    assert_eq!(track2.iter().filter(|byte| **byte == b'=').count(), 1);
}

#[test]
fn capture_v4_vipa_pin() {
    let (ksn, pan) = (ksn(&Value::from("F876543210040B800009")), "6799998900000074316");
    let ik = initial_key(&TEST_BDK_PIN, ksn);
    assert_eq!(hex(ik.expose()), "C010BB94FBFA596571D5F52D9CAAF1BF");
    let pin_key = transaction_key(&ik, ksn).unwrap().working(Usage::Pin);
    assert_eq!(hex(pin_key.expose()), "93DA317EF930F5DE7EF6EA960CB1DF75");
    let block = raw("B2449FABB96D4228");
    assert_eq!(hex(pin_key.decrypt_block(block.clone().try_into().unwrap())), "04439CFFFFFF8BCE");
    assert!(pin_block::decrypt_0(&pin_key, &block, pan).unwrap().is(&Pin::new("4315").unwrap()));
}

#[test]
fn sealed_example_of_the_simulated_vipa_reader() {
    let plaintext = [&b"\xDF\xDB\x06\x24;4761739001010119=15122011758989389?\x80"[..], &[0; 7]].concat();
    vipa_capture(
        "FFFF9876543210E00001",
        "448D3F076D8304036A55A3D7E0055A78",
        "0102030405060708",
        "FD5A0BBEA04DAFBF1FC9CB4F7E511E3DDF810381F5659507336F7FBE0D9CB6C5B45FD9F21D83CD1E9C92E94BE7F307E1",
        &plaintext,
    );
}

fn vipa_capture(ksn_hex: &str, data_key_hex: &str, iv: &str, ciphertext: &str, plaintext: &[u8]) {
    assert_eq!(hex(vipa_plaintext(ksn_hex, data_key_hex, iv, ciphertext)), hex(plaintext));
}

fn vipa_plaintext(ksn_hex: &str, data_key_hex: &str, iv: &str, ciphertext: &str) -> Vec<u8> {
    let ksn = ksn(&Value::from(ksn_hex));
    let data_key = transaction_key(&initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap().working(Usage::DataRequest);
    assert_eq!(hex(data_key.expose()), data_key_hex);
    data_key.cbc_decrypt(&raw(iv).try_into().unwrap(), &raw(ciphertext)).unwrap().to_vec()
}

fn sealed_capture(ksn_hex: &str, ik_hex: &str, data_key_hex: &str, ciphertext: &str, plaintext: &[u8]) {
    let ksn = ksn(&Value::from(ksn_hex));
    let ik = initial_key(&TEST_BDK_SRED, ksn);
    assert_eq!(hex(ik.expose()), ik_hex);
    let open = |ksn: Ksn, ciphertext: &[u8]| {
        transaction_key(&ik, ksn).unwrap().working(Usage::DataRequest).cbc_decrypt(&ZERO_IV, ciphertext).unwrap()
    };
    let data_key = transaction_key(&ik, ksn).unwrap().working(Usage::DataRequest);
    assert_eq!(hex(data_key.expose()), data_key_hex);
    let sealed = raw(ciphertext);
    assert_eq!(hex(open(ksn, &sealed)), hex(plaintext));
    assert_eq!(hex(data_key.cbc_encrypt(&ZERO_IV, plaintext).unwrap()), hex(&sealed));
    assert_ne!(open(ksn.next().unwrap(), &sealed), plaintext, "the next transaction's key must not open it");
    assert_ne!(open(ksn, &flipped(&sealed, 0)), plaintext);
}

// ---- PIN blocks (ISO 9564-1) ----

#[test]
fn pin_block_format_0() {
    for case in some("pinblock-iso0-1", 5) {
        let (pin, pan) = (pin(&case["inputs"]["pin"]), text(&case["inputs"]["pan"]));
        let block = pin_block::clear_0(&pin, pan).unwrap();
        assert_eq!(hex(block), case["expected"]["block"]);
        assert!(pin_block::read_clear_0(&block, pan).unwrap().is(&pin));
        for bit in 0..64 {
            assert!(!pin_block::read_clear_0(&flipped(&block, bit), pan).is_ok_and(|read| read.is(&pin)), "bit {bit}");
        }
    }
}

#[test]
fn pin_block_format_0_rejects_with_one_error() {
    for case in some("pinblock-iso0-reject", 6) {
        let read = pin_block::read_clear_0(&bytes(&case["inputs"]["block"]), text(&case["inputs"]["pan"]));
        assert_eq!(read.err(), Some(Malformed), "{}", case["expected"]["error"]);
    }
    for pin in ["", "123", "1234567890123", "12A4", "１２３４"] {
        assert!(Pin::new(pin).is_err(), "{pin}");
    }
    for pan in ["", "12345678901234567890", "411111111111111F"] {
        assert!(pin_block::clear_0(&Pin::new("1234").unwrap(), pan).is_err(), "{pan}");
    }
}

#[test]
fn pin_block_format_4() {
    for name in ["pinblock-iso4-psec", "pinblock-iso4-x924-3"] {
        let case = one(name);
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let (key, pin, pan) = (key(&given["key"]), pin(&given["pin"]), text(&given["pan"]));
        let random = bytes(&given["random"]).try_into().unwrap();
        assert_eq!(hex(pin_block::pin_field_4(&pin, random)), expected["pin_field"]);
        assert_eq!(hex(pin_block::pan_field_4(pan).unwrap()), expected["pan_field"]);
        let block = pin_block::encrypt_4(&key, &pin, pan, random).unwrap();
        assert_eq!(hex(block), expected["enciphered"]);
        assert!(pin_block::decrypt_4(&key, &block, pan).unwrap().is(&pin));
        for bit in 0..128 {
            let read = pin_block::decrypt_4(&key, &flipped(&block, bit), pan);
            assert_eq!(read.err(), Some(Malformed), "bit {bit}");
        }
        assert_eq!(pin_block::decrypt_4(&key, &block, "4111111111111112").err(), Some(Malformed));
        assert_eq!(pin_block::decrypt_4(&key, &block[..8], pan).err(), Some(Malformed));
    }
    for case in some("pinblock-iso4-panfield", 5) {
        let field = pin_block::pan_field_4(text(&case["inputs"]["pan"])).unwrap();
        assert_eq!(hex(field), case["expected"]["pan_field"]);
    }
}

#[test]
fn pin_field_of_format_4_rejects_with_one_error() {
    // Control 0 and 3, length 3 and 13, a letter in the PIN, filler F instead of A, and seven bytes.
    for field in [
        "041234AAAAAAAAAA0000000000000000",
        "341234AAAAAAAAAA0000000000000000",
        "43123AAAAAAAAAAA0000000000000000",
        "4D1234567890123A0000000000000000",
        "44123CAAAAAAAAAA0000000000000000",
        "441234FFFFFFFFFF0000000000000000",
        "441234AAAAAAAA",
    ] {
        assert_eq!(pin_block::read_field_4(&raw(field)).err(), Some(Malformed), "{field}");
    }
    assert!(pin_block::read_field_4(&raw("441234AAAAAAAAAA0000000000000000")).is_ok());
}

// ---- EMV cryptograms (EMV Book 2; Visa CVN 10 and 18) ----

#[test]
fn cryptograms_with_the_common_session_key_or_none() {
    let cases: Vec<_> = vectors()
        .iter()
        .filter(|case| matches!(text(&case["inputs"]["session_key"]["method"]), "emv_common" | "none"))
        .collect();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let (given, expected) = (&case["inputs"], &case["expected"]);
        let card = card(given);
        assert_eq!(hex(card.key().expose()), expected["icc_master_key"], "{}", case["name"]);
        assert_eq!(hex(card.key().check_value()), expected["icc_mk_kcv"]);
        let session = match given["session_key"]["r"].as_str() {
            Some(r) => card.session_key(raw(r).try_into().unwrap()),
            None => card.key().clone(),
        };
        assert_eq!(hex(session.expose()), expected["session_key"], "{}", case["name"]);
        let padding = if given["padding"] == "Visa zero" { Padding::Zero } else { Padding::Iso80 };
        let data = bytes(&given["transaction_data"]);
        let arqc = session.mac(&data, padding);
        assert_eq!(hex(arqc), expected["arqc"], "{}", case["name"]);
        assert_ne!(hex(session.mac(&flipped(&data, 5), padding)), expected["arqc"]);
        for arpc in given["arpc"].as_array().unwrap() {
            let key = if arpc["key"] == "icc_mk" { card.key() } else { &session };
            answers_with(key, arqc, arpc, expected);
        }
    }
}

fn answers_with(key: &Key, arqc: [u8; 8], arpc: &Value, expected: &Value) {
    let wrong: [u8; 8] = flipped(&arqc, 63).try_into().unwrap();
    if arpc["method"] == 1 {
        let arc = bytes(&arpc["arc"]).try_into().unwrap();
        assert_eq!(hex(cryptogram::arpc_1(key, arqc, arc)), expected["arpc_method1"]);
        assert_ne!(hex(cryptogram::arpc_1(key, wrong, arc)), expected["arpc_method1"]);
    } else {
        let (csu, more) = (bytes(&arpc["csu"]).try_into().unwrap(), raw(arpc["pad"].as_str().unwrap_or_default()));
        assert_eq!(hex(cryptogram::arpc_2(key, arqc, csu, &more)), expected["arpc_method2"]);
        assert_ne!(hex(cryptogram::arpc_2(key, wrong, csu, &more)), expected["arpc_method2"]);
    }
}

#[test]
fn visa_cvn_10_from_tlvs() {
    let case = one("visa-cvn10");
    let tlvs = chip_data("9F100706010A03A06010", &case["expected"]["arqc"]);
    let card = card(&case["inputs"]);
    assert_eq!(hex(card.cryptogram(&tlvs).unwrap()), case["expected"]["arqc"]);
    let tag_91 = card.issuer_authentication(&tlvs, *b"00", cryptogram::CSU_DECLINED).unwrap();
    assert_eq!(hex(&tag_91), format!("{}3030", text(&case["expected"]["arpc_method1"])));
    issuer_and_card_notice_any_change(&card, &tlvs, &tag_91);
}

#[test]
fn visa_cvn_18_from_tlvs() {
    let case = one("visa-cvn18");
    let tlvs = chip_data("9F100706011203A0B800", &case["expected"]["arqc"]);
    let card = card(&case["inputs"]);
    assert_eq!(hex(card.cryptogram(&tlvs).unwrap()), case["expected"]["arqc"]);
    let tag_91 = card.issuer_authentication(&tlvs, *b"00", cryptogram::CSU_DECLINED).unwrap();
    assert_eq!(hex(&tag_91), format!("{}00000000", text(&case["expected"]["arpc_method2"])));
    issuer_and_card_notice_any_change(&card, &tlvs, &tag_91);
}

#[test]
fn field_55_from_end_to_end() {
    let case = one("e2e-field55-cvn18");
    let (given, expected) = (&case["inputs"], &case["expected"]);
    let field55 = bytes(&given["field55"]);
    assert_eq!(field55.len(), expected["bytes"]);
    assert_eq!(tlv::walk(&field55).map(Result::unwrap).count(), expected["elements"]);
    let card = Issuer::new(key(&given["issuer_master_key"])).card_key(text(&given["pan"]), 0).unwrap();
    assert!(card.verify(&field55).unwrap());
    let tag_91 = card.issuer_authentication(&field55, *b"00", cryptogram::CSU_DECLINED).unwrap();
    assert_eq!(hex(&tag_91), expected["tag91_issuer_auth_data"]);
    issuer_and_card_notice_any_change(&card, &field55, &tag_91);
    // Another card of the same issuer has another key.
    let other = Issuer::new(key(&given["issuer_master_key"])).card_key(text(&given["pan"]), 1).unwrap();
    assert!(!other.verify(&field55).unwrap());
}

#[test]
fn chip_data_that_cannot_be_verified_says_what_is_wrong() {
    let card = card(&one("visa-cvn18")["inputs"]);
    let good = hex(chip_data("9F100706011203A0B800", &Value::from("7A788EA6B8A3E733")));
    let of = |from: &str, to: &str| card.verify(&raw(&good.replace(from, to))).unwrap_err();
    assert_eq!(of("9F3602001C", ""), CryptogramError::Missing { tag: Tag(0x9F36) });
    assert_eq!(of("9F26087A788EA6B8A3E733", ""), CryptogramError::Missing { tag: Tag(0x9F26) });
    assert_eq!(of("9C0101", "9C01019C0101"), CryptogramError::Repeated { tag: Tag(0x9C) });
    assert_eq!(of("9C0101", "9C020101"), CryptogramError::Length { tag: Tag(0x9C), found: 2 });
    assert_eq!(of("06011203A0B800", "06011103A0B800"), CryptogramError::UnknownVersion { cvn: 0x11 });
    assert_eq!(of("9F100706011203A0B800", "9F1003060112"), CryptogramError::Length { tag: Tag(0x9F10), found: 3 });
    assert!(matches!(of("9C0101", "9C8001"), CryptogramError::Tlv(_)));
    // A card without an "amount, other" computes the cryptogram over zeros.
    assert!(card.verify(&raw(&good.replace("9F0306000000000000", ""))).unwrap());
}

/// Flips every bit of every value that the cryptogram covers, and of tag 91. The check must fail each time.
fn issuer_and_card_notice_any_change(card: &CardKey, tlvs: &[u8], tag_91: &[u8]) {
    assert!(card.verify(tlvs).unwrap());
    assert!(card.accepts(tlvs, tag_91).unwrap());
    let covered = [0x9F02, 0x9F03, 0x9F1A, 0x95, 0x5F2A, 0x9A, 0x9C, 0x9F37, 0x82, 0x9F36, 0x9F26];
    for object in tlv::walk(tlvs).map(Result::unwrap).filter(|object| covered.contains(&object.tag.0)) {
        let start = object.value.as_ptr() as usize - tlvs.as_ptr() as usize;
        for bit in start * 8..(start + object.value.len()) * 8 {
            assert!(!card.verify(&flipped(tlvs, bit)).unwrap(), "tag {} bit {bit}", object.tag);
        }
    }
    for bit in 0..tag_91.len() * 8 {
        assert!(!card.accepts(tlvs, &flipped(tag_91, bit)).unwrap(), "tag 91 bit {bit}");
    }
    for length in 0..tag_91.len() {
        assert!(!card.accepts(tlvs, &tag_91[..length]).unwrap());
    }
}

/// Builds the fields of the two Visa vectors (security: 1.5) as a chip sends them, with a 9F10 and a 9F26.
fn chip_data(iad: &str, arqc: &Value) -> Vec<u8> {
    raw(&format!(
        "9F02060000000040009F03060000000000009F1A020124950580000480005F2A0201249A031911059C01019F370452BF4585820218009F3602001C\
         {iad}9F2608{}",
        text(arqc)
    ))
}

fn card(given: &Value) -> CardKey {
    let issuer = Issuer::new(key(&given["issuer_master_key"]));
    let (pan, psn) = (text(&given["pan"]), text(&given["psn"]).parse().unwrap());
    if given["master_key_option"] == "A" { issuer.card_key(pan, psn) } else { issuer.card_key_b(pan, psn) }.unwrap()
}

// ---- BER-TLV (security: 1.6) ----

#[test]
fn tlv_accepts_and_rejects_by_the_policy() {
    for case in some("tlv-", 30) {
        let (name, policy) = (text(&case["name"]), text(&case["expected"]["policy"]));
        let accept = match name {
            // The policy "accept or reject, but with an explicit depth limit" means: reject.
            "tlv-deep-nesting-40" => false,
            // The policy is "skip FF only where the profile allows; default reject".
            "tlv-padFF-before" => false,
            // The policy is "reject duplicates in a field 55, keep order". This test checks the order, and a later one
            // checks field 55.
            "tlv-dup-tag" => true,
            "tlv-tag-first-subsequent-80" => false,
            _ => policy.starts_with("accept"),
        };
        let input = bytes(&case["inputs"]["hex"]);
        let mut seen = Vec::new();
        let walked = tlv::visit(&input, &mut |object| seen.push((object.tag.0, hex(object.value))));
        assert_eq!(walked.is_ok(), accept, "{name}: {policy}: {walked:?}");
        if accept {
            let seen: Vec<_> = seen.iter().map(|(tag, value)| (*tag, value.as_str())).collect();
            assert_eq!(seen, expected_objects(name), "{name}");
        }
    }
}

/// Returns the content of each accepted case, as read by hand.
fn expected_objects(name: &str) -> &'static [(u32, &'static str)] {
    match name {
        "tlv-two-byte-tag" => &[(0x9F37, "AABBCCDD")],
        "tlv-three-byte-tag" => &[(0x9F_8201, "1F")],
        "tlv-vendor-tag" => &[(0xDF_EE23, "ABCD")],
        "tlv-empty-value" => &[(0x9C, "")],
        "tlv-nested-ok" => &[(0x70, "9A03191105"), (0x9A, "191105")],
        "tlv-dup-tag" => &[(0x9A, "191105"), (0x9A, "200101")],
        "tlv-wrong-order-tag-1F" => &[(0x1F01, "")],
        "tlv-empty-buffer" => &[],
        _ => &[(0x9A, "191105")],
    }
}

// ---- Track 2 and Luhn ----

#[test]
fn track_2_equivalent_data() {
    for name in ["track2-equivalent", "track2-equivalent-19"] {
        let case = one(name);
        let track = Track2::from_tag57(&bytes(&case["inputs"]["tag57"])).unwrap();
        assert_eq!(track.pan(), case["expected"]["pan"]);
        assert_eq!(track.expiry_yymm(), case["expected"]["expiry_yymm"]);
        assert_eq!(track.service_code().as_str(), case["expected"]["service_code"]);
        assert_eq!(track.discretionary(), case["expected"]["discretionary"]);
        if let Some(stripe) = case["expected"]["magstripe_form"].as_str() {
            assert_eq!(*track.magstripe_form(), *stripe);
            assert_eq!(hex(Track2::from_magstripe(stripe).unwrap().tag57()), case["inputs"]["tag57"]);
        }
        assert_eq!(hex(track.tag57()), case["inputs"]["tag57"]);
    }
}

#[test]
fn track_2_rejects() {
    for case in some("track2-reject", 5) {
        // One case is half a byte short. In tag 57 it would have a pad.
        let mut given = text(&case["inputs"]["tag57"]).to_owned();
        if given.len() % 2 == 1 {
            given.push('F');
        }
        // The case named "20-digit PAN" in fact has 17 digits. It is refused because its check digit is wrong.
        assert!(Track2::from_tag57(&raw(&given)).is_err(), "{}", case["expected"]["error"]);
    }
    // The first PAN really has 20 digits and a correct check digit. The others have a pad in the middle, two pads, or
    // no digits.
    for given in ["47617390010101190008D2212201", "4761739001010119D2212F201", "4761739001010119D2212201FF", ""] {
        let given = if given.len() % 2 == 1 { format!("{given}F") } else { given.to_owned() };
        assert!(Track2::from_tag57(&raw(&given)).is_err(), "{given}");
    }
    let too_long = format!("4761739001010119D2212201{}", "0".repeat(16));
    assert!(Track2::from_tag57(&raw(&too_long)).is_err());
}

#[test]
fn luhn_check_digits() {
    let cases: Vec<_> = some_any("luhn-").into_iter().filter(|case| case["inputs"]["digits"].is_string()).collect();
    assert_eq!(cases.len(), 15);
    for case in cases {
        assert_eq!(luhn::is_valid(text(&case["inputs"]["digits"])), case["expected"]["valid"]);
    }
    let blind = one("luhn-blind-spot");
    assert!(luhn::is_valid(text(&blind["inputs"]["a"])) && luhn::is_valid(text(&blind["inputs"]["b"])));
    assert!(!luhn::is_valid("") && !luhn::is_valid("41x1"));
}

// ---- The file of vectors ----

fn vectors() -> &'static [Value] {
    static FILE: OnceLock<Value> = OnceLock::new();
    let file = FILE.get_or_init(|| serde_json::from_str(include_str!("../vectors/crypto-emv.json")).unwrap());
    file["vectors"].as_array().unwrap()
}

/// Returns the case with exactly this name.
fn one(name: &str) -> &'static Value {
    vectors().iter().find(|case| case["name"] == name).unwrap()
}

/// Returns the cases whose names begin with this prefix. There must be exactly `count` cases, so that no case is
/// skipped unnoticed.
fn some(prefix: &str, count: usize) -> Vec<&'static Value> {
    let cases = some_any(prefix);
    assert_eq!(cases.len(), count, "{prefix}");
    cases
}

fn some_any(prefix: &str) -> Vec<&'static Value> {
    vectors().iter().filter(|case| text(&case["name"]).starts_with(prefix)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn bytes(value: &Value) -> Vec<u8> {
    raw(value.as_str().unwrap())
}

fn raw(hex: &str) -> Vec<u8> {
    hex::decode(hex).unwrap()
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    hex::encode_upper(bytes)
}

fn key(value: &Value) -> Key {
    Key::new(bytes(value).try_into().unwrap())
}

fn ksn(value: &Value) -> Ksn {
    Ksn::from_bytes(&bytes(value)).unwrap()
}

fn aes_key(value: &Value) -> AesKey {
    AesKey::from_bytes(&bytes(value)).unwrap()
}

fn aes_ksn(hex: &str) -> aes_dukpt::Ksn {
    aes_dukpt::Ksn::from_bytes(&raw(hex)).unwrap()
}

fn pin(value: &Value) -> Pin {
    Pin::new(text(value)).unwrap()
}

/// Returns the bytes with this bit flipped. Bits are counted from the left.
fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
    bytes
}
