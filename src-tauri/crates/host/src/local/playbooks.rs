//! Playbooks that a person adopted, as they are in the store.

use super::Local;
use crate::reasoners::is_shipped;
use api::Host as _;
use wire::task::Reasoner;

impl Local {
    /// Version and text of every adopted playbook that runs, or of the one of a name; none where the store cannot be read.
    pub(super) fn adopted_playbooks(&self, name: Option<&str>) -> Vec<(u32, String)> {
        let Ok(reader) = self.reader() else { return Vec::new() };
        let (Ok(store), Ok(artifacts)) = (api::store_state(&reader), self.artifacts()) else {
            return Vec::new();
        };
        let used = store.playbooks.all_in_use().filter(|one| name.is_none_or(|name| name == one.name));
        let text = |one: &kernel::playbook_registry::PlaybookVersion| {
            let bytes = artifacts.read(&one.sha256).ok()?;
            Some((one.version, String::from_utf8(bytes).ok()?))
        };
        used.filter_map(text).collect()
    }

    /// Who is to propose, with the text that a person adopted where a playbook is meant by its name alone. The settings of the
    /// others are read anew each time: the standard and the keys of servers may have been set meanwhile.
    pub(super) fn adopted(&self, choice: &Reasoner) -> Reasoner {
        let own = match choice {
            Reasoner::Playbook { name, text: None, parameters } if !is_shipped(name) => {
                let adopted = self.adopted_playbooks(Some(name)).pop();
                let with = |(_, text)| (name.clone(), Some(text), parameters.clone());
                adopted.map(with).map(|(name, text, parameters)| Reasoner::Playbook {
                    name,
                    text,
                    parameters,
                })
            }
            _ => None,
        };
        own.unwrap_or_else(|| choice.clone())
    }
}
