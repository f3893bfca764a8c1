//! Writes TypeScript: declarations, the imports they need, and the table of commands.

use super::read::{Field, Shape, Type, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use wire::Access;

const HEAD: &str =
    "// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.\n";

/// Every file by its name.
pub(super) fn files(modules: &BTreeMap<String, Vec<Type>>) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> =
        modules.iter().map(|(name, types)| (format!("{name}.ts"), module(name, types, modules))).collect();
    files.insert("commands.ts".to_owned(), table());
    files.insert("events.ts".to_owned(), events());
    files.insert("verbs.ts".to_owned(), verbs());
    files
}

fn module(name: &str, types: &[Type], all: &BTreeMap<String, Vec<Type>>) -> String {
    let text: String = types.iter().map(|one| format!("\n{}", declaration(one))).collect();
    let own: BTreeSet<&str> = types.iter().map(|one| one.name.as_str()).collect();
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // A name that several nouns have is never borrowed but by `pub use`, which stands in the text already.
    let words: BTreeSet<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("/**"))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    for (other, theirs) in all.iter().filter(|(other, _)| *other != name) {
        let borrowed = theirs.iter().filter(|t| !matches!(t.shape, Shape::From(_)));
        for word in borrowed.map(|t| t.name.as_str()).filter(|w| words.contains(w) && !own.contains(w)) {
            wanted.entry(other.as_str()).or_default().insert(word);
        }
    }
    let mut head = HEAD.to_owned();
    for (other, names) in wanted {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let _ = writeln!(head, "import type {{ {names} }} from \"./{other}\";");
    }
    head + &text
}

pub(super) fn declaration(one: &Type) -> String {
    let Type { name, generic, docs, shape } = one;
    let docs = comment(docs, "");
    let generic = generic.as_ref().map(|g| format!("<{g}>")).unwrap_or_default();
    match shape {
        Shape::From(noun) => format!("export type {{ {name} }} from \"./{noun}\";\n"),
        Shape::Alias(ts) => format!("{docs}export type {name}{generic} = {ts};\n"),
        Shape::Record(fields) if fields.is_empty() => {
            format!("{docs}export type {name} = Record<string, never>;\n")
        }
        Shape::Record(fields) => {
            let fields: String =
                fields.iter().map(|f| format!("{}  {};\n", comment(&f.docs, "  "), spelled(f))).collect();
            format!("{docs}export interface {name}{generic} {{\n{fields}}}\n")
        }
        Shape::Words(words) => {
            let words = words.iter().map(|(word, docs)| format!("{}  | \"{word}\"", comment(docs, "  ")));
            format!("{docs}export type {name} =\n{};\n", words.collect::<Vec<_>>().join("\n"))
        }
        Shape::List(words) => {
            let many = screaming(name);
            let words = words.iter().map(|(word, docs)| format!("{}  \"{word}\",\n", comment(docs, "  ")));
            let words: String = words.collect();
            format!(
                "{docs}export const {many} = [\n{words}] as const;\nexport type {name} = (typeof {many})[number];\n"
            )
        }
        Shape::Union(tag, variants) => {
            let variants = variants.iter().map(|v| variant(tag.as_deref(), v));
            format!("{docs}export type {name} =\n{};\n", variants.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// `RunStatus` as `RUN_STATUS`.
fn screaming(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_uppercase());
    }
    word
}

fn variant(tag: Option<&str>, one: &Variant) -> String {
    let docs = comment(&one.docs, "  ");
    if let Some(bare) = &one.bare {
        return format!("{docs}  | {bare}");
    }
    let tag = tag.map(|tag| format!("{tag}: \"{}\"", one.word));
    let fields: Vec<String> = tag.into_iter().chain(one.fields.iter().map(spelled)).collect();
    format!("{docs}  | {{ {} }}", fields.join("; "))
}

fn spelled(field: &Field) -> String {
    format!("{}{}: {}", field.name, if field.open { "?" } else { "" }, field.ts)
}

fn comment(docs: &str, indent: &str) -> String {
    if docs.is_empty() { String::new() } else { format!("{indent}/** {docs} */\n") }
}

macro_rules! rows {
    ($($about:literal $noun:ident . $verb:ident ( $params:ident ) -> $answer:ident , $access:ident [ $($topic:ident),* ];)+) => {
        const ROWS: &[(&str, &str, &str, &str, &str)] = &[$((
            stringify!($noun), stringify!($verb), stringify!($params), stringify!($answer), $about
        )),+];
    };
}
wire::with_commands!(rows);

/// What is asked and answered, and which topics make an answer stale.
fn table() -> String {
    let nouns: BTreeSet<&str> = ROWS.iter().map(|row| row.0).collect();
    let mut text = HEAD.to_owned();
    for noun in &nouns {
        let _ = writeln!(text, "import type * as {noun} from \"./{noun}\";");
    }
    text += "import type { Topic } from \"./shared\";\n\nexport interface Commands {\n";
    for (noun, verb, params, answer, about) in ROWS {
        let _ = write!(
            text,
            "  /** {about} */\n  \"{noun}.{verb}\": {{ params: {noun}.{params}; answer: {noun}.{answer} }};\n"
        );
    }
    text += "}\n\nexport type CommandName = keyof Commands;\n\n";
    text +=
        "export type Access = \"read\" | \"write\" | \"owner\" | \"person\" | \"surface\" | \"free\";\n\n";
    text += "/** What a command needs, and the topics that make its answer stale. */\n";
    text += "export const COMMANDS: Readonly<Record<CommandName, { access: Access; topics: readonly Topic[] }>> = {\n";
    for info in wire::COMMANDS {
        let access = match info.access {
            Access::read => "read",
            Access::write => "write",
            Access::owner => "owner",
            Access::person => "person",
            Access::surface => "surface",
            Access::free => "free",
        };
        let topics: Vec<String> = info.topics.iter().map(|t| format!("\"{}\"", t.as_str())).collect();
        let _ = writeln!(
            text,
            "  \"{}\": {{ access: \"{access}\", topics: [{}] }},",
            info.name,
            topics.join(", ")
        );
    }
    text + "};\n"
}

/// The types of events, as the ledger names them; those of a newer Hermit are none of these.
fn events() -> String {
    let names: String = model::body::REGISTRY.iter().map(|(name, _)| format!("  \"{name}\",\n")).collect();
    format!(
        "{HEAD}\n/** Every type of event. */\nexport const EVENT_NAME = [\n{names}] as const;\n\
         export type EventName = (typeof EVENT_NAME)[number];\n"
    )
}

/// The verbs of acts, as what was done.
fn verbs() -> String {
    let words =
        acts::VERBS.iter().map(|(verb, _, done)| format!("  \"{}\": \"{}\",\n", verb.trim(), done.trim()));
    format!(
        "{HEAD}\n/** Verbs that titles of acts begin with, and the same as what was done. */\n\
         export const VERBS: Readonly<Record<string, string>> = {{\n{}}};\n",
        words.collect::<String>()
    )
}
