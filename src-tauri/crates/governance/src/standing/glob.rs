//! Globs over paths, byte for byte: `?` is one byte and `*` any number of them within a part, `**` any number of parts.

use model::file_name::folded;

/// Whether a path matches. A glob without a wildcard matches itself alone.
pub(crate) fn matches(glob: &str, path: &[u8]) -> bool {
    let glob: Vec<&[u8]> = glob.as_bytes().split(|b| *b == b'/').collect();
    let path: Vec<&[u8]> = path.split(|b| *b == b'/').collect();
    parts(&glob, &path)
}

/// Whether a path matches in whatever way some disk takes its names ([`model::file_name`]).
pub(crate) fn matches_folded(glob: &str, path: &[u8]) -> bool {
    let fold = |text: &[u8]| text.split(|b| *b == b'/').map(folded).collect::<Vec<String>>().join("/");
    // A dot or a space at the end of a part would go, and leave a glob that speaks of more.
    let is_cut = glob.split('/').any(|part| part.ends_with(['.', ' ']));
    !is_cut && matches(&fold(glob.as_bytes()), fold(path).as_bytes())
}

/// Whether it is one at all: relative, no empty part, no `.` or `..`, `**` only as a whole part.
pub(crate) fn is_sound(glob: &str) -> bool {
    let bad =
        |part: &str| part.is_empty() || part == "." || part == ".." || (part.contains("**") && part != "**");
    !glob.is_empty() && !glob.bytes().any(|b| b == 0) && !glob.split('/').any(bad)
}

/// Whether it names exactly one path.
pub(crate) fn is_literal(glob: &str) -> bool {
    !glob.contains(['*', '?'])
}

fn parts(glob: &[&[u8]], path: &[&[u8]]) -> bool {
    match glob.split_first() {
        None => path.is_empty(),
        Some((&b"**", rest)) => (0..=path.len()).any(|skip| parts(rest, path.get(skip..).unwrap_or(&[]))),
        Some((part, rest)) => {
            path.split_first().is_some_and(|(name, others)| one(part, name) && parts(rest, others))
        }
    }
}

/// One part, by the method that remembers only the last star: linear in practice, never exponential.
fn one(glob: &[u8], name: &[u8]) -> bool {
    let (mut g, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(wanted) if *wanted == b'?' || name.get(n) == Some(wanted) => {
                g += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    g = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    glob.get(g..).unwrap_or(&[]).iter().all(|b| *b == b'*')
}
