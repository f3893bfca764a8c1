//! Templates: words with `{names}` in them, and a few filters. They cannot loop, call or fail.

use super::value::{Value, code, csv, human_size};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use std::fmt;

/// The filters, as error messages list them.
const FILTERS: &str = "lower, upper, trim, slash, csv, code, size, or:WORDS, of:ONE:MANY";

/// A text with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(String),
    Name { name: String, filters: Vec<Filter> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    Lower,
    Upper,
    Trim,
    Slash,
    Csv,
    Code,
    Size,
    Or(String),
    Of(String, String),
}

/// Where names get their values.
pub trait Names {
    /// The value of a name; nothing when it has none here.
    fn value(&self, name: &str) -> Option<Value>;
}

impl Template {
    /// Reads `words {name|filter} words`; `{{` and `}}` are the braces themselves.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut words = String::new();
        let mut rest = source.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '{' | '}' if rest.peek() == Some(&c) => {
                    rest.next();
                    words.push(c);
                }
                '}' => {
                    return Err(format!(
                        "`{source}` has a `}}` without its `{{`; write `}}}}` for the brace itself"
                    ));
                }
                '{' => {
                    let inner: String = rest.by_ref().take_while(|c| *c != '}').collect();
                    if source.ends_with(&format!("{{{inner}")) {
                        return Err(format!(
                            "`{source}` has a `{{` without its `}}`; write `{{{{` for the brace itself"
                        ));
                    }
                    // A regular expression's `{4}` and `{2,}` are no places: names begin with a letter.
                    if inner.starts_with(|c: char| c.is_ascii_digit() || c == ',') {
                        words.push_str(&format!("{{{inner}}}"));
                        continue;
                    }
                    if !words.is_empty() {
                        parts.push(Part::Words(std::mem::take(&mut words)));
                    }
                    parts.push(place(&inner)?);
                }
                other => words.push(other),
            }
        }
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
        Ok(Self { source: source.to_owned(), parts })
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names it uses.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Name { name, .. } => Some(name.as_str()),
            Part::Words(_) => None,
        })
    }

    /// Filled in; a path's bytes stay bytes. A name without a value is empty.
    pub fn value(&self, names: &dyn Names) -> Value {
        let filled: Vec<Value> = self.parts.iter().map(|part| fill(part, names)).collect();
        if filled.iter().any(|value| matches!(value, Value::Raw(_))) {
            Value::Raw(filled.iter().flat_map(|value| value.bytes().iter().copied()).collect())
        } else {
            Value::Text(filled.iter().map(Value::text).collect())
        }
    }

    /// Filled in, readable.
    pub fn text(&self, names: &dyn Names) -> String {
        self.parts.iter().map(|part| fill(part, names).text()).collect()
    }
}

fn place(inner: &str) -> Result<Part, String> {
    let mut pieces = inner.split('|').map(str::trim);
    let name = pieces.next().unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(format!("`{{{inner}}}` does not begin with a name of letters, digits, `_` and `.`"));
    }
    let filters = pieces.map(filter).collect::<Result<_, _>>()?;
    Ok(Part::Name { name: name.to_owned(), filters })
}

fn filter(text: &str) -> Result<Filter, String> {
    let mut words = text.split(':');
    let found = match (words.next().unwrap_or_default(), words.next(), words.next(), words.next()) {
        ("lower", None, ..) => Filter::Lower,
        ("upper", None, ..) => Filter::Upper,
        ("trim", None, ..) => Filter::Trim,
        ("slash", None, ..) => Filter::Slash,
        ("csv", None, ..) => Filter::Csv,
        ("code", None, ..) => Filter::Code,
        ("size", None, ..) => Filter::Size,
        ("or", Some(words), None, _) => Filter::Or(words.to_owned()),
        ("of", Some(one), Some(many), None) => Filter::Of(one.to_owned(), many.to_owned()),
        _ => return Err(format!("`{text}` is no filter; there are {FILTERS}")),
    };
    Ok(found)
}

fn fill(part: &Part, names: &dyn Names) -> Value {
    match part {
        Part::Words(words) => Value::Text(words.clone()),
        Part::Name { name, filters } => {
            let start = names.value(name).unwrap_or_else(|| Value::Text(String::new()));
            filters.iter().fold(start, |value, filter| filter.apply(&value))
        }
    }
}

impl Filter {
    fn apply(&self, value: &Value) -> Value {
        match self {
            Self::Lower => value.map(str::to_lowercase),
            Self::Upper => value.map(str::to_uppercase),
            Self::Trim => value.map(|text| text.trim().to_owned()),
            Self::Slash if value.bytes().is_empty() || value.bytes().ends_with(b"/") => value.clone(),
            Self::Slash => match value {
                Value::Text(text) => Value::Text(format!("{text}/")),
                Value::Raw(bytes) => Value::Raw(bytes.iter().copied().chain(*b"/").collect()),
            },
            Self::Csv => Value::Text(csv(value)),
            Self::Code => Value::Text(code(&value.text())),
            Self::Size => Value::Text(value.text().parse().map_or_else(|_| value.text(), human_size)),
            Self::Or(words) if value.bytes().is_empty() => Value::Text(words.clone()),
            Self::Or(_) => value.clone(),
            Self::Of(one, many) => {
                let count = value.text();
                let noun = if count == "1" { one } else { many };
                Value::Text(format!("{count} {noun}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Template;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, such as \"{folder|slash}{name}\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Template, E> {
                Template::parse(text).map_err(E::custom)
            }
            fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Template, E> {
                self.visit_str(if value { "true" } else { "false" })
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Template, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Template, E> {
                self.visit_str(&value.to_string())
            }
        }
        deserializer.deserialize_any(Words).map_err(D::Error::custom)
    }
}
