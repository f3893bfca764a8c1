//! Who the instance is: its key and the log's key vouch for each other, and its links lead back to genesis (HV-3.9-4).

use super::Check;
use crate::container::Stop;
use crate::instance::wrong;
use crate::layout as l;
use crate::report::{FoundSaid, IdentityFound};
use crate::statement::Predicate;
use model::identity::LINKS_MAX;

impl Check<'_> {
    /// Reads and follows the chain, where there is one. The bundle says that it is unbroken, so whatever is found in it makes the
    /// bundle invalid.
    pub(super) fn instance(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        match (self.has(l::IDENTITY_KEY), self.has(l::IDENTITY_LINKS)) {
            (false, false) => return Ok(()),
            (true, true) => {}
            (true, false) => return Err(Stop::at(l::IDENTITY_LINKS, "it is missing")),
            (false, true) => return Err(Stop::at(l::IDENTITY_KEY, "it is missing")),
        }
        let key = self.whole(l::IDENTITY_KEY, l::SMALL_BYTES_MAX)?;
        let bytes = self.whole(l::IDENTITY_LINKS, l::WHOLE_BYTES_MAX)?;
        let body = bytes.strip_suffix(b"\n");
        let body = body.ok_or_else(|| Stop::at(l::IDENTITY_LINKS, "its final newline is missing"))?;
        // One more than are followed, so that a file of newlines is no memory.
        let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').take(LINKS_MAX + 1).collect();
        let graph = identity::follow(Some(&key), &lines);
        let wrong = wrong(&graph, &predicate.log_id, &self.ever("log"));
        self.graph = Some(graph);
        match wrong {
            Some((place, why)) => Err(Stop::at(place, why)),
            None => Ok(()),
        }
    }

    /// What is known of the chain, for the report.
    pub(super) fn identity_found(&self) -> Option<IdentityFound> {
        let graph = self.graph.as_ref()?;
        let findings = graph.findings.iter().take(super::SENTENCES_MAX);
        Some(IdentityFound {
            instance_id: graph.instance_id.clone(),
            unbroken: graph.unbroken,
            key_in_force: graph.key_in_force.clone(),
            links: graph.links.len() as u64,
            findings: findings
                .map(|one| FoundSaid { what: one.what, number: one.number, says: one.says.clone() })
                .collect(),
        })
    }

    /// What is proven of the instance.
    pub(super) fn instance_in_words(&self) -> Option<String> {
        let graph = self.graph.as_ref()?;
        let (links, lead) = match graph.links.len() {
            1 => ("1 link".to_owned(), "leads"),
            many => (format!("{many} links"), "lead"),
        };
        Some(format!(
            "who it is: {links} {lead} back to the genesis of instance {}, unbroken and each signed by the key in force then; the \
             log's key and its first key signed each other, and {} is in force",
            graph.instance_id.as_deref().unwrap_or_default(),
            graph.key_in_force.as_deref().unwrap_or_default()
        ))
    }
}
