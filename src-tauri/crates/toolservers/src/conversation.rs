//! One conversation with one server, from its first word to the answer of one call.

use crate::metered::Metered;
use effects::{Pipes, Spoken, ToolCall, ToolReply, Unspoken};
use model::limits::{CALL_REPLY_BYTES_MAX, SERVER_TOOLS_MAX, TOOL_CALL_MS};
use model::tool_server::{ServerTool, ToolHints, ToolManifest};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    PaginatedRequestParams, ProtocolVersion, Tool,
};
use rmcp::service::{ClientLifecycleMode, RunningService, ServiceError, serve_client_with_lifecycle};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use std::future::Future;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::time::{Instant, interval, timeout_at};

/// How often it is asked whether to stop, while a server is waited for.
const LOOK: Duration = Duration::from_millis(20);
/// Pages of one list of tools.
const PAGES_MAX: usize = 64;

type Server = RunningService<RoleClient, ClientConfig>;

/// Whether to stop, and why.
type Ended<'a> = &'a mut dyn FnMut() -> Option<String>;

pub(crate) async fn speak(
    pipes: Pipes,
    start: Duration,
    next: &mut dyn FnMut(&ToolManifest) -> Option<ToolCall>,
    ended: Ended<'_>,
) -> Result<Spoken, Unspoken> {
    let failed = |e: std::io::Error| Unspoken::NotCalled(format!("it cannot be spoken to: {e}"));
    let stdin = pipe::Sender::from_owned_fd(OwnedFd::from(pipes.stdin)).map_err(failed)?;
    let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(pipes.stdout)).map_err(failed)?;
    let (stdout, spent) = Metered::new(stdout, CALL_REPLY_BYTES_MAX);
    let told = |why: String| match spent.load(Ordering::SeqCst) {
        true => format!("it sent more than {CALL_REPLY_BYTES_MAX} bytes"),
        false => why,
    };
    let by = Instant::now() + start;
    let transport = AsyncRwTransport::new(stdout, stdin).with_max_line_length(CALL_REPLY_BYTES_MAX);
    let greeted = until(by, ended, greet(transport)).await;
    let server: Server = greeted.and_then(|it| it).map_err(|why| Unspoken::NotCalled(told(why)))?;
    let listed = until(by, ended, list(server.peer())).await.and_then(|it| it);
    let manifest = listed.and_then(|tools| ToolManifest::of(tools).map_err(|e| e.to_string()));
    let manifest = manifest.map_err(|why| Unspoken::NotCalled(told(why)))?;
    let Some(call) = next(&manifest) else { return Ok(Spoken { manifest, reply: None }) };
    let params = params(call).map_err(Unspoken::NotCalled)?;
    let by = Instant::now() + Duration::from_millis(TOOL_CALL_MS);
    let answer = until(by, ended, server.peer().call_tool(params)).await;
    let reply = match answer.map_err(|why| Unspoken::Lost(told(why)))? {
        Ok(result) => Ok(reply_of(result)),
        // An answer of the protocol: the server took the call and says no.
        Err(ServiceError::McpError(error)) => Err(format!("{} (code {})", error.message, error.code.0)),
        Err(error) => return Err(Unspoken::Lost(told(in_words(&error)))),
    };
    Ok(Spoken { manifest, reply: Some(reply) })
}

/// Waits for a server until a time, or until somebody wants it ended. What waits is dropped then, and the server is told
/// that nobody waits for its answer any more.
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

/// The beginning, on the newer wire where the server knows it, else on the older one. Nothing is offered to the server:
/// no model, no person, no folder.
async fn greet(
    transport: AsyncRwTransport<RoleClient, Metered<pipe::Receiver>, pipe::Sender>,
) -> Result<Server, String> {
    let info = Implementation::new("hermit", env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(ClientCapabilities::default(), info);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let greeted = serve_client_with_lifecycle(config, transport, lifecycle).await;
    greeted.map_err(|e| format!("it does not speak the Model Context Protocol: {e}"))
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

fn tool_of(tool: Tool) -> ServerTool {
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

fn reply_of(result: CallToolResult) -> ToolReply {
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
