//! Somebody who holds every key of a store rewrites one value deep in a bundle and signs everything anew. Only the
//! checks of shape and of agreement between the parts are then left to refuse it.

use super::Dice;
use crate::world::World;
use crate::world::tools::{Files, Power, repair};
use seal::merkle::{Tree, leaf_hash};
use seal::note::{Checkpoint, Note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, Signer, canon, dsse};
use serde_json::{Value, json};

/// One value changed, and everything signed again; with the words for what was changed.
pub fn rewritten(files: &Files, world: &World, dice: &mut Dice) -> (String, Files) {
    let mut files = files.clone();
    let what = match dice.below(3) {
        0 => event(&mut files, dice),
        1 => receipt(&mut files, world, dice),
        _ => artifact(&mut files, world, dice),
    };
    (what, signed_anew(&files, world))
}

/// Rewrites a value below the payload, or now and then anywhere, of one event.
fn event(files: &mut Files, dice: &mut Dice) -> String {
    let mut lines = lines(&files["task/events.jsonl"]);
    let at = dice.below(lines.len());
    let mut value: Value = serde_json::from_slice(&lines[at]).unwrap();
    let deep = dice.below(4) > 0;
    let what = mutate(if deep { &mut value["payload"] } else { &mut value }, dice);
    lines[at] = bytes(&value);
    files.insert("task/events.jsonl".to_owned(), joined(&lines));
    format!("event {}: {what}", at + 1)
}

fn receipt(files: &mut Files, world: &World, dice: &mut Dice) -> String {
    let names: Vec<String> = files.keys().filter(|n| n.starts_with("receipts/")).cloned().collect();
    let name = names[dice.below(names.len())].clone();
    let mut what = String::new();
    edit_receipt(files, world, &name, &mut |statement| what = mutate(statement, dice));
    format!("{name}: {what}")
}

/// The receipt says what `edit` makes of it, is signed again, and its event records the new bytes.
pub fn edit_receipt(files: &mut Files, world: &World, name: &str, edit: &mut dyn FnMut(&mut Value)) {
    let (old, statement) = opened(&files[name]);
    let mut value: Value = serde_json::from_slice(&statement).unwrap();
    edit(&mut value);
    let payload = bytes(&value);
    let new = enveloped(&old, &payload, &world.keys.receipt);
    replace(files, &digest(&files[name]), &digest(&new));
    replace(files, &digest(&statement), &digest(&payload));
    files.insert(name.to_owned(), new);
}

/// The bundle's own statement says what `edit` makes of it, signed again like the sums.
pub fn edit_statement(files: &mut Files, world: &World, edit: &mut dyn FnMut(&mut Value)) {
    const NAME: &str = "statement.dsse.json";
    let (envelope, payload) = opened(&files[NAME]);
    let mut value: Value = serde_json::from_slice(&payload).unwrap();
    edit(&mut value);
    files.insert(NAME.to_owned(), enveloped(&envelope, &bytes(&value), &world.keys.receipt));
    repair(files, Power::Manifest, world);
}

/// The first event of this type says what `edit` makes of it; whoever calls signs anew.
pub fn edit_event(files: &mut Files, event_type: &str, edit: &mut dyn FnMut(&mut Value)) {
    let mut lines = lines(&files["task/events.jsonl"]);
    let values = lines.iter().map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let at = values.into_iter().position(|event| event["event_type"] == event_type).unwrap();
    let mut value: Value = serde_json::from_slice(&lines[at]).unwrap();
    edit(&mut value);
    lines[at] = bytes(&value);
    files.insert("task/events.jsonl".to_owned(), joined(&lines));
}

/// Rewrites an object of authority; everything that names its digest names the new one.
fn artifact(files: &mut Files, world: &World, dice: &mut Dice) -> String {
    let names: Vec<String> = files.keys().filter(|n| n.starts_with("artifacts/")).cloned().collect();
    let name = names[dice.below(names.len())].clone();
    let mut what = String::new();
    edit_artifact(files, world, &name, &mut |value| what = mutate(value, dice));
    format!("{name}: {what}")
}

/// [`artifact`] as `edit` makes it: an object, or what a person signed.
pub fn edit_artifact(files: &mut Files, world: &World, name: &str, edit: &mut dyn FnMut(&mut Value)) {
    let old = files.remove(name).unwrap();
    let new = match dsse::Envelope::parse(&old) {
        Ok(envelope) => {
            let mut value: Value = serde_json::from_slice(&envelope.payload).unwrap();
            edit(&mut value);
            enveloped(&envelope, &bytes(&value), &world.keys.approval)
        }
        Err(_) => {
            let mut value: Value = serde_json::from_slice(&old).unwrap_or(Value::Null);
            edit(&mut value);
            bytes(&value)
        }
    };
    let hex = digest(&new);
    files.insert(format!("artifacts/sha256/{}/{hex}", &hex[..2]), new);
    replace(files, &digest(&old), &hex);
    // The receipts that named the old digest are other receipts now.
    let receipts: Vec<String> = files.keys().filter(|n| n.starts_with("receipts/")).cloned().collect();
    for receipt in receipts {
        let (envelope, statement) = opened(&files[&receipt]);
        let text = String::from_utf8(statement.clone()).unwrap().replace(&digest(&old), &hex);
        let signed = enveloped(&envelope, text.as_bytes(), &world.keys.receipt);
        replace(files, &digest(&files[&receipt]), &digest(&signed));
        replace(files, &digest(&statement), &digest(text.as_bytes()));
        files.insert(receipt, signed);
    }
}

/// Changes one value somewhere below `root`.
fn mutate(root: &mut Value, dice: &mut Dice) -> String {
    let mut pointers = vec![String::new()];
    places(root, String::new(), &mut pointers);
    let pointer = pointers[dice.below(pointers.len())].clone();
    let name = pointer.rsplit('/').next().unwrap_or_default().to_owned();
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    if dice.below(4) == 0
        && let Some(members) = root.pointer_mut(&parent).and_then(Value::as_object_mut)
        && members.remove(&name).is_some()
    {
        return format!("`{pointer}` removed");
    }
    let Some(value) = root.pointer_mut(&pointer) else { return "nothing".to_owned() };
    let new = match (dice.below(9), &*value) {
        (0, _) => Value::Null,
        (1, _) => json!(-1),
        (2, _) => json!(9_007_199_254_740_991_i64),
        (3, _) => json!("x"),
        (4, Value::Object(members)) => {
            let mut members = members.clone();
            members.insert("zzz".to_owned(), json!(1));
            Value::Object(members)
        }
        (5, Value::Object(_)) => json!({ "$sd": Digest::ZERO.to_string() }),
        (5, _) => json!({ "$plain": "x" }),
        (6, Value::Number(number)) => json!(number.as_i64().unwrap() + 1),
        (6, Value::String(text)) if text.len() > 2 => {
            json!(format!("{}0", &text[..text.floor_char_boundary(text.len() - 1)]))
        }
        (7, Value::Array(items)) => Value::Array(items.iter().skip(1).cloned().collect()),
        (_, Value::String(text)) => json!(format!("{text}é")),
        (_, Value::Bool(truth)) => json!(!truth),
        _ => json!({}),
    };
    let what = format!("`{pointer}` from {value} to {new}");
    *value = new;
    what
}

fn places(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let below = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            found.push(below.clone());
            places(member, below, found);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            found.push(format!("{pointer}/{index}"));
            places(item, format!("{pointer}/{index}"), found);
        }),
        _ => {}
    }
}

/// Links the events again, signs new heads over them and over the gate's, then statement and sums.
pub fn signed_anew(files: &Files, world: &World) -> Files {
    let mut files = files.clone();
    let mut events = lines(&files["task/events.jsonl"]);
    let mut head = Digest::ZERO.to_string();
    for line in &mut events {
        let mut value: Value = serde_json::from_slice(line).unwrap();
        if value.get("prev_event_hash").is_some_and(Value::is_string) {
            value["prev_event_hash"] = head.clone().into();
        }
        *line = bytes(&value);
        head = digest(line);
    }
    files.insert("task/events.jsonl".to_owned(), joined(&events));
    let origin = format!("hermit.local/{}", world.log_id);
    let tree = Tree::from_leaves(&events.iter().map(|line| leaf_hash(line)).collect::<Vec<_>>());
    let task_origin = format!("{origin}/task/{}", world.task);
    let task = Checkpoint::new(&task_origin, tree.size(), tree.root()).sign(&world.keys.log).unwrap();
    let gate = Note::parse(&files["gate/checkpoint"]).unwrap();
    let leaves = [&gate, &task].map(|note| leaf_hash(note.text.as_bytes()));
    let log = Tree::from_leaves(&leaves);
    let global = Checkpoint::new(&origin, 2, log.root()).sign(&world.keys.log).unwrap();
    let place =
        |index: u64| TlogProof::new(index, log.inclusion_proof(index).unwrap(), global.clone()).to_text();
    files.insert("task/checkpoint.tlog-proof".to_owned(), place(1).into_bytes());
    files.insert("gate/checkpoint.tlog-proof".to_owned(), place(0).into_bytes());
    files.insert("task/checkpoint".to_owned(), task.to_bytes());
    files.insert("log/checkpoint".to_owned(), global.to_bytes());
    let (envelope, payload) = opened(&files["statement.dsse.json"]);
    let mut statement: Value = serde_json::from_slice(&payload).unwrap();
    statement["predicate"]["task_root"] = tree.root().to_string().into();
    let signed = enveloped(&envelope, &bytes(&statement), &world.keys.receipt);
    files.insert("statement.dsse.json".to_owned(), signed);
    repair(&mut files, Power::Receipt, world);
    files
}

/// Every event that names the old digest names the new one.
fn replace(files: &mut Files, old: &str, new: &str) {
    let events = String::from_utf8(files["task/events.jsonl"].clone()).unwrap().replace(old, new);
    files.insert("task/events.jsonl".to_owned(), events.into_bytes());
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
}

fn opened(bytes: &[u8]) -> (dsse::Envelope, Vec<u8>) {
    let envelope = dsse::Envelope::parse(bytes).unwrap();
    let payload = envelope.payload.clone();
    (envelope, payload)
}

fn enveloped(like: &dsse::Envelope, payload: &[u8], signer: &dyn Signer) -> Vec<u8> {
    dsse::sign(&like.payload_type, payload, signer).unwrap().to_bytes().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    canon::canonical_value(value).unwrap()
}

fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}
