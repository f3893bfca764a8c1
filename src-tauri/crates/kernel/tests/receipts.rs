//! Receipts: read from their signed bytes, for every class of act that exists here.

use crate::story::{completed, count, die, events, object, state};
use acts::{Action, ActionRequest};
use effects::{Contents, Outcome, Output, Progress, Settled};
use governance::Authorization;
use kernel::command::submit::Reasoning;
use kernel::ports::{BeforeImages, Execute, ExecutorSource, Executors, Look, Servers, StagedView};
use kernel::{DriveOutcome, Error, Kernel, Ports, Waiting};
use model::action::{ActionClass, ChangeItem, Reach, Reversibility};
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::ingress::Channel;
use model::receipt::{ItemOutcome, Ran, Receipt, ReceiptClass, ResultCode, SandboxLevel};
use model::task::TaskStatus;
use model::tool_server::{ServerLaunch, ServerRegistration, ToolManifest};
use model::witness::{Fingerprint, Found, StateWitness};
use model::{AttemptId, Body, RelPath, ResourceId, Slot, TaskId, UnixMs, WorkspaceId};
use seal::{Digest, Signer as _, dsse};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use testkit::{Edge, World, command, done, look, say, write};

fn gone(path: &str) -> model::proposal::Answer {
    say("delete", json!({ "path": path }))
}

/// The last receipt of a task.
fn last(kernel: &Kernel, task: TaskId) -> Receipt {
    kernel.receipt(kernel.task(task).unwrap().receipts.last().unwrap().receipt_id).unwrap().1
}

fn held<T: Clone + std::fmt::Debug>(slot: &Slot<T>) -> T {
    slot.value().cloned().unwrap_or_else(|| panic!("nothing is there: {slot:?}"))
}

#[conforms::conforms("HK-8.10-1", "HK-18.2-1", part = "HK-25.1-7", part = "HK-27-11")]
#[test]
fn a_signed_statement_answers_every_question_about_a_deletion() {
    let world = World::new(601);
    world.file("a.txt", "before");
    let task = world.script("delete it", vec![look("a.txt"), gone("a.txt"), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let (kernel, state) = (world.kernel(), state(&world, task));
    let record = state.receipts.last().unwrap();
    let envelope = kernel.artifacts().read(&record.envelope.sha256).unwrap();
    let envelope = dsse::Envelope::parse(&envelope).unwrap();
    let payload =
        dsse::verify(&envelope, &world.keys.receipt_signer().public()).expect("signed by the receipt key");
    assert!(dsse::verify(&envelope, &world.keys.log_signer().public()).is_err());
    let statement: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert!(!String::from_utf8_lossy(&payload).contains("a.txt"), "names are concealed in what leaves");
    let (_, receipt) = kernel.receipt(record.receipt_id).unwrap();
    assert_eq!(statement["predicate"]["receipt_id"], json!(receipt.receipt_id));
    // 1 What was intended.
    let request: ActionRequest = object(kernel, &state, held(&receipt.action_request_ref).artifact_id);
    assert!(
        matches!(&request.action, Action::Change(acts::Change { items }) if matches!(items[..], [ChangeItem::Delete { .. }]))
    );
    // 2 What was authorised, by whose word.
    let by = &receipt.authorized;
    let approval = &state.approvals[&held(&receipt.approval_ref)];
    assert_eq!(held(&by.approval_packet_sha256), approval.approval.approval_packet_sha256);
    assert_eq!(held(&by.approval_decision_sha256), approval.envelope.as_ref().unwrap().sha256);
    let grant = &state.grants[&held(&receipt.capability_grant_ref)];
    assert_eq!(held(&by.capability_grant_sha256), grant.artifact.sha256);
    assert_eq!(held(&by.policy_result_sha256), held(&receipt.policy_result_ref).sha256);
    for digest in [held(&by.witness_sha256), held(&by.policy_result_sha256)] {
        kernel.artifacts().read(&digest).unwrap();
    }
    let entries = kernel.reader().gate_entries(0, 1_000).unwrap();
    let entry = held(&by.audit_entry_sha256).to_string();
    assert!(entries.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(&entry)));
    assert!(state.decisions.iter().any(|d| Some(d.decision_id) == receipt.decision_ref.value().copied()));
    // 3 What ran, 4 in which environment.
    let ran = held(&receipt.ran);
    assert_eq!(ran.request_sha256, held(&receipt.action_request_ref).sha256);
    let environment: Value = object(kernel, &state, held(&receipt.environment_ref).artifact_id);
    assert_eq!(environment["os"], "test");
    // 5 What changed.
    let [change] = &receipt.changes[..] else { panic!("one file: {:?}", receipt.changes) };
    assert_eq!((change.outcome, &change.after), (ItemOutcome::Done, &Found::Absent));
    assert!(matches!(change.before, Found::File { sha256, .. } if sha256 == Digest::of(b"before")));
    // 6 What was produced, 7 what was seen afterwards.
    assert!(!receipt.output_refs.is_empty());
    let result: Value = object(kernel, &state, receipt.output_refs.last().unwrap().artifact_id);
    assert_eq!(result["result_code"], "succeeded");
    assert_eq!(receipt.result_code, ResultCode::Succeeded);
    assert!(!receipt.input_refs.is_empty(), "what had been looked at is named");
    // 8 Whether it can be taken back, and with what.
    assert_eq!(receipt.rollback.reversibility, Reversibility::Reversible);
    let image = change.before_image.as_ref().expect("what was there is kept");
    assert_eq!(kernel.artifacts().read(&image.sha256).unwrap(), b"before");
}

#[conforms::conforms(part = "HK-6.4-1", "HK-2-5")]
#[test]
fn without_its_receipt_an_act_is_not_complete() {
    for (name, act) in [("write", write("a.txt", "a")), ("delete", gone("b.txt"))] {
        let world = World::new(602);
        world.file("b.txt", "b");
        let task = world.script(name, vec![act, done("ok")]);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.keys.lock(true);
        assert_eq!(world.drive(task), DriveOutcome::KeyLocked);
        let files = if name == "write" { vec!["a.txt", "b.txt"] } else { vec![] };
        assert_eq!(world.files().keys().collect::<Vec<_>>(), files, "{name}: it was done");
        let now = state(&world, task);
        assert_eq!(now.attempt().unwrap().attempt.status, AttemptStatus::ReceiptPending);
        assert_eq!(count(world.kernel(), task, "attempt.iteration_completed"), 0, "the turn is not over");
        assert_eq!(world.drive(task), DriveOutcome::KeyLocked);
        world.keys.lock(false);
        assert_eq!(world.drive(task), completed());
        assert_eq!(last(world.kernel(), task).receipt_class, ReceiptClass::ToolExecution);
        let performed = world.oracle.performed();
        assert!(performed.values().all(|times| *times == 1), "it was not done again for its receipt");
    }
    // What is remembered is no memory before its receipt is there.
    let world = World::new(607);
    world.file("a.txt", "text");
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    let task = world.script("learn", vec![look("a.txt"), say("remember", remember), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    let memories =
        || world.kernel().query().unwrap().memories(None, projections::query::Ask::ALL).unwrap().rows.len();
    world.keys.lock(true);
    assert!(matches!(world.kernel().drive(task), Err(Error::KeyLocked("receipt"))));
    assert_eq!((memories(), count(world.kernel(), task, "memory.promoted")), (0, 0));
    world.keys.lock(false);
    assert_eq!(world.drive(task), completed());
    assert_eq!((memories(), last(world.kernel(), task).receipt_class), (1, ReceiptClass::MemoryPromotion));
}

/// Executors that claim walls and answer every command with what a shell would have said.
pub struct Walled(pub Arc<dyn ExecutorSource>);
struct Talking(Arc<dyn Executors>);

impl Servers for Talking {
    fn look_at_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
    ) -> Result<(ServerLaunch, ToolManifest), String> {
        self.0.look_at_server(server, launch)
    }

    fn resource_seen(
        &self,
        of: &ServerRegistration,
        uri: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String> {
        self.0.resource_seen(of, uri, is_over)
    }

    fn end_servers(&self, attempt: AttemptId) {
        self.0.end_servers(attempt);
    }

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        self.0.fits(schema, value)
    }
}

impl ExecutorSource for Walled {
    fn open(
        &self,
        root: &Path,
        id: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        Ok(Arc::new(Talking(self.0.open(root, id, contents)?)))
    }

    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String> {
        self.0.sweep(needed)
    }

    fn sandbox(&self) -> SandboxLevel {
        SandboxLevel::NamespacesLandlock
    }

    fn remote(&self, root: &Path) -> Option<String> {
        self.0.remote(root)
    }

    fn environment(&self, root: &Path) -> Value {
        self.0.environment(root)
    }
}

impl Look for Talking {
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        self.0.observe(resources)
    }

    fn before_images<'a>(&'a self, items: &[ChangeItem]) -> BeforeImages<'a> {
        self.0.before_images(items)
    }

    fn can_keep(&self, items: &[ChangeItem]) -> Result<(), String> {
        self.0.can_keep(items)
    }

    fn texts(&self, paths: &[model::RelPath]) -> std::collections::BTreeMap<Digest, Vec<u8>> {
        self.0.texts(paths)
    }

    fn reach(&self, action: &Action) -> Reach {
        self.0.reach(action)
    }

    fn head(&self) -> Result<effects::Head, String> {
        self.0.head()
    }

    fn files_seen(
        &self,
        globs: &[String],
    ) -> Result<std::collections::BTreeMap<model::RelPath, String>, model::schedule::Unseen> {
        self.0.files_seen(globs)
    }

    fn ref_seen(&self, name: &str) -> Result<Option<String>, model::schedule::Unseen> {
        self.0.ref_seen(name)
    }
}

impl Execute for Talking {
    fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        let Action::Command(acts::Command { argv, .. }) = &request.action else {
            return self.0.perform(authorization, request, cancelled, progress);
        };
        authorization.admits(request).expect("only what was granted reaches the executors");
        Outcome {
            result_code: ResultCode::Succeeded,
            changes: Vec::new(),
            outputs: vec![Output {
                kind: ArtifactKind::CommandTranscript,
                media_type: "text/plain".to_owned(),
                bytes: b"hello".to_vec(),
                about: argv.join(" "),
            }],
            ran: Ran {
                executor: "hermit.command".to_owned(),
                request_sha256: Digest::of(&seal::canon::to_canonical(request).unwrap()),
                argv: Some(argv.clone().into()),
                executable_sha256: None,
                exit_code: Some(0),
                started_at: UnixMs(1),
                finished_at: UnixMs(2),
            },
            sandbox_level: SandboxLevel::NamespacesLandlock,
            observed: Vec::new(),
            error: None,
            kept: Vec::new(),
        }
    }

    fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled {
        self.0.settle(request, before)
    }

    fn roll_forward(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        settled: &Settled,
    ) -> Outcome {
        self.0.roll_forward(authorization, request, settled)
    }

    fn forget(&self, request: model::ActionRequestId) -> Result<(), String> {
        self.0.forget(request)
    }
}

impl StagedView for Talking {
    fn stageable(&self, _: &Action) -> Result<(), String> {
        Err("these executors try nothing".to_owned())
    }

    fn stage(
        &self,
        _: AttemptId,
        action: &Action,
        _: &dyn Fn() -> bool,
        _: &mut dyn FnMut(Progress<'_>),
    ) -> Result<effects::Staging, effects::Unstaged> {
        Err(effects::Unstaged::Cannot(self.stageable(action).unwrap_err()))
    }

    fn staged_bytes(&self, attempt: AttemptId, path: &RelPath, sha256: &Digest) -> Result<Vec<u8>, String> {
        self.0.staged_bytes(attempt, path, sha256)
    }

    fn unstage(&self, attempt: AttemptId) -> Result<(), String> {
        self.0.unstage(attempt)
    }
}

#[conforms::conforms(
    part = "HK-6.4-1",
    part = "HK-7-1",
    "HK-15.5-3",
    part = "HK-18.6-4",
    part = "HK-25.2-2",
    part = "HK-27-11"
)]
#[test]
fn every_class_of_act_that_exists_leaves_its_receipt() {
    let mut world = World::new(603);
    world.file("a.txt", "text");
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    world.reasoners.script(
        "all",
        vec![
            look("a.txt"),
            write("b.txt", "b"),
            gone("a.txt"),
            command(&["echo", "hello"]),
            command(&["git", "commit", "-m", "x"]),
            say("remember", remember),
            done("ok"),
        ],
    );
    let mut submission = world.submission("all", Reasoning::Scripted { name: "all".to_owned() });
    submission.profile = model::policy::Profile::ExternalPublishGated;
    world.crash();
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    let kernel = Kernel::open(world.store.path(), Ports { executors, ..ports }).unwrap();
    let task = kernel.submit(&submission).unwrap().task_id;
    drive_allowing(&world, &kernel, task);
    let deleted = kernel.task(task).unwrap();
    let deleted =
        deleted.receipts.iter().find(|r| r.action_class == ActionClass::DeleteLocal).unwrap().receipt_id;
    let undo = kernel.rollback(deleted, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    drive_allowing(&world, &kernel, undo);
    assert_eq!(world.files()["a.txt"], b"text");
    let mut receipts = kernel.task(task).unwrap().receipts;
    receipts.extend(kernel.task(undo).unwrap().receipts);
    for (action, class) in [
        (ActionClass::WriteLocal, ReceiptClass::ToolExecution),
        (ActionClass::DeleteLocal, ReceiptClass::ToolExecution),
        (ActionClass::ExecuteCommand, ReceiptClass::CommandExecution),
        (ActionClass::VcsMutation, ReceiptClass::CommandExecution),
        (ActionClass::DurableMemoryWrite, ReceiptClass::MemoryPromotion),
        (ActionClass::Rollback, ReceiptClass::Rollback),
        (ActionClass::ApprovalResolution, ReceiptClass::ApprovalResolution),
    ] {
        let of = receipts.iter().filter(|r| (r.action_class, r.receipt_class) == (action, class));
        assert!(of.count() >= 1, "no receipt for {action}: {receipts:#?}");
    }
    assert!(receipts.iter().all(|r| r.action_class != ActionClass::ReadLocal), "a look is not important");
    let rollback = receipts.iter().find(|r| r.receipt_class == ReceiptClass::Rollback).unwrap();
    assert_eq!(rollback.rolls_back, Some(deleted));
    for (id, at) in
        [task, undo].into_iter().flat_map(|id| events(&kernel, id)).filter_map(|(_, body)| match body {
            Body::EffectDispatched(b) => Some((b.action_request_id, b.executor)),
            _ => None,
        })
    {
        let proved = [task, undo].into_iter().flat_map(|t| events(&kernel, t)).any(|(_, body)| match body {
            Body::ReceiptIssued(b) => b.action_request_id == Some(id),
            _ => false,
        });
        assert!(proved || at == "hermit.observe", "{at} left no receipt");
    }
}

pub fn drive_allowing(world: &World, kernel: &Kernel, task: TaskId) {
    loop {
        match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(kernel, task, id).unwrap();
            }
            standing => return assert_eq!(standing, completed()),
        }
    }
}

#[test]
fn a_no_from_a_surface_without_a_key_has_its_receipt_too() {
    let world = World::new(604);
    let task = world.script("write", vec![write("a.txt", "a"), done("not done")]);
    let approval = world.drive_to_approval(task);
    let surface = model::approval::Surface::Test;
    world.kernel().deny_approval(task, approval, surface, Some("no".to_owned())).unwrap();
    let receipt = last(world.kernel(), task);
    assert_eq!(
        (receipt.receipt_class, receipt.result_code),
        (ReceiptClass::ApprovalResolution, ResultCode::Denied)
    );
    assert!(receipt.authorized.approval_decision_sha256.value().is_none(), "nobody signed it");
    assert_eq!(receipt.result_summary.shown().unwrap(), "Denied by a person, in a test");
    world.drive(task);
    assert!(world.files().is_empty());
}

#[test]
fn the_receipt_of_a_no_that_a_program_hands_in_says_that_it_is_its_word() {
    use model::approval::Surface::{self, Mcp, RunApi, Script, Terminal};
    let world = World::new(6_041);
    let words = "by the word of a program or page that this host let in";
    let denied = |surface: Surface, by_word: bool| {
        let goal = format!("write at {surface}: {by_word}");
        let task = world.script(&goal, vec![write("a.txt", "a"), done("not done")]);
        let approval = world.drive_to_approval(task);
        let kernel = world.kernel();
        let answered = match by_word {
            true => kernel.deny_by_word(task, approval, surface, None),
            false => kernel.deny_approval(task, approval, surface, None),
        };
        answered.unwrap();
        let says = last(kernel, task).result_summary.shown().unwrap().clone();
        world.drive(task);
        says
    };
    assert_eq!(denied(Terminal, false), "Denied by a person, at the terminal");
    assert_eq!(denied(Terminal, true), format!("Denied at the terminal, {words}"));
    for (surface, place) in [(Script, "by a script"), (Mcp, "through MCP"), (RunApi, "through the run API")] {
        assert_eq!(denied(surface, false), format!("Denied {place}, {words}"));
    }
}

#[conforms::conforms("HK-18.6-2")]
#[test]
fn what_cannot_be_undone_says_so_and_is_not_tried() {
    let mut world = World::new(605);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::EffectDispatch, Edge::After);
    world.file("a.txt", "neither");
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    world.kernel().resolve_outcome(task, ResultCode::Succeeded, "I looked").unwrap();
    let settled = last(world.kernel(), task);
    assert_eq!(settled.receipt_class, ReceiptClass::ObservationResolution);
    assert_eq!(settled.rollback.reversibility, Reversibility::Irreversible);
    assert_eq!(settled.rollback.method, "none");
    let refused = world.kernel().rollback(settled.receipt_id, Channel::Cli, "undo".to_owned());
    assert!(matches!(&refused, Err(Error::Conflict(why)) if why.contains("cannot be undone")), "{refused:?}");
    world.drive(task);
    assert_ne!(state(&world, task).task.status, TaskStatus::RolledBack);
    assert_eq!(world.files()["a.txt"], b"neither");
}

#[test]
fn a_receipt_promises_no_undo_that_nothing_could_keep() {
    let world = World::new(606);
    world.file("a.txt", "text");
    let remember = |claim: &str, evidence: Value| {
        say("remember", json!({ "claim": claim, "scope": "*", "reason": "asked", "evidence": evidence }))
    };
    let task = world.script(
        "learn",
        vec![
            look("a.txt"),
            remember("a is text", json!(["a.txt"])),
            remember("a is text", json!(["a.txt"])),
            done("ok"),
        ],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    let of_memory: Vec<Receipt> = state(&world, task)
        .receipts
        .iter()
        .filter(|r| r.receipt_class == ReceiptClass::MemoryPromotion)
        .map(|r| world.kernel().receipt(r.receipt_id).unwrap().1)
        .collect();
    let told: Vec<_> = of_memory.iter().map(|r| (r.result_code, r.rollback.method.as_str())).collect();
    assert_eq!(told, [(ResultCode::Succeeded, "invalidate_memory"), (ResultCode::Failed, "none")]);
    for receipt in of_memory {
        let undo = world.kernel().rollback(receipt.receipt_id, Channel::Cli, receipt.receipt_id.to_string());
        assert!(matches!(undo, Err(Error::Conflict(_))), "{undo:?}");
    }
}
