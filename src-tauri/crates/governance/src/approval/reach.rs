//! The part of a card that tells what the words of a command lead to: what it does not see, what it can read, and which
//! programs and files are meant.

use acts::{ActionRequest, Line, LineKind, visible, visible_path};

pub(super) fn lines(request: &ActionRequest) -> Vec<Line> {
    let Some(reach) = &request.reach else { return Vec::new() };
    let grave = |text: String| Line { kind: LineKind::Destructive, text };
    let mut lines: Vec<Line> = reach
        .secrets
        .iter()
        .map(|path| {
            grave(format!("it can READ {}, which looks like a key or a password", visible_path(path)))
        })
        .collect();
    lines.extend(
        reach.unsure.iter().map(|why| grave(format!("not all that it can read is known: {}", visible(why)))),
    );
    if !reach.hidden.is_empty() {
        let places: Vec<String> = reach.hidden.iter().map(visible_path).collect();
        lines.push(Line::effect(format!(
            "hidden from it, because they look like keys or passwords: {}",
            places.join(", ")
        )));
    }
    lines.extend(reach.programs.iter().map(|program| {
        let text = format!("\"{}\" is {}", visible(&program.name), visible(&program.path));
        Line { kind: LineKind::Fact, text }
    }));
    lines
}

/// The digests of the programs and files that are meant.
pub(super) fn details(request: &ActionRequest) -> impl Iterator<Item = String> + '_ {
    let programs = request.reach.iter().flat_map(|reach| &reach.programs);
    programs.map(|program| format!("sha256 of {}: {}", visible(&program.path), program.sha256))
}
