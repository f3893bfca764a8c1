//! What a schedule waits for that is no time, as people say it: `when a file matching *.pdf lands here`, `when main moves`,
//! `after morning`, `when the hook deploy is called`, `when the resource docs://rates of the server notes changes`, `when the machine
//! laptop is silent for 30 minutes`.

use super::afar::{events, machine};
use crate::NotARule;
use model::schedule::{EVERY_MS_USUAL, FileChanges, QUIET_MS_USUAL, RunEnd, Trigger};

/// A minute, in milliseconds.
const MINUTE_MS: u64 = 60_000;

/// What was said to wait for; none where the words begin as those of a time do.
///
/// # Errors
/// [`NotARule`], with what can be said: nothing is guessed.
pub(super) fn parse(text: &str) -> Option<Result<Trigger, NotARule>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let found = match (lower.as_slice(), words.as_slice()) {
        (["when" | "whenever", ..], [_, rest @ ..]) => when(rest, lower.get(1..).unwrap_or_default()),
        (["after", ..], [_, rest @ ..]) => after(rest, lower.get(1..).unwrap_or_default()),
        _ => return None,
    };
    let found = found.ok_or_else(|| {
        NotARule(format!(
            "`{text}` is not understood as something to wait for: write for example \"when files change\", \"when a file matching \
             *.pdf lands here\", \"when main moves\", \"after NAME\" or \"when NAME fails\", NAME being another schedule, \"when the \
             hook deploy is called\", \"when the resource docs://rates of the server NAME changes\", \"when the machine NAME is silent for 30 \
             minutes\", or \"when a Nostr event of kind 1 by KEY comes at wss://relay.example\""
        ))
    });
    Some(found.and_then(|on| on.check().map_err(NotARule).map(|()| on)))
}

fn when(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    called(words, lower)
        .or_else(|| resource(words, lower))
        .or_else(|| events(words, lower))
        .or_else(|| machine(words, lower))
        .or_else(|| files(words, lower))
        .or_else(|| moves(words, lower))
        .or_else(|| ends(words, lower, false))
}

/// `the hook deploy is called`.
fn called(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let the = usize::from(lower.first() == Some(&"the"));
    match (lower.get(the..)?, words.get(the..)?) {
        (["hook" | "webhook", _, "is", "called"], [_, name, ..]) => {
            Some(Trigger::Hook { name: name.trim_matches(['"', '\'', '`']).to_owned() })
        }
        _ => None,
    }
}

/// `the resource docs://rates of the server notes changes, looked at every 10 minutes`.
fn resource(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let is_end = |word: Option<&&str>| matches!(word, Some(&("changes" | "changes,")));
    let mut at = usize::from(lower.first() == Some(&"the"));
    let (["resource", _, "of", ..], [_, uri, ..]) = (lower.get(at..)?, words.get(at..)?) else {
        return None;
    };
    at += 3;
    at += usize::from(lower.get(at) == Some(&"the"));
    // A server may be called so.
    at += usize::from(lower.get(at) == Some(&"server") && !is_end(lower.get(at + 1)));
    let server = words.get(at)?;
    if !is_end(lower.get(at + 1)) {
        return None;
    }
    let every_ms = every(lower.get(at + 2..).unwrap_or_default())?;
    let named = |word: &&str| word.trim_matches(['"', '\'', '`']).to_owned();
    Some(Trigger::Resource { server: named(server), uri: named(uri), every_ms })
}

/// `looked at every 10 minutes`, or nothing.
pub(super) fn every(rest: &[&str]) -> Option<u64> {
    let rest = if let ["looked", "at", rest @ ..] = rest { rest } else { rest };
    match rest {
        [] => Some(EVERY_MS_USUAL),
        ["every", "minute"] => Some(MINUTE_MS),
        ["every", "hour"] => Some(60 * MINUTE_MS),
        ["every", number, "minute" | "minutes"] => number.parse::<u64>().ok()?.checked_mul(MINUTE_MS),
        _ => None,
    }
}

fn after(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    ends(words, lower, true)
}

/// `files change`, `a file lands here`, `files matching *.pdf, *.png change or go`, `a *.pdf lands`.
fn files(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let mut at = usize::from(matches!(lower.first(), Some(&("a" | "any" | "the" | "new"))));
    let named = matches!(lower.get(at), Some(&("file" | "files")));
    at += usize::from(named);
    let matching = named && lower.get(at) == Some(&"matching");
    at += usize::from(matching);
    let verb = |word: &str| {
        let lands = matches!(word, "land" | "lands" | "arrive" | "arrives" | "appear" | "appears");
        lands
            .then_some(FileChanges::Landed)
            .or_else(|| matches!(word, "change" | "changes" | "changed").then_some(FileChanges::Changed))
    };
    // Whoever names kinds of files without saying so writes a glob.
    let is_glob = |word: &&&str| word.contains(['*', '?', '[', '/']);
    if !named && words.get(at).filter(is_glob).is_none() {
        return None;
    }
    let mut globs: Vec<String> = Vec::new();
    let mut found = None;
    while let Some(word) = lower.get(at).copied() {
        let written = words.get(at)?;
        at += 1;
        if let Some(changes) = verb(word) {
            found = Some(changes);
            break;
        }
        if matches!(word, "and" | "or" | "," | "here") {
            continue;
        }
        if named && !matching {
            return None;
        }
        let parts = written.split(',').map(|part| part.trim_matches(['"', '\'', '`']));
        globs.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    }
    if matching && globs.is_empty() {
        return None;
    }
    let changes = match (found?, lower.get(at..).unwrap_or_default()) {
        (found, [] | ["here"]) => found,
        (FileChanges::Changed, ["or", "go" | "goes" | "vanish"]) => FileChanges::Any,
        (FileChanges::Changed, ["or", "are" | "is", "removed" | "deleted" | "gone"]) => FileChanges::Any,
        _ => return None,
    };
    Some(Trigger::Files { globs, changes, quiet_ms: QUIET_MS_USUAL })
}

/// `main moves`, `branch main moves`, `tag v1 moves`, `refs/heads/main moves`.
fn moves(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let (kind, name) = match (lower, words) {
        (["branch", _, "moves"], [_, name, _]) => ("refs/heads/", name),
        (["tag", _, "moves"], [_, name, _]) => ("refs/tags/", name),
        ([_, "moves"], [name, _]) => ("refs/heads/", name),
        _ => return None,
    };
    let name = name.trim_matches(['"', '\'', '`']);
    let name = if name.starts_with("refs/") { name.to_owned() } else { format!("{kind}{name}") };
    Some(Trigger::Ref { name })
}

/// `morning`, `morning fails`, `morning is done`, `morning ends`; alone only after `after`.
fn ends(words: &[&str], lower: &[&str], alone: bool) -> Option<Trigger> {
    let name = words.first()?.trim_matches(['"', '\'', '`']);
    let end = match lower.get(1..)? {
        [] if alone => RunEnd::Either,
        ["ends" | "ended"] | ["has", "ended"] => RunEnd::Either,
        ["fails" | "failed"] | ["has", "failed"] => RunEnd::Failed,
        ["succeeds"] | ["is", "done" | "finished"] | ["was", "done"] => RunEnd::Done,
        _ => return None,
    };
    Some(Trigger::After { of: name.to_owned(), end })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn read(text: &str) -> Trigger {
        parse(text).unwrap().unwrap()
    }

    #[test]
    fn each_is_understood_and_what_is_told_of_it_is_understood_again() {
        let files = |globs: &[&str], changes| {
            let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
            Trigger::Files { globs, changes, quiet_ms: QUIET_MS_USUAL }
        };
        let of_ref = |name: &str| Trigger::Ref { name: name.to_owned() };
        let after = |of: &str, end| Trigger::After { of: of.to_owned(), end };
        let hook = |name: &str| Trigger::Hook { name: name.to_owned() };
        let resource = |server: &str, uri: &str, minutes: u64| {
            let (server, uri) = (server.to_owned(), uri.to_owned());
            Trigger::Resource { server, uri, every_ms: minutes * MINUTE_MS }
        };
        let task = "task_0190a1b2c3d47e8f9a0b1c2d00000001";
        for (text, wanted) in [
            ("when files change", files(&[], FileChanges::Changed)),
            ("When a file changes", files(&[], FileChanges::Changed)),
            ("when a file lands here", files(&[], FileChanges::Landed)),
            ("whenever files arrive", files(&[], FileChanges::Landed)),
            ("when files matching *.PDF change", files(&["*.PDF"], FileChanges::Changed)),
            (
                "when files matching *.pdf, *.png or a/**/b change",
                files(&["*.pdf", "*.png", "a/**/b"], FileChanges::Changed),
            ),
            ("when a file matching scans/*.pdf lands here", files(&["scans/*.pdf"], FileChanges::Landed)),
            ("when a *.pdf lands", files(&["*.pdf"], FileChanges::Landed)),
            ("when files change or go", files(&[], FileChanges::Any)),
            ("when *.rs change or are removed", files(&["*.rs"], FileChanges::Any)),
            ("when the hook deploy is called", hook("deploy")),
            ("When webhook \"nightly-build\" is called", hook("nightly-build")),
            (
                "when the resource docs://Rates of the server notes changes",
                resource("notes", "docs://Rates", 15),
            ),
            (
                "When resource docs://rates of notes changes, every 10 minutes",
                resource("notes", "docs://rates", 10),
            ),
            (
                "when the resource a:b of server server changes looked at every minute",
                resource("server", "a:b", 1),
            ),
            (
                "when the resource \"a:b\" of server changes, looked at every hour",
                resource("server", "a:b", 60),
            ),
            ("when main moves", of_ref("refs/heads/main")),
            ("when branch feature/X moves", of_ref("refs/heads/feature/X")),
            ("when tag v1.2 moves", of_ref("refs/tags/v1.2")),
            ("when refs/remotes/origin/main moves", of_ref("refs/remotes/origin/main")),
            ("after morning", after("morning", RunEnd::Either)),
            ("after morning is done", after("morning", RunEnd::Done)),
            ("when morning fails", after("morning", RunEnd::Failed)),
            ("when morning ends", after("morning", RunEnd::Either)),
            (&*format!("when {task} is done"), after(task, RunEnd::Done)),
        ] {
            let found = read(text);
            assert_eq!(found, wanted, "{text}");
            assert_eq!(read(&found.in_words()), found, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told_what_can_be_said_and_a_time_is_none_of_it() {
        for text in [
            "when",
            "after",
            "when the moon is full",
            "when a scan lands here",
            "when files matching change",
            "when files of mine change",
            "when files change or so",
            "when a file lands or goes",
            "when main",
            "when main moves twice",
            "when morning",
            "when the hook is called",
            "when the resource changes",
            "when the resource docs://rates changes",
            "when the resource docs://rates of notes moves",
            "when the resource docs://rates of notes changes, every now and then",
            "when the hook deploy is called twice",
            "after morning and evening",
        ] {
            let why = parse(text).unwrap().unwrap_err().to_string();
            assert!(why.contains("when a file matching") && why.contains(text), "{text}: {why}");
        }
        for (text, word) in [
            ("when files matching ../* change", "below it"),
            ("when ma..in moves", "no name of a branch"),
            ("after My Own fails", "not understood"),
            ("after Morning", "a-z"),
            ("when the hook ../x is called", "a-z"),
            ("when the resource docs://rates of notes changes, every 90 minutes", "1 to 60 minutes"),
        ] {
            let why = parse(text).unwrap().unwrap_err().to_string();
            assert!(why.contains(word), "{text}: {why}");
        }
        assert!(
            parse("every weekday at 8").is_none() && parse("30 8 * * *").is_none() && parse("").is_none()
        );
    }
}
