//! The roots of state that go along: of the task's conversation and of the memory that holds in its project.

use super::collect::Collected;
use super::heads::{self, Heads};
use crate::layout as l;
use crate::{Error, Scope};
use model::Event;
use seal::merkle::{leaf_hash, verify_inclusion};
use seal::tlog_proof::TlogProof;

impl Collected<'_> {
    /// The event that states the roots, its place in the log, and each root with its leaves. One receipt alone has none. What
    /// does not fit together is left out and said: the proof of the task does not rest on it.
    pub(super) fn state_files(&mut self, scope: Scope, heads: &Heads) {
        if matches!(scope, Scope::Receipt(_)) {
            return;
        }
        if let Err(why) = self.roots_of_state(heads) {
            self.left_out.push(format!("the roots of its conversation and of memory: {why}"));
        }
    }

    fn roots_of_state(&mut self, heads: &Heads) -> Result<(), Error> {
        let failed = |why: String| Error::Source { what: "the roots of state".to_owned(), why };
        let source = self.ground.source;
        let Some(state) = source.state(self.ground.task).map_err(failed)? else { return Ok(()) };
        let event = Event::from_bytes(&state.event).map_err(Error::inconsistent)?;
        let head = heads::read(state.head)?;
        let index = event.task_seq.saturating_sub(1);
        verify_inclusion(&leaf_hash(&state.event), index, head.2.size, &state.path, &head.2.root)
            .map_err(Error::inconsistent)?;
        let place = heads::in_log(source, &head, &heads.global)?;
        let mut lines = Vec::new();
        for subject in &state.subjects {
            lines.extend(seal::canon::to_canonical(subject).map_err(Error::inconsistent)?);
            lines.push(b'\n');
        }
        self.text(l::STATE_CHECKPOINT_PROOF, place);
        self.text(l::STATE_ROOTED_PROOF, TlogProof::new(index, state.path, head.1).to_text());
        self.bytes(l::STATE_ROOTED, state.event);
        self.bytes(l::STATE_SUBJECTS, lines);
        self.left_out.extend(state.left_out);
        Ok(())
    }
}
