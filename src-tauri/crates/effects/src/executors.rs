//! The one door to effects.

use crate::change;
use crate::tools::{self, Execution};
use crate::{
    Authorization, BeforeImage, Contents, Error, Outcome, Progress, Sandbox, Secrets, ServerSessions,
    Settled, Spool, ToolServers, Web, Workspace, reads,
};
use acts::{Action, ActionRequest};
use model::action::ChangeItem;
use model::fault::Faults;
use model::limits::PARALLEL_READS;
use model::receipt::{Ran, ResultCode, SandboxLevel};
use model::witness::{Fingerprint, Found, StateWitness};
use model::{Clock, Digest, RelPath, ResourceId, UnixMs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Executors over one workspace. Share it by reference; between calls it holds nothing but servers of tools.
pub struct Executors {
    pub(crate) workspace: Workspace,
    pub(crate) contents: Arc<dyn Contents>,
    pub(crate) faults: Arc<dyn Faults>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) spool: Spool,
    pub(crate) sandbox: Sandbox,
    pub(crate) redactor: redact::Shared,
    pub(crate) secrets: Arc<dyn Secrets>,
    pub(crate) web: Arc<dyn Web>,
    pub(crate) messenger: Arc<dyn crate::Messenger>,
    pub(crate) clocks: Arc<dyn crate::Clocks>,
    pub(crate) relays: Arc<dyn crate::Relays>,
    pub(crate) trials: Arc<dyn crate::Trials>,
    pub(crate) servers: Arc<dyn ToolServers>,
    pub(crate) sessions: ServerSessions,
    pub(crate) door: Arc<dyn crate::GuestDoor>,
    pub(crate) parallel_reads: usize,
}

impl std::fmt::Debug for Executors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executors")
            .field("workspace", &self.workspace)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

impl Executors {
    /// Executors over `workspace`. `clock` only stamps [`Ran`]; `spool` holds the transcripts of commands.
    pub fn new(
        workspace: Workspace,
        contents: Arc<dyn Contents>,
        faults: Arc<dyn Faults>,
        clock: Arc<dyn Clock>,
        spool: Spool,
        sandbox: Sandbox,
    ) -> Self {
        let redactor = redact::Shared::default();
        let secrets = Arc::new(crate::NoSecrets);
        let web = Arc::new(crate::NoWeb);
        let messenger = Arc::new(crate::NoMessenger);
        let clocks = Arc::new(crate::NoClocks);
        let relays = Arc::new(crate::NoRelays);
        let trials = Arc::new(crate::NoTrials);
        let servers = Arc::new(crate::NoToolServers);
        let sessions = ServerSessions::default();
        let door = Arc::new(crate::NoGuestDoor);
        Self {
            workspace,
            contents,
            faults,
            clock,
            spool,
            sandbox,
            redactor,
            secrets,
            web,
            messenger,
            clocks,
            relays,
            trials,
            servers,
            sessions,
            door,
            parallel_reads: PARALLEL_READS,
        }
    }

    /// The same executors, which look at so many things at the same time.
    #[must_use]
    pub const fn with_parallel_reads(mut self, at_once: usize) -> Self {
        self.parallel_reads = at_once;
        self
    }

    /// The same executors, whose guests reach Hermit's tools by this.
    #[must_use]
    pub fn with_door(mut self, door: Arc<dyn crate::GuestDoor>) -> Self {
        self.door = door;
        self
    }

    /// The same executors, which can speak to servers of tools; those that are alive are in `sessions`.
    #[must_use]
    pub fn with_servers(mut self, servers: Arc<dyn ToolServers>, sessions: ServerSessions) -> Self {
        (self.servers, self.sessions) = (servers, sessions);
        self
    }

    /// The same executors, with a way to the servers that a grant names.
    #[must_use]
    pub fn with_web(mut self, web: Arc<dyn Web>) -> Self {
        self.web = web;
        self
    }

    /// The same executors, with a way to chat services.
    #[must_use]
    pub fn with_messenger(mut self, messenger: Arc<dyn crate::Messenger>) -> Self {
        self.messenger = messenger;
        self
    }

    /// The same executors, with what a person has of Bitcoin.
    #[must_use]
    pub fn with_clocks(mut self, clocks: Arc<dyn crate::Clocks>) -> Self {
        self.clocks = clocks;
        self
    }

    /// The same executors, with a way to relays of Nostr.
    #[must_use]
    pub fn with_relays(mut self, relays: Arc<dyn crate::Relays>) -> Self {
        self.relays = relays;
        self
    }

    /// The same executors, which can have changes of Hermit tried.
    #[must_use]
    pub fn with_trials(mut self, trials: Arc<dyn crate::Trials>) -> Self {
        self.trials = trials;
        self
    }

    /// The same executors, whose commands may use secrets that a grant names.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Arc<dyn Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// The same executors, which write no value that `redactor` knows into a transcript.
    #[must_use]
    pub fn with_redactor(mut self, redactor: redact::Shared) -> Self {
        self.redactor = redactor;
        self
    }

    /// The workspace beneath these executors.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The walls a command would get.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What is at each resource now, in the order asked for. Never fails: what cannot be seen is `Unreadable`.
    pub fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        reads::fan_out(resources, PARALLEL_READS, |resource| Fingerprint {
            resource: resource.clone(),
            state: self.found(resource),
        })
    }

    fn found(&self, resource: &ResourceId) -> Found {
        match resource {
            ResourceId::File(workspace, path) if *workspace == self.workspace.id() => {
                self.workspace.look(path)
            }
            ResourceId::File(..) => {
                Found::Unreadable { reason: "it belongs to another workspace".to_owned() }
            }
            ResourceId::Ref(workspace, name) if *workspace == self.workspace.id() => self.found_ref(name),
            _ => Found::Unreadable { reason: "only files and refs can be looked at here".to_owned() },
        }
    }

    /// Bytes of those of the files that are short enough to be merged line by line, by their digest.
    pub fn texts(&self, paths: &[RelPath]) -> BTreeMap<Digest, Vec<u8>> {
        let read = |path| self.workspace.read_whole(path, crate::STAGE_TEXT_BYTES_MAX).ok();
        paths.iter().filter_map(read).map(|bytes| (Digest::of(&bytes), bytes)).collect()
    }

    /// Bytes that the items will overwrite or delete, item by item, checked against the item's prior. What an
    /// earlier item of the same set moves or writes there is among them: an undo goes back through every step.
    ///
    /// Each is read when it is asked for, so that one at a time is in memory: [`Error::Prior`] when a file is not what its
    /// item expects, others when it cannot be read.
    pub fn before_images<'a>(
        &'a self,
        items: &[ChangeItem],
    ) -> impl Iterator<Item = Result<BeforeImage, Error>> + use<'a> {
        change::images::before(self, items)
    }

    /// Whether all that the items will overwrite or delete is small enough to be kept, by its size alone, and this system can hold
    /// the names of all that they make.
    ///
    /// # Errors
    /// [`Error::TooLarge`] with the first that is not; [`Error::Request`] with the first name that cannot be held.
    pub fn can_keep(&self, items: &[ChangeItem]) -> Result<(), Error> {
        if let Some(why) = change::unheld(items) {
            return Err(Error::Request(why));
        }
        change::images::can_keep(self, items)
    }

    /// Does what was authorised, and nothing else. `cancelled` is asked before anything is started or sent, between items and
    /// while a command runs.
    ///
    /// Never panics and never returns an error of its own: every failure is in the outcome, item by item.
    pub fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        let started = self.clock.now();
        let scope = match change::scope::Scope::of(&authorization, request, self.workspace.id()) {
            Ok(scope) => scope,
            Err(error) => return self.refused(request, started, &error),
        };
        // Several acts of one answer are dispatched together: those that have not begun when a person stops begin no more.
        if request.items().is_empty() && !matches!(request.action, Action::Observe(_)) && cancelled() {
            let say = "it was cancelled before it began, and nothing was done";
            return self.refused(request, started, &Error::Request(say.to_owned()));
        }
        let act = Execution { executors: self, scope: &scope, request, started, cancelled };
        tools::executor(&request.action).perform(&act, progress)
    }

    /// After a crash: looks at the targets and at the transcript, sweeps what is left of our own temporary files,
    /// runs nothing. `before` is the witness observed before dispatch.
    pub fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled {
        let mut settled = Settled::new(before);
        tools::executor(&request.action).settle(self, request, before, &mut settled);
        settled
    }

    /// Forgets the transcript of a command whose outcome and receipt are stored; one without a transcript is fine.
    ///
    /// # Errors
    /// [`Error::Spool`] when its files cannot be removed.
    pub fn forget(&self, request: model::ActionRequestId) -> Result<(), Error> {
        self.spool.forget(request)
    }

    /// Does the items that `settled` found not done and whose prior still holds, in order. An item whose outcome
    /// is unknown stops it: only a person may go past that.
    pub fn roll_forward(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        settled: &Settled,
    ) -> Outcome {
        let started = self.clock.now();
        let scope = match change::scope::Scope::of(&authorization, request, self.workspace.id()) {
            Ok(scope) => scope,
            Err(error) => return self.refused(request, started, &error),
        };
        let act = Execution { executors: self, scope: &scope, request, started, cancelled: &|| false };
        tools::executor(&request.action).roll_forward(&act, settled).unwrap_or_else(|| {
            let error = Error::Request(format!("`{}` cannot be rolled forward", request.action.tool()));
            self.refused(request, started, &error)
        })
    }

    /// The outcome of what was not begun.
    pub(crate) fn refused(&self, request: &ActionRequest, started: UnixMs, error: &Error) -> Outcome {
        let changes = change::none_done(self, request);
        Outcome {
            result_code: ResultCode::Failed,
            changes,
            outputs: Vec::new(),
            ran: self.ran(&request.action.executor(), request, started),
            sandbox_level: SandboxLevel::NotApplicable,
            observed: Vec::new(),
            error: Some(error.to_string()),
            kept: Vec::new(),
        }
    }

    /// What ran, stamped now.
    pub(crate) fn ran(&self, executor: &str, request: &ActionRequest, started: UnixMs) -> Ran {
        Ran {
            executor: executor.to_owned(),
            request_sha256: digest_of(request).unwrap_or(Digest([0; 32])),
            argv: None,
            executable_sha256: None,
            exit_code: None,
            started_at: started,
            finished_at: self.clock.now(),
        }
    }
}

/// SHA-256 of the request's canonical bytes.
pub(crate) fn digest_of(request: &ActionRequest) -> Result<Digest, Error> {
    let bytes = seal::canon::to_canonical(request)
        .map_err(|e| Error::Request(format!("the request has no canonical form: {e}")))?;
    Ok(Digest::of(&bytes))
}
