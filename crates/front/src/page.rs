//! The cashier's page: the files of `page/`, which are compiled into the program.
//!
//! `GET /` returns `index.html`, and `GET /customer` returns `customer.html`. `GET /assets/NAME` returns any other
//! file, from any folder below `page/`. The version is a digest of all files. It replaces `@VERSION@` in both documents
//! and is also in the settings. A page from an earlier program therefore detects the change.
//!
//! The program contains the files compressed with gzip and sends them in this form. A client that does not accept gzip
//! gets the same content uncompressed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use ring::digest::{Context, SHA256, digest};

use crate::problem::{Answer, empty_answer, whole};

/// The files, with their names below `page/`. `build.rs` generates this list.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));
/// The lengths of a gzip header without a file name and of the trailer, in bytes (RFC 1952, 2.3).
const GZIP_HEADER: usize = 10;
const GZIP_TRAILER: usize = 8;
/// The magic number of a gzip header.
const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
/// The number of characters in a version.
const VERSION: usize = 16;

/// The files that are served.
#[derive(Debug)]
pub(crate) struct Page {
    files: BTreeMap<String, PageFile>,
    version: String,
    languages: Vec<String>,
}

#[derive(Debug)]
struct PageFile {
    content: Cow<'static, [u8]>,
    media: &'static str,
    /// The tag in quotes, without the prefix of a weak tag.
    tag: String,
}

impl Page {
    pub(crate) fn embedded() -> Self {
        Self::of(FILES)
    }

    fn of(files: &[(&'static str, &'static [u8])]) -> Self {
        let mut all = Context::new(&SHA256);
        for (name, content) in files {
            all.update(name.as_bytes());
            all.update(digest(&SHA256, content).as_ref());
        }
        let version = hex::encode(all.finish())[..VERSION].to_owned();
        let word = |name: &str| name.strip_prefix("words/")?.split_once('.').map(|(language, _)| language.to_owned());
        let mut languages: Vec<String> = files.iter().filter_map(|(name, _)| word(name)).collect();
        languages.dedup();
        let file = |(name, content): &(&'static str, &'static [u8])| {
            let path = match *name {
                "index.html" => "/".to_owned(),
                "customer.html" => "/customer".to_owned(),
                name => format!("/assets/{}", name.rsplit_once('/').map_or(name, |(_, name)| name)),
            };
            (path, PageFile::new(name, content, &version))
        };
        Self { files: files.iter().map(file).collect(), version, languages }
    }

    /// Returns the digest of all files.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the languages of the page.
    pub(crate) fn languages(&self) -> &[String] {
        &self.languages
    }

    /// Returns an answer with the file of this path, if there is one.
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Answer> {
        let file = self.files.get(path)?;
        let known = headers
            .get(IF_NONE_MATCH)
            .and_then(|tags| tags.to_str().ok())
            .is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == file.tag));
        let mut answer = if known { empty_answer(StatusCode::NOT_MODIFIED) } else { file.whole(accepts_gzip(headers)) };
        let headers = answer.headers_mut();
        headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        headers.insert(ETAG, file.weak_tag());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media));
        Some(answer)
    }
}

impl PageFile {
    fn new(name: &str, content: &'static [u8], version: &str) -> Self {
        let media = media(name);
        let content = match std::str::from_utf8(content) {
            Ok(text) if media.starts_with("text/html") => Cow::Owned(text.replace("@VERSION@", version).into_bytes()),
            _ => Cow::Borrowed(content),
        };
        let tag = format!("\"{}\"", &hex::encode(digest(&SHA256, &content))[..VERSION]);
        Self { content, media, tag }
    }

    /// Returns the tag as a weak tag, because the compressed and uncompressed forms share it (RFC 9110, 8.8.1).
    fn weak_tag(&self) -> HeaderValue {
        HeaderValue::from_str(&format!("W/{}", self.tag)).expect("hexadecimal digits in quotes")
    }

    /// Returns an answer with the content, compressed if `packed` is true.
    fn whole(&self, packed: bool) -> Answer {
        let content = match &self.content {
            Cow::Borrowed(content) => bytes::Bytes::from_static(content),
            Cow::Owned(content) => bytes::Bytes::copy_from_slice(content),
        };
        if !content.starts_with(GZIP_MAGIC) {
            return Response::new(whole(content));
        }
        if !packed {
            return Response::new(whole(unpacked(&content)));
        }
        let mut answer = Response::new(whole(content));
        answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        answer
    }
}

/// Decompresses the content of a file.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let deflated = packed.get(GZIP_HEADER..packed.len().saturating_sub(GZIP_TRAILER)).unwrap_or_default();
    miniz_oxide::inflate::decompress_to_vec(deflated).expect("the build has packed it")
}

/// Checks whether the client names gzip or `*` with a weight above zero (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let codings = || headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let weight_of = |wanted: &str| {
        codings().flat_map(|list| list.split(',')).find_map(|one| {
            let (coding, weight) = one.split_once(';').unwrap_or((one, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse::<f32>().ok());
            coding.trim().eq_ignore_ascii_case(wanted).then_some(weight.unwrap_or_default())
        })
    };
    weight_of("gzip").or_else(|| weight_of("*")).is_some_and(|weight| weight > 0.0)
}

fn media(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use pos_till_api::routes::{PassedFor, deadline_of, find};
    use pos_till_api::{Outcome, ProblemType, State};

    use super::*;

    const SOME: &[(&str, &[u8])] =
        &[("app.js", b"a"), ("index.html", b"v=@VERSION@"), ("words/de.ftl", b"x"), ("words/en.ftl", b"y")];

    #[test]
    fn the_page_says_its_version_and_another_one_has_another() {
        let page = Page::of(SOME);
        let index = page.files.get("/").unwrap();
        assert_eq!(index.content.as_ref(), format!("v={}", page.version()).as_bytes());
        assert_eq!(page.languages(), ["de", "en"]);
        assert_ne!(page.version(), Page::of(&SOME[..3]).version());
        assert_eq!(page.files.keys().collect::<Vec<_>>(), ["/", "/assets/app.js", "/assets/de.ftl", "/assets/en.ftl"]);
    }

    /// Returns the page's scripts, without its tests.
    fn scripts() -> Vec<String> {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/page"));
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let scripts = files.filter(|file| file.extension().is_some_and(|ending| ending == "js"));
        scripts.map(|script| std::fs::read_to_string(script).unwrap()).collect()
    }

    /// Returns the quoted texts after each `before`.
    fn quoted_behind<'a>(script: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
        script.split(before).skip(1).filter_map(|rest| {
            let quote = rest.chars().next().filter(|first| "\"`".contains(*first))?;
            rest[1..].split(quote).next()
        })
    }

    /// Replaces each `${…}` in a path with a value.
    fn with_values(path: &str) -> String {
        let mut pieces = path.split("${");
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |path, piece| path + "x" + piece.split_once('}').map_or("", |(_, rest)| rest))
    }

    /// A request with an unknown path matches no route. A page that waits for an unknown state would wait forever.
    #[test]
    fn the_page_asks_and_hears_in_the_words_of_the_interface() {
        let (mut paths, mut words) = (0, 0);
        for script in scripts() {
            for (call, method) in [("api.get(", "GET"), ("api.post(", "POST"), ("stream(", "GET")] {
                for path in quoted_behind(&script, call).filter(|path| path.starts_with("/v1/")) {
                    let route = find(method, &with_values(path)).unwrap_or_else(|| panic!("{method} {path}: no route"));
                    assert_ne!(route.passed_for, PassedFor::Nobody, "{method} {path}");
                    paths += 1;
                }
            }
            for sign in ["=== ", "!== "] {
                // Only the states of transactions are checked, because sounds also have a state.
                let of_sales = ["sale.state", "sale?.state", "one.state"].map(|state| format!("{state} {sign}"));
                for word in of_sales.iter().flat_map(|before| quoted_behind(&script, before)) {
                    let state: State = serde_json::from_value(word.into()).unwrap();
                    assert_ne!(state, State::Other, "{word}");
                    words += 1;
                }
                for word in quoted_behind(&script, &format!("outcome {sign}")) {
                    let outcome: Outcome = serde_json::from_value(word.into()).unwrap();
                    assert_ne!(outcome, Outcome::Other, "{word}");
                    words += 1;
                }
            }
            for list in ["const PASSING = [", "const KNOWN_500 = ["] {
                let Some((_, list)) = script.split_once(list) else { continue };
                for word in list.split(']').next().unwrap().split(", ").map(|word| word.trim_matches('"')) {
                    // Only the front uses the code `agent-down`.
                    assert!(word == "agent-down" || ProblemType::of_code(word).is_some(), "{word}");
                    words += 1;
                }
            }
        }
        assert!(paths >= 8 && words >= 20, "{paths} paths and {words} words are found");
    }

    /// Returns the uncompressed content of a file in the program.
    fn content(wanted: &str) -> Vec<u8> {
        let (_, content) = FILES.iter().find(|(name, _)| *name == wanted).unwrap();
        if content.starts_with(GZIP_MAGIC) { unpacked(content) } else { content.to_vec() }
    }

    #[test]
    fn each_file_of_the_page_has_a_name_of_its_own() {
        assert_eq!(Page::embedded().files.len(), FILES.len());
    }

    /// On a slow connection, the loading time depends on the compressed size. A slow board must read the uncompressed
    /// content. The font comes later: the page is usable without it.
    #[test]
    fn the_page_weighs_less_than_60_kb_packed_and_160_kb_unpacked_in_each_language() {
        const FONT: &str = "counter.woff2";
        assert!((15_000..30_000).contains(&content(FONT).len()), "{} bytes of font", content(FONT).len());
        let documents =
            [("index.html", 20_000..60_000, 100_000..160_000), ("customer.html", 10_000..40_000, 50_000..100_000)];
        for (document, packed, unpacked) in documents {
            let text = String::from_utf8(content(document)).unwrap();
            let named: Vec<&str> = quoted_behind(&text, "=").filter_map(|it| it.strip_prefix("/assets/")).collect();
            for language in Page::embedded().languages() {
                let words = format!("words/{language}.json");
                let is_loaded = |name: &str| [document, "icons.svg", &words].contains(&name) || named.contains(&name);
                let loaded = || FILES.iter().filter(|(name, _)| is_loaded(name));
                let bytes: usize = loaded().map(|(_, content)| content.len()).sum();
                assert!(packed.contains(&bytes), "{document} {language}: {bytes} bytes packed");
                let bytes: usize = loaded().map(|(name, _)| content(name).len()).sum();
                assert!(unpacked.contains(&bytes), "{document} {language}: {bytes} bytes");
            }
        }
    }

    #[test]
    fn scripts_and_styles_are_served_without_comments_and_blanks() {
        let text = |name: &str| String::from_utf8(content(name)).unwrap();
        for name in ["main.js", "state.js", "style.css"] {
            let text = text(name);
            let odd = text.lines().find(|line| line.is_empty() || line.starts_with([' ', '/']));
            assert_eq!(odd, None, "{name}");
            assert!(!text.contains("/*") && !text.contains("\n//"), "{name}");
        }
        let style = text("style.css");
        let blank = ["{ ", " }", "; ", ": "].iter().find(|blank| style.contains(**blank));
        assert_eq!(blank, None, "blanks of a style are for people");
        assert!(style.contains("\"Segoe UI\",Roboto"), "what is quoted stays as it is");
        let main = text("main.js");
        assert!(main.starts_with("import") && main.ends_with("boot();"), "{main:.60}");
        // Texts for people keep their spaces.
        assert!(text("day.js").contains("join(\" · \")"));
    }

    #[test]
    fn the_page_waits_for_each_answer_as_the_table_of_routes_says() {
        let script = String::from_utf8(content("api.js")).unwrap();
        let row = |method: &str, path: &str, asked: &str| {
            let wait = deadline_of(method, path).page().as_secs();
            format!("\"{method} {asked}\":{wait}")
        };
        for row in [
            row("POST", "/v1/closes", "/v1/closes"),
            row("GET", "/v1/closes/{close}", "/v1/closes/{close}"),
            row("POST", "/v1/approvals", "/v1/approvals"),
            row("POST", "/v1/sessions", "/front/session"),
            format!("\"\":{}", deadline_of("POST", "/v1/sales").page().as_secs()),
        ] {
            assert!(script.contains(&row), "{row} in {script}");
        }
        assert!(!script.contains("@WAITS@") && !script.contains("{reference}"), "the page names no wait of its own");
    }

    #[test]
    fn what_is_written_about_the_page_and_its_tests_are_not_served() {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert!(names.contains(&"index.html") && names.contains(&"words/en.json"), "{names:?}");
        let others = |name: &&str| name.ends_with(".md") || name.starts_with("tests/") || *name == "package.json";
        assert!(!names.iter().any(others), "{names:?}");
    }

    #[test]
    fn a_client_that_accepts_gzip_gets_a_packed_file_and_others_an_unpacked_one() {
        let page = Page::embedded();
        let accepting = |codings: Option<&'static str>| {
            let codings = codings.map(|codings| (ACCEPT_ENCODING, HeaderValue::from_static(codings)));
            page.answer("/assets/main.js", &codings.into_iter().collect()).unwrap()
        };
        let (_, stored) = FILES.iter().find(|(name, _)| *name == "main.js").unwrap();
        let length = |answer: &Answer| hyper::body::Body::size_hint(answer.body()).exact().unwrap();
        for codings in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.8, *;q=0.1", "*"] {
            let answer = accepting(Some(codings));
            assert_eq!(answer.headers()[CONTENT_ENCODING], "gzip", "{codings}");
            assert_eq!(length(&answer), u64::try_from(stored.len()).unwrap(), "{codings}");
        }
        for codings in
            [None, Some("identity"), Some("gzip;q=0"), Some("br, *;q=0"), Some("gzip;q=0, *"), Some("gzip;q")]
        {
            let answer = accepting(codings);
            assert_eq!(answer.headers().get(CONTENT_ENCODING), None, "{codings:?}");
            assert_eq!(length(&answer), u64::try_from(content("main.js").len()).unwrap(), "{codings:?}");
        }
        let tags = [accepting(Some("gzip")), accepting(None)].map(|answer| answer.headers()[ETAG].clone());
        assert!(tags[0] == tags[1] && tags[0].to_str().unwrap().starts_with("W/\""), "{tags:?}");
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let page = Page::of(SOME);
        let answer = page.answer("/assets/app.js", &HeaderMap::new()).unwrap();
        let tag = answer.headers()[ETAG].clone();
        assert_eq!(
            (answer.status(), &answer.headers()[CONTENT_TYPE]),
            (StatusCode::OK, &HeaderValue::from_static("text/javascript; charset=utf-8"))
        );
        let again = page.answer("/assets/app.js", &HeaderMap::from_iter([(IF_NONE_MATCH, tag)])).unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(page.answer("/assets/../app.js", &HeaderMap::new()).is_none());
    }
}
