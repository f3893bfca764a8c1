//! What services of a Linux desktop tell of this machine, where they are there: whether nobody is at it (logind), and whether its
//! network is metered (NetworkManager).

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zbus::zvariant::OwnedValue;

/// How long a service may take to answer: a run is held back by none that does not.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long what was told is told again: schedules are looked at one behind the other.
const TOLD: Duration = Duration::from_secs(10);
/// How long a service that told nothing is not asked again: each that does not answer holds up every schedule.
const UNTOLD: Duration = Duration::from_secs(60);

/// What a service told last of one thing, and when.
struct Last(Mutex<Option<(Instant, Option<bool>)>>);

static IDLE: Last = Last(Mutex::new(None));
static UNMETERED: Last = Last(Mutex::new(None));

impl Last {
    /// The same while it is new, or what is told now. Whoever asks meanwhile waits for that.
    fn or_asked(&self, ask: impl FnOnce() -> Option<bool>) -> Option<bool> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new =
            |at: Instant, told: Option<bool>| at.elapsed() < if told.is_some() { TOLD } else { UNTOLD };
        if let Some((_, told)) = last.filter(|(at, told)| is_new(*at, *told)) {
            return told;
        }
        let told = ask();
        *last = Some((Instant::now(), told));
        told
    }
}

/// A property of a service: its name on the bus, its place, its interface.
type Place = (&'static str, &'static str, &'static str);

const LOGIND: Place = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager");
const NETWORK_MANAGER: Place =
    ("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager");

/// Whether nobody is at the computer, by the sessions of all that are logged in.
pub(crate) fn is_idle() -> Option<bool> {
    IDLE.or_asked(|| idle(Some(told(LOGIND, "IdleHint")?), told(LOGIND, "IdleSinceHint")))
}

/// Whether the network is one that costs nothing by what goes over it.
pub(crate) fn is_unmetered() -> Option<bool> {
    UNMETERED.or_asked(|| unmetered(told(NETWORK_MANAGER, "Metered")?))
}

/// A desktop that never told whether somebody is there leaves the time of that at 0, and tells nothing.
fn idle(hint: Option<bool>, since: Option<u64>) -> Option<bool> {
    match (hint?, since) {
        (false, None | Some(0)) => None,
        (hint, _) => Some(hint),
    }
}

/// 1 and 3 are metered and probably so, 2 and 4 are not; all else says nothing.
const fn unmetered(metered: u32) -> Option<bool> {
    match metered {
        1 | 3 => Some(false),
        2 | 4 => Some(true),
        _ => None,
    }
}

/// What a service says of itself. It is asked by a thread of its own, so that nobody waits longer than this.
fn told<T>((service, place, interface): Place, property: &'static str) -> Option<T>
where
    T: TryFrom<OwnedValue> + Send + 'static,
    T::Error: Into<zbus::Error>,
{
    let ask = move || -> zbus::Result<T> {
        let bus = zbus::blocking::connection::Builder::system()?.method_timeout(PATIENCE).build()?;
        let service = zbus::blocking::Proxy::new(&bus, service, place, interface)?;
        service.get_property(property)
    };
    let (send, answer) = channel();
    let thread = std::thread::Builder::new().name("system bus".to_owned());
    // Whoever has gone by then hears nothing of it.
    let asked = thread.spawn(move || drop(send.send(ask().ok())));
    asked.ok()?;
    answer.recv_timeout(PATIENCE).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_or_not_is_not_asked_again_at_once() {
        for told in [Some(true), None] {
            let last = Last(Mutex::new(None));
            assert_eq!(last.or_asked(|| told), told);
            assert_eq!(last.or_asked(|| Some(false)), told);
        }
        let last = Last(Mutex::new(Instant::now().checked_sub(TOLD).map(|at| (at, Some(true)))));
        assert_eq!(last.or_asked(|| Some(false)), Some(false));
    }

    #[test]
    fn a_hint_that_nobody_ever_gave_tells_nothing_and_neither_does_an_unknown_network() {
        assert_eq!(idle(None, Some(5)), None);
        assert_eq!(idle(Some(false), Some(0)), None);
        assert_eq!(idle(Some(false), None), None);
        assert_eq!(idle(Some(false), Some(5)), Some(false));
        assert_eq!((idle(Some(true), Some(0)), idle(Some(true), None)), (Some(true), Some(true)));
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(unmetered),
            [None, Some(false), Some(true), Some(false), Some(true), None]
        );
    }
}
