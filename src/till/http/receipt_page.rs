//! A receipt as a web page. The page is self-contained and has no script, and external texts cannot become markup.

use std::fmt::Write as _;

use crate::till::{ReceiptRowIs, ReceiptRowView, ReceiptView};

/// The content security policy of the page, which allows only display.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/// The style: black on white, as on paper, with the width of the text.
const STYLE: &str = "body{background:#fff;color:#000;font:1rem/1.4 ui-monospace,monospace;margin:1rem auto;padding:0 1rem}\
    p{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}hr{border:0;border-top:1px dashed}.centred,.bold,.large,.amount{text-align:center}\
    .bold,.large,.amount{font-weight:bold}.large,.amount{font-size:1.4em}.pair{display:flex;gap:1ch;justify-content:space-between}\
    .pair span+span{text-align:end}.signature-line::after{border-bottom:1px solid;content:'';display:block;height:4em}";

/// Makes the page.
pub(super) fn receipt_page(receipt: &ReceiptView) -> String {
    let ReceiptView { language, width, rows, reference, .. } = receipt;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
         <style>{STYLE}body{{max-width:{width}ch}}</style>\n</head>\n<body>\n<main>\n",
        escaped(language),
        escaped(reference.as_str()),
    );
    rows.iter().for_each(|row| put(&mut page, row));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn put(page: &mut String, ReceiptRowView { is, text, value }: &ReceiptRowView) {
    let (text, value) = (escaped(text), escaped(value));
    let class = match is {
        ReceiptRowIs::Rule => return page.push_str("<hr>\n"),
        ReceiptRowIs::Pair => {
            let pair = writeln!(page, "<p class=\"pair\"><span>{text}</span> <span>{value}</span></p>");
            return pair.unwrap_or_default();
        }
        ReceiptRowIs::Left => "left",
        ReceiptRowIs::Centred => "centred",
        ReceiptRowIs::Bold => "bold",
        ReceiptRowIs::Large => "large",
        ReceiptRowIs::Amount => "amount",
        ReceiptRowIs::Status => "status",
        ReceiptRowIs::SignatureLine => "signature-line",
    };
    writeln!(page, "<p class=\"{class}\">{text}</p>").unwrap_or_default();
}

/// Escapes the characters that HTML would interpret, for text between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::transaction::{ReceiptCopy, Reference, SaleNumber};

    #[test]
    fn a_text_from_outside_stays_a_text() {
        let strange = "</p></style></title><script>alert(1)</script><img src=x onerror='a()'>\" onload=\"a()&lt;";
        let all = [
            ReceiptRowIs::Rule,
            ReceiptRowIs::Left,
            ReceiptRowIs::Centred,
            ReceiptRowIs::Bold,
            ReceiptRowIs::Large,
            ReceiptRowIs::Amount,
            ReceiptRowIs::Pair,
            ReceiptRowIs::Status,
            ReceiptRowIs::SignatureLine,
        ];
        let row = |is: &ReceiptRowIs| ReceiptRowView { is: *is, text: strange.to_owned(), value: strange.to_owned() };
        let receipt = |rows, name: &str| ReceiptView {
            till: name.to_owned(),
            reference: Reference::as_kept(name.to_owned()),
            number: SaleNumber::new(1),
            copy: ReceiptCopy::Customer,
            language: name.to_owned(),
            width: 42,
            text: name.to_owned(),
            rows,
        };
        let page = receipt_page(&receipt(all.iter().map(row).collect(), strange));
        // The page has as many tags and quotation marks as without the text.
        let tags = |page: &str| page.matches(['<', '"', '\'']).count();
        let plain = receipt_page(&receipt(
            all.iter().map(|is| ReceiptRowView { text: "x".into(), value: "y".into(), ..row(is) }).collect(),
            "x",
        ));
        assert_eq!(tags(&page), tags(&plain));
        assert!(!page.contains("<script") && !page.contains("<img") && page.contains("&amp;lt;"));
        // A rule has no text, and a pair has two. The language and the title also contain the text.
        assert_eq!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count(), all.len() + 2);
    }
}
