//! A changed playbook at work in a task that the playbook of its name did: it is given what was seen then and proposes by its new text,
//! and where that goes where no recording leads, the task ends.

use super::case::{Handed, TaskTerms};
use super::recorded_executors::RecordedWorld;
use ::successor::{Change, Patch, WordsItem};
use reasoning::{Error, Playbook, Reasoner, Scripted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A playbook, among words.
pub(super) const PLAYBOOK: &str = "playbook";

/// Reads a changed playbook.
///
/// # Errors
/// In words, for a text that is none, one that has another name, or one of a name that comes with Hermit, under which it would never
/// run.
pub(super) fn read(item: &WordsItem) -> Result<Playbook, String> {
    let name = &item.name;
    let playbook =
        Playbook::parse(&item.text).map_err(|e| format!("the playbook `{name}` cannot be tried: {e}"))?;
    if playbook.name() != name {
        return Err(format!("the playbook `{name}` cannot be tried: it calls itself `{}`", playbook.name()));
    }
    if crate::reasoners::is_shipped(name) {
        return Err(format!(
            "the playbook `{name}` cannot be tried: it comes with Hermit; give yours a name of its own"
        ));
    }
    Ok(playbook)
}

/// The playbooks of a change, by name.
///
/// # Errors
/// As [`read`].
pub(super) fn of(patch: Option<&Patch>) -> Result<BTreeMap<String, Playbook>, String> {
    let Some(Change::Words { items }) = patch.map(|patch| &patch.change) else { return Ok(BTreeMap::new()) };
    let changed = items.iter().filter(|item| item.what == PLAYBOOK);
    changed.map(|item| read(item).map(|playbook| (item.name.clone(), playbook))).collect()
}

/// Why a change of playbooks would show nothing on these tasks; none where each of them has a task that it did.
pub(super) fn unseen(patch: &Patch, handed: &Handed) -> Option<String> {
    let Change::Words { items } = &patch.change else { return None };
    let did = |name: &str| {
        handed.terms.iter().filter_map(|terms| terms.playbook.as_ref()).any(|playbook| playbook.name == name)
    };
    let idle = items.iter().find(|item| item.what == PLAYBOOK && !did(&item.name))?;
    Some(format!(
        "none of the tasks was done by the playbook `{}`, so that a change of it would show nothing; name one that was",
        idle.name
    ))
}

/// What proposes in a task in the place of its recorded answers, where the change is one of the playbook that did it.
pub(super) fn at_work(
    changed: &BTreeMap<String, Playbook>,
    terms: &TaskTerms,
) -> Option<(Playbook, BTreeMap<String, String>)> {
    let did = terms.playbook.as_ref()?;
    Some((changed.get(&did.name)?.clone(), did.parameters.clone()))
}

/// A changed playbook as the model of a task. It reads the same context as the recorded answers, so that it costs the same to ask.
pub(super) fn model_of(
    (playbook, parameters): (Playbook, BTreeMap<String, String>),
    world: &Arc<RecordedWorld>,
) -> Arc<dyn Reasoner> {
    let world = Arc::clone(world);
    Arc::new(Scripted::with(move |input| {
        let over = |why: String| Error::Transcript { why };
        if world.diverged().is_some() {
            return Err(over("the task has left its recording".to_owned()));
        }
        let reasoner = playbook.to_reasoner(&parameters).map_err(|e| {
            world.diverge("the playbook does not take what the task gave it");
            over(e.to_string())
        })?;
        Ok(reasoner.propose(input, &mut |_| {}, &|| false)?.answer)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, text: &str) -> WordsItem {
        WordsItem { what: PLAYBOOK.to_owned(), name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_playbook_is_tried_under_a_name_of_its_own_alone() {
        let shipped = Playbook::shipped();
        let tidy = shipped.iter().find(|one| one.name() == "tidy").expect("it is shipped").text();
        let own = tidy.replacen("name: tidy", "name: my-tidy", 1);
        assert_eq!(read(&item("my-tidy", &own)).expect("it is one").name(), "my-tidy");
        for (name, text, says) in [
            ("tidy", tidy, "comes with Hermit"),
            ("other", own.as_str(), "calls itself `my-tidy`"),
            ("other", "playbook: 1\n", "cannot be tried"),
        ] {
            assert!(read(&item(name, text)).is_err_and(|why| why.contains(says)), "{says}");
        }
    }
}
