//! Local date and time in EMV format (9A, 9F21). The agent provides the clock and the time zone.

/// Local date and time for EMV, as decimal numbers (not yet BCD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The year without the century.
    pub year: u8,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
}

impl LocalTime {
    /// Returns tag 9A: YYMMDD in BCD.
    #[must_use]
    pub fn date_bcd(self) -> [u8; 3] {
        [self.year, self.month, self.day].map(to_bcd)
    }

    /// Returns tag 9F21: HHMMSS in BCD.
    #[must_use]
    pub fn time_bcd(self) -> [u8; 3] {
        [self.hour, self.minute, self.second].map(to_bcd)
    }

    /// Reads tags 9A and 9F21. Returns `None` if they are not BCD, or not a date and time.
    #[must_use]
    pub fn from_bcd(date: [u8; 3], time: [u8; 3]) -> Option<Self> {
        let number = |bcd: u8| (bcd >> 4 < 10 && bcd & 0x0F < 10).then(|| (bcd >> 4) * 10 + (bcd & 0x0F));
        let [year, month, day] = date.map(number);
        let [hour, minute, second] = time.map(number);
        let time = Self { year: year?, month: month?, day: day?, hour: hour?, minute: minute?, second: second? };
        let legal = (1..=12).contains(&time.month)
            && (1..=31).contains(&time.day)
            && time.hour < 24
            && time.minute < 60
            && time.second < 60;
        legal.then_some(time)
    }

    /// Returns the seconds since the start of 2000, for comparing two times. A date that does not exist, such as 31
    /// February, continues into the next month.
    #[must_use]
    pub fn seconds(self) -> u64 {
        /// Days before each month in a year without 29 February.
        const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let year = u64::from(self.year);
        let leap_day = u64::from(self.year.is_multiple_of(4) && self.month > 2);
        let month = BEFORE[usize::from(self.month.clamp(1, 12)) - 1];
        // In the years 2000 to 2099 every fourth year is a leap year, including 2000.
        let days = year * 365 + year.div_ceil(4) + month + leap_day + u64::from(self.day.max(1)) - 1;
        ((days * 24 + u64::from(self.hour)) * 60 + u64::from(self.minute)) * 60 + u64::from(self.second)
    }
}

/// Encodes a number below 100 as two BCD digits.
fn to_bcd(number: u8) -> u8 {
    let number = number % 100;
    (number / 10) << 4 | (number % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_the_calendar() {
        let at = |year, month, day, hour| LocalTime { year, month, day, hour, minute: 0, second: 0 }.seconds();
        assert_eq!(at(0, 1, 1, 0), 0);
        // Values since 2000-01-01: date -d "2025-01-31 12:00 UTC" +%s, minus 946684800.
        assert_eq!(at(25, 1, 31, 12), 1_738_324_800 - 946_684_800);
        assert_eq!(at(24, 3, 1, 0) - at(24, 2, 28, 0), 2 * 86_400, "2024 has a 29 February");
        assert_eq!(at(25, 3, 1, 0) - at(25, 2, 28, 0), 86_400);
        assert_eq!(at(26, 1, 1, 0) - at(25, 12, 31, 23), 3_600);
    }
}
