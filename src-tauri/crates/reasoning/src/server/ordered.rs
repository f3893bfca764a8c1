//! JSON with the order that a grammar needs: a server that turns a schema into a grammar makes the model write
//! properties in the order in which the schema lists them, and a model must name its tool before its arguments.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// A schema, written with the properties of each object in the order of its `required`, then by name.
#[derive(Debug, Clone, Copy)]
pub struct Ordered<'a>(pub &'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                let required = model::proposal::required(self.0);
                for (key, value) in object {
                    match value {
                        Value::Object(_) if key == "properties" => {
                            map.serialize_entry(key, &Properties { value, first: &required })?;
                        }
                        _ => map.serialize_entry(key, &Ordered(value))?,
                    }
                }
                map.end()
            }
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Ordered(item))?;
                }
                seq.end()
            }
            leaf => leaf.serialize(serializer),
        }
    }
}

struct Properties<'a> {
    value: &'a Value,
    first: &'a [&'a str],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let rank = |key: &str| self.first.iter().position(|f| *f == key).unwrap_or(usize::MAX);
        let mut entries: Vec<(&String, &Value)> = self.value.as_object().into_iter().flatten().collect();
        entries.sort_by(|a, b| rank(a.0).cmp(&rank(b.0)).then_with(|| a.0.cmp(b.0)));
        for (key, value) in entries {
            map.serialize_entry(key, &Ordered(value))?;
        }
        map.end()
    }
}
