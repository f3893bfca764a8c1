//! A playbook tried on a world that is held in memory: nothing on any disk is looked at or touched (memory.md 5).
//!
//! The world holds the files that are known, by their digests; whatever else lay in the folder is not in it. Looks are answered
//! from it as an executor would answer them, and changes are made to it.

use super::PlaybookReasoner;
use super::run;
use crate::Observed;
use model::proposal::ToolCall;
use model::{ArtifactId, Digest, RelPath};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Answers that a trial gives; a playbook that wants more is not what was recorded.
const TURNS_MAX: usize = 64;

/// In the place of the artifact of a result.
const NO_ARTIFACT: &str = "art_00000000000000000000000000000000";

/// Files by their paths, each with the digest of its bytes.
pub type TrialWorld = BTreeMap<RelPath, Digest>;

impl PlaybookReasoner {
    /// Runs it to its end on a world, and gives the world that it leaves.
    ///
    /// # Errors
    /// In words: it looked at what a world without contents cannot tell, asked something, or did not end.
    pub fn try_on(&self, mut world: TrialWorld) -> Result<TrialWorld, String> {
        let mut observed: Vec<Observed> = Vec::new();
        for _ in 0..TURNS_MAX {
            let playbook = &self.playbook;
            let calls = run::next(&playbook.document, &self.parameters, &playbook.categories, &observed);
            let mut results = Vec::new();
            for call in &calls {
                match call.name.as_str() {
                    "done" => return Ok(world),
                    "note" | "believe" => {}
                    "list" | "hash" => results.push(looked(&world, call)?),
                    "change" => {
                        let items = changed(&mut world, call)?;
                        observed
                            .push(seen("change", &json!({ "result_code": "succeeded", "items": items }))?);
                    }
                    other => return Err(format!("it wants to {other}, which no recorded state can answer")),
                }
            }
            if !results.is_empty() {
                observed.push(seen("observe", &json!({ "results": results }))?);
            }
        }
        Err(format!("it did not end within {TURNS_MAX} turns"))
    }
}

fn seen(tool: &str, value: &Value) -> Result<Observed, String> {
    let bytes = value.to_string().into_bytes();
    let sha256 = Digest::of(&bytes);
    // Nothing of a trial is stored: it has no artifact of its own.
    let artifact_id: ArtifactId = NO_ARTIFACT.parse().map_err(|e| format!("{NO_ARTIFACT}: {e}"))?;
    Ok(Observed { artifact_id, tool: tool.to_owned(), about: "tried".to_owned(), sha256, bytes })
}

fn path_of(of: &Value, key: &str) -> Result<RelPath, String> {
    let text = of.get(key).and_then(Value::as_str).unwrap_or_default();
    text.parse().map_err(|e| format!("`{text}` is no path: {e}"))
}

/// What lies in a folder, or the digests below a path.
fn looked(world: &TrialWorld, call: &ToolCall) -> Result<Value, String> {
    let path = path_of(&call.arguments, "path")?;
    let flag = |key: &str| call.arguments.get(key).and_then(Value::as_bool).unwrap_or(false);
    let (deep, own) = (flag("recursive"), flag("own_files"));
    let is_list = call.name == "list";
    let below: Vec<_> = world.iter().filter(|(at, _)| at.is_within(&path)).collect();
    if below.is_empty() && !path.is_root() {
        return Ok(json!({ "op": call.name, "path": path.to_string(), "error": "there is nothing" }));
    }
    let mut entries = Vec::new();
    let mut folders: BTreeSet<RelPath> = BTreeSet::new();
    for (at, sha256) in below {
        let is_own = at.parent() == path || *at == path;
        if is_list && !is_own {
            let mut folder = at.parent();
            while folder != path && !folder.is_root() {
                if deep || folder.parent() == path {
                    folders.insert(folder.clone());
                }
                folder = folder.parent();
            }
        }
        if is_own || (is_list && deep) || (!is_list && !own) {
            let mut entry = json!({ "path": at.to_string(), "kind": "file", "byte_size": 0 });
            if let (false, Some(entry)) = (is_list, entry.as_object_mut()) {
                entry.insert("sha256".to_owned(), json!(sha256.to_string()));
            }
            entries.push(entry);
        }
    }
    entries.extend(folders.iter().map(|at| json!({ "path": at.to_string(), "kind": "folder" })));
    let mut result = json!({ "op": call.name, "path": path.to_string(), "entries": entries });
    if let (true, Some(result)) = (own, result.as_object_mut()) {
        result.insert("own_files".to_owned(), json!(true));
    }
    Ok(result)
}

/// Makes a change, as an executor would: nothing is put over what is there.
fn changed(world: &mut TrialWorld, call: &ToolCall) -> Result<Vec<Value>, String> {
    let items = call.arguments.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut done = Vec::new();
    for item in items {
        match item.get("op").and_then(Value::as_str).unwrap_or_default() {
            "write" => {
                let content = item.get("content").and_then(Value::as_str).unwrap_or_default();
                world.insert(path_of(&item, "path")?, Digest::of(content.as_bytes()));
            }
            "delete" => {
                world.remove(&path_of(&item, "path")?);
            }
            "move" => {
                let (from, to) = (path_of(&item, "from")?, path_of(&item, "to")?);
                let held = world.remove(&from).ok_or_else(|| format!("there is no `{from}` to move"))?;
                if world.insert(to.clone(), held).is_some() {
                    return Err(format!("it would put `{from}` over `{to}`"));
                }
            }
            other => return Err(format!("it changes by `{other}`")),
        }
        let path = ["path", "from"].into_iter().find_map(|key| item.get(key).cloned());
        done.push(json!({ "path": path, "outcome": "done" }));
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::Playbook;
    use super::*;

    const TEXT: &str = r#"playbook: 1
name: new-part
title: New part
description: Begins a part.
parameters:
  - name: part
    help: its folder
steps:
  - change:
      - write: { path: "{part}/README.md", content: "part {part}" }
      - move: { from: "in/{part}.txt", to: "{part}/notes.txt" }
      - delete: { path: "in/old.txt" }
  - done: { summary: "begun" }
"#;

    fn path(text: &str) -> RelPath {
        RelPath::from_bytes(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_world_in_memory_is_looked_at_and_changed_as_a_folder_is() {
        let playbook = Playbook::parse(TEXT).unwrap();
        let given = BTreeMap::from([("part".to_owned(), "alpha".to_owned())]);
        let ready = playbook.to_reasoner(&given).unwrap();
        let (notes, old) = (Digest::of(b"notes"), Digest::of(b"old"));
        let before = TrialWorld::from([(path("in/alpha.txt"), notes), (path("in/old.txt"), old)]);
        let after = ready.try_on(before.clone()).unwrap();
        let readme = Digest::of(b"part alpha\n");
        let left = TrialWorld::from([(path("alpha/README.md"), readme), (path("alpha/notes.txt"), notes)]);
        assert_eq!(after, left);
        // What lies where it would write is never written over.
        let mut taken = before;
        taken.insert(path("alpha/README.md"), old);
        let after = ready.try_on(taken).unwrap();
        assert_eq!(after.get(&path("alpha/README.md")), Some(&old));
        assert_eq!(after.get(&path("alpha/README (2).md")), Some(&readme));
    }

    #[test]
    fn what_no_recorded_state_can_answer_is_said() {
        let given = BTreeMap::from([("part".to_owned(), "alpha".to_owned())]);
        let asks =
            TEXT.replace("  - done: { summary: \"begun\" }", "  - id: go\n    ask: { question: \"go on?\" }");
        let ready = Playbook::parse(&asks).unwrap().to_reasoner(&given);
        let before = TrialWorld::from([(path("in/alpha.txt"), Digest::of(b"notes"))]);
        assert!(ready.unwrap().try_on(before).is_err_and(|why| why.contains("ask")));
    }
}
