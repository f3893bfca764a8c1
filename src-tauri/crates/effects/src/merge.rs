//! Two texts that come from one, made into one again, where they do not speak of the same lines.

use similar::{Algorithm, DiffOp, TextDiff};
use std::ops::Range;
use std::time::Duration;

/// How long one side may be thought about before a coarser difference is taken, which merges less.
const THINK: Duration = Duration::from_millis(500);

/// Lines of the base and what one side has in their place.
struct Edit<'t> {
    base: Range<usize>,
    instead: Vec<&'t str>,
}

/// Both changes in one text; `None` when they touch the same lines, or lines next to each other, and are not the same.
pub(crate) fn three_way(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let (ours, theirs) = (edits(base, ours), edits(base, theirs));
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    let mut merged = String::with_capacity(base.len());
    let mut at = 0;
    loop {
        let next = match (ours.peek(), theirs.peek()) {
            (None, None) => break,
            (Some(one), Some(other)) if touch(one, other) => {
                if one.base != other.base || one.instead != other.instead {
                    return None;
                }
                theirs.next();
                ours.next()
            }
            (Some(one), Some(other)) if other.base.start < one.base.start => theirs.next(),
            (Some(_), _) => ours.next(),
            (None, Some(_)) => theirs.next(),
        }?;
        merged.extend(lines.get(at..next.base.start)?.iter().copied());
        merged.extend(next.instead.iter().copied());
        at = next.base.end;
    }
    merged.extend(lines.get(at..)?.iter().copied());
    Some(merged)
}

/// Whether two edits speak of the same place: they share a line, or nothing lies between them.
fn touch(one: &Edit<'_>, other: &Edit<'_>) -> bool {
    one.base.start <= other.base.end && other.base.start <= one.base.end
}

fn edits<'t>(base: &str, side: &'t str) -> Vec<Edit<'t>> {
    let new: Vec<&str> = side.split_inclusive('\n').collect();
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(THINK).diff_slices(&old, &new);
    let changed = diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let mut found: Vec<Edit<'t>> = Vec::new();
    for op in changed {
        let (base, instead) = (op.old_range(), new.get(op.new_range()).unwrap_or(&[]).to_vec());
        match found.last_mut().filter(|last| last.base.end == base.start) {
            Some(last) => {
                last.base.end = base.end;
                last.instead.extend(instead);
            }
            None => found.push(Edit { base, instead }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::three_way;

    const BASE: &str = "a\nb\nc\nd\ne\n";

    #[test]
    fn edits_apart_from_each_other_are_both_kept() {
        let merged = three_way(BASE, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\nf\n");
        assert_eq!(merged.as_deref(), Some("A\nb\nc\nd\ne\nf\n"));
        let merged = three_way(BASE, "b\nc\nd\ne\n", "a\nb\nc\nD\ne\n");
        assert_eq!(merged.as_deref(), Some("b\nc\nD\ne\n"));
    }

    #[test]
    fn edits_of_the_same_or_neighbouring_lines_are_not_merged() {
        assert_eq!(three_way(BASE, "a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n"), None);
        assert_eq!(three_way(BASE, "a\nX\nc\nd\ne\n", "a\nb\nY\nd\ne\n"), None);
        assert_eq!(three_way(BASE, "", "a\nb\nc\nd\nE\n"), None, "a deletion and an edit within it");
        assert_eq!(three_way(BASE, "a\nb\nc\nd\ne", "a\nb\nc\nd\ne\nf\n"), None, "the last line's end");
    }

    #[test]
    fn the_same_edit_on_both_sides_is_made_once() {
        let both = "a\nB\nc\nd\ne\n";
        assert_eq!(three_way(BASE, both, both).as_deref(), Some(both));
        assert_eq!(three_way(BASE, BASE, both).as_deref(), Some(both));
        assert_eq!(three_way(BASE, both, BASE).as_deref(), Some(both));
    }
}
