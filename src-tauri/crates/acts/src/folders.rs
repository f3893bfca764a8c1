//! Folders that an act makes on its way: those that are missing above what it puts somewhere. They are no items of its
//! change set, so its request foresees them as effects, and every card reads them from there.

use crate::{ActionRequest, Line, visible_path};
use model::action::{ChangeItem, ExpectedEffect};
use model::witness::{Fingerprint, Found};
use model::{RelPath, ResourceId, WorkspaceId};
use std::collections::BTreeSet;

/// The effect on a folder that is made on the way.
pub const MAKE_FOLDER: &str = "make_folder";
/// The effect that stands for the folders behind the last that was looked at.
pub const MAKE_MORE_FOLDERS: &str = "make_more_folders";
/// On what it depends that a folder is made.
pub const UNLESS_THERE: &str = "unless it is there by then";

/// Folders that are looked at for one request.
const FOLDERS_MAX: usize = 20_000;
/// Bytes of all their paths.
const PATHS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The folders that carrying out `items` makes on its way, outermost first, as effects of a request. `look` tells what is at
/// places of the folder now.
pub fn foreseen(
    workspace: WorkspaceId,
    items: &[ChangeItem],
    look: impl FnOnce(&[ResourceId]) -> Vec<Fingerprint>,
) -> Vec<ExpectedEffect> {
    let (above, more) = above(items);
    if above.is_empty() {
        return Vec::new();
    }
    let gone: BTreeSet<&RelPath> = items.iter().filter_map(taken_away).collect();
    let places: Vec<ResourceId> = above.into_iter().map(|path| ResourceId::File(workspace, path)).collect();
    let missing = look(&places).into_iter().filter_map(|print| {
        let ResourceId::File(_, path) = &print.resource else { return None };
        let is_missing = match print.state {
            Found::Absent => true,
            // A file that is to make room for a folder.
            Found::Folder { .. } => false,
            _ => gone.contains(path),
        };
        is_missing.then(|| effect(workspace, path.clone(), MAKE_FOLDER))
    });
    missing.chain(more.map(|path| effect(workspace, path, MAKE_MORE_FOLDERS))).collect()
}

fn effect(workspace: WorkspaceId, path: RelPath, effect: &str) -> ExpectedEffect {
    ExpectedEffect {
        resource: ResourceId::File(workspace, path),
        effect: effect.to_owned(),
        before_sha256: None,
        after_sha256: None,
        byte_size: None,
    }
}

/// Every folder above what the items put somewhere, but those that are items themselves; and the first one behind the
/// bound, where there are more.
fn above(items: &[ChangeItem]) -> (BTreeSet<RelPath>, Option<RelPath>) {
    let mut found: BTreeSet<RelPath> = BTreeSet::new();
    let mut more = None;
    let mut bytes = 0_usize;
    'items: for item in items {
        let Some(put) = put_by(item) else { continue };
        let mut at = put.parent();
        while !at.is_root() && !found.contains(&at) {
            bytes = bytes.saturating_add(at.as_bytes().len());
            if found.len() == FOLDERS_MAX || bytes > PATHS_BYTES_MAX {
                more = Some(at);
                break 'items;
            }
            let parent = at.parent();
            found.insert(at);
            at = parent;
        }
    }
    for item in items {
        if let ChangeItem::Folder { path, was: None, .. } = item {
            found.remove(path);
        }
    }
    (found, more)
}

/// The place where an item puts something.
const fn put_by(item: &ChangeItem) -> Option<&RelPath> {
    match item {
        ChangeItem::Write { path, .. }
        | ChangeItem::Move { to: path, .. }
        | ChangeItem::Folder { path, .. }
        | ChangeItem::Link { path, .. } => Some(path),
        ChangeItem::Delete { .. } => None,
    }
}

/// The place that an item takes something away from.
const fn taken_away(item: &ChangeItem) -> Option<&RelPath> {
    match item {
        ChangeItem::Delete { path, .. } | ChangeItem::Move { from: path, .. } => Some(path),
        ChangeItem::Write { .. } | ChangeItem::Folder { .. } | ChangeItem::Link { .. } => None,
    }
}

impl ActionRequest {
    /// The folders that it makes on its way, as far as they are missing now, outermost first.
    pub fn folders_made(&self) -> impl Iterator<Item = &RelPath> {
        self.expected_effects.iter().filter(|effect| effect.effect == MAKE_FOLDER).filter_map(|effect| {
            match &effect.resource {
                ResourceId::File(_, path) => Some(path),
                _ => None,
            }
        })
    }

    /// Whether it may make more folders on its way than are listed.
    pub fn makes_more_folders(&self) -> bool {
        self.expected_effects.iter().any(|effect| effect.effect == MAKE_MORE_FOLDERS)
    }
}

/// The lines of the folders that a request makes on its way.
pub fn lines(request: &ActionRequest) -> Vec<Line> {
    let made = request
        .folders_made()
        .map(|path| Line::effect(format!("make the folder {}, {UNLESS_THERE}", visible_path(path))));
    let more = request
        .makes_more_folders()
        .then(|| Line::effect("make more folders than are listed here; the receipt names each".to_owned()));
    made.chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;
    use model::action::Prior;

    fn path(name: &str) -> RelPath {
        name.parse().unwrap()
    }

    fn moved(from: &str, to: &str) -> ChangeItem {
        ChangeItem::Move { from: path(from), to: path(to), prior: Prior::Sha256(Digest([7; 32])) }
    }

    fn workspace() -> WorkspaceId {
        "wsp_0190a1b2c3d47e8f9a0b1c2d00000001".parse().unwrap()
    }

    /// What is foreseen where these folders are there, and a file named `file`.
    fn told(items: &[ChangeItem], there: &[&str]) -> Vec<(String, String)> {
        let look = |places: &[ResourceId]| {
            let state = |place: &ResourceId| match place {
                ResourceId::File(_, at) if there.contains(&at.to_string().as_str()) => {
                    Found::Folder { mode: None }
                }
                ResourceId::File(_, at) if at.to_string() == "file" => {
                    Found::File { sha256: Digest([7; 32]), byte_size: 1, mode: None }
                }
                _ => Found::Absent,
            };
            places.iter().map(|at| Fingerprint { resource: at.clone(), state: state(at) }).collect()
        };
        let name = |effect: ExpectedEffect| {
            let place = effect.resource.to_string();
            let at = place.split_once('/').map_or("", |(_, at)| at);
            (effect.effect, at.to_owned())
        };
        foreseen(workspace(), items, look).into_iter().map(name).collect()
    }

    fn made(name: &str) -> (String, String) {
        (MAKE_FOLDER.to_owned(), name.to_owned())
    }

    #[test]
    fn a_folder_is_foreseen_once_where_it_is_missing_above_what_is_put_there() {
        let items = [
            moved("a.jpg", "Images/2026/a.jpg"),
            moved("b.jpg", "Images/2026/b.jpg"),
            moved("c.pdf", "Papers/c.pdf"),
            moved("d.txt", "e.txt"),
            ChangeItem::Delete { path: path("Old/gone.txt"), prior: Prior::Sha256(Digest([7; 32])) },
        ];
        assert_eq!(told(&items, &["Papers"]), [made("Images"), made("Images/2026")]);
        assert!(told(&items, &["Papers", "Images", "Images/2026"]).is_empty());
    }

    #[test]
    fn a_folder_that_is_an_item_itself_is_not_told_twice_and_what_is_above_it_is_told() {
        let items =
            [ChangeItem::Folder { path: path("x/y"), mode: None, was: None }, moved("a.jpg", "x/y/a.jpg")];
        assert_eq!(told(&items, &[]), [made("x")]);
    }

    #[test]
    fn a_file_that_goes_makes_room_for_a_folder_and_one_that_stays_does_not() {
        let goes = [
            ChangeItem::Delete { path: path("file"), prior: Prior::Sha256(Digest([7; 32])) },
            moved("a.jpg", "file/a.jpg"),
        ];
        assert_eq!(told(&goes, &[]), [made("file")]);
        assert!(told(goes.get(1..).unwrap(), &[]).is_empty());
    }

    #[test]
    fn so_many_folders_are_looked_at_and_no_more_and_that_is_said() {
        let items: Vec<ChangeItem> =
            (0..=FOLDERS_MAX).map(|at| moved(&format!("f{at}"), &format!("d{at:05}/f"))).collect();
        let all = told(&items, &[]);
        assert_eq!(all.len(), FOLDERS_MAX + 1);
        assert_eq!(all.last(), Some(&(MAKE_MORE_FOLDERS.to_owned(), format!("d{FOLDERS_MAX:05}"))));
    }
}
