//! Changing what Hermit may do, or who it is: which tools of servers there are, what they may do, a person's rules of policy,
//! which skills are trusted, SOUL.md, and what of Hermit itself an adopted change is at work.

use self::said::{of_server, words_of};
use crate::call::{IN_A_COPY, in_words, pinned, unknown_tool};
use crate::skill::Told as _;
use crate::{ActionRequest, Line, LineKind, Tool, count, visible};
use model::action::{ActionClass, Reversibility};
use model::adoption::{AdoptChange, ReturnChange};
use model::gateway::{KeepGateway, PairSender};
use model::login::LoginTerms;
use model::playbook::AdoptPlaybook;
use model::receipt::ResultCode;
use model::sampling::SamplingTerms;
use model::schedule::KeepSchedule;
use model::skill::TrustSkill;
use model::skin::TrustSkin;
use model::tool_server::{ServerRegistration, ServerTool, ToolTerms};
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
    /// SOUL.md, which says who this instance is, becomes another.
    Soul {
        /// Its version, from 1.
        version: u32,
        /// All of it, as it will be.
        text: String,
        /// All of it, as it is; empty before the first, and where that was erased.
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
    /// A chat service is connected.
    Gateway {
        /// The gateway, with all that tasks of its senders are.
        keep: Box<KeepGateway>,
    },
    /// A sender of a chat service may be paired.
    Pairing {
        /// Where, and what they may do.
        pair: PairSender,
    },
    /// A change of Hermit itself that was tried is adopted.
    Adopt {
        /// The change, with all that it does and what was found out about it.
        change: Box<AdoptChange>,
    },
    /// What was before an adopted change is at work again.
    Return {
        /// The change, and what becomes of it.
        change: Box<ReturnChange>,
    },
}

impl Register {
    /// Hosts that Hermit or a server speaks with from now on because of it, as `name:port`.
    pub fn hosts(&self) -> Vec<String> {
        match self {
            Self::Server { registration, .. } => registration.launch.hosts.clone(),
            Self::Gateway { keep } => keep.gateway.hosts.clone(),
            Self::Login { terms, .. } => {
                let always = [&terms.url, &terms.authorization, &terms.token];
                let at = always.into_iter().chain(&terms.registration).chain(&terms.revocation);
                at.map(|url| format!("{}:{}", url.host(), url.port())).collect()
            }
            Self::Tool { .. }
            | Self::Sampling { .. }
            | Self::PassOn { .. }
            | Self::Rules { .. }
            | Self::Soul { .. }
            | Self::Skill { .. }
            | Self::Playbook { .. }
            | Self::Schedule { .. }
            | Self::Skin { .. }
            | Self::Pairing { .. }
            | Self::Adopt { .. }
            | Self::Return { .. } => Vec::new(),
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
            Self::Soul { .. } => ResourceId::Soul,
            Self::Skill { trust } => ResourceId::Skill(trust.skill.name.clone()),
            Self::Playbook { adopt } => ResourceId::Skill(adopt.draft.name.clone()),
            Self::Schedule { keep } => ResourceId::Schedule(keep.schedule.name.clone()),
            Self::Skin { trust } => ResourceId::Skin(trust.file.skin.name.clone()),
            Self::Gateway { keep } => ResourceId::Gateway(keep.gateway.name.clone()),
            Self::Pairing { pair } => ResourceId::Gateway(pair.gateway.clone()),
            Self::Adopt { .. } | Self::Return { .. } => ResourceId::Successor,
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
            Self::Soul { version, text, was } => crate::soul::check(*version, text, was),
            Self::Skill { trust } => trust.check(),
            Self::Playbook { adopt } => adopt.check(),
            Self::Schedule { keep } => keep.check(),
            Self::Skin { trust } => trust.check(),
            Self::Gateway { keep } => keep.check(),
            Self::Pairing { pair } => pair.check(),
            Self::Adopt { change } => change.check(),
            Self::Return { change } => change.check(),
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
            Self::Soul { .. } => {
                "can be taken back: write SOUL.md again; that this version was, and its attestation, stay"
            }
            Self::Skill { .. } => "can be taken back: `hermit skills untrust`; what was done with it stays",
            Self::Playbook { .. } => "can be taken back: `hermit playbooks off`; what was done with it stays",
            Self::Schedule { .. } => "can be taken back: `hermit schedule rm`; what its tasks did stays",
            Self::Skin { .. } => "can be taken back: `hermit skin untrust`; what was said with it stays",
            Self::Gateway { .. } => "can be taken back: `hermit gateway rm`; what was sent stays sent",
            Self::Pairing { .. } => "can be taken back: `hermit gateway unpair`; what was told stays told",
            Self::Adopt { .. } => "can be taken back: `hermit successor back`; what was done with it stays",
            Self::Return { .. } => "can be taken back: try the change again and adopt it",
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
                let (tool, server) = (visible(&words.name), visible(server));
                format!("classify \"{tool}\" of \"{server}\" as one to {}", terms.class.in_words())
            }
            Self::Sampling { server, .. } => {
                format!("change what the server \"{}\" may ask of models", visible(server))
            }
            Self::PassOn { server, .. } => {
                format!("pass the tools of the server \"{}\" on to agents of other programs", visible(server))
            }
            Self::Login { server, .. } => format!("log in at the server \"{}\"", visible(server)),
            Self::Rules { rules, was } => crate::rules::title(was, rules),
            Self::Soul { version, .. } => crate::soul::title(*version),
            Self::Skill { trust } => trust.title(),
            Self::Playbook { adopt } => adopt.title(),
            Self::Schedule { keep } => keep.title(),
            Self::Skin { trust } => trust.title(),
            Self::Gateway { keep } => keep.title(),
            Self::Pairing { pair } => pair.title(),
            Self::Adopt { change } => change.title(),
            Self::Return { change } => change.title(),
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
            Self::Soul { version, text, was } => crate::soul::lines(*version, text, was),
            Self::Skill { trust } => trust.lines(),
            Self::Playbook { adopt } => adopt.lines(),
            Self::Schedule { keep } => keep.lines(),
            Self::Skin { trust } => trust.lines(),
            Self::Gateway { keep } => keep.lines(),
            Self::Pairing { pair } => pair.lines(),
            Self::Adopt { change } => change.lines(),
            Self::Return { change } => change.lines(),
        }
    }

    fn details(&self) -> Vec<String> {
        match self {
            Self::Adopt { change } => change.details(),
            Self::Return { change } => change.details(),
            Self::Skill { trust } => trust.details(),
            Self::Playbook { adopt } => adopt.details(),
            Self::Skin { trust } => trust.details(),
            Self::Server { registration, was, .. } => {
                let before = was.iter().flat_map(|was| pinned(&was.launch));
                let before = before.map(|pin| format!("when it was registered: {pin}"));
                pinned(&registration.launch).chain(before).collect()
            }
            _ => Vec::new(),
        }
    }

    fn precondition(&self) -> String {
        match self {
            Self::Rules { .. } => "your rules are as they were when this was proposed".to_owned(),
            Self::Soul { .. } => "SOUL.md is as it was when this was proposed".to_owned(),
            Self::Login { .. } => {
                "the log-in at the server is allowed as it was when this was proposed".to_owned()
            }
            Self::Skill { .. } => "the skill's files are as they were when this was proposed".to_owned(),
            Self::Playbook { .. } => "the draft is as it was when this was proposed".to_owned(),
            Self::Schedule { .. } => "the schedule is as it was when this was proposed".to_owned(),
            Self::Skin { .. } => "the skin was not trusted when this was proposed".to_owned(),
            Self::Gateway { .. } | Self::Pairing { .. } => {
                "the gateway is as it was when this was proposed".to_owned()
            }
            Self::Adopt { .. } | Self::Return { .. } => {
                "what it changes is as it was when this was proposed".to_owned()
            }
            _ => "the server is registered as it was when this was proposed".to_owned(),
        }
    }
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
mod said;

#[cfg(test)]
mod tests;
