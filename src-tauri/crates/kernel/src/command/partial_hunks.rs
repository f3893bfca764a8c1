//! Files of which a person takes some hunks: the kernel makes their bytes, out of the file as it stands there and the
//! file as it was proposed (governance.md 2).

use super::partial_approval::Chosen;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::tx::Tx;
use acts::{Action, ActionRequest};
use effects::hunks::{edits, with_hunks};
use model::RelPath;
use model::action::{ChangeItem, Prior};
use seal::Digest;
use std::collections::BTreeSet;

/// Begins the lines of what was left out of a file.
const LEFT: &str = "left out of ";
/// Characters of what was left out that the proposer is shown; the whole is an artifact.
const SHOWN_CHARS_MAX: usize = 8 * 1024;

/// A file of which some hunks are taken, and some are not.
pub(super) struct Cut {
    /// The place of its item.
    pub(super) at: usize,
    path: RelPath,
    taken: BTreeSet<usize>,
    of: usize,
    bytes: Vec<u8>,
    rest: String,
}

/// What was chosen, with the bytes of what is taken in part.
pub(super) struct Resolved {
    /// Places of the items, whole and in part.
    pub(super) items: BTreeSet<usize>,
    pub(super) cuts: Vec<Cut>,
}

impl Kernel {
    /// Cuts the files of which hunks were chosen.
    pub(super) fn cut_hunks(
        &self,
        state: &TaskState,
        asked: &ActionRequest,
        chosen: &Chosen,
    ) -> Result<Resolved, Error> {
        let (mut items, mut cuts) = (chosen.items.clone(), Vec::new());
        items.retain(|at| !chosen.hunks.contains_key(at));
        for (at, taken) in &chosen.hunks {
            let item = asked.items().get(*at);
            let item = item.ok_or_else(|| Error::Input("there is no such change in this".to_owned()))?;
            let name = acts::visible_path(item.path());
            let refused = |why: String| Error::Input(format!("{name} {why}"));
            let whole = |why: &str| refused(format!("can be chosen only whole: {why}"));
            if !matches!(asked.action, Action::Change(_)) {
                return Err(whole("it is what a command left, and only files that are proposed are cut"));
            }
            let ChangeItem::Write { path, content_sha256, prior: Prior::Sha256(prior), .. } = item else {
                return Err(whole("only a text that replaces another has hunks"));
            };
            let mut there = self.executors(state)?.texts(std::slice::from_ref(path));
            let before = match (there.remove(prior), there.is_empty()) {
                (Some(bytes), _) => bytes,
                (None, true) => return Err(whole("what is there cannot be read as a text")),
                (None, false) => {
                    let why = format!(
                        "{name} has changed since this was asked, so its hunks are not those you saw"
                    );
                    return Err(Error::Conflict(why));
                }
            };
            let after = self.artifacts.read(content_sha256)?;
            let all = edits(&before, &after).map_err(|why| whole(&format!("it {why}")))?;
            let of = all.last().map_or(0, |edit| edit.hunk);
            let bytes = with_hunks(&before, &after, taken).map_err(refused)?;
            if taken.is_empty() {
                continue;
            }
            items.insert(*at);
            if taken.len() < of {
                let rest = effects::difference(&bytes, &after).unwrap_or_default();
                cuts.push(Cut { at: *at, path: path.clone(), taken: taken.clone(), of, bytes, rest });
            }
        }
        Ok(Resolved { items, cuts })
    }
}

impl Cut {
    pub(super) fn name(&self) -> String {
        acts::visible_path(&self.path)
    }

    /// Puts the bytes of the chosen hunks in the place of those that were proposed.
    pub(super) fn put_in(&self, tx: &mut Tx<'_>, items: &mut [ChangeItem]) -> Result<(), Error> {
        let made: Digest = tx.keep(&self.bytes)?;
        for item in items.iter_mut().filter(|item| *item.path() == self.path) {
            if let ChangeItem::Write { content_sha256, byte_size, .. } = item {
                (*content_sha256, *byte_size) = (made, self.bytes.len() as u64);
            }
        }
        Ok(())
    }

    pub(super) fn taken_in_words(&self) -> String {
        format!("{} of {} in {}", numbers(&self.taken), self.of, self.name())
    }

    pub(super) fn left_in_words(&self) -> String {
        let left = (1..=self.of).filter(|hunk| !self.taken.contains(hunk)).collect();
        format!("{} of {} in {}", numbers(&left), self.of, self.name())
    }

    /// What is not done of it: from the bytes that were made to those that were proposed.
    pub(super) fn rest_in_lines(&self) -> String {
        format!("{LEFT}{}:\n{}", self.name(), self.rest.trim_end_matches('\n'))
    }
}

/// Numbers of hunks, those that follow each other as one.
fn numbers(hunks: &BTreeSet<usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for hunk in hunks {
        match runs.last_mut() {
            Some((_, end)) if end.saturating_add(1) == *hunk => *end = *hunk,
            _ => runs.push((*hunk, *hunk)),
        }
    }
    let said =
        |(from, end): (usize, usize)| if from == end { format!("{from}") } else { format!("{from}-{end}") };
    let all: Vec<String> = runs.into_iter().map(said).collect();
    format!("{} {}", if hunks.len() == 1 { "hunk" } else { "hunks" }, all.join(", "))
}

/// The hunks that were left out, out of the draft of what is not done.
pub(super) fn left_in(draft: &str) -> Option<String> {
    let (_, rest) = draft.split_once('\n')?;
    let at = if rest.starts_with(LEFT) { 0 } else { rest.find(&format!("\n{LEFT}"))?.saturating_add(1) };
    let left = rest.get(at..)?;
    let mut shown: String = left.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < left.len() {
        shown.push('…');
    }
    Some(shown)
}

/// Whether an item would do exactly what a person left out of a file, of which they took other hunks.
pub(super) fn after_a_part(whole: &ChangeItem, cut: &ChangeItem, item: &ChangeItem) -> bool {
    let ChangeItem::Write { path, content_sha256: made, byte_size: _, prior: _, mode } = cut else {
        return false;
    };
    let ChangeItem::Write { content_sha256: proposed, byte_size, .. } = whole else { return false };
    let rest = ChangeItem::Write {
        path: path.clone(),
        content_sha256: *proposed,
        byte_size: *byte_size,
        prior: Prior::Sha256(*made),
        mode: *mode,
    };
    made != proposed && *item == rest
}
