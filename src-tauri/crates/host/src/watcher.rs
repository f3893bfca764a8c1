//! Notices of the system that something changed in a folder that a schedule waits for (schedule.md 1). A notice only wakes a look;
//! what cannot be watched is looked at each minute.

use crate::clock::Bell;
use kernel::Kernel;
use kernel::command::triggers::Watch;
use model::UnixMs;
use model::schedule::Unseen;
use notify::event::{AccessKind, AccessMode};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often one looks at what cannot be watched, in milliseconds.
const LOOK_MS: i64 = 60_000;

/// Who is to be woken by what.
#[derive(Default)]
struct Routes {
    watches: Vec<Watch>,
    /// Those whose folder is not watched, or not all of it: it is gone, or the system has no more watches to give.
    blind: BTreeSet<String>,
}

/// What is watched.
#[derive(Default)]
struct Watched {
    /// None before there is something to watch, or where the system lets nobody watch.
    notices: Option<RecommendedWatcher>,
    /// For which schedules, in which versions.
    of: Vec<(String, u32)>,
    places: BTreeMap<PathBuf, RecursiveMode>,
    /// When blind ones were tried again last.
    tried: Option<UnixMs>,
}

/// Watches what schedules wait for.
pub struct Watcher {
    kernel: Arc<Kernel>,
    bell: Bell,
    routes: Arc<Mutex<Routes>>,
    watched: Mutex<Watched>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watcher {
    /// Watches nothing yet. `bell`: rung when a look is due earlier than it was.
    pub fn new(kernel: Arc<Kernel>, bell: Bell) -> Self {
        Self { kernel, bell, routes: Arc::default(), watched: Mutex::default() }
    }

    /// Whether other schedules wait than are watched for, or what cannot be watched is to be tried again.
    pub fn is_outdated(&self) -> bool {
        let (of, now) = (self.kernel.waiting_for_events(), self.kernel.ports().clock.now());
        self.is_other(&lock(&self.watched), &of, now)
    }

    fn is_other(&self, watched: &Watched, of: &[(String, u32)], now: UnixMs) -> bool {
        let is_blind = !lock(&self.routes).blind.is_empty();
        let again = is_blind && watched.tried.is_none_or(|at| now.0.abs_diff(at.0) >= LOOK_MS.unsigned_abs());
        watched.of != of || again
    }

    /// Watches what schedules wait for as they stand now. Costs next to nothing while none of them has changed.
    pub fn refresh(&self) {
        let of = self.kernel.waiting_for_events();
        let now = self.kernel.ports().clock.now();
        let mut watched = lock(&self.watched);
        if !self.is_other(&watched, &of, now) {
            return;
        }
        (watched.of, watched.tried) = (of, Some(now));
        let watches = self.kernel.watches();
        if watches.is_empty() {
            watched.notices = None;
            watched.places.clear();
            *lock(&self.routes) = Routes::default();
            return;
        }
        let blind = self.watch(&mut watched, &watches);
        let mut routes = lock(&self.routes);
        let before = std::mem::replace(&mut *routes, Routes { watches, blind });
        // What happened before it was watched left no notice.
        let new = |one: &&Watch| !before.watches.contains(one) || before.blind.contains(&one.name);
        let new: Vec<String> = routes.watches.iter().filter(new).map(|one| one.name.clone()).collect();
        drop(routes);
        for name in new {
            self.kernel.want_look(&name, now);
        }
    }

    /// What cannot be watched is looked at again in a minute. A folder that is not where it was may be watched somewhere else, where
    /// it went with a folder above it, of which the system tells nobody: it is watched anew once it is there.
    pub fn looked(&self) {
        let at = self.kernel.ports().clock.now().plus_ms(LOOK_MS);
        let registry = self.kernel.schedule_registry();
        let is_gone = |name: &str| {
            let unseen = registry.0.get(name).and_then(|one| one.slots.unseen);
            unseen == Some(Unseen::FolderMissing)
        };
        let mut routes = lock(&self.routes);
        routes.blind_where(is_gone);
        let blind = routes.blind.clone();
        drop(routes);
        for name in blind {
            self.kernel.want_look(&name, at);
        }
    }

    /// Watches these and nothing else; who of them is blind.
    fn watch(&self, watched: &mut Watched, watches: &[Watch]) -> BTreeSet<String> {
        if watched.notices.is_none() {
            watched.places.clear();
            match self.notices() {
                Ok(notices) => watched.notices = Some(notices),
                Err(error) => {
                    tracing::warn!(%error, "folders cannot be watched here; schedules look each minute");
                    return watches.iter().map(|one| one.name.clone()).collect();
                }
            }
        }
        let Some(notices) = watched.notices.as_mut() else { return BTreeSet::new() };
        let blind_before = lock(&self.routes).blind.clone();
        let mut wanted = BTreeMap::new();
        for watch in watches {
            wanted.extend(places(watch).into_iter().map(|(at, mode)| (at, (mode, watch.name.clone()))));
        }
        // A folder that is there again is another one to the system.
        let anew: Vec<PathBuf> = watched
            .places
            .keys()
            .filter(|at| wanted.get(*at).is_none_or(|(_, name)| blind_before.contains(name)))
            .cloned()
            .collect();
        for at in anew {
            let _ = notices.unwatch(&at);
            // What lies within it, and it within others, went with it.
            watched.places.retain(|place, _| !place.starts_with(&at) && !at.starts_with(place));
        }
        let mut unwatched: BTreeSet<PathBuf> = BTreeSet::new();
        for (at, (mode, name)) in wanted {
            if watched.places.contains_key(&at) {
                continue;
            }
            match notices.watch(&at, mode) {
                Ok(()) => {
                    watched.places.insert(at, mode);
                }
                Err(error) => {
                    tracing::warn!(schedule = name, %error, "a folder cannot be watched; its schedule looks each minute");
                    // The system has few watches to give, and a part of the folder may hold some.
                    let _ = notices.unwatch(&at);
                    unwatched.insert(at);
                }
            }
        }
        let is_blind =
            |one: &&Watch| places(one).is_empty() || places(one).iter().any(|(at, _)| unwatched.contains(at));
        watches.iter().filter(is_blind).map(|one| one.name.clone()).collect()
    }

    /// Who hears what the system notices.
    fn notices(&self) -> notify::Result<RecommendedWatcher> {
        // Its thread ends some time after it is told to, and holds no store that is closed.
        let (kernel, bell) = (Arc::downgrade(&self.kernel), self.bell.clone());
        let routes = Arc::clone(&self.routes);
        let hear = move |heard: notify::Result<Event>| {
            let Some(kernel) = kernel.upgrade() else { return };
            let names = match &heard {
                Ok(event) if !changes(event) => return,
                Ok(event) => lock(&routes).woken_by(event),
                Err(error) => {
                    tracing::warn!(%error, "a folder is not watched to its end; its schedule looks each minute");
                    lock(&routes).all_are_blind()
                }
            };
            let now = kernel.ports().clock.now();
            let mut is_earlier = false;
            for (name, quiet_ms) in names {
                let at = now.plus_ms(i64::try_from(quiet_ms).unwrap_or(i64::MAX));
                is_earlier |= kernel.want_look(&name, at);
            }
            if is_earlier {
                bell.ring();
            }
        };
        // A link is no door, to a look neither.
        RecommendedWatcher::new(hear, Config::default().with_follow_symlinks(false))
    }
}

impl Routes {
    /// Whose look an event wakes, and in how many milliseconds.
    fn woken_by(&mut self, event: &Event) -> Vec<(String, u64)> {
        let is_lost = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(notify::event::ModifyKind::Name(_))
        );
        let mut woken = Vec::new();
        for watch in &self.watches {
            let concerns = |at: &PathBuf| at.starts_with(&watch.folder);
            // Where the system says that notices were lost, each may have been.
            if !event.need_rescan() && !event.paths.is_empty() && !event.paths.iter().any(concerns) {
                continue;
            }
            if is_lost && roots(watch).iter().any(|root| event.paths.contains(root)) {
                self.blind.insert(watch.name.clone());
            }
            woken.push((watch.name.clone(), watch.quiet_ms));
        }
        woken
    }

    /// Those whose folder is gone are blind.
    fn blind_where(&mut self, is_gone: impl Fn(&str) -> bool) {
        let gone = self.watches.iter().filter(|one| is_gone(&one.name));
        self.blind.extend(gone.map(|one| one.name.clone()));
    }

    fn all_are_blind(&mut self) -> Vec<(String, u64)> {
        self.blind.extend(self.watches.iter().map(|one| one.name.clone()));
        self.watches.iter().map(|one| (one.name.clone(), one.quiet_ms)).collect()
    }
}

/// Whether an event says that something changed: that somebody read is nothing, and would be our own look.
fn changes(event: &Event) -> bool {
    event.need_rescan()
        || !matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

/// What is watched for a schedule, there or not: once it is elsewhere or gone, so are its notices.
fn roots(watch: &Watch) -> Vec<PathBuf> {
    let git = watch.folder.join(".git");
    match watch.is_of_refs {
        true => vec![watch.folder.clone(), git.join("refs"), git],
        false => vec![watch.folder.clone()],
    }
}

/// Where notices come from: of files the folder with all in it, of refs what git keeps them in, without its objects. None where
/// there is nothing.
fn places(watch: &Watch) -> Vec<(PathBuf, RecursiveMode)> {
    if !watch.is_of_refs {
        return vec![(watch.folder.clone(), RecursiveMode::Recursive)];
    }
    let git = watch.folder.join(".git");
    let refs = git.join("refs");
    match Path::is_dir(&refs) {
        true => vec![(git, RecursiveMode::NonRecursive), (refs, RecursiveMode::Recursive)],
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use notify::event::{CreateKind, Flag, ModifyKind, RemoveKind, RenameMode};

    fn watch(name: &str, folder: &str) -> Watch {
        let folder = PathBuf::from(folder);
        Watch { name: name.to_owned(), version: 1, folder, quiet_ms: 2_000, is_of_refs: false }
    }

    fn event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(PathBuf::from(path))
    }

    fn woken(routes: &mut Routes, event: &Event) -> Vec<String> {
        routes.woken_by(event).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn an_event_wakes_whoever_waits_for_its_folder_and_lost_events_wake_all() {
        let mut routes =
            Routes { watches: vec![watch("a", "/w/a"), watch("b", "/w/ab")], blind: BTreeSet::new() };
        let made = EventKind::Create(CreateKind::File);
        assert_eq!(woken(&mut routes, &event(made, "/w/a/x/y.pdf")), ["a"]);
        assert_eq!(woken(&mut routes, &event(made, "/w/ab/y.pdf")), ["b"]);
        assert!(woken(&mut routes, &event(made, "/elsewhere")).is_empty());
        assert!(routes.blind.is_empty());
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(woken(&mut routes, &lost), ["a", "b"]);
        // The folder itself went: whoever waits for it is blind until it is there again.
        assert_eq!(woken(&mut routes, &event(EventKind::Remove(RemoveKind::Folder), "/w/a")), ["a"]);
        assert_eq!(routes.blind, BTreeSet::from(["a".to_owned()]));
        // So is whoever waits for a ref, once its repository went.
        routes.watches.push(Watch { is_of_refs: true, ..watch("c", "/w/c") });
        assert_eq!(
            woken(&mut routes, &event(EventKind::Remove(RemoveKind::File), "/w/c/.git/index.lock")),
            ["c"]
        );
        assert!(!routes.blind.contains("c"));
        assert_eq!(
            woken(&mut routes, &event(EventKind::Remove(RemoveKind::Folder), "/w/c/.git/refs")),
            ["c"]
        );
        assert!(routes.blind.remove("c"));
        assert_eq!(
            woken(&mut routes, &event(EventKind::Modify(ModifyKind::Name(RenameMode::From)), "/w/c/.git")),
            ["c"]
        );
        assert!(routes.blind.remove("c"));
        routes.watches.pop();
        // A folder that went with the one above it leaves no notice: that it is gone, a look finds.
        assert!(routes.blind.remove("a"));
        routes.blind_where(|name| name == "b");
        assert_eq!(routes.blind, BTreeSet::from(["b".to_owned()]));
        assert_eq!(routes.all_are_blind().len(), 2);
        assert_eq!(routes.blind.len(), 2);
    }

    #[test]
    fn that_somebody_reads_is_no_change_and_that_somebody_has_written_is() {
        let read = |kind| changes(&event(EventKind::Access(kind), "/w/a"));
        assert!(!read(AccessKind::Open(AccessMode::Any)) && !read(AccessKind::Close(AccessMode::Read)));
        assert!(read(AccessKind::Close(AccessMode::Write)));
        assert!(changes(&event(EventKind::Create(CreateKind::File), "/w/a")));
    }
}
