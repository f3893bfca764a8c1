//! Every way to change one field of an object, found in its JSON, so that a field that comes later is covered.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// `(pointer, object with that one field changed)`. Panics when a leaf cannot be changed at all: then a candidate
/// is missing below, and the field would go untested.
pub(crate) fn every_change<T: Serialize + DeserializeOwned + PartialEq>(object: &T) -> Vec<(String, T)> {
    let whole = serde_json::to_value(object).expect("it is JSON");
    let mut pointers = Vec::new();
    walk("", &whole, &mut pointers);
    let mut found = Vec::new();
    for pointer in pointers {
        let before = whole.pointer(&pointer).expect("it was just found").clone();
        let changed: Vec<T> = candidates(&before)
            .into_iter()
            .filter_map(|candidate| {
                let mut copy = whole.clone();
                *copy.pointer_mut(&pointer).expect("it was just found") = candidate;
                serde_json::from_value::<T>(copy).ok().filter(|changed| changed != object)
            })
            .collect();
        assert!(!changed.is_empty(), "`{pointer}` cannot be changed; it holds {before}");
        found.extend(changed.into_iter().map(|changed| (pointer.clone(), changed)));
    }
    found
}

/// Leaves, and lists as a whole too.
fn walk(pointer: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                // A tag alone cannot change without what belongs to it; those fields are changed one by one.
                if !["op", "tool", "found", "by"].contains(&name.as_str()) {
                    walk(&format!("{pointer}/{name}"), inner, out);
                }
            }
        }
        Value::Array(list) => {
            out.push(pointer.to_owned());
            for (at, inner) in list.iter().enumerate() {
                walk(&format!("{pointer}/{at}"), inner, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push(pointer.to_owned()),
    }
}

const NAMES: [&str; 27] = [
    "GET",
    "DELETE",
    "deny",
    "allow",
    "require_approval",
    "low",
    "critical",
    "read_local",
    "delete_local",
    "payment",
    "readonly_analysis",
    "destructive_denied",
    "reversible",
    "irreversible",
    "pending",
    "granted",
    "run_api",
    "terminal",
    "standing",
    "path_glob",
    "absent",
    "nothing",
    "lease",
    "untrusted",
    "empty_folder",
    "copy",
    "landlock",
];

fn candidates(value: &Value) -> Vec<Value> {
    let names = || NAMES.iter().map(|name| json!(name));
    match value {
        Value::Null => vec![
            json!("x"),
            json!(1),
            json!("ab".repeat(32)),
            json!("art_01900000000070008000000000000063"),
            json!("prn_01900000000070008000000000000063"),
        ],
        Value::Bool(truth) => vec![json!(!truth)],
        Value::Number(number) => {
            let number = number.as_i64().expect("an integer");
            vec![json!(number + 1), json!(number - 1)]
        }
        Value::String(text) => {
            let mut out: Vec<Value> = names().collect();
            out.push(json!(format!("{text}x")));
            out.push(json!(format!("{text}\u{202e}")));
            let mut other = text.clone();
            if let Some(last) = other.pop() {
                other.push(if last == '0' { '1' } else { '0' });
                out.push(json!(other));
            }
            out
        }
        Value::Array(list) => {
            let mut out = vec![json!([])];
            let mut doubled = list.clone();
            doubled.extend(list.first().cloned());
            out.push(json!(doubled));
            let mut turned = list.clone();
            turned.reverse();
            out.push(json!(turned));
            out.push(json!(["x"]));
            out.push(json!(["art_01900000000070008000000000000063"]));
            out.push(json!(["host:example.org:443"]));
            out.push(json!([{"resource": "host:example.org:443", "state": {"found": "absent"}}]));
            out
        }
        Value::Object(_) => Vec::new(),
    }
}
