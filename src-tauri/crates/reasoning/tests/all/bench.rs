//! A folder on disk, a playbook, and in between what kernel and effects do: look, change, hand results over.

use base64::Engine;
use iteration::{Proposal, ProposedChange};
use model::action::ReadItem;
use model::artifact::TrustTier;
use model::context::{ContextItem, ContextPack, Section};
use model::{ArtifactId, Digest, RelPath};
use reasoning::{Input, Observed, Playbook, Reasoner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

pub struct Bench {
    dir: tempfile::TempDir,
    pub observed: Vec<Observed>,
    /// What the person or the machine does to the next changes; afterwards they go through.
    pub fate: Vec<Fate>,
    /// All items of all changes that were proposed.
    pub proposed: Vec<ProposedChange>,
    pub questions: Vec<String>,
    pub answers: Vec<String>,
}

#[derive(Clone, Copy)]
pub enum Fate {
    Denied(Option<&'static str>),
    /// Only this many items happen.
    Partial(usize),
    Failed,
}

pub fn artifact(n: u8) -> ArtifactId {
    format!("art_{:032x}", 0x0190_0000_0000_7000_8000_0000_0000_0000u128 + u128::from(n)).parse().unwrap()
}

pub fn pack(items: Vec<ContextItem>) -> ContextPack {
    let id = |prefix: &str| format!("{prefix}_019000000000700080000000000000aa");
    ContextPack {
        task_id: id("task").parse().unwrap(),
        attempt_id: id("att").parse().unwrap(),
        iteration: 1,
        tokens_max: 3000,
        tokens: 0,
        items,
        omissions: Vec::new(),
        inputs: Vec::new(),
        input_sha256: Digest::of(b""),
        meaning: None,
    }
}

pub fn item(section: Section, tier: TrustTier, title: &str, text: &str) -> ContextItem {
    ContextItem {
        section,
        source: artifact(1).to_string(),
        title: title.to_owned(),
        text: text.to_owned(),
        trust_tier: tier,
        tokens: 1,
        cut: false,
        act: None,
        found_by: None,
        pictures: Vec::new(),
        number: None,
    }
}

impl Bench {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            observed: Vec::new(),
            fate: Vec::new(),
            proposed: Vec::new(),
            questions: Vec::new(),
            answers: Vec::new(),
        }
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    fn at(&self, path: &RelPath) -> PathBuf {
        self.root().join(OsStr::from_bytes(path.as_bytes()))
    }

    /// A file with an age: `day` days after 2026-01-01T00:00:00Z.
    pub fn file(&self, path: &[u8], content: &[u8], day: u64) -> &Self {
        let path = self.root().join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_767_225_600 + day * 86_400);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        self
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// All paths of files, links and empty folders, percent-encoded, sorted.
    pub fn tree(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.walk(&RelPath::ROOT, true, &mut all, &mut Vec::new());
        let mut paths: Vec<String> = all
            .iter()
            .filter(|row| row["kind"] != "folder")
            .map(|row| row["path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths
    }

    fn walk(&self, folder: &RelPath, deep: bool, rows: &mut Vec<Value>, unreadable: &mut Vec<Value>) {
        let Ok(read) = fs::read_dir(self.at(folder)) else {
            unreadable.push(json!({"path": folder, "reason": "permission denied"}));
            return;
        };
        let mut names: Vec<Vec<u8>> = read.map(|e| e.unwrap().file_name().into_vec()).collect();
        names.sort();
        for name in names {
            let path = folder.join(&name).unwrap();
            let stat = fs::symlink_metadata(self.at(&path)).unwrap();
            let modified = stat.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_millis();
            let kind = match stat.file_type() {
                t if t.is_symlink() => "symlink",
                t if t.is_dir() => "folder",
                t if t.is_file() => "file",
                _ => "special",
            };
            rows.push(
                json!({"path": path, "kind": kind, "byte_size": stat.len(), "modified_ms": modified as i64}),
            );
            if deep && kind == "folder" {
                self.walk(&path, deep, rows, unreadable);
            }
        }
    }

    fn hash(&self, path: &RelPath, deep: bool) -> Value {
        let mut rows = Vec::new();
        let mut unreadable = Vec::new();
        let stat = match fs::symlink_metadata(self.at(path)) {
            Ok(stat) => stat,
            Err(e) => return json!({"op": "hash", "path": path, "error": e.to_string()}),
        };
        if stat.is_dir() {
            self.walk(path, deep, &mut rows, &mut unreadable);
        } else {
            rows.push(json!({"path": path, "kind": "file"}));
        }
        let mut entries = Vec::new();
        for row in rows.iter().filter(|row| row["kind"] == "file") {
            let path: RelPath = row["path"].as_str().unwrap().parse().unwrap();
            match fs::read(self.at(&path)) {
                Ok(bytes) => entries.push(
                    json!({"path": path, "sha256": Digest::of(&bytes).to_string(), "byte_size": bytes.len()}),
                ),
                Err(_) => unreadable.push(json!({"path": path, "reason": "permission denied"})),
            }
        }
        json!({"op": "hash", "path": path, "entries": entries, "cut": false, "unreadable": unreadable})
    }

    fn look(&self, item: &ReadItem) -> Value {
        match item {
            ReadItem::List { path, recursive } => {
                if let Err(e) = fs::read_dir(self.at(path)) {
                    return json!({"op": "list", "path": path, "error": e.to_string()});
                }
                let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
                self.walk(path, *recursive, &mut rows, &mut unreadable);
                json!({"op": "list", "path": path, "entries": rows, "cut": false, "unreadable": unreadable})
            }
            ReadItem::Read { path } => match fs::read(self.at(path)) {
                Err(e) => json!({"op": "read", "path": path, "error": e.to_string()}),
                Ok(bytes) => {
                    let sha256 = Digest::of(&bytes).to_string();
                    let mut value = json!({"op": "read", "path": path, "sha256": sha256, "byte_size": bytes.len(), "cut": false});
                    match String::from_utf8(bytes) {
                        Ok(text) => value["text"] = json!(text),
                        Err(e) => {
                            let coded = base64::engine::general_purpose::STANDARD.encode(e.into_bytes());
                            value["base64"] = json!(coded);
                        }
                    }
                    value
                }
            },
            ReadItem::Lines { .. } => panic!("a playbook reads files whole"),
            ReadItem::Hash { path } => self.hash(path, true),
            ReadItem::HashFolder { path } => self.hash(path, false),
            ReadItem::Search { path, pattern, .. } => {
                let regex = regex::Regex::new(pattern).unwrap();
                let (mut rows, mut matches) = (Vec::new(), Vec::new());
                self.walk(path, true, &mut rows, &mut Vec::new());
                for row in rows.iter().filter(|row| row["kind"] == "file") {
                    let file: RelPath = row["path"].as_str().unwrap().parse().unwrap();
                    let text = String::from_utf8_lossy(&fs::read(self.at(&file)).unwrap()).into_owned();
                    for (n, line) in text.lines().enumerate().filter(|(_, line)| regex.is_match(line)) {
                        matches.push(json!({"path": file, "line": n + 1, "text": line}));
                    }
                }
                json!({"op": "search", "path": path, "matches": matches, "cut": false, "unreadable": []})
            }
        }
    }

    pub fn observe(&mut self, tool: &str, value: &Value) {
        let bytes = serde_json::to_vec(value).unwrap();
        let n = u8::try_from(self.observed.len() % 200).unwrap();
        let sha256 = Digest::of(&bytes);
        self.observed.push(Observed {
            artifact_id: artifact(n),
            tool: tool.to_owned(),
            about: String::new(),
            sha256,
            bytes,
        });
    }

    /// Does one item the way effects do: nothing is overwritten that was not observed.
    fn perform(&self, item: &ProposedChange) {
        let seen = |path: &RelPath| {
            let digest = Digest::of(&fs::read(self.at(path)).unwrap()).to_string();
            let text =
                String::from_utf8(self.observed.iter().flat_map(|o| o.bytes.clone()).collect()).unwrap();
            assert!(text.contains(&digest), "the bytes of {path} were never observed");
        };
        match item {
            ProposedChange::Write { path, content } => {
                if self.at(path).exists() {
                    seen(path);
                }
                fs::create_dir_all(self.at(&path.parent())).unwrap();
                fs::write(self.at(path), content).unwrap();
            }
            ProposedChange::Edit { .. } => panic!("a playbook edits nothing"),
            ProposedChange::Move { from, to } => {
                seen(from);
                assert!(fs::symlink_metadata(self.at(to)).is_err(), "{to} exists");
                fs::create_dir_all(self.at(&to.parent())).unwrap();
                fs::rename(self.at(from), self.at(to)).unwrap();
            }
            ProposedChange::Delete { path } => {
                seen(path);
                fs::remove_file(self.at(path)).unwrap();
            }
        }
    }

    fn change(&mut self, items: &[ProposedChange]) {
        let (code, feedback, happen) = if self.fate.is_empty() {
            ("succeeded", None, items.len())
        } else {
            match self.fate.remove(0) {
                Fate::Denied(words) => ("denied", words, 0),
                Fate::Partial(n) => ("partial", None, n),
                Fate::Failed => ("failed", None, 0),
            }
        };
        let mut rows = Vec::new();
        for (n, item) in items.iter().enumerate() {
            if n < happen {
                self.perform(item);
            }
            let outcome = if n < happen { "done" } else { "not_done" };
            let (op, path) = match item {
                ProposedChange::Write { path, .. } | ProposedChange::Edit { path, .. } => ("write", path),
                ProposedChange::Delete { path } => ("delete", path),
                ProposedChange::Move { from, .. } => ("move", from),
            };
            rows.push(json!({"op": op, "path": path, "outcome": outcome}));
        }
        let mut result = json!({"result_code": code, "summary": "as told", "items": rows});
        if let Some(words) = feedback {
            result["feedback"] = json!(words);
        }
        self.observe("change", &result);
    }

    /// A new attempt: nothing is remembered but what lies on disk.
    pub fn run(&mut self, playbook: &Playbook, parameters: &[(&str, &str)]) -> String {
        let parameters: BTreeMap<String, String> =
            parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let reasoner = playbook.to_reasoner(&parameters).unwrap();
        self.observed.clear();
        self.proposed.clear();
        let pack = pack(Vec::new());
        let request = reasoner.encode(&pack, &[]).unwrap();
        for iteration in 1..=model::limits::ITERATIONS_MAX {
            let input =
                Input { request: &request, pack: &pack, observed: &self.observed, iteration, wait_ms_max: 0 };
            let reply = reasoner.propose(&input, &mut |_| (), &|| false).unwrap();
            let again = reasoner.propose(&input, &mut |_| (), &|| false).unwrap();
            assert_eq!(reply, again, "the same observations give the same answer");
            let proposals = iteration::parse(&reply.answer).unwrap_or_else(|e| panic!("{e}: {reply:?}"));
            for proposal in proposals {
                match proposal {
                    Proposal::Done { summary } => return summary,
                    Proposal::Observe(items) => {
                        let results: Vec<Value> = items.iter().map(|item| self.look(item)).collect();
                        self.observe("observe", &json!({ "results": results }));
                    }
                    Proposal::Change(items) => {
                        self.proposed.extend(items.iter().cloned());
                        self.change(&items);
                    }
                    Proposal::Ask { question, .. } => {
                        let answer = self.answers.remove(0);
                        self.observe("ask", &json!({ "question": question, "answer": answer }));
                        self.questions.push(question);
                    }
                    Proposal::Note(_) | Proposal::Believe { .. } => {}
                    other => panic!("a playbook proposed {other:?}"),
                }
            }
        }
        panic!("it did not come to an end: {:?}", self.observed.last());
    }
}

pub fn shipped(name: &str) -> Playbook {
    Playbook::shipped()
        .into_iter()
        .find(|p| p.name() == name)
        .unwrap_or_else(|| panic!("no playbook `{name}`"))
}
