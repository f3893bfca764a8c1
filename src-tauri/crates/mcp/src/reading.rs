//! Tools that look at what Hermit keeps of this session, and begin a task beside it. They read, or hand in a goal; none
//! of them grants.

use crate::told::error;
use crate::{Hermit, Options};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Component, Path};

/// Receipts in a list.
const RECEIPTS_MAX: u32 = 50;

/// One of them: its name, what it does, and its arguments as a JSON Schema.
pub struct Reading {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: fn() -> Value,
}

/// All of them.
pub const ALL: &[Reading] = &[
    Reading {
        name: "hermit_task",
        about: "Tell how this session stands in Hermit, or a task that it began: what it waits for and what it has done.",
        schema: || {
            schema(&json!({ "task": { "type": "string", "description": "a task that you began" } }), &[])
        },
    },
    Reading {
        name: "hermit_receipts",
        about: "List the receipts of this session, the newest first: what was done, and whether it can be undone.",
        schema: || schema(&json!({}), &[]),
    },
    Reading {
        name: "hermit_receipt",
        about: "Show one receipt of this session.",
        schema: || {
            schema(&json!({ "receipt": { "type": "string", "description": "its identifier" } }), &["receipt"])
        },
    },
    Reading {
        name: "hermit_explain",
        about: "Tell which acts through Hermit made a file of this folder, or one line of it, what it is, and why.",
        schema: || {
            let properties = json!({
                "path": { "type": "string", "description": "relative to the folder" },
                "line": { "type": "integer", "minimum": 1, "description": "one line of it" },
            });
            schema(&properties, &["path"])
        },
    },
    Reading {
        name: "hermit_introspect",
        about: "Tell what this version of Hermit says of itself, read from its own source: rooms, doors, commands, limits, \
                requirements, or the tests that show them.",
        schema: || {
            let topics = ["rooms", "doors", "commands", "limits", "requirements", "tests"];
            let properties = json!({
                "topic": { "type": "string", "enum": topics, "description": "what to tell" },
                "words": { "type": "string", "description": "only what has these words in its name, its place or what it is for" },
                "after": { "type": "string", "description": "the `next` of the part before" },
            });
            schema(&properties, &["topic"])
        },
    },
    Reading {
        name: "hermit_proof",
        about: "Write the proof of this session into a file that anybody can check, and tell where it is.",
        schema: || schema(&json!({}), &[]),
    },
    Reading {
        name: "hermit_begin",
        about: "Hand a goal to Hermit as a task of its own in this folder, for the model that the person has set up. Look \
                after it with `hermit_task`. The same goal again is the same task, also after a restart; to begin another \
                one for the same goal, give it a key of its own.",
        schema: || {
            let properties = json!({
                "goal": { "type": "string", "description": "what is to be done" },
                "key": { "type": "string", "description": "a name of your own for this task" },
            });
            schema(&properties, &["goal"])
        },
    },
];

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// What they look at: this session's task, and those that it began.
pub struct Own<'o> {
    pub hermit: &'o dyn Hermit,
    pub options: &'o Options,
    pub task: &'o str,
    pub begun: &'o BTreeSet<String>,
}

/// What one of them came to: what its agent reads, and a task that it began.
pub struct Read {
    pub told: Value,
    pub begun: Option<String>,
}

impl Own<'_> {
    /// Runs one of them.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn run(&self, name: &str, arguments: &Map<String, Value>) -> Result<Read, String> {
        let spec = ALL.iter().find(|reading| reading.name == name).map(|reading| (reading.schema)());
        fits(name, &spec.unwrap_or_default(), arguments)?;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let told = match name {
            "hermit_task" => self.ask("task.show", json!({ "task": self.own_task(text("task"))? }))?,
            "hermit_receipts" => {
                self.ask("receipts.list", json!({ "task": self.task, "limit": RECEIPTS_MAX }))?
            }
            "hermit_receipt" => self.receipt(text("receipt"))?,
            "hermit_explain" => {
                let subject = inside(&self.options.workspace, text("path"))?;
                self.ask("trace.explain", json!({ "subject": subject, "line": arguments.get("line") }))?
            }
            "hermit_introspect" => {
                let (words, after) = (arguments.get("words"), arguments.get("after"));
                self.ask(
                    "version.introspect",
                    json!({ "topic": text("topic"), "words": words, "after": after }),
                )?
            }
            "hermit_proof" => self.proof()?,
            _ => {
                let begun = self.begin(text("goal"), text("key"))?;
                let task = begun.get("task_id").and_then(Value::as_str).map(str::to_owned);
                return Ok(Read { told: begun, begun: task });
            }
        };
        Ok(Read { told, begun: None })
    }

    fn ask(&self, name: &str, params: Value) -> Result<Value, String> {
        self.hermit.ask(name, params).map_err(|e| error(&e))
    }

    /// A task of this session, by what its agent calls it.
    fn own_task(&self, named: &str) -> Result<String, String> {
        match named {
            "" => Ok(self.task.to_owned()),
            named if named == self.task || self.begun.contains(named) => Ok(named.to_owned()),
            named => Err(format!(
                "`{named}` is no task that this session knows; if you began it before a restart, call `hermit_begin` with the \
                 same goal again: that is the same task"
            )),
        }
    }

    /// A receipt of this session's tasks.
    ///
    /// # Errors
    /// In words, when there is none of that name.
    pub fn receipt(&self, id: &str) -> Result<Value, String> {
        let found = self.ask("receipts.show", json!({ "receipt": id, "brief": true }))?;
        let task = found.pointer("/row/task_id").and_then(Value::as_str).unwrap_or_default();
        self.own_task(if task.is_empty() { "?" } else { task })
            .map_err(|_| format!("`{id}` is no receipt of this session"))?;
        Ok(found)
    }

    fn proof(&self) -> Result<Value, String> {
        let at = self.ask("task.show", json!({ "task": self.task }))?;
        let seq = at.get("last_seq").and_then(Value::as_u64).unwrap_or_default();
        let path = self.options.proofs.join(format!("{}-{seq}.zip", self.task));
        std::fs::create_dir_all(&self.options.proofs)
            .map_err(|e| format!("cannot make the folder of proofs: {e}"))?;
        let path = path.to_string_lossy().into_owned();
        if Path::new(&path).exists() {
            return Ok(json!({ "path": path }));
        }
        self.ask("proof.export", json!({ "task": self.task, "path": path }))
    }

    /// The same goal, or the same key, in the same session is the same task: its store knows that, whoever has restarted.
    fn begin(&self, goal: &str, key: &str) -> Result<Value, String> {
        if goal.trim().is_empty() {
            return Err("a task needs a goal".to_owned());
        }
        let mut same = DefaultHasher::new();
        let kind = if key.is_empty() { "goal" } else { "key" };
        (if key.is_empty() { goal.trim() } else { key }).hash(&mut same);
        let same = format!("begun:{}:{kind}:{:016x}", self.task, same.finish());
        let mut params = json!({
            "goal": goal, "workspace": self.options.workspace, "channel": "mcp", "idempotency_key": same,
        });
        if let (Some(profile), Some(members)) = (&self.options.profile, params.as_object_mut()) {
            members.insert("profile".to_owned(), json!(profile));
        }
        self.ask("task.submit", params)
    }
}

/// Refuses arguments that the schema does not know, and misses those that it requires.
fn fits(name: &str, schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let known = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (argument, value) in arguments {
        let Some(spec) = known.get(argument) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(format!("`{name}` has no argument `{argument}`; it has: {}", names.join(", ")));
        };
        let is_kind = match spec.get("type").and_then(Value::as_str) {
            Some("integer") => value.as_u64().is_some_and(|n| (1..=u64::from(u32::MAX)).contains(&n)),
            _ => value.is_string(),
        };
        if !is_kind {
            return Err(format!("`{argument}` of `{name}` is {spec}"));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    match required.iter().filter_map(Value::as_str).find(|one| !arguments.contains_key(*one)) {
        Some(missing) => Err(format!("`{name}` needs `{missing}`")),
        None => Ok(()),
    }
}

/// A path below the folder, whole.
fn inside(workspace: &str, path: &str) -> Result<String, String> {
    let relative = Path::new(path);
    let stays = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if path.trim().is_empty() || !stays {
        return Err(format!("`{path}` is no path inside the folder"));
    }
    Ok(Path::new(workspace).join(relative).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::{ALL, Own, fits, inside};
    use crate::{Hermit, Options};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    #[test]
    fn a_path_stays_inside_the_folder() {
        assert_eq!(inside("/w", "a/b.txt").as_deref(), Ok("/w/a/b.txt"));
        for outside in ["", "/etc/passwd", "../x", "a/../../x"] {
            assert!(inside("/w", outside).is_err(), "{outside}");
        }
    }

    /// A store that makes one task for each key.
    #[derive(Default)]
    struct Keys(Mutex<Vec<String>>);

    impl Hermit for Keys {
        fn ask(&self, name: &str, params: Value) -> Result<Value, Box<wire::Error>> {
            if name != "task.submit" {
                return Ok(params);
            }
            let key = params["idempotency_key"].as_str().unwrap_or_default().to_owned();
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = all.iter().position(|known| *known == key).unwrap_or_else(|| {
                all.push(key);
                all.len().saturating_sub(1)
            });
            Ok(json!({ "task_id": format!("task_{at}") }))
        }
    }

    #[test]
    fn a_task_that_is_begun_again_after_a_restart_is_the_same_and_is_looked_after_again() {
        let store = Keys::default();
        let options = Options::of_a_test();
        let run = |session: &str, begun: &BTreeSet<String>, name: &str, arguments: Value| {
            let own = Own { hermit: &store, options: &options, task: session, begun };
            own.run(name, arguments.as_object().unwrap_or(&Default::default()))
        };
        let begin = |session: &str, arguments: Value| {
            run(session, &BTreeSet::new(), "hermit_begin", arguments).ok().and_then(|read| read.begun)
        };
        let first = begin("s", json!({ "goal": "tidy" }));
        assert_eq!(first.as_deref(), Some("task_0"));
        // Who has restarted knows nothing of it, is told what to do, and then knows it.
        let asked = || json!({ "task": "task_0" });
        let why = run("s", &BTreeSet::new(), "hermit_task", asked()).err().unwrap_or_default();
        assert!(why.contains("`hermit_begin` with the same goal again"), "{why}");
        let again = begin("s", json!({ "goal": " tidy\n" }));
        assert_eq!(again, first, "not a second one");
        assert!(run("s", &again.into_iter().collect(), "hermit_task", asked()).is_ok());
        let others = [
            begin("s", json!({ "goal": "tidy", "key": "second" })),
            begin("s", json!({ "goal": "write" })),
            begin("other", json!({ "goal": "tidy" })),
        ];
        assert_eq!(others.map(|one| one.unwrap_or_default()), ["task_1", "task_2", "task_3"]);
    }

    #[test]
    fn every_topic_that_is_offered_is_one_of_the_wire_and_none_is_left_out() {
        let schema = ALL.iter().find(|one| one.name == "hermit_introspect").map(|one| (one.schema)());
        let schema = schema.unwrap_or_default();
        let topics = schema["properties"]["topic"]["enum"].as_array().cloned().unwrap_or_default();
        let (store, options, begun) = (Keys::default(), Options::of_a_test(), BTreeSet::new());
        let own = Own { hermit: &store, options: &options, task: "s", begun: &begun };
        for topic in &topics {
            let arguments = json!({ "topic": topic, "words": "lamp" });
            let told = own.run("hermit_introspect", arguments.as_object().unwrap_or(&Default::default()));
            let asked: Result<wire::version::Introspect, _> =
                serde_json::from_value(told.map(|read| read.told).unwrap_or_default());
            assert!(asked.is_ok_and(|asked| asked.words.as_deref() == Some("lamp")), "{topic}");
        }
        assert_eq!(topics.len(), 6, "rooms, doors, commands, limits, requirements, tests");
    }

    #[test]
    fn arguments_that_a_schema_does_not_know_are_refused() {
        let schema = ALL.iter().find(|one| one.name == "hermit_explain").map(|one| (one.schema)());
        let schema = schema.unwrap_or_default();
        let fits = |arguments: Value| {
            fits("hermit_explain", &schema, arguments.as_object().unwrap_or(&Default::default()))
        };
        assert_eq!(fits(json!({ "path": "a", "line": 3 })), Ok(()));
        assert!(fits(json!({ "line": 3 })).is_err_and(|e| e.contains("needs `path`")));
        assert!(fits(json!({ "path": "a", "line": 0 })).is_err());
        assert!(fits(json!({ "path": "a", "other": 1 })).is_err_and(|e| e.contains("no argument `other`")));
    }
}
