//! Who the instance is, and the anchors that go along. What does not fit together is left out and said: the proof of the task does
//! not rest on it, and with it whoever checks the bundle would refuse all of it.

use super::collect::Collected;
use super::heads::Heads;
use crate::layout::{self as l, AnchorFile, Named};
use crate::{AnchorFiles, Error};
use identity::Graph;
use model::anchor::{AnchorClock, AnchorSubject};
use model::identity::LINKS_MAX;
use seal::Digest;
use seal::merkle::{leaf_hash, verify_consistency, verify_inclusion};
use seal::note::{Checkpoint, Note};
use seal::succession::{Succession, before};
use seal::tlog_proof::TlogProof;

/// An anchor of this bundle, for the text that goes along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Along {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
    pub(crate) is_head: bool,
    pub(crate) clocks: Vec<AnchorClock>,
}

impl Collected<'_> {
    /// Adds who the instance is, and the anchors.
    pub(super) fn instance_files(&mut self, heads: &Heads) {
        let graph = self.identity_files().unwrap_or_else(|why| {
            self.left_out.push(format!("who the instance is: {why}"));
            None
        });
        let failed = |why: String| Error::Source { what: "the anchors".to_owned(), why };
        let anchors = match self.ground.source.anchors(self.ground.task).map_err(failed) {
            Ok(anchors) => anchors,
            Err(why) => {
                self.left_out.push(why.to_string());
                return;
            }
        };
        for one in anchors.into_iter().take(l::ANCHORS_MAX) {
            let number = one.requested.number;
            match self.anchor_files(&one, heads, graph.as_ref()) {
                Ok(files) => {
                    self.along.push(Along {
                        number,
                        digest: one.requested.digest,
                        is_head: one.note.is_some(),
                        clocks: one.proofs.iter().map(|(clock, _)| *clock).collect(),
                    });
                    for (file, bytes) in files {
                        self.bytes(&Named::Anchor(number, file).path(), bytes);
                    }
                }
                Err(why) => self.left_out.push(format!("anchor {number}: {why}")),
            }
        }
    }

    fn identity_files(&mut self) -> Result<Option<Graph>, Error> {
        let failed = |why: String| Error::Source { what: "its key and links".to_owned(), why };
        let source = self.ground.source;
        let Some(files) = source.identity().map_err(failed)? else { return Ok(None) };
        if files.links.len() > LINKS_MAX {
            return Err(Error::TooLarge { why: format!("{} links", files.links.len()) });
        }
        let lines: Vec<&[u8]> = files.links.iter().map(Vec::as_slice).collect();
        let graph = identity::follow(Some(&files.key), &lines);
        let mut log_keys = Vec::from_iter(self.keys.log);
        if let Some(log) = self.keys.log {
            let notes = source.successions().map_err(failed)?;
            let steps = notes.iter().map(|note| Succession::open(note));
            let steps = steps.collect::<Result<Vec<_>, _>>().map_err(Error::inconsistent)?;
            log_keys.extend(before(&log, "log", &steps));
        }
        if let Some((place, why)) = crate::instance::wrong(&graph, &self.log_id, &log_keys) {
            return Err(Error::inconsistent(format!("{place}: {why}")));
        }
        let mut text = lines.join(&b'\n');
        text.push(b'\n');
        if text.len() as u64 > l::WHOLE_BYTES_MAX {
            return Err(Error::TooLarge { why: format!("{} bytes of links", text.len()) });
        }
        self.bytes(l::IDENTITY_KEY, files.key);
        self.bytes(l::IDENTITY_LINKS, text);
        Ok(Some(graph))
    }

    /// The files of one anchor, checked as a receiver without certificates and headers would.
    fn anchor_files(
        &self,
        one: &AnchorFiles,
        heads: &Heads,
        graph: Option<&Graph>,
    ) -> Result<Vec<(AnchorFile, Vec<u8>)>, Error> {
        let requested = &one.requested;
        let bytes = seal::canon::to_canonical(requested).map_err(Error::inconsistent)?;
        let mut files = vec![(AnchorFile::Requested, bytes)];
        match (&requested.subject, &one.note) {
            (AnchorSubject::Head { .. }, Some(note)) => self.anchored_head(one, note, heads, &mut files)?,
            (AnchorSubject::Link { number }, None) => {
                let is_there = |graph: &Graph| {
                    graph
                        .links
                        .iter()
                        .any(|link| link.number == *number && link.link_sha256 == requested.digest)
                };
                if !graph.is_some_and(is_there) {
                    return Err(Error::inconsistent(format!("link {number} does not go along")));
                }
            }
            _ => return Err(Error::inconsistent("its head is no longer kept")),
        }
        if one.proofs.is_empty() {
            return Err(Error::inconsistent("no clock has given anything for it"));
        }
        let nobody = anchor::Trust { authorities: &[], headers: None };
        for (clock, proof) in &one.proofs {
            if proof.len() as u64 > l::SMALL_BYTES_MAX {
                return Err(Error::TooLarge { why: format!("{} bytes by {clock}", proof.len()) });
            }
            anchor::check(*clock, proof, &requested.digest, &nobody).map_err(Error::inconsistent)?;
            files.push((AnchorFile::Proof(*clock), proof.clone()));
        }
        Ok(files)
    }

    fn anchored_head(
        &self,
        one: &AnchorFiles,
        bytes: &[u8],
        heads: &Heads,
        files: &mut Vec<(AnchorFile, Vec<u8>)>,
    ) -> Result<(), Error> {
        let failed = |why: String| Error::Source { what: "the way from what was stamped".to_owned(), why };
        let source = self.ground.source;
        let note = Note::parse(bytes).map_err(Error::inconsistent)?;
        let head = Checkpoint::from_text(&note.text).map_err(Error::inconsistent)?;
        let global = &heads.global.2;
        let is_named = matches!(&one.requested.subject, AnchorSubject::Head { origin, size, root, note_sha256 }
            if *origin == head.origin && (*size, *root) == (head.size, head.root) && *note_sha256 == Digest::of(bytes));
        if !is_named
            || one.requested.digest != Digest::of(note.text.as_bytes())
            || head.origin != global.origin
        {
            return Err(Error::inconsistent("its head is not the one that was to be stamped"));
        }
        let path = source.global_consistency(head.size, global.size).map_err(failed)?;
        verify_consistency(head.size, global.size, &head.root, &global.root, &path)
            .map_err(Error::inconsistent)?;
        let way = crate::consistency::text(head.size, global.size, &path);
        files.push((AnchorFile::Checkpoint, bytes.to_vec()));
        files.push((AnchorFile::Consistency, way.into_bytes()));
        let Some(index) = one.task_index.filter(|index| *index < head.size) else { return Ok(()) };
        let path = source.global_proof(index, head.size).map_err(failed)?;
        let leaf = leaf_hash(heads.task.1.text.as_bytes());
        verify_inclusion(&leaf, index, head.size, &path, &head.root).map_err(Error::inconsistent)?;
        let place = TlogProof::new(index, path, note).to_text();
        files.push((AnchorFile::Place, place.into_bytes()));
        Ok(())
    }
}
