//! The shop's logo, which the page shows before the shop's name (`[page] logo`). Its content decides its type.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

use crate::problem::{Answer, whole};

/// The largest file in bytes. It shares the shop's network with the payments, and each page loads it.
const LARGEST: usize = 64 * 1024;

/// An image.
#[derive(Clone, Debug)]
pub(crate) struct Logo {
    content: Bytes,
    media: &'static str,
}

impl Logo {
    /// Reads a file.
    ///
    /// # Errors
    /// The fault and its remedy, when the file cannot be read, is too large, or is no image of a known type.
    pub(crate) fn read(path: &Path) -> Result<Self, (String, &'static str)> {
        let mut content = Vec::new();
        let most = u64::try_from(LARGEST).unwrap_or(u64::MAX).saturating_add(1);
        File::open(path)
            .and_then(|file| file.take(most).read_to_end(&mut content))
            .map_err(|error| (format!("{}: {error}", path.display()), "give pos-front the right to read the file"))?;
        if content.len() > LARGEST {
            return Err((format!("{}: larger than {LARGEST} bytes", path.display()), "use a smaller image"));
        }
        let media = media(&content).ok_or_else(|| {
            (format!("{}: not an image of a known type", path.display()), "use SVG, PNG, JPEG or WebP")
        })?;
        Ok(Self { content: content.into(), media })
    }

    /// Returns the answer with the image.
    pub(crate) fn answer(&self) -> Answer {
        let mut answer = Answer::new(whole(self.content.clone()));
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
        // The page loads it once; a new one is shown within the hour.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
        answer
    }
}

fn media(content: &[u8]) -> Option<&'static str> {
    match content {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => std::str::from_utf8(content).is_ok_and(|text| text.contains("<svg")).then_some("image/svg+xml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_the_type() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("logo");
        for (content, expected) in [
            (&b"\x89PNG\r\n\x1a\n"[..], Ok("image/png")),
            (b"\xFF\xD8\xFF\xE0", Ok("image/jpeg")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Ok("image/webp")),
            (b"<?xml version=\"1.0\"?>\n<svg/>", Ok("image/svg+xml")),
            (b"<html>", Err("not an image of a known type")),
            (b"", Err("not an image of a known type")),
            (&[b'x'; LARGEST + 1], Err("larger than 65536 bytes")),
        ] {
            std::fs::write(&file, content).unwrap();
            match (Logo::read(&file), expected) {
                (Ok(logo), Ok(media)) => assert_eq!(logo.media, media),
                (Err((wrong, _)), Err(part)) => assert!(wrong.contains(part), "{wrong}"),
                (read, expected) => panic!("{read:?}, expected {expected:?}"),
            }
        }
        assert!(Logo::read(&folder.path().join("absent")).unwrap_err().0.contains("No such file"));
    }
}
