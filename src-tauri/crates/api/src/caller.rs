//! Who asks, and what that lets them do. One rule for every command, from the wire's table; no body has one of its own.

use crate::host::BundleSigners;
use crate::stands::{Flow, Stands};
use crate::{Host, Journal};
use acts::sensitive_paths::PathKind;
use kernel::Kernel;
use kernel::command::mesh::approvals::MeshQuestion;
use kernel::command::person::{Matter, Signed};
use kernel::command::submit::Reasoning;
use kernel::sender::Sender;
use ledger::Reader;
use model::body::KeyPurpose;
use model::ingress::Channel;
use model::passkey::PasskeyEnrolment;
use model::standing::StandingGrant;
use model::{RelPath, TaskId, UnixMs};
use projections::Query;
use seal::{Digest, PublicKey};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::{Access, Caller, Code, Error, Use, find};

/// Where the kernel shows itself, and where files are that no task works in.
const SYSTEM_PLACES: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/boot"];

/// Who asks over a transport: what kind of caller, and whether a person is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    caller: Caller,
    at_terminal: bool,
}

impl From<Caller> for Asker {
    fn from(caller: Caller) -> Self {
        Self { caller, at_terminal: false }
    }
}

impl Asker {
    /// A page; `at_terminal`: a person read its link at a terminal, where a program with the host's token does not get one.
    pub const fn page(at_terminal: bool) -> Self {
        Self { caller: Caller::Page, at_terminal }
    }

    const fn has_person(self) -> bool {
        matches!(self.caller, Caller::Owner) || matches!(self.caller, Caller::Page) && self.at_terminal
    }
}

/// Whether the caller may ask this at all.
///
/// # Errors
/// [`Code::Forbidden`].
pub(crate) fn admit(asker: Asker, name: &str, params: &Value, lent: &[String]) -> Result<(), Error> {
    let Some(info) = find(name) else { return Ok(()) };
    let caller = asker.caller;
    if caller == Caller::Owner {
        return Ok(());
    }
    let given = |field: &str| params.get(field).is_some_and(|value| !value.is_null());
    // Whoever takes a yes away from a machine narrows.
    let narrows = name == "mesh.approver" && params.get("allow") == Some(&Value::Bool(false));
    match info.access {
        Access::owner => {
            return Err(forbidden(format!("`{name}` runs only in the process that holds the store"))
                .hint("stop that process and run the command by itself"));
        }
        Access::person if caller == Caller::Page || !given("signed") => {
            return Err(forbidden(format!("only a person may ask `{name}`")).hint(
                "a person says it in the app, or at a terminal with the approval passphrase; a page asks for that \
                 passphrase itself",
            ));
        }
        Access::surface
            if !narrows && !asker.has_person() && (caller == Caller::Page || !given("signed")) =>
        {
            let how = match name {
                "models.standard" | "models.embed" => {
                    "a person says it in the app, at a terminal of this machine (`hermit models use`, `hermit models \
                     embeddings`), or on a page that was opened from a terminal"
                }
                _ if name == "training.curate" => {
                    "a person says it in the app, on a page that was opened from a terminal, or at a terminal while no other \
                     process has the store open"
                }
                _ => {
                    "a person says it in the process that holds the store, at a terminal with the approval passphrase, or on \
                     a page that was opened from a terminal; another page asks for that passphrase"
                }
            };
            return Err(forbidden(format!("only a person may ask `{name}`")).hint(how));
        }
        _ => {}
    }
    if name == "artifacts.ingest"
        && params.get("trust").and_then(Value::as_str).is_some_and(|trust| trust != "untrusted")
    {
        return Err(forbidden(
            "only a person at the process that holds the store may say how far a file is trusted",
        )
        .hint("leave `trust` out, or end that process and run `hermit artifacts ingest` by itself"));
    }
    let is_foreign = |field: &str| match params.get(field) {
        Some(Value::String(place)) => !lent.contains(place),
        Some(Value::Array(places)) => {
            places.iter().any(|place| place.as_str().is_none_or(|place| !lent.iter().any(|one| one == place)))
        }
        Some(Value::Null) | None => false,
        Some(_) => true,
    };
    let named = wire::places(name).find(|(field, what)| *what != Use::Works && is_foreign(field));
    match named {
        Some((field, _)) if caller == Caller::Page => {
            Err(forbidden(format!("a page names no place of this machine, such as `{field}`"))
                .hint("send the bytes of a file, or download what is made")
                .details(json!({ "field": field })))
        }
        _ => Ok(()),
    }
}

fn forbidden(message: impl Into<String>) -> Error {
    Error::new(Code::Forbidden, message)
}

/// Whether a price that is wished is less than the one in force, or none. What is no price is told by whoever sets it.
fn lowers(wished: Option<&str>, now: u64) -> bool {
    match wished.map(str::trim) {
        None => false,
        Some("") => now > 0,
        Some(text) => crate::dollars(text).is_ok_and(|micros| micros == 0 || micros < now),
    }
}

/// A host as a caller other than its owner has it.
pub struct Through<'h> {
    host: &'h dyn Host,
    asker: Asker,
}

impl<'h> Through<'h> {
    /// What `asker` may have of a host.
    pub fn new(host: &'h dyn Host, asker: impl Into<Asker>) -> Self {
        Self { host, asker: asker.into() }
    }

    /// Whether an agent is one that Hermit knows, and no program of a person's own.
    fn is_known(&self, agent: &str) -> bool {
        let name = agent.trim();
        let name = name.strip_prefix("acp:").unwrap_or(name).trim();
        self.host.guests().iter().any(|known| known.name == name)
    }
}

/// Who sends words over a surface: a person only where they hold the store themselves.
pub(crate) fn sender(host: &dyn Host, channel: Channel) -> Sender {
    let sender = Sender::from(channel);
    if host.caller() == Caller::Owner { sender } else { sender.by_program() }
}

/// Who says over a surface what lets something run by itself: a person where one is there.
pub(crate) fn speaker(host: &dyn Host, channel: Channel) -> Sender {
    let sender = Sender::from(channel);
    if host.has_person() { sender } else { sender.by_program() }
}

/// A folder that a page may name: not the store, nothing of the system, nothing that holds keys.
fn for_pages(store: &Path, folder: PathBuf) -> Result<PathBuf, Error> {
    let refused = |why: &str| {
        forbidden(format!("a page cannot name `{}` to work in: {why}", folder.display()))
            .hint("name another folder, or begin the task at a terminal")
    };
    if folder.starts_with(store) || store.starts_with(&folder) && folder.parent().is_none() {
        return Err(refused("it holds Hermit's own store"));
    }
    if SYSTEM_PLACES.iter().any(|place| folder.starts_with(place)) {
        return Err(refused("it belongs to the system"));
    }
    let below = folder.strip_prefix("/").unwrap_or(&folder).to_string_lossy().into_owned();
    let looks_secret = RelPath::from_bytes(below.as_bytes())
        .is_ok_and(|path| acts::sensitive_paths::path_kind(&path) == PathKind::Secret);
    if looks_secret {
        return Err(refused("it looks as if keys or passwords were kept there"));
    }
    Ok(folder)
}

impl Host for Through<'_> {
    fn caller(&self) -> Caller {
        self.asker.caller
    }

    fn has_person(&self) -> bool {
        self.asker.has_person()
    }

    fn workspace(&self, path: &Path) -> Result<PathBuf, Error> {
        let folder = self.host.workspace(path)?;
        match self.asker.caller {
            Caller::Page => {
                let store = self.host.kernel()?.dir();
                for_pages(&store.canonicalize().unwrap_or_else(|_| store.to_owned()), folder)
            }
            Caller::Owner | Caller::Program => Ok(folder),
        }
    }

    fn reasoning(&self, choice: &wire::task::Reasoner) -> Result<Reasoning, Error> {
        match choice {
            wire::task::Reasoner::Address { address }
                if self.asker.caller == Caller::Page && address.trim_start().starts_with("recorded:") =>
            {
                Err(forbidden("a page names no file of this machine"))
            }
            // A page chooses among what Hermit knows; a command line, and what it may read, is typed at a terminal.
            wire::task::Reasoner::Guest { agent, reads, .. }
                if self.asker.caller == Caller::Page && (!self.is_known(agent) || !reads.is_empty()) =>
            {
                Err(forbidden(
                    "a page names no program of this machine; choose one of the agents that Hermit knows",
                ))
            }
            _ => self.host.reasoning(choice),
        }
    }

    fn kernel(&self) -> Result<&Kernel, Error> {
        self.host.kernel()
    }

    fn reader(&self) -> Result<Reader, Error> {
        self.host.reader()
    }

    fn query(&self) -> Result<Query, Error> {
        self.host.query()
    }

    fn artifacts(&self) -> Result<&artifacts::Store, Error> {
        self.host.artifacts()
    }

    fn signers(&self) -> Option<BundleSigners> {
        self.host.signers()
    }

    fn open_keys(&self) -> Option<Vec<KeyPurpose>> {
        self.host.open_keys()
    }

    fn trusted_log_keys(&self) -> Vec<PublicKey> {
        self.host.trusted_log_keys()
    }

    fn trusted_people(&self) -> Result<Vec<(String, String)>, Error> {
        self.host.trusted_people()
    }

    fn sign_yes(&self, packet: &[u8], person: &str, passphrase: &[u8]) -> Result<Vec<u8>, Error> {
        self.host.sign_yes(packet, person, passphrase)
    }

    fn sign_standing(&self, draft: &StandingGrant, passphrase: &[u8]) -> Result<Vec<u8>, Error> {
        self.host.sign_standing(draft, passphrase)
    }

    fn sign_passkey(&self, draft: &PasskeyEnrolment, passphrase: &[u8]) -> Result<Vec<u8>, Error> {
        self.host.sign_passkey(draft, passphrase)
    }

    fn sign_decision(&self, matter: Matter, subject: Digest, passphrase: &[u8]) -> Result<Signed, Error> {
        self.host.sign_decision(matter, subject, passphrase)
    }

    fn sign_answer(
        &self,
        question: &MeshQuestion,
        packet: &[u8],
        allow: bool,
        passphrase: &[u8],
    ) -> Result<mesh::SignedDecision, Error> {
        self.host.sign_answer(question, packet, allow, passphrase)
    }

    fn cosign(&self) -> Vec<String> {
        self.host.cosign()
    }

    fn witness_policy(&self) -> Option<String> {
        self.host.witness_policy()
    }

    fn pin(&self) -> Result<Option<Vec<u8>>, Error> {
        self.host.pin()
    }

    fn rules_file(&self) -> Result<Option<String>, Error> {
        self.host.rules_file()
    }

    fn now(&self) -> UnixMs {
        self.host.now()
    }

    fn fresh_key(&self) -> String {
        self.host.fresh_key()
    }

    fn logins(&self) -> Option<&dyn crate::Logins> {
        self.host.logins()
    }

    fn chats(&self) -> Option<&dyn crate::Chats> {
        self.host.chats()
    }

    fn anchor_clocks(&self) -> Option<&dyn crate::AnchorClocks> {
        self.host.anchor_clocks()
    }

    fn mesh(&self) -> Option<&dyn crate::Mesh> {
        self.host.mesh()
    }

    fn trials(&self) -> Option<&dyn crate::Trials> {
        self.host.trials()
    }

    fn model_box(&self) -> Option<&dyn crate::ModelBox> {
        self.host.model_box()
    }

    fn trainer(&self) -> Option<&dyn crate::Trainer> {
        self.host.trainer()
    }

    fn guests(&self) -> Vec<wire::guests::Agent> {
        self.host.guests()
    }

    fn skill_book(&self) -> Option<&kernel::SkillBook> {
        self.host.skill_book()
    }

    fn zone(&self) -> String {
        self.host.zone()
    }

    fn rouse(&self) {
        self.host.rouse();
    }

    fn playbooks(&self) -> Vec<wire::playbooks::Playbook> {
        self.host.playbooks()
    }

    fn read_playbook(&self, text: &str) -> Result<wire::playbooks::Playbook, Error> {
        self.host.read_playbook(text)
    }

    fn models(&self, ports: &[u16]) -> Result<wire::models::Found, Error> {
        self.host.models(ports)
    }

    fn set_standard_model(&self, address: Option<&str>) -> Result<(), Error> {
        self.host.set_standard_model(address)
    }

    fn embeddings(&self) -> Result<wire::models::Embeddings, Error> {
        self.host.embeddings()
    }

    fn set_embeddings(&self, address: Option<&str>) -> Result<wire::models::Embeddings, Error> {
        self.host.set_embeddings(address)
    }

    fn set_model(&self, settings: &wire::models::Set) -> Result<wire::models::Asked, wire::Error> {
        if settings.price_in.is_some() || settings.price_out.is_some() {
            let (read, written) = self.host.price_of(&settings.address)?.unwrap_or_default();
            if lowers(settings.price_in.as_deref(), read) || lowers(settings.price_out.as_deref(), written) {
                return Err(forbidden(
                    "a price is lowered or taken back by a person alone, in the process that holds the store: what \
                     models may cost in a day is counted with it",
                )
                .hint("stop that process, then `hermit models set ADDRESS` at a terminal; anybody may raise a price"));
            }
        }
        self.host.set_model(settings)
    }

    fn price_of(&self, address: &str) -> Result<Option<(u64, u64)>, Error> {
        self.host.price_of(address)
    }

    fn day_of(&self, at: UnixMs) -> Result<kernel::ports::Day, Error> {
        self.host.day_of(at)
    }

    fn set_ceiling(&self, cost_micros_max: Option<u64>) -> Result<(), Error> {
        let now = self.host.day_of(self.host.now())?.cost_micros_max;
        let is_lower = match (cost_micros_max, now) {
            (Some(wanted), Some(now)) => wanted <= now,
            (Some(_), None) => true,
            (None, now) => now.is_none(),
        };
        if is_lower {
            return self.host.set_ceiling(cost_micros_max);
        }
        Err(forbidden(
            "what models may cost in a day is raised by a person alone, in the process that holds the store",
        )
        .hint("stop that process, then `hermit models ceiling DOLLARS` at a terminal; anybody may lower it"))
    }

    fn parallel_reads(&self) -> Result<Option<usize>, Error> {
        self.host.parallel_reads()
    }

    fn set_parallel_reads(&self, at_once: Option<usize>) -> Result<(), Error> {
        self.host.set_parallel_reads(at_once)
    }

    fn test_models(&self, server: &wire::models::Test) -> Result<wire::models::Server, Error> {
        self.host.test_models(server)
    }

    fn drive(&self, task: TaskId) -> Result<(), Error> {
        self.host.drive(task)
    }

    fn drive_all(&self) -> Result<Vec<TaskId>, Error> {
        self.host.drive_all()
    }

    fn stands(&self, task: TaskId, patience: Duration) -> Result<Stands, Error> {
        self.host.stands(task, patience)
    }

    fn journal(&self, run: Option<TaskId>) -> Result<Journal, Error> {
        self.host.journal(run)
    }

    fn rebuild(&self) -> Result<u64, Error> {
        self.host.rebuild()
    }

    fn progress(&self, what: &'static str, done: u64, total: u64) -> Flow {
        self.host.progress(what, done, total)
    }

    fn content_quota_bytes(&self) -> u64 {
        self.host.content_quota_bytes()
    }

    fn own_source(&self) -> Result<&'static [u8], wire::Error> {
        self.host.own_source()
    }

    fn facts(&self) -> wire::host::Facts {
        self.host.facts()
    }

    fn sheets(&self) -> &crate::Sheets {
        self.host.sheets()
    }

    fn listen(&self) -> Option<Receiver<wire::Notice>> {
        self.host.listen()
    }
}
