//! The server: who calls, which tools there are, and each call on its way through Hermit.

use crate::aside::aside;
use crate::known::{Client, Known, Seen, is_over, received};
use crate::line::{Line, Ticket};
use crate::listed::is_of_a_server;
use crate::person::no_such_tool;
use crate::reading::{self, Own};
use crate::resources::ZIP;
use crate::rounds::{self, Caller};
use crate::told::{self, proof_uri, receipt_uri, waits};
use crate::{Hermit, Options};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelledNotificationParam, ContentBlock,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wire::agent::{Called, Opened};
use words::task::CallStatus;

/// How long a call is waited for before it is answered that it waits.
const WAIT_MS: u64 = 1_500;
/// How often a call that waits is looked at, where its client takes progress.
const LOOK: Duration = Duration::from_millis(500);
/// Calls of one connection that wait in line at once: as many as a task's looks at once.
const IN_LINE_MAX: usize = 10;
/// How often the first in line looks whether it is taken.
const TURN: Duration = Duration::from_millis(20);
/// How long a look waits in line; anything else waits as long as for a person.
const LOOK_WAITS: Duration = Duration::from_secs(5);
/// The member of a request's `_meta` in which a client names a call.
const KEY: &str = "hermit/key";
/// Tools that only look.
const LOOKS: [&str; 4] = ["list", "read", "search", "hash"];

/// One connection.
#[derive(Clone)]
pub struct Server {
    pub(crate) hermit: Arc<dyn Hermit>,
    pub(crate) options: Arc<Options>,
    known: Arc<Mutex<Known>>,
    /// Held while the task of this connection is looked for, so that calls at once open one.
    opening: Arc<Mutex<()>>,
    line: Arc<Line>,
    /// Whether what is answered is read: over standard streams nobody could say otherwise.
    is_heard: bool,
}

impl Server {
    pub fn new(hermit: Arc<dyn Hermit>, options: Options) -> Self {
        let (known, opening) = (Arc::default(), Arc::default());
        Self { hermit, options: Arc::new(options), known, opening, line: Arc::default(), is_heard: true }
    }

    /// One whose answers go to nobody by themselves: whoever carries them hands them over.
    pub(crate) fn carried(hermit: Arc<dyn Hermit>, options: Options) -> Self {
        Self { is_heard: false, ..Self::new(hermit, options) }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known_of(&self, client: &Client) -> MutexGuard<'_, Known> {
        let mut known = self.known();
        if known.client.as_ref() != Some(client) {
            let tools = known.tools.take();
            *known = Known { client: Some(client.clone()), tools, ..Known::default() };
        }
        known
    }

    /// Hands an answer to whoever asked. What came of its call counts as received if they still listen, and before they can
    /// make the next one: made again by whoever did not hear of it, it is still that call.
    pub(crate) fn hand_over(&self, answer: Value, request: Value, to: oneshot::Sender<Value>) {
        let key = received(&answer).map(str::to_owned);
        let mut known = self.known();
        if let (Ok(()), Some(key)) = (to.send(answer), key) {
            known.receives(Seen { key, request });
        }
    }

    /// A client that gives a request up reads no answer to it, also not one that was on its way.
    pub(crate) fn is_given_up(&self, request: &Value) {
        self.known().seen.retain(|seen| seen.request != *request);
    }

    pub(crate) fn ask<T: serde::de::DeserializeOwned>(&self, name: &str, params: Value) -> Result<T, String> {
        let answer = self.hermit.ask(name, params).map_err(|e| told::error(&e))?;
        serde_json::from_value(answer).map_err(|e| format!("an answer of Hermit cannot be read: {e}"))
    }

    /// The task of this connection, opened or found again; `anew` when the one before has ended.
    pub(crate) fn task(&self, client: &Client, anew: bool) -> Result<String, String> {
        let of_client = || self.known_of(client).task.clone();
        let before = of_client();
        let opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Another call may have opened it, or the next one, meanwhile.
        if let Some(task) = of_client().filter(|task| !anew || before.as_ref() != Some(task)) {
            return Ok(task);
        }
        let mut params = json!({
            "client": client.name, "version": client.version, "workspace": self.options.workspace,
        });
        if let (Some(profile), Some(members)) = (&self.options.profile, params.as_object_mut()) {
            members.insert("profile".to_owned(), json!(profile));
        }
        let opened: Opened = self.ask("agent.open", params)?;
        self.known_of(client).task = Some(opened.task_id.clone());
        drop(opening);
        Ok(opened.task_id)
    }

    /// One call of a tool that acts, as far as it comes in a moment.
    fn act(&self, client: &Client, call: &Asked) -> Result<Called, String> {
        let seen: Vec<String> = self.known_of(client).seen.iter().map(|seen| seen.key.clone()).collect();
        let called = |task: String| -> Result<Called, String> {
            self.ask(
                "agent.call",
                json!({
                    "task": task, "key": call.key, "tool": call.tool, "arguments": call.arguments, "seen": seen,
                    "wait_ms": WAIT_MS,
                }),
            )
        };
        let mut answer = called(self.task(client, false)?)?;
        // A session that a person has ended, or that its agent has said to be done, is followed by the next.
        if answer.status == CallStatus::Ended && call.key.is_none() {
            answer = called(self.task(client, true)?)?;
        }
        self.known_of(client).seen.retain(|one| !seen.contains(&one.key));
        Ok(answer)
    }

    /// What is looked at of this client's own: its session's task, and those that it began.
    pub(crate) fn own<T>(
        &self,
        client: &Client,
        look: impl FnOnce(&Own<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let task = self.task(client, false)?;
        let begun = self.known_of(client).begun.clone();
        look(&Own { hermit: &*self.hermit, options: &self.options, task: &task, begun: &begun })
    }

    pub(crate) fn read(
        &self,
        client: &Client,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Value, String> {
        let read = self.own(client, |own| own.run(name, arguments))?;
        self.known_of(client).begun.extend(read.begun);
        Ok(read.told)
    }
}

/// A call as its client made it.
#[derive(Debug, Clone)]
struct Asked {
    key: Option<String>,
    tool: String,
    arguments: Value,
}

fn internal(words: String) -> ErrorData {
    ErrorData::internal_error(words, None)
}

fn tool(name: &str, about: &str, schema: &Value, looks: bool) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(name.to_owned(), about.to_owned(), schema);
    tool.annotations = Some(ToolAnnotations::new().read_only(looks));
    tool
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let folder = match self.options.is_named {
            true => format!("Paths are relative to {}.", self.options.workspace),
            false => format!(
                "Paths are relative to {}, where this server was started; roots that you name do not change that.",
                self.options.workspace
            ),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hermit", self.options.version.clone()))
            .with_instructions(format!(
                "Through Hermit you work in a person's folder, and they see and allow what you change. {folder} When a call \
                 answers that it awaits approval, tell the person, and make the same call again, word for word, to go on: \
                 nothing is done twice. Every change leaves a receipt. Nothing here approves for the person."
            ))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(ProtocolVersion::known_up_to(&ProtocolVersion::V_2026_07_28).to_vec())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let server = self.clone();
        let acts = aside(move || server.tools_now()).await.map_err(internal)?;
        let acts = acts.iter().map(|spec| {
            tool(&spec.name, &spec.description, &spec.parameters, LOOKS.contains(&spec.name.as_str()))
        });
        let reads = reading::ALL.iter().map(|one| {
            tool(one.name, one.about, &(one.schema)(), !matches!(one.name, "hermit_begin" | "hermit_proof"))
        });
        Ok(ListToolsResult::with_all_items(acts.chain(reads).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (name, arguments) = (request.name.to_string(), request.arguments.unwrap_or_default());
        let client = Client::of(&context);
        if reading::ALL.iter().any(|one| one.name == name) {
            let server = self.clone();
            let read = aside(move || server.read(&client, &name, &arguments)).await;
            return Ok(read.map_or_else(told::failed, |told| read_result(&told)).into());
        }
        let ticket = self.line.ticket();
        let server = self.clone();
        let wanted = name.clone();
        let tools = match aside(move || server.tools_with(&wanted)).await {
            Ok(tools) => tools,
            Err(words) => return Ok(told::failed(words).into()),
        };
        if !tools.iter().any(|spec| spec.name == name) && !is_of_a_server(&name) {
            let known = tools.iter().map(|spec| spec.name.clone());
            let known: Vec<String> =
                known.chain(reading::ALL.iter().map(|one| one.name.to_owned())).collect();
            return Ok(told::failed(no_such_tool(&name, &known)).into());
        }
        let going = match request.request_state {
            Some(state) => {
                let (server, who) = (self.clone(), client.clone());
                let task = aside(move || server.task(&who, false)).await.map_err(internal)?;
                Some(rounds::open(&state, &self.caller(&task, &client, &name))?)
            }
            None => None,
        };
        let round = going.as_ref().map_or(0, |going| going.round);
        let goes_on = going.is_some();
        let own = || context.meta.get(KEY).and_then(Value::as_str).map(str::to_owned);
        let key = going.map(|going| going.key).or_else(own);
        if let (true, Some(key)) = (goes_on && rounds::is_given_up(request.input_responses.as_ref()), &key) {
            return Ok(self.give_up(client, key.clone()).await.unwrap_or_else(told::failed).into());
        }
        // What goes on stands in no line.
        let ticket = Some(ticket).filter(|_| !goes_on);
        let call = Asked { key, tool: name.clone(), arguments: Value::Object(arguments) };
        let called = match self.carry(client.clone(), call, ticket, &context).await {
            Ok(called) => called,
            Err(words) => return Ok(told::failed(words).into()),
        };
        let is_new = context.protocol_version().is_some_and(|of| of >= ProtocolVersion::V_2026_07_28);
        let answer = match is_new {
            true => {
                let can = context.client_capabilities();
                let task = self.known_of(&client).task.clone().unwrap_or_default();
                rounds::answer(&called, round, &self.caller(&task, &client, &name), can.as_ref())
            }
            false => told::result(&called).into(),
        };
        let answer = self.with_receipt(client.clone(), called.receipt_id.clone(), answer).await;
        // The answer to a call that its client has given up goes to nobody: made again, it is still that call.
        if self.is_heard && is_over(called.status) && !context.ct.is_cancelled() {
            let request = serde_json::to_value(&context.id).unwrap_or_default();
            self.known_of(&client).receives(Seen { key: called.key, request });
        }
        Ok(answer)
    }

    async fn on_cancelled(
        &self,
        given_up: CancelledNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        if self.is_heard {
            self.is_given_up(&serde_json::to_value(given_up.request_id).unwrap_or_default());
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (server, client) = (self.clone(), Client::of(&context));
        let receipts = aside(move || server.receipts(&client)).await.map_err(internal)?;
        Ok(ListResourcesResult::with_all_items(receipts))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let receipt = ResourceTemplate::new(receipt_uri("{id}"), "receipt")
            .with_description("What was done by one act of this session, as JSON and in words")
            .with_mime_type("application/json");
        let proof = ResourceTemplate::new(proof_uri("{id}"), "proof")
            .with_description("The proof of one act of this session, as a zip that anybody can check")
            .with_mime_type(ZIP);
        Ok(ListResourceTemplatesResult::with_all_items(vec![receipt, proof]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (server, client) = (self.clone(), Client::of(&context));
        let read = aside(move || match request.uri.strip_prefix(&proof_uri("")) {
            Some(id) => server.proof(&client, id, &request.uri),
            None => server.receipt(&client, &request.uri),
        })
        .await;
        let contents = read.map_err(|words| ErrorData::resource_not_found(words, None))?;
        Ok(ReadResourceResult::new(contents).into())
    }
}

impl Server {
    /// A call to its end, or as far as its client waits: one that takes progress is told of it until a person has
    /// answered; any other is told that it waits.
    async fn carry(
        &self,
        client: Client,
        mut call: Asked,
        mut ticket: Option<Ticket>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Called, String> {
        let token = context.meta.get_progress_token();
        let mut looks = 0.0;
        loop {
            let called = self.in_turn(&client, &call, ticket.take(), context).await?;
            // What is behind another one was never taken: there is nothing of it to stop.
            if called.status == CallStatus::Behind {
                return Ok(called);
            }
            if context.ct.is_cancelled() {
                return self.stopped(client, called.key).await;
            }
            let Some(token) = token.clone().filter(|_| waits(called.status)) else { return Ok(called) };
            looks += 1.0;
            let words = called.text.first().cloned().unwrap_or_default();
            let progress = ProgressNotificationParam::new(token, looks).with_message(words);
            // A client that is gone hears neither progress nor answer; the call goes on without it.
            if context.peer.notify_progress(progress).await.is_err() {
                return Ok(called);
            }
            call.key = Some(called.key.clone());
            tokio::select! {
                () = context.ct.cancelled() => return self.stopped(client, called.key).await,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}

impl Server {
    /// A call that comes while others are at work waits in line for a while: calls that a client makes at once are done one
    /// after the other, who came first before who came later, and each is answered. One that goes on with what was taken
    /// has no ticket and waits for nobody.
    #[allow(clippy::disallowed_methods, reason = "how long a client waits is no time of the log")]
    async fn in_turn(
        &self,
        client: &Client,
        call: &Asked,
        ticket: Option<Ticket>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Called, String> {
        let begun = Instant::now();
        let looks = LOOKS.contains(&call.tool.as_str());
        let patience = if looks { LOOK_WAITS } else { Duration::from_millis(WAIT_MS) };
        let waits = ticket.as_ref().is_some_and(|ticket| ticket.before() < IN_LINE_MAX);
        if let Some(ticket) = ticket.as_ref().filter(|_| waits) {
            tokio::select! {
                () = context.ct.cancelled() => return Err("the call was given up while it stood in line".to_owned()),
                () = ticket.turn() => {}
                () = tokio::time::sleep(patience) => {}
            }
        }
        loop {
            let (server, who, asked) = (self.clone(), client.clone(), call.clone());
            let called = aside(move || server.act(&who, &asked)).await?;
            if called.status != CallStatus::Behind || begun.elapsed() >= patience || !waits {
                return Ok(called);
            }
            tokio::select! {
                () = context.ct.cancelled() => return Ok(called),
                () = tokio::time::sleep(TURN) => {}
            }
        }
    }

    /// The client waits no longer for a call: what of it is at work is stopped.
    async fn stopped(&self, client: Client, key: String) -> Result<Called, String> {
        let server = self.clone();
        aside(move || {
            let params = json!({ "task": server.task(&client, false)?, "key": key });
            server.ask::<Called>("agent.stop", params)
        })
        .await
    }

    async fn give_up(&self, client: Client, key: String) -> Result<CallToolResult, String> {
        Ok(told::result(&self.stopped(client, key).await?))
    }

    /// An answer that is whole, with the receipt of what was done and where its proof is.
    async fn with_receipt(
        &self,
        client: Client,
        receipt: Option<String>,
        mut answer: CallToolResponse,
    ) -> CallToolResponse {
        if let (CallToolResponse::Complete(result), Some(id)) = (&mut answer, receipt) {
            let (server, proof) = (self.clone(), proof_uri(&id));
            let shown = aside(move || server.own(&client, |own| own.receipt(&id)));
            // The receipt stands in the store; an answer without a copy of it still names it.
            if let Ok(receipt) = shown.await {
                let meta = json!({ "hermit/receipt": receipt, "hermit/proof": proof });
                result.meta = serde_json::from_value(meta).ok();
            }
        }
        answer
    }

    fn caller<'c>(&'c self, task: &'c str, client: &'c Client, tool: &'c str) -> Caller<'c> {
        Caller {
            task,
            client: &client.name,
            version: &client.version,
            workspace: &self.options.workspace,
            profile: self.options.profile.as_deref(),
            tool,
        }
    }
}

/// What a reading tool tells.
fn read_result(told: &Value) -> CallToolResult {
    let written = serde_json::to_string_pretty(told).unwrap_or_default();
    let mut result = CallToolResult::success(vec![ContentBlock::text(written)]);
    result.structured_content = Some(told.clone());
    result
}
