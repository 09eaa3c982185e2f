//! The schedule of a subscription (interface: Scheduling).

use super::{Call, Format, Section, an, n, o, one_of, section};
use crate::cron::Cron;

const UNIT: Format = one_of(&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]);

pub(super) const SECTION: Section = section(
    "job",
    "Scheduling (subscription jobs)",
    &[
        o("job.name", an(64), "its name, for people"),
        o("job.year", Format::Cron(Cron::Year), "in which years; every one if not said"),
        o("job.month", Format::Cron(Cron::Month), "in which months; 1 if not said"),
        o("job.dayOfMonth", Format::Cron(Cron::DayOfMonth), "on which days of the month; 1 if not said"),
        o("job.dayOfWeek", Format::Cron(Cron::DayOfWeek), "on which days of the week; 1 if not said"),
        o("job.hour", Format::Cron(Cron::Hour), "at which hours; 0 if not said"),
        o("job.minute", Format::Cron(Cron::Minute), "at which minute; 0 if not said"),
        o("job.second", Format::Cron(Cron::Second), "at which seconds; 0 if not said"),
        o("job.startDate", Format::Moment, "not before"),
        o("job.endDate", Format::Moment, "not after"),
        o("job.noticeUnit", UNIT, "unit of the notice"),
        o("job.noticeNumber", n(16), "how long the notice is"),
        o("job.noticeCallable", one_of(&["ANYTIME", "DURATION_END"]), "when notice may be given"),
        o("job.durationUnit", UNIT, "unit of the duration"),
        o("job.durationNumber", n(16), "how long it lasts"),
        o("job.expression", Format::Cron(Cron::Expression), "all of second to year in one; counts instead of them"),
    ],
)
.of(Call::Schedule);
