//! What an act would change, or has changed, with the bytes of both sides where they are at hand.

use crate::{Host, Wire as _, not_found, usage};
use model::action::{Action, ChangeItem, Prior};
use model::approval::ApprovalPacket;
use model::{ApprovalId, Digest, ReceiptId, RelPath, TaskId};
use serde_json::Value;
use std::io::Read as _;
use std::path::PathBuf;
use wire::changes::{Changes, FileChange, Show, Side};
use wire::{Error, Text};

/// Bytes of one side that are given as text: more is read as an artifact, part by part.
const SIDE_BYTES_MAX: u64 = 256 * 1024;
/// Bytes of all sides of one answer.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Changes, Error> {
    if let Ok(id) = p.of.trim().parse::<ApprovalId>() {
        return ahead(host, id);
    }
    let id: ReceiptId =
        p.of.trim()
            .parse()
            .map_err(|_| usage(format!("`{}` names neither an approval nor a receipt", p.of)))?;
    done(host, id)
}

/// Reads sides until the answer is full.
struct Sides<'a> {
    host: &'a dyn Host,
    root: Option<PathBuf>,
    left: u64,
}

fn ahead(host: &dyn Host, id: ApprovalId) -> Result<Changes, Error> {
    let row = host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", &id.to_string()))?;
    let bytes = host.artifacts()?.read(&row.packet_sha256).wire()?;
    let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
    let (workspace, root) = workspace(host, row.task_id)?;
    let mut sides = Sides { host, root, left: ANSWER_BYTES_MAX };
    let mut files = match &packet.action_request.action {
        Action::Change { items } | Action::Rollback { items, .. } => {
            items.iter().map(|item| sides.item(item)).collect::<Result<Vec<_>, _>>()?
        }
        Action::Observe { .. }
        | Action::Command { .. }
        | Action::Fetch(_)
        | Action::Vcs { .. }
        | Action::Remember { .. } => Vec::new(),
    };
    files.sort_by_key(gravity);
    Ok(Changes { of: id.to_string(), tense: "ahead".to_owned(), workspace, files })
}

fn done(host: &dyn Host, id: ReceiptId) -> Result<Changes, Error> {
    let receipt = super::receipts::show(host, wire::receipts::Show { receipt: id.to_string() })?;
    let task: TaskId = receipt.row.task_id.parse::<TaskId>().wire()?;
    let (workspace, root) = workspace(host, task)?;
    let mut sides = Sides { host, root, left: ANSWER_BYTES_MAX };
    let changes = receipt.receipt.get("changes").and_then(Value::as_array).cloned().unwrap_or_default();
    let files = changes.iter().map(|change| sides.changed(change)).collect::<Result<Vec<_>, _>>()?;
    let mut files = with_moves(files);
    files.sort_by_key(gravity);
    Ok(Changes { of: id.to_string(), tense: "done".to_owned(), workspace, files })
}

/// A receipt tells a move as bytes that went and the same bytes that came; a person reads one line.
fn with_moves(files: Vec<FileChange>) -> Vec<FileChange> {
    let mut told: Vec<FileChange> = Vec::new();
    for file in files {
        let new = file.before.is_none() && file.outcome.as_deref() == Some("done");
        let sha256 = file.after.as_ref().filter(|_| new).map(|side| side.sha256.clone());
        let gone = told.iter_mut().find(|other| {
            other.op == "delete"
                && other.outcome == file.outcome
                && sha256.is_some()
                && other.before.as_ref().map(|side| &side.sha256) == sha256.as_ref()
        });
        match gone {
            Some(gone) => {
                gone.op = "move".to_owned();
                gone.to = Some(file.path);
                gone.after = file.after;
            }
            None => told.push(file),
        }
    }
    told
}

/// The folder in words, and as a path where it is known.
fn workspace(host: &dyn Host, task: TaskId) -> Result<(Option<Text>, Option<PathBuf>), Error> {
    let row = host.query()?.task(task).wire()?.ok_or_else(|| not_found("task", &task.to_string()))?;
    let text = super::task_show::workspace(host, &row)?;
    let root = text.as_ref().and_then(|text| text.shown().map(PathBuf::from));
    Ok((text, root))
}

/// What is gone first, then what is other, then what is new; a stable sort keeps the order of execution otherwise.
fn gravity(file: &FileChange) -> u8 {
    match (file.op.as_str(), &file.before, &file.after) {
        ("delete", _, _) => 0,
        (_, Some(_), _) => 1,
        (_, None, _) => 2,
    }
}

impl Sides<'_> {
    fn item(&mut self, item: &ChangeItem) -> Result<FileChange, Error> {
        let change = |op: &str, path: &RelPath, to: Option<&RelPath>, before, after| FileChange {
            op: op.to_owned(),
            path: path.to_string(),
            to: to.map(ToString::to_string),
            before,
            after,
            outcome: None,
        };
        Ok(match item {
            ChangeItem::Write { path, content_sha256, byte_size, prior, .. } => {
                let before = self.prior(path, prior)?;
                let after = self.kept(content_sha256, Some(*byte_size))?;
                change("write", path, None, before, Some(after))
            }
            ChangeItem::Folder { path, .. } => change("folder", path, None, None, None),
            ChangeItem::Link { path, target, prior } => {
                let says = Side {
                    sha256: seal::Digest::of(target.as_bytes()).to_string(),
                    byte_size: Some(target.len() as u64),
                    text: Some(format!("link to {target}\n")),
                    missing: None,
                };
                change("link", path, None, self.prior(path, prior)?, Some(says))
            }
            ChangeItem::Delete { path, prior } => {
                change("delete", path, None, self.prior(path, prior)?, None)
            }
            ChangeItem::Move { from, to, prior } => {
                let before = match prior {
                    Prior::Sha256(sha256) => {
                        Some(Side { sha256: sha256.to_string(), byte_size: None, text: None, missing: None })
                    }
                    Prior::Absent | Prior::EmptyFolder | Prior::Link(_) => None,
                };
                change("move", from, Some(to), before.clone(), before)
            }
        })
    }

    /// What a file is before: its bytes are in the folder still, or they have drifted.
    fn prior(&mut self, path: &RelPath, prior: &Prior) -> Result<Option<Side>, Error> {
        let Prior::Sha256(sha256) = prior else { return Ok(None) };
        let kept = self.kept(sha256, None)?;
        if kept.missing.as_deref() != Some("gone") {
            return Ok(Some(kept));
        }
        let live = self.live(path);
        Ok(Some(match live {
            Some(bytes) if Digest::of(&bytes) == *sha256 => self.side(sha256, &bytes),
            Some(_) => Side { missing: Some("drifted".to_owned()), ..kept },
            None => kept,
        }))
    }

    /// The bytes that stand in the folder now. They are shown only where their digest is the one that was recorded.
    fn live(&self, path: &RelPath) -> Option<Vec<u8>> {
        let root = kernel::workspace::decode_root(&path.to_string()).ok()?;
        let file = std::fs::File::open(self.root.as_ref()?.join(root)).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(SIDE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Bytes of the content store.
    fn kept(&mut self, sha256: &Digest, byte_size: Option<u64>) -> Result<Side, Error> {
        let gone = |why: &str, byte_size| Side {
            sha256: sha256.to_string(),
            byte_size,
            text: None,
            missing: Some(why.to_owned()),
        };
        let store = self.host.artifacts()?;
        if !store.contains(sha256).wire()? {
            return Ok(gone("gone", byte_size));
        }
        let mut content = store.content(sha256).wire()?;
        let size = content.byte_size();
        if size > SIDE_BYTES_MAX || size > self.left {
            return Ok(gone("large", Some(size)));
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(crate::failed)?;
        Ok(self.side(sha256, &bytes))
    }

    fn side(&mut self, sha256: &Digest, bytes: &[u8]) -> Side {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(size);
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned);
        let missing = text.is_none().then(|| "binary".to_owned());
        Side { sha256: sha256.to_string(), byte_size: Some(size), text, missing }
    }

    /// One change of a receipt.
    fn changed(&mut self, change: &Value) -> Result<FileChange, Error> {
        let word = |name: &str| change.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let resource = word("resource");
        let path = resource.split_once('/').map_or(resource.as_str(), |(_, path)| path).to_owned();
        let mut side = |name: &str| -> Result<Option<Side>, Error> {
            let found = change.get(name);
            let sha256 = found.and_then(|found| found.get("sha256")).and_then(Value::as_str);
            let Some(sha256) = sha256 else { return Ok(None) };
            let size = found.and_then(|found| found.get("byte_size")).and_then(Value::as_u64);
            self.kept(&sha256.parse::<Digest>().wire()?, size).map(Some)
        };
        let (before, after) = (side("before")?, side("after")?);
        let op = match (&before, &after) {
            (None, None) => "folder",
            (Some(_), None) => "delete",
            (_, Some(_)) => "write",
        };
        Ok(FileChange {
            op: op.to_owned(),
            path,
            to: None,
            before,
            after,
            outcome: Some(word("outcome")).filter(|word| !word.is_empty()),
        })
    }
}
