//! Changing what Hermit may do: which tools of servers there are, what they may do, a person's rules of policy, and which
//! skills are trusted.

use crate::call::{IN_A_COPY, in_words, pretty, quoted, sees, started, unknown_tool};
use crate::skill::Told as _;
use crate::{ActionRequest, Line, LineKind, Tool, count, visible};
use model::action::{ActionClass, Reversibility};
use model::login::LoginTerms;
use model::playbook::AdoptPlaybook;
use model::receipt::{ReplayClass, ResultCode};
use model::sampling::SamplingTerms;
use model::schedule::KeepSchedule;
use model::skill::TrustSkill;
use model::skin::TrustSkin;
use model::tool_server::{ServerRegistration, ServerTool, ToolHints, ToolManifest, ToolTerms};
use model::{ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a person changes about servers of tools, about their rules of policy, or about the skills they trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant, reason = "made and taken apart once for each change")]
pub enum Register {
    /// A server is registered, or looked at anew.
    Server {
        /// The server with all that it says.
        registration: ServerRegistration,
        /// As it was registered before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<ServerRegistration>,
        /// What some of its tools may do, by their names: said together with the registration.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        terms: BTreeMap<String, ToolTerms>,
    },
    /// It is said what a tool may do.
    Tool {
        /// The server.
        server: String,
        /// The tool, with all that its server says of it.
        words: ServerTool,
        /// What it may do.
        terms: ToolTerms,
        /// What it might do until now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<ToolTerms>,
    },
    /// It is said how much a server may ask of a model.
    Sampling {
        /// The server.
        server: String,
        /// From now on; nothing is nothing at all.
        terms: Option<SamplingTerms>,
        /// Until now.
        was: Option<SamplingTerms>,
    },
    /// The classified tools of a server are passed on to agents of other programs that are clients of Hermit.
    PassOn {
        /// The server.
        server: String,
        /// Those that are classified by now, each with its class.
        tools: BTreeMap<String, ActionClass>,
    },
    /// A person may log in at a server, once, so that its calls are signed with the token that they are given.
    Login {
        /// The server.
        server: String,
        /// Where, with whom, for what.
        terms: Box<LoginTerms>,
        /// As it was allowed before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Box<LoginTerms>>,
    },
    /// A person's own rules of policy become others.
    Rules {
        /// All of them, as they will be.
        rules: String,
        /// All of them, as they are.
        was: String,
    },
    /// A skill is trusted.
    Skill {
        /// The skill, with every word of it.
        trust: TrustSkill,
    },
    /// A playbook that was drafted is adopted.
    Playbook {
        /// The draft, with every word of it.
        adopt: AdoptPlaybook,
    },
    /// A schedule is kept: a task begins by itself from now on.
    Schedule {
        /// The schedule, with all that it does.
        keep: Box<KeepSchedule>,
    },
    /// A skin is trusted.
    Skin {
        /// The skin, with every word of it.
        trust: Box<TrustSkin>,
    },
}

impl Register {
    /// Hosts that Hermit or a server speaks with from now on because of it, as `name:port`.
    pub fn hosts(&self) -> Vec<String> {
        match self {
            Self::Server { registration, .. } => registration.launch.hosts.clone(),
            Self::Login { terms, .. } => {
                let always = [&terms.url, &terms.authorization, &terms.token];
                let at = always.into_iter().chain(&terms.registration).chain(&terms.revocation);
                at.map(|url| format!("{}:{}", url.host(), url.port())).collect()
            }
            Self::Tool { .. }
            | Self::Sampling { .. }
            | Self::PassOn { .. }
            | Self::Rules { .. }
            | Self::Skill { .. }
            | Self::Playbook { .. }
            | Self::Schedule { .. }
            | Self::Skin { .. } => Vec::new(),
        }
    }
}

impl Tool for Register {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::CapabilityChange])
    }

    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        BTreeSet::from([match self {
            Self::Server { registration, .. } => ResourceId::Mcp(registration.server.clone(), "*".to_owned()),
            Self::Tool { server, words, .. } => ResourceId::Mcp(server.clone(), words.name.clone()),
            Self::Sampling { server, .. } => ResourceId::Mcp(server.clone(), "sampling".to_owned()),
            Self::PassOn { server, .. } => ResourceId::Mcp(server.clone(), "pass-on".to_owned()),
            Self::Login { server, .. } => ResourceId::Mcp(server.clone(), "login".to_owned()),
            Self::Rules { .. } => ResourceId::Rules,
            Self::Skill { trust } => ResourceId::Skill(trust.skill.name.clone()),
            Self::Playbook { adopt } => ResourceId::Skill(adopt.draft.name.clone()),
            Self::Schedule { keep } => ResourceId::Schedule(keep.schedule.name.clone()),
            Self::Skin { trust } => ResourceId::Skin(trust.file.skin.name.clone()),
        }])
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::Server { registration, terms, .. } => {
                model::tool_server::check_server_name(&registration.server)?;
                for (tool, terms) in terms {
                    terms.check()?;
                    if registration.manifest.tool(tool).is_none() {
                        return Err(unknown_tool(registration, tool));
                    }
                }
                Ok(())
            }
            Self::Tool { terms, .. } => terms.check(),
            Self::Sampling { terms, was, .. } if terms == was => Err("it is so already".to_owned()),
            Self::Sampling { terms, .. } => terms.map_or(Ok(()), |terms| terms.check()),
            Self::PassOn { server, tools } if tools.is_empty() => Err(format!(
                "nobody has said what any tool of `{server}` may do; classify those that are to be passed on"
            )),
            Self::PassOn { server, .. } => model::tool_server::check_server_name(server),
            Self::Login { server, terms, .. } => {
                model::tool_server::check_server_name(server)?;
                terms.check()
            }
            Self::Rules { rules, was } if rules == was => {
                Err("the rules are those already in force".to_owned())
            }
            Self::Rules { .. } => Ok(()),
            Self::Skill { trust } => trust.check(),
            Self::Playbook { adopt } => adopt.check(),
            Self::Schedule { keep } => keep.check(),
            Self::Skin { trust } => trust.check(),
        }
    }

    /// Another change takes it back (`hermit tools rm`, `hermit policy rm`); nothing of it is a file.
    fn reversibility(&self) -> Reversibility {
        Reversibility::Partial
    }

    fn reversibility_without_changes(&self, _: &ActionRequest, result: ResultCode) -> Reversibility {
        match result {
            ResultCode::Succeeded => Reversibility::Partial,
            _ => Reversibility::NoEffect,
        }
    }

    fn way_back_in_words(&self) -> Option<&'static str> {
        Some(match self {
            Self::Rules { .. } => {
                "can be taken back: change your rules again; what was done under them stays"
            }
            Self::Skill { .. } => "can be taken back: `hermit skills untrust`; what was done with it stays",
            Self::Playbook { .. } => "can be taken back: `hermit playbooks off`; what was done with it stays",
            Self::Schedule { .. } => "can be taken back: `hermit schedule rm`; what its tasks did stays",
            Self::Skin { .. } => "can be taken back: `hermit skin untrust`; what was said with it stays",
            Self::Sampling { .. } => {
                "can be taken back: say `hermit tools sampling` again with `--off`; what was asked stays asked"
            }
            Self::PassOn { .. } => {
                "can be taken back: say `hermit tools pass-on` again with `--off`; what was called stays called"
            }
            Self::Login { .. } => {
                "can be taken back: `hermit tools logout` forgets the token; what was asked with it stays asked"
            }
            Self::Server { .. } | Self::Tool { .. } => {
                "can be taken back: disable or forget the server; what its tools have done stays"
            }
        })
    }

    fn undo_method(&self) -> &'static str {
        "none"
    }

    fn replay_class(&self) -> ReplayClass {
        ReplayClass::ExplainOnly
    }

    fn title(&self) -> String {
        match self {
            Self::Server { registration, was, terms } => {
                let tools = count(registration.manifest.tools.len(), "tool");
                let again = if was.is_some() { " again" } else { "" };
                let said = match terms.len() {
                    0 => String::new(),
                    some => format!(", and classify {some} of them"),
                };
                format!(
                    "register the server \"{}\"{again}, with {tools}{said}",
                    visible(&registration.server)
                )
            }
            Self::Tool { server, words, terms, .. } => {
                format!("classify \"{}\" of \"{}\" as {}", visible(&words.name), visible(server), terms.class)
            }
            Self::Sampling { server, .. } => {
                format!("change what the server \"{}\" may ask of models", visible(server))
            }
            Self::PassOn { server, .. } => {
                format!("pass the tools of the server \"{}\" on to agents of other programs", visible(server))
            }
            Self::Login { server, .. } => format!("log in at the server \"{}\"", visible(server)),
            Self::Rules { rules, was } => crate::rules::title(was, rules),
            Self::Skill { trust } => trust.title(),
            Self::Playbook { adopt } => adopt.title(),
            Self::Schedule { keep } => keep.title(),
            Self::Skin { trust } => trust.title(),
        }
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        match self {
            Self::Server { registration, was, terms } => of_server(registration, was.as_ref(), terms),
            Self::Tool { server, words, terms, was } => of_tool(server, words, terms, was.as_ref()),
            Self::Sampling { server, terms, was } => allowed::of_sampling(server, *terms, *was),
            Self::PassOn { server, tools } => allowed::of_pass_on(server, tools),
            Self::Login { server, terms, was } => crate::login::lines(server, terms, was.as_deref()),
            Self::Rules { rules, was } => crate::rules::lines(was, rules),
            Self::Skill { trust } => trust.lines(),
            Self::Playbook { adopt } => adopt.lines(),
            Self::Schedule { keep } => keep.lines(),
            Self::Skin { trust } => trust.lines(),
        }
    }

    fn precondition(&self) -> String {
        match self {
            Self::Rules { .. } => "your rules are as they were when this was proposed".to_owned(),
            Self::Login { .. } => {
                "the log-in at the server is allowed as it was when this was proposed".to_owned()
            }
            Self::Skill { .. } => "the skill's files are as they were when this was proposed".to_owned(),
            Self::Playbook { .. } => "the draft is as it was when this was proposed".to_owned(),
            Self::Schedule { .. } => "the schedule is as it was when this was proposed".to_owned(),
            Self::Skin { .. } => "the skin was not trusted when this was proposed".to_owned(),
            _ => "the server is registered as it was when this was proposed".to_owned(),
        }
    }
}

fn of_server(
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

/// What the server says otherwise than before: each tool that came, went or changed, with both texts.
fn differences(was: &ServerRegistration, now: &ServerRegistration) -> Vec<Line> {
    let mut lines = Vec::new();
    if was.launch != now.launch {
        lines.push(Line {
            kind: LineKind::Destructive,
            text: "it is STARTED OTHERWISE than when it was registered; it was started so:".to_owned(),
        });
        lines.extend(started(&was.launch).into_iter().map(|line| removed(&line.text)));
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
fn words_of(tool: &ServerTool) -> Vec<Line> {
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

/// What follows for calls of a tool from what is said of it.
fn judged(server: &str, tool: &str, terms: &ToolTerms) -> Vec<Line> {
    let risk = |text: String| Line { kind: LineKind::Risk, text };
    let mut lines = vec![
        risk(format!(
            "from now on, calls of \"{}\" of the server \"{}\" are judged so:",
            visible(tool),
            visible(server)
        )),
        risk(in_words(Some(terms))),
    ];
    if matches!(terms.class, ActionClass::ReadLocal) {
        lines.push(risk(
            "it is then called WITHOUT asking you, in every task that may look at files".to_owned(),
        ));
    }
    if matches!(terms.class, ActionClass::WriteLocal) {
        lines.push(Line::effect(IN_A_COPY.to_owned()));
    }
    lines
}

fn of_tool(server: &str, words: &ServerTool, terms: &ToolTerms, was: Option<&ToolTerms>) -> Vec<Line> {
    let mut lines = judged(server, &words.name, terms);
    lines.extend(terms.examples.iter().map(|one| {
        let came = if one.matches { "is judged so" } else { "is refused" };
        let text = format!("for example, a call with {} {came}", visible(&one.arguments));
        Line { kind: LineKind::Fact, text }
    }));
    lines.push(Line { kind: LineKind::Fact, text: format!("until now: {}", in_words(was)) });
    lines.push(Line { kind: LineKind::Fact, text: "what the server says of it, word for word:".to_owned() });
    lines.extend(words_of(words));
    lines
}

mod allowed;

#[cfg(test)]
mod tests;
