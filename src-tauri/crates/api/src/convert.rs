//! Shapes that many conversions share.

use crate::Wire as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Sensitive;
use projections::{Ask, Cursor, Page};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;
use wire::{Error, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, Text};

/// A leaf as words.
pub(crate) fn text(leaf: &Sensitive<String>) -> Text {
    match leaf {
        Sensitive::Shown(text) => Text::Shown(text.clone()),
        Sensitive::Erased(digest) => Text::Erased { erased: digest.to_string() },
    }
}

pub(crate) fn opt_text(leaf: Option<&Sensitive<String>>) -> Option<Text> {
    leaf.map(text)
}

pub(crate) fn opt(value: Option<impl Display>) -> Option<String> {
    value.map(|value| value.to_string())
}

pub(crate) fn all<T: Display>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// A word of a closed list, or why it is none.
pub(crate) fn word<T: FromStr<Err: Into<model::Error>>>(text: &str) -> Result<T, Error> {
    text.parse::<T>().map_err(Into::into).wire()
}

pub(crate) fn opt_word<T: FromStr<Err: Into<model::Error>>>(text: Option<&str>) -> Result<Option<T>, Error> {
    text.map(word).transpose()
}

/// Which part of a list is wanted.
pub(crate) fn ask(after: Option<&str>, limit: Option<u32>) -> Result<Ask, Error> {
    let after = after.map(str::parse::<Cursor>).transpose().wire()?;
    Ok(Ask { after, limit: rows(limit)?, ..Ask::default() })
}

/// How many rows: what is asked for, within the cap.
pub(crate) fn rows(limit: Option<u32>) -> Result<u32, Error> {
    match limit {
        None => Ok(PAGE_ROWS_DEFAULT),
        Some(rows @ 1..=PAGE_ROWS_MAX) => Ok(rows),
        Some(rows) => {
            Err(crate::usage(format!("`limit` is {rows}, and a page has 1 to {PAGE_ROWS_MAX} rows")))
        }
    }
}

pub(crate) fn page<R, T>(page: Page<R>, row: impl FnMut(&R) -> T) -> wire::Page<T> {
    wire::Page { rows: page.rows.iter().map(row).collect(), next: opt(page.next) }
}

/// Every row of a list, page by page.
pub(crate) fn every<R>(
    mut part: impl FnMut(Ask) -> Result<Page<R>, projections::Error>,
) -> Result<Vec<R>, Error> {
    let mut ask = Ask::ALL.oldest_first();
    let mut found = Vec::new();
    loop {
        let page = part(ask).wire()?;
        found.extend(page.rows);
        match page.next {
            Some(next) => ask = ask.after(Some(next)),
            None => return Ok(found),
        }
    }
}

/// A revealed document without marks: `{"$plain": v}` becomes `v`, `{"$sd": d}` becomes `{"erased": d}`.
pub(crate) fn plain(value: Value) -> Value {
    match value {
        Value::Object(mut fields) if fields.len() == 1 => {
            if let Some(shown) = fields.remove("$plain") {
                return plain(shown);
            }
            if let Some(digest) = fields.remove("$sd") {
                return Value::Object(Map::from_iter([("erased".to_owned(), digest)]));
            }
            Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect())
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        other => other,
    }
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn from_base64(what: &str, text: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(text.trim()).map_err(|e| crate::usage(format!("`{what}` is no base64: {e}")))
}
