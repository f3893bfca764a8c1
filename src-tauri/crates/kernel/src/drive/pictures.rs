//! Pictures in a context: those that came with words, that a tool answered with, or that were read in the folder. Where the
//! model is said to see, they go along, named by their digests in the pack, within bounds; where not, it is told why.

use super::normalise::told;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::Material;
use knowledge::pack::{LEFT_OUT, left_out};
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, Sensitivity};
use model::context::{ContextPack, Picture};
use model::limits::{
    ANSWER_CONTENTS_MAX, PICTURE_BYTES_MAX, PICTURE_PIXELS_MAX, PICTURE_SIDE_MAX, PICTURES_BYTES_MAX,
    PICTURES_LEFT_OUT_NAMED, PICTURES_MAX,
};
use model::{ArtifactId, Digest};
use reasoning::Pictures;
use reasoning::pictures::{BEGINNING, Named, media_type_of, named_in, read_in, size_of};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

/// What is said of all pictures where a model is shown none.
const BLIND: &str = "this model is not set to see pictures";
/// What is said of one that is too large.
const TOO_LARGE: &str = "it has more than 3 MiB; make it smaller";
/// What is said of one that would be too large where it is decoded.
const TOO_MANY_PIXELS: &str =
    "it has more than 40 million pixels, or more than 8000 on one side; make it smaller";
/// What is said of one whose header cannot be read.
const UNMEASURED: &str = "its header does not say how wide and high it is";
/// What is said of one that finds no room.
const TOO_MANY: &str = "8 pictures of 8 MiB together are shown in one request, the newest first";
/// What is said of one that was not read whole.
const CUT: &str = "only the first 4 MiB of a file are read";
/// What is said of one that was not kept.
const NOT_KEPT: &str = "only the first 16 contents of one answer are kept";
/// What is said of one whose bytes are gone or damaged.
const GONE: &str = "its bytes cannot be read";
/// What is said of one that was seen, where a summary stands for that by now.
const SUMMED_UP: &str = "a summary stands in the place of what it came with; look again to see it";

/// A picture, and where its bytes are.
struct Found {
    picture: Picture,
    at: At,
}

/// Where the bytes of a picture are.
enum At {
    /// In a result.
    Here(Vec<u8>),
    /// Content of the store.
    Store,
    /// Nowhere, for this reason.
    Nowhere(&'static str),
}

/// What one request still has room for.
struct Room {
    pictures: usize,
    bytes: u64,
    named: BTreeSet<Digest>,
}

impl Room {
    /// Whether a picture of so many bytes finds room; why not.
    const fn has(&self, byte_size: u64) -> Result<(), &'static str> {
        if byte_size > PICTURE_BYTES_MAX {
            return Err(TOO_LARGE);
        }
        if self.pictures == 0 || byte_size > self.bytes {
            return Err(TOO_MANY);
        }
        Ok(())
    }

    /// Takes it in.
    const fn take(&mut self, byte_size: u64) {
        (self.pictures, self.bytes) = (self.pictures.saturating_sub(1), self.bytes.saturating_sub(byte_size));
    }
}

/// Why pictures are not shown, each with the place of what it is of. So many are named; further ones are counted.
#[derive(Default)]
struct LeftOut {
    said: Vec<(usize, String)>,
    more: usize,
}

impl LeftOut {
    fn say(&mut self, at: usize, why: &'static str, picture: &Picture) {
        if why == BLIND {
            // Where none is shown it is no matter of one of them.
            let said = (at, format!("{LEFT_OUT}: {BLIND}"));
            if !self.said.contains(&said) {
                self.said.push(said);
            }
            return;
        }
        let said = left_out(why, picture);
        if self.said.len() < PICTURES_LEFT_OUT_NAMED {
            self.said.push((at, said));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn tell(self, materials: &mut [Material]) {
        let last = self.said.last().map(|(at, _)| *at);
        let more = (self.more > 0).then(|| format!("{LEFT_OUT}: so are {} more", self.more));
        for (at, why) in self.said.into_iter().chain(last.zip(more)) {
            if let Some(material) = materials.get_mut(at) {
                material.unseen.push(why);
            }
        }
    }
}

impl Kernel {
    /// Names the pictures of what goes into a context, says why others do not, and hands out the bytes of those that do.
    pub(super) fn with_pictures(
        &self,
        state: &TaskState,
        sees: bool,
        materials: &mut [Material],
    ) -> Result<Pictures, Error> {
        let (mut at_hand, mut left) = (Pictures::new(), LeftOut::default());
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
            for found in self.pictures_of(state, artifact, &material.title)? {
                if !room.named.insert(found.picture.sha256) {
                    continue;
                }
                let Found { picture, at: bytes } = found;
                let bytes = match sees {
                    true => self.shown(&room, &picture, bytes),
                    false => Err(BLIND),
                };
                let bytes = match bytes {
                    Ok(bytes) => bytes,
                    Err(why) => {
                        left.say(at, why, &picture);
                        continue;
                    }
                };
                room.take(picture.byte_size);
                if artifact.class == ArtifactClass::Source {
                    let Picture { media_type, byte_size, sha256, .. } = &picture;
                    material.text =
                        format!("({media_type}, {byte_size} bytes, sha256 {sha256}: shown as a picture)");
                }
                at_hand.insert(picture.sha256, bytes);
                material.pictures.push(picture);
            }
        }
        left.tell(materials);
        Ok(at_hand)
    }

    /// The bytes of a picture that may be shown; why it may not.
    fn shown(&self, room: &Room, picture: &Picture, at: At) -> Result<Vec<u8>, &'static str> {
        if let At::Nowhere(why) = at {
            return Err(why);
        }
        room.has(picture.byte_size)?;
        let bytes = self.bytes_at(picture.sha256, at).ok_or(GONE)?;
        measured(&bytes).map(|()| bytes)
    }

    fn bytes_at(&self, sha256: Digest, at: At) -> Option<Vec<u8>> {
        match at {
            At::Here(bytes) => Some(bytes),
            At::Store => self.artifacts.read(&sha256).ok(),
            At::Nowhere(_) => None,
        }
    }

    /// The pictures that a pack names, with their bytes; none where one cannot be read any more.
    pub(super) fn pictures_named(
        &self,
        state: &TaskState,
        pack: &ContextPack,
    ) -> Result<Option<Pictures>, Error> {
        let mut all = Pictures::new();
        for item in pack.items.iter().filter(|item| !item.pictures.is_empty()) {
            let artifact = item.source.parse().ok().and_then(|id: ArtifactId| state.artifacts.get(&id));
            let found = artifact.map(|artifact| self.pictures_of(state, artifact, "")).transpose();
            let Ok(Some(found)) = found else { return Ok(None) };
            for Found { picture, at } in found {
                if item.pictures.iter().any(|named| named.sha256 == picture.sha256)
                    && let Some(bytes) = self.bytes_at(picture.sha256, at)
                {
                    all.insert(picture.sha256, bytes);
                }
            }
        }
        let mut named = pack.items.iter().flat_map(|item| &item.pictures);
        let is_whole = named.all(|picture| all.contains_key(&picture.sha256));
        Ok(is_whole.then_some(all))
    }

    /// Why pictures of what a summary stands for are not shown: those that the context before showed, and those that it left
    /// out. Each with the artifact that it is of.
    pub(crate) fn summed_up_pictures(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
    ) -> Result<Vec<(ArtifactId, String)>, Error> {
        let (Some(compacted), Some(before)) = (&attempt.compacted, &attempt.pack) else {
            return Ok(Vec::new());
        };
        let folded = attempt.observed.iter().take(compacted.results).map(|seen| seen.artifact.artifact_id);
        let folded: BTreeSet<ArtifactId> = folded.collect();
        let of = |source: &str| source.parse().ok().filter(|id: &ArtifactId| folded.contains(id));
        let before: ContextPack = self.read_object(state, before.artifact_id)?;
        let mut said = Vec::new();
        for item in &before.items {
            let Some(id) = of(&item.source) else { continue };
            said.extend(item.pictures.iter().map(|picture| (id, left_out(SUMMED_UP, picture))));
        }
        for one in before.omissions.iter().filter(|one| one.reason.starts_with(LEFT_OUT)) {
            said.extend(of(&one.source).map(|id| (id, one.reason.clone())));
        }
        // The latest are named.
        said.truncate(PICTURES_LEFT_OUT_NAMED);
        Ok(said)
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
        let read = read_in(&value)
            .into_iter()
            .map(|(picture, bytes)| Found { picture, at: bytes.map_or(At::Nowhere(CUT), At::Here) });
        let mut found: Vec<Found> = read.collect();
        let (tool, named) = named_in(&value);
        let (kept, further) = named.split_at(named.len().min(ANSWER_CONTENTS_MAX));
        for one in kept {
            let sha256 = &one.sha256;
            // A result names what was kept with it, and nothing else of the store. What a look into secrets brought is all of
            // one class, and was allowed for exactly this task.
            let is_kept = state.artifacts.values().any(|kept| {
                kept.content_hash == *sha256
                    && kept.kind == ArtifactKind::Image
                    && kept.class == ArtifactClass::Evidence
                    && kept.created_at == artifact.created_at
                    && (kept.sensitivity_class != Sensitivity::Secret
                        || artifact.sensitivity_class == Sensitivity::Secret)
            });
            if is_kept {
                found.extend(match self.artifacts.content(sha256) {
                    Ok(_) => self.picture_at(*sha256, tool),
                    Err(_) => Some(nowhere(tool, one, GONE)),
                });
            }
        }
        let further = further.iter().filter(|one| one.is_said_to_be);
        found.extend(further.map(|one| nowhere(tool, one, NOT_KEPT)));
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
        Some(Found { picture, at: At::Store })
    }
}

/// What a server said is a picture, and nobody can look at, for this reason.
fn nowhere(tool: &str, one: &Named, why: &'static str) -> Found {
    let Named { sha256, byte_size, .. } = *one;
    let (name, media_type) = (tool.to_owned(), "image".to_owned());
    Found { picture: Picture { name, media_type, byte_size, sha256 }, at: At::Nowhere(why) }
}

/// Whether a picture is small enough for whoever decodes it; why not.
fn measured(bytes: &[u8]) -> Result<(), &'static str> {
    let (width, height) = size_of(bytes).ok_or(UNMEASURED)?;
    let pixels = u64::from(width).saturating_mul(u64::from(height));
    match pixels > PICTURE_PIXELS_MAX || width.max(height) > PICTURE_SIDE_MAX {
        true => Err(TOO_MANY_PIXELS),
        false => Ok(()),
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

    fn png(width: u32, height: u32) -> Vec<u8> {
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &size].concat()
    }

    #[test]
    fn a_request_shows_so_many_pictures_of_so_many_bytes_and_says_what_is_left_out() {
        let room = || Room { pictures: PICTURES_MAX, bytes: PICTURES_BYTES_MAX, named: BTreeSet::new() };
        let take = |room: &mut Room, byte_size| room.has(byte_size).map(|()| room.take(byte_size));
        assert_eq!(room().has(PICTURE_BYTES_MAX), Ok(()));
        assert_eq!(room().has(PICTURE_BYTES_MAX + 1), Err(TOO_LARGE));
        let mut few = room();
        (0..PICTURES_MAX).for_each(|_| take(&mut few, 1).unwrap());
        assert_eq!(few.has(1), Err(TOO_MANY));
        let mut large = room();
        take(&mut large, PICTURE_BYTES_MAX).unwrap();
        take(&mut large, PICTURE_BYTES_MAX).unwrap();
        assert_eq!(large.has(PICTURE_BYTES_MAX), Err(TOO_MANY));
        // The words say the same.
        assert_eq!((PICTURE_BYTES_MAX, PICTURES_MAX, PICTURES_BYTES_MAX), (3 << 20, 8, 8 << 20));
        assert_eq!((PICTURE_PIXELS_MAX, PICTURE_SIDE_MAX), (40_000_000, 8_000));
        assert_eq!((ANSWER_CONTENTS_MAX, effects::READ_BYTES_MAX), (16, 4 << 20));
    }

    #[test]
    fn a_picture_is_bounded_by_what_it_is_when_it_is_decoded() {
        for (width, height, said) in [
            (8_000, 5_000, Ok(())),
            (8_000, 5_001, Err(TOO_MANY_PIXELS)),
            (8_001, 1, Err(TOO_MANY_PIXELS)),
            (u32::MAX, u32::MAX, Err(TOO_MANY_PIXELS)),
            (0, 7, Err(UNMEASURED)),
        ] {
            assert_eq!(measured(&png(width, height)), said, "{width} {height}");
        }
        assert_eq!(measured(b"\x89PNG\r\n\x1a\nrest"), Err(UNMEASURED));
    }
}
