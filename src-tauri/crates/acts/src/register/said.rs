//! What a server of tools says, as the card of its registration shows it.

use super::judged;
use crate::call::{pretty, quoted, sees, started};
use crate::{Line, LineKind, count, visible};
use model::action::Program;
use model::tool_server::{ServerLaunch, ServerRegistration, ServerTool, ToolHints, ToolManifest, ToolTerms};
use std::collections::BTreeMap;

/// A server that is registered, with every word that it says.
pub(super) fn of_server(
    now: &ServerRegistration,
    was: Option<&ServerRegistration>,
    terms: &BTreeMap<String, ToolTerms>,
) -> Vec<Line> {
    let name = visible(&now.server);
    let mut lines = vec![Line {
        kind: LineKind::Risk,
        text: format!("let tasks use {} of the server \"{name}\"", in_numbers(&now.manifest)),
    }];
    if let Some(was) = was {
        lines.extend(differences(was, now));
    }
    lines.extend(started(&now.launch));
    lines.extend(sees(&now.launch));
    lines.extend(read_so(now));
    lines.extend(left_out_of(&now.manifest));
    for (tool, terms) in terms {
        lines.extend(judged(&now.server, tool, terms));
    }
    let others = if terms.is_empty() { "a tool" } else { "another of its tools" };
    lines.push(Line {
        kind: LineKind::Fact,
        text: format!("until you say what {others} may do, you are asked before each call of it"),
    });
    lines.push(Line {
        kind: LineKind::Fact,
        text: "what the server says of its tools, word for word:".to_owned(),
    });
    for tool in &now.manifest.tools {
        lines.extend(words_of(tool));
    }
    for (_, words) in others_of(&now.manifest) {
        lines.extend(words);
    }
    lines
}

/// How many tools a server offers, and how many resources and prompts where it has any.
fn in_numbers(of: &ToolManifest) -> String {
    let prompts = Some(of.prompts.len()).filter(|some| *some > 0).map(|some| count(some, "prompt"));
    let resources = Some(resources_in(of)).filter(|some| *some > 0).map(|some| count(some, "resource"));
    let all: Vec<String> =
        [Some(count(of.tools.len(), "tool")), resources, prompts].into_iter().flatten().collect();
    all.join(" and ")
}

/// Resources and templates of their addresses.
fn resources_in(of: &ToolManifest) -> usize {
    of.resources.len().saturating_add(of.templates.len())
}

/// What the server offers beside what stands on the card, and why it is not used.
fn left_out_of(of: &ToolManifest) -> impl Iterator<Item = Line> + '_ {
    let line = |why: &String| Line { kind: LineKind::Fact, text: format!("left out, and not used: {why}") };
    of.left_out.iter().map(line)
}

/// That resources are read by the profile, whatever is said of tools.
fn read_so(now: &ServerRegistration) -> Option<Line> {
    let resources = resources_in(&now.manifest);
    let how = match now.launch.hosts.is_empty() {
        true => "without asking you",
        false => "as your profile allows looks over the network",
    };
    let text = format!("tasks read its {} {how}", count(resources, "resource"));
    (resources > 0).then_some(Line { kind: LineKind::Risk, text })
}

/// Everything that a server says of what is no tool, by the names under which that is compared.
fn others_of(of: &ToolManifest) -> BTreeMap<String, Vec<Line>> {
    let quote = |text: String| Line { kind: LineKind::Quoted, text };
    let about = |kind: &str, name: &str, words: [Option<&String>; 3]| -> Vec<Line> {
        let mut lines = vec![quote(format!("{kind} \"{}\"", visible(name)))];
        lines.extend(words.into_iter().flatten().flat_map(|text| quoted(text)).map(quote));
        lines
    };
    let mut all = BTreeMap::new();
    for (kind, resources) in [("resource", &of.resources), ("template", &of.templates)] {
        for one in resources {
            let words = [Some(&one.name), one.title.as_ref(), one.description.as_ref()];
            all.insert(format!("{kind}:{}", one.uri), about(kind, &one.uri, words));
        }
    }
    for one in &of.prompts {
        let mut lines = about("prompt", &one.name, [one.title.as_ref(), one.description.as_ref(), None]);
        for argument in &one.arguments {
            let must = if argument.required { ", which has to be given" } else { "" };
            let words = argument.description.as_ref().map_or(String::new(), |words| format!(": {words}"));
            lines.extend(quoted(&format!("argument {}{must}{words}", argument.name)).map(quote));
        }
        all.insert(format!("prompt:{}", one.name), lines);
    }
    all
}

/// Files of its program that have their name and place still and hold something else.
fn other_bytes(was: &ServerLaunch, now: &ServerLaunch) -> Vec<Line> {
    let is_other = |pin: &&Program| {
        let same = was.pins.iter().find(|before| before.name == pin.name && before.path == pin.path);
        same.is_some_and(|before| before.sha256 != pin.sha256)
    };
    let grave = |pin: &Program| Line {
        kind: LineKind::Destructive,
        text: format!("the file \"{}\" CHANGED: it holds other bytes than then", visible(&pin.path)),
    };
    now.pins.iter().filter(is_other).map(grave).collect()
}

/// What the server says otherwise than before: each tool that came, went or changed, with both texts.
fn differences(was: &ServerRegistration, now: &ServerRegistration) -> Vec<Line> {
    let mut lines = Vec::new();
    if was.launch != now.launch {
        lines.push(Line {
            kind: LineKind::Destructive,
            text: "it is STARTED OTHERWISE than when it was registered; it was started so:".to_owned(),
        });
        lines.extend(started(&was.launch).into_iter().map(|line| removed(&line.text)));
        lines.extend(other_bytes(&was.launch, &now.launch));
    }
    let differ = was.manifest.differs_from(&now.manifest);
    if differ.is_empty() {
        let text = "it says the same of its tools as when it was registered".to_owned();
        lines.push(Line { kind: LineKind::Fact, text });
    }
    for name in differ {
        let what = if is_other(&name) { String::new() } else { "the tool ".to_owned() };
        let shown = visible(&name);
        match (said_of(&was.manifest, &name), said_of(&now.manifest, &name)) {
            (Some(before), Some(after)) => {
                let text = format!("{what}\"{shown}\" CHANGED; what was said of it, and what is said now:");
                lines.push(Line { kind: LineKind::Destructive, text });
                lines.extend(
                    before.iter().filter(|line| !after.contains(line)).map(|line| removed(&line.text)),
                );
                lines
                    .extend(after.iter().filter(|line| !before.contains(line)).map(|line| added(&line.text)));
            }
            (None, _) => {
                lines.push(Line { kind: LineKind::Destructive, text: format!("{what}\"{shown}\" is NEW") });
            }
            (Some(_), None) => {
                lines.push(Line { kind: LineKind::Effect, text: format!("{what}\"{shown}\" is gone") });
            }
        }
    }
    lines
}

/// What a manifest says of a tool, or of what is none, by the name under which that is compared.
fn said_of(of: &ToolManifest, name: &str) -> Option<Vec<Line>> {
    match of.tool(name) {
        Some(tool) => Some(words_of(tool)),
        None => others_of(of).remove(name),
    }
}

fn is_other(name: &str) -> bool {
    ["resource:", "template:", "prompt:"].iter().any(|kind| name.starts_with(kind))
}

fn removed(text: &str) -> Line {
    Line { kind: LineKind::Quoted, text: format!("- {text}") }
}

fn added(text: &str) -> Line {
    Line { kind: LineKind::Quoted, text: format!("+ {text}") }
}

/// Everything that a server says of one tool.
pub(super) fn words_of(tool: &ServerTool) -> Vec<Line> {
    let quote = |text: String| Line { kind: LineKind::Quoted, text };
    let title = tool.title.as_ref().map_or(String::new(), |title| format!(" (\"{}\")", visible(title)));
    let mut lines = vec![quote(format!("tool \"{}\"{title}{}", visible(&tool.name), hints(tool.hints)))];
    lines.extend(tool.description.iter().flat_map(|text| quoted(text)).map(quote));
    lines.push(quote("  its arguments:".to_owned()));
    lines.extend(quoted(&pretty(&tool.input_schema)).map(quote));
    if let Some(schema) = &tool.output_schema {
        lines.push(quote("  its result:".to_owned()));
        lines.extend(quoted(&pretty(schema)).map(quote));
    }
    lines
}

fn hints(hints: ToolHints) -> String {
    let said = hints.said();
    if said.is_empty() { String::new() } else { format!(", which says of itself: {}", said.join(", ")) }
}
