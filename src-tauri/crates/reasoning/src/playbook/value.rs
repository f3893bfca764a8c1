//! Values of templates: words, and paths as bytes, each with its readable form.

use model::visible::is_hidden;
use std::fmt::Write;

/// What a name in a template stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Words.
    Text(String),
    /// A path, or a part of one: bytes as the file system knows them.
    Raw(Vec<u8>),
}

impl Value {
    /// As bytes of a path.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }

    /// As text of a file or a summary; a path's bytes in their readable form.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Raw(bytes) => readable(bytes),
        }
    }

    /// The same value with other words.
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(text)),
            // A name that is not UTF-8 keeps its bytes: nothing that works on letters can be right about them.
            Self::Raw(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Raw(change(text).into_bytes()),
                Err(_) => self.clone(),
            },
        }
    }
}

/// A path for reading: UTF-8 as it is; `%`, control and invisible characters, and bytes that are not UTF-8 as `%XX`.
/// [`from_readable`] gives the bytes back.
pub fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '%' || is_hidden(c) {
                let mut buffer = [0; 4];
                escape(&mut text, c.encode_utf8(&mut buffer).as_bytes());
            } else {
                text.push(c);
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// The bytes that [`readable`] was given; a `%` without two digits behind it stands for itself.
pub fn from_readable(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = if *first == b'%' { tail.get(..2).and_then(two_digits) } else { None };
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    bytes
}

fn two_digits(pair: &[u8]) -> Option<u8> {
    if !pair.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing into a string cannot fail.
        let _ = write!(text, "%{byte:02X}");
    }
}

/// One cell of CSV. What a spreadsheet would take for a formula is spelled with `%XX` at its head.
pub fn csv(value: &Value) -> String {
    let mut text = value.text();
    let first = text.chars().next();
    if let (Some(first @ ('=' | '+' | '-' | '@')), Value::Raw(_)) = (first, value) {
        text = format!("%{:02X}{}", u32::from(first), text.chars().skip(1).collect::<String>());
    }
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// Rows of CSV as RFC 4180 has them, quoted line ends included.
pub fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut any) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        any = true;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => quoted = true,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
                any = false;
            }
            other => cell.push(other),
        }
    }
    if any {
        row.push(cell);
        rows.push(row);
    }
    rows
}

/// Inline code of Markdown, whatever backticks the text holds.
pub fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Bytes for people.
pub fn human_size(bytes: u64) -> String {
    let mut unit = 1u64;
    for name in ["bytes", "kB", "MB", "GB", "TB"] {
        let next = unit.saturating_mul(1000);
        if bytes < next || name == "TB" {
            let (whole, tenth) = (bytes / unit, bytes % unit * 10 / unit);
            return match (name, whole) {
                ("bytes", 1) => "1 byte".to_owned(),
                ("bytes", _) => format!("{bytes} bytes"),
                (_, 0..10) => format!("{whole}.{tenth} {name}"),
                _ => format!("{whole} {name}"),
            };
        }
        unit = next;
    }
    String::new()
}

/// A moment of UTC, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    year: i64,
    month: i64,
    day: i64,
    second: i64,
}

impl Moment {
    /// From milliseconds since 1970, by the civil calendar.
    pub const fn of(ms: i64) -> Self {
        let seconds = ms.div_euclid(1000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Days are counted in eras of 400 years that begin on 1 March, so that a leap day is the last of its year.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
        Self { year, month, day, second }
    }

    /// `2026`.
    pub fn year(self) -> String {
        format!("{:04}", self.year)
    }

    /// `03`.
    pub fn month(self) -> String {
        format!("{:02}", self.month)
    }

    /// `2026-03-01`.
    pub fn date(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `2026-03-01T12:30:05Z`.
    pub fn full(self) -> String {
        let (h, m, s) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        format!("{}T{h:02}:{m:02}:{s:02}Z", self.date())
    }
}
