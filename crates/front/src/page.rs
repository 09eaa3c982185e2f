//! The cashier's page: the files of `page/`, which are compiled into the program.
//!
//! `GET /` returns the cashier's document, which contains all that the keypad needs, and `GET /customer` the customer's
//! screen, both in the browser's language. The document of the first boot has the path `/first-boot`.
//! `GET /assets/NAME` returns the other files, which the page loads afterwards. The version is a digest of all files.
//! It is in the documents and in the settings. A page from an earlier program therefore detects the change.
//!
//! The program contains the files compressed with gzip and sends them in this form. A client that does not accept gzip
//! gets the same content uncompressed.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE,
    ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use ring::digest::{SHA256, digest};

use crate::problem::{Answer, empty_answer, whole};

// The version, and the files with their pieces. `build.rs` generates these.
include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The path of the cashier's document.
const CASHIERS: &str = "/";
/// The header of a gzip stream without a file name (RFC 1952, 2.3).
const GZIP_HEADER: &[u8] = &[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 0xFF];
/// The empty block that ends a stream of pieces (RFC 1951, 3.2.6).
const LAST_BLOCK: &[u8] = &[0x03, 0x00];
/// The number of characters in a tag.
const TAG: usize = 16;
/// The cookie with the language that the cashier has chosen on this device. The page sets it.
const LANGUAGE_COOKIE: &str = "pos_language";
/// The inline code of a document: the directive that permits it, and its tags.
const INLINE_CODE: [(&str, &str, &str); 3] = [
    ("script-src", "<script>", "</script>"),
    ("script-src", "<script type=\"module\">", "</script>"),
    ("style-src", "<style>", "</style>"),
];

/// A file in the program. It consists of pieces of a gzip stream, and different files share pieces.
struct PackedFile {
    path: &'static str,
    /// The language of a document; empty for other files.
    language: &'static str,
    /// The numbers of the pieces.
    pieces: &'static [usize],
    /// The CRC-32 and the number of bytes of the uncompressed content, for the end of the stream.
    sum: u32,
    bytes: u32,
}

/// The files that are served.
#[derive(Debug)]
pub(crate) struct Page {
    /// The documents by path.
    documents: BTreeMap<&'static str, Document>,
    files: BTreeMap<&'static str, PageFile>,
}

/// A document in each language.
#[derive(Debug)]
struct Document {
    languages: BTreeMap<&'static str, PageFile>,
    /// The policy of the document, which permits its own inline code.
    policy: HeaderValue,
}

struct PageFile {
    packed: &'static PackedFile,
    media: &'static str,
    /// The tag in quotes, without the prefix of a weak tag.
    tag: String,
}

impl Page {
    /// Returns the page. `policy` is the policy of all other answers.
    pub(crate) fn embedded(policy: &str) -> Self {
        let (documents, files): (Vec<_>, Vec<_>) = FILES.iter().partition(|file| !file.language.is_empty());
        let files = files.into_iter().map(|file| (file.path, PageFile::new(file))).collect();
        let mut languages: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for file in documents {
            languages.entry(file.path).or_default().insert(file.language, PageFile::new(file));
        }
        let document = |(path, languages)| (path, Document::new(languages, policy));
        Self { documents: languages.into_iter().map(document).collect(), files }
    }

    /// Returns the digest of all files.
    pub(crate) fn version(&self) -> &'static str {
        VERSION
    }

    /// Returns the languages of the page.
    pub(crate) fn languages(&self) -> Vec<&'static str> {
        let document = self.documents.get(CASHIERS).expect("the build has packed it");
        document.languages.keys().copied().collect()
    }

    /// Returns an answer with the file of this path, if there is one.
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Answer> {
        let document = self.documents.get(path);
        let file = match document {
            Some(document) => document.for_browser(headers),
            None => self.files.get(path)?,
        };
        let known = headers
            .get(IF_NONE_MATCH)
            .and_then(|tags| tags.to_str().ok())
            .is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == file.tag));
        let mut answer = if known { empty_answer(StatusCode::NOT_MODIFIED) } else { file.whole(accepts_gzip(headers)) };
        let headers = answer.headers_mut();
        let mut vary = "accept-encoding";
        if let Some(document) = document {
            vary = "accept-encoding, accept-language, cookie";
            headers.insert(CONTENT_SECURITY_POLICY, document.policy.clone());
        }
        headers.insert(VARY, HeaderValue::from_static(vary));
        headers.insert(ETAG, file.weak_tag());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media));
        Some(answer)
    }
}

impl Document {
    fn new(languages: BTreeMap<&'static str, PageFile>, policy: &str) -> Self {
        // A document differs only in its words.
        let document = languages.values().next().expect("it has a language").packed.unpacked();
        let policy = with_inline_code(policy, &String::from_utf8(document).expect("the build has packed text"));
        Self { languages, policy: HeaderValue::from_str(&policy).expect("hashes have no special characters") }
    }

    /// Returns the document in the language for a browser: the one that the cashier has chosen, or the first of the
    /// browser's languages that the page has, or English.
    fn for_browser(&self, headers: &HeaderMap) -> &PageFile {
        let mut wanted = weighted(headers, &ACCEPT_LANGUAGE);
        wanted.retain(|(_, weight)| *weight > 0.0);
        wanted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let chosen = pairs.filter(|(name, _)| *name == LANGUAGE_COOKIE).map(|(_, value)| value);
        let primary = |tag: &str| tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let mut tags = chosen.chain(wanted.iter().map(|(tag, _)| *tag)).map(primary);
        let found = tags.find_map(|tag| self.languages.get(tag.as_str()));
        found.or_else(|| self.languages.get("en")).expect("the build has packed English")
    }
}

impl PageFile {
    fn new(packed: &'static PackedFile) -> Self {
        let tag = format!("\"{}\"", &hex::encode(digest(&SHA256, &packed.gzip()))[..TAG]);
        let media = if packed.language.is_empty() { media(packed.path) } else { "text/html; charset=utf-8" };
        Self { packed, media, tag }
    }

    /// Returns the tag as a weak tag, because the compressed and uncompressed forms share it (RFC 9110, 8.8.1).
    fn weak_tag(&self) -> HeaderValue {
        HeaderValue::from_str(&format!("W/{}", self.tag)).expect("hexadecimal digits in quotes")
    }

    /// Returns an answer with the content, compressed if `packed` is true.
    fn whole(&self, packed: bool) -> Answer {
        if !packed {
            return Response::new(whole(self.packed.unpacked()));
        }
        let mut answer = Response::new(whole(self.packed.gzip()));
        answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        answer
    }
}

impl std::fmt::Debug for PageFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { packed, media, tag } = self;
        f.debug_struct("PageFile").field("path", &packed.path).field("media", media).field("tag", tag).finish()
    }
}

impl PackedFile {
    fn deflated(&self) -> Vec<u8> {
        let pieces: Vec<&[u8]> = self.pieces.iter().map(|number| PIECES[*number]).chain([LAST_BLOCK]).collect();
        pieces.concat()
    }

    /// Returns the content as a gzip stream.
    fn gzip(&self) -> Vec<u8> {
        [GZIP_HEADER, &self.deflated(), &self.sum.to_le_bytes(), &self.bytes.to_le_bytes()].concat()
    }

    fn unpacked(&self) -> Vec<u8> {
        miniz_oxide::inflate::decompress_to_vec(&self.deflated()).expect("the build has packed it")
    }
}

/// Adds the hashes of a document's inline code to a policy (CSP 3, 2.3.1).
fn with_inline_code(policy: &str, document: &str) -> String {
    let mut policy = policy.to_owned();
    for (directive, start, end) in INLINE_CODE {
        for code in document.split(start).skip(1).filter_map(|rest| rest.split(end).next()) {
            let hash = BASE64.encode(digest(&SHA256, code.as_bytes()));
            let own = format!("{directive} 'self'");
            policy = policy.replace(&own, &format!("{own} 'sha256-{hash}'"));
        }
    }
    policy
}

/// Returns the values in all headers of this name, with their weights (RFC 9110, 12.4.2).
fn weighted<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<(&'a str, f32)> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let one = |one: &'a str| {
        let (value, weight) = one.split_once(';').unwrap_or((one, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse::<f32>().ok());
        (value.trim(), weight.unwrap_or_default())
    };
    values.flat_map(|list| list.split(',')).map(one).collect()
}

/// Checks whether the client names gzip or `*` with a weight above zero (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let codings = weighted(headers, &ACCEPT_ENCODING);
    let weight_of = |wanted: &str| codings.iter().find(|(coding, _)| coding.eq_ignore_ascii_case(wanted));
    weight_of("gzip").or_else(|| weight_of("*")).is_some_and(|(_, weight)| *weight > 0.0)
}

fn media(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
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

/// A part of the build, for its tests.
#[cfg(test)]
#[path = "../build/bundle.rs"]
mod bundle;

#[cfg(test)]
mod tests {
    use pos_till_api::routes::{PassedFor, deadline_of, find};
    use pos_till_api::{Outcome, ProblemType, State};

    use super::*;

    /// The largest number of bytes in the head of an answer. Most of them are the hashes of a document.
    const HEAD: usize = 1000;

    fn page() -> Page {
        Page::embedded("default-src 'none'; script-src 'self'; style-src 'self'")
    }

    /// The documents.
    const DOCUMENTS: [&str; 3] = [CASHIERS, "/customer", "/first-boot"];

    /// Returns an uncompressed document in a language.
    fn document(path: &str, language: &str) -> String {
        String::from_utf8(page().documents[path].languages[language].packed.unpacked()).unwrap()
    }

    /// Returns the words in a document.
    fn words(document: &str) -> serde_json::Map<String, serde_json::Value> {
        let (_, words) = document.split_once("<script type=\"application/json\" id=\"words\">").unwrap();
        serde_json::from_str(words.split_once("</script>").unwrap().0).unwrap()
    }

    /// Returns the uncompressed content of another file.
    fn content(name: &str) -> Vec<u8> {
        page().files[format!("/assets/{name}").as_str()].packed.unpacked()
    }

    #[test]
    fn each_document_says_its_language_and_the_version_of_all_files() {
        let all = ["de", "en", "es", "fr", "it", "nl", "pl"];
        let page = page();
        assert_eq!(page.languages(), all);
        assert!(page.documents.keys().eq(&DOCUMENTS));
        for path in DOCUMENTS {
            assert!(page.documents[path].languages.keys().eq(&all), "{path}");
            for language in all {
                let document = document(path, language);
                assert!(
                    document.starts_with(&format!("<!DOCTYPE html>\n<html lang=\"{language}\" ")),
                    "{document:.60}"
                );
                assert!(document.contains(&format!("<meta name=\"version\" content=\"{VERSION}\">")));
                let marks = ["@VERSION@", "@LANGUAGE@", "@WORDS@", "@ICONS@", "/assets/start.js"];
                let left = marks.iter().find(|mark| document.contains(**mark));
                assert_eq!(left, None, "{path} {language}");
            }
        }
    }

    #[test]
    fn a_document_has_the_words_that_it_needs_in_its_language_and_the_cashiers_others_come_later() {
        for language in page().languages() {
            let first = words(&document(CASHIERS, language));
            let customers = words(&document("/customer", language));
            let all: serde_json::Value = serde_json::from_slice(&content(&format!("{language}.json"))).unwrap();
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("page/words/{language}.json"));
            let written: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            assert_eq!(all, written, "{language}");
            let rest: serde_json::Value = serde_json::from_slice(&content(&format!("{language}-rest.json"))).unwrap();
            let support: serde_json::Value =
                serde_json::from_slice(&content(&format!("{language}-support.json"))).unwrap();
            assert!(first.keys().all(|group| support[group].is_null()), "{language}");
            let parts = [customers.clone(), rest.as_object().unwrap().clone(), support.as_object().unwrap().clone()];
            assert_eq!(serde_json::Value::from_iter(parts.into_iter().flatten()), written, "{language}");
            assert!(
                first["pay"] == all["pay"] && !first.contains_key("reason") && all["reason"].is_object(),
                "{language}"
            );
            // Each document has the words of both, and the customer's words are only in the customer's.
            let own: Vec<&String> = customers.keys().filter(|group| !first.contains_key(*group)).collect();
            assert_eq!(own, ["customer"], "{language}");
            assert!(first.keys().all(|group| customers[group] == first[group]) && rest["customer"].is_null());
            // The document of the first boot has the cashier's first words and its own, as its file of words has.
            let first_boots = words(&document("/first-boot", language));
            let own: Vec<&String> = first_boots.keys().filter(|group| !first.contains_key(*group)).collect();
            assert_eq!((own, first_boots.len()), (vec![&"boot".to_owned()], first.len() + 1), "{language}");
            let file: serde_json::Value =
                serde_json::from_slice(&content(&format!("first-boot-{language}.json"))).unwrap();
            assert_eq!(file, serde_json::Value::Object(first_boots), "{language}");
        }
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

    #[test]
    fn each_file_of_the_page_has_a_name_of_its_own() {
        let page = page();
        let documents: usize = page.documents.values().map(|document| document.languages.len()).sum();
        assert_eq!(documents + page.files.len(), FILES.len());
    }

    /// On a slow connection, the loading time depends on the compressed size. A slow board must read the uncompressed
    /// content. The font comes last: the page is usable without it. `support.js` is loaded only when the terminal's
    /// screen is opened.
    #[test]
    fn the_page_weighs_less_than_60_kb_packed_and_160_kb_unpacked_in_each_language() {
        const FONT: &str = "/assets/counter.woff2";
        const SUPPORT: &str = "/assets/support.js";
        let page = page();
        let font = page.files[FONT].packed;
        assert!((15_000..30_000).contains(&font.bytes), "{} bytes of font", font.bytes);
        for language in page.languages() {
            let words = format!("/assets/{language}-rest.json");
            let is_loaded =
                |path: &str| ![FONT, SUPPORT].contains(&path) && (!path.ends_with(".json") || path == words);
            let loaded = page.files.values().filter(|file| is_loaded(file.packed.path)).map(|file| file.packed);
            let loaded: Vec<&PackedFile> =
                loaded.chain([page.documents[CASHIERS].languages[language].packed]).collect();
            let packed: usize = loaded.iter().map(|file| file.gzip().len()).sum();
            assert!((20_000..60_000).contains(&packed), "{language}: {packed} bytes packed");
            let bytes: u32 = loaded.iter().map(|file| file.bytes).sum();
            assert!((100_000..160_000).contains(&bytes), "{language}: {bytes} bytes");
            let all = packed + font.gzip().len() + (loaded.len() + 1) * HEAD;
            assert!(all < 110_000, "{language}: {all} bytes with the font and the heads of the answers");
            let words = format!("/assets/{language}-support.json");
            let support: usize = [SUPPORT, &words].iter().map(|path| page.files[path].packed.gzip().len()).sum();
            assert!(support < 6_000, "{language}: {support} bytes for the terminal's screen");
        }
    }

    /// A document has all that its first screen needs. That of the first boot has all steps.
    #[test]
    fn each_document_has_at_most_35_kb_packed_in_each_language_and_that_of_the_first_boot_40_kb() {
        for (path, most, unpacked) in [
            (CASHIERS, 35_000, 80_000..110_000),
            ("/customer", 35_000, 50_000..100_000),
            ("/first-boot", 40_000, 80_000..130_000),
        ] {
            for (language, file) in &page().documents[path].languages {
                let packed = file.packed.gzip().len() + HEAD;
                assert!(
                    (20_000..=most).contains(&packed),
                    "{path} {language}: {packed} bytes with the head of the answer"
                );
                assert!(unpacked.contains(&file.packed.bytes), "{path} {language}: {} bytes", file.packed.bytes);
            }
        }
    }

    #[test]
    fn scripts_and_styles_are_served_without_comments_and_blanks() {
        let documents = DOCUMENTS.map(|path| document(path, "en"));
        let between = |start: &str, end: &str| -> Vec<&str> {
            let starts = documents.iter().flat_map(|document| document.split(start).skip(1));
            starts.filter_map(|rest| rest.split(end).next()).collect()
        };
        let styles = between("<style>", "</style>");
        let scripts = between("<script type=\"module\">", "</script>");
        assert_eq!((styles.len(), scripts.len()), (5, 3));
        let later = String::from_utf8(content("later.js")).unwrap();
        let later_style = String::from_utf8(content("later.css")).unwrap();
        for text in styles.iter().chain(&scripts).copied().chain([later.as_str(), later_style.as_str()]) {
            let odd = text.lines().find(|line| line.is_empty() || line.starts_with([' ', '/']));
            assert_eq!(odd, None);
            assert!(!text.contains("/*") && !text.contains("\n//"));
        }
        for style in &styles {
            let blank = ["{ ", " }", "; ", ": "].iter().find(|blank| style.contains(**blank));
            assert_eq!(blank, None, "blanks of a style are for people");
        }
        assert!(styles[0].contains("\"Segoe UI\",Roboto"), "what is quoted stays as it is");
        // Texts for people keep their spaces.
        assert!(later.contains("join(\" · \")"));
    }

    #[test]
    fn the_page_waits_for_each_answer_as_the_table_of_routes_says() {
        let document = document(CASHIERS, "en");
        let (_, script) = document.split_once("const $api=").unwrap();
        let (script, _) = script.split_once("const $").unwrap();
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
        let page = page();
        let names: Vec<&str> = page.files.keys().copied().collect();
        assert!(names.contains(&"/assets/later.js") && names.contains(&"/assets/en.json"), "{names:?}");
        let others = |name: &&str| name.ends_with(".md") || name.contains("test") || name.contains("package.json");
        assert!(!names.iter().any(others), "{names:?}");
    }

    /// Returns an answer to a request with these headers.
    fn answer_to(path: &str, headers: &[(HeaderName, &'static str)]) -> Answer {
        let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        page().answer(path, &headers.collect()).unwrap()
    }

    #[test]
    fn a_client_that_accepts_gzip_gets_a_packed_file_and_others_an_unpacked_one() {
        let length = |answer: &Answer| hyper::body::Body::size_hint(answer.body()).exact().unwrap();
        let file = page().files["/assets/later.js"].packed;
        let (packed, unpacked) = (file.gzip().len(), file.unpacked().len());
        let (packed, unpacked) = (u64::try_from(packed).unwrap(), u64::try_from(unpacked).unwrap());
        assert_eq!(u64::from(file.bytes), unpacked);
        for codings in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.8, *;q=0.1", "*"] {
            let answer = answer_to("/assets/later.js", &[(ACCEPT_ENCODING, codings)]);
            assert_eq!(answer.headers()[CONTENT_ENCODING], "gzip", "{codings}");
            assert_eq!(length(&answer), packed, "{codings}");
        }
        for codings in
            [None, Some("identity"), Some("gzip;q=0"), Some("br, *;q=0"), Some("gzip;q=0, *"), Some("gzip;q")]
        {
            let headers: Vec<_> = codings.into_iter().map(|codings| (ACCEPT_ENCODING, codings)).collect();
            let answer = answer_to("/assets/later.js", &headers);
            assert_eq!(answer.headers().get(CONTENT_ENCODING), None, "{codings:?}");
            assert_eq!(length(&answer), unpacked, "{codings:?}");
        }
        let tags =
            [&[(ACCEPT_ENCODING, "gzip")][..], &[]].map(|headers| answer_to("/", headers).headers()[ETAG].clone());
        assert!(tags[0] == tags[1] && tags[0].to_str().unwrap().starts_with("W/\""), "{tags:?}");
    }

    /// Another program must be able to read the streams that consist of pieces.
    #[test]
    fn each_packed_file_is_one_complete_gzip_stream() {
        use std::io::Read;
        for file in FILES {
            let (stream, mut content) = (file.gzip(), Vec::new());
            let mut decoder = flate2::bufread::GzDecoder::new(stream.as_slice());
            decoder.read_to_end(&mut content).unwrap();
            assert!(decoder.into_inner().is_empty(), "{}: bytes behind the stream", file.path);
            assert_eq!(content, file.unpacked(), "{}", file.path);
        }
    }

    #[test]
    fn the_document_is_in_the_chosen_language_or_in_the_first_one_of_the_browser() {
        for (headers, language) in [
            (&[][..], "en"),
            (&[(ACCEPT_LANGUAGE, "fr-CA,fr;q=0.9,en;q=0.8")], "fr"),
            (&[(ACCEPT_LANGUAGE, "pt-BR, DE;q=0.5, it;q=0.7")], "it"),
            (&[(ACCEPT_LANGUAGE, "de;q=0, nl;q=0.1")], "nl"),
            (&[(ACCEPT_LANGUAGE, "sv, *")], "en"),
            (&[(ACCEPT_LANGUAGE, "fr"), (COOKIE, "pos_session=x; pos_language=pl")], "pl"),
            (&[(ACCEPT_LANGUAGE, "fr"), (COOKIE, "pos_language=sv")], "fr"),
        ] {
            for path in DOCUMENTS {
                let answer = answer_to(path, headers);
                let other = answer_to(path, &[(COOKIE, "pos_language=es")]);
                let tag = page().documents[path].languages[language].weak_tag();
                assert_eq!(answer.headers()[ETAG], tag, "{path} {headers:?}");
                assert_ne!(answer.headers()[ETAG], other.headers()[ETAG]);
                assert_eq!(answer.headers()[VARY], "accept-encoding, accept-language, cookie");
            }
        }
    }

    #[test]
    fn a_document_may_run_its_own_inline_code_and_no_other() {
        for (path, hashes) in DOCUMENTS.into_iter().zip([3, 4, 4]) {
            let answer = answer_to(path, &[]);
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert_eq!(policy.matches("sha256-").count(), hashes, "{path}: {policy}");
            assert!(policy.starts_with("default-src 'none'; script-src 'self' 'sha256-"), "{path}: {policy}");
            // Every inline script has a hash: none has another start tag.
            let document = document(path, "en");
            let scripts = document.matches("<script").count();
            let known = ["<script>", "<script type=\"module\">", "<script type=\"application/json\" id=\"words\">"];
            assert_eq!(scripts, known.iter().map(|tag| document.matches(tag).count()).sum::<usize>(), "{path}");
        }
        // The digest of "a" in base64, as `openssl dgst -sha256 -binary | base64` prints it.
        assert_eq!(
            with_inline_code("script-src 'self'; style-src 'self'", "<style>a</style><script src=\"b\"></script>"),
            "script-src 'self'; style-src 'self' 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"
        );
        let policy = |path: &str| page().documents[path].policy.clone();
        assert_ne!(policy(CASHIERS), policy("/customer"), "each document permits its own code");
        assert_eq!(answer_to("/assets/later.js", &[]).headers().get(CONTENT_SECURITY_POLICY), None);
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        for path in [CASHIERS, "/customer", "/assets/later.js"] {
            let answer = answer_to(path, &[]);
            let tag = answer.headers()[ETAG].clone();
            assert_eq!(answer.status(), StatusCode::OK);
            let again = page().answer(path, &HeaderMap::from_iter([(IF_NONE_MATCH, tag)])).unwrap();
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        }
        assert!(
            DOCUMENTS.iter().all(|path| answer_to(path, &[]).headers()[CONTENT_TYPE] == "text/html; charset=utf-8")
        );
        assert_eq!(answer_to("/assets/later.js", &[]).headers()[CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert!(page().answer("/assets/../later.js", &HeaderMap::new()).is_none());
        for name in ["main.js", "customer.js", "customer.css", "customer.html", "first-boot.js", "first-boot.css"] {
            assert!(page().answer(&format!("/assets/{name}"), &HeaderMap::new()).is_none(), "{name}");
        }
    }
}
