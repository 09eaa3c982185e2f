//! RFC 3339 times in messages, without a calendar library.

/// Formats seconds since 1970 as a time in UTC, such as `2026-11-20T12:34:56Z`.
#[must_use]
pub fn rfc3339(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // Days since 0000-03-01, in a calendar whose years begin in March (proleptic Gregorian).
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let (month, next) = if march_month < 10 { (march_month + 3, 0) } else { (march_month - 9, 1) };
    let year = era * 400 + year_of_era + next;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Parses an RFC 3339 time with its offset and returns seconds since 1970. A time without an offset is UTC. Returns
/// `None` if the text is not a time, or if the time is before 1970.
#[must_use]
pub fn unix_s(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse::<i64>().ok()
    };
    let is_so = |(at, sign): (usize, u8)| text.as_bytes().get(at) == Some(&sign);
    if ![(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')].into_iter().all(is_so) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Days as in `rfc3339`: the years of this calendar begin in March.
    let (year, march_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * march_month + 2) / 5 + day - 1;
    let local = (days - 719_468) * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let rest = text.get(19..)?.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
    let offset = match (rest.as_bytes().first(), rest.get(1..).and_then(|offset| offset.split_once(':'))) {
        (None | Some(b'Z'), _) => 0,
        (Some(sign @ (b'+' | b'-')), Some((hours, minutes))) => {
            let offset = hours.parse::<u8>().ok().map(i64::from)? * 3600 + i64::from(minutes.parse::<u8>().ok()?) * 60;
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    u64::try_from(local - offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written_and_with_their_offset() {
        for second in [0, 951_782_399, 951_782_400, 1_795_430_096, 4_107_542_400, 4_107_542_399] {
            assert_eq!(unix_s(&rfc3339(second)), Some(second));
        }
        for (text, second) in [
            ("2026-11-23T11:34:56+01:00", Some(1_795_430_096)),
            ("2026-11-23T05:04:56.789-05:30", Some(1_795_430_096)),
            ("2026-11-23T10:34:56.5Z", Some(1_795_430_096)),
            ("2026-11-23T10:34:56", Some(1_795_430_096)),
            ("2026-11-23 10:34:56Z", None),
            ("2026-11-2", None),
            ("1969-12-31T23:59:59Z", None),
            ("2026-11-23T10:34:56+x", None),
            ("2026-11-23T10:34:56+1", None),
            ("", None),
        ] {
            assert_eq!(unix_s(text), second, "{text}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_430_096, "2026-11-23T10:34:56Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(unix_s), text);
        }
    }
}
