//! What the agent wrote itself: read again, or printed by a program, it is still its own word and bears nothing.

use super::{Record, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Letters from which a line is the agent's own wherever it wrote it, and not only where it wrote that line alone.
const PART: usize = 8;
/// Bytes of what it wrote that are looked at. Where it wrote more, what was seen afterwards bears nothing.
const WRITTEN_MAX: usize = 1 << 18;

/// What was written and seen, by when.
pub(super) struct Own<'r> {
    written: Vec<Written<'r>>,
    /// When each line was seen first.
    seen: BTreeMap<&'r str, u32>,
}

struct Written<'r> {
    order: u32,
    text: &'r str,
    lines: BTreeSet<&'r str>,
    /// Every [`PART`] bytes of it: most lines that are none of its own are told by them.
    parts: BTreeSet<&'r [u8]>,
}

impl<'r> Own<'r> {
    pub(super) fn of(record: &'r Record) -> Self {
        let mut own = Self { written: Vec::new(), seen: BTreeMap::new() };
        let mut room = WRITTEN_MAX;
        for deed in &record.deeds {
            for left in deed.made.iter().chain(&deed.changed).filter(|left| !left.text.is_empty()) {
                let fits = left.text.len() <= room;
                room = room.saturating_sub(left.text.len());
                own.written.push(Written {
                    order: deed.order,
                    text: if fits { &left.text } else { "" },
                    lines: left.text.lines().map(str::trim).filter(|_| fits).collect(),
                    parts: left.text.as_bytes().windows(PART).filter(|_| fits).collect(),
                });
            }
        }
        let mut sources: Vec<&Source> = record.sources.iter().collect();
        sources.sort_by_key(|source| source.order);
        for source in sources {
            for line in source.text.lines() {
                own.seen.entry(line.trim()).or_insert(source.order);
            }
        }
        own
    }

    /// The lines of what was seen, without those that the agent had written by then and had not seen before.
    pub(super) fn without(&self, source: &Source) -> String {
        let before: Vec<&Written<'_>> =
            self.written.iter().filter(|written| written.order < source.order).collect();
        if before.iter().any(|written| written.text.is_empty()) {
            return String::new();
        }
        let is_own = |line: &&str| {
            let bare = line.trim();
            let wrote = before.iter().find(|written| written.holds(bare));
            wrote.is_some_and(|wrote| self.seen.get(bare).is_none_or(|seen| *seen >= wrote.order))
        };
        source.text.lines().filter(|line| !is_own(line)).collect::<Vec<_>>().join("\n")
    }
}

impl Written<'_> {
    fn holds(&self, line: &str) -> bool {
        if line.len() < PART {
            return self.lines.contains(line);
        }
        let ends = [line.as_bytes().first_chunk::<PART>(), line.as_bytes().last_chunk::<PART>()];
        ends.into_iter().flatten().all(|end| self.parts.contains(end.as_slice())) && self.text.contains(line)
    }
}
