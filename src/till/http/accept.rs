//! The choice of an answer's media type (RFC 9110, 12.5.1).

use axum::http::{HeaderMap, header};

use super::failure::Failure;
use crate::till::ProblemType;

/// Returns the offered media type with the highest weight in `Accept`. If weights are equal, the type that is named
/// first wins. If no offered type is named, returns the first offered one.
pub(super) fn wanted<T: Copy>(headers: &HeaderMap, offered: &[(&str, T)]) -> Result<T, Failure> {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = accept.flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty());
    let mut wanted: Option<(u32, T)> = None;
    let mut is_named = false;
    for range in ranges {
        is_named = true;
        let (media, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("q="));
        let weight = weight.map_or(1000, thousandths);
        let media = media.trim().to_ascii_lowercase();
        let fits = |offered: &str| match media.strip_suffix('*') {
            Some("*/") => true,
            Some(kind) => kind.ends_with('/') && offered.starts_with(kind),
            None => media == offered,
        };
        let Some((_, form)) = offered.iter().find(|(offered, _)| fits(offered)) else { continue };
        if weight > wanted.map_or(0, |(weight, _)| weight) {
            wanted = Some((weight, *form));
        }
    }
    match (wanted, offered) {
        (Some((_, form)), _) => Ok(form),
        (None, [(_, first), ..]) if !is_named => Ok(*first),
        _ => {
            let forms: Vec<&str> = offered.iter().map(|(media, _)| *media).collect();
            let detail = format!("the available formats are: {}; name one of them in Accept", forms.join(", "));
            Err(Failure::new(ProblemType::NotAcceptable, detail))
        }
    }
}

/// Parses a weight (RFC 9110, 12.4.2): 0 to 1 with up to three decimals. An invalid weight counts as zero.
fn thousandths(weight: &str) -> u32 {
    let (whole, decimals) = weight.trim().split_once('.').unwrap_or((weight.trim(), ""));
    let digits = format!("{whole}{decimals:0<3}");
    if decimals.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(0).min(1000)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const FORMS: &[(&str, &str)] = &[("application/json", "json"), ("text/plain", "text"), ("text/csv", "csv")];

    #[test]
    fn the_form_is_the_one_that_is_wanted_most() {
        for (accept, form) in [
            ("", Some("json")),
            ("*/*", Some("json")),
            ("application/json", Some("json")),
            ("text/csv", Some("csv")),
            ("TEXT/CSV; header=present", Some("csv")),
            ("text/plain;q=0.5, text/csv;q=0.9", Some("csv")),
            ("text/html, text/plain;q=0.8, */*;q=0.1", Some("text")),
            ("text/csv;q=0, application/json;q=0.001", Some("json")),
            ("text/csv, text/plain", Some("csv")),
            ("text/*", Some("text")),
            ("*", None),
            ("image/*", None),
            ("image/png", None),
            ("text/csv;q=0", None),
            ("text/csv;q=x", None),
        ] {
            let mut headers = HeaderMap::new();
            if !accept.is_empty() {
                headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            }
            assert_eq!(wanted(&headers, FORMS).ok(), form, "{accept}");
        }
    }
}
