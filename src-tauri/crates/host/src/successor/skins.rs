//! Skins in a trial: each task is played under the skin of the name that its first context had, as a person trusts it now. A changed skin
//! takes the place of the one of its name, and is compared with what it would take the place of; where nobody trusts one of that name,
//! every task is played under it.

use super::case::{Handed, TaskTerms};
use ::successor::{Change, Patch, WordsItem};
use kernel::Kernel;
use kernel::command::skins::of_change;
use model::Digest;
use model::context::{ContextItem, ContextPack};
use model::skin::built_in;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A skin, among words.
pub(super) const SKIN: &str = "skin";
/// What names a skin among the items of a context.
const SOURCE: &str = "skin:";

/// The skin that a task had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WornSkin {
    /// Its name.
    pub name: String,
    /// SHA-256 of its file.
    pub sha256: Digest,
}

/// Why skins of a change cannot be tried; none where they can.
pub(super) fn untriable(items: &[WordsItem]) -> Option<String> {
    let mut skins = items.iter().filter(|item| item.what == SKIN);
    let first = skins.next()?;
    if let Some(other) = skins.next() {
        return Some(format!(
            "the skins `{}` and `{}` cannot be tried together: a conversation has one; try each as a change of its own",
            first.name, other.name
        ));
    }
    of_change(&first.name, &first.text)
        .err()
        .map(|why| format!("the skin `{}` cannot be tried: {why}", first.name))
}

/// The skin of a context.
pub(super) fn of_pack(pack: &ContextPack) -> Option<WornSkin> {
    let named = |item: &ContextItem| {
        let (name, sha256) = item.source.strip_prefix(SOURCE)?.rsplit_once('@')?;
        Some(WornSkin { name: name.to_owned(), sha256: sha256.parse().ok()? })
    };
    pack.items.iter().find_map(named)
}

/// Files of the skins of those names that tasks had, as a person trusts them now: which these are is put into the terms. Those that come
/// with Hermit are in every clone. One that holds the value of a secret, or is erased, stays behind.
pub(super) fn as_they_stand(kernel: &Kernel, terms: &mut [TaskTerms]) -> Vec<WordsItem> {
    let (registry, mut seen, mut words) = (kernel.skin_registry(), BTreeSet::new(), Vec::new());
    let redactor = kernel.ports().redactor.now();
    for worn in terms.iter_mut().filter_map(|terms| terms.skin.as_mut()) {
        if is_built_in(worn.sha256) {
            continue;
        }
        let Some(version) = registry.latest(&worn.name) else { continue };
        worn.sha256 = version.sha256;
        if !seen.insert(version.sha256) {
            continue;
        }
        let Ok(bytes) = kernel.artifacts().read(&version.file.sha256) else { continue };
        let text = String::from_utf8(bytes).ok().filter(|text| redactor.holds(text.as_bytes()).is_empty());
        words.extend(text.map(|text| WordsItem { what: SKIN.to_owned(), name: worn.name.clone(), text }));
    }
    words
}

fn is_built_in(sha256: Digest) -> bool {
    built_in().iter().any(|(_, own)| *own == sha256)
}

/// Why a change of a skin would not be beside the skin as it is; none where nobody trusts one of its name, or a task has it.
pub(super) fn unseen(kernel: &Kernel, patch: &Patch, handed: &Handed) -> Option<String> {
    let Change::Words { items } = &patch.change else { return None };
    let changed = items.iter().find(|item| item.what == SKIN)?;
    kernel.skin_registry().latest(&changed.name)?;
    let is_handed = handed.words.iter().any(|item| item.what == SKIN && item.name == changed.name);
    (!is_handed).then(|| {
        format!(
            "none of the tasks had the skin `{}` that you trust, or it holds the value of a secret, so that a change of it would be \
             compared with nothing; name a task that had it (`--on TASK`)",
            changed.name
        )
    })
}

/// The skin that a task of the case is played under, by its place there.
///
/// # Errors
/// In words, where the skin of the change is none.
pub(super) fn worn(handed: &Handed, at: usize) -> Result<Option<Digest>, String> {
    let had = handed.terms.get(at).and_then(|terms| terms.skin.as_ref());
    if let Some(Change::Words { items }) = handed.case.patch.as_ref().map(|patch| &patch.change)
        && let Some(changed) = items.iter().find(|item| item.what == SKIN)
    {
        let is_of_name = |worn: &WornSkin| worn.name == changed.name;
        let is_new = !handed.terms.iter().filter_map(|terms| terms.skin.as_ref()).any(is_of_name);
        if is_new || had.is_some_and(is_of_name) {
            return of_change(&changed.name, &changed.text)?.digest().map(Some);
        }
    }
    let is_there = |worn: &&WornSkin| {
        let is_handed =
            |item: &WordsItem| item.what == SKIN && Digest::of(item.text.as_bytes()) == worn.sha256;
        is_built_in(worn.sha256) || handed.words.iter().any(is_handed)
    };
    Ok(had.filter(is_there).map(|worn| worn.sha256))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::successor::ParentPlaces;
    use ::successor::{Budget, Case};
    use model::skin::Skin;
    use seal::SeedSigner;
    use words::successor::Arm;

    fn signed(name: &str, voice: &str) -> String {
        let skin = Skin { voice: voice.to_owned(), ..Skin::draft(name) };
        let file = skin.signed_by(&SeedSigner::from_seed([7; 32])).expect("it is signed");
        String::from_utf8(file.to_bytes().expect("it has a canonical form")).expect("text")
    }

    fn item(name: &str, text: &str) -> WordsItem {
        WordsItem { what: SKIN.to_owned(), name: name.to_owned(), text: text.to_owned() }
    }

    /// Two tasks, of which the first had this skin.
    fn handed(skin: Option<WornSkin>, words: Vec<WordsItem>, change: Option<WordsItem>) -> Handed {
        let budget =
            Budget { wall_ms: 1, cpu_ms: 1, memory_bytes: 1, disk_bytes: 1, processes: 1, tokens: 1 };
        let patch = change.map(|item| Patch {
            says: "it speaks otherwise".to_owned(),
            sources: vec!["own".to_owned()],
            change: Change::Words { items: vec![item] },
        });
        let case = Case {
            trial_id: "trial".to_owned(),
            seed: 1,
            budget,
            patch,
            rules: String::new(),
            profile: "local_edit_allowed".to_owned(),
            tools: Vec::new(),
            tasks: Vec::new(),
        };
        Handed {
            case,
            arm: Arm::Parent,
            words,
            skills: Vec::new(),
            terms: vec![TaskTerms { skin, ..TaskTerms::default() }, TaskTerms::default()],
            file_rules: None,
            model: None,
            places: ParentPlaces::default(),
        }
    }

    #[test]
    fn a_changed_skin_takes_the_place_of_its_name_and_a_new_one_is_worn_by_all() {
        let (was, is) = (signed("harbour", "calm"), signed("harbour", "loud"));
        let had = || {
            let sha256 = Digest::of(was.as_bytes());
            Some(WornSkin { name: "harbour".to_owned(), sha256 })
        };
        let all = |handed: &Handed| [worn(handed, 0).expect("read"), worn(handed, 1).expect("read")];
        let (before, after) = (Some(Digest::of(was.as_bytes())), Some(Digest::of(is.as_bytes())));
        let stands = || vec![item("harbour", &was)];
        assert_eq!(all(&handed(had(), stands(), None)), [before, None]);
        assert_eq!(all(&handed(had(), Vec::new(), None)), [None, None], "one that is not there any more");
        assert_eq!(all(&handed(had(), stands(), Some(item("harbour", &is)))), [after, None]);
        let other = signed("quay", "short");
        let new = Some(Digest::of(other.as_bytes()));
        assert_eq!(all(&handed(had(), stands(), Some(item("quay", &other)))), [new, new]);
    }

    #[test]
    fn a_skin_that_could_not_be_adopted_is_not_tried() {
        let signed = item("harbour", &signed("harbour", "calm"));
        assert_eq!(untriable(std::slice::from_ref(&signed)), None);
        let draft = serde_json::json!({ "skin": Skin::draft("quay") }).to_string();
        for (items, says) in [
            (vec![item("quay", &draft)], "nobody signed the skin"),
            (vec![item("other", &signed.text)], "needs its own name"),
            (vec![item("quay", "loud")], "it is no skin"),
            (vec![signed.clone(), item("quay", &draft)], "cannot be tried together"),
        ] {
            assert!(untriable(&items).is_some_and(|why| why.contains(says)), "{says}");
        }
    }
}
