//! Many servers with many tools, which nobody has to start.

use crate::World;
use effects::{
    Ended, Endpoint, Heard, Offers, Pipes, ToolCall, ToolReply, ToolServers, ToolSession, Unspoken,
};
use kernel::{DriveOutcome, Waiting};
use model::ingress::Channel;
use model::tool_server::{ServerLaunch, ServerTool, ToolHints, ToolManifest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Nothing listens there: nobody opens a connection.
const HOST: &str = "127.0.0.1:9";

/// A protocol that speaks to nobody: the server at `/sN` offers [`ManyTools::EACH`] tools whose words are alike, and answers
/// each call with the name of the tool. One tool of server 17 is unlike the others: `irrigate`.
pub struct ManyTools;

/// The same servers, whose tools answer with words: those at the place of their number, else as [`ManyTools`] does.
pub struct LyingTools(pub Vec<String>);

impl ManyTools {
    /// Tools of each server.
    pub const EACH: usize = 25;
}

impl ToolServers for ManyTools {
    fn open(&self, _: Pipes, _: Offers, _: Duration, _: Ended<'_>) -> Result<Box<dyn ToolSession>, String> {
        Err("it starts none".to_owned())
    }

    fn reach(
        &self,
        endpoint: Arc<Endpoint>,
        offers: Offers,
        time: Duration,
        ended: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        LyingTools(Vec::new()).reach(endpoint, offers, time, ended)
    }

    fn fits(&self, _: &str, value: &str) -> Result<(), String> {
        serde_json::from_str::<Value>(value).map(|_| ()).map_err(|e| e.to_string())
    }
}

impl ToolServers for LyingTools {
    fn open(&self, _: Pipes, _: Offers, _: Duration, _: Ended<'_>) -> Result<Box<dyn ToolSession>, String> {
        Err("it starts none".to_owned())
    }

    fn reach(
        &self,
        endpoint: Arc<Endpoint>,
        _: Offers,
        _: Duration,
        _: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        let url = endpoint.url().to_string();
        let server = url.rsplit('s').next().and_then(|n| n.parse().ok()).ok_or("no such server")?;
        Ok(Box::new(Session(server, self.0.clone())))
    }

    fn fits(&self, tool: &str, value: &str) -> Result<(), String> {
        ManyTools.fits(tool, value)
    }
}

/// A protocol by which no server is started and each is reached: whom it talks with is what this makes of what it is offered.
pub struct Reached(Box<dyn Fn(Offers) -> Box<dyn ToolSession> + Send + Sync>);

impl Reached {
    /// Every conversation is one of these.
    pub fn by<S: ToolSession + 'static>(talk: impl Fn(Offers) -> S + Send + Sync + 'static) -> Self {
        Self(Box::new(move |offers| -> Box<dyn ToolSession> { Box::new(talk(offers)) }))
    }
}

impl ToolServers for Reached {
    fn open(&self, _: Pipes, _: Offers, _: Duration, _: Ended<'_>) -> Result<Box<dyn ToolSession>, String> {
        Err("it starts none".to_owned())
    }

    fn reach(
        &self,
        _: Arc<Endpoint>,
        offers: Offers,
        _: Duration,
        _: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        Ok((self.0)(offers))
    }

    fn fits(&self, tool: &str, value: &str) -> Result<(), String> {
        ManyTools.fits(tool, value)
    }
}

/// What a server says that offers one tool, which takes any object.
///
/// # Errors
/// As [`ToolManifest::of`].
pub fn one_tool(name: &str) -> Result<ToolManifest, String> {
    ToolManifest::of(vec![ServerTool {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: None,
        hints: ToolHints::default(),
    }])
}

struct Session(usize, Vec<String>);

impl ToolSession for Session {
    fn manifest(&mut self, _: Duration, _: Ended<'_>) -> Result<ToolManifest, String> {
        ToolManifest::of((0..ManyTools::EACH).map(|n| tool(self.0, n)).collect())
    }

    fn call(
        &mut self,
        call: ToolCall,
        _: Heard<'_>,
        _: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let number: Option<usize> = call.name.rsplit('_').next().and_then(|n| n.parse().ok());
        let told = number.and_then(|n| self.1.get(n).cloned());
        let text = told.unwrap_or_else(|| format!("{} was called", call.name));
        let said = json!({ "content": [{ "type": "text", "text": text }] });
        Ok(Ok(ToolReply { is_error: false, result: said }))
    }
}

fn tool(server: usize, n: usize) -> ServerTool {
    let (name, words) = match (server, n) {
        (17, 13) => {
            ("irrigate".to_owned(), "Waters the plants of the greenhouse for some minutes.".to_owned())
        }
        _ => {
            (format!("entry_{n:02}"), format!("Looks up entry {n} of the ledger number {server}.").repeat(6))
        }
    };
    ServerTool {
        name,
        title: None,
        description: Some(words),
        input_schema: r#"{"properties":{"minutes":{"type":"integer"}},"type":"object"}"#.to_owned(),
        output_schema: None,
        hints: ToolHints::default(),
    }
}

impl World {
    /// A person registers so many servers of [`ManyTools`], which this world was given: `s00`, `s01` and so on.
    ///
    /// # Panics
    /// When one is not registered.
    #[allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on stops where it stands")]
    pub fn register_many(&self, servers: usize) {
        for n in 0..servers {
            let launch = ServerLaunch {
                argv: Vec::new(),
                url: Some(format!("http://{HOST}/s{n}")),
                secrets: BTreeMap::new(),
                variables: BTreeMap::new(),
                package: None,
                hosts: vec![HOST.to_owned()],
                reads: Vec::new(),
                pins: Vec::new(),
            };
            let (name, by) = (format!("s{n:02}"), (Channel::Cli, format!("register {n}")));
            let (kernel, root) = (self.kernel(), self.folder.path());
            let asked = kernel.propose_server(&name, &launch, BTreeMap::new(), false, root, by);
            let task = asked.expect("it is proposed").task_id;
            let DriveOutcome::Waiting(Waiting::Approval(approval)) = self.drive(task) else {
                panic!("a person is asked about `{name}`")
            };
            self.person.allow(kernel, task, approval).expect("allowed");
            self.drive(task);
        }
    }
}
