//! Anchors: what a clock stamped is a head that leads to this log's, or a link of the instance; and what its proof shows (HV-3.6-3).

use super::Check;
use super::heads::{open, stands_in};
use crate::anchored::Requested;
use crate::container::Stop;
use crate::layout::{self as l, AnchorFile, Named};
use crate::report::{AnchorFound, Stands};
use model::UnixMs;
use model::anchor::{AnchorClock, AnchorSubject};
use seal::Digest;
use seal::merkle::{leaf_hash, verify_consistency};
use seal::note::Note;
use std::collections::BTreeMap;

/// What only an anchored head has.
const OF_A_HEAD: [AnchorFile; 3] = [AnchorFile::Checkpoint, AnchorFile::Consistency, AnchorFile::Place];

/// What one clock says of one anchor.
pub(super) struct Anchored {
    number: u64,
    /// The link that was stamped, where it was one.
    link: Option<u64>,
    clock: AnchorClock,
    covers_task: bool,
    checked: anchor::Checked,
}

impl Check<'_> {
    /// All anchors, in the order of their numbers.
    pub(super) fn anchors(&mut self) -> Result<(), Stop> {
        let mut anchors: BTreeMap<u64, Vec<AnchorFile>> = BTreeMap::new();
        for name in self.sums.below(l::ANCHORS) {
            if let Some(Named::Anchor(number, file)) = Named::parse(name) {
                anchors.entry(number).or_default().push(file);
            }
        }
        if anchors.len() > l::ANCHORS_MAX {
            let why = format!("no bundle has more than {} anchors", l::ANCHORS_MAX);
            return Err(Stop::at("anchors", why));
        }
        anchors.into_iter().try_for_each(|(number, files)| self.anchor(number, &files))
    }

    fn anchor(&mut self, number: u64, files: &[AnchorFile]) -> Result<(), Stop> {
        let name = Named::Anchor(number, AnchorFile::Requested).path();
        if !files.contains(&AnchorFile::Requested) {
            return Err(Stop::at(name, "it is missing"));
        }
        let bytes = self.whole(&name, l::SMALL_BYTES_MAX)?;
        let requested: Requested = seal::canon::from_canonical(&bytes).map_err(|e| Stop::at(&name, e))?;
        if requested.number != number {
            return Err(Stop::at(name, format!("it is anchor {}", requested.number)));
        }
        let (link, covers_task) = match requested.subject {
            AnchorSubject::Head { .. } => (None, self.anchored_head(&requested, files)?),
            AnchorSubject::Link { number: link } => {
                if let Some(file) = OF_A_HEAD.into_iter().find(|file| files.contains(file)) {
                    return Err(Stop::at(Named::Anchor(number, file).path(), "only an anchored head has it"));
                }
                self.anchored_link(&name, link, &requested.digest)?;
                (Some(link), false)
            }
        };
        let mut given = 0;
        for clock in AnchorClock::ALL.iter().copied().filter(|c| files.contains(&AnchorFile::Proof(*c))) {
            let place = Named::Anchor(number, AnchorFile::Proof(clock)).path();
            let proof = self.whole(&place, l::SMALL_BYTES_MAX)?;
            let checked = anchor::check(clock, &proof, &requested.digest, &self.clocks.trust())
                .map_err(|e| Stop::at(&place, e))?;
            self.anchored.push(Anchored { number, link, clock, covers_task, checked });
            given += 1;
        }
        if given == 0 { Err(Stop::at(name, "no clock has given anything for it")) } else { Ok(()) }
    }

    /// A head that was stamped: signed by a log key that is known here, the beginning of this log. Whether the task's head stands
    /// under it.
    fn anchored_head(&mut self, requested: &Requested, files: &[AnchorFile]) -> Result<bool, Stop> {
        let number = requested.number;
        let [name, noted, way, place] =
            [AnchorFile::Requested, AnchorFile::Checkpoint, AnchorFile::Consistency, AnchorFile::Place]
                .map(|file| Named::Anchor(number, file).path());
        for (file, path) in [(AnchorFile::Checkpoint, &noted), (AnchorFile::Consistency, &way)] {
            if !files.contains(&file) {
                return Err(Stop::at(path, "it is missing"));
            }
        }
        let heads = self.heads.as_ref().ok_or_else(|| Stop::at(l::LOG_CHECKPOINT, "it is missing"))?;
        let (log_key, global, task_note) =
            (heads.log_key.clone(), heads.global.clone(), heads.task_note.clone());
        let bytes = self.whole(&noted, l::SMALL_BYTES_MAX)?;
        let note = Note::parse(&bytes).map_err(|e| Stop::at(&noted, e))?;
        let head = open(&noted, &note, &self.key_of(&note, &log_key))?;
        let is_named = matches!(&requested.subject, AnchorSubject::Head { origin, size, root, note_sha256 }
            if *origin == head.origin && (*size, *root) == (head.size, head.root) && *note_sha256 == Digest::of(&bytes));
        if !is_named {
            return Err(Stop::at(noted, "it is another head than the one that was to be stamped"));
        }
        if requested.digest != Digest::of(note.text.as_bytes()) {
            return Err(Stop::at(name, "its digest is not that of the head's text"));
        }
        let text = self.text(&way)?;
        let path = crate::consistency::parse(&text, head.size, global.size).map_err(|e| Stop::at(&way, e))?;
        verify_consistency(head.size, global.size, &head.root, &global.root, &path)
            .map_err(|e| Stop::at(&way, e))?;
        if !files.contains(&AnchorFile::Place) {
            return Ok(false);
        }
        let task = Note::parse(&task_note).map_err(|e| Stop::at(l::TASK_CHECKPOINT, e))?;
        let proof = self.proof(&place, &bytes)?;
        stands_in(&place, &proof, &leaf_hash(task.text.as_bytes()), &head)?;
        Ok(true)
    }

    fn anchored_link(&self, name: &str, link: u64, digest: &Digest) -> Result<(), Stop> {
        let links = self.graph.as_ref().map(|graph| graph.links.as_slice()).unwrap_or_default();
        match links.iter().find(|one| one.number == link) {
            Some(one) if one.link_sha256 == *digest => Ok(()),
            Some(_) => Err(Stop::at(name, format!("its digest is not that of link {link}"))),
            None => Err(Stop::at(name, format!("there is no link {link} in {}", l::IDENTITY_LINKS))),
        }
    }

    /// What is known of the anchors, for the report.
    pub(super) fn anchors_found(&self) -> Vec<AnchorFound> {
        self.anchored.iter().map(Anchored::found).collect()
    }

    /// The earliest time by which the task's head existed, as far as a clock proves it, and who says so.
    pub(super) fn proven_not_after(&self) -> Option<UnixMs> {
        self.covering().filter_map(Anchored::not_after).min()
    }

    fn covering(&self) -> impl Iterator<Item = &Anchored> {
        self.anchored.iter().filter(|one| one.covers_task)
    }

    /// What clocks prove of the task, of links, and of the log.
    pub(super) fn clocks_in_words(&self) -> Vec<String> {
        let mut said = Vec::new();
        let agree: Vec<String> = self.covering().filter_map(Anchored::by).collect();
        if let Some(not_after) = self.proven_not_after() {
            let receipts = match self.counts.receipts {
                0 => String::new(),
                1 => ", the receipt here too".to_owned(),
                many => format!(", each of the {many} receipts here too"),
            };
            let agree = match agree.as_slice() {
                [one] => format!("one clock says so: {one}"),
                all => format!("{} clocks agree: {}", all.len(), all.join(", ")),
            };
            said.push(format!(
                "all that the task's checkpoint covers existed before {}{receipts}; {agree}",
                crate::time::before(not_after.0)
            ));
        }
        for one in self.anchored.iter().filter(|one| !one.covers_task) {
            let Some(by) = one.by() else { continue };
            said.push(match one.link {
                Some(link) => format!("link {link} of the instance existed then: {by}"),
                None => {
                    format!("a head from which this log goes on, and which does not cover the task, existed then: {by}")
                }
            });
        }
        said
    }

    /// What stays open about when: no clock here proves that something is younger than a time.
    pub(super) fn interval_in_words(&self) -> Option<String> {
        let not_after = self.proven_not_after()?;
        let newest = self.facts.newest?;
        let (own, before) = (crate::time::at(newest.0), crate::time::before(not_after.0));
        Some(if newest > not_after {
            format!(
                "when things happened: the machine's own clock was ahead, since it says {own} for an event that existed before {before}"
            )
        } else {
            format!(
                "how long before {before} things happened: nothing here proves that they are younger than any time; by the machine's \
                 own clock the newest event here is of {own}"
            )
        })
    }

    /// What has to be taken on trust where a clock proves something.
    pub(super) fn trusted_clocks(&self, asserted: &mut Vec<String>) {
        for one in self.anchored.iter().filter(|one| one.checked.proven.is_some()) {
            for what in &one.checked.on_trust {
                super::add(asserted, format!("{}: {what}", one.name()));
            }
        }
    }

    /// What clocks do not prove.
    pub(super) fn silent_clocks(&self, not_shown: &mut Vec<String>) {
        for one in self.anchored.iter().filter(|one| one.checked.proven.is_none()) {
            let why = one.checked.says.join("; ");
            let standing = if one.checked.pending {
                "is pending, and proves nothing yet"
            } else {
                "is not proven with what you gave"
            };
            let why = if why.is_empty() { why } else { format!(": {why}") };
            super::add(not_shown, format!("a time by {}: it {standing}{why}", one.name()));
        }
    }
}

impl Anchored {
    fn not_after(&self) -> Option<UnixMs> {
        self.checked.proven.as_ref().map(|proven| proven.not_after)
    }

    fn name(&self) -> String {
        format!("anchor {} ({})", self.number, self.clock)
    }

    /// Who says by when, where it is proven.
    fn by(&self) -> Option<String> {
        let proven = self.checked.proven.as_ref()?;
        let block = proven.block.as_ref().map(|block| format!(", block {} of Bitcoin", block.height));
        let before = crate::time::before(proven.not_after.0);
        Some(format!("before {before} by {}{}", self.name(), block.unwrap_or_default()))
    }

    fn found(&self) -> AnchorFound {
        let checked = &self.checked;
        AnchorFound {
            number: self.number,
            of: if self.link.is_some() { "link" } else { "head" }.to_owned(),
            link: self.link,
            clock: self.clock,
            state: match (&checked.proven, checked.pending) {
                (Some(_), _) => Stands::Anchored,
                (None, true) => Stands::Pending,
                (None, false) => Stands::Unproven,
            },
            not_after: self.not_after().map(|at| at.0),
            block_height: checked.proven.as_ref().and_then(|proven| Some(proven.block.as_ref()?.height)),
            covers_task: self.covers_task,
            says: checked.says.clone(),
            on_trust: checked.on_trust.clone(),
        }
    }
}
