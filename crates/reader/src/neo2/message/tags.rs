//! ID TECH's own tags (readers: 4.4), and which tags have other elements inside.

use pos_terms::emv::Tag;

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => { $($(#[$doc])* pub const $name: Tag = Tag($value);)* };
}

tags! {
    /// KSN of the card data.
    KSN = 0xDF_EE12;
    /// The block of a swipe in the "enhanced format".
    STRIPE_BLOCK = 0xDF_EE23;
    /// Result code, two bytes.
    RESULT_CODE = 0xDF_EE25;
    /// Attribution: interface and cipher. A capture has two bytes (tests/golden), and the first one is the attribution.
    ATTRIBUTION = 0xDF_EE26;
    /// The source of track data: 0C swipe, 00 contactless, 01 contact.
    TRACK_SOURCE = 0xDF_EE30;
    /// The same in older firmware.
    TRACK_SOURCE_OLD = 0xDF30;
    /// KSN of the PIN block in 99.
    PIN_KSN = 0xDF_EE51;
    /// Track 1 of a contactless card in magstripe mode.
    MSD_TRACK1 = 0xDF_EF17;
    /// Track 2 of a contactless card in magstripe mode.
    MSD_TRACK2 = 0xDF_EF18;
    /// The same as DFEF17 in older firmware (NEO 2 Interface Developer's Guide 2019, activate response TLVs).
    MSD_TRACK1_OLD = 0xFF_EE13;
    /// The same as DFEF18 in older firmware (the same table).
    MSD_TRACK2_OLD = 0xFF_EE14;
    /// The interfaces to activate.
    INTERFACES = 0xDF_EF37;
    /// Fallback, and the time to wait for the next command.
    FALLBACK = 0xDF_EF3C;
    /// Tracks and PAN one after the other; DFEF4C has their lengths. UNCERTAIN: whether they carry a marker when they
    /// are encrypted.
    TRACKS = 0xDF_EF4D;
    /// ID TECH's group of other elements.
    GROUP = 0xFF_EE01;
    /// Error code, SW1, SW2, and the state of the radio.
    ERROR_DATA = 0xFF_EE1F;
    /// Data record of a contactless card (EMV Contactless Book C-2).
    DATA_RECORD = 0xFF_8105;
    /// Discretionary data of a contactless card (EMV Contactless Book C-2).
    DISCRETIONARY_DATA = 0xFF_8106;
    /// Track 3 equivalent data (ISO/IEC 7813).
    TRACK3_EQUIVALENT = 0x58;
}

/// Templates whose tag begins with FF. The other tags of ID TECH that begin so, such as [`ERROR_DATA`], have bytes
/// inside and no elements, although bit 6 says "constructed".
const TEMPLATES: [Tag; 6] = [GROUP, DATA_RECORD, DISCRETIONARY_DATA, Tag(0xFF_8101), Tag(0xFF_8102), Tag(0xFF_8103)];

/// Returns whether the tag's value is a list of elements.
pub(in crate::neo2) fn is_template(tag: Tag) -> bool {
    let begins_with_ff = matches!(tag.0, 0xFF00..=0xFFFF | 0xFF_0000..=0xFF_FFFF | 0xFF00_0000..);
    tag.is_constructed() && (!begins_with_ff || TEMPLATES.contains(&tag))
}
