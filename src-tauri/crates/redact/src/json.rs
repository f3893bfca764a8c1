//! JSON stays JSON: its strings are redacted one by one.

use crate::redactor::{Clean, Found, Redactor};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// Members that name things, whose values look like keys at times and are none.
const NAMES: [&str; 14] = [
    "path", "from", "to", "op", "name", "sha256", "target", "base64", "argv", "cwd", "method", "pattern",
    "glob", "resource",
];

impl Redactor {
    /// A JSON value without values. With `shapes`, contents lose what looks like a key, too; names keep it.
    pub fn json(&self, mut value: Value, shapes: bool) -> Clean<Value> {
        let mut found = Found::new();
        self.walk(&mut value, shapes, &mut found);
        Clean { rest: value, found }
    }

    /// As [`Redactor::json`] for bytes that are JSON; none when they are not, or when nothing was taken out.
    pub fn json_bytes(&self, bytes: &[u8], shapes: bool) -> Option<Clean<Value>> {
        if self.is_empty() && !shapes {
            return None;
        }
        let clean = self.json(serde_json::from_slice(bytes).ok()?, shapes);
        (!clean.found.is_empty()).then_some(clean)
    }

    /// Bytes that stand here in base64 are looked at as the bytes they are: they may hold any form of a value. Which
    /// members those are.
    fn unwrapped(&self, members: &mut Map<String, Value>, shapes: bool, found: &mut Found) -> Vec<String> {
        let said =
            |name: &str| members.get(&format!("{name}_encoding")).and_then(Value::as_str) == Some("base64");
        let names: Vec<String> =
            members.keys().filter(|name| *name == "base64" || said(name)).cloned().collect();
        for name in &names {
            let Some(Value::String(text)) = members.get_mut(name) else { continue };
            let Ok(bytes) = STANDARD.decode(&*text) else { continue };
            let (rest, lost) = match std::str::from_utf8(&bytes) {
                Ok(inside) if shapes => {
                    let clean = self.text(inside);
                    (clean.rest.into_owned().into_bytes(), clean.found)
                }
                _ => {
                    let clean = self.bytes(&bytes);
                    (clean.rest.into_owned(), clean.found)
                }
            };
            if !lost.is_empty() {
                *text = STANDARD.encode(rest);
                add(found, lost);
            }
        }
        names
    }

    fn walk(&self, value: &mut Value, shapes: bool, found: &mut Found) {
        match value {
            Value::String(text) => {
                let clean = if shapes { self.text(text) } else { self.values(text) };
                if !clean.found.is_empty() {
                    let rest = clean.rest.into_owned();
                    add(found, clean.found);
                    *text = rest;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, shapes, found)),
            Value::Object(members) => {
                if members.keys().any(|name| !self.is_empty() && !self.holds(name.as_bytes()).is_empty()) {
                    let named = std::mem::take(members).into_iter().map(|(name, value)| {
                        let clean = self.values(&name);
                        add(found, clean.found.clone());
                        (clean.rest.into_owned(), value)
                    });
                    *members = named.collect();
                }
                let unwrapped = self.unwrapped(members, shapes, found);
                for (name, value) in members {
                    let plain = !NAMES.contains(&name.as_str()) && !unwrapped.contains(name);
                    self.walk(value, shapes && plain, found);
                }
            }
            Value::Number(number) if !self.is_empty() => {
                let digits = number.to_string();
                let clean = self.values(&digits);
                if !clean.found.is_empty() {
                    let rest = clean.rest.into_owned();
                    add(found, clean.found);
                    *value = Value::String(rest);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn add(all: &mut Found, more: Found) {
    for (kind, times) in more {
        *all.entry(kind).or_default() += times;
    }
}
