//! One conversation with one server, from its first word to the answer of its last call.

use crate::asked::{Ears, Inbox, Open, begin};
use crate::metered::{Allowance, Metered};
use effects::{Ended, Heard, Pipes, Progress, ToolCall, ToolReply, ToolSession, Unspoken};
use model::limits::{CALL_REPLY_BYTES_MAX, SERVER_TOOLS_MAX, TOOL_CALL_MS};
use model::tool_server::{ServerTool, ToolHints, ToolManifest};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitationCapability,
    FormElicitationCapability, Implementation, PaginatedRequestParams, ProtocolVersion, Tool,
    UrlElicitationCapability,
};
use rmcp::service::{ClientLifecycleMode, RunningService, ServiceError, serve_client_with_lifecycle};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use std::future::Future;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, interval, timeout_at};

/// How often it is asked whether to stop, while a server is waited for.
const LOOK: Duration = Duration::from_millis(20);
/// Pages of one list of tools.
pub(crate) const PAGES_MAX: usize = 64;

type Server = RunningService<RoleClient, Ears>;

/// A server that was greeted. Between two calls nobody listens to it: what it says then waits in its pipe.
pub(crate) struct Conversation {
    /// None once it is over.
    runtime: Option<Runtime>,
    server: Server,
    inbox: Inbox,
    allowance: Arc<Allowance>,
}

impl Conversation {
    pub(crate) fn open(pipes: Pipes, within: Duration, ended: Ended<'_>) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("it cannot be spoken to: {e}");
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let allowance = Arc::new(Allowance::default());
        allowance.renew(CALL_REPLY_BYTES_MAX);
        let metered = Arc::clone(&allowance);
        let greeted = runtime.block_on(async move {
            let stdin = pipe::Sender::from_owned_fd(OwnedFd::from(pipes.stdin)).map_err(failed)?;
            let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(pipes.stdout)).map_err(failed)?;
            let transport = AsyncRwTransport::new(Metered::new(stdout, metered), stdin)
                .with_max_line_length(CALL_REPLY_BYTES_MAX);
            until(Instant::now() + within, ended, greet(transport)).await?
        });
        match greeted {
            Ok((server, inbox)) => Ok(Self { runtime: Some(runtime), server, inbox, allowance }),
            Err(why) => {
                // Whatever still waits for the server waits no longer.
                runtime.shutdown_background();
                Err(told(&allowance, why))
            }
        }
    }
}

impl ToolSession for Conversation {
    fn manifest(&mut self, within: Duration, ended: Ended<'_>) -> Result<ToolManifest, String> {
        let runtime = self.runtime.as_ref().ok_or("the conversation is over")?;
        self.allowance.renew(CALL_REPLY_BYTES_MAX);
        let listed = runtime.block_on(until(Instant::now() + within, ended, list(self.server.peer())));
        let tools = listed.and_then(|it| it).map_err(|why| told(&self.allowance, why))?;
        ToolManifest::of(tools).map_err(|e| e.to_string())
    }

    fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        ended: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let over = || Unspoken::NotCalled("the conversation is over".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(over)?;
        let params = params(call).map_err(Unspoken::NotCalled)?;
        self.allowance.renew(CALL_REPLY_BYTES_MAX);
        let within = Duration::from_millis(TOOL_CALL_MS);
        let wait = self.server.peer().call_tool(params);
        let answer = runtime.block_on(at_work(within, (heard, ended), &mut self.inbox, wait));
        match answer.map_err(|why| Unspoken::Lost(told(&self.allowance, why)))? {
            Ok(result) => Ok(Ok(reply_of(result))),
            // An answer of the protocol: the server took the call and says no.
            Err(ServiceError::McpError(error)) => {
                Ok(Err(format!("{} (code {})", error.message, error.code.0)))
            }
            Err(error) => Err(Unspoken::Lost(told(&self.allowance, in_words(&error)))),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Whatever still waits for the server waits no longer.
            runtime.shutdown_background();
        }
    }
}

/// Why it came to nothing: too much came, or this.
fn told(allowance: &Allowance, why: String) -> String {
    match allowance.is_spent() {
        true => format!("it sent more than {CALL_REPLY_BYTES_MAX} bytes"),
        false => why,
    }
}

/// Waits for a server until a time, or until somebody wants it ended. What waits is dropped then, and the server is ended by
/// whoever started it.
async fn until<T>(by: Instant, ended: Ended<'_>, wait: impl Future<Output = T>) -> Result<T, String> {
    let mut look = interval(LOOK);
    tokio::pin!(wait);
    loop {
        tokio::select! {
            done = timeout_at(by, &mut wait) => {
                return done.map_err(|_| "it did not answer in time".to_owned());
            }
            _ = look.tick() => {
                if let Some(why) = ended() {
                    return Err(why);
                }
            }
        }
    }
}

/// Waits for the answer of a tool, and passes on what its server tells and asks meanwhile. The time that a person takes to
/// answer is not the tool's.
async fn at_work<T>(
    within: Duration,
    (heard, ended): (Heard<'_>, Ended<'_>),
    inbox: &mut Inbox,
    wait: impl Future<Output = T>,
) -> Result<T, String> {
    let mut look = interval(LOOK);
    let mut left = within;
    let mut last = Instant::now();
    let (mut open, mut asked): (Option<Open>, usize) = (None, 0);
    tokio::pin!(wait);
    loop {
        tokio::select! {
            done = &mut wait => return Ok(done),
            Some(told) = inbox.told.recv() => heard(Progress::Told(&told)),
            Some(question) = inbox.questions.recv(), if open.is_none() => {
                open = begin(question, asked);
                asked += 1;
            }
            _ = look.tick() => {
                let passed = last.elapsed();
                last = Instant::now();
                if let Some(why) = ended() {
                    return Err(why);
                }
                match open.take() {
                    Some(asking) => open = asking.look(heard),
                    None => left = left.saturating_sub(passed),
                }
                if left.is_zero() {
                    return Err("it did not answer in time".to_owned());
                }
            }
        }
    }
}

/// The beginning, on the newer wire where the server knows it, else on the older one. A person can be asked by the
/// server; no model and no folder is offered to it.
async fn greet(
    transport: AsyncRwTransport<RoleClient, Metered<pipe::Receiver>, pipe::Sender>,
) -> Result<(Server, Inbox), String> {
    let info = Implementation::new("hermit", env!("CARGO_PKG_VERSION"));
    let person = ElicitationCapability::new()
        .with_form(FormElicitationCapability::default())
        .with_url(UrlElicitationCapability::default());
    let mut offered = ClientCapabilities::default();
    offered.elicitation = Some(person);
    let (ears, inbox) = Ears::new(ClientConfig::new(offered, info));
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let greeted = serve_client_with_lifecycle(ears, transport, lifecycle).await;
    greeted
        .map(|server| (server, inbox))
        .map_err(|e| format!("it does not speak the Model Context Protocol: {e}"))
}

/// Every tool, page by page.
async fn list(server: &Peer<RoleClient>) -> Result<Vec<ServerTool>, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = server.list_tools(Some(params)).await.map_err(|e| match e {
            ServiceError::McpError(error) => format!("it does not list its tools: {}", error.message),
            other => format!("it does not list its tools: {}", in_words(&other)),
        })?;
        tools.extend(page.tools.into_iter().map(tool_of));
        if tools.len() > SERVER_TOOLS_MAX {
            return Err(format!("it offers more than {SERVER_TOOLS_MAX} tools"));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("the list of its tools has more than {PAGES_MAX} pages"))
}

pub(crate) fn tool_of(tool: Tool) -> ServerTool {
    let hints = tool.annotations.unwrap_or_default();
    let schema = |schema: &Map<String, Value>| sorted(Value::Object(schema.clone())).to_string();
    ServerTool {
        name: tool.name.into_owned(),
        title: tool.title.or(hints.title),
        description: tool.description.map(std::borrow::Cow::into_owned),
        input_schema: schema(&tool.input_schema),
        output_schema: tool.output_schema.as_deref().map(schema),
        hints: ToolHints {
            read_only: hints.read_only_hint,
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
            open_world: hints.open_world_hint,
        },
    }
}

/// The same JSON with the names of each object in order, so that the order in which a server tells them is nothing.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn params(call: ToolCall) -> Result<CallToolRequestParams, String> {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments)
        .map_err(|e| format!("the arguments are not one JSON object: {e}"))?;
    Ok(CallToolRequestParams::new(call.name).with_arguments(arguments))
}

pub(crate) fn reply_of(result: CallToolResult) -> ToolReply {
    let is_error = result.is_error.unwrap_or(false);
    let mut told = json!({ "content": serde_json::to_value(&result.content).unwrap_or(Value::Null) });
    if let (Some(structured), Some(told)) = (result.structured_content, told.as_object_mut()) {
        told.insert("structuredContent".to_owned(), structured);
    }
    ToolReply { is_error, result: told }
}

fn in_words(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            "it ended before it answered".to_owned()
        }
        ServiceError::UnexpectedResponse => {
            "it answered with something that is no result, or asked for something that it does not get"
                .to_owned()
        }
        other => other.to_string(),
    }
}
