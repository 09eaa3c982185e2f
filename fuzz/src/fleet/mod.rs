//! The conditions for a fleet's server and for the terminals' uplink. `cargo test` of `pos-fleet` checks their seeds,
//! because the agent does not depend on the server.

pub mod fleet_cloud;
pub mod fleet_down;
pub mod fleet_enrol;
pub mod fleet_signed;
pub mod fleet_up;

use serde_json::Value;

/// The name of a target, and its conditions.
pub type Target = (&'static str, fn(&[u8]));

/// Every target of the fleet.
pub const TARGETS: &[Target] = &[
    ("fleet_cloud", fleet_cloud::holds),
    ("fleet_down", fleet_down::holds),
    ("fleet_enrol", fleet_enrol::holds),
    ("fleet_signed", fleet_signed::holds),
    ("fleet_up", fleet_up::holds),
];

/// Returns whether two values are the same. The JSON parser may read a fraction with another last bit than it wrote.
#[allow(clippy::float_arithmetic, reason = "it compares what a parser has read")]
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= one.abs() * 1e-12
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        (one, other) => one == other,
    }
}
