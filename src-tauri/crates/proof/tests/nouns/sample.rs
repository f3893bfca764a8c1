//! Values of every type: each variant, each name of a list, and each field both there and missing, at least once.

use super::read::{Def, Field, Model, Record, Ty, Variant};
use model::{MemoryId, ReceiptId, RelPath, ResourceId, WorkspaceId};
use seal::{Digest, SeedSigner, Signer as _};
use serde_json::{Map, Value, json};

/// Digits of an identifier.
const UUID: &str = "0190a1b2c3d47e8f9a0b1c2d00000001";

impl Model {
    /// Values of the type of this name.
    pub fn samples(&self, name: &str) -> Vec<Value> {
        if let Some(leaf) = leaf(name) {
            return leaf;
        }
        if let Some(prefix) = self.ids.get(name) {
            return vec![json!(format!("{prefix}_{UUID}"))];
        }
        match self.types.get(name).unwrap_or_else(|| panic!("`{name}` has no samples")) {
            Def::Words(words) => words.iter().map(|word| json!(word)).collect(),
            Def::Record(record) => self.records(record),
            Def::Tagged(tag, variants) => {
                let each = variants.iter().flat_map(|(word, variant)| {
                    let members = match variant {
                        Variant::Unit => vec![json!({})],
                        Variant::Fields(record) => self.records(record),
                        Variant::Newtype(ty) => self.of(ty),
                    };
                    members.into_iter().map(move |mut value| {
                        value[tag] = json!(word);
                        value
                    })
                });
                each.collect()
            }
            Def::Plain(variants) => variants
                .iter()
                .flat_map(|(word, ty)| match ty {
                    None => vec![json!(word)],
                    Some(ty) => {
                        self.of(ty).into_iter().map(|value| json!({ word.as_str(): value })).collect()
                    }
                })
                .collect(),
        }
    }

    /// Payloads of the event of this type.
    pub fn payloads(&self, event_type: &str) -> Vec<Value> {
        let found = self.bodies.iter().find(|(name, ..)| name == event_type);
        let (.., fields) = found.unwrap_or_else(|| panic!("no body `{event_type}`"));
        self.members(fields)
    }

    fn of(&self, ty: &Ty) -> Vec<Value> {
        match ty {
            Ty::Named(name) => self.samples(name),
            Ty::Option(inner) => std::iter::once(Value::Null).chain(self.of(inner)).collect(),
            Ty::List(inner) => vec![json!(self.of(inner)), json!([])],
            Ty::Map(inner) => vec![json!({ "name": self.of(inner).swap_remove(0) })],
            Ty::Sensitive(inner) => {
                self.of(inner).into_iter().map(|value| json!({ "$plain": value })).collect()
            }
            Ty::Slot(inner) => {
                let values = self.of(inner).into_iter().map(|value| json!({ "value": value }));
                values
                    .chain(self.samples("Absence").into_iter().map(|why| json!({ "absent": why })))
                    .collect()
            }
        }
    }

    fn records(&self, record: &Record) -> Vec<Value> {
        self.members(&record.fields)
    }

    /// As many objects as it takes for every value of every field to be in one of them.
    fn members(&self, fields: &[Field]) -> Vec<Value> {
        let values: Vec<(&Field, Vec<Value>)> =
            fields.iter().map(|field| (field, self.of(&field.ty))).collect();
        let most = values.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let object = |n: usize| {
            let mut members = Map::new();
            for (field, values) in &values {
                let value = values[n % values.len()].clone();
                // What is empty is left out where its type says so.
                let is_empty = [json!(null), json!([]), json!({}), json!(false)].contains(&value);
                if !(field.is_skipped && is_empty) {
                    members.insert(field.name.clone(), value);
                }
            }
            Value::Object(members)
        };
        (0..most).map(object).collect()
    }
}

fn leaf(name: &str) -> Option<Vec<Value>> {
    Some(match name {
        "String" => vec![json!("a text, Ünïcode/\u{1F4C1}")],
        "bool" => vec![json!(true), json!(false)],
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" => vec![json!(7)],
        "i64" | "UnixMs" => vec![json!(1_760_000_000_000_i64)],
        "Digest" => vec![json!(Digest::of(b"a sample").to_string())],
        "StateSubject" => vec![json!("memory:everywhere"), json!(format!("memory:{}", Digest::ZERO))],
        "RelPath" => vec![json!(path().to_string()), json!("")],
        "ResourceId" => resources().into_iter().map(|resource| json!(resource.to_string())).collect(),
        "WebUrl" => vec![json!("https://example.org/a?b=%20c"), json!("http://[::1]:8080/")],
        "PublicKey" => vec![json!(SeedSigner::from_seed([5; 32]).public())],
        "Value" => vec![json!({ "any": ["thing", 1, null] })],
        _ => return None,
    })
}

fn path() -> RelPath {
    "notes/%C3%9C%20%25.txt".parse().unwrap()
}

fn resources() -> Vec<ResourceId> {
    let workspace: WorkspaceId = format!("wsp_{UUID}").parse().unwrap();
    let memory: MemoryId = format!("mem_{UUID}").parse().unwrap();
    let receipt: ReceiptId = format!("rcp_{UUID}").parse().unwrap();
    let next = |before: Option<&ResourceId>| match before {
        None => Some(ResourceId::File(workspace, path())),
        Some(ResourceId::File(..)) => Some(ResourceId::Host("example.org".to_owned(), 443)),
        Some(ResourceId::Host(..)) => Some(ResourceId::Ref(workspace, "refs/heads/main".to_owned())),
        Some(ResourceId::Ref(..)) => Some(ResourceId::Mcp("server".to_owned(), "tool".to_owned())),
        Some(ResourceId::Mcp(..)) => Some(ResourceId::Secret("handle".to_owned())),
        Some(ResourceId::Secret(_)) => Some(ResourceId::Memory(memory)),
        Some(ResourceId::Memory(_)) => Some(ResourceId::Receipt(receipt)),
        Some(ResourceId::Receipt(_)) => Some(ResourceId::Rules),
        Some(ResourceId::Rules) => Some(ResourceId::Skill("deploy".to_owned())),
        Some(ResourceId::Skill(_)) => Some(ResourceId::Schedule("morning".to_owned())),
        Some(ResourceId::Schedule(_)) => Some(ResourceId::Skin("harbour".to_owned())),
        Some(ResourceId::Skin(_)) => Some(ResourceId::Gateway("family".to_owned())),
        Some(ResourceId::Gateway(_)) => Some(ResourceId::Chat("family".to_owned(), "!room/1".to_owned())),
        Some(ResourceId::Chat(..)) => Some(ResourceId::Soul),
        Some(ResourceId::Soul) => Some(ResourceId::Successor),
        Some(ResourceId::Successor) => None,
    };
    std::iter::successors(next(None), |before| next(Some(before))).collect()
}
