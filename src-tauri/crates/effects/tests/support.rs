//! A workspace in a temporary folder, contents in memory, and authorizations minted as the kernel mints them.

use acts::{Action, ActionRequest};
use effects::{Authorization, Contents, Executors, Outcome, Progress, Sandbox, Spool, Workspace};
use model::action::{ChangeItem, Prior, Reversibility};
use model::fault::{Faults, NoFaults, Point};
use model::grant::{CapabilityGrant, FilesystemScope};
use model::witness::{Fingerprint, Found, StateWitness};
use model::*;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[path = "file_bits.rs"]
pub mod file_bits;

/// A command line for a shell, without the network.
#[allow(dead_code, reason = "commands are tried in the room of the walls, and by the benchmarks")]
pub fn shell(script: &str) -> Action {
    Action::Command(acts::Command {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        cwd: RelPath::ROOT,
        network: false,
        timeout_ms: 60_000,
        hosts: Vec::new(),
        secrets: Vec::new(),
    })
}

pub const NOW: UnixMs = UnixMs(1_800_000_000_000);

pub struct StillClock;
impl Clock for StillClock {
    fn now(&self) -> UnixMs {
        NOW
    }
}

/// Unique and reproducible: nothing here depends on chance.
pub struct Counting(AtomicU64);
impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (at, byte) in buffer.iter_mut().enumerate() {
            *byte = n[(at + 6) % 8];
        }
    }
}

#[derive(Default)]
pub struct Shelf(pub Mutex<BTreeMap<Digest, Vec<u8>>>);
impl Shelf {
    pub fn put(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        self.0.lock().unwrap().insert(digest, bytes.to_vec());
        digest
    }
}
impl Contents for Shelf {
    fn read(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        self.0.lock().unwrap().get(digest).cloned().ok_or_else(|| format!("no bytes for {digest}"))
    }
    fn keep(&self, bytes: &[u8]) -> Result<Digest, String> {
        Ok(self.put(bytes))
    }
}

/// What a test does at a boundary: nothing, fail, or something to the world.
type Trap = Box<dyn Fn(Point, bool) -> io::Result<()> + Send + Sync>;

#[derive(Default)]
pub struct Traps(pub Mutex<Option<Trap>>);
impl Traps {
    pub fn set(&self, trap: impl Fn(Point, bool) -> io::Result<()> + Send + Sync + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(trap));
    }
    fn spring(&self, point: Point, after: bool) -> io::Result<()> {
        self.0.lock().unwrap().as_ref().map_or(Ok(()), |trap| trap(point, after))
    }
}
impl Faults for Traps {
    fn before(&self, point: Point) -> io::Result<()> {
        self.spring(point, false)
    }
    fn after(&self, point: Point) -> io::Result<()> {
        self.spring(point, true)
    }
}

pub struct World {
    /// Let go first: Windows removes no folder that somebody has open.
    pub executors: Executors,
    pub folder: tempfile::TempDir,
    pub root: PathBuf,
    pub store: PathBuf,
    pub id: WorkspaceId,
    pub shelf: Arc<Shelf>,
    pub traps: Arc<Traps>,
    pub entropy: Arc<Counting>,
}

impl World {
    pub fn new() -> Self {
        Self::with(Sandbox::none("this test starts nothing".to_owned()))
    }

    pub fn with(sandbox: Sandbox) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("lease");
        std::fs::create_dir(&root).unwrap();
        Self::over(folder, root, sandbox)
    }

    pub fn over(folder: tempfile::TempDir, root: PathBuf, sandbox: Sandbox) -> Self {
        let entropy = Arc::new(Counting(AtomicU64::new(1)));
        let id = WorkspaceId::fresh(&StillClock, &*entropy);
        let store = folder.path().join("store");
        std::fs::create_dir_all(&store).unwrap();
        let shelf = Arc::new(Shelf::default());
        let traps = Arc::new(Traps::default());
        let executors = Executors::new(
            Workspace::open(&root, id).unwrap(),
            shelf.clone(),
            traps.clone(),
            Arc::new(StillClock),
            Spool::new(store.join("spool")),
            sandbox,
        );
        Self { executors, folder, root, store, id, shelf, traps, entropy }
    }

    /// Waits until nothing holds the mark of a command any more: not what it started, and not what another test is just
    /// starting, which shares every open file until it becomes its program.
    #[allow(dead_code, reason = "commands are tried in the room of the walls")]
    pub fn ended(&self, request: &ActionRequest) {
        let spool = self.store.join("spool").join(request.action_request_id.to_string());
        if let Ok(mark) = std::fs::File::open(spool.join("started")) {
            mark.lock().unwrap();
        }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, bytes).unwrap();
    }

    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.at(path)).ok()
    }

    pub fn file(&self, path: &RelPath) -> ResourceId {
        ResourceId::File(self.id, path.clone())
    }

    pub fn write(&self, path: &str, bytes: &[u8], prior: Prior) -> ChangeItem {
        let content_sha256 = self.shelf.put(bytes);
        ChangeItem::Write {
            path: rel(path),
            content_sha256,
            byte_size: bytes.len() as u64,
            prior,
            mode: None,
        }
    }

    pub fn request(&self, action: Action) -> ActionRequest {
        let clock = &StillClock;
        let entropy = &*self.entropy;
        let action_class = action.classes()[0];
        ActionRequest {
            action_request_id: ActionRequestId::fresh(clock, entropy),
            task_id: TaskId::fresh(clock, entropy),
            step_id: StepId::fresh(clock, entropy),
            attempt_id: AttemptId::fresh(clock, entropy),
            action_class,
            target_resources: action.resources(self.id),
            action,
            expected_effects: vec![],
            reversibility_hint: Reversibility::Reversible,
            reason: "a test asks".to_owned(),
            proposed_by: PrincipalId::fresh(clock, entropy),
            proposed_at: NOW,
            evidence_refs: vec![],
            staged: None,
            not_staged: None,
            reach: None,
            instead_of: None,
            guest: None,
        }
    }

    pub fn grant(&self, request: &ActionRequest) -> CapabilityGrant {
        let clock = &StillClock;
        let entropy = &*self.entropy;
        let none = || (Vec::new(), Vec::new());
        let (filesystem_scope, (network_scope, secret_scope)) = match &request.action {
            Action::Observe(_) => (FilesystemScope::ReadLease, none()),
            Action::Command(acts::Command { network: false, .. }) | Action::Vcs(_) => {
                (FilesystemScope::Lease, none())
            }
            Action::Command(acts::Command { hosts, secrets, .. }) => {
                let any = || vec!["*:0".to_owned()];
                let hosts = if hosts.is_empty() { any() } else { hosts.clone() };
                (FilesystemScope::Lease, (hosts, secrets.clone()))
            }
            _ => (FilesystemScope::Named, none()),
        };
        CapabilityGrant {
            grant_id: GrantId::fresh(clock, entropy),
            task_id: request.task_id,
            step_id: request.step_id,
            attempt_id: request.attempt_id,
            issued_to_principal_id: PrincipalId::fresh(clock, entropy),
            issued_by_principal_id: PrincipalId::fresh(clock, entropy),
            action_class: request.action_class,
            resource_scope: request.target_resources.iter().map(ToString::to_string).collect(),
            issued_at: NOW,
            not_before: NOW,
            expires_at: NOW.plus_ms(60_000),
            max_uses: 1,
            action_request_sha256: Digest::of(&seal::canon::to_canonical(request).unwrap()),
            policy_result_sha256: Digest::of(b"policy"),
            approval_packet_sha256: Slot::NOT_REQUIRED,
            witness_sha256: Slot::NOT_REQUIRED,
            approval_ref: Slot::NOT_REQUIRED,
            decision_ref: Slot::NOT_REQUIRED,
            filesystem_scope,
            network_scope,
            secret_scope,
            standing: None,
        }
    }

    pub fn authorize(&self, request: &ActionRequest) -> Authorization {
        governance::authorize(&self.grant(request), request, 0, NOW).unwrap()
    }

    pub fn witness(&self, request: &ActionRequest) -> StateWitness {
        let mut fingerprints = self.executors.observe(&request.target_resources);
        fingerprints.sort_by(|a, b| a.resource.cmp(&b.resource));
        StateWitness {
            witness_id: WitnessId::fresh(&StillClock, &*self.entropy),
            action_request_id: request.action_request_id,
            attempt_id: request.attempt_id,
            fingerprints,
            preconditions: vec![],
            observed_at: NOW,
            expires_at: NOW.plus_ms(60_000),
            observed_by: request.proposed_by,
        }
    }

    pub fn perform(&self, request: &ActionRequest) -> Outcome {
        self.perform_with(request, &|| false, &mut |_| {})
    }

    pub fn perform_with(
        &self,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        self.executors.perform(self.authorize(request), request, cancelled, progress)
    }

    pub fn change(&self, items: Vec<ChangeItem>) -> (ActionRequest, Outcome) {
        let request = self.request(Action::Change(acts::Change { items }));
        let outcome = self.perform(&request);
        (request, outcome)
    }

    /// Every file with its bytes and, where there is one, its mode, every folder, every link with its target.
    pub fn tree(&self) -> BTreeMap<PathBuf, (String, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let value = if metadata.is_dir() {
                    waiting.push(path.clone());
                    ("folder".to_owned(), vec![])
                } else if metadata.is_file() {
                    let mode = file_bits::of(&path);
                    let kind = mode.map_or_else(|| "file".to_owned(), |mode| format!("file {mode:o}"));
                    (kind, std::fs::read(&path).unwrap())
                } else {
                    (
                        "other".to_owned(),
                        std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                    )
                };
                found.insert(path.strip_prefix(&self.root).unwrap().to_owned(), value);
            }
        }
        found
    }
}

/// An undo as it was planned.
pub fn undo_as_planned(plan: effects::Plan) -> Action {
    let mut undone = plan.undone.into_iter();
    let left = plan.left.into_iter().map(|item| model::action::LeftAsIs {
        receipt_id: item.receipt_id,
        resource: item.resource.parse().unwrap(),
        why: item.why,
        beside: item.beside,
    });
    Action::Rollback(acts::Rollback {
        receipt_id: undone.next().or_else(|| plan.partly.first().copied()).unwrap(),
        also: undone.collect(),
        partly: plan.partly,
        left: left.collect(),
        items: plan.items,
    })
}

/// An undo of one receipt.
pub fn undo_of(receipt_id: ReceiptId, items: Vec<ChangeItem>) -> Action {
    Action::Rollback(acts::Rollback { receipt_id, also: vec![], partly: vec![], left: vec![], items })
}

pub fn rel(path: &str) -> RelPath {
    RelPath::from_bytes(path.as_bytes()).unwrap()
}

pub fn sha(bytes: &[u8]) -> Prior {
    Prior::Sha256(Digest::of(bytes))
}

/// A receipt of an outcome, as the kernel makes it: before-images named where their bytes were kept.
pub fn receipt(world: &World, request: &ActionRequest, outcome: &Outcome) -> model::receipt::Receipt {
    use model::artifact::ArtifactRef;
    use model::receipt::*;
    let clock = &StillClock;
    let entropy = &*world.entropy;
    let mut changes = outcome.changes.clone();
    for change in &mut changes {
        if let Found::File { sha256, .. } | Found::Symlink { target_sha256: sha256 } = &change.before
            && world.shelf.0.lock().unwrap().contains_key(sha256)
        {
            change.before_image =
                Some(ArtifactRef { artifact_id: ArtifactId::fresh(clock, entropy), sha256: *sha256 });
        }
    }
    Receipt {
        receipt_id: ReceiptId::fresh(clock, entropy),
        task_id: request.task_id,
        step_id: request.step_id,
        attempt_id: request.attempt_id,
        receipt_class: ReceiptClass::ToolExecution,
        action_class: request.action_class,
        action_request_ref: Slot::NOT_REQUIRED,
        input_refs: vec![],
        environment_ref: Slot::NOT_REQUIRED,
        policy_result_ref: Slot::NOT_REQUIRED,
        approval_ref: Slot::NOT_REQUIRED,
        capability_grant_ref: Slot::NOT_REQUIRED,
        decision_ref: Slot::NOT_REQUIRED,
        authorized: Authorized {
            policy_result_sha256: Slot::NOT_REQUIRED,
            approval_packet_sha256: Slot::NOT_REQUIRED,
            approval_decision_sha256: Slot::NOT_REQUIRED,
            capability_grant_sha256: Slot::NOT_REQUIRED,
            witness_sha256: Slot::NOT_REQUIRED,
            audit_entry_sha256: Slot::NOT_REQUIRED,
            standing: None,
            first_decision_sha256: None,
        },
        ran: Slot::Value(outcome.ran.clone()),
        changes,
        output_refs: vec![],
        observed: vec![],
        rollback: RollbackInfo {
            reversibility: Reversibility::Reversible,
            method: "restore_before_images".to_owned(),
            prerequisites: vec![],
            artifact_refs: vec![],
            rolls_back: None,
        },
        result_code: outcome.result_code,
        result_summary: "as seen".to_owned().into(),
        created_at: NOW,
        replay_class: ReplayClass::ObserveOnly,
        verifiability: Verifiability::HashOnly,
        sandbox_level: outcome.sandbox_level,
        signer_ref: Slot::NOT_REQUIRED,
        manifest_ref: None,
        idempotency_key: "test".to_owned(),
    }
}

/// What is there now at everything a receipt names.
pub fn current(world: &World, receipt: &model::receipt::Receipt) -> Vec<Fingerprint> {
    let resources: Vec<ResourceId> =
        receipt.changes.iter().map(|c| c.resource.clone().into_shown().unwrap().parse().unwrap()).collect();
    world.executors.observe(&resources)
}

pub fn no_faults() -> Arc<dyn Faults> {
    Arc::new(NoFaults)
}
