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
/// What waits of one machine for one run.
const WAITING_MAX: usize = 512;

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

    /// Takes a piece. One that comes again changes nothing.
    ///
    /// # Errors
    /// What the disk says: it is to come again.
    pub(crate) fn takes(&self, from: NodeId, part: &Part) -> io::Result<()> {
        let pieces = runs(&self.0).join(PIECES).join(from.to_string());
        let Some(bytes) = whole(&pieces, part)? else { return Ok(()) };
        match Parcel::from_bytes(&bytes) {
            Ok(parcel) => self.keeps(from, &parcel, (part.whole, &bytes))?,
            Err(error) => tracing::debug!(%error, "what another machine says of training is left out"),
        }
        // Last: until it is kept, its pieces are needed.
        removed(std::fs::remove_dir_all(&pieces))
    }

    fn keeps(&self, from: NodeId, parcel: &Parcel, (whole, bytes): (Digest, &[u8])) -> io::Result<()> {
        let plans = Plan::all(&self.0);
        let mut together = plans.iter().filter_map(|plan| Some((plan, plan.together.as_ref()?)));
        let found = together.find(|(_, together)| together.id == parcel.head.id());
        if let ParcelHead::Invited { id, .. } = &parcel.head {
            let folder = runs(&self.0).join(INVITATIONS);
            let (all, own) = (names(&folder), format!("{from}-"));
            let of_one = all.iter().filter(|name| name.starts_with(&own)).count();
            let has_room = all.len() < INVITATIONS_MAX && of_one < INVITATIONS_OF_ONE_MAX;
            return if found.is_none() && has_room {
                put(&folder, &format!("{from}-{id}"), bytes)
            } else {
                Ok(())
            };
        }
        let Some((plan, _)) = found.filter(|(_, together)| together.hears(from)) else {
            return Ok(());
        };
        let folder = plan.circle().join(super::circle::COMES);
        let own = format!("{from}-");
        let waiting = names(&folder).iter().filter(|name| name.starts_with(&own)).count();
        // Without that folder the run is over, or was stopped for good.
        if !folder.is_dir() || waiting >= WAITING_MAX {
            return Ok(());
        }
        put(&folder, &format!("{from}-{whole}"), bytes)
    }

    /// Invitations that wait.
    pub(crate) fn invitations(&self) -> Vec<Invitation> {
        let folder = runs(&self.0).join(INVITATIONS);
        let read = |name: &String| {
            let from: NodeId = name.split('-').next()?.parse().ok()?;
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

/// Names in a folder, in order.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// What is not there any more is removed.
pub(super) fn removed(came: io::Result<()>) -> io::Result<()> {
    came.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
