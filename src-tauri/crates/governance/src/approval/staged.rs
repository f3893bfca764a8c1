//! The part of a card that shows what a command has done already, in a copy, and would be carried over.

use acts::items::EMPTY_FOLDER;
use acts::{Action, ActionRequest, Line, LineKind, visible, visible_path};
use model::action::{LeftOut, StageMethod, Staged};
use model::approval::{StagedChange, StagedView};
use model::{RelPath, lasting};
use std::time::Duration;

/// What ran and how it ended, every change with deletions first, and the end of what it printed.
pub(super) fn lines(request: &ActionRequest, staged: &Staged, view: &StagedView) -> Vec<Line> {
    let mut lines = vec![Line::effect(ran(request, staged))];
    if let Some(error) = &staged.error {
        lines.push(Line { kind: LineKind::Destructive, text: format!("it FAILED: {}", visible(error)) });
    }
    if let Some(why) = &staged.look_first {
        lines.push(Line {
            kind: LineKind::Destructive,
            text: format!("LOOK at what it printed: {}", visible(why)),
        });
    }
    let (printed, answered) = match request.action {
        Action::Call(_) => ("it answered", "what it answered"),
        _ => ("it printed", "what it printed"),
    };
    lines.push(Line::effect(match view.changes.len() {
        0 => format!("it changed nothing; if you approve, the model reads {answered}"),
        1 => "your yes carries over exactly this one change; nothing runs again".to_owned(),
        many => format!("your yes carries over exactly these {many} changes; nothing runs again"),
    }));
    if let Some(words) = left_out(staged) {
        lines.push(Line::effect(words));
    }
    view.changes.iter().for_each(|one| change(one, &mut lines));
    lines.extend(acts::folders::lines(request));
    if view.changes.iter().any(|one| one.no_text.is_some()) {
        lines.push(Line::effect(format!("the whole difference is artifact `{}`", view.diff.artifact_id)));
    }
    said(view, printed, &mut lines);
    lines
}

/// What the folder's own ignore rules keep out of it, never silently.
fn left_out(staged: &Staged) -> Option<String> {
    let all: u64 = staged.left_out.iter().map(|one| one.entries).sum();
    let place = |one: &LeftOut| match one.path.is_root() {
        true => format!("elsewhere ({})", one.entries),
        false => format!("{} ({})", visible_path(&one.path), one.entries),
    };
    let places: Vec<String> = staged.left_out.iter().map(place).collect();
    let entries =
        if all == 1 { "1 changed entry is".to_owned() } else { format!("{all} changed entries are") };
    (all > 0).then(|| {
        format!(
            "{entries} THROWN AWAY, because the folder's own ignore rules name their places: {}",
            places.join(", ")
        )
    })
}

fn ran(request: &ActionRequest, staged: &Staged) -> String {
    let argv = request.action.as_tool().argv();
    let words: Vec<String> = argv.iter().map(|word| format!("\"{}\"", visible(word))).collect();
    let what = match &request.action {
        Action::Command(command) => format!("{} in {}", words.join(" "), visible_path(&command.cwd)),
        Action::Call(call) => {
            format!("\"{}\" of the server \"{}\"", visible(&call.name), visible(&call.server))
        }
        _ => format!("{} in {}", words.join(" "), visible_path(&RelPath::ROOT)),
    };
    let copy = match staged.method {
        StageMethod::Overlay => "a layer over the folder",
        StageMethod::Reflink => "a copy of the folder that shares its bytes",
        StageMethod::Copy => "a copy of the folder",
    };
    let end = match (staged.exit_code, &request.action) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Action::Call(_)) => "answered".to_owned(),
        (None, _) => "was ended".to_owned(),
    };
    let took = u64::try_from(staged.finished_at.0.saturating_sub(staged.started_at.0)).unwrap_or(0);
    let took = lasting(Duration::from_millis(took));
    format!(
        "{what} has ALREADY RUN, in {copy}, without the network, and {end} after {took}; the folder itself is \
         untouched"
    )
}

/// Whether a link comes here, or a file where a link was.
fn is_link(change: &StagedChange) -> bool {
    change.effect == "link" || (change.effect == "replace" && change.before_bytes.is_none())
}

/// What is lost, as large as it is.
fn lost(change: &StagedChange) -> String {
    change.before_bytes.map_or_else(|| "a link".to_owned(), |bytes| format!("{bytes} bytes"))
}

fn change(change: &StagedChange, lines: &mut Vec<Line>) {
    let path = visible_path(&change.path);
    let size = |bytes: Option<u64>| bytes.map_or(String::new(), |n| format!("{n} bytes"));
    let mode = |mode: Option<u32>| mode.map_or("unknown".to_owned(), |m| format!("{m:o}"));
    let moded = match (change.before_mode, change.after_mode) {
        (Some(before), Some(after)) if before != after => format!(", mode {before:o} becomes {after:o}"),
        (None, Some(after)) if after & 0o111 != 0 => format!(", mode {after:o}: it can be run"),
        _ => String::new(),
    };
    let (kind, head) = match change.effect.as_str() {
        "delete" => (LineKind::Destructive, format!("DELETE {path} ({})", size(change.before_bytes))),
        "delete_folder" => (LineKind::Effect, format!("{EMPTY_FOLDER} {path}")),
        "make_folder" => {
            let mode = change.after_mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            (LineKind::Effect, format!("make the folder {path}{mode}"))
        }
        "link" if change.before_sha256.is_some() => {
            (LineKind::Destructive, format!("OVERWRITE {path} ({}) with a link", lost(change)))
        }
        "link" => (LineKind::Effect, format!("put {path} as a link")),
        "rename" => {
            let from = change.from.as_ref().map_or(String::new(), visible_path);
            (LineKind::Effect, format!("RENAME {from} to {path}"))
        }
        "mode" => {
            let (before, after) = (mode(change.before_mode), mode(change.after_mode));
            (LineKind::Destructive, format!("CHANGE THE MODE of {path} from {before} to {after}"))
        }
        "create" => (LineKind::Effect, format!("create {path} ({}{moded})", size(change.after_bytes))),
        _ => {
            let (before, after) = (lost(change), size(change.after_bytes));
            (LineKind::Destructive, format!("OVERWRITE {path} ({before} become {after}{moded})"))
        }
    };
    lines.push(Line { kind, text: head });
    if let Some(sha256) = change.before_sha256.filter(|_| is_link(change)) {
        lines.push(Line { kind: LineKind::Destructive, text: format!("    sha256 before {sha256}") });
    }
    if let Some(sha256) = change.after_sha256.filter(|_| change.effect != "rename") {
        lines.push(Line::effect(format!("    sha256 {sha256}")));
    }
    if let Some(why) = &change.no_text {
        lines.push(Line::effect(format!("    not shown line by line: {}", visible(why))));
    }
    for line in change.text.as_deref().unwrap_or("").lines() {
        let kind = if line.starts_with('-') { LineKind::Destructive } else { LineKind::Effect };
        lines.push(Line { kind, text: format!("    {}", visible(line)) });
    }
}

/// The end of what it printed or answered.
fn said(view: &StagedView, printed: &str, lines: &mut Vec<Line>) {
    if view.printed_bytes == 0 {
        lines.push(Line::effect(format!("{printed} nothing")));
        return;
    }
    let (all, shown) = (view.printed_bytes, view.printed.len() as u64);
    let head = match shown < all {
        true => {
            format!("the last {shown} of the {all} bytes {printed} (all: `{}`):", view.transcript.artifact_id)
        }
        false => format!("{printed}:"),
    };
    lines.push(Line { kind: LineKind::Quoted, text: head });
    for line in view.printed.lines() {
        lines.push(Line { kind: LineKind::Quoted, text: format!("    | {}", visible(line)) });
    }
}
