//! The shapes in TypeScript, each behind those that it is made of.

use super::read::{Def, Field, Model, Record, Ty, Variant};
use std::collections::BTreeSet;

/// What a bundle holds besides bodies of events.
const RECORDS: [&str; 9] = [
    "Event",
    "Statement",
    "AuditEntry",
    "PolicyResult",
    "ApprovalPacket",
    "ApprovalDecision",
    "StandingGrant",
    "PasskeyEnrolment",
    "CapabilityGrant",
];

/// The module `nouns.ts`: these bodies, the records, and the constants that stand in them.
pub fn module(model: &Model, bodies: &[String], constants: &[(&str, String)]) -> String {
    let mut emit = Emit { model, done: BTreeSet::new(), shapes: String::new() };
    for name in RECORDS {
        emit.shape(&Ty::Named(name.to_owned()));
    }
    let bodies: String = bodies
        .iter()
        .map(|body| {
            let found = model.bodies.iter().find(|(event_type, ..)| event_type == body);
            let (event_type, version, fields) = found.unwrap_or_else(|| panic!("no body `{body}`"));
            assert_eq!(*version, 1, "`{event_type}`: the verifier knows first versions only");
            format!("  \"{event_type}\": {},\n", emit.object(fields, true))
        })
        .collect();
    let types: String =
        RECORDS.iter().map(|name| format!("export type {name} = Of<typeof {}>;\n", camel(name))).collect();
    let constants: String =
        constants.iter().map(|(name, value)| format!("export const {name} = {value};\n")).collect();
    let registry: String =
        model.bodies.iter().map(|(event_type, ..)| format!("  \"{event_type}\",\n")).collect();
    format!(
        "/**\n * What a bundle holds: events, receipts, and the objects of authority.\n *\n * Made from the rooms `model` and `acts` by \
         `src-tauri/crates/proof/tests/nouns/mod.rs`, which says how; never edited.\n */\n\
         import {{ relPath, resource, webUrl }} from \"../read/resource.ts\";\n\
         import {{ array, boolean, defaulted, digest, i32, id, integer, json, names, nullable, object, record, sensitive, slot, \
         string, tagged, u16, u32, u64, variant, type Of }} from \"../read/shape.ts\";\n\n{constants}\n{}\n{types}\n\
         /** Bodies that other files of a bundle must agree with, by type; all of them are version 1. */\n\
         export const BODIES = {{\n{bodies}}};\n\n\
         /** Every event type this program knows, in the order of the registry. */\n\
         export const REGISTRY = [\n{registry}] as const;\n\
         export type EventType = (typeof REGISTRY)[number];\n",
        emit.shapes
    )
}

struct Emit<'a> {
    model: &'a Model,
    done: BTreeSet<String>,
    shapes: String,
}

impl Emit<'_> {
    /// The expression for a type; what it names is declared before.
    fn shape(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Named(name) => self.named(name),
            Ty::Option(inner) => {
                panic!("only a field may be `Option`, and here it is of {}", self.shape(inner))
            }
            Ty::List(inner) => format!("array({})", self.shape(inner)),
            Ty::Map(inner) => format!("record({})", self.shape(inner)),
            Ty::Sensitive(inner) => format!("sensitive({})", self.shape(inner)),
            Ty::Slot(inner) => format!("slot({})", self.shape(inner)),
        }
    }

    fn named(&mut self, name: &str) -> String {
        let leaf = match name {
            "String" => "string",
            "bool" => "boolean",
            "u16" | "u32" | "u64" | "i32" => name,
            "i64" | "UnixMs" => "integer",
            "Digest" => "digest",
            "RelPath" => "relPath",
            "ResourceId" => "resource",
            "WebUrl" => "webUrl",
            "Value" => "json",
            _ => "",
        };
        if !leaf.is_empty() {
            return leaf.to_owned();
        }
        if let Some(prefix) = self.model.ids.get(name) {
            return format!("id(\"{prefix}\")");
        }
        if self.done.insert(name.to_owned()) {
            let model = self.model;
            let def = model.types.get(name).unwrap_or_else(|| panic!("`{name}` has no shape"));
            let shape = self.definition(def);
            self.shapes.push_str(&format!("export const {} = {shape};\n", camel(name)));
        }
        camel(name)
    }

    fn definition(&mut self, def: &Def) -> String {
        match def {
            Def::Words(words) => words_of(words.iter()),
            Def::Record(record) => self.record(record),
            Def::Tagged(tag, variants) => {
                let rows = variants.iter().map(|(word, variant)| {
                    let shape = match variant {
                        // serde lets a variant without members have any.
                        Variant::Unit => "object({})".to_owned(),
                        Variant::Fields(record) => self.record(record),
                        Variant::Newtype(ty) => self.shape(ty),
                    };
                    format!("\n  {word}: {shape},")
                });
                format!("tagged(\"{tag}\", {{{}\n}})", rows.collect::<String>())
            }
            Def::Plain(variants) => {
                let units = variants.iter().filter(|(_, ty)| ty.is_none()).map(|(word, _)| word);
                let words = words_of(units);
                let members: Vec<String> = variants
                    .iter()
                    .filter_map(|(word, ty)| Some(format!("{word}: {}", self.shape(ty.as_ref()?))))
                    .collect();
                if members.is_empty() {
                    words
                } else {
                    format!("variant({words}, {{ {} }})", members.join(", "))
                }
            }
        }
    }

    fn record(&mut self, record: &Record) -> String {
        self.object(&record.fields, record.closed)
    }

    fn object(&mut self, fields: &[Field], closed: bool) -> String {
        let rows = fields.iter().map(|field| {
            let shape = match &field.ty {
                Ty::Option(inner) => format!("nullable({})", self.shape(inner)),
                ty if field.has_default => format!("defaulted({})", self.shape(ty)),
                ty => self.shape(ty),
            };
            format!("{}: {shape}", field.name)
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        format!("object({{ {rows} }}{})", if closed { ", \"closed\"" } else { "" })
    }
}

fn words_of<'a>(words: impl Iterator<Item = &'a String>) -> String {
    format!("names({})", words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
}

fn camel(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}
