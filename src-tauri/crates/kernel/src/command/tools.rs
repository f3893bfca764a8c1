//! What a person changes of what Hermit may do. Servers of tools: looked at, proposed to a person, registered by the governed path, disabled and forgotten (tools.md 2).

use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::drive::{Judged, Then};
use crate::kernel::{Kernel, lock};
use crate::state::Stage;
use crate::tool_registry::{ServerRecord, ToolRegistry};
use crate::tx::Tx;
use crate::writeup::{NewArtifact, Scope};
use acts::{Action, Register};
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{
    PolicyRulesChanged, ToolClassified, ToolServerChanged, ToolServerDisabled, ToolServerRegistered,
    ToolServerRemoved,
};
use model::fault::Point;
use model::ingress::Channel;
use model::limits::TOOL_SERVERS_MAX;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::task::{Budget, Priority};
use model::tool_server::{ServerLaunch, ServerRegistration, ToolTerms, check_server_name, offered_name};
use model::{ArtifactId, Body, Sensitive, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// Letters of an answer that the end of a task shows.
const ANSWER_SHOWN: usize = 4_000;

/// What a task of this kind is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "made and taken apart once for each task of this kind")]
enum Planned {
    /// A change that a person is asked about.
    Change(Register),
    /// One call of a tool.
    Call {
        /// The name by which a model would call it.
        offered: String,
        /// One JSON object, as text.
        arguments: String,
    },
}

impl Kernel {
    /// Starts a server behind walls, without a secret's value unless it names one, and makes the task that asks a person
    /// whether to register it. Nothing is registered by this.
    ///
    /// # Errors
    /// [`Error::Input`] with what is wrong with name, launch or server; [`Error::Conflict`] when the name is taken and
    /// `again` is not said.
    pub fn propose_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
        again: bool,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        check_server_name(server).map_err(Error::Input)?;
        let known = self.tool_registry();
        let was = known.0.get(server).map(|record| self.registered(record)).transpose()?;
        if was.is_some() && !again {
            return Err(Error::Conflict(format!(
                "there is a server `{server}`; look at it again with `hermit tools add {server} --again`"
            )));
        }
        if was.is_none() && known.0.len() >= TOOL_SERVERS_MAX {
            return Err(Error::Conflict(format!(
                "{TOOL_SERVERS_MAX} servers are registered; forget one with `hermit tools rm`"
            )));
        }
        let launch = match (&was, launch.argv.is_empty()) {
            (Some(was), true) => was.launch.clone(),
            _ => launch.clone(),
        };
        self.check_secrets(&launch)?;
        let workspace_id = self.workspace(root)?;
        let executors = self.executors_at(root, workspace_id)?;
        let (launch, manifest) = executors
            .look_at_server(&launch)
            .map_err(|why| Error::Input(format!("the server `{server}` was not registered: {why}")))?;
        let registration = ServerRegistration { server: server.to_owned(), launch, manifest };
        let was = was.map(Arc::unwrap_or_clone);
        let change = Register::Server { registration, was };
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that asks a person whether a tool may do what is said. Nothing is said by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the tool, [`Error::Input`] when it cannot be said.
    pub fn propose_terms(
        &self,
        server: &str,
        tool: &str,
        terms: ToolTerms,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        terms.check().map_err(Error::Input)?;
        let record = self.server_record(server)?;
        let registration = self.registered(&record)?;
        let words = registration
            .manifest
            .tool(tool)
            .cloned()
            .ok_or_else(|| Error::NotFound { kind: "tool", id: format!("{server}.{tool}") })?;
        let was = record.terms(tool, words.pin()?, self.ports.clock.now()).cloned();
        let change = Register::Tool { server: server.to_owned(), words, terms, was };
        let workspace_id = self.workspace(root)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that calls a tool once, as an agent would: judged, asked about and receipted in the same way.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn propose_call(
        &self,
        (server, tool): (&str, &str),
        arguments: &str,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        self.server_record(server)?;
        let goal = format!("call \"{}\" of the server \"{server}\"", acts::visible(tool));
        let planned = Planned::Call { offered: offered_name(server, tool), arguments: arguments.to_owned() };
        let workspace_id = self.workspace(root)?;
        self.submit_planned(&planned, goal, workspace_id, channel, idempotency_key)
    }

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

    fn submit_planned(
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
        self.submit(&Submission {
            goal,
            title: String::new(),
            workspace_id,
            profile: Profile::LocalEditAllowed,
            reasoning: Reasoning::Tools { change: text },
            budget: Budget::default(),
            priority: Priority::High,
            constraints: Vec::new(),
            deadline_at: None,
            channel,
            by: None,
            conversation_id: None,
            parent_task_id: None,
            continuation_anchor: None,
            attachments: Vec::new(),
            steps: Vec::new(),
            idempotency_key,
        })
    }

    /// A server's tools are not called any more, until it is registered again. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn disable_server(&self, server: &str, reason: &str) -> Result<(), Error> {
        self.server_record(server)?;
        let reason = Sensitive::from(reason.to_owned());
        self.narrow(server, ToolServerDisabled { server: server.to_owned(), reason })
    }

    /// A server is forgotten, with all that was said of its tools. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn remove_server(&self, server: &str) -> Result<(), Error> {
        self.server_record(server)?;
        self.narrow(server, ToolServerRemoved { server: server.to_owned() })
    }

    fn narrow(&self, server: &str, body: impl Into<Body>) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, format!("tools:{server}"), None)?;
        w.push(body);
        self.commit(w)?;
        Ok(())
    }

    /// Servers as they are registered now.
    pub fn tool_registry(&self) -> ToolRegistry {
        lock(&self.store).tools.clone()
    }

    fn server_record(&self, server: &str) -> Result<ServerRecord, Error> {
        self.tool_registry()
            .0
            .remove(server)
            .ok_or_else(|| Error::NotFound { kind: "server of tools", id: server.to_owned() })
    }

    /// Launch and manifest of a server as it was registered last.
    fn registered(&self, record: &ServerRecord) -> Result<Arc<ServerRegistration>, Error> {
        let version = record.latest();
        let version = version.ok_or_else(|| Error::Broken("a server without a registration".to_owned()))?;
        self.registration_at(&version.registration)
    }

    /// A registration, from its artifact, which is read once.
    pub(crate) fn registration_at(&self, at: &ArtifactRef) -> Result<Arc<ServerRegistration>, Error> {
        if let Some(known) = lock(&self.registrations).get(&at.sha256) {
            return Ok(Arc::clone(known));
        }
        let read: ServerRegistration = seal::canon::from_canonical(&self.artifacts.read(&at.sha256)?)?;
        let read = Arc::new(read);
        let mut known = lock(&self.registrations);
        if known.len() >= TOOL_SERVERS_MAX {
            known.clear();
        }
        known.insert(at.sha256, Arc::clone(&read));
        Ok(read)
    }

    /// Secrets that a server signs in with are there, and may go to no host that it does not reach.
    fn check_secrets(&self, launch: &ServerLaunch) -> Result<(), Error> {
        let known = self.secrets();
        for handle in launch.secrets.values() {
            let Some(terms) = known.get(handle) else {
                return Err(Error::Input(format!(
                    "there is no `secret:{handle}`; set it with `hermit secret set {handle}`"
                )));
            };
            if !launch.hosts.iter().any(|host| terms.hosts.contains(host)) {
                return Err(Error::Input(format!(
                    "`secret:{handle}` may go to none of the hosts that the server reaches"
                )));
            }
        }
        Ok(())
    }

    /// What a person is asked in this task becomes the request in hand.
    pub(crate) fn plan_tools(&self, tx: &mut Tx<'_>, change: ArtifactId) -> Result<Then, Error> {
        tx.at(Point::ActionJudge);
        let executors = self.executors(tx)?;
        let planned: Planned = self.read_object(tx, change)?;
        tx.unblock("planned")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "planning")?;
        tx.set_attempt(AttemptStatus::Reasoning, "planning")?;
        let action = match planned {
            Planned::Change(change) => match self.outdated(&change)? {
                None => Ok(Action::Register(change)),
                Some(why) => Err(why),
            },
            Planned::Call { offered, arguments } => {
                self.call_of(tx, &*executors, &offered, &arguments)?.map_err(|unfit| unfit.0)
            }
        };
        let action = match action {
            Ok(action) => action,
            Err(why) => {
                self.push_end(tx, TerminationReason::FatalToolError, &format!("nothing was done: {why}"))?;
                return Ok(Then::Commit);
            }
        };
        let normalised = self.request_of(tx, &*executors, action, "a person asked for it")?;
        self.request(tx, normalised)?;
        Ok(Then::GoOn)
    }

    /// Why a change is not about what is registered now, if it is not.
    fn outdated(&self, change: &Register) -> Result<Option<String>, Error> {
        let known = self.tool_registry();
        let (server, fits) = match change {
            Register::Server { registration, was } => {
                let now =
                    known.0.get(&registration.server).map(|record| self.registered(record)).transpose()?;
                (&registration.server, now.as_deref() == was.as_ref())
            }
            Register::Tool { server, words, .. } => {
                let now = known.0.get(server).map(|record| self.registered(record)).transpose()?;
                let fits = now.is_some_and(|now| now.manifest.tool(&words.name) == Some(words));
                (server, fits)
            }
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
        let outdated = self.outdated(change)?;
        if outdated.is_none() {
            self.push_change(tx, change, &judged)?;
        }
        self.performed_here(tx, judged, outdated, NewArtifact::audit(ArtifactKind::ActionResult), Map::new())
    }

    /// The event in the store's stream. The commit fails when that has moved since, and the act is judged anew.
    fn push_change(&self, tx: &mut Tx<'_>, change: &Register, judged: &Judged) -> Result<(), Error> {
        let action_request_id = judged.request.action_request_id;
        let now = tx.now();
        self.in_store(tx, |w| {
            match change {
                Register::Server { registration, .. } => {
                    let at = w.object(registration, NewArtifact::audit(ArtifactKind::ToolManifest))?;
                    w.push(ToolServerRegistered {
                        server: registration.server.clone(),
                        registration: at,
                        action_request_id,
                        registered_at: now,
                    });
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
                Register::Rules { rules, .. } => {
                    let rules =
                        w.artifact(rules.as_bytes(), NewArtifact::audit(ArtifactKind::PolicyRules))?;
                    w.push(PolicyRulesChanged { rules, action_request_id, changed_at: now });
                }
            }
            Ok(())
        })
    }

    /// Writes into the store's own stream with the commit of a task.
    fn in_store(
        &self,
        tx: &mut Tx<'_>,
        write: impl FnOnce(&mut crate::writeup::Writeup<'_>) -> Result<(), Error>,
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

    /// A server told something else of its tools than when it was registered: those that differ are not called any more.
    pub(crate) fn note_changed(&self, tx: &mut Tx<'_>, action: &Action, told: &[u8]) -> Result<(), Error> {
        let Action::Call(call) = action else { return Ok(()) };
        let now: ServerRegistration = seal::canon::from_canonical(told)?;
        let Some(record) = self.tool_registry().0.remove(&call.server) else { return Ok(()) };
        let latest = self.registered(&record)?;
        let differ = latest.manifest.differs_from(&now.manifest);
        let known: Vec<String> = record.changed.iter().cloned().collect();
        if differ.is_empty() || differ == known {
            return Ok(());
        }
        let mut new = NewArtifact::audit(ArtifactKind::ToolManifest);
        new.trust_tier = TrustTier::Untrusted;
        self.in_store(tx, |w| {
            let manifest = w.artifact(told, new)?;
            w.push(ToolServerChanged { server: call.server.clone(), manifest, tools: differ });
            Ok(())
        })
    }

    /// What a tool answered, as far as a line of it is shown; the whole is the result of the act.
    pub(crate) fn answer_words(&self, tx: &Tx<'_>) -> Result<String, Error> {
        let Stage::Observed { result, .. } = &self.act(tx)?.stage else {
            return Ok("It answered.".to_owned());
        };
        let bytes = match tx.kept(&result.sha256) {
            Some(bytes) => bytes.to_vec(),
            None => self.artifacts.read(&result.sha256)?,
        };
        let told: Value = serde_json::from_slice(&bytes)
            .map_err(|e| Error::Broken(format!("what a tool answered is malformed: {e}")))?;
        let blocks = told.pointer("/answer/content").and_then(Value::as_array).cloned().unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
        let shown: String = texts.join("\n").chars().take(ANSWER_SHOWN).collect();
        Ok(format!("It answered: {shown}"))
    }

    /// How a change of the registry ended, in words.
    pub(crate) fn changed_words(change: &Register) -> String {
        match change {
            Register::Server { registration, .. } => format!(
                "The server {} is registered. You are asked before each call of a tool that you have not classified.",
                registration.server
            ),
            Register::Tool { server, words, terms, .. } => {
                format!("{} of the server {server} is classified as {}.", words.name, terms.class)
            }
            Register::Rules { .. } => {
                "Your rules of policy are changed. They hold for every task, from its next action on."
                    .to_owned()
            }
        }
    }
}
