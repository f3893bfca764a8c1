//! Machines of the mesh by name: which one is meant, and how each is told from the others.

use crate::{not_found, usage};
use kernel::mesh_registry::MeshRegistry;
use mesh::NodeId;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use wire::{Code, Error};

/// Digits of a key that are shown where a name alone does not tell.
const DIGITS_SHOWN: usize = 8;
/// Fewer digits of a key name too much by accident.
const DIGITS_MIN: usize = 4;
/// Machines that are named in an error.
const CANDIDATES_MAX: usize = 10;
/// What this machine is called before its person gave it a name.
const UNNAMED: &str = "this machine";

/// Machines by their keys, each with a name that no other has.
#[derive(Debug, Default)]
pub(super) struct Names {
    me: Option<NodeId>,
    called: BTreeMap<NodeId, String>,
    /// How many machines are called so, whatever the size of the letters.
    bearers: BTreeMap<String, u32>,
    withdrawn: BTreeSet<NodeId>,
}

impl Names {
    /// Of this machine and of all that are or were paired with it.
    pub fn of(registry: &MeshRegistry) -> Self {
        let own = registry.name().unwrap_or(UNNAMED).to_owned();
        let peers = registry.state().into_iter().flat_map(|state| state.every_peer());
        Self::new(
            registry.node().map(|me| (me, own)),
            peers.map(|(peer, is_withdrawn)| (peer.node, peer.name.clone(), is_withdrawn)),
        )
    }

    fn new(me: Option<(NodeId, String)>, peers: impl Iterator<Item = (NodeId, String, bool)>) -> Self {
        let mut names = Self { me: me.as_ref().map(|(node, _)| *node), ..Self::default() };
        names.called.extend(me);
        for (node, name, is_withdrawn) in peers {
            names.called.insert(node, name.trim().to_owned());
            names.withdrawn.extend(Some(node).filter(|_| is_withdrawn));
        }
        for name in names.called.values() {
            *names.bearers.entry(name.to_lowercase()).or_default() += 1;
        }
        names
    }

    /// The name of a machine; with the beginning of its key where another has the same one, and where it looks as if such digits
    /// stood in it: the machine chose it itself.
    pub fn shown(&self, node: NodeId) -> String {
        let digits = beginning(node);
        let Some(name) = self.called.get(&node).filter(|name| !name.is_empty()) else { return digits };
        let is_anothers = self.bearers.get(&name.to_lowercase()).is_some_and(|bearers| *bearers > 1);
        if is_anothers || is_like_digits(name) { format!("{name} ({digits})") } else { name.clone() }
    }

    /// The other machine that is meant: by its name, its key, or the beginning of its key.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Ambiguous`] with those that it fits, [`Code::Conflict`] for one that was withdrawn.
    pub fn find(&self, named: &str) -> Result<NodeId, Error> {
        self.meant(named, false)
    }

    /// As [`Self::find`], where this machine may be meant as well.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_any(&self, named: &str) -> Result<NodeId, Error> {
        self.meant(named, true)
    }

    fn meant(&self, named: &str, may_be_me: bool) -> Result<NodeId, Error> {
        let text = named.trim();
        if text.is_empty() {
            return Err(usage("say which machine: its name, or the beginning of its key").hint(self.all()));
        }
        let fits: Vec<NodeId> = self.like(text);
        let (withdrawn, open): (Vec<NodeId>, Vec<NodeId>) = fits
            .iter()
            .copied()
            .filter(|node| may_be_me || Some(*node) != self.me)
            .partition(|node| self.is_withdrawn(node));
        match (open.as_slice(), withdrawn.as_slice()) {
            ([one], _) => Ok(*one),
            ([], []) if !fits.is_empty() => Err(usage(format!("`{text}` is this machine; name another"))),
            ([], []) => Err(not_found("machine", text).hint(self.all())),
            ([], _) => Err(Error::new(Code::Conflict, format!("the machine `{text}` was withdrawn"))
                .hint("its key is never believed again: a new store on that machine has a new key, and can be paired")),
            (several, _) => {
                let all: Vec<String> =
                    several.iter().take(CANDIDATES_MAX).map(|node| self.shown(*node)).collect();
                Err(Error::new(Code::Ambiguous, format!("`{text}` fits more than one machine"))
                    .hint(format!("give more digits of the key; there are `{}`", all.join("`, `")))
                    .details(
                        json!({ "candidates": several.iter().map(ToString::to_string).collect::<Vec<_>>() }),
                    ))
            }
        }
    }

    /// Machines that a text fits: the one that has this key or is shown so, and where none has, those of this name and those whose
    /// key begins so. A machine that is called as the key of another begins is not taken for it.
    fn like(&self, text: &str) -> Vec<NodeId> {
        let key = text.to_ascii_lowercase();
        let fitting = |fits: &dyn Fn(NodeId, &str) -> bool| -> Vec<NodeId> {
            self.called.iter().filter(|(node, name)| fits(**node, name)).map(|(node, _)| *node).collect()
        };
        let by_key = fitting(&|node, _| node.to_string() == key);
        if !by_key.is_empty() {
            return by_key;
        }
        let begins = |node: NodeId| key.len() >= DIGITS_MIN && node.to_string().starts_with(&key);
        let as_shown = fitting(&|node, name| self.shown(node) == text && !is_same(name, text));
        if !as_shown.is_empty() {
            return as_shown;
        }
        fitting(&|node, name| is_same(name, text) || begins(node))
    }

    fn is_withdrawn(&self, node: &NodeId) -> bool {
        self.withdrawn.contains(node)
    }

    /// Which other machines there are, in words.
    fn all(&self) -> String {
        let others = self.called.keys().filter(|node| Some(**node) != self.me && !self.is_withdrawn(node));
        let names: Vec<String> = others.map(|node| self.shown(*node)).collect();
        match names.as_slice() {
            [] => "no machine is paired; `hermit mesh pair` pairs one".to_owned(),
            all if all.len() > CANDIDATES_MAX => "`hermit mesh nodes` lists them".to_owned(),
            all => format!("there are `{}`", all.join("`, `")),
        }
    }
}

/// The beginning of a key, as it is shown.
fn beginning(node: NodeId) -> String {
    node.to_string().chars().take(DIGITS_SHOWN).collect()
}

/// Whether as many digits of a key could stand in a name as are shown.
fn is_like_digits(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_hexdigit()).any(|run| run.len() >= DIGITS_SHOWN)
}

/// Whether two names are one to a person.
fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(digits: &str) -> NodeId {
        format!("{digits:0<64}").parse().unwrap()
    }

    fn names() -> Names {
        let peers = [
            (node("aaaa1"), "Desktop".to_owned(), false),
            (node("aaaa2"), "server".to_owned(), false),
            (node("bbbb1"), "Server".to_owned(), false),
            (node("cccc1"), "old".to_owned(), true),
            (node("dddd1"), String::new(), false),
        ];
        Names::new(Some((node("eeee1"), "laptop".to_owned())), peers.into_iter())
    }

    #[test]
    fn a_machine_is_found_by_name_key_and_beginning_and_by_nothing_that_fits_two() {
        let names = names();
        for named in ["desktop", " Desktop ", "aaaa1", &node("aaaa1").to_string().to_uppercase()] {
            assert_eq!(names.find(named).unwrap(), node("aaaa1"), "{named}");
        }
        assert_eq!(names.find("server (bbbb1000)").unwrap_err().code, Code::NotFound, "another's spelling");
        assert_eq!(names.find("Server (bbbb1000)").unwrap(), node("bbbb1"));
        assert_eq!(names.find("dddd").unwrap(), node("dddd1"));
        for (named, code, says) in [
            ("SERVER", Code::Ambiguous, "bbbb1000"),
            ("aaaa", Code::Ambiguous, "Desktop"),
            ("aaa", Code::NotFound, "there are"),
            ("laptop", Code::Usage, ""),
            ("eeee1", Code::Usage, ""),
            ("old", Code::Conflict, ""),
            ("cccc1", Code::Conflict, ""),
            ("  ", Code::Usage, "Desktop"),
        ] {
            let error = names.find(named).unwrap_err();
            assert_eq!(error.code, code, "{named}: {error:?}");
            assert!(error.hint.contains(says), "{named}: {error:?}");
        }
        assert_eq!(names.find_any("laptop").unwrap(), node("eeee1"));
        assert_eq!(names.find_any("desktop").unwrap(), node("aaaa1"));
        let twin = [(node("aaaa1"), "Laptop".to_owned(), false)];
        let twins = Names::new(Some((node("eeee1"), "laptop".to_owned())), twin.into_iter());
        assert_eq!(twins.find("laptop").unwrap(), node("aaaa1"), "the other one");
        assert_eq!(twins.find_any("laptop").unwrap_err().code, Code::Ambiguous);
        let none = Names::default().find("desktop").unwrap_err();
        assert!(none.hint.contains("hermit mesh pair"), "{none:?}");
    }

    #[test]
    fn a_machine_that_calls_itself_as_another_is_shown_or_as_its_key_is_not_taken_for_it() {
        let one = node("aaaa1");
        let called = |name: &str| {
            let peers = [("aaaa1", "desk"), ("bbbb1", "desk"), ("cccc1", name)];
            let peers = peers.map(|(digits, name)| (node(digits), name.to_owned(), false));
            Names::new(None, peers.into_iter())
        };
        assert_eq!(called("desk (aaaa1000)").find("desk (aaaa1000)").unwrap(), one);
        assert_eq!(called("desk (aaaa1000)").shown(node("cccc1")), "desk (aaaa1000) (cccc1000)");
        for name in ["aaaa1000", "aaaa1", "AAAA1000000000000000"] {
            assert_eq!(called(name).find(name).unwrap_err().code, Code::Ambiguous, "{name}");
        }
        assert_eq!(called(&one.to_string()).find(&one.to_string()).unwrap(), one);
    }

    #[test]
    fn a_name_is_told_with_digits_where_two_machines_have_it() {
        let names = names();
        assert_eq!(names.shown(node("aaaa1")), "Desktop");
        assert_eq!(names.shown(node("aaaa2")), "server (aaaa2000)");
        assert_eq!(names.shown(node("dddd1")), "dddd1000", "one that has no name");
        assert_eq!(names.shown(node("9999")), "99990000", "one that nobody knows");
    }
}
