//! Servers of tools: looked at, proposed to a person, registered by the governed path, disabled and forgotten (tools.md 2).

use super::capability::Planned;
use super::submit::Submitted;
use crate::Error;
use crate::drive::{GET_PROMPT, try_examples};
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::state::Stage;
use crate::tool_registry::{ServerRecord, ToolRegistry};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{Action, Register, Tool as _};
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::body::{ToolServerChanged, ToolServerDisabled, ToolServerPassedOn, ToolServerRemoved};
use model::fault::Point;
use model::ingress::Channel;
use model::launch::{check_variables, may_be_secret_in_words, set_in_words};
use model::limits::TOOL_SERVERS_MAX;
use model::login::{login_handle, server_of_login};
use model::sampling::SamplingTerms;
use model::tool_server::{ServerLaunch, ServerRegistration, ToolTerms, check_server_name, offered_name};
use model::web::WebUrl;
use model::{Body, Sensitive};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Letters of an answer that the end of a task shows.
const ANSWER_SHOWN: usize = 4_000;

impl Kernel {
    /// Starts a server behind walls, without a secret's value unless it names one, and makes the task that asks a person
    /// whether to register it, and whether each tool of `terms` may do what is said. Nothing is registered by this.
    ///
    /// # Errors
    /// [`Error::Input`] with what is wrong with name, launch, server or terms; [`Error::Conflict`] when the name is taken and
    /// `again` is not said.
    pub fn propose_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
        terms: BTreeMap<String, ToolTerms>,
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
        let launch = match (&was, launch.argv.is_empty() && launch.url.is_none()) {
            (Some(was), true) => was.launch.clone(),
            _ => launch.clone(),
        };
        let launch = self.signed_in(server, launch)?;
        self.check_secrets(&launch)?;
        terms.values().try_for_each(|terms| terms.check_with(&launch)).map_err(Error::Input)?;
        let workspace_id = self.workspace(root)?;
        let executors = self.executors_at(root, workspace_id)?;
        let (launch, manifest) = executors
            .look_at_server(server, &launch)
            .map_err(|why| Error::Input(format!("the server `{server}` was not registered: {why}")))?;
        let registration = ServerRegistration { server: server.to_owned(), launch, manifest };
        let was = was.map(Arc::unwrap_or_clone);
        let change = Register::Server { registration, was, terms };
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that asks a person whether a tool may do what is said, everywhere or only `here`. Nothing is said by
    /// this. Its examples are tried.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the tool, [`Error::Input`] when it cannot be said, or an example comes out otherwise.
    pub fn propose_terms(
        &self,
        (server, tool): (&str, &str),
        mut terms: ToolTerms,
        here: bool,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let record = self.server_record(server)?;
        let registration = self.registered(&record)?;
        terms.check_with(&registration.launch).map_err(Error::Input)?;
        let words = registration
            .manifest
            .tool(tool)
            .cloned()
            .ok_or_else(|| Error::NotFound { kind: "tool", id: format!("{server}.{tool}") })?;
        let workspace_id = self.workspace(root)?;
        terms.only_in = here.then_some(workspace_id);
        let executors = self.executors_at(root, workspace_id)?;
        try_examples(&terms, |arguments| executors.fits(&words.input_schema, arguments))
            .map_err(Error::Input)?;
        let was = record.terms_for(tool, words.pin()?, self.ports.clock.now(), Some(workspace_id));
        let change = Register::Tool { server: server.to_owned(), words, terms, was };
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that asks a person whether a server may ask a model so much; without terms, nothing any more. Nothing
    /// is said by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server, [`Error::Input`] when it cannot be said or is so already.
    pub fn propose_sampling(
        &self,
        server: &str,
        terms: Option<SamplingTerms>,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let was = self.server_record(server)?.sampling;
        let change = Register::Sampling { server: server.to_owned(), terms, was };
        let workspace_id = self.workspace(root)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that asks a person whether the classified tools of a server are passed on to agents of other programs.
    /// Nothing is passed on by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server, [`Error::Input`] when none is classified or it is so already.
    pub fn propose_pass_on(
        &self,
        server: &str,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let record = self.server_record(server)?;
        if record.passed_on {
            return Err(Error::Input(format!("the tools of `{server}` are passed on already")));
        }
        let workspace_id = self.workspace(root)?;
        let registration = self.registered(&record)?;
        let mut tools = BTreeMap::new();
        for tool in &registration.manifest.tools {
            let terms = record.terms_for(&tool.name, tool.pin()?, self.ports.clock.now(), Some(workspace_id));
            tools.extend(terms.map(|terms| (tool.name.clone(), terms.class)));
        }
        let change = Register::PassOn { server: server.to_owned(), tools };
        change.check().map_err(Error::Input)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// The tools of a server are passed on no longer. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server, [`Error::Input`] where they are not passed on.
    pub fn end_pass_on(&self, server: &str, by: impl Into<Sender>) -> Result<(), Error> {
        if !self.server_record(server)?.passed_on {
            return Err(Error::Input(format!("the tools of `{server}` are not passed on")));
        }
        let (server_name, set_at) = (server.to_owned(), self.ports.clock.now());
        let body = ToolServerPassedOn { server: server_name, on: false, action_request_id: None, set_at };
        self.narrow(server, by.into(), body)
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

    /// Makes the task that gets the text of a prompt: judged and recorded as a look.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server or the prompt, [`Error::Input`] when an argument is missing or not known.
    pub fn propose_prompt(
        &self,
        (server, prompt): (&str, &str),
        arguments: &BTreeMap<String, String>,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let registration = self.registered(&self.server_record(server)?)?;
        let known = registration.manifest.prompts.iter().find(|one| one.name == prompt);
        let known =
            known.ok_or_else(|| Error::NotFound { kind: "prompt", id: format!("{server}.{prompt}") })?;
        let takes = || known.arguments.iter().map(|one| one.name.as_str());
        if let Some(wrong) = arguments.keys().find(|name| !takes().any(|known| known == *name)) {
            let all: Vec<&str> = takes().collect();
            return Err(Error::Input(format!("the prompt takes no `{wrong}`; it takes: {}", all.join(", "))));
        }
        if let Some(lacks) =
            known.arguments.iter().find(|one| one.required && !arguments.contains_key(&one.name))
        {
            return Err(Error::Input(format!("the prompt needs `{0}`; write `{0}=VALUE`", lacks.name)));
        }
        let asked = json!({ "server": server, "name": prompt, "arguments": arguments });
        let goal = format!("get the prompt \"{}\" of the server \"{server}\"", acts::visible(prompt));
        let planned = Planned::Call { offered: GET_PROMPT.to_owned(), arguments: asked.to_string() };
        let workspace_id = self.workspace(root)?;
        self.submit_planned(&planned, goal, workspace_id, channel, idempotency_key)
    }

    /// A server's tools are not called any more, until it is registered again. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn disable_server(&self, server: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.server_record(server)?;
        let reason = Sensitive::from(reason.to_owned());
        self.narrow(server, by.into(), ToolServerDisabled { server: server.to_owned(), reason, tool: None })
    }

    /// What was said of a tool holds for nobody any more, until it is said again. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server, or where nothing was said of the tool.
    pub fn switch_off_terms(
        &self,
        (server, tool): (&str, &str),
        reason: &str,
        by: impl Into<Sender>,
    ) -> Result<(), Error> {
        let record = self.server_record(server)?;
        if !record.classified.contains_key(tool) {
            return Err(Error::NotFound { kind: "classification of", id: format!("{server}.{tool}") });
        }
        let (reason, tool) = (Sensitive::from(reason.to_owned()), Some(tool.to_owned()));
        self.narrow(server, by.into(), ToolServerDisabled { server: server.to_owned(), reason, tool })
    }

    /// A server is forgotten, with all that was said of its tools. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn remove_server(&self, server: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.server_record(server)?;
        self.narrow(server, by.into(), ToolServerRemoved { server: server.to_owned() })
    }

    /// On record as the act of whoever asked for it.
    fn narrow(&self, server: &str, by: Sender, body: impl Into<Body>) -> Result<(), Error> {
        let actor = self.principal_of(by)?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, format!("tools:{server}"), None)?;
        w.push(body);
        self.commit(w)?;
        Ok(())
    }

    /// Servers as they are registered now.
    pub fn tool_registry(&self) -> ToolRegistry {
        lock(&self.store).tools.clone()
    }

    pub(super) fn server_record(&self, server: &str) -> Result<ServerRecord, Error> {
        self.tool_registry()
            .0
            .remove(server)
            .ok_or_else(|| Error::NotFound { kind: "server of tools", id: server.to_owned() })
    }

    /// Launch and manifest of a server as it was registered last.
    pub(super) fn registered(&self, record: &ServerRecord) -> Result<Arc<ServerRegistration>, Error> {
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

    /// The launch with the token of the person's log-in, where they have logged in at its address and name no other way.
    fn signed_in(&self, server: &str, mut launch: ServerLaunch) -> Result<ServerLaunch, Error> {
        let is_login = |handle: &String| server_of_login(handle).is_some();
        let own = login_handle(server);
        if let Some(other) = launch.secrets.values().find(|handle| is_login(handle) && **handle != own) {
            return Err(Error::Input(format!("`secret:{other}` is the log-in of another server")));
        }
        launch.secrets.retain(|_, handle| !is_login(handle));
        let names_one = launch.secrets.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if let Some(url) = launch.url.as_deref().filter(|_| !names_one)
            && let Some(handle) = self.login_at(server, &url.parse::<WebUrl>()?.to_string())
        {
            launch.secrets.insert("Authorization".to_owned(), handle);
        }
        Ok(launch)
    }

    /// Secrets that a server signs in with are there, and may go to no host that it does not reach.
    fn check_secrets(&self, launch: &ServerLaunch) -> Result<(), Error> {
        check_variables(&launch.variables).map_err(Error::Input)?;
        check_variables(&set_in_words(&launch.argv)).map_err(Error::Input)?;
        let redactor = self.ports.redactor.now();
        // What is no secret by its name may be one by its shape, or be the value of one.
        let is_seen = |value: &String| redactor.text(value).found.is_empty();
        if let Some((name, _)) = launch.variables.iter().find(|(_, value)| !is_seen(value)) {
            return Err(Error::Input(may_be_secret_in_words(name)));
        }
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
        let Some(told) = self.result_in_hand(tx)? else { return Ok("It answered.".to_owned()) };
        let shown: String = told
            .get("answer")
            .map(effects::words_of)
            .unwrap_or_default()
            .chars()
            .take(ANSWER_SHOWN)
            .collect();
        Ok(format!("It answered: {shown}"))
    }

    /// What is kept of how the act in hand went, once it is observed.
    pub(crate) fn result_in_hand(&self, tx: &Tx<'_>) -> Result<Option<Value>, Error> {
        let Stage::Observed { result, .. } = &self.act(tx)?.stage else { return Ok(None) };
        let bytes = match tx.kept(&result.sha256) {
            Some(bytes) => bytes.to_vec(),
            None => self.artifacts.read(&result.sha256)?,
        };
        let told = serde_json::from_slice(&bytes)
            .map_err(|e| Error::Broken(format!("what came of an act is malformed: {e}")))?;
        Ok(Some(told))
    }
}
