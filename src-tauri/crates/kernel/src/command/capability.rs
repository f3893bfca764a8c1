//! What a person changes of what Hermit may do: one act of class `capability_change`, asked about each time, carried out by
//! the kernel itself. What there is to change stands beside it: servers of tools in `tools`, rules of policy in `rules`, skills in `skills`, schedules in `schedules`,
//! skins in `skins`, SOUL.md in `identity`.

use super::historian::Suggested;
use super::memory::Memorandum;
use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::drive::{Judged, Known, Then, Trial};
use crate::kernel::{Kernel, lock};
use crate::tx::Tx;
use crate::writeup::{NewArtifact, Scope, Writeup};
use acts::{Action, Register};
use model::artifact::ArtifactKind;
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{
    PolicyRulesChanged, ToolClassified, ToolLoginAllowed, ToolSamplingSet, ToolServerPassedOn,
    ToolServerRegistered,
};
use model::fault::Point;
use model::ingress::Channel;
use model::login::LoginTerms;
use model::task::{Origin, Priority};
use model::tool_server::{ServerRegistration, ToolTerms};
use model::{ActionRequestId, ArtifactId, TaskId, UnixMs, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};

/// What a task of this kind is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "made and taken apart once for each task of this kind")]
pub(super) enum Planned {
    /// A change that a person is asked about.
    Change(Register),
    /// One call of a tool.
    Call {
        /// The name by which a model would call it.
        offered: String,
        /// One JSON object, as text.
        arguments: String,
    },
    /// What a person wants remembered.
    Remember(Memorandum),
    /// What the historian proposes to remember.
    Suggested(Suggested),
    /// A message that goes out over a gateway.
    Message {
        /// What is sent, to whom.
        message: acts::Message,
        /// The tasks that it speaks of, where the key of the message does not name them. Nobody is sent this.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        of_tasks: Vec<TaskId>,
    },
    /// A clock that is asked about an anchor.
    Anchor {
        /// Which clock, about what.
        anchor: acts::Anchor,
    },
    /// Who this instance is, published at relays.
    Publish {
        /// What, and where.
        publish: acts::Publish,
    },
}

impl Kernel {
    /// Makes the task that asks a person about a change.
    pub(super) fn propose_change(
        &self,
        change: &Register,
        workspace_id: WorkspaceId,
        channel: Channel,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        let action = Action::Register(change.clone());
        action.as_tool().check().map_err(Error::Input)?;
        let goal = action.as_tool().title();
        self.submit_planned(&Planned::Change(change.clone()), goal, workspace_id, channel, idempotency_key)
    }

    pub(super) fn submit_planned(
        &self,
        planned: &Planned,
        mut goal: String,
        workspace_id: WorkspaceId,
        channel: Channel,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        let text = String::from_utf8(seal::canon::to_canonical(planned)?)
            .map_err(|e| Error::Broken(e.to_string()))?;
        if let Some(first) = goal.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let reasoning = Reasoning::Tools { change: text };
        let submission = Submission::of(goal, workspace_id, reasoning, channel, idempotency_key);
        self.submit(&Submission { priority: Priority::High, ..submission })
    }

    /// What a person is asked in this task becomes the request in hand. A call of a tool that changes files is tried first.
    pub(crate) fn plan_tools(&self, tx: &mut Tx<'_>, change: ArtifactId) -> Result<Then, Error> {
        tx.at(Point::ActionJudge);
        tx.unblock("planned")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "planning")?;
        tx.set_attempt(AttemptStatus::Reasoning, "planning")?;
        let trial = match self.read_object(tx, change)? {
            Planned::Call { offered, arguments } => self.trial_of_call(tx, &offered, &arguments)?,
            _ => Trial::Not(None),
        };
        match trial {
            Trial::Not(known) => self.request_planned(tx, change, known),
            Trial::Started => Ok(Then::Commit),
        }
    }

    /// The request of a plan; `known` is what its trial came to, if there was one.
    pub(crate) fn request_planned(
        &self,
        tx: &mut Tx<'_>,
        change: ArtifactId,
        known: Option<Known>,
    ) -> Result<Then, Error> {
        let executors = self.executors(tx)?;
        let planned: Planned = self.read_object(tx, change)?;
        let action = match (&known, planned) {
            (Some(Known::Failed(why)), _) => Err(why.clone()),
            (_, Planned::Change(change)) => match self.outdated(&change)? {
                None => Ok(Action::Register(change)),
                Some(why) => Err(why),
            },
            (_, Planned::Call { offered, arguments }) => {
                self.call_of(tx, &*executors, &offered, &arguments)?.map_err(|unfit| unfit.0)
            }
            (_, Planned::Remember(said)) => self.memory_of(tx, &said, change)?,
            (_, Planned::Suggested(batch)) => self.suggested(tx, &batch)?,
            (_, Planned::Message { message, .. }) => match self.message_outdated(&message) {
                None => Ok(Action::Message(message)),
                Some(why) => Err(why),
            },
            (_, Planned::Anchor { anchor }) => match self.anchor_outdated(&anchor, tx.task.task_id) {
                None => Ok(Action::Anchor(anchor)),
                Some(why) => Err(why),
            },
            (_, Planned::Publish { publish }) => match self.publish_outdated(&publish) {
                None => Ok(Action::Publish(publish)),
                Some(why) => Err(why),
            },
        };
        let action = match action {
            Ok(action) => action,
            Err(why) => {
                self.push_end(tx, TerminationReason::FatalToolError, &format!("nothing was done: {why}"))?;
                return Ok(Then::Commit);
            }
        };
        let why = match (&action, tx.task.origin()) {
            (Action::Message(_), _) => "somebody whom a person paired waits for it",
            (Action::Anchor(_), Origin::Service) => "you have set this clock",
            (_, Origin::Service) => "the historian proposes it",
            _ => "a person asked for it",
        };
        let mut normalised = self.request_of(tx, &*executors, action, why)?;
        if let (Some(known), Some(workspace)) = (&known, tx.task.workspace_hint) {
            self.with_staged(&mut normalised, workspace, &*executors, known)?;
        }
        if let Action::Register(Register::Playbook { adopt }) = &normalised.request.action {
            normalised.request.evidence_refs = vec![adopt.at.artifact_id];
            normalised.bytes = seal::canon::to_canonical(&normalised.request)?;
        }
        if let (Origin::Service, Action::Remember(all)) = (tx.task.origin(), &normalised.request.action) {
            // What derives from a bad source is found by its lineage, also while it only waits.
            let lines: BTreeSet<_> =
                all.claims().flat_map(|one| one.evidence_refs).map(|one| one.artifact_id).collect();
            normalised.request.evidence_refs = lines.into_iter().collect();
            normalised.bytes = seal::canon::to_canonical(&normalised.request)?;
        }
        self.request(tx, normalised)?;
        Ok(Then::GoOn)
    }

    /// Why a change is not about what is registered now, if it is not.
    fn outdated(&self, change: &Register) -> Result<Option<String>, Error> {
        let known = self.tool_registry();
        let (server, fits) = match change {
            Register::Server { registration, was, .. } => {
                let now =
                    known.0.get(&registration.server).map(|record| self.registered(record)).transpose()?;
                (&registration.server, now.as_deref() == was.as_ref())
            }
            Register::Tool { server, words, .. } => {
                let now = known.0.get(server).map(|record| self.registered(record)).transpose()?;
                let fits = now.is_some_and(|now| now.manifest.tool(&words.name) == Some(words));
                (server, fits)
            }
            Register::Sampling { server, was, .. } => {
                (server, known.0.get(server).is_some_and(|record| record.sampling == *was))
            }
            Register::PassOn { server, .. } => {
                (server, known.0.get(server).is_some_and(|record| !record.passed_on))
            }
            Register::Login { server, terms, was } => {
                if let Err(why) = self.may_log_in(server, terms) {
                    return Ok(Some(why.to_string()));
                }
                (server, self.logins().0.get(server).map(|record| &record.allowed) == was.as_deref())
            }
            Register::Skill { trust } => {
                if self.skill_registry().trusted(trust.sha256).is_some() {
                    return Ok(Some("exactly these bytes are trusted already".to_owned()));
                }
                return Ok(self.skill_as_approved(trust).err());
            }
            Register::Playbook { adopt } => return self.adoption_outdated(adopt),
            Register::Schedule { keep } => return self.schedule_outdated(keep),
            Register::Skin { trust } => return Ok(self.skin_outdated(trust)),
            Register::Gateway { keep } => return self.gateway_outdated(keep),
            Register::Pairing { pair } => return Ok(self.pairing_outdated(pair)),
            Register::Soul { version, .. } => return Ok(self.soul_outdated(*version)),
            Register::Adopt { change } => return self.adopt_outdated(change),
            Register::Return { change } => return self.return_outdated(change),
            Register::Rules { was, .. } => {
                let others = self.signed_rules()? != *was;
                return Ok(others.then(|| "your rules are others by now; look at them again".to_owned()));
            }
        };
        Ok((!fits).then(|| format!("the server `{server}` is registered otherwise by now; ask again")))
    }

    /// The executor of such a change is the kernel itself: effect, observation and receipt are one commit with the dispatch,
    /// and with the event in the store's own stream.
    pub(crate) fn change_capability(&self, tx: &mut Tx<'_>, judged: Judged) -> Result<Then, Error> {
        let Action::Register(change) = &judged.request.action else {
            return Err(Error::Broken("no change of what Hermit may do".to_owned()));
        };
        tx.set_attempt(AttemptStatus::Observing, "observed")?;
        let mut outdated = self.outdated(change)?;
        if outdated.is_none() {
            outdated = self.push_change(tx, change, &judged)?;
        }
        self.performed_here(tx, judged, outdated, NewArtifact::audit(ArtifactKind::ActionResult), Map::new())
    }

    /// The event in the store's stream. The commit fails when that has moved since, and the act is judged anew. In words,
    /// why nothing was changed after all.
    fn push_change(
        &self,
        tx: &mut Tx<'_>,
        change: &Register,
        judged: &Judged,
    ) -> Result<Option<String>, Error> {
        let action_request_id = judged.request.action_request_id;
        let now = tx.now();
        // What is kept is what was compared, whatever lies there a moment later.
        let skill = match self.skill_in(change) {
            Ok(read) => read,
            Err(why) => return Ok(Some(why)),
        };
        if let Err(why) = self.before_itself(change) {
            return Ok(Some(why));
        }
        self.in_store(tx, |w| {
            match change {
                Register::Server { registration, terms, .. } => {
                    push_server(w, registration, terms, (action_request_id, now))?;
                }
                Register::Tool { server, words, terms, .. } => {
                    w.push(ToolClassified {
                        server: server.clone(),
                        tool: words.name.clone(),
                        tool_sha256: words.pin()?,
                        terms: terms.clone(),
                        action_request_id,
                        classified_at: now,
                    });
                }
                Register::Sampling { server, terms, .. } => {
                    let (server, terms) = (server.clone(), *terms);
                    w.push(ToolSamplingSet { server, terms, action_request_id, set_at: now });
                }
                Register::PassOn { server, .. } => {
                    let (server, action_request_id) = (server.clone(), Some(action_request_id));
                    w.push(ToolServerPassedOn { server, on: true, action_request_id, set_at: now });
                }
                Register::Login { server, terms, .. } => {
                    let (server, terms) = (server.clone(), LoginTerms::clone(terms));
                    w.push(ToolLoginAllowed { server, terms, action_request_id, allowed_at: now });
                }
                Register::Rules { rules, .. } => {
                    let rules =
                        w.artifact(rules.as_bytes(), NewArtifact::audit(ArtifactKind::PolicyRules))?;
                    w.push(PolicyRulesChanged { rules, action_request_id, changed_at: now });
                }
                Register::Soul { .. } | Register::Adopt { .. } | Register::Return { .. } => {
                    self.push_itself(w, change, action_request_id)?;
                }
                Register::Playbook { adopt } => {
                    super::dreamer::push_adopted(w, adopt, action_request_id, now)?;
                }
                Register::Schedule { keep } => self.push_kept(w, keep, action_request_id)?,
                Register::Skin { trust } => super::skins::push_trusted(w, trust, action_request_id)?,
                Register::Gateway { keep } => self.push_gateway(w, keep, action_request_id)?,
                Register::Pairing { pair } => super::pairing::push_allowed(w, pair, action_request_id),
                Register::Skill { .. } => {
                    if let Some(read) = &skill {
                        super::skills::push_trusted(w, read, action_request_id)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(None)
    }

    /// What comes before the events of a change of who this instance is, or of what it is made of; in words, why it cannot be.
    fn before_itself(&self, change: &Register) -> Result<(), String> {
        self.before_adopting(change)?;
        if let Register::Soul { .. } | Register::Adopt { .. } | Register::Return { .. } = change {
            self.fresh_head();
        }
        Ok(())
    }

    /// The events of such a change.
    fn push_itself(
        &self,
        w: &mut Writeup<'_>,
        change: &Register,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        match change {
            Register::Soul { version, text, .. } => self.push_soul(w, (*version, text), action_request_id),
            Register::Adopt { change } => self.push_adopted(w, change, action_request_id),
            Register::Return { change } => self.push_returned(w, change, action_request_id),
            _ => Ok(()),
        }
    }

    /// The bytes of a skill that a change is about.
    fn skill_in(&self, change: &Register) -> Result<Option<effects::SkillBytes>, String> {
        match change {
            Register::Skill { trust } => self.skill_as_approved(trust).map(Some),
            _ => Ok(None),
        }
    }

    /// Writes into the store's own stream with the commit of a task.
    pub(super) fn in_store(
        &self,
        tx: &mut Tx<'_>,
        write: impl FnOnce(&mut Writeup<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (task_id, seq) = {
            let store = lock(&self.store);
            (store.system_task()?, store.seq)
        };
        let w = tx.writeup();
        w.batch.expect.push((task_id, seq));
        let scope = Scope { task_id, step_id: None, attempt_id: None, workspace_id: None };
        let before = std::mem::replace(&mut w.scope, scope);
        let written = write(w);
        w.scope = before;
        written
    }

    /// How such a change ended, in words.
    pub(crate) fn changed_words(change: &Register) -> String {
        match change {
            Register::Server { registration, .. } => format!(
                "The server {} is registered. You are asked before each call of a tool that you have not classified.",
                registration.server
            ),
            Register::Tool { server, words, terms, .. } => {
                format!("{} of the server {server} is classified as {}.", words.name, terms.class)
            }
            Register::Sampling { server, terms: Some(terms), .. } => {
                format!(
                    "The server {server} may ask the model of a task that calls its tools, {}.",
                    terms.in_words()
                )
            }
            Register::Sampling { server, terms: None, .. } => {
                format!("The server {server} may ask no model any more.")
            }
            Register::PassOn { server, .. } => format!(
                "The classified tools of the server {server} are passed on to agents that are clients of Hermit."
            ),
            Register::Login { server, terms, .. } => format!(
                "You may log in at {} now; `hermit tools login {server}` waits for it, and the page Tools shows the address.",
                terms.authorization.server()
            ),
            Register::Skill { trust } => format!(
                "The skill {} is trusted, with exactly these bytes. Models are told of it from their next turn on.",
                trust.skill.name
            ),
            Register::Skin { trust } => format!(
                "The skin {0} is trusted, with exactly these bytes. `hermit skin use {0}` gives it to a conversation.",
                trust.file.skin.name
            ),
            Register::Gateway { keep } => format!(
                "The gateway {0} is connected. It listens while Hermit is open; `hermit gateway pair {0}` pairs a sender.",
                keep.gateway.name
            ),
            Register::Pairing { pair } => format!(
                "Whoever sends the code to the gateway {} first, within {} minutes, is paired.",
                pair.gateway,
                model::gateway::CODE_OPEN.as_secs() / 60
            ),
            Register::Playbook { adopt } => format!(
                "The playbook {0} is adopted. `hermit run --playbook {0}` runs it, and asks you as always.",
                adopt.draft.name
            ),
            Register::Schedule { keep } => {
                let first =
                    keep.next.first().map_or(String::new(), |at| format!(" It is due first on {at}."));
                format!(
                    "The schedule {} is kept.{first} It runs while Hermit is open; `hermit serve` keeps it open.",
                    keep.schedule.name
                )
            }
            Register::Soul { version, .. } => format!(
                "SOUL.md is written, in version {version}. `hermit identity show` tells whether it is attested."
            ),
            Register::Adopt { change } => super::adopting::adopted_in_words(change),
            Register::Return { change } => super::adopting::returned_in_words(change),
            Register::Rules { .. } => {
                "Your rules of policy are changed. They hold for every task, from its next action on."
                    .to_owned()
            }
        }
    }
}

/// A server is registered, and what some of its tools may do is said.
fn push_server(
    w: &mut Writeup<'_>,
    registration: &ServerRegistration,
    terms: &BTreeMap<String, ToolTerms>,
    (action_request_id, now): (ActionRequestId, UnixMs),
) -> Result<(), Error> {
    let at = w.object(registration, NewArtifact::audit(ArtifactKind::ToolManifest))?;
    w.push(ToolServerRegistered {
        server: registration.server.clone(),
        registration: at,
        action_request_id,
        registered_at: now,
    });
    for (tool, terms) in terms {
        let words = registration
            .manifest
            .tool(tool)
            .ok_or_else(|| Error::Broken(format!("terms of a tool `{tool}` that is not offered")))?;
        w.push(ToolClassified {
            server: registration.server.clone(),
            tool: tool.clone(),
            tool_sha256: words.pin()?,
            terms: terms.clone(),
            action_request_id,
            classified_at: now,
        });
    }
    Ok(())
}
