//! Calling a tool of a server.

use crate::{ActionRequest, Counts, Line, LineKind, Part, Tool, visible};
use model::action::{ActionClass, ExpectedEffect, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::launch::without_env;
use model::limits::{CALL_ARGUMENTS_BYTES_MAX, CALL_REPLY_BYTES_MAX, TOOL_CALL_MS};
use model::receipt::{ReplayClass, ResultCode};
use model::sampling::SamplingTerms;
use model::server_part::{ServerPart, key_of};
use model::tool_server::{ServerLaunch, ToolTerms};
use model::witness::Fingerprint;
use model::{Digest, RelPath, ResourceId, WorkspaceId, lasting};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Letters of the arguments in a line of a list.
const LISTED_ARGUMENTS: usize = 160;

/// Where a tool that changes files works.
pub(crate) const IN_A_COPY: &str = "it works in a copy of the folder, without what looks like keys and without the network: what it changes there is \
     shown, and comes into the folder only as it is shown";

/// One call of one tool of a registered server. Server, launch, pins, terms and places are the kernel's, from what a
/// person registered; a proposer gives the name and the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The server, as a person named it.
    pub server: String,
    /// What of the server is asked for, where it is no tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ServerPart>,
    /// The tool or prompt, as the server names it, or the address of a resource.
    pub name: String,
    /// One JSON object, as text: a number in it may have no canonical form.
    pub arguments: String,
    /// How the server is started.
    pub launch: ServerLaunch,
    /// The artifact of its registration.
    pub registration_sha256: Digest,
    /// The pin of all that the server says of its tools.
    pub manifest_sha256: Digest,
    /// The pin of this tool.
    pub tool_sha256: Digest,
    /// What a person says that it may do; while nobody has, it may do anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<ToolTerms>,
    /// How much its server may ask of a model meanwhile; while no person has said so, nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingTerms>,
    /// Places in the folder that its arguments name, by the terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<RelPath>,
    /// Hosts that its arguments name, by the terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Amounts that its arguments name, by the terms: each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amounts: Vec<String>,
}

impl Call {
    /// Whether a person said that it only looks.
    pub fn only_looks(&self) -> bool {
        let class = self.terms.as_ref().map(|terms| terms.class);
        matches!(class, Some(ActionClass::ReadLocal | ActionClass::NetworkRead))
    }

    /// Whether a person said that it changes files: it is called in a staged view of the folder, and nowhere else.
    pub fn changes_files(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.class == ActionClass::WriteLocal)
    }

    /// Hosts that its server may reach for this call, as `name:port`; a staged view has no network.
    pub fn reaches(&self) -> &[String] {
        if self.changes_files() { &[] } else { &self.launch.hosts }
    }

    /// A host that its arguments name and that its server may not reach. Where a server that runs elsewhere goes from there is
    /// not in anybody's hands here.
    pub fn out_of_reach(&self) -> Option<&str> {
        let within = |host: &str| {
            let Some((name, port)) = host.rsplit_once(':') else { return false };
            self.reaches().iter().filter_map(|known| known.rsplit_once(':')).any(|(known, at)| {
                let below = known.strip_prefix('*').filter(|below| below.starts_with('.'));
                at == port && below.map_or(known == name, |below| name.ends_with(below))
            })
        };
        let named = self.hosts.iter().map(String::as_str);
        named.filter(|_| self.launch.url.is_none()).find(|host| !within(host))
    }

    /// Secrets that its server may sign in with for this call, by handle.
    pub fn signs_with(&self) -> impl Iterator<Item = &String> {
        self.launch.secrets.values().filter(|_| !self.changes_files())
    }

    /// How long it may take, in milliseconds.
    pub fn time_limit_ms(&self) -> u64 {
        self.terms.as_ref().and_then(|terms| terms.time_limit_ms).unwrap_or(TOOL_CALL_MS)
    }

    /// Whether it may be done again when nobody saw how it ended.
    pub fn is_repeatable(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.repeatable)
    }
}

impl Tool for Call {
    /// What a person said, and what follows from how the server is started. Nobody's word is the gravest.
    fn classes(&self) -> BTreeSet<ActionClass> {
        let Some(terms) = &self.terms else { return BTreeSet::from([ActionClass::ExternalEffect]) };
        let reaches = (!self.reaches().is_empty()).then_some(ActionClass::NetworkRead);
        let signs = self.signs_with().next().map(|_| ActionClass::CredentialedApiCall);
        [terms.class].into_iter().chain(reaches).chain(signs).collect()
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let files = self.paths.iter().map(|path| ResourceId::File(workspace, path.clone()));
        let secrets = self.signs_with().cloned().map(ResourceId::Secret);
        let hosts = self.reaches().iter().chain(&self.hosts).filter_map(|host| {
            let (name, port) = host.rsplit_once(':')?;
            Some(ResourceId::Host(name.to_owned(), port.parse().ok()?))
        });
        let itself = ResourceId::Mcp(self.server.clone(), key_of(self.part, &self.name));
        files.chain(secrets).chain(hosts).chain([itself]).collect()
    }

    fn check(&self) -> Result<(), String> {
        match self.arguments.len() {
            bytes if bytes > CALL_ARGUMENTS_BYTES_MAX => Err(format!(
                "its arguments are {bytes} bytes, more than {CALL_ARGUMENTS_BYTES_MAX}; name a file instead"
            )),
            _ => Ok(()),
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { network: self.sends(), targets: 1, ..Counts::default() };
        self.paths.iter().for_each(|path| counts.add_path(path));
        counts
    }

    /// No rule allows it: what may be done unasked, its class says.
    fn parts(&self) -> Vec<Part> {
        self.paths.iter().cloned().map(Part::Read).chain([Part::Other]).collect()
    }

    fn sends(&self) -> bool {
        !self.reaches().is_empty()
    }

    fn may_be_staged(&self) -> bool {
        self.changes_files()
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        if self.changes_files() { FilesystemScope::Named } else { FilesystemScope::Nothing }
    }

    fn reversibility(&self) -> Reversibility {
        match (self.only_looks(), self.changes_files()) {
            (true, _) => Reversibility::NoEffect,
            (false, true) => Reversibility::Reversible,
            (false, false) => Reversibility::Irreversible,
        }
    }

    /// What failed was not asked of the server, or the server said so. What ran in a view and left nothing is nothing.
    fn reversibility_without_changes(&self, request: &ActionRequest, _: ResultCode) -> Reversibility {
        if request.staged.is_some() { Reversibility::NoEffect } else { request.way_back() }
    }

    fn replay_class(&self) -> ReplayClass {
        if self.only_looks() { ReplayClass::ObserveOnly } else { ReplayClass::ExplainOnly }
    }

    fn trust(&self) -> TrustTier {
        match self.terms.as_ref().is_some_and(|terms| terms.trusted) {
            true => TrustTier::Observed,
            false => TrustTier::Untrusted,
        }
    }

    fn title(&self) -> String {
        let what = match self.part {
            None => "call",
            Some(ServerPart::Resource) => "read the resource",
            Some(ServerPart::Prompt) => "get the prompt",
        };
        format!("{what} \"{}\" of the server \"{}\"", visible(&self.name), visible(&self.server))
    }

    fn one_line(&self) -> String {
        let shown: String = self.arguments.chars().take(LISTED_ARGUMENTS).collect();
        let cut = if shown.len() < self.arguments.len() { "…" } else { "" };
        format!("call {}.{} {shown}{cut}", self.server, self.name)
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let is_known = self.only_looks() || self.changes_files();
        let kind = if is_known { LineKind::Effect } else { LineKind::Unrecoverable };
        let said = |text: String| Line { kind, text };
        let terms = match self.part {
            None => in_words(self.terms.as_ref()),
            Some(_) => {
                "it is read, and read again where nobody saw how that ended; what it holds is not trusted"
                    .to_owned()
            }
        };
        let mut lines = vec![said(self.title()), said(terms)];
        lines.push(said("with these arguments:".to_owned()));
        lines.extend(quoted(&pretty(&self.arguments)).map(said));
        lines.extend(self.amounts.iter().map(|amount| Line {
            kind: LineKind::Risk,
            text: format!("an AMOUNT in its arguments: {}", visible(amount)),
        }));
        if !self.hosts.is_empty() {
            lines.push(said(format!("its arguments name the hosts {}", visible(&self.hosts.join(", ")))));
        }
        if self.changes_files() {
            let alone = ServerLaunch { hosts: Vec::new(), secrets: BTreeMap::new(), ..self.launch.clone() };
            lines.extend(started(&alone));
            lines.push(Line::effect(IN_A_COPY.to_owned()));
        } else {
            lines.extend(started(&self.launch));
            lines.extend(sees(&self.launch));
        }
        lines.extend(self.sampling.map(|terms| {
            Line::effect(format!("the server may ask the model of the task meanwhile, {}", terms.in_words()))
        }));
        lines.push(Line::effect(format!(
            "its answer, at most {CALL_REPLY_BYTES_MAX} bytes of it within {}, goes to the model as {} content",
            lasting(Duration::from_millis(self.time_limit_ms())),
            match self.trust() {
                TrustTier::Observed => "trusted",
                _ => "untrusted",
            }
        )));
        lines
    }

    fn details(&self) -> Vec<String> {
        pinned(&self.launch).collect()
    }

    fn expected(&self, _: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![ExpectedEffect {
            resource: ResourceId::Mcp(self.server.clone(), key_of(self.part, &self.name)),
            effect: "call".to_owned(),
            before_sha256: None,
            after_sha256: Some(Digest::of(self.arguments.as_bytes())),
            byte_size: Some(self.arguments.len() as u64),
        }]
    }

    fn precondition(&self) -> String {
        "the server says the same of this tool as when it was registered, and its program is the same"
            .to_owned()
    }
}

/// What a person has said of a tool, in words.
pub(crate) fn in_words(terms: Option<&ToolTerms>) -> String {
    let Some(terms) = terms else {
        return "NOBODY has said what it may do: it may do anything that its server can, and it cannot be taken back"
            .to_owned();
    };
    let mut words = format!("a person said that it is to {}", terms.class.in_words());
    for (what, pointers) in [("places", &terms.paths), ("hosts", &terms.hosts), ("amounts", &terms.amounts)] {
        if !pointers.is_empty() {
            words.push_str(&format!("; {what} in its arguments: {}", visible(&pointers.join(", "))));
        }
    }
    if terms.only_in.is_some() {
        words.push_str("; only in this folder");
    }
    words.push_str(if terms.repeatable { "; it may be repeated" } else { "; it is never repeated" });
    words.push_str(if terms.trusted { "; its answers are trusted" } else { "; its answers are not trusted" });
    if let Some(ms) = terms.time_limit_ms {
        words.push_str(&format!("; a call of it may take {}", lasting(Duration::from_millis(ms))));
    }
    words
}

/// How a server is started, and what it can reach.
pub(crate) fn started(launch: &ServerLaunch) -> Vec<Line> {
    if let Some(url) = &launch.url {
        return reached(launch, url);
    }
    let words: Vec<String> = launch.argv.iter().map(|word| format!("\"{}\"", visible(word))).collect();
    let mut lines = vec![Line::effect(format!("the server is started as {}", words.join(" ")))];
    lines.extend(
        launch
            .pins
            .iter()
            .map(|pin| Line::effect(format!("    \"{}\" is \"{}\"", visible(&pin.name), visible(&pin.path)))),
    );
    lines.extend(package(launch));
    lines.extend(unpinned(launch).map(|text| Line { kind: LineKind::Unrecoverable, text }));
    lines.extend(launch.variables.iter().map(|(name, value)| {
        Line::effect(format!("its variable {} is \"{}\"", visible(name), visible(value)))
    }));
    lines.extend(
        launch.reads.iter().map(|place| Line::effect(format!("it may also read \"{}\"", visible(place)))),
    );
    lines.push(Line::effect(match launch.hosts.as_slice() {
        [] => "it has no network".to_owned(),
        hosts => format!("it may reach {}", visible(&hosts.join(", "))),
    }));
    lines.extend(launch.secrets.iter().map(|(name, handle)| Line {
        kind: LineKind::Unrecoverable,
        text: format!(
            "it signs in with `secret:{}`, whose stand-in is in its variable {}",
            visible(handle),
            visible(name)
        ),
    }));
    lines
}

/// The digests by which the files of its program are known.
pub(crate) fn pinned(launch: &ServerLaunch) -> impl Iterator<Item = String> + '_ {
    launch.pins.iter().map(|pin| format!("sha256 of \"{}\": {}", visible(&pin.path), pin.sha256))
}

/// The package that is started, and what its version rests on.
fn package(launch: &ServerLaunch) -> Option<Line> {
    let package = launch.package.as_ref()?;
    let kind = if package.version.is_some() { LineKind::Effect } else { LineKind::Unrecoverable };
    Some(Line { kind, text: format!("it is {}", visible(&package.in_words())) })
}

/// What of the folder a server sees.
pub(crate) fn sees(launch: &ServerLaunch) -> Option<Line> {
    let words = "it sees the folder of the task, without what looks like keys, and can change nothing there";
    launch.url.is_none().then(|| Line::effect(words.to_owned()))
}

/// Where a server is reached, and how one signs in there.
fn reached(launch: &ServerLaunch, url: &str) -> Vec<Line> {
    let hosts = visible(&launch.hosts.join(", "));
    let mut lines = vec![
        Line::effect(format!("the server is reached at \"{}\"", visible(url))),
        Line::effect(format!(
            "what is sent goes to {hosts} and nowhere else: where it leads to is not followed"
        )),
        Line {
            kind: LineKind::Unrecoverable,
            text: "what runs there is NOT pinned, only what it says of its tools".to_owned(),
        },
    ];
    lines.extend(launch.secrets.iter().map(|(name, handle)| Line {
        kind: LineKind::Unrecoverable,
        text: match model::login::server_of_login(handle) {
            Some(_) => "it is sent the token of your log-in there, with every message".to_owned(),
            None => format!(
                "it is sent the value of `secret:{}` in the header {}, with every message",
                visible(handle),
                visible(name)
            ),
        },
    }));
    lines.push(Line::effect("it sees nothing of the folder but what the arguments hold".to_owned()));
    lines
}

/// Programs that fetch what they run.
const FETCHERS: [&str; 9] = ["npx", "pnpx", "bunx", "uvx", "pipx", "docker", "podman", "npm", "deno"];

/// The program of a command line that fetches what it runs, such as `npx`; none where it is another.
pub fn fetcher(argv: &[String]) -> Option<&str> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    without_env(&words).first()?.rsplit('/').next().filter(|name| FETCHERS.contains(name))
}

/// What of the program is not pinned, in words.
fn unpinned(launch: &ServerLaunch) -> Option<String> {
    if let Some(name) = fetcher(&launch.argv) {
        let version = match launch.package.as_ref().is_some_and(|package| package.told) {
            true => "",
            false => ", and another version may run each time",
        };
        return Some(format!(
            "`{}` runs what it fetches by name: those bytes are NOT pinned{version}",
            visible(name)
        ));
    }
    launch.pins.is_empty().then(|| "no file of its program could be pinned".to_owned())
}

/// Tools that are named where one is named that is not offered.
const NAMED_MAX: usize = 16;

/// That a tool is named which the server does not offer, with those that it does.
pub(crate) fn unknown_tool(registration: &model::tool_server::ServerRegistration, tool: &str) -> String {
    let offered = registration.manifest.tools.iter().map(|tool| visible(&tool.name)).take(NAMED_MAX);
    format!(
        "the server \"{}\" offers no tool \"{}\"; it offers: {}",
        visible(&registration.server),
        visible(tool),
        offered.collect::<Vec<_>>().join(", ")
    )
}

/// JSON as a person reads it; text that is none as it is.
pub(crate) fn pretty(json: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(json);
    value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.to_owned())
}

/// Line by line, each marked, so that none can pass for one of the card.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('\n').map(|line| format!("    | {}", visible(line)))
}
