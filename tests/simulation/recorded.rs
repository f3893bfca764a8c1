//! What a process did to a folder, call by call, as `strace` saw it: every write, name and sync, in order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file or a folder, by a number that no renaming changes.
pub type Node = usize;

/// The folder that is recorded.
pub const ROOT: Node = 0;

/// One thing that happened to the disk, or that was told to somebody.
#[derive(Debug, Clone)]
pub enum Op {
    /// Bytes of a file.
    Bytes { node: Node, at: usize, bytes: Vec<u8> },
    /// The length of a file.
    Length { node: Node, len: usize },
    /// Names in folders, all changed in one.
    Names(Vec<(Node, String, Option<Node>)>),
    /// A sync of a file or folder that came back; it covers what had happened when it was called.
    Sync { node: Node, began: usize, path: String },
    /// A line that the process told.
    Told(String),
}

/// What stands behind a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Folder,
    File,
    Link(String),
}

/// A recording.
pub struct Recorded {
    pub ops: Vec<Op>,
    pub kinds: Vec<Kind>,
}

/// The calls that change a disk, or see to it that it keeps what was changed.
const CALLS: &str = "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,\
    fsync,fdatasync,sync_file_range,syncfs,sync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,\
    linkat,symlink,symlinkat,copy_file_range,sendfile,splice,lseek,ioctl";

/// Runs a command and writes down what it and its children do below `root`; lines that they append to `told` stand in
/// their place among it.
///
/// Memory that is shared with a file is not seen. The index of SQLite's WAL is the one such file here; it is no truth,
/// and is made anew from the WAL.
pub fn record(command: &mut Command, root: &Path, told: &Path) -> Recorded {
    let log = told.with_extension("strace");
    let mut watched = Command::new("strace");
    watched.args(["-f", "-y", "-xx", "--seccomp-bpf", "-qq", "-s", "67108864", "-e", "signal=none", "-e"]);
    watched.arg(format!("trace={CALLS}")).arg("-o").arg(&log).arg(command.get_program());
    watched.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => watched.env(name, value),
            None => watched.env_remove(name),
        };
    }
    let output = watched.output().expect("strace; install it to run this test");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "what was recorded failed: {said}");
    let text = std::fs::read_to_string(&log).expect("what strace wrote");
    std::fs::remove_file(&log).expect("removed");
    Reading::new(root, told).all(&text)
}

/// A file that is written to at its end, wherever that is.
const APPENDING: usize = usize::MAX;

/// Reads the lines of `strace`, keeping the tree as the process saw it.
struct Reading<'a> {
    root: &'a Path,
    told: &'a Path,
    done: Recorded,
    names: BTreeMap<(Node, String), Node>,
    lengths: Vec<usize>,
    /// Where the next plain write goes.
    places: Vec<usize>,
    /// Calls that have begun, by thread: the text so far, and what had happened then.
    begun: BTreeMap<String, (String, usize)>,
    /// A line that is told in parts.
    half: String,
}

impl<'a> Reading<'a> {
    fn new(root: &'a Path, told: &'a Path) -> Self {
        let done = Recorded { ops: Vec::new(), kinds: vec![Kind::Folder] };
        let (names, begun, half) = (BTreeMap::new(), BTreeMap::new(), String::new());
        Self { root, told, done, names, lengths: vec![0], places: vec![0], begun, half }
    }

    fn all(mut self, text: &str) -> Recorded {
        for line in text.lines() {
            let (thread, call) = line.split_once(' ').expect("a thread and its call");
            self.line(thread, call.trim_start());
        }
        self.done
    }

    fn line(&mut self, thread: &str, call: &str) {
        let now = self.done.ops.len();
        if let Some(part) = call.strip_suffix("<unfinished ...>") {
            self.begun.insert(thread.to_owned(), (part.to_owned(), now));
            return;
        }
        let (call, began) = match call.strip_prefix("<... ") {
            Some(rest) => {
                let Some((first, began)) = self.begun.remove(thread) else { return };
                let rest = rest.split_once(" resumed>").map_or("", |(_, rest)| rest);
                (first + rest, began)
            }
            None => (call.to_owned(), now),
        };
        // The answer stands behind the last ` = `: everything else that could hold one is written in hexadecimal.
        let Some((asked, answer)) = call.rsplit_once(" = ") else { return };
        let Some((name, arguments)) = asked.trim_end().strip_suffix(')').and_then(|a| a.split_once('('))
        else {
            return;
        };
        if !answer.starts_with('-') && !answer.starts_with('?') {
            self.call(name, &split(arguments), answer, began);
        }
    }

    fn call(&mut self, name: &str, a: &[&str], answer: &str, began: usize) {
        let number = |text: &str| -> usize {
            let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or_else(|_| panic!("a number in {name} {a:?}"))
        };
        match name {
            "open" | "openat" | "openat2" | "creat" => self.opened(name, a, answer),
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => {
                let bytes = quoted(a[1]);
                let bytes = bytes.get(..number(answer)).expect("as many bytes as were written").to_vec();
                let at = name.starts_with('p').then(|| number(a[3]));
                self.wrote(a[0], bytes, at);
            }
            "lseek" => {
                if let Some(node) = self.of(a[0]) {
                    self.places[node] = number(answer);
                }
            }
            "ftruncate" | "truncate" => {
                let node = if name == "truncate" { self.at(None, a[0]) } else { self.of(a[0]) };
                node.into_iter().for_each(|node| self.length(node, number(a[1])));
            }
            "fallocate" => {
                let grown = number(a[2]) + number(a[3]);
                if let Some(node) = self.of(a[0]).filter(|node| a[1] == "0" && self.lengths[*node] < grown) {
                    self.length(node, grown);
                }
            }
            "fsync" | "fdatasync" | "syncfs" => {
                if let Some(node) = self.of(a[0]) {
                    let path = path_of(a[0]).unwrap_or_default();
                    let path = path.strip_prefix(self.root).unwrap_or(&path).to_string_lossy().into_owned();
                    self.done.ops.push(Op::Sync { node, began, path });
                }
            }
            "rename" => self.renamed((None, a[0]), (None, a[1]), ""),
            "renameat" => self.renamed((Some(a[0]), a[1]), (Some(a[2]), a[3]), ""),
            "renameat2" => self.renamed((Some(a[0]), a[1]), (Some(a[2]), a[3]), a[4]),
            "unlink" | "rmdir" => self.unnamed(None, a[0]),
            "unlinkat" => self.unnamed(Some(a[0]), a[1]),
            "mkdir" => _ = self.made(None, a[0], Kind::Folder),
            "mkdirat" => _ = self.made(Some(a[0]), a[1], Kind::Folder),
            "symlink" => _ = self.made(None, a[1], Kind::Link(text(a[0]))),
            "symlinkat" => _ = self.made(Some(a[1]), a[2], Kind::Link(text(a[0]))),
            "link" => self.linked((None, a[0]), (None, a[1])),
            "linkat" => self.linked((Some(a[0]), a[1]), (Some(a[2]), a[3])),
            // What is written by calls that show no bytes would be missing in every image.
            "copy_file_range" => assert!(self.of(a[2]).is_none(), "{name} is not recorded: {a:?}"),
            "sendfile" => assert!(self.of(a[0]).is_none(), "{name} is not recorded: {a:?}"),
            "splice" => assert!(self.of(a[2]).is_none(), "{name} is not recorded: {a:?}"),
            "ioctl" => assert!(!a[1].starts_with("FICLONE") || self.of(a[0]).is_none(), "{a:?}"),
            "sync" | "sync_file_range" => {}
            other => panic!("`{other}` is recorded and not read"),
        }
    }

    fn opened(&mut self, name: &str, a: &[&str], answer: &str) {
        let (folder, path, how) = match name {
            "open" => (None, a[0], a[1]),
            "creat" => (None, a[0], "O_CREAT|O_TRUNC"),
            _ => (Some(a[0]), a[1], a[2]),
        };
        assert!(!how.contains("O_TMPFILE") || self.of(answer).is_none(), "unnamed files are not recorded");
        let known = self.at(folder, path);
        let node = match known {
            None if how.contains("O_CREAT") => self.made(folder, path, Kind::File),
            known => known,
        };
        let Some(node) = node else { return };
        self.places[node] = if how.contains("O_APPEND") { APPENDING } else { 0 };
        if how.contains("O_TRUNC") && self.lengths[node] > 0 {
            self.length(node, 0);
        }
    }

    fn wrote(&mut self, file: &str, bytes: Vec<u8>, at: Option<usize>) {
        if path_of(file).as_deref() == Some(self.told) {
            self.half.push_str(std::str::from_utf8(&bytes).expect("lines"));
            while let Some((line, rest)) = self.half.split_once('\n') {
                self.done.ops.push(Op::Told(line.to_owned()));
                self.half = rest.to_owned();
            }
            return;
        }
        let Some(node) = self.of(file) else { return };
        let at = at.unwrap_or_else(|| {
            let place = self.places[node];
            let at = if place == APPENDING { self.lengths[node] } else { place };
            self.places[node] = if place == APPENDING { place } else { at + bytes.len() };
            at
        });
        self.lengths[node] = self.lengths[node].max(at + bytes.len());
        self.done.ops.push(Op::Bytes { node, at, bytes });
    }

    fn length(&mut self, node: Node, len: usize) {
        self.lengths[node] = len;
        self.done.ops.push(Op::Length { node, len });
    }

    fn renamed(&mut self, from: (Option<&str>, &str), to: (Option<&str>, &str), how: &str) {
        let (Some(from), Some(to)) = (self.place(from.0, from.1), self.place(to.0, to.1)) else {
            return self.crossed(from, to);
        };
        let (first, second) = (self.names.get(&from).copied(), self.names.get(&to).copied());
        if first.is_none() || first == second {
            return;
        }
        let left = if how.contains("RENAME_EXCHANGE") { second } else { None };
        self.change(vec![(from.0, from.1, left), (to.0, to.1, first)]);
    }

    /// Nothing that is recorded comes from elsewhere or goes there.
    fn crossed(&self, from: (Option<&str>, &str), to: (Option<&str>, &str)) {
        let inside = |(folder, path)| self.place(folder, path).is_some();
        assert!(!inside(from) && !inside(to), "renamed over the edge of what is recorded: {from:?} {to:?}");
    }

    fn linked(&mut self, from: (Option<&str>, &str), to: (Option<&str>, &str)) {
        if let (Some(node), Some((folder, name))) = (self.at(from.0, from.1), self.place(to.0, to.1)) {
            self.change(vec![(folder, name, Some(node))]);
        }
    }

    fn unnamed(&mut self, folder: Option<&str>, path: &str) {
        if let Some((folder, name)) = self.place(folder, path) {
            self.change(vec![(folder, name, None)]);
        }
    }

    fn made(&mut self, folder: Option<&str>, path: &str, kind: Kind) -> Option<Node> {
        let (folder, name) = self.place(folder, path)?;
        let node = self.done.kinds.len();
        self.done.kinds.push(kind);
        self.lengths.push(0);
        self.places.push(0);
        self.change(vec![(folder, name, Some(node))]);
        Some(node)
    }

    fn change(&mut self, changes: Vec<(Node, String, Option<Node>)>) {
        for (folder, name, node) in &changes {
            let place = (*folder, name.clone());
            match node {
                Some(node) => _ = self.names.insert(place, *node),
                None => _ = self.names.remove(&place),
            }
        }
        self.done.ops.push(Op::Names(changes));
    }

    /// An open file, as in `3</a/path>`.
    fn of(&self, file: &str) -> Option<Node> {
        self.node(&path_of(file)?)
    }

    /// A path beside an open folder.
    fn at(&self, folder: Option<&str>, path: &str) -> Option<Node> {
        self.node(&joined(folder, path))
    }

    fn node(&self, path: &Path) -> Option<Node> {
        let below = path.strip_prefix(self.root).ok()?;
        below.iter().try_fold(ROOT, |node, name| {
            if name == "." { Some(node) } else { self.names.get(&(node, name.to_str()?.to_owned())).copied() }
        })
    }

    /// A path as the folder that has it, and its name there.
    fn place(&self, folder: Option<&str>, path: &str) -> Option<(Node, String)> {
        let path = joined(folder, path);
        let name = path.file_name()?.to_str()?.to_owned();
        Some((self.node(path.parent()?)?, name))
    }
}

fn joined(folder: Option<&str>, path: &str) -> PathBuf {
    let path = PathBuf::from(text(path));
    match folder.and_then(path_of) {
        Some(folder) => folder.join(path),
        None => path,
    }
}

/// The path of `3</a/path>`.
fn path_of(file: &str) -> Option<PathBuf> {
    let (_, rest) = file.split_once('<')?;
    let (path, behind) = rest.split_once('>')?;
    (!behind.contains("deleted"))
        .then(|| PathBuf::from(String::from_utf8_lossy(&unescaped(path)).into_owned()))
}

fn text(argument: &str) -> String {
    String::from_utf8_lossy(&quoted(argument)).into_owned()
}

/// All that stands in quotes, in order.
fn quoted(argument: &str) -> Vec<u8> {
    argument.split('"').skip(1).step_by(2).flat_map(unescaped).collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let digit =
        |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok()).expect("hexadecimal");
    text.as_bytes().chunks_exact(4).map(|four| digit(four[2]) << 4 | digit(four[3])).collect()
}

/// Arguments, at the commas outside of every bracket.
fn split(arguments: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(arguments[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments[from..].trim());
    parts
}
