//! What machines say that learn together, as it comes over the mesh (decision 340): pieces become whole again in the folder of runs, and
//! wait there for the run that they are of. Of a machine nothing is kept but invitations, few of them, before a person here said yes.

use super::plan::{Plan, runs};
use crate::Home;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mesh::{NodeId, Part};
use seal::Digest;
use std::io;
use std::path::Path;
use training::outer::{Parcel, ParcelHead, Terms};

const _: () = assert!(
    training::outer::PARCEL_BYTES_MAX == mesh::PARCEL_BYTES_MAX,
    "what is said in training fits into the letters that carry it"
);

/// The folder of invitations, and that of pieces, below that of runs.
const INVITATIONS: &str = "invitations";
const PIECES: &str = "pieces";
/// Invitations that are kept, and those of one machine.
const INVITATIONS_MAX: usize = 32;
const INVITATIONS_OF_ONE_MAX: usize = 4;
/// What waits of one machine for one run where that leads, which tells many rounds at once; and where this one does: there each other
/// has a message of this round and of the next to say, and that it comes or goes.
const WAITING_MAX: usize = 512;
const WAITING_OF_LED_MAX: usize = 8;

/// Where it comes in.
pub(crate) struct Letterbox(Home);

/// A machine that asks whether this one learns together with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invitation {
    /// Who asks, and leads.
    pub(crate) from: NodeId,
    /// The run.
    pub(crate) id: Digest,
    /// Its name.
    pub(crate) name: String,
    /// What all have in common.
    pub(crate) terms: Terms,
}

impl Letterbox {
    pub(crate) const fn of(home: Home) -> Self {
        Self(home)
    }

    /// Takes a piece. One that comes again changes nothing. `is_peer`: whether a machine is paired.
    ///
    /// # Errors
    /// What the disk says: it is to come again before any other of this machine.
    pub(crate) fn takes(
        &self,
        from: NodeId,
        part: &Part,
        is_peer: &dyn Fn(NodeId) -> bool,
    ) -> io::Result<()> {
        let pieces = runs(&self.0).join(PIECES).join(from.to_string());
        let Some(bytes) = whole(&pieces, part)? else { return Ok(()) };
        match Parcel::from_bytes(&bytes) {
            Ok(parcel) => self.keeps(from, &parcel, (part.whole, &bytes), is_peer)?,
            Err(error) => tracing::debug!(%error, "what another machine says of training is left out"),
        }
        // Last: until it is kept, its pieces are needed.
        removed(std::fs::remove_dir_all(&pieces))
    }

    fn keeps(
        &self,
        from: NodeId,
        parcel: &Parcel,
        (whole, bytes): (Digest, &[u8]),
        is_peer: &dyn Fn(NodeId) -> bool,
    ) -> io::Result<()> {
        let plans = Plan::all(&self.0);
        let mut together = plans.iter().filter_map(|plan| Some((plan, plan.together.as_ref()?)));
        let found = together.find(|(_, together)| together.id == parcel.head.id());
        if let ParcelHead::Invited { id, .. } = &parcel.head {
            return if found.is_none() { self.invites(from, *id, bytes, is_peer) } else { Ok(()) };
        }
        let Some((plan, together)) = found.filter(|(_, together)| together.hears(from)) else {
            return Ok(());
        };
        let folder = plan.circle().join(super::circle::COMES);
        let own = format!("{from}-");
        let waiting = names(&folder).iter().filter(|name| name.starts_with(&own)).count();
        let most = if together.lead.is_none() { WAITING_OF_LED_MAX } else { WAITING_MAX };
        // Without that folder the run is over, or was stopped for good.
        if !folder.is_dir() || waiting >= most {
            return Ok(());
        }
        put(&folder, &format!("{from}-{whole}"), bytes)
    }

    /// Keeps an invitation, in the place of the oldest one of its machine where there are many. The first one for a run stays as it is: a
    /// person may be reading it.
    fn invites(
        &self,
        from: NodeId,
        id: Digest,
        bytes: &[u8],
        is_peer: &dyn Fn(NodeId) -> bool,
    ) -> io::Result<()> {
        let folder = runs(&self.0).join(INVITATIONS);
        let (mut all, name) = (Vec::new(), format!("{from}-{id}"));
        for known in names(&folder) {
            if invited_by(&known).is_some_and(is_peer) {
                all.push(known);
            } else {
                // Nobody takes up one of a machine that is not paired any more.
                removed(std::fs::remove_file(folder.join(&known)))?;
            }
        }
        if all.contains(&name) {
            return Ok(());
        }
        let of_one: Vec<&String> = all.iter().filter(|known| invited_by(known) == Some(from)).collect();
        if all.len() >= INVITATIONS_MAX || of_one.len() >= INVITATIONS_OF_ONE_MAX {
            let kept_at = |known: &&&String| {
                std::fs::metadata(folder.join(known.as_str())).and_then(|file| file.modified()).ok()
            };
            let Some(oldest) = of_one.iter().min_by_key(kept_at) else { return Ok(()) };
            removed(std::fs::remove_file(folder.join(oldest.as_str())))?;
        }
        put(&folder, &name, bytes)
    }

    /// Invitations that wait.
    pub(crate) fn invitations(&self) -> Vec<Invitation> {
        let folder = runs(&self.0).join(INVITATIONS);
        let read = |name: &String| {
            let from = invited_by(name)?;
            let parcel = Parcel::from_bytes(&std::fs::read(folder.join(name)).ok()?).ok()?;
            match parcel.head {
                ParcelHead::Invited { id, name, terms } => Some(Invitation { from, id, name, terms }),
                _ => None,
            }
        };
        names(&folder).iter().filter_map(read).collect()
    }

    /// Lets go of an invitation that was taken up.
    pub(crate) fn answered(&self, of: &Invitation) {
        let path = runs(&self.0).join(INVITATIONS).join(format!("{}-{}", of.from, of.id));
        if let Err(error) = removed(std::fs::remove_file(path)) {
            tracing::warn!(%error, "an invitation that was taken up could not be removed");
        }
    }
}

/// Whose invitation a file is, by its name.
fn invited_by(name: &str) -> Option<NodeId> {
    name.split('-').next()?.parse().ok()
}

/// The content that a piece makes whole. Pieces come in the order in which they were sent: those of another content were given up.
fn whole(folder: &Path, part: &Part) -> io::Result<Option<Vec<u8>>> {
    let Ok(data) = STANDARD.decode(&part.data) else { return Ok(None) };
    let own = format!("{}-{}-", part.whole, part.count);
    for name in names(folder).iter().filter(|name| !name.starts_with(&own)) {
        removed(std::fs::remove_file(folder.join(name)))?;
    }
    put(folder, &format!("{own}{}", part.index), &data)?;
    let mut bytes = Vec::new();
    for index in 0..part.count {
        match std::fs::read(folder.join(format!("{own}{index}"))) {
            Ok(piece) => bytes.extend(piece),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    // One that is another than it says is read as none, and let go of with its pieces.
    Ok(Some(if Digest::of(&bytes) == part.whole { bytes } else { Vec::new() }))
}

/// Writes a file into a folder, which is made where it is not there.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    disk::replace(&folder.join(name), bytes)
}

/// Names in a folder, in order, without what is being written: those begin with a point until they are whole.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    names
}

/// What is not there any more is removed.
pub(super) fn removed(came: io::Result<()>) -> io::Result<()> {
    came.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;
    use training::outer::OuterSettings;

    fn invitation(run: &str) -> Vec<u8> {
        let terms = Terms {
            base_sha256: Digest::of(b"base"),
            rank: 8,
            alpha: 16.0,
            feed_forward: false,
            seed: 1,
            rounds: 3,
            steps: 2,
            percent: 10,
            patience_s: 60,
            settings: OuterSettings::default(),
        };
        let (id, name) = (Digest::of(run.as_bytes()), run.to_owned());
        Parcel::of(ParcelHead::Invited { id, name, terms }).to_bytes().unwrap()
    }

    fn piece(bytes: &[u8]) -> Part {
        Part { whole: Digest::of(bytes), index: 0, count: 1, data: STANDARD.encode(bytes) }
    }

    fn names_of(letterbox: &Letterbox) -> Vec<String> {
        let mut all: Vec<String> = letterbox.invitations().into_iter().map(|one| one.name).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_oldest_invitation_of_a_machine_makes_room_and_those_of_strangers_take_none() {
        let folder = tempfile::TempDir::new().unwrap();
        let letterbox = Letterbox::of(Home::find(Some(folder.path())).unwrap());
        let (one, other) = (NodeId(Digest::of(b"one")), NodeId(Digest::of(b"other")));
        for run in ["a", "b", "c", "d", "e"] {
            letterbox.takes(one, &piece(&invitation(run)), &|_| true).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(names_of(&letterbox), ["b", "c", "d", "e"]);
        // One that comes again is no newer, and stays as it was read.
        letterbox.takes(one, &piece(&invitation("b")), &|_| true).unwrap();
        letterbox.takes(one, &piece(&invitation("f")), &|_| true).unwrap();
        assert_eq!(names_of(&letterbox), ["c", "d", "e", "f"]);
        letterbox.takes(other, &piece(&invitation("g")), &|node| node == other).unwrap();
        assert_eq!(names_of(&letterbox), ["g"], "the first machine is not paired any more");
    }

    #[test]
    fn what_is_being_written_is_read_and_removed_by_nobody() {
        let folder = tempfile::TempDir::new().unwrap();
        put(folder.path(), "whole", b"whole").unwrap();
        let draft = folder.path().join(".whole.1.part");
        std::fs::write(&draft, b"wh").unwrap();
        assert_eq!(names(folder.path()), ["whole"]);
        let of = |content: &[u8], index: u32| Part {
            whole: Digest::of(b"onetwo"),
            index,
            count: 2,
            data: STANDARD.encode(content),
        };
        assert_eq!(whole(folder.path(), &of(b"one", 0)).unwrap(), None);
        assert_eq!(whole(folder.path(), &of(b"two", 1)).unwrap(), Some(b"onetwo".to_vec()));
        assert!(draft.exists());
    }
}
