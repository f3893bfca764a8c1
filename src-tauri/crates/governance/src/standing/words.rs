//! A standing grant in one sentence, made from exactly what is signed.

use acts::{visible, visible_path};
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// What it allows, in one line; nothing in it can hide.
pub fn in_words(grant: &StandingGrant) -> String {
    let place = match &grant.scope {
        StandingScope::User => "in every project".to_owned(),
        StandingScope::Project { .. } => "in this project".to_owned(),
        StandingScope::Task { .. } => "in this task".to_owned(),
        StandingScope::Schedule { name, version } => {
            format!("in each run of the schedule `{}`, as version {version} of it says", visible(name))
        }
    };
    let lives = grant.expires_at.0.saturating_sub(grant.issued_at.0);
    let time = match (lives / DAY_MS, lives % DAY_MS) {
        (1, 0) => "1 day".to_owned(),
        (days, 0) => format!("{days} days"),
        _ => match (lives / (3600 * 1000)).max(1) {
            1 => "1 hour".to_owned(),
            hours => format!("{hours} hours"),
        },
    };
    let uses = if grant.max_uses == 1 { "once".to_owned() } else { format!("{} times", grant.max_uses) };
    if let Some(reason) = &grant.override_reason {
        return format!(
            "OVERRIDE policy so that you are asked about exactly this: {} {place}, {time}, {uses}, because {}",
            cover(&grant.cover),
            visible(reason)
        );
    }
    let taint = if grant.after_untrusted {
        ", also after the model has read files or names that may contain instructions"
    } else {
        ""
    };
    format!("{} {place}, {time}, {uses}{taint}", cover(&grant.cover))
}

fn cover(cover: &Cover) -> String {
    match cover {
        Cover::Command { words, whole, cwd, network, changes, programs } => {
            let said: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let more = if *whole { "" } else { " and whatever follows" };
            let folder = if cwd.is_root() { String::new() } else { format!(" in {}", visible_path(cwd)) };
            let network = if *network { "WITH the network" } else { "no network" };
            let changes = match changes.as_slice() {
                [] => "changing nothing".to_owned(),
                [all] if all == "**" => "changing ANYTHING here".to_owned(),
                some => format!("changing only {}", list(some)),
            };
            let meant: Vec<String> = programs.iter().map(|one| visible(&one.path)).collect();
            let meant =
                if meant.is_empty() { String::new() } else { format!(" (that is {})", meant.join(", ")) };
            format!("run `{}`{more}{meant}{folder}, {network}, {changes},", said.join(" "))
        }
        Cover::Paths { glob, acts } => {
            let acts: Vec<&str> = acts.iter().copied().map(PathAct::as_str).collect();
            format!("{} `{}`", acts.join(" or "), visible(glob))
        }
        Cover::Act { summary, .. } => format!("{},", visible(summary)),
        Cover::Chat { gateway, version, chat } => format!(
            "SEND messages to the chat `{}` through the gateway `{}`, as version {version} of it says,",
            visible(chat),
            visible(gateway)
        ),
        Cover::Anchor { clock, hosts } => format!(
            "SEND 32 bytes of each anchor to the clock `{clock}`, and ask how it stands, at {} and nowhere else, free of charge,",
            list(hosts)
        ),
        Cover::Host { name, port, write } => {
            let how = if *write { "fetch from and SEND TO" } else { "fetch from" };
            format!("{how} `{}:{port}`", visible(name))
        }
    }
}

fn quoted(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("\"{}\"", visible(word))
    }
}

fn list(globs: &[String]) -> String {
    let shown: Vec<String> = globs.iter().map(|glob| format!("`{}`", visible(glob))).collect();
    shown.join(", ")
}
