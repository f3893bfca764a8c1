//! Servers of tools: started behind the walls of a command, spoken to over their standard streams, ended with all they
//! started; or reached by an address, over the way out that is lent. What they are asked and what they answer goes through a port, so that the protocol is another room's.
//!
//! A server sees the folder and cannot change it; what looks like a key is covered. It lives for one look at what it offers,
//! or as long as the attempt that calls it. A tool that changes files is called in a staged view, by a server of its own.

mod advice;
mod alive;
mod called;
mod complaints;
mod digests;
mod lone;
mod package;
mod process;
mod reached;
mod resource;
mod sessions;
pub(crate) mod staged;

pub(crate) use alive::hidden;
pub(crate) use called::{call, settle};
pub use digests::Digests;
pub use lone::Lone;
pub(crate) use process::hidden_from;
pub use reached::{Endpoint, dialled};
pub use sessions::ServerSessions;

use crate::system::walls::{is_place, plain};
use crate::{Error, Executors, Progress, sandbox};
use alive::Alive;
use model::AttemptId;
use model::limits::{LAUNCH_BYTES_MAX, SERVER_START_MS};
use model::reach::Program;
use model::server_part::ServerPart;
use model::tool_server::{ServerLaunch, ToolManifest};
use std::path::{Component, Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The standard streams of a server that was started.
pub struct Pipes {
    /// What it is asked by.
    pub stdin: ChildStdin,
    /// What it answers by.
    pub stdout: ChildStdout,
    /// The folder that it sees, at the path where it sees it; none where it sees none.
    pub folder: Option<PathBuf>,
}

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What of the server is asked for, where it is no tool.
    pub part: Option<ServerPart>,
    /// The tool or prompt, as its server names it, or the address of a resource.
    pub name: String,
    /// One JSON object.
    pub arguments: String,
    /// How long it may take.
    pub within: Duration,
}

/// What a server answered a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// Whether it says that the call failed.
    pub is_error: bool,
    /// What it answered, as the protocol has it: `content`, and `structuredContent` where there is one.
    pub result: serde_json::Value,
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unspoken {
    /// No tool was called.
    NotCalled(String),
    /// A tool was called, and nobody answered.
    Lost(String),
}

/// What a server is told that it may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offers {
    /// A model.
    pub sampling: bool,
}

/// Whether to stop waiting for a server, and why; asked again and again.
pub type Ended<'a> = &'a mut dyn FnMut() -> Option<String>;

/// Who hears what a server tells and asks while its tool is at work.
pub type Heard<'a> = &'a mut dyn FnMut(Progress<'_>);

/// A conversation with one server that was greeted. Dropped, it waits for nothing any more.
pub trait ToolSession: Send {
    /// What the server says it offers, told within this time.
    ///
    /// # Errors
    /// In words, when it does not say it.
    fn manifest(&mut self, within: Duration, ended: Ended<'_>) -> Result<ToolManifest, String>;

    /// Calls a tool once: its answer, or its refusal in its own words. What the server tells and asks meanwhile goes to
    /// `heard`.
    ///
    /// # Errors
    /// [`Unspoken`], which says whether the tool may have been called. The conversation is over then.
    fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        ended: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken>;

    /// Whether the server told, since it was last asked what it offers, that this is something else now.
    fn has_changed(&self) -> bool {
        false
    }
}

/// Whoever knows the protocol.
pub trait ToolServers: Send + Sync {
    /// Greets a server that was started.
    ///
    /// # Errors
    /// In words, when it does not answer within this time or speaks something else.
    fn open(
        &self,
        pipes: Pipes,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String>;

    /// Greets a server that is reached by an address.
    ///
    /// # Errors
    /// In words, when it does not answer within this time or speaks something else.
    fn reach(
        &self,
        endpoint: Arc<Endpoint>,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String>;

    /// Whether a JSON value fits a JSON Schema.
    ///
    /// # Errors
    /// Where it does not, in words.
    fn fits(&self, schema: &str, value: &str) -> Result<(), String>;
}

/// No protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoToolServers;

impl ToolServers for NoToolServers {
    fn open(&self, _: Pipes, _: Offers, _: Duration, _: Ended<'_>) -> Result<Box<dyn ToolSession>, String> {
        Err("servers of tools cannot be used here".to_owned())
    }

    fn reach(
        &self,
        _: Arc<Endpoint>,
        _: Offers,
        _: Duration,
        _: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        Err("servers of tools cannot be used here".to_owned())
    }

    fn fits(&self, _: &str, _: &str) -> Result<(), String> {
        Err("servers of tools cannot be used here".to_owned())
    }
}

impl Executors {
    /// Starts a server behind walls or asks the one at its address what it offers, and ends it: its launch with every file of
    /// its words pinned, and its manifest.
    ///
    /// # Errors
    /// In words, when it cannot be started or reached, does not say what it offers, or says the value of a secret.
    pub fn look_at_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
    ) -> Result<(ServerLaunch, ToolManifest), String> {
        let pins = self.pins(launch);
        let package = self.package(launch, &pins);
        let launch = ServerLaunch { pins, package, ..launch.clone() };
        let hidden = hidden(self, &launch)?;
        let mut alive =
            Alive::begin(self, (server, &launch), hidden, Offers::default()).map_err(|e| e.to_string())?;
        // What a server says of itself in an error is told to a person, without what must not be seen.
        let clean = |why: String| self.redactor.now().text(&why).rest.into_owned();
        let manifest = alive.manifest(self, &|| false).map_err(clean)?;
        let told = seal::canon::to_canonical(&manifest).map_err(|e| e.to_string())?;
        if !self.redactor.now().holds(&told).is_empty() {
            return Err("what it says of its tools holds the value of a secret".to_owned());
        }
        Ok((launch, manifest))
    }

    /// Whether a JSON value fits a JSON Schema.
    ///
    /// # Errors
    /// Where it does not, in words.
    pub fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        self.servers.fits(schema, value)
    }

    /// Ends every server that an attempt has called, and forgets the HOME of its guest.
    pub fn end_servers(&self, attempt: AttemptId) {
        // What stays behind is swept by the next host.
        let _ = self.spool.forget_home(attempt);
        self.sessions.end(attempt);
    }

    /// Every file that the words of a server name, as it is now.
    pub fn pins(&self, launch: &ServerLaunch) -> Vec<Program> {
        let root = self.workspace.root();
        let (plain_root, readable) = (plain(root.to_path_buf()), self.sandbox.readable());
        let file = |(at, word): (usize, &String)| {
            let path = match (at, is_place(word)) {
                (0, false) => sandbox::on_path(word),
                (_, true) => Some(root.join(word)).filter(|path| path.is_file()),
                (_, false) => None,
            }?;
            let path = plain(path.canonicalize().ok()?);
            // Only what the server itself can read: nobody learns the digest of another file by naming it.
            let reads = launch.reads.iter().map(PathBuf::from).chain(readable.iter().cloned());
            let is_seen = sandbox::is_system(&path)
                || path.starts_with(&plain_root)
                || reads.map(plain).any(|place| path.starts_with(place));
            let sha256 = is_seen.then(|| self.sessions.digests().of(&path, self.clock.now())).flatten()?;
            Some(Program { name: word.clone(), path: path.to_str()?.to_owned(), sha256 })
        };
        launch.argv.iter().enumerate().filter_map(file).collect()
    }
}

/// What a server says it offers now. It is greeted before it is asked for the first time; both is within the time of a start.
fn offered(
    kept: &mut Option<Box<dyn ToolSession>>,
    ended: Ended<'_>,
    greet: impl FnOnce(Ended<'_>) -> Result<Box<dyn ToolSession>, String>,
) -> Result<ToolManifest, String> {
    let begun = Instant::now();
    let mut session = match kept.take() {
        Some(session) => session,
        None => greet(&mut *ended)?,
    };
    let told = session.manifest(START.saturating_sub(begun.elapsed()), ended);
    *kept = Some(session);
    told
}

/// The call as it goes to the server.
fn call_of(asked: &acts::Call) -> ToolCall {
    let within = Duration::from_millis(asked.time_limit_ms());
    ToolCall { part: asked.part, name: asked.name.clone(), arguments: asked.arguments.clone(), within }
}

/// The texts of an answer, one below the other.
pub fn words_of(answer: &serde_json::Value) -> String {
    let blocks = answer.get("content").and_then(serde_json::Value::as_array);
    let texts = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text").or_else(|| block.pointer("/resource/text"))?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// What the server of a call is told that it may ask for.
const fn offers_of(asked: &acts::Call) -> Offers {
    Offers { sampling: asked.sampling.is_some() }
}

/// Handles of the secrets that a server signs in with.
fn secrets_of(launch: &ServerLaunch) -> Vec<String> {
    let mut all: Vec<String> = launch.secrets.values().cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// Whether a server can be started so at all.
pub(crate) fn check_launch(launch: &ServerLaunch) -> Result<(), Error> {
    let say = |why: String| Err(Error::Request(why));
    if launch.url.is_some() {
        return reached::address_of(launch).map(|_| ()).map_err(Error::Request);
    }
    if launch.argv.first().is_none_or(String::is_empty) || launch.argv.iter().any(|word| word.contains('\0'))
    {
        return say("a server needs a program, and words without a zero byte".to_owned());
    }
    model::launch::check_variables(&launch.variables).map_err(Error::Request)?;
    let variables = launch.variables.iter().flat_map(|(name, value)| [name, value]);
    let words = launch.argv.iter().chain(&launch.hosts).chain(&launch.reads).chain(variables);
    let bytes: usize = words.map(|word| word.len().saturating_add(1)).sum();
    if bytes > LAUNCH_BYTES_MAX {
        return say(format!(
            "the words, hosts and folders of a server are {bytes} bytes, more than {LAUNCH_BYTES_MAX}"
        ));
    }
    if launch.hosts.is_empty() && !launch.secrets.is_empty() {
        // Without a host there is nowhere that a value could go.
        return say("a server that signs in with a secret names the hosts it may reach".to_owned());
    }
    for place in &launch.reads {
        let path = Path::new(place);
        let parts = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
        if !path.is_absolute() || parts < 2 || path.components().any(|part| part == Component::ParentDir) {
            return say(format!(
                "`{place}` cannot be opened to a server: name a folder below a folder, absolute"
            ));
        }
    }
    Ok(())
}

/// How long a server may take to say what it offers.
const START: Duration = Duration::from_millis(SERVER_START_MS);
