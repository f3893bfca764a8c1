//! One conversation with one server, from its first word to the answer of its last call.

use crate::asked::{Ears, Inbox, Open, ToModel, begin};
use crate::metered::{Allowance, Metered};
use crate::sampled;
use crate::schema::Schemas;
use crate::server_pipes;
use effects::{
    Ended, Heard, Offers, Over, Pipes, Progress, Sampled, ToolCall, ToolReply, ToolSession, Unspoken,
};
use model::limits::{CALL_REPLY_BYTES_MAX, SERVER_PROMPTS_MAX, SERVER_RESOURCES_MAX, SERVER_TOOLS_MAX};
use model::server_part::{PromptArgument, ServerPart, ServerPrompt, ServerResource};
use model::tool_server::{ServerTool, ToolHints, ToolManifest};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, GetPromptRequestParams,
    GetPromptResult, Implementation, PaginatedRequestParams, Prompt, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use rmcp::service::{
    ClientCacheConfig, ClientLifecycleMode, RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, interval, timeout_at};

/// How often it is asked whether to stop, while a server is waited for.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server has to hear that its call is given up.
const FAREWELL: Duration = Duration::from_millis(250);
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
    schemas: Schemas,
}

impl Conversation {
    pub(crate) fn open(
        pipes: Pipes,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("it cannot be spoken to: {e}");
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let allowance = Arc::new(Allowance::default());
        allowance.renew(CALL_REPLY_BYTES_MAX);
        let metered = Arc::clone(&allowance);
        let greeted = runtime.block_on(async move {
            let stdin = server_pipes::writer(pipes.stdin).map_err(failed)?;
            let stdout = server_pipes::reader(pipes.stdout).map_err(failed)?;
            let transport = AsyncRwTransport::new(Metered::new(stdout, metered), stdin)
                .with_max_line_length(CALL_REPLY_BYTES_MAX);
            until(Instant::now() + within, ended, greet(transport, offers, pipes.folder)).await?
        });
        match greeted {
            Ok((server, inbox)) => {
                let schemas = Schemas::default();
                Ok(Self { runtime: Some(runtime), server, inbox, allowance, schemas })
            }
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
        self.inbox.changed.store(false, Ordering::SeqCst);
        let listed = runtime.block_on(until(Instant::now() + within, ended, list(self.server.peer())));
        let offers = listed.and_then(|it| it).map_err(|why| told(&self.allowance, why))?;
        self.schemas.sift(offers.checked()?)
    }

    fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        ended: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let over = || Unspoken::NotCalled("the conversation is over".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(over)?;
        let within = call.within;
        let wanted = wanted(call).map_err(Unspoken::NotCalled)?;
        self.allowance.renew(CALL_REPLY_BYTES_MAX);
        self.inbox.refused.store(0, Ordering::SeqCst);
        let wait = answer_to(&self.server, wanted);
        let answer = runtime.block_on(at_work(within, (heard, ended), &mut self.inbox, wait));
        if answer.is_ok() {
            runtime.block_on(async {
                for _ in 0..TURNS {
                    tokio::task::yield_now().await;
                }
            });
        } else {
            // Whoever gives up a call says so; the server may end what it began before it is ended itself.
            runtime.block_on(async { tokio::time::sleep(FAREWELL).await });
        }
        match answer.map_err(|why| Unspoken::Lost(told(&self.allowance, why)))? {
            Ok(reply) => Ok(Ok(reply)),
            // An answer of the protocol: the server took the call and says no.
            Err(ServiceError::McpError(error)) => {
                Ok(Err(format!("{} (code {})", error.message, error.code.0)))
            }
            Err(error) => Err(Unspoken::Lost(told(&self.allowance, in_words(&error)))),
        }
    }

    fn has_changed(&self) -> bool {
        self.inbox.changed.load(Ordering::SeqCst)
    }
}

/// How often what else came with an answer is given its turn: each message is heard by a task of its own.
const TURNS: usize = 16;

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
            Some(asked) = inbox.to_model.recv() => {
                let since = Instant::now();
                match ask_model(asked, heard, ended) {
                    // What a model takes is not the tool's; what is refused is.
                    Sampled::Answered { .. } | Sampled::NoAnswer => last += since.elapsed(),
                    Sampled::Refused(_) => {}
                    Sampled::Stop(why) => return Err(why),
                }
            }
            Some(question) = inbox.questions.recv(), if open.is_none() => {
                open = begin(question, asked);
                asked += 1;
            }
            _ = look.tick() => {
                let passed = last.elapsed();
                last = Instant::now();
                if let Some(why) = ended().or_else(|| inbox.refused_too_often()) {
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

/// Has a model asked what a server wants to know, within the walls of the server; what came of it.
fn ask_model(asked: ToModel, heard: Heard<'_>, ended: Ended<'_>) -> Sampled {
    let ToModel { params, answer } = asked;
    let question = sampled::question(&params);
    let ended = RefCell::new(ended);
    let over = || (ended.borrow_mut())();
    heard(Progress::Samples(&question, Over::new(&over)));
    let _ = answer.send(sampled::answer(&question));
    question.came()
}

/// What is offered to a server wherever it is, as it is told. One at an address sees no folder.
pub(crate) fn capabilities(offers: Offers) -> Value {
    let mut all = json!({ "elicitation": { "form": {}, "url": {} } });
    if let Some(all) = all.as_object_mut().filter(|_| offers.sampling) {
        all.insert("sampling".to_owned(), json!({}));
    }
    all
}

/// The beginning, on the newer wire where the server knows it, else on the older one. A person can be asked by the
/// server, a model where that is offered, and which folder it works in.
async fn greet(
    transport: AsyncRwTransport<RoleClient, Metered<server_pipes::Reader>, server_pipes::Writer>,
    offers: Offers,
    folder: Option<PathBuf>,
) -> Result<(Server, Inbox), String> {
    let info = Implementation::new("hermit", env!("CARGO_PKG_VERSION"));
    let mut offered = capabilities(offers);
    if let Some(offered) = offered.as_object_mut().filter(|_| folder.is_some()) {
        offered.insert("roots".to_owned(), json!({}));
    }
    let offered: ClientCapabilities = serde_json::from_value(offered).map_err(|e| e.to_string())?;
    let (ears, inbox) = Ears::new(ClientConfig::new(offered, info), offers, folder);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let greeted = serve_client_with_lifecycle(ears, transport, lifecycle).await;
    let server = greeted.map_err(|e| format!("it does not speak the Model Context Protocol: {e}"))?;
    // For how long a list holds is the server's word: whoever trusts it sees no change before that time is over.
    server.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
    Ok((server, inbox))
}

/// All that it offers, page by page; what it does not say that it has is not asked for. Its tools are told whole or not at
/// all; of anything else, what it does tell is enough.
async fn list(server: &Peer<RoleClient>) -> Result<ToolManifest, String> {
    let has = server.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default();
    let page = |cursor| Some(PaginatedRequestParams::default().with_cursor(cursor));
    let mut offers = ToolManifest::default();
    if has.tools.is_some() || (has.resources.is_none() && has.prompts.is_none()) {
        let tools = |cursor| async move {
            let told = server.list_tools(page(cursor)).await?;
            Ok((told.tools, told.next_cursor))
        };
        let told = whole(pages("tools", SERVER_TOOLS_MAX, tools).await?)?;
        offers.tools = told.into_iter().map(tool_of).collect();
    }
    if has.resources.is_some() {
        let resources = |cursor| async move {
            let told = server.list_resources(page(cursor)).await?;
            Ok((told.resources, told.next_cursor))
        };
        let (told, _) = pages("resources", SERVER_RESOURCES_MAX, resources).await?;
        offers.resources = told.into_iter().map(resource_of).collect();
        let templates = |cursor| async move {
            let told = server.list_resource_templates(page(cursor)).await?;
            Ok((told.resource_templates, told.next_cursor))
        };
        let (told, _) = pages("templates", SERVER_RESOURCES_MAX, templates).await?;
        offers.templates = told.into_iter().map(template_of).collect();
    }
    if has.prompts.is_some() {
        let prompts = |cursor| async move {
            let told = server.list_prompts(page(cursor)).await?;
            Ok((told.prompts, told.next_cursor))
        };
        let (told, _) = pages("prompts", SERVER_PROMPTS_MAX, prompts).await?;
        offers.prompts = told.into_iter().map(prompt_of).collect();
    }
    Ok(offers)
}

/// What is told of a list, and why that is not all of it, where it is not: the server refuses it, or it is too long.
pub(crate) type Listed<T> = (Vec<T>, Option<String>);

/// A list of which all has to be told.
pub(crate) fn whole<T>((all, why): Listed<T>) -> Result<Vec<T>, String> {
    why.map_or(Ok(all), Err)
}

/// One list, page by page, until it ends or there is more than is kept.
async fn pages<T, F>(what: &str, most: usize, ask: impl Fn(Option<String>) -> F) -> Result<Listed<T>, String>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let (page, next) = match ask(cursor).await {
            Ok(page) => page,
            Err(ServiceError::McpError(error)) => {
                return Ok((Vec::new(), Some(format!("it does not list its {what}: {}", error.message))));
            }
            Err(other) => return Err(format!("it does not list its {what}: {}", in_words(&other))),
        };
        all.extend(page);
        if all.len() > most {
            return Ok((all, Some(format!("it offers more than {most} {what}"))));
        }
        cursor = next;
        if cursor.is_none() {
            return Ok((all, None));
        }
    }
    Ok((all, Some(format!("the list of its {what} has more than {PAGES_MAX} pages"))))
}

pub(crate) fn resource_of(told: Resource) -> ServerResource {
    let (title, description, media_type) = (told.title, told.description, told.mime_type);
    ServerResource { uri: told.uri, name: told.name, title, description, media_type }
}

pub(crate) fn template_of(told: ResourceTemplate) -> ServerResource {
    let (title, description, media_type) = (told.title, told.description, told.mime_type);
    ServerResource { uri: told.uri_template, name: told.name, title, description, media_type }
}

pub(crate) fn prompt_of(told: Prompt) -> ServerPrompt {
    let arguments = told.arguments.unwrap_or_default().into_iter().map(|one| PromptArgument {
        name: one.name,
        description: one.description,
        required: one.required.unwrap_or_default(),
    });
    let arguments = arguments.collect();
    ServerPrompt { name: told.name, title: told.title, description: told.description, arguments }
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

/// What a call asks a server for.
enum Wanted {
    Tool(CallToolRequestParams),
    Resource(ReadResourceRequestParams),
    Prompt(GetPromptRequestParams),
}

fn wanted(call: ToolCall) -> Result<Wanted, String> {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments)
        .map_err(|e| format!("the arguments are not one JSON object: {e}"))?;
    Ok(match call.part {
        None => Wanted::Tool(CallToolRequestParams::new(call.name).with_arguments(arguments)),
        Some(ServerPart::Resource) => Wanted::Resource(ReadResourceRequestParams::new(call.name)),
        Some(ServerPart::Prompt) => {
            Wanted::Prompt(GetPromptRequestParams::new(call.name).with_arguments(arguments))
        }
    })
}

/// On the newer wire a server that wants to know something first answers so, and is asked again with what it wanted.
async fn answer_to(server: &Server, wanted: Wanted) -> Result<ToolReply, ServiceError> {
    match wanted {
        Wanted::Tool(params) => server.call_tool(params).await.map(reply_of),
        Wanted::Resource(params) => server.read_resource(params).await.map(|read| reply_of_resource(&read)),
        Wanted::Prompt(params) => server.get_prompt(params).await.map(|got| reply_of_prompt(&got)),
    }
}

/// A resource that was read, as the blocks of an answer.
pub(crate) fn reply_of_resource(read: &ReadResourceResult) -> ToolReply {
    let contents = serde_json::to_value(&read.contents).unwrap_or(Value::Null);
    let block = |resource: &Value| json!({ "type": "resource", "resource": resource });
    let blocks: Vec<Value> = contents.as_array().into_iter().flatten().map(block).collect();
    ToolReply { is_error: false, result: json!({ "content": blocks }) }
}

/// The messages of a prompt, as the blocks of an answer: what the assistant is to have said is marked.
pub(crate) fn reply_of_prompt(got: &GetPromptResult) -> ToolReply {
    let messages = serde_json::to_value(&got.messages).unwrap_or(Value::Null);
    let block = |message: &Value| {
        let mut block = message.get("content").cloned().unwrap_or_default();
        let is_assistant = message.get("role").and_then(Value::as_str) == Some("assistant");
        if let Some(text) = block.get("text").and_then(Value::as_str).filter(|_| is_assistant) {
            block = json!({ "type": "text", "text": format!("assistant: {text}") });
        }
        block
    };
    let blocks: Vec<Value> = messages.as_array().into_iter().flatten().map(block).collect();
    ToolReply { is_error: false, result: json!({ "content": blocks }) }
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
