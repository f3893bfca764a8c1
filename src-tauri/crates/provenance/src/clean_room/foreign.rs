//! What others wrote: notices of theirs in a text, folders that hold their code, and licences of packages.

/// Whose notices may stand here.
const OURS: &str = "The Hermit contributors";
/// The file that holds our own notice.
const LICENCE_FILE: &str = "LICENSE";
/// How notices begin, in small letters; cut in two so that this file does not find itself.
const NOTICES: [&str; 7] = [
    concat!("copyright", " (c)"),
    concat!("copyright", " ©"),
    concat!("copyright", " 19"),
    concat!("copyright", " 20"),
    concat!("spdx-licen", "se-identifier"),
    concat!("all rights", " reserved"),
    concat!("@licen", "se"),
];
/// Names of folders that hold what was taken from elsewhere.
const TAKEN: [&str; 6] = ["vendor", "vendored", "third_party", "third-party", "external", "node_modules"];
/// Licences under which a package may be depended on, as SPDX spells them.
const PERMITTED: [&str; 19] = [
    "0BSD",
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "BlueOak-1.0.0",
    "CC-BY-4.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MITNFA",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "Apache-2.0 WITH LLVM-exception",
];
/// How deep a licence expression may nest.
const DEPTH_MAX: usize = 8;

/// The lines of a text that are notices of others, each as `line: text`.
pub fn notices(path: &str, text: &str) -> Vec<String> {
    let is_notice = |text: &str| {
        let small = text.to_lowercase();
        NOTICES.iter().any(|notice| small.contains(notice))
    };
    if !is_notice(text) {
        return Vec::new();
    }
    let ours =
        |line: &str| path == LICENCE_FILE && (line.contains(OURS) || line.contains("MIT OR Apache-2.0"));
    let lines = text.lines().enumerate().filter(|(_, line)| is_notice(line) && !ours(line));
    lines.map(|(at, line)| format!("{}: {}", at + 1, line.trim())).collect()
}

/// Whether a file lies where what was taken from elsewhere lies, or was made small for a browser elsewhere.
pub fn is_taken(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|part| TAKEN.contains(&part))
        || path.ends_with(".min.js")
        || path.ends_with(".min.css")
}

/// Whether a package under this licence may be depended on: an expression of SPDX, or two with `/` between.
pub fn is_permitted(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    either(&words, 0).is_some_and(|(permitted, rest)| permitted && rest.is_empty())
}

/// What an expression with `OR` comes to, and the words behind it.
fn either<'a, 'b>(words: &'b [&'a str], depth: usize) -> Option<(bool, &'b [&'a str])> {
    let (mut permitted, mut rest) = both(words, depth)?;
    while let Some((&"OR", behind)) = rest.split_first() {
        let (other, after) = both(behind, depth)?;
        (permitted, rest) = (permitted || other, after);
    }
    Some((permitted, rest))
}

fn both<'a, 'b>(words: &'b [&'a str], depth: usize) -> Option<(bool, &'b [&'a str])> {
    let (mut permitted, mut rest) = one(words, depth)?;
    while let Some((&"AND", behind)) = rest.split_first() {
        let (other, after) = one(behind, depth)?;
        (permitted, rest) = (permitted && other, after);
    }
    Some((permitted, rest))
}

fn one<'a, 'b>(words: &'b [&'a str], depth: usize) -> Option<(bool, &'b [&'a str])> {
    match words {
        _ if depth > DEPTH_MAX => None,
        ["(", rest @ ..] => match either(rest, depth + 1)? {
            (permitted, [")", rest @ ..]) => Some((permitted, rest)),
            _ => None,
        },
        [name, "WITH", exception, rest @ ..] => {
            Some((PERMITTED.contains(&format!("{name} WITH {exception}").as_str()), rest))
        }
        [name, rest @ ..] => Some((PERMITTED.contains(name), rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_permitted_when_one_of_its_ways_is() {
        for permitted in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 / MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR GPL-3.0-or-later)",
        ] {
            assert!(is_permitted(permitted), "{permitted}");
        }
        for refused in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0",
            "MIT Apache-2.0",
            "MIT OR",
            "GPL-2.0 WITH LLVM-exception",
            "SEE LICENSE IN LICENSE",
        ] {
            assert!(!is_permitted(refused), "{refused}");
        }
        assert!(!is_permitted(&format!("{}MIT{}", "(".repeat(40), ")".repeat(40))));
    }

    #[test]
    fn a_notice_of_somebody_else_is_found_and_ours_stands_at_its_place() {
        let theirs = concat!("fn a() {}\n// Copyright", " (c) 2019 A. Lamp\n");
        assert_eq!(notices("src/a.rs", theirs).len(), 1);
        let own = concat!("Copyright", " (c) 2026 The Hermit contributors\n");
        assert_eq!(notices("LICENSE", own), Vec::<String>::new());
        assert_eq!(notices("src/a.rs", own).len(), 1);
        assert!(is_taken("ui/vendor/lamp.ts") && is_taken("ui/lamp.min.js") && !is_taken("src/vendor.rs"));
    }
}
