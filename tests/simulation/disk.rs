//! What a power cut may leave of what was recorded.
//!
//! The disk promises as little as it may: bytes are kept when their file was synced, names when their folder was, and
//! of everything else any part may be there, in any order. One call changes all of its names or none.

use super::recorded::{Kind, Node, Op, ROOT, Recorded};
use super::seeds::Dice;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What is left of what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// All of it.
    All,
    /// Nothing.
    Nothing,
    /// The names, and no bytes.
    Names,
    /// The bytes, and no names.
    Bytes,
    /// Some of it.
    Some(u64),
    /// All of it, but the last write to its middle, and a sector of it.
    Torn(u64),
    /// All of it, with garbage in the last write and behind it.
    Garbage(u64),
}

/// The tree that is found after the power is back.
#[derive(Debug, Clone, Default)]
pub struct Image(pub BTreeMap<String, Found>);

/// A thing in an image.
#[derive(Debug, Clone)]
pub enum Found {
    Folder,
    Link(String),
    File(Content),
}

/// Bytes in blocks, which contents share, and a digest of them all.
#[derive(Debug, Clone)]
pub struct Content {
    blocks: Vec<Block>,
    pub digest: [u8; 32],
}

const BLOCK: usize = 16 << 10;

impl Content {
    fn of(bytes: &[u8]) -> Self {
        Self::sealed(bytes.chunks(BLOCK).map(|block| sealed(block.to_vec())).collect())
    }

    fn sealed(blocks: Vec<Block>) -> Self {
        let mut digest = Sha256::new();
        blocks.iter().for_each(|block| digest.update(block.1));
        Self { blocks, digest: digest.finalize().into() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|block| block.0.iter().copied()).collect()
    }

    pub fn write(&self, to: &Path) -> std::io::Result<()> {
        let mut file = std::fs::File::create(to)?;
        self.blocks.iter().try_for_each(|block| file.write_all(&block.0))?;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
    }
}

fn sealed(block: Vec<u8>) -> Block {
    let digest = Sha256::digest(&block).into();
    Arc::new((block, digest))
}

/// A content that is being changed: only blocks that are touched are copied.
struct Draft(Vec<Result<Block, Vec<u8>>>);

/// Bytes and their digest.
type Block = Arc<(Vec<u8>, [u8; 32])>;

impl Draft {
    fn on(content: &Content) -> Self {
        Self(content.blocks.iter().cloned().map(Ok).collect())
    }

    fn len(&self) -> usize {
        let last =
            self.0.last().map_or(0, |block| block.as_ref().map_or_else(Vec::len, |block| block.0.len()));
        self.0.len().saturating_sub(1) * BLOCK + last
    }

    fn block(&mut self, at: usize) -> &mut Vec<u8> {
        if let Ok(block) = &self.0[at] {
            self.0[at] = Err(block.0.clone());
        }
        self.0[at].as_mut().expect_err("made so")
    }

    fn resize(&mut self, len: usize) {
        self.0.truncate(len.div_ceil(BLOCK));
        if let Some(last) = self.0.len().checked_sub(1) {
            let rest = (len - last * BLOCK).min(BLOCK);
            self.block(last).resize(rest, 0);
        }
        while self.0.len() * BLOCK < len {
            let rest = (len - self.0.len() * BLOCK).min(BLOCK);
            self.0.push(Err(vec![0; rest]));
        }
    }

    fn put(&mut self, mut at: usize, mut bytes: &[u8]) {
        if self.len() < at + bytes.len() {
            self.resize(at + bytes.len());
        }
        while !bytes.is_empty() {
            let (from, size) = (at % BLOCK, bytes.len().min(BLOCK - at % BLOCK));
            self.block(at / BLOCK)[from..from + size].copy_from_slice(&bytes[..size]);
            (at, bytes) = (at + size, &bytes[size..]);
        }
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Length { len, .. } => self.resize(*len),
            Op::Bytes { at, bytes, .. } => self.put(*at, bytes),
            _ => {}
        }
    }

    fn done(self) -> Content {
        Content::sealed(self.0.into_iter().map(|block| block.unwrap_or_else(sealed)).collect())
    }
}

impl Image {
    /// Of all that is there, but what `beside` tells apart.
    pub fn digest(&self, beside: impl Fn(&str) -> bool) -> [u8; 32] {
        let mut digest = Sha256::new();
        for (path, found) in self.0.iter().filter(|(path, _)| !beside(path)) {
            digest.update((path.len() as u64).to_le_bytes());
            digest.update(path);
            match found {
                Found::Folder => digest.update([1]),
                Found::Link(to) => digest.update(to),
                Found::File(content) => digest.update(content.digest),
            }
        }
        digest.finalize().into()
    }

    /// The bytes of a file.
    pub fn file(&self, path: &str) -> Option<&Content> {
        match self.0.get(path) {
            Some(Found::File(content)) => Some(content),
            _ => None,
        }
    }

    /// Files below a folder, by their path in it.
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a Content)> {
        self.0.iter().filter_map(move |(path, found)| match found {
            Found::File(content) => Some((path.strip_prefix(folder)?, content)),
            _ => None,
        })
    }

    /// Lays it out. Its files are older than the machine's present life, as they are behind a power cut.
    pub fn lay(&self, at: &Path) {
        for (path, found) in &self.0 {
            let path = at.join(path);
            match found {
                Found::Folder => std::fs::create_dir_all(path),
                Found::Link(to) => std::os::unix::fs::symlink(to, path),
                Found::File(content) => content.write(&path),
            }
            .expect("a place for the image");
        }
    }
}

type Names = BTreeMap<(Node, String), (Option<Node>, usize)>;

/// A disk on which a recording happens.
pub struct Disk<'a> {
    recorded: &'a Recorded,
    /// Names that are kept whatever comes: what has them, and since when. What happened to one before that is history.
    names: Names,
    /// Bytes that are kept whatever comes.
    bytes: Vec<Content>,
    /// What may be lost, in order: places in the recording.
    loose: Vec<usize>,
    /// Which syncs are not made, by path.
    unsynced: fn(&str) -> bool,
    /// How often the kept bytes of a file have changed.
    versions: Vec<u32>,
    /// Files as they were put together before: by version, and by what was done on top.
    made: HashMap<(Node, u32, Vec<usize>, u64), Content>,
}

impl<'a> Disk<'a> {
    /// On which syncs of some paths are never made.
    pub fn new(recorded: &'a Recorded, unsynced: fn(&str) -> bool) -> Self {
        let size = recorded.kinds.len();
        let bytes = vec![Content::of(&[]); size];
        let (loose, versions) = (Vec::new(), vec![0; size]);
        Self { recorded, names: BTreeMap::new(), bytes, loose, unsynced, versions, made: HashMap::new() }
    }

    /// The next thing of the recording happens.
    pub fn take(&mut self, at: usize) {
        match &self.recorded.ops[at] {
            Op::Bytes { .. } | Op::Length { .. } | Op::Names(_) => self.loose.push(at),
            Op::Sync { path, .. } if (self.unsynced)(path) => {}
            Op::Sync { node, began, .. } => self.sync(|op, place| {
                place < *began
                    && match op {
                        Op::Bytes { node: of, .. } | Op::Length { node: of, .. } => of == node,
                        Op::Names(changes) => changes.iter().any(|(folder, ..)| folder == node),
                        _ => false,
                    }
            }),
            Op::Told(_) => {}
        }
    }

    /// Everything so far is kept.
    pub fn sync_all(&mut self) {
        self.sync(|_, _| true);
    }

    /// Whether anything may be lost.
    pub fn is_loose(&self) -> bool {
        !self.loose.is_empty()
    }

    fn sync(&mut self, covered: impl Fn(&Op, usize) -> bool) {
        let ops = &self.recorded.ops;
        let (synced, loose) = self.loose.iter().partition(|at| covered(&ops[**at], **at));
        let synced: Vec<usize> = synced;
        self.loose = loose;
        let mut changed: BTreeMap<Node, Draft> = BTreeMap::new();
        for at in synced {
            match &ops[at] {
                Op::Names(changes) => change(&mut self.names, changes, at),
                Op::Bytes { node, .. } | Op::Length { node, .. } => {
                    let kept = &self.bytes[*node];
                    changed.entry(*node).or_insert_with(|| Draft::on(kept)).apply(&ops[at]);
                }
                _ => {}
            }
        }
        for (node, bytes) in changed {
            self.bytes[node] = bytes.done();
            self.versions[node] += 1;
            self.made.retain(|(of, ..), _| *of != node);
        }
    }

    /// What is there when the power goes now.
    pub fn image(&mut self, left: Left) -> Image {
        let mut dice = Dice(match left {
            Left::Some(seed) | Left::Torn(seed) | Left::Garbage(seed) => seed,
            _ => 0,
        });
        // Now nearly all is there, now nearly nothing.
        let odds = 1 + dice.below(7);
        let (mut names, mut done): (_, BTreeMap<Node, Vec<usize>>) = (self.names.clone(), BTreeMap::new());
        for at in &self.loose {
            let op = &self.recorded.ops[*at];
            let is_name = matches!(op, Op::Names(_));
            let there = match left {
                Left::All | Left::Torn(_) | Left::Garbage(_) => true,
                Left::Nothing => false,
                Left::Names => is_name,
                Left::Bytes => !is_name,
                Left::Some(_) => dice.below(8) < odds,
            };
            match op {
                _ if !there => {}
                Op::Names(changes) => change(&mut names, changes, *at),
                Op::Bytes { node, .. } | Op::Length { node, .. } => done.entry(*node).or_default().push(*at),
                _ => {}
            }
        }
        let broken = match left {
            Left::Torn(_) | Left::Garbage(_) => self.loose.iter().rev().find_map(|at| self.write_at(*at)),
            _ => None,
        };
        let mut image = Image::default();
        let mut tree: BTreeMap<Node, Vec<(&str, Node)>> = BTreeMap::new();
        for ((folder, name), (node, _)) in &names {
            node.iter().for_each(|node| tree.entry(*folder).or_default().push((name, *node)));
        }
        let mut folders = vec![(String::new(), ROOT)];
        let mut seen = BTreeSet::from([ROOT]);
        while let Some((path, folder)) = folders.pop() {
            for (name, node) in tree.get(&folder).into_iter().flatten() {
                let path = if path.is_empty() { (*name).to_owned() } else { format!("{path}/{name}") };
                let found = match &self.recorded.kinds[*node] {
                    Kind::Link(to) => Found::Link(to.clone()),
                    Kind::File => {
                        let how = broken.filter(|(of, _)| of == node).map(|_| left);
                        Found::File(self.content(*node, done.get(node).cloned().unwrap_or_default(), how))
                    }
                    Kind::Folder if seen.insert(*node) => {
                        folders.push((path.clone(), *node));
                        Found::Folder
                    }
                    // Moved, and the old name not taken away: a folder has one name.
                    Kind::Folder => continue,
                };
                image.0.insert(path, found);
            }
        }
        image
    }

    fn write_at(&self, at: usize) -> Option<(Node, usize)> {
        match &self.recorded.ops[at] {
            Op::Bytes { node, .. } => Some((*node, at)),
            _ => None,
        }
    }

    /// A file with these writes on top of what is kept of it, the last of them broken or not.
    fn content(&mut self, node: Node, done: Vec<usize>, broken: Option<Left>) -> Content {
        if done.is_empty() {
            return self.bytes[node].clone();
        }
        let how = match broken {
            Some(Left::Torn(seed)) => seed | 1,
            Some(Left::Garbage(seed)) => seed << 1 | 1 << 63,
            _ => 0,
        };
        let key = (node, self.versions[node], done, how);
        if let Some(content) = self.made.get(&key) {
            return content.clone();
        }
        let mut bytes = Draft::on(&self.bytes[node]);
        let (last, before) = key.2.split_last().expect("not empty");
        before.iter().for_each(|at| bytes.apply(&self.recorded.ops[*at]));
        match (&self.recorded.ops[*last], broken) {
            (Op::Bytes { at, bytes: written, .. }, Some(how)) => spoil(&mut bytes, *at, written, how),
            (op, _) => bytes.apply(op),
        }
        let content = bytes.done();
        if self.made.len() > 1_000 {
            self.made.clear();
        }
        self.made.insert(key, content.clone());
        content
    }
}

fn change(names: &mut Names, changes: &[(Node, String, Option<Node>)], at: usize) {
    for (folder, name, node) in changes {
        let kept = names.entry((*folder, name.clone())).or_insert((None, 0));
        if kept.1 <= at {
            *kept = (*node, at);
        }
    }
}

const SECTOR: usize = 512;

/// A write that the power interrupted: sectors are old or new, and the one it was at may be neither.
fn spoil(to: &mut Draft, at: usize, written: &[u8], how: Left) {
    let (Left::Torn(seed) | Left::Garbage(seed)) = how else { return };
    let mut dice = Dice(seed);
    let end = at + written.len();
    let behind = if end < to.len() { 0 } else { 3 * SECTOR };
    // Sectors are those of the file.
    let cut = (at / SECTOR + dice.below(end / SECTOR - at / SECTOR + 1)) * SECTOR;
    let cut = cut.clamp(at, end) - at;
    to.put(at, &written[..cut]);
    let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| dice.roll().to_le_bytes()[0]).collect() };
    match how {
        Left::Torn(_) => {
            let sector = noise(SECTOR.min(written.len() - cut));
            to.put(at + cut, &sector);
        }
        _ => {
            let tail = noise(written.len() - cut + behind);
            to.put(at + cut, &tail);
        }
    }
}
