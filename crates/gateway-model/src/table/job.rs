//! The schedule of a subscription (interface: Scheduling).

use super::{Call, Format, Section, an, n, o, one_of, section};
use crate::cron::Cron;

const UNIT: Format = one_of(&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]);

pub(super) const SECTION: Section = section(
    "job",
    "Scheduling (subscription jobs)",
    &[
        o("job.name", an(64), "name of the schedule"),
        o("job.year", Format::Cron(Cron::Year), "in which years; every year if omitted"),
        o("job.month", Format::Cron(Cron::Month), "in which months; 1 if omitted"),
        o("job.dayOfMonth", Format::Cron(Cron::DayOfMonth), "on which days of the month; 1 if omitted"),
        o("job.dayOfWeek", Format::Cron(Cron::DayOfWeek), "on which days of the week; 1 if omitted"),
        o("job.hour", Format::Cron(Cron::Hour), "at which hours; 0 if omitted"),
        o("job.minute", Format::Cron(Cron::Minute), "at which minutes; 0 if omitted"),
        o("job.second", Format::Cron(Cron::Second), "at which seconds; 0 if omitted"),
        o("job.startDate", Format::Moment, "no payment is made before this time"),
        o("job.endDate", Format::Moment, "no payment is made after this time"),
        o("job.noticeUnit", UNIT, "unit of the notice period"),
        o("job.noticeNumber", n(16), "length of the notice period"),
        o("job.noticeCallable", one_of(&["ANYTIME", "DURATION_END"]), "when notice may be given"),
        o("job.durationUnit", UNIT, "unit of the duration"),
        o("job.durationNumber", n(16), "duration of the schedule"),
        o(
            "job.expression",
            Format::Cron(Cron::Expression),
            "all fields from second to year in one expression, which replaces them",
        ),
    ],
)
.of(Call::Schedule);
