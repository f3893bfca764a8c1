//! How many connections a proxy holds at once. At a port whoever has not said the password has few places of their own, of which the
//! oldest makes room: so no other program of the machine can take those of the command.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// Connections of the command at once.
pub(super) const AT_ONCE: usize = 64;
/// Connections at once of those who have not said the password yet.
pub(super) const STRANGERS: usize = 16;

/// Who holds a place, by the number of the connection: later ones have higher numbers.
#[derive(Default)]
pub(super) struct Places(Mutex<Held>);

#[derive(Default)]
struct Held {
    inside: BTreeSet<usize>,
    strangers: BTreeSet<usize>,
}

/// Why a connection that said the password has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// Others that came later have its place: it waited too long.
    MadeRoom,
    /// The command has as many as it may.
    Full,
}

impl Places {
    /// Takes a place of the command's; whether there was one.
    pub(super) fn enters(&self, number: usize) -> bool {
        let mut held = super::lock(&self.0);
        held.inside.len() < AT_ONCE && held.inside.insert(number)
    }

    /// Takes a place of those who have said nothing yet; who has to go for it.
    pub(super) fn waits(&self, number: usize) -> Option<usize> {
        let mut held = super::lock(&self.0);
        held.strangers.insert(number);
        if held.strangers.len() > STRANGERS { held.strangers.pop_first() } else { None }
    }

    /// Gives one that said the password a place of the command's for that of a stranger.
    pub(super) fn admits(&self, number: usize) -> Result<(), NoPlace> {
        let mut held = super::lock(&self.0);
        if !held.strangers.remove(&number) {
            return Err(NoPlace::MadeRoom);
        }
        if held.inside.len() >= AT_ONCE {
            return Err(NoPlace::Full);
        }
        held.inside.insert(number);
        Ok(())
    }

    /// Gives back whatever place it had.
    pub(super) fn leaves(&self, number: usize) {
        let mut held = super::lock(&self.0);
        held.inside.remove(&number);
        held.strangers.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_take_places_of_each_other_and_none_of_the_command() {
        let places = Places::default();
        for number in 0..STRANGERS {
            assert_eq!(places.waits(number), None);
        }
        assert_eq!(places.admits(1), Ok(()));
        assert_eq!(places.waits(100), None, "who was admitted left a place");
        assert_eq!(places.waits(101), Some(0), "the oldest makes room");
        assert_eq!(places.admits(0), Err(NoPlace::MadeRoom));
        assert_eq!(places.waits(102), Some(2));
        places.leaves(101);
        assert_eq!(places.waits(103), None);
    }

    #[test]
    fn a_command_has_so_many_places_and_each_that_is_left_is_free() {
        let places = Places::default();
        for number in 0..AT_ONCE {
            assert!(places.enters(number));
        }
        assert!(!places.enters(AT_ONCE));
        assert_eq!(places.waits(500), None);
        assert_eq!(places.admits(500), Err(NoPlace::Full));
        places.leaves(7);
        assert_eq!(places.waits(501), None);
        assert_eq!(places.admits(501), Ok(()));
        assert!(!places.enters(502));
    }
}
