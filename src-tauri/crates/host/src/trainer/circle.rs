//! What is kept of a run that machines learn together, beside the folder of its program: how the rounds stand, the messages of each,
//! and what came and was not looked at yet. All of it goes when the run is over.

use super::letterbox::{names, put, removed};
use super::plan::Plan;
use mesh::NodeId;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use training::outer::{Course, MACHINES_MAX, PARCEL_BYTES_MAX, Parcel, ROUNDS_MAX};

/// What comes.
pub(super) const COMES: &str = "comes";
/// How the rounds stand.
const COURSE: &str = "course.json";
/// How the file of a message ends, whose name is its digest.
const MESSAGE: &str = ".bin";

/// How a run stands that machines learn together.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stands {
    course: Course,
    /// The other machines that take part now, where this one leads.
    here: BTreeSet<NodeId>,
    /// Whether they were asked.
    is_asked: bool,
}

/// That of one run, with its files.
#[derive(Debug)]
pub(super) struct Circle {
    folder: PathBuf,
    stands: Stands,
}

impl Circle {
    /// As it was kept last, or at its beginning.
    pub(super) fn open(plan: &Plan) -> Result<Self, String> {
        let folder = plan.circle();
        let path = folder.join(COURSE);
        std::fs::create_dir_all(folder.join(COMES)).map_err(|error| error.to_string())?;
        let stands = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Stands::default(),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", path.display())),
        };
        Ok(Self { folder, stands })
    }

    pub(super) const fn course(&self) -> &Course {
        &self.stands.course
    }

    pub(super) const fn course_mut(&mut self) -> &mut Course {
        &mut self.stands.course
    }

    pub(super) const fn here(&self) -> &BTreeSet<NodeId> {
        &self.stands.here
    }

    pub(super) const fn here_mut(&mut self) -> &mut BTreeSet<NodeId> {
        &mut self.stands.here
    }

    pub(super) const fn is_asked(&self) -> bool {
        self.stands.is_asked
    }

    pub(super) const fn asked(&mut self) {
        self.stands.is_asked = true;
    }

    /// Keeps how it stands.
    pub(super) fn keep(&self) -> Result<(), String> {
        let text = serde_json::to_vec(&self.stands).map_err(|error| error.to_string())?;
        put(&self.folder, COURSE, &text).map_err(|error| error.to_string())
    }

    /// The names of what came and was not looked at.
    pub(super) fn came(&self) -> Vec<String> {
        names(&self.folder.join(COMES))
    }

    /// One of it, with who said it. Nothing that is none is looked at again.
    pub(super) fn one(&self, name: &str) -> Option<(NodeId, Parcel)> {
        let from = name.split('-').next().and_then(|from| from.parse().ok());
        let bytes = std::fs::read(self.folder.join(COMES).join(name)).ok();
        let said = from.zip(bytes.and_then(|bytes| Parcel::from_bytes(&bytes).ok()));
        if said.is_none() {
            self.looked_at(name);
        }
        said
    }

    /// It was looked at.
    pub(super) fn looked_at(&self, name: &str) {
        if let Err(error) = removed(std::fs::remove_file(self.folder.join(COMES).join(name))) {
            tracing::warn!(%error, "what another machine said of training is looked at again");
        }
    }

    /// Keeps a message by its digest.
    pub(super) fn put(&self, message: &[u8]) -> Result<(), String> {
        let name = format!("{}{MESSAGE}", Digest::of(message));
        let most = MACHINES_MAX * ROUNDS_MAX as usize;
        let all = names(&self.folder);
        if all.len() > most && !all.contains(&name) {
            return Err("more messages came than a run has".to_owned());
        }
        put(&self.folder, &name, message).map_err(|error| error.to_string())
    }

    /// A message by its digest, where it is here.
    pub(super) fn message(&self, sha256: &Digest) -> Option<Vec<u8>> {
        let path = self.folder.join(format!("{sha256}{MESSAGE}"));
        let length = std::fs::metadata(&path).ok()?.len();
        if length > PARCEL_BYTES_MAX as u64 {
            return None;
        }
        std::fs::read(path).ok().filter(|bytes| Digest::of(bytes) == *sha256)
    }

    /// Lets go of a message.
    pub(super) fn forget(&self, sha256: &Digest) {
        let path = self.folder.join(format!("{sha256}{MESSAGE}"));
        if let Err(error) = removed(std::fs::remove_file(path)) {
            tracing::warn!(%error, "a message of training that is not needed any more could not be removed");
        }
    }
}
