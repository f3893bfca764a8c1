//! What a look into a secret brought stands in no claim: none is kept that repeats it, and none that is held is told.

use crate::Error;
use crate::kernel::Kernel;
use crate::query::view;
use acts::Remember;
use model::artifact::EvidenceRef;
use model::{MemoryId, TaskId};
use projections::query::Repeated;
use projections::rows::MemoryRow;
use std::collections::BTreeSet;

impl Kernel {
    /// Why words are not remembered, if they are not: they repeat a value of a secret that one of these tasks, or one that the evidence
    /// names, looked into, or such a one as nobody says by chance of any other.
    pub(in crate::command) fn why_withheld(
        &self,
        tasks: &[TaskId],
        evidence: &[EvidenceRef],
        words: &[&str],
    ) -> Result<Option<&'static str>, Error> {
        let brought = self.query()?.brought(tasks, evidence).map_err(view)?;
        Ok(brought.repeated_in(&words.join("\n")).map(in_words))
    }

    /// The same for a claim of an act.
    pub(super) fn why_not_kept(&self, task: TaskId, act: &Remember) -> Result<Option<&'static str>, Error> {
        let words = [&act.claim, &act.scope, &act.promotion_reason].map(String::as_str);
        self.why_withheld(&[task], &act.evidence_refs, &words)
    }

    /// Takes out what no context is told, and names it: claims that were kept although they repeat a value of a secret, or of which
    /// nobody can tell.
    pub(super) fn without_withheld(
        &self,
        in_force: &mut Vec<MemoryRow>,
        by_words: &mut Vec<(MemoryRow, u32)>,
        near: &mut Vec<MemoryRow>,
    ) -> Result<BTreeSet<MemoryId>, Error> {
        let found = by_words.iter().map(|(row, _)| row);
        let rows: Vec<&MemoryRow> = in_force.iter().chain(found).chain(near.iter()).collect();
        let withheld = self.query()?.memories_repeating(&rows).map_err(view)?;
        in_force.retain(|row| !withheld.contains(&row.memory_id));
        by_words.retain(|(row, _)| !withheld.contains(&row.memory_id));
        near.retain(|row| !withheld.contains(&row.memory_id));
        Ok(withheld)
    }
}

const fn in_words(repeated: Repeated) -> &'static str {
    match repeated {
        Repeated::Value => {
            "it holds a value of a secret that a task looked at, and every later task would be told of it; say it without that value"
        }
        Repeated::Perhaps => {
            "it comes from a look at a secret of which not all values are known any more, so nobody can tell whether it holds one; \
             a person can say it in their own words with `hermit memory add`"
        }
    }
}
