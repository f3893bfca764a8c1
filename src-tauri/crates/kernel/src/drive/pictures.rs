//! Pictures in a context: those that came with words, that a tool answered with, or that were read in the folder. Where the
//! model is said to see, they go along, named by their digests in the pack, within bounds; where not, it is told why.

use super::normalise::told;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use knowledge::Material;
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, Sensitivity};
use model::context::{ContextPack, Picture};
use model::limits::{PICTURE_BYTES_MAX, PICTURES_BYTES_MAX, PICTURES_MAX};
use model::{ArtifactId, Digest};
use reasoning::Pictures;
use reasoning::pictures::{BEGINNING, media_type_of, named_in, read_in};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

/// What is said of a picture that a model is not shown.
const BLIND: &str = "picture left out: this model is not set to see pictures";
/// What is said of one that is too large.
const TOO_LARGE: &str = "picture left out: it has more than 3 MiB; make it smaller";
/// What is said of one that finds no room.
const TOO_MANY: &str =
    "picture left out: 8 pictures of 8 MiB together are shown in one request, the newest first";
/// What is said of one whose bytes are gone or damaged.
const GONE: &str = "picture left out: its bytes cannot be read";

/// A picture, and where its bytes are.
struct Found {
    picture: Picture,
    /// The bytes, where they stand in a result; else they are content of the store.
    bytes: Option<Vec<u8>>,
}

/// What one request still has room for.
struct Room {
    pictures: usize,
    bytes: u64,
    named: BTreeSet<Digest>,
}

impl Room {
    /// Takes a picture in, or says why not: without its name, which a stranger may have chosen.
    fn take(&mut self, byte_size: u64) -> Result<(), &'static str> {
        if byte_size > PICTURE_BYTES_MAX {
            return Err(TOO_LARGE);
        }
        if self.pictures == 0 || byte_size > self.bytes {
            return Err(TOO_MANY);
        }
        (self.pictures, self.bytes) = (self.pictures.saturating_sub(1), self.bytes.saturating_sub(byte_size));
        Ok(())
    }
}

impl Kernel {
    /// Names the pictures of what goes into a context, and hands out the bytes of those that stand in a result.
    pub(super) fn with_pictures(
        &self,
        state: &TaskState,
        sees: bool,
        materials: &mut [Material],
    ) -> Result<Pictures, Error> {
        let mut at_hand = Pictures::new();
        let mut room = Room { pictures: PICTURES_MAX, bytes: PICTURES_BYTES_MAX, named: BTreeSet::new() };
        // One result may be several materials: its pictures are shown behind the last of them.
        let last: BTreeMap<ArtifactId, usize> =
            materials.iter().enumerate().map(|(at, material)| (material.artifact_id, at)).collect();
        // What came with words, then what was seen, the newest of each first.
        let mut places: Vec<usize> = last.into_values().collect();
        places.sort_by_key(|at| std::cmp::Reverse((materials.get(*at).is_some_and(|one| one.pinned), *at)));
        for at in places {
            let Some(material) = materials.get_mut(at) else { continue };
            let Some(artifact) = state.artifacts.get(&material.artifact_id) else { continue };
            if material.sensitivity == Sensitivity::Secret {
                continue;
            }
            for Found { picture, bytes } in self.pictures_of(state, artifact, &material.title)? {
                if !room.named.insert(picture.sha256) {
                    continue;
                }
                let shown = match sees {
                    true => room.take(picture.byte_size),
                    false => Err(BLIND),
                };
                let bytes = match bytes {
                    _ if shown.is_err() => None,
                    Some(bytes) => Some(bytes),
                    None => self.artifacts.read(&picture.sha256).ok(),
                };
                let Some(bytes) = bytes else {
                    let why = shown.err().unwrap_or(GONE).to_owned();
                    if !material.unseen.contains(&why) {
                        material.unseen.push(why);
                    }
                    continue;
                };
                if artifact.class == ArtifactClass::Source {
                    let Picture { media_type, byte_size, sha256, .. } = &picture;
                    material.text =
                        format!("({media_type}, {byte_size} bytes, sha256 {sha256}: shown as a picture)");
                }
                at_hand.insert(picture.sha256, bytes);
                material.pictures.push(picture);
            }
        }
        Ok(at_hand)
    }

    /// The pictures of one artifact: itself, those that it was told with, or those that a look read.
    fn pictures_of(&self, state: &TaskState, artifact: &Artifact, title: &str) -> Result<Vec<Found>, Error> {
        let name = || artifact.task_local_alias.as_ref().and_then(|name| name.shown().cloned());
        if artifact.class == ArtifactClass::Source {
            let name = name().unwrap_or_else(|| title.to_owned());
            return Ok(self.picture_at(artifact.content_hash, &name).into_iter().collect());
        }
        if artifact.kind != ArtifactKind::ActionResult {
            return Ok(Vec::new());
        }
        let value = told(&self.artifacts.read(&artifact.content_hash)?).unwrap_or_default();
        let read = read_in(&value).into_iter().map(|(picture, bytes)| Found { picture, bytes: Some(bytes) });
        let mut found: Vec<Found> = read.collect();
        for (name, sha256) in named_in(&value) {
            // A result names what was kept with it, and nothing else of the store.
            let is_kept = state.artifacts.values().any(|kept| {
                kept.content_hash == sha256
                    && kept.kind == ArtifactKind::Image
                    && kept.class == ArtifactClass::Evidence
                    && kept.created_at == artifact.created_at
                    && kept.sensitivity_class != Sensitivity::Secret
            });
            found.extend(is_kept.then(|| self.picture_at(sha256, &name)).flatten());
        }
        Ok(found)
    }

    /// Content of the store, where it is a picture that is there.
    fn picture_at(&self, sha256: Digest, name: &str) -> Option<Found> {
        let content = self.artifacts.content(&sha256).ok()?;
        let byte_size = content.byte_size();
        let mut beginning = Vec::new();
        content.take(BEGINNING as u64).read_to_end(&mut beginning).ok()?;
        let media_type = media_type_of(&beginning)?.to_owned();
        let picture = Picture { name: name.to_owned(), media_type, byte_size, sha256 };
        Some(Found { picture, bytes: None })
    }
}

/// The bytes of those pictures that a pack names.
pub(super) fn pictures_in(pack: &ContextPack, at_hand: &Pictures) -> Pictures {
    let named = pack.items.iter().flat_map(|item| &item.pictures);
    named.filter_map(|picture| Some((picture.sha256, at_hand.get(&picture.sha256)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_shows_so_many_pictures_of_so_many_bytes_and_says_what_is_left_out() {
        let room = || Room { pictures: PICTURES_MAX, bytes: PICTURES_BYTES_MAX, named: BTreeSet::new() };
        assert_eq!(room().take(PICTURE_BYTES_MAX), Ok(()));
        assert_eq!(room().take(PICTURE_BYTES_MAX + 1), Err(TOO_LARGE));
        let mut few = room();
        (0..PICTURES_MAX).for_each(|_| few.take(1).unwrap());
        assert_eq!(few.take(1), Err(TOO_MANY));
        let mut large = room();
        large.take(PICTURE_BYTES_MAX).unwrap();
        large.take(PICTURE_BYTES_MAX).unwrap();
        assert_eq!(large.take(PICTURE_BYTES_MAX), Err(TOO_MANY));
        // The words say the same.
        assert_eq!((PICTURE_BYTES_MAX, PICTURES_MAX, PICTURES_BYTES_MAX), (3 << 20, 8, 8 << 20));
    }
}
