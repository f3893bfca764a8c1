//! What is kept of a run that machines learn together, beside the folder of its program: how the rounds stand, the messages of each,
//! and what came and was not looked at yet. All of it goes when the run is over.

use super::letterbox::{names, put, removed};
use super::plan::Plan;
use mesh::NodeId;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use training::outer::{Course, MACHINES_MAX, OuterHead, PARCEL_BYTES_MAX, Parcel, ROUNDS_MAX};

/// What comes.
pub(super) const COMES: &str = "comes";
/// How the rounds stand.
const COURSE: &str = "course.json";
/// How the file of a message ends, whose name is its digest.
const MESSAGE: &str = ".bin";
/// Rounds behind its own of which a machine that does not lead keeps what it is told: what is of later ones waits where it came in,
/// of which there is little.
pub(super) const ROUNDS_AHEAD: u32 = 3;
/// Messages that it keeps: those of its round and of these, and its own.
const FOLLOWED_MAX: usize = MACHINES_MAX * (ROUNDS_AHEAD as usize + 1) + 1;

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

    /// Keeps a message that the machine that leads passes on, where it says itself that it is of this run and round, and the round is
    /// one from this machine's to `until`. Where as many are here as any honest machine passes on, it is let go of: whoever lacks it
    /// asks again.
    pub(super) fn put_ahead(
        &self,
        round: u32,
        run: &Digest,
        message: &[u8],
        until: u32,
    ) -> Result<(), String> {
        let is_near = (self.course().round..=until).contains(&round);
        let is_its = OuterHead::of(message).is_ok_and(|head| head.round == round && head.run == *run);
        if !is_near || !is_its {
            return Ok(());
        }
        if self.messages().len() >= FOLLOWED_MAX && self.message(&Digest::of(message)).is_none() {
            tracing::warn!(round, "the machine that leads says more of the rounds ahead than is kept");
            return Ok(());
        }
        self.put(message)
    }

    /// Lets go of each message that is of a round before this one, or of none.
    pub(super) fn forget_before(&self, round: u32) {
        for sha256 in self.messages() {
            let head = self.message(&sha256).and_then(|bytes| OuterHead::of(&bytes).ok());
            if head.is_none_or(|head| head.round < round) {
                self.forget(&sha256);
            }
        }
    }

    /// The digests of the messages that are here.
    fn messages(&self) -> Vec<Digest> {
        let all = names(&self.folder);
        all.iter().filter_map(|name| name.strip_suffix(MESSAGE)?.parse().ok()).collect()
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;

    /// A message of a round, as `training` writes its head.
    fn message(run: &Digest, round: u32, number: u32) -> Vec<u8> {
        let mut bytes = b"hermit/outer-step/1\n".to_vec();
        bytes.extend(run.as_bytes());
        bytes.extend(round.to_be_bytes());
        bytes.extend(Digest::ZERO.as_bytes());
        for word in [1, 8, number] {
            bytes.extend(word.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn of_what_a_leader_passes_on_the_next_rounds_are_kept_and_no_more_than_honest_machines_say() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut circle = Circle { folder: folder.path().to_owned(), stands: Stands::default() };
        let (run, other, until) = (Digest::of(b"run"), Digest::of(b"another"), ROUNDS_AHEAD);
        let put = |circle: &Circle, round: u32, bytes: &[u8]| {
            circle.put_ahead(round, &run, bytes, until).unwrap();
        };
        put(&circle, until + 1, &message(&run, until + 1, 0));
        put(&circle, 0, &message(&run, 1, 0));
        put(&circle, 0, &message(&other, 0, 0));
        put(&circle, 0, b"no message");
        assert!(circle.messages().is_empty(), "too far ahead, of another round or run, or none");
        for number in 0..200 {
            let round = number % (until + 1);
            put(&circle, round, &message(&run, round, number));
        }
        assert_eq!(circle.messages().len(), FOLLOWED_MAX);
        circle.course_mut().end();
        circle.forget_before(circle.course().round);
        let left = circle.messages();
        let is_later = |sha256: &Digest| OuterHead::of(&circle.message(sha256).unwrap()).unwrap().round > 0;
        assert!(!left.is_empty() && left.iter().all(is_later));
        put(&circle, 1, &message(&run, 1, 1_000));
        assert_eq!(circle.messages().len(), left.len() + 1, "there is room again");
    }
}
