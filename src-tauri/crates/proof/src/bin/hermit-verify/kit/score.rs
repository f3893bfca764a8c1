//! What a verifier said of each vector, and what that is worth.
#![allow(
    clippy::disallowed_methods,
    reason = "which file a program's name means is asked of the environment"
)]

use super::Asked;
use super::child::{Ended, filled, run};
use super::vectors::{Kit, Right, Vector};
use crate::shown::line;
use seal::Digest;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a verifier said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Valid.
    Accepted,
    /// Not valid.
    Refused,
    /// It ended with a code that says neither.
    NoAnswer,
    /// It was ended by a signal.
    Crashed,
    /// It took longer than it may.
    TooSlow,
    /// It wrote more than it may.
    TooLoud,
}

impl Said {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::NoAnswer => "no answer",
            Self::Crashed => "crashed",
            Self::TooSlow => "too slow",
            Self::TooLoud => "too loud",
        }
    }

    fn of(ended: Ended, refusals: &[i32]) -> Self {
        match ended {
            Ended::Code(0) => Self::Accepted,
            Ended::Code(code) if refusals.contains(&code) => Self::Refused,
            Ended::Code(_) => Self::NoAnswer,
            Ended::Signal => Self::Crashed,
            Ended::Slow => Self::TooSlow,
            Ended::Loud => Self::TooLoud,
        }
    }

    /// Whether that is right. What somebody cannot read they may leave unanswered, but not call valid.
    const fn is_right(self, right: Right) -> bool {
        match right {
            Right::Valid => matches!(self, Self::Accepted),
            Right::Invalid | Right::Incomplete | Right::Unverifiable => matches!(self, Self::Refused),
            Right::Unsupported => matches!(self, Self::Refused | Self::NoAnswer),
        }
    }
}

/// One vector as it was judged.
#[derive(Debug, Clone, Serialize)]
struct Row {
    name: String,
    class: String,
    requirement: String,
    about: String,
    verdict: Right,
    /// What this verifier says of it.
    says: String,
    said: Said,
    right: bool,
    /// Whether it named the place at which we see it too; none where it named none, or there is none.
    same_place: Option<bool>,
    sha256: Digest,
}

/// Of how many vectors the right thing was said.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Marks {
    right: usize,
    of: usize,
    /// Of the places that it named, how many are those at which we see it.
    same_places: usize,
    named_places: usize,
}

impl Marks {
    fn count(&mut self, row: &Row) {
        self.of += 1;
        self.right += usize::from(row.right);
        self.named_places += usize::from(row.same_place.is_some());
        self.same_places += usize::from(row.same_place == Some(true));
    }
}

/// A file that the command names.
#[derive(Debug, Clone, Serialize)]
struct Named {
    word: String,
    sha256: Digest,
}

/// A scoreboard. It has no time and no place of this machine, so whoever has the same kit and program gets the same.
#[derive(Debug, Clone, Serialize)]
pub struct Board {
    format: &'static str,
    graded_by: String,
    kit_sha256: Digest,
    command: Vec<String>,
    /// Over the words of the command and the digests of the files that they name.
    command_sha256: Digest,
    files: Vec<Named>,
    invalid_codes: Vec<i32>,
    only: Vec<String>,
    seconds: u64,
    bytes: u64,
    marks: Marks,
    classes: BTreeMap<String, Marks>,
    vectors: Vec<Row>,
}

/// Runs the command for each vector.
///
/// # Errors
/// When it cannot be run at all, or no vector has such a name.
pub(super) fn grade(kit: &Kit, asked: &Asked) -> Result<Board, String> {
    let wanted = |vector: &&Vector| {
        asked.only.is_empty() || asked.only.iter().any(|prefix| vector.name.starts_with(prefix.as_str()))
    };
    let vectors: Vec<&Vector> = kit.vectors.iter().filter(wanted).collect();
    if vectors.is_empty() {
        return Err("no vector of the kit has a name that begins so".to_owned());
    }
    let vectors_ref = &vectors;
    let jobs = asked.jobs.min(vectors.len());
    let judged: Vec<Result<(usize, Row), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs)
            .map(|first| {
                scope.spawn(move || {
                    let mine = vectors_ref.iter().enumerate().skip(first).step_by(jobs);
                    mine.map(|(at, vector)| judge(kit, vector, asked).map(|row| (at, row)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let lost = || vec![Err("a thread of the grading failed".to_owned())];
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut rows = judged.into_iter().collect::<Result<Vec<_>, String>>()?;
    rows.sort_by_key(|(at, _)| *at);
    Ok(Board::of(kit, asked, rows.into_iter().map(|(_, row)| row).collect()))
}

fn judge(kit: &Kit, vector: &Vector, asked: &Asked) -> Result<Row, String> {
    let alone = kit.alone(vector)?;
    let (ended, out) = run(&filled(&asked.command, &alone.bundle(), &alone.key()), &asked.bounds)?;
    let said = Said::of(ended, &asked.refusals);
    let named = place_of(&out).filter(|_| said == Said::Refused);
    Ok(Row {
        name: vector.name.clone(),
        class: vector.class.clone(),
        requirement: vector.requirement.clone(),
        about: vector.about.clone(),
        verdict: vector.verdict,
        says: vector.says.clone(),
        said,
        right: said.is_right(vector.verdict),
        same_place: vector.place.as_ref().and_then(|place| named.map(|named| named == *place)),
        sha256: vector.sha256,
    })
}

/// The place that a verifier names: the member `place` of its output where that is JSON, or of its last line.
pub fn place_of(out: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(out).ok()?;
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let said: Value = serde_json::from_str(text).or_else(|_| serde_json::from_str(last)).ok()?;
    said.get("place")?.as_str().map(str::to_owned)
}

impl Board {
    fn of(kit: &Kit, asked: &Asked, vectors: Vec<Row>) -> Self {
        let files = named_files(&asked.command);
        let words = serde_json::json!([asked.command, files]);
        let mut board = Self {
            format: "hermit-kit-score/1",
            graded_by: format!("hermit-verify {}", env!("CARGO_PKG_VERSION")),
            kit_sha256: kit.sha256,
            command: asked.command.clone(),
            command_sha256: Digest::of(words.to_string().as_bytes()),
            files,
            invalid_codes: asked.refusals.clone(),
            only: asked.only.clone(),
            seconds: asked.bounds.time.as_secs(),
            bytes: asked.bounds.bytes,
            marks: Marks::default(),
            classes: BTreeMap::new(),
            vectors,
        };
        for row in &board.vectors {
            board.marks.count(row);
            board.classes.entry(row.class.clone()).or_default().count(row);
        }
        board
    }

    /// Whether the right thing was said of every vector.
    pub fn is_full(&self) -> bool {
        self.marks.right == self.marks.of
    }

    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }
}

/// The files that a command names, the program among them, with their digests.
fn named_files(command: &[String]) -> Vec<Named> {
    let found = command.iter().enumerate().filter_map(|(at, word)| {
        let path = if at == 0 { program(word)? } else { PathBuf::from(word) };
        if !path.is_file() {
            return None;
        }
        let (sha256, _) = disk::digest(std::fs::File::open(&path).ok()?).ok()?;
        Some(Named { word: word.clone(), sha256 })
    });
    found.collect()
}

/// Where a program lies that is started by this name.
fn program(word: &str) -> Option<PathBuf> {
    if Path::new(word).components().count() > 1 {
        return Some(PathBuf::from(word));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file())
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Marks { right, of, same_places, named_places } = self.marks;
        writeln!(f, "{right} of {of} vectors are judged as they should be")?;
        if named_places > 0 {
            writeln!(f, "{same_places} of {named_places} places that were named are ours")?;
        }
        writeln!(f, "\n{:<14} {:>5} {:>5}", "class", "right", "of")?;
        for (class, marks) in &self.classes {
            writeln!(f, "{:<14} {:>5} {:>5}", line(class), marks.right, marks.of)?;
        }
        let wrong: Vec<&Row> = self.vectors.iter().filter(|row| !row.right).collect();
        if !wrong.is_empty() {
            writeln!(f, "\nwrong:")?;
        }
        for row in wrong {
            writeln!(f, "- {}: {} ({})", row.name, row.said.as_str(), line(&row.about))?;
            writeln!(f, "  we say: {}", line(&row.says))?;
        }
        writeln!(f, "\nkit      {}", self.kit_sha256)?;
        writeln!(f, "command  {}", self.command_sha256)?;
        writeln!(f, "graded by {}", self.graded_by)
    }
}
