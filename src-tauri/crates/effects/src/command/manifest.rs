//! What a command changed: the lease root before and after, and the earlier bytes of what it may change.
//!
//! Until commands run in a staged copy, files within bounds are copied aside before and given to the store only
//! where they turn out to have changed.

use crate::reads::walk::{Walk, walk};
use crate::system::file_identity::TELLS_CHANGES;
use crate::workspace::entry::{Kind, Stat};
use crate::{
    COMMAND_KEEP_BYTES_MAX, COMMAND_KEEP_FILE_BYTES_MAX, COMMAND_KEEP_FILES_MAX, Error, Executors, Kept,
    MANIFEST_ENTRIES_MAX, Workspace,
};
use acts::sensitive_paths::is_capability;
use model::receipt::{Change, ItemOutcome};
use model::witness::Found;
use model::{Digest, RelPath, ResourceId, Sensitive};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The lease root at one moment.
#[derive(Serialize, Deserialize)]
pub(crate) struct Manifest {
    entries: BTreeMap<RelPath, Stat>,
    links: BTreeMap<RelPath, Digest>,
    /// Copies by their number in the folder beside the manifest.
    aside: BTreeMap<RelPath, u64>,
    #[serde(skip)]
    folder: PathBuf,
    notes: Vec<String>,
}

/// What a command did to the lease root.
#[derive(Default)]
pub(crate) struct Difference {
    pub(crate) changes: Vec<Change>,
    pub(crate) kept: Vec<Kept>,
    pub(crate) notes: Vec<String>,
}

/// Whether a secret stands in a file; one that cannot be read is not kept aside either.
fn holds_secret(workspace: &Workspace, path: &RelPath, redactor: &redact::Redactor) -> bool {
    let bytes = workspace.read_whole(path, COMMAND_KEEP_FILE_BYTES_MAX);
    bytes.map_or(true, |bytes| !redactor.holds(&bytes).is_empty())
}

impl Manifest {
    /// Before the command: entries, link targets, and copies, all kept in `folder` for whoever comes after a crash.
    pub(crate) fn before(
        workspace: &Workspace,
        folder: &Path,
        redactor: &redact::Redactor,
    ) -> Result<Self, Error> {
        let mut manifest = Self::now(workspace)?;
        for (path, stat) in &manifest.entries {
            if stat.kind == Kind::Symlink
                && let Found::Symlink { target_sha256 } = workspace.look(path)
            {
                manifest.links.insert(path.clone(), target_sha256);
            }
        }
        manifest.folder = folder.to_path_buf();
        manifest.keep_aside(workspace, redactor)?;
        let fail = |source| Error::Spool { doing: "writing a manifest", source };
        let bytes = serde_json::to_vec(&manifest).map_err(|e| fail(e.into()))?;
        fs::write(folder.join("manifest.json"), bytes).map_err(fail)?;
        Ok(manifest)
    }

    /// What [`Manifest::before`] left in `folder`.
    pub(crate) fn load(folder: &Path) -> io::Result<Self> {
        let manifest: Self = serde_json::from_slice(&fs::read(folder.join("manifest.json"))?)?;
        Ok(Self { folder: folder.to_path_buf(), ..manifest })
    }

    fn now(workspace: &Workspace) -> Result<Self, Error> {
        let Walk { entries, unread, cut } = walk(workspace, &RelPath::ROOT, true, MANIFEST_ENTRIES_MAX)?;
        let mut notes = Vec::new();
        if cut {
            let say = format!(
                "the workspace has more than {MANIFEST_ENTRIES_MAX} entries; changes beyond were not seen"
            );
            notes.push(say);
        }
        notes.extend(unread.iter().map(|u| format!("changes in `{}` were not seen: {}", u.path, u.reason)));
        let entries = entries.into_iter().map(|entry| (entry.path, entry.stat)).collect();
        Ok(Self { entries, links: BTreeMap::new(), aside: BTreeMap::new(), folder: PathBuf::new(), notes })
    }

    fn keep_aside(&mut self, workspace: &Workspace, redactor: &redact::Redactor) -> Result<(), Error> {
        fs::create_dir(&self.folder)
            .map_err(|source| Error::Spool { doing: "keeping earlier bytes aside", source })?;
        let mut bytes = 0u64;
        for (path, stat) in self.entries.iter().filter(|(_, stat)| stat.kind == Kind::File) {
            let fits = stat.byte_size <= COMMAND_KEEP_FILE_BYTES_MAX
                && bytes.saturating_add(stat.byte_size) <= COMMAND_KEEP_BYTES_MAX
                && self.aside.len() < COMMAND_KEEP_FILES_MAX;
            if !fits {
                continue;
            }
            let number = self.aside.len() as u64;
            let place = self.folder.join(number.to_string());
            // What cannot be copied, or holds a secret, is treated like what is too large: its change is reported as
            // not undoable.
            if !redactor.is_empty() && holds_secret(workspace, path, redactor) {
                continue;
            }
            if copy(workspace, path, &place).is_ok() {
                bytes = bytes.saturating_add(stat.byte_size);
                self.aside.insert(path.clone(), number);
            }
        }
        Ok(())
    }

    /// After the command: what differs, in an order that can be taken back from its end.
    pub(crate) fn difference(&self, executors: &Executors) -> Result<Difference, Error> {
        let after = Self::now(&executors.workspace)?;
        let mut difference = Difference { notes: after.notes.clone(), ..Difference::default() };
        // Where a file does not show that it was changed, its bytes are compared as far as they were kept.
        let is_compared = |path: &RelPath| !TELLS_CHANGES && self.aside.contains_key(path);
        let touched: BTreeSet<&RelPath> = self
            .entries
            .iter()
            .filter(|(path, stat)| {
                is_compared(path) || after.entries.get(*path).is_none_or(|now| differs(stat, now))
            })
            .map(|(path, _)| path)
            .chain(after.entries.keys().filter(|path| !self.entries.contains_key(*path)))
            .collect();
        // Removals from the inside out, then the rest from the outside in.
        let gone = touched.iter().rev().filter(|path| !after.entries.contains_key(**path));
        let rest = touched.iter().filter(|path| after.entries.contains_key(**path));
        for path in gone.chain(rest) {
            self.one(executors, path, &mut difference);
        }
        // Where there was none, no mount could keep the command from making one.
        if let Some(path) = touched.iter().find(|path| is_capability(path)) {
            difference.notes.push(format!(
                "it changed `{path}`, where files say what Hermit may do in a project: look at them before you work there"
            ));
        }
        Ok(difference)
    }

    fn one(&self, executors: &Executors, path: &RelPath, difference: &mut Difference) {
        let resource = ResourceId::File(executors.workspace.id(), path.clone());
        let (before, bytes) = self.found(path);
        let after = executors.workspace.look(path);
        if before == after {
            return;
        }
        match (&before, bytes) {
            (Found::File { sha256, byte_size, .. }, Some(bytes)) => match executors.contents.keep(&bytes) {
                Ok(kept) if kept == *sha256 => {
                    difference.kept.push(Kept {
                        resource: resource.clone(),
                        sha256: kept,
                        byte_size: *byte_size,
                    });
                }
                Ok(_) => difference
                    .notes
                    .push(format!("the store gave another digest for the earlier bytes of `{path}`")),
                Err(why) => {
                    difference.notes.push(format!("the earlier bytes of `{path}` could not be kept: {why}"))
                }
            },
            (Found::Unreadable { .. }, _) => {
                difference.notes.push(format!(
                    "the change of `{path}` cannot be undone: its earlier bytes were not kept"
                ));
            }
            (Found::Symlink { .. } | Found::Special, _) => {
                difference.notes.push(format!("the change of `{path}` cannot be undone: it was not a file"));
            }
            _ => {}
        }
        if matches!(after, Found::Symlink { .. } | Found::Special) {
            difference.notes.push(format!("`{path}` is not a file now; undoing leaves it to a person"));
        }
        difference.changes.push(Change {
            resource: Sensitive::from(resource.to_string()),
            before,
            after,
            before_image: None,
            outcome: ItemOutcome::Done,
        });
    }

    fn found(&self, path: &RelPath) -> (Found, Option<Vec<u8>>) {
        let Some(stat) = self.entries.get(path) else {
            return (Found::Absent, None);
        };
        match stat.kind {
            Kind::Folder => (Found::Folder { mode: stat.mode }, None),
            Kind::Special => (Found::Special, None),
            Kind::Symlink => match self.links.get(path) {
                Some(target) => (Found::Symlink { target_sha256: *target }, None),
                None => (
                    Found::Unreadable { reason: "the link was not read before the command".to_owned() },
                    None,
                ),
            },
            Kind::File => match self
                .aside
                .get(path)
                .and_then(|number| fs::read(self.folder.join(number.to_string())).ok())
            {
                Some(bytes) => {
                    let byte_size = bytes.len() as u64;
                    let found = Found::File { sha256: Digest::of(&bytes), byte_size, mode: stat.mode };
                    (found, Some(bytes))
                }
                None => (
                    Found::Unreadable { reason: "its bytes were not kept before the command".to_owned() },
                    None,
                ),
            },
        }
    }
}

fn differs(before: &Stat, after: &Stat) -> bool {
    match (before.kind, after.kind) {
        (Kind::Folder, Kind::Folder) => false,
        // Changed-times cannot be set back by a program; an equal one means that nothing was written.
        _ => before != after,
    }
}

fn copy(workspace: &Workspace, path: &RelPath, place: &Path) -> Result<(), Error> {
    let (file, _) = workspace.parent(path)?.open_file(path.file_name(), path)?;
    let mut to = fs::File::create_new(place).map_err(|e| Error::io("keeping", path, e))?;
    io::copy(&mut file.into_std(), &mut to).map_err(|e| Error::io("keeping", path, e))?;
    Ok(())
}
