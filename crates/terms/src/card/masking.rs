//! Masks card numbers in external texts, so a number that was written there is not passed on.
//!
//! **Card numbers.** A card number has 13 to 19 digits with a correct check digit (Luhn). The digits are contiguous, or
//! in groups of any size with spaces or dashes between them (`4761 7390 0101 0119`, `3782-822463-10005`). A group
//! counts in full or not at all. If other digits are adjacent (an expiry date, a counter), every sequence of whole
//! groups that fits is masked. One in ten other numbers also has a correct check digit and is masked too, which is
//! better than a leak.
//!
//! **The rest of a track** is masked together with its number (ISO 7813). After `=` or `D`, it is the date, service
//! code and discretionary data. After `^`, it is the name and the following data. The separator itself is also masked.
//! Before `=` and `^`, a number counts as a card number even if its check digit is wrong or it is already masked. In a
//! sequence of hexadecimal digits, the number in a chip's tag `5A` is found by its tag and length.
//!
//! **Not masked**, because references and times would be lost: our own gateway references (terminal, number, 32
//! hexadecimal digits), a UUID, a date with dashes, and a date and time of 14 digits. The digits of an id (32 letters
//! and digits) are never joined with others. They are masked only if they alone are a card number. A field that is
//! known to be an id is not passed to this module. A contiguous sequence of more than 19 digits is not a card number. A
//! point, comma or colon separates numbers, so amounts and times of day are never joined.

use std::ops::Range;

use crate::emv::luhn;

/// The number of digits in a card number (ISO/IEC 7812; shorter ones are not in use).
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;
/// The number of positions of a number in a track, which may be masked.
const IN_TRACK: std::ops::RangeInclusive<usize> = 12..=19;
/// The maximum number of spaces and dashes between two groups (` - `).
const MOST_BETWEEN: usize = 3;
/// The number of letters and digits of an id (interface: identifiers).
const ID: usize = 32;
/// The maximum length of a name in track 1 (ISO 7813: 26), with some reserve.
const NAME: usize = 40;

/// Masks every card number in an external text. The first six and the last four digits stay. Every other digit becomes
/// `*`, and so does the rest of a track. The number of characters stays the same.
#[must_use]
pub fn mask_pans(text: &str) -> String {
    if text.chars().filter(|c| is_place(*c)).count() < *IN_TRACK.start() {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut masked = Masked { hidden: vec![false; chars.len()], chars: &chars };
    let groups = groups(&chars);
    masked.groups_in_rows(&groups);
    masked.chip_numbers();
    masked.hidden.iter().zip(&chars).map(|(hidden, c)| if *hidden { '*' } else { *c }).collect()
}

/// Returns whether the whole text is an id (32 letters and digits) or our own gateway reference. Such a text contains a
/// card number only by chance. The track 2 of a chip may have the same length and is neither.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    match rows(&chars, |c| c.is_ascii_alphanumeric()).as_slice() {
        [id] => id.len() == chars.len() && is_id_word(&chars),
        words @ [terminal, _, id] => {
            terminal.start == 0
                && id.end == chars.len()
                && is_id_word(&chars[id.clone()])
                && is_own_reference(&chars, words)
        }
        _ => false,
    }
}

/// A text, and the characters to hide in it.
struct Masked<'a> {
    chars: &'a [char],
    hidden: Vec<bool>,
}

impl Masked<'_> {
    /// Hides every sequence of whole groups that is a card number, and the rest of its track.
    fn groups_in_rows(&mut self, groups: &[Group]) {
        let mut ends = Vec::new();
        for first in 0..groups.len() {
            let mut places: Vec<usize> = Vec::new();
            for (n, group) in groups.iter().enumerate().skip(first) {
                if n > first && !self.is_linked(&groups[n - 1], group) {
                    break;
                }
                places.extend(group.at.clone());
                if places.len() > *LENGTHS.end() {
                    break;
                }
                if self.hide_if_number(&places) {
                    ends.push(group.at.end);
                }
            }
        }
        // A number in a track may already be masked.
        for group in rows(self.chars, is_place) {
            self.track(&group, ends.contains(&group.end));
        }
    }

    /// Returns whether only a few spaces and dashes separate two groups.
    fn is_linked(&self, one: &Group, next: &Group) -> bool {
        let between = &self.chars[one.at.end..next.at.start];
        !one.is_apart
            && !next.is_apart
            && (1..=MOST_BETWEEN).contains(&between.len())
            && between.iter().all(|c| is_between(*c))
    }

    /// Hides the middle of these positions if they are a card number.
    fn hide_if_number(&mut self, places: &[usize]) -> bool {
        let digits: String = places.iter().map(|place| self.chars[*place]).collect();
        let is_number = LENGTHS.contains(&digits.len()) && luhn::is_valid(&digits) && !is_time(&digits);
        if is_number {
            self.hide_middle(places);
        }
        is_number
    }

    fn hide_middle(&mut self, places: &[usize]) {
        // As in `MaskedPan`, a number of fewer than 13 positions shows only the last four.
        let first = if places.len() < *LENGTHS.start() { 0 } else { 6 };
        for place in &places[first..places.len().saturating_sub(4).max(first)] {
            self.hidden[*place] = true;
        }
    }

    /// Hides the rest of a track after the group that ends its number.
    fn track(&mut self, group: &Range<usize>, ends_a_number: bool) {
        let digits = self.chars[group.clone()].iter().filter(|c| c.is_ascii_digit()).count();
        let may_be_number = ends_a_number || (IN_TRACK.contains(&group.len()) && digits >= 4);
        let spaces = |from: usize| self.chars[from..].iter().take(2).take_while(|c| **c == ' ').count();
        let sign = group.end + spaces(group.end);
        match self.chars.get(sign) {
            Some('=') if may_be_number => {
                let from = sign + 1 + spaces(sign + 1);
                if self.places_at(from) >= 4 {
                    self.hide_whole(group);
                    self.hidden[sign] = true;
                    self.hide_while(from, |c| c.is_ascii_alphanumeric() || matches!(c, '*' | '='));
                }
            }
            Some('^') if may_be_number => {
                self.hide_whole(group);
                let from = sign + 1;
                let name = self.chars[from..].iter().take(NAME).position(|c| *c == '^');
                let behind = name.map_or(from, |length| {
                    self.hidden[from..=from + length].fill(true);
                    from + length + 1
                });
                self.hidden[sign] = true;
                self.hide_while(behind, |c| !c.is_whitespace() && c != '?');
            }
            Some('D' | 'd') if sign == group.end && self.places_at(sign + 1) >= 7 => {
                // Digits before the number may be its tag and length.
                let mut found = ends_a_number || (may_be_number && digits < group.len());
                for length in LENGTHS.filter(|length| *length <= group.len()) {
                    found |= self.hide_if_number(&(group.end - length..group.end).collect::<Vec<_>>());
                }
                if found {
                    self.hide_while(sign, |c| c.is_ascii_alphanumeric() || c == '*');
                }
            }
            _ => {}
        }
    }

    /// Hides a group that is the complete number of a track, with any check digit.
    fn hide_whole(&mut self, group: &Range<usize>) {
        if IN_TRACK.contains(&group.len()) {
            self.hide_middle(&group.clone().collect::<Vec<_>>());
        }
    }

    /// Returns how many digits follow from here, including masked ones.
    fn places_at(&self, from: usize) -> usize {
        self.chars[from.min(self.chars.len())..].iter().take_while(|c| is_place(**c)).count()
    }

    fn hide_while(&mut self, from: usize, is_part: impl Fn(char) -> bool) {
        let from = from.min(self.chars.len());
        let length = self.chars[from..].iter().take_while(|c| is_part(**c)).count();
        self.hidden[from..from + length].fill(true);
    }

    /// Hides numbers of tag 5A among hexadecimal digits: `5A`, the number of bytes, and two digits for each byte. The
    /// last digit may be an F.
    fn chip_numbers(&mut self) {
        for at in 0..self.chars.len().saturating_sub(4) {
            let [five, a, zero, length] = [0, 1, 2, 3].map(|n| self.chars[at + n].to_ascii_uppercase());
            let bytes = length.to_digit(16).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
            if (five, a, zero) != ('5', 'A', '0') || !(7..=10).contains(&bytes) {
                continue;
            }
            let end = (at + 4 + self.places_at(at + 4)).min(at + 4 + 2 * bytes);
            self.hide_if_number(&(at + 4..end).collect::<Vec<_>>());
        }
    }
}

/// Returns whether a character is a digit or a masked digit.
fn is_place(c: char) -> bool {
    c.is_ascii_digit() || c == '*'
}

/// Returns whether a character can be between the groups of a number: any kind of space or dash, or the end of a line.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// A contiguous sequence of digits.
struct Group {
    at: Range<usize>,
    /// True if the sequence is not part of any other number.
    is_apart: bool,
}

/// Returns every contiguous sequence of digits that may be a card number or a part of one.
fn groups(chars: &[char]) -> Vec<Group> {
    let words = rows(chars, |c| c.is_ascii_alphanumeric());
    let (mut spared, mut apart) = (vec![false; chars.len()], vec![false; chars.len()]);
    for (n, word) in words.iter().enumerate() {
        let dash = |one: &Range<usize>, next: &Range<usize>| is_dash(chars, one, next);
        if is_id_word(&chars[word.clone()]) {
            apart[word.clone()].fill(true);
            let own = n.checked_sub(2).map(|first| &words[first..=n]);
            if let Some(own) = own.filter(|words| is_own_reference(chars, words)) {
                spared[own[0].start..word.end].fill(true);
            }
        }
        let uuid = words.get(n..n + 5).filter(|parts| parts.iter().map(ExactSizeIterator::len).eq([8, 4, 4, 4, 12]));
        let joined = |parts: &&[Range<usize>]| parts.windows(2).all(|two| dash(&two[0], &two[1]));
        if let Some(parts) = uuid.filter(joined)
            && parts.iter().all(|part| chars[part.clone()].iter().all(char::is_ascii_hexdigit))
            && parts.iter().any(|part| has_letter(&chars[part.clone()]))
        {
            spared[word.start..parts[4].end].fill(true);
        }
        if let Some([one, two, three]) = words.get(n..n + 3)
            && dash(one, two)
            && dash(two, three)
            && is_date([one, two, three].map(|part| chars[part.clone()].iter().collect::<String>()))
        {
            spared[one.start..three.end].fill(true);
        }
    }
    let groups = rows(chars, |c| c.is_ascii_digit()).into_iter().filter(|group| !spared[group.start]);
    groups.map(|at| Group { is_apart: apart[at.start], at }).collect()
}

/// Returns whether a word is an id and not the beginning of a track.
fn is_id_word(word: &[char]) -> bool {
    word.len() == ID && has_letter(word) && !begins_as_track(word)
}

/// Returns whether these words, of which the last is an id, are our own gateway reference: terminal, number, id.
fn is_own_reference(chars: &[char], words: &[Range<usize>]) -> bool {
    let [terminal, number, id] = words else { return false };
    is_dash(chars, terminal, number)
        && is_dash(chars, number, id)
        && !has_letter(&chars[terminal.clone()])
        && !has_letter(&chars[number.clone()])
        && chars[id.clone()].iter().all(char::is_ascii_hexdigit)
}

/// Returns whether a single dash separates two words.
fn is_dash(chars: &[char], one: &Range<usize>, next: &Range<usize>) -> bool {
    next.start == one.end + 1 && chars[one.end] == '-'
}

fn has_letter(word: &[char]) -> bool {
    !word.iter().all(char::is_ascii_digit)
}

/// Returns the longest sequences of matching characters.
fn rows(chars: &[char], fits: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    for (n, c) in chars.iter().enumerate() {
        match rows.last_mut() {
            _ if !fits(*c) => {}
            Some(row) if row.end == n => row.end = n + 1,
            _ => rows.push(n..n + 1),
        }
    }
    rows
}

/// Returns whether a word of 32 characters begins like the track 2 of a chip, which may have the same length.
fn begins_as_track(word: &[char]) -> bool {
    let digits: String = word.iter().take_while(|c| c.is_ascii_digit()).collect();
    LENGTHS.contains(&digits.len())
        && matches!(word.get(digits.len()), Some('D' | 'd'))
        && luhn::is_valid(&digits)
        && word[digits.len() + 1..].iter().take_while(|c| c.is_ascii_digit()).count() >= 7
}

/// Returns whether the digits are a year, month and day, in this order or reversed. No card number in use begins with
/// 19 or 20.
fn is_date(parts: [String; 3]) -> bool {
    let [one, two, three] = parts;
    let number = |part: &str, places: usize, most: u32| {
        part.len() == places && part.parse::<u32>().is_ok_and(|number| (1..=most).contains(&number))
    };
    let year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    number(&two, 2, 12) && ((year(&one) && number(&three, 2, 31)) || (year(&three) && number(&one, 2, 31)))
}

/// Returns whether the digits are yyyyMMddhhmmss. Card numbers with 14 digits begin with 3.
fn is_time(digits: &str) -> bool {
    let part = |range: Range<usize>| digits.get(range).and_then(|part| part.parse::<u32>().ok()).unwrap_or(u32::MAX);
    digits.len() == 14
        && (digits.starts_with("19") || digits.starts_with("20"))
        && (1..=12).contains(&part(4..6))
        && (1..=31).contains(&part(6..8))
        && part(8..10) < 24
        && part(10..12) < 60
        && part(12..14) < 60
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_is_known_by_its_whole_form() {
        for (text, expected) in [
            ("686453013330172ce7faab8e0c97b899", true),
            ("8ac7a4a18f476173900101011800AAAA", true),
            ("12345678-4-686453013330172ce7faab8e0c97b899", true),
            ("12345678-4-686453013330172ce7faab8e0c97b89", false),
            ("12345678-4-686453013330172ze7faab8e0c97b899", false),
            ("12345678 4 686453013330172ce7faab8e0c97b899", false),
            ("12a45678-4-686453013330172ce7faab8e0c97b899", false),
            (" 686453013330172ce7faab8e0c97b899", false),
            ("12345678901234567890123456789012", false),
            ("4761739001010119D151220112345678", false),
            ("4761739001010119", false),
            ("", false),
        ] {
            assert_eq!(is_id(text), expected, "{text}");
        }
    }

    #[test]
    fn a_card_number_is_masked_however_it_is_written() {
        for (text, expected) in [
            ("4761739001010119", "476173******0119"),
            (
                "card 4761739001010119, ref 12345678901234567, tel 030123456",
                "card 476173******0119, ref 12345678901234567, tel 030123456",
            ),
            ("4761 7390 0101 0119", "4761 73** **** 0119"),
            ("4761-7390-0101-0119.", "4761-73**-****-0119."),
            ("4761 - 7390 - 0101 - 0119", "4761 - 73** - **** - 0119"),
            ("3782 822463 10005", "3782 82**** *0005"),
            ("3782-822463-10005", "3782-82****-*0005"),
            ("47 61 73 90 01 01 01 19", "47 61 73 ** ** ** 01 19"),
            ("4 7 6 1 7 3 9 0 0 1 0 1 0 1 1 9", "4 7 6 1 7 3 * * * * * * 0 1 1 9"),
            ("4761\u{2011}7390\u{A0}0101\n0119", "4761\u{2011}73**\u{A0}****\n0119"),
            ("4222222222222", "422222***2222"),
            ("621234 5678901234569", "621234 *********4569"),
            // An adjacent expiry date, security code or counter.
            ("4761 7390 0101 0119 12 25", "4761 73** **** 0119 12 25"),
            ("no. 1-4761739001010119", "no. 1-476173******0119"),
            ("*4761739001010119*", "*476173******0119*"),
            ("card4761739001010119x", "card476173******0119x"),
            ("card4761 7390 0101 0119x", "card4761 73** **** 0119x"),
            ("id ab4761739001010119cdef0123456789", "id ab476173******0119cdef0123456789"),
            ("12345678.123.4761739001010119aaaaaaaaaaaaaaaa", "12345678.123.476173******0119aaaaaaaaaaaaaaaa"),
            // A wrong check digit.
            ("4761 7390 0101 0118", "4761 7390 0101 0118"),
            ("4761739001010118", "4761739001010118"),
        ] {
            assert_eq!(mask_pans(text), expected);
        }
    }

    #[test]
    fn what_stands_behind_it_in_a_track_goes_with_it() {
        for (text, expected) in [
            (";4761739001010119=15122011234567890?", ";476173******0119******************?"),
            ("4761739001010119=1512201", "476173******0119********"),
            ("4761 7390 0101 0119 = 1512201", "4761 73** **** 0119 * *******"),
            ("4761739001010119= 1512201", "476173******0119* *******"),
            ("4761739001010119 =1512201", "476173******0119 ********"),
            // The form of a track is sufficient proof.
            ("4761739001010118=1512201 next", "476173******0118******** next"),
            (";476173******0119=1512201********?", ";476173******0119****************?"),
            ("4761739001010119D15122011234567F", "476173******0119****************"),
            ("4761 7390 0101 0119D15122011234567F", "4761 73** **** 0119****************"),
            ("476173******0119D15122011234567F", "476173******0119****************"),
            // This is also not one of our references, although it has the same length.
            ("12345678-123-4761739001010119D15122011234567F", "12345678-123-476173******0119****************"),
            // The end of the tag is unknown, so all digits that may be in the middle of the number are hidden.
            ("57114761739001010119D15122011234567F", "5711476*********0119****************"),
            ("read 57114761739001010119D15122011234567F", "read 5711476*********0119****************"),
            ("%B4761739001010119^DOE/JOHN A^1512201123400001?", "%B476173******0119****************************?"),
            ("B4761739001010119^DOE/JOHN     ^1512201?", "B476173******0119**********************?"),
            ("B4761739001010119^1512201 x", "B476173******0119******** x"),
            ("B123456789012^DOE/JOHN^", "B********9012**********"),
            ("9F2608AABB5A0847617390010101195F2401", "9F2608AABB5A08476173******01195F2401"),
            ("9F2608AABB5A08378282246310005F5F2401", "9F2608AABB5A08378282*****0005F5F2401"),
            ("5A 08 47 61 73 90 01 01 01 19", "5A 08 47 61 73 ** ** ** 01 19"),
            // This is not a track, because the text after the number is not a part of one.
            ("4761739001010119 D1512201", "476173******0119 D1512201"),
            ("4761739001010119D151", "476173******0119D151"),
        ] {
            assert_eq!(mask_pans(text), expected);
        }
    }

    #[test]
    fn amounts_dates_and_references_are_left() {
        for text in [
            "12.34 EUR, 1234567.89 EUR, 10 000.00",
            "1000.00 2000.00 3000.00 4000.00",
            "2026-11-22 05:31:04",
            "2026-11-22 2026-11-23 2026-11-24 1234",
            "22-11-2026 05:31",
            "20261122053104",
            "12345678-123-4761739001010119aaaaaaaaaaaaaaaa",
            "12345678 8ac7a4a18f476173900101011800aaaa 1234",
            "12345678-123-a4761739001010119aaaaaaaaaaaaaaa",
            "47617390-0101-4119-8abc-123456789012",
            "47617390-0101-0119-8abc-123456789abc",
            "47617390 and 01010119, 47617390,01010119, 47617390x01010119",
            "4761739001010118D1512201",
            "number 12345=151220112345, 12345^abc^1512201",
            "000000000000000000000000000047617390",
            "id=1234567890123 x=2512",
            "",
        ] {
            assert_eq!(mask_pans(text), text);
        }
    }

    /// Year, month, day, hour, minute, second. Only such texts with a correct check digit matter here, because the
    /// others are not card numbers anyway.
    #[test]
    fn a_time_is_left_and_what_is_none_is_a_number() {
        let fitting = |years: Range<u32>, rest: &str| {
            let text = years.map(|year| format!("{year}{rest}")).find(|text| luhn::is_valid(text));
            text.expect("one of ten has a right check digit")
        };
        for rest in ["0101000000", "1231235959", "1122053104"] {
            for years in [1900..2000, 2000..2100] {
                let time = fitting(years, rest);
                assert_eq!(mask_pans(&time), time);
            }
            for years in [1800..1900, 2100..2200] {
                let number = fitting(years, rest);
                assert_ne!(mask_pans(&number), number);
            }
        }
        for rest in [
            "0022053104",
            "1322053104",
            "1100053104",
            "1132053104",
            "1122240000",
            "1122056000",
            "1122053160",
            "112205310",
            "11220531040",
        ] {
            let number = fitting(2000..2100, rest);
            assert_ne!(mask_pans(&number), number);
        }
    }

    #[test]
    fn a_number_in_groups_that_look_like_a_date_is_a_number() {
        for (digits, groups) in [
            ("4761739001010119", [2, 2, 2, 2, 2, 2, 2, 2].as_slice()),
            ("4761201201010110", &[2, 2, 4, 8]),
            ("4761011200000000", &[4, 2, 2, 8]),
        ] {
            let digits = with_check_digit(digits.to_owned());
            let mut rest = digits.as_str();
            let parts = groups.iter().map(|length| {
                let (part, behind) = rest.split_at(*length);
                rest = behind;
                part
            });
            let written = parts.collect::<Vec<_>>().join("-");
            let expected = format!("{}******{}", &digits[..6], &digits[12..]);
            assert_eq!(mask_pans(&written).replace('-', ""), expected, "{written}");
        }
    }

    /// Returns `digits` with a correct check digit at the end.
    fn with_check_digit(mut digits: String) -> String {
        digits.pop();
        let whole = (0..10).map(|digit| format!("{digits}{digit}"));
        whole.into_iter().find(|digits| luhn::is_valid(digits)).unwrap()
    }

    prop_compose! {
        /// Generates a card number, and the positions of a space or dash after a digit.
        fn number()(digits in "[2-9][0-9]{12,18}", gaps in prop::collection::vec("(| |-| - |\u{A0})", 19)) -> (String, String) {
            let digits = with_check_digit(digits);
            let last = digits.len() - 1;
            let parts = digits.chars().zip(gaps).enumerate();
            let written = parts.map(|(n, (digit, gap))| if n == last { digit.to_string() } else { format!("{digit}{gap}") });
            (digits.clone(), written.collect())
        }
    }

    proptest! {
        #[test]
        fn no_way_of_writing_a_card_number_shows_its_middle(
            (digits, written) in number(), before in "([a-z:.]{0,5}[:.] ?)?", after in "([ .,:?][a-z.,:]{0,5})?",
        ) {
            let text = format!("{before}{written}{after}");
            let masked = mask_pans(&text);
            let places: Vec<char> = masked.chars().filter(|c| is_place(*c)).collect();
            prop_assert_eq!(places.len(), digits.len());
            prop_assert!(places[6..places.len() - 4].iter().all(|c| *c == '*'), "{} of {}", masked, text);
            let last: String = places[places.len() - 4..].iter().collect();
            prop_assert!(digits.ends_with(last.trim_start_matches('*')));
        }

        #[test]
        fn a_track_shows_nothing_behind_its_number((digits, _) in number(), rest in "[0-9]{7,17}", sign in "[=D]") {
            let masked = mask_pans(&format!(";{digits}{sign}{rest}?"));
            prop_assert!(masked.ends_with(&format!("{}?", "*".repeat(1 + rest.len()))), "{}", masked);
        }

        #[test]
        fn only_stars_are_put_in_and_a_second_look_finds_nothing_more(text in "[0-9]{0,3}[-0-9 =D^*?A.\n]{0,60}") {
            let masked = mask_pans(&text);
            prop_assert_eq!(masked.chars().count(), text.chars().count());
            prop_assert!(masked.chars().zip(text.chars()).all(|(now, before)| now == before || now == '*'));
        }

        #[test]
        fn our_references_and_uuids_stay(
            terminal in "[0-9]{1,32}", number in 1_u64..1_000_000_000, random in "[0-9a-f]{31}[a-f]",
            uuid in "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{11}[a-f]",
        ) {
            let text = format!("{terminal}-{number}-{random}, trace {uuid}");
            prop_assert_eq!(mask_pans(&text), text);
        }

        #[test]
        fn amounts_and_times_stay(major in 0_u64..1_000_000_000, minor in 0..100, day in 1..29, hour in 0..24) {
            let text = format!("{major}.{minor:02} EUR 2026-11-{day:02} {hour:02}:31:04");
            prop_assert_eq!(mask_pans(&text), text);
        }
    }
}
