//! Pictures in a context: those that came with words, that a tool answered with, or that were read in the folder. Where the
//! model is said to see, they go along, named by their digests in the pack, within bounds; where not, it is told why.

use super::normalise::told;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use knowledge::Material;
use model::artifact::{Artifact, ArtifactClass, ArtifactKind};
use model::context::{ContextPack, Picture};
use model::limits::{PICTURE_BYTES_MAX, PICTURES_BYTES_MAX, PICTURES_MAX};
use model::{ArtifactId, Digest};
use reasoning::Pictures;
use reasoning::pictures::{BEGINNING, media_type_of, named_in, read_in};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

/// What is said of a picture that a model is not shown.
const BLIND: &str =
    "picture left out: this model is not set to see pictures (`hermit models set ADDRESS --sees yes`)";

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
    /// Takes a picture in, or says why not.
    fn take(&mut self, picture: &Picture) -> Result<(), String> {
        let name = acts::visible(&picture.name);
        let size = picture.byte_size;
        if size > PICTURE_BYTES_MAX {
            return Err(format!(
                "picture left out: `{name}` has {size} bytes, and one of at most {PICTURE_BYTES_MAX} is shown; make it smaller"
            ));
        }
        if self.pictures == 0 {
            return Err(format!(
                "picture left out: `{name}`; {PICTURES_MAX} pictures are shown in one request, the newest first"
            ));
        }
        if size > self.bytes {
            return Err(format!(
                "picture left out: `{name}`; {PICTURES_BYTES_MAX} bytes of pictures are shown in one request, the newest first"
            ));
        }
        (self.pictures, self.bytes) = (self.pictures.saturating_sub(1), self.bytes.saturating_sub(size));
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
            for Found { picture, bytes } in self.pictures_of(artifact, &material.title)? {
                if !room.named.insert(picture.sha256) {
                    continue;
                }
                if !sees {
                    material.unseen = vec![BLIND.to_owned()];
                    continue;
                }
                match room.take(&picture) {
                    Err(why) => material.unseen.push(why),
                    Ok(()) => {
                        if artifact.class == ArtifactClass::Source {
                            let Picture { media_type, byte_size, sha256, .. } = &picture;
                            material.text = format!(
                                "({media_type}, {byte_size} bytes, sha256 {sha256}: shown as a picture)"
                            );
                        }
                        at_hand.extend(bytes.map(|bytes| (picture.sha256, bytes)));
                        material.pictures.push(picture);
                    }
                }
            }
        }
        Ok(at_hand)
    }

    /// The bytes of all pictures that a pack names.
    pub(super) fn pictures_in(&self, pack: &ContextPack, at_hand: &Pictures) -> Result<Pictures, Error> {
        let named = pack.items.iter().flat_map(|item| &item.pictures);
        let one = |picture: &Picture| {
            let bytes = match at_hand.get(&picture.sha256) {
                Some(bytes) => bytes.clone(),
                None => self.artifacts.read(&picture.sha256)?,
            };
            Ok((picture.sha256, bytes))
        };
        named.map(one).collect()
    }

    /// The pictures of one artifact: itself, those that it was told with, or those that a look read.
    fn pictures_of(&self, artifact: &Artifact, title: &str) -> Result<Vec<Found>, Error> {
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
            found.extend(self.picture_at(sha256, &name));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(byte_size: u64) -> Picture {
        let name = "a.png".to_owned();
        Picture { name, media_type: "image/png".to_owned(), byte_size, sha256: Digest::of(b"a") }
    }

    #[test]
    fn a_request_shows_so_many_pictures_of_so_many_bytes_and_says_what_is_left_out() {
        let room = || Room { pictures: PICTURES_MAX, bytes: PICTURES_BYTES_MAX, named: BTreeSet::new() };
        assert!(room().take(&picture(PICTURE_BYTES_MAX)).is_ok());
        assert!(room().take(&picture(PICTURE_BYTES_MAX + 1)).unwrap_err().contains("make it smaller"));
        let mut few = room();
        (0..PICTURES_MAX).for_each(|_| few.take(&picture(1)).unwrap());
        assert!(few.take(&picture(1)).unwrap_err().contains("8 pictures are shown"));
        let mut large = room();
        large.take(&picture(PICTURE_BYTES_MAX)).unwrap();
        large.take(&picture(PICTURE_BYTES_MAX)).unwrap();
        assert!(large.take(&picture(PICTURE_BYTES_MAX)).unwrap_err().contains("bytes of pictures are shown"));
    }
}
