//! Each view shows what its events say, page by page, and search finds it.

use crate::rebuilding::writer;
use crate::world::{Place, World, person, words};
use ledger::{Batch, Writer};
use model::approval::ApprovalStatus;
use model::artifact::{ArtifactKind, TrustTier};
use model::attempt::{AttemptStatus, LeaseMode, TerminationReason, WorkspaceLease};
use model::body::*;
use model::event::Draft;
use model::fault::Point;
use model::ingress::{Channel, ClarificationStatus, IngressResolution};
use model::knowledge::{BeliefStatus, MemoryStatus};
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::task::{Origin, StepStatus, TaskStatus};
use model::{Body, ConversationId, Digest, IngressId, Sensitive, StepId, TaskId, UnixMs};
use projections::names::Ending;
use projections::query::{ArtifactFilter, TaskFilter};
use projections::*;

/// A store on disk with one task at work.
pub struct Desk {
    _dir: tempfile::TempDir,
    writer: Writer,
    pub query: Query,
    pub world: World,
    pub conversation: ConversationId,
    ingress: IngressId,
    pub task: TaskId,
    pub step: StepId,
    pub place: Place,
}

impl Desk {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let writer = writer(dir.path(), Fold::new()).expect("a new store");
        let query = Query::open(dir.path()).expect("its views");
        let mut world = World::new();
        let (conversation, inbox, opened) = world.conversation();
        let (ingress, received) = world.ingress(conversation, inbox, Channel::App);
        let task = world.fresh("task");
        let bound = world.bound(ingress, inbox, IngressResolution::StartNewRoot, Some(task));
        let created = world.task(task, None, conversation, ingress);
        let (step, planned) = world.step(task);
        let ready = world.status(task, TaskStatus::Created, TaskStatus::Ready);
        let running = world.status(task, TaskStatus::Ready, TaskStatus::Running);
        let (place, begun) = world.attempt(task, step, 1);
        let drafts = vec![opened, received, bound, created, planned, ready, running, begun];
        let mut desk = Self { _dir: dir, writer, query, world, conversation, ingress, task, step, place };
        desk.put(drafts);
        desk
    }

    pub fn put(&mut self, drafts: Vec<Draft>) {
        self.put_with(drafts, vec![]);
    }

    pub fn put_with(&mut self, drafts: Vec<Draft>, blobs: Vec<(Digest, Vec<u8>)>) {
        let batch = Batch { drafts, blobs, ..Batch::new(Point::IterationComplete) };
        self.writer.commit(batch).expect("it is on disk");
    }

    pub fn say(&mut self, body: impl Into<Body>) {
        let draft = self.world.draft(self.place, body);
        self.put(vec![draft]);
    }

    fn task_row(&self) -> rows::TaskRow {
        self.query.task(self.task).expect("it reads").expect("it is there")
    }

    fn now(&self) -> UnixMs {
        UnixMs(self.world.now)
    }
}

fn shown(text: &Sensitive<String>) -> &str {
    text.shown().expect("not erased")
}

#[conforms::conforms("HK-13.6-2")]
#[test]
fn the_task_summary_counts_what_happened() {
    let mut desk = Desk::new();
    let row = desk.task_row();
    assert!(shown(&row.title).starts_with("title") && shown(&row.goal).starts_with("goal"));
    assert_eq!((row.status, row.run_status), (TaskStatus::Running, RunStatus::Running));
    assert_eq!((row.attempts, row.attempt_id, row.ingress_id), (1, desk.place.attempt, desk.ingress));
    desk.say(BudgetReserved { about_task_id: desk.task, tokens: 100, cost_micros: 9 });
    assert_eq!((desk.task_row().tokens_reserved, desk.task_row().tokens_used), (100, 0));
    desk.say(BudgetSettled { about_task_id: desk.task, tokens: 70, cost_micros: 5, wall_ms: 30 });
    let turn = desk.world.iteration(desk.place, 1);
    desk.put(vec![turn]);
    let title = Some(words("another title", 1));
    desk.say(TaskGoalChanged { about_task_id: desk.task, goal: words("another goal", 1), title });
    desk.say(TaskCancelRequested { about_task_id: desk.task, reason: words("enough", 1) });
    let row = desk.task_row();
    assert_eq!((row.tokens_reserved, row.tokens_used, row.cost_used, row.wall_ms), (0, 70, 5, 30));
    assert_eq!((row.iterations, row.run_status), (1, RunStatus::Cancelling));
    assert_eq!((shown(&row.goal), shown(&row.title)), ("another goal 1", "another title 1"));
    let cancelled = desk.world.status(desk.task, TaskStatus::Running, TaskStatus::Cancelled);
    desk.put(vec![cancelled]);
    let row = desk.task_row();
    assert_eq!((row.run_status, row.ended_at), (RunStatus::Cancelled, Some(desk.now())));
    let open = TaskFilter { statuses: vec![TaskStatus::Running, TaskStatus::Blocked], ..Default::default() };
    assert!(desk.query.tasks(&open, Ask::ALL).expect("it reads").rows.is_empty());
}

#[test]
fn the_run_status_follows_its_table_for_every_pair() {
    use AttemptStatus::{AwaitingApproval, AwaitingInput, Observing};
    let asked = Ending { cancel_requested: true, ran_out: false };
    let late = Ending { cancel_requested: false, ran_out: true };
    let calm = Ending::default();
    for (task, attempt, ending, expected) in [
        (TaskStatus::Created, None, calm, RunStatus::Queued),
        (TaskStatus::Ready, None, calm, RunStatus::Queued),
        (TaskStatus::Blocked, Some(AwaitingApproval), calm, RunStatus::AwaitingApproval),
        (TaskStatus::Blocked, Some(AwaitingInput), calm, RunStatus::AwaitingClarify),
        (TaskStatus::Blocked, Some(Observing), calm, RunStatus::Running),
        (TaskStatus::Blocked, Some(AwaitingApproval), asked, RunStatus::Cancelling),
        (TaskStatus::Running, Some(AwaitingApproval), asked, RunStatus::Cancelling),
        (TaskStatus::Paused, None, asked, RunStatus::Paused),
        (TaskStatus::Failed, None, calm, RunStatus::Failed),
        (TaskStatus::Failed, None, late, RunStatus::Expired),
        (TaskStatus::Cancelled, None, late, RunStatus::Expired),
        (TaskStatus::Completed, None, late, RunStatus::Completed),
        (TaskStatus::RolledBack, None, calm, RunStatus::Failed),
    ] {
        assert_eq!(
            run_status(task, attempt, ending, RunStatus::Failed),
            expected,
            "{task} {attempt:?} {ending:?}"
        );
    }
    for attempt in AttemptStatus::ALL {
        let status = run_status(TaskStatus::Running, Some(*attempt), calm, RunStatus::Queued);
        assert_eq!(status, RunStatus::Running, "{attempt}");
    }
}

#[conforms::conforms("HK-13.6-3")]
#[test]
fn the_step_queue_attempts_and_turns_show_their_progress() {
    let mut desk = Desk::new();
    let (about, step) = (desk.place.attempt.expect("an attempt"), desk.step);
    assert_eq!(
        desk.query.steps(Some(desk.task), Some(StepStatus::Planned), Ask::ALL).expect("it reads").rows.len(),
        1
    );
    for (from, to) in [(StepStatus::Planned, StepStatus::Ready), (StepStatus::Ready, StepStatus::Running)] {
        desk.say(StepStatusChanged { about_step_id: step, from, to, reason: "go".into() });
    }
    let queue = desk.query.steps(None, Some(StepStatus::Running), Ask::ALL).expect("it reads");
    assert_eq!((queue.rows[0].step_id, queue.rows[0].attempts), (step, 1));
    let pack = desk.world.some_ref();
    let pack_id = pack.artifact_id;
    desk.say(ContextCompiled {
        about_attempt_id: about,
        iteration: 1,
        pack,
        tokens: 9,
        items: 3,
        omissions: 2,
        memories: None,
        pinned: None,
    });
    let error = words("no such host", 1);
    desk.say(ModelFailed { about_attempt_id: about, iteration: 1, error, retryable: true });
    let turn = desk.world.iteration(desk.place, 1);
    desk.put(vec![turn]);
    let lease = WorkspaceLease {
        lease_id: desk.world.fresh("lse"),
        task_id: desk.task,
        attempt_id: about,
        workspace_id: desk.world.fresh("wsp"),
        root_path: words("/home/me", 1),
        holder_principal_id: crate::world::person(),
        acquired_at: desk.now(),
        expires_at: desk.now().plus_ms(1_000),
        mode: LeaseMode::Mutable,
        resource_scope: vec![],
    };
    let lease_id = lease.lease_id;
    desk.say(LeaseAcquired { lease });
    let attempt = desk.query.attempt(about).expect("it reads").expect("it is there");
    assert_eq!(
        (attempt.lease_id, attempt.context_pack_ref, attempt.iterations),
        (Some(lease_id), Some(pack_id), 1)
    );
    assert!(attempt.lease_expires_at.is_some());
    desk.say(LeaseLost { lease_id, reason: "expired".into() });
    let attempt = desk.query.attempt(about).expect("it reads").expect("it is there");
    assert_eq!(attempt.lease_expires_at, None, "a lost lease is no live one");
    let leases = desk.query.leases(Some(desk.task), Ask::ALL).expect("it reads");
    assert_eq!(leases.rows[0].ended_by.as_deref(), Some("expired"));
    let turns = desk.query.iterations(desk.task, Some(about), Ask::ALL).expect("it reads").rows;
    assert_eq!((turns.len(), turns[0].pack_omissions, turns[0].failures), (1, Some(2), 1));
    assert!(shown(turns[0].decision.as_ref().expect("decided")).starts_with("will read"));
}

#[conforms::conforms("HK-13.6-4", "HK-13.6-5", "HK-13.6-11")]
#[test]
fn inbox_grants_and_receipts_follow_one_act_from_request_to_undo() {
    let mut desk = Desk::new();
    let place = desk.place;
    let (action, mut drafts) = desk.world.action(place, Verdict::RequireApproval);
    let (approval, asked) = desk.world.approval(place, action);
    drafts.push(asked);
    desk.put(drafts);
    let now = desk.now();
    let inbox = desk.query.inbox(now, Ask::ALL).expect("it reads").rows;
    assert_eq!((inbox.len(), inbox[0].approval_id, inbox[0].action_request_id), (1, approval, action));
    assert!(
        desk.query.inbox(now.plus_ms(20_000), Ask::ALL).expect("it reads").rows.is_empty(),
        "too late to answer"
    );
    assert_eq!(
        (desk.task_row().open_approvals, desk.query.waiting(now).expect("it reads").approvals),
        (1, 1)
    );
    let yes = desk.world.yes(place, approval);
    let again = desk.world.draft(place, ApprovalExpired { approval_id: approval });
    desk.put(vec![yes, again]);
    let row = desk.query.approval(approval).expect("it reads").expect("it is there");
    assert_eq!(row.status, ApprovalStatus::Granted, "what was answered does not expire afterwards");
    assert_eq!((row.scope.expect("a scope").max_uses, desk.task_row().open_approvals), (1, 0));
    let (grant, granted) = desk.world.grant(place, action, Some(approval));
    desk.put(vec![granted]);
    assert_eq!(desk.query.active_grants(desk.now(), Ask::ALL).expect("it reads").rows[0].grant_id, grant);
    assert!(
        desk.query.active_grants(desk.now().plus_ms(400_000), Ask::ALL).expect("it reads").rows.is_empty()
    );
    let (other, drafts) = desk.world.action(place, Verdict::Allow);
    desk.put(drafts);
    let (taken_back, granted) = desk.world.grant(place, other, None);
    desk.put(vec![granted]);
    let active = |desk: &Desk| desk.query.active_grants(desk.now(), Ask::ALL).expect("it reads").rows.len();
    assert_eq!(active(&desk), 2);
    desk.say(GrantRevoked { grant_id: taken_back, reason: "changed my mind".into() });
    assert_eq!(active(&desk), 1, "what was taken back is not active");
    let effect = desk.world.effect(place, action, grant, ResultCode::UnknownOutcome);
    desk.put(effect);
    assert!(desk.query.active_grants(desk.now(), Ask::ALL).expect("it reads").rows.is_empty(), "used up");
    assert_eq!(desk.query.action(action).expect("it reads").expect("there").state, ActionState::Uncertain);
    assert_eq!(desk.task_row().unknown_effects, 1);
    let (first, proof) = desk.world.receipt(place, action, ResultCode::UnknownOutcome, None);
    desk.put(vec![proof]);
    let note = words("it had happened", 1);
    let result_code = ResultCode::Succeeded;
    desk.say(OutcomeResolved { action_request_id: action, result_code, note, receipt_id: first });
    assert_eq!(desk.task_row().unknown_effects, 0);
    let (undo, undone) = desk.world.receipt(place, action, ResultCode::Succeeded, Some(first));
    desk.put(vec![undone]);
    let receipts =
        desk.query.receipts(Some(desk.task), Some(action), Ask::ALL.oldest_first()).expect("it reads").rows;
    assert_eq!((receipts[0].resolved_code, receipts[0].undone_by), (Some(ResultCode::Succeeded), Some(undo)));
    assert_eq!((receipts[1].rolls_back, desk.task_row().receipts), (Some(first), 2));
    // The receipt of the yes is there, and is none of what was done.
    let (_, proof) = desk.world.receipt(place, action, ResultCode::Granted, None);
    desk.put(vec![proof]);
    assert_eq!(desk.task_row().receipts, 2);
}

#[conforms::conforms("HK-13.6-6", "HK-14.3-2")]
#[test]
fn the_artifact_catalog_keeps_content_and_moves_metadata_by_events() {
    let mut desk = Desk::new();
    let (made, draft) = desk.world.artifact(desk.place, ArtifactKind::Answer, b"forty two", vec![]);
    desk.put(vec![draft]);
    let read = |desk: &Desk| desk.query.artifact(made.artifact_id).expect("it reads").expect("it is there");
    let before = read(&desk);
    let memory_id = desk.world.fresh("mem");
    let (artifact_id, by) = (made.artifact_id, "rcp".to_owned());
    desk.say(ArtifactReferenced { artifact_id, by: by.clone() });
    desk.say(ArtifactSealed { artifact_id, by: by.clone() });
    desk.say(ArtifactSealed { artifact_id, by: "later".into() });
    desk.say(ArtifactPromoted { artifact_id, memory_id });
    let after = read(&desk);
    assert_eq!((after.uses, after.sealed_by, after.memory_id), (1, Some(by), Some(memory_id)));
    let into = desk.world.fresh("art");
    desk.say(ArtifactCompacted { artifact_id, into });
    assert_eq!((read(&desk).state, read(&desk).compacted_into), (ArtifactState::Compacted, Some(into)));
    desk.say(ArtifactExpired { artifact_id, reason: "old".into() });
    let end = read(&desk);
    assert_eq!(end.state, ArtifactState::Expired);
    assert_eq!(
        (end.content_hash, end.byte_size, end.kind),
        (before.content_hash, before.byte_size, before.kind)
    );
    let same = ArtifactFilter { content_hash: Some(made.sha256), ..Default::default() };
    assert_eq!(desk.query.artifacts(&same, Ask::ALL).expect("it reads").rows.len(), 1);
}

#[conforms::conforms("HK-13.6-7", "HK-13.6-8", "HK-13.6-9", "HK-13.6-10")]
#[test]
fn knowledge_views_show_the_latest_and_keep_what_it_was() {
    let mut desk = Desk::new();
    let place = desk.place;
    for revision in 1..=3 {
        let state = desk.world.some_ref();
        desk.say(WorkingStateUpdated { state, byte_size: 10, revision });
    }
    let states = desk.query.working_states(desk.task, Ask::ALL).expect("it reads").rows;
    assert_eq!((states.len(), states[0].revision, states[0].attempt_id), (1, 3, place.attempt));
    let (one, two) = (desk.world.belief(place), desk.world.belief(place));
    desk.say(BeliefAsserted { belief: one.clone() });
    desk.say(BeliefAsserted { belief: two.clone() });
    let evidence = [desk.world.evidence()];
    desk.say(knowledge::belief::revise(&one, 300, &evidence, "seen again").expect("live"));
    desk.say(knowledge::belief::contradict(&one, &two, "differs").map_or_else(
        |_| {
            BeliefContradicted { belief_id: one.belief_id, by: two.belief_id, note: words("differs", 1) }
                .into()
        },
        |found| found.body,
    ));
    let beliefs = desk.query.beliefs(Some(desk.task), None, Ask::ALL.oldest_first()).expect("it reads").rows;
    assert_eq!((beliefs.len(), beliefs[0].revision, beliefs[0].confidence), (2, 2, 300));
    assert_eq!(beliefs[0].contradicts, [two.belief_id]);
    assert_eq!(beliefs[1].contradicts, [one.belief_id]);
    let contradicted =
        desk.query.beliefs(None, Some(BeliefStatus::Contradicted), Ask::ALL).expect("it reads");
    assert_eq!(contradicted.rows.len(), 1);
    let revisions =
        desk.query.belief_revisions(one.belief_id, Ask::ALL.oldest_first()).expect("it reads").rows;
    assert_eq!(revisions.iter().map(|r| r.confidence).collect::<Vec<_>>(), [700, 300]);
    let old = desk.world.memory(place, None);
    let new = desk.world.memory(place, Some(old.memory_id));
    for body in [knowledge::memory::promoted(old.clone()), knowledge::memory::promoted(new)].concat() {
        desk.say(body);
    }
    let held = desk.query.memories(Some(MemoryStatus::Active), Ask::ALL).expect("it reads").rows;
    assert_eq!((held.len(), held[0].supersedes), (1, Some(old.memory_id)));
    let gone = desk.query.memory(old.memory_id).expect("it reads").expect("never deleted");
    assert_eq!((gone.status, gone.superseded_by), (MemoryStatus::Invalidated, Some(held[0].memory_id)));
    assert_eq!(shown(&gone.claim), old.claim.shown().expect("not erased"));
    let decided = desk.world.decision(place);
    desk.put(vec![decided]);
    let decisions = desk.query.decisions(Some(desk.task), Ask::ALL).expect("it reads").rows;
    assert!(shown(&decisions[0].rationale).starts_with("since"));
    assert!(shown(&decisions[0].alternatives[0]).starts_with("wait"));
}

#[conforms::conforms("HK-13.6-12", "HK-15.8-1")]
#[test]
fn the_chat_is_told_from_events_in_their_order() {
    let mut desk = Desk::new();
    let place = desk.place;
    let (question, asked) = desk.world.question(place);
    desk.put(vec![asked]);
    let open =
        desk.query.questions(None, Some(ClarificationStatus::Pending), Ask::ALL).expect("it reads").rows;
    assert_eq!((open[0].clarification_id, shown(&open[0].choices[1]).starts_with("right")), (question, true));
    desk.say(ClarificationAnswered { clarification_id: question, ingress_id: desk.ingress });
    assert_eq!(desk.task_row().open_questions, 0);
    desk.say(RunTerminated {
        about_attempt_id: place.attempt.expect("an attempt"),
        reason: TerminationReason::Done,
        iterations: 1,
        summary: words("all done", 1),
        answer: None,
        helped: None,
        contradicted: None,
    });
    let completed = desk.world.status(desk.task, TaskStatus::Running, TaskStatus::Completed);
    desk.put(vec![completed]);
    let talk = desk.query.messages(desk.conversation, None, Ask::ALL.oldest_first()).expect("it reads").rows;
    let kinds: Vec<_> = talk.iter().map(|m| m.kind).collect();
    assert_eq!(kinds, [MessageKind::Message, MessageKind::Question, MessageKind::Answer, MessageKind::Ended]);
    assert!(
        talk.iter().all(|m| m.task_id == Some(desk.task)),
        "the first message was bound to the task it began"
    );
    assert!(shown(talk[0].text.as_ref().expect("words")).starts_with("please do thing"));
}

#[test]
fn inputs_wait_until_they_are_absorbed() {
    let mut desk = Desk::new();
    let (ingress_id, about_task_id) = (desk.ingress, desk.task);
    desk.say(TaskInputAdded {
        about_task_id,
        ingress_id,
        text: words("also this", 1),
        trust_tier: None,
        encloses: None,
    });
    assert_eq!(
        desk.query.pending_inputs(desk.task, Ask::ALL).expect("it reads").rows[0].ingress_id,
        ingress_id
    );
    assert_eq!(desk.task_row().unread_inputs, 1);
    desk.say(TaskInputAbsorbed { about_task_id, ingress_id, boundary: Boundary::PrePolicy });
    assert!(desk.query.pending_inputs(desk.task, Ask::ALL).expect("it reads").rows.is_empty());
    let row = &desk.query.ingress(desk.conversation, Ask::ALL).expect("it reads").rows[0];
    assert_eq!((row.boundary, desk.task_row().unread_inputs), (Some(Boundary::PrePolicy), 0));
    assert_eq!(row.trust_tier, None, "nothing is claimed of what nobody said");
    let body = IngressAttributed { ingress_id, principal_id: person(), trust_tier: TrustTier::Untrusted };
    desk.say(body);
    let row = &desk.query.ingress(desk.conversation, Ask::ALL).expect("it reads").rows[0];
    assert_eq!(row.trust_tier, Some(TrustTier::Untrusted));
    assert_eq!(desk.task_row().origin, Origin::Person, "absent, a person began it");
}

#[test]
fn pages_neither_repeat_nor_skip_and_stay_below_their_cap() {
    let mut desk = Desk::new();
    let drafts: Vec<Draft> = (0..1_203).map(|_| desk.world.decision(desk.place)).collect();
    desk.put(drafts);
    for order in [Order::Newest, Order::Oldest] {
        let mut seen = Vec::new();
        let mut ask = Ask { after: None, limit: 100, order };
        loop {
            let page = desk.query.decisions(Some(desk.task), ask).expect("it reads");
            seen.extend(page.rows.iter().map(|d| d.seq));
            let Some(next) = page.next else { break };
            let told: Cursor = next.to_string().parse().expect("a cursor reads itself");
            ask = ask.after(Some(told));
            // What comes in meanwhile moves nothing that is still to come.
            let more = desk.world.decision(desk.place);
            if order == Order::Newest {
                desk.put(vec![more]);
            }
        }
        assert!(seen.len() >= 1_203);
        let sorted = |w: &[u64]| if order == Order::Newest { w[0] > w[1] } else { w[0] < w[1] };
        assert!(seen.windows(2).all(sorted), "{order}");
    }
    for (limit, rows) in [(0, 1), (7, 7), (u32::MAX, 500)] {
        let ask = Ask { limit, ..Ask::default() };
        assert_eq!(desk.query.decisions(None, ask).expect("it reads").rows.len(), rows);
    }
    for wrong in ["", "c", "x1", "c01", "cZZ", "C1"] {
        assert!(matches!(wrong.parse::<Cursor>(), Err(Error::Asked { .. })), "`{wrong}`");
    }
}

#[test]
fn search_finds_words_and_their_beginnings_in_events_and_small_artifacts() {
    let mut desk = Desk::new();
    let bytes = b"the quarterly figures of the bakery".to_vec();
    let (_, text) = desk.world.artifact(desk.place, ArtifactKind::FileSnapshot, &bytes, vec![]);
    desk.put_with(vec![text], vec![(Digest::of(&bytes), bytes.clone())]);
    let kept = b"bakery again, sent to a model".to_vec();
    let (_, sent) = desk.world.artifact(desk.place, ArtifactKind::ModelRequest, &kept, vec![]);
    desk.put_with(vec![sent], vec![(Digest::of(&kept), kept.clone())]);
    let claim = desk.world.belief(desk.place);
    let claim = model::knowledge::Belief { claim: "The Café bakes at dawn".to_owned().into(), ..claim };
    desk.say(BeliefAsserted { belief: claim.clone() });
    let find = |text: &str| desk.query.search(text, Ask::ALL).expect("it reads").rows;
    let hits = find("quarterly bake");
    assert_eq!((hits.len(), hits[0].part.as_str()), (1, "/content"));
    assert!(shown(&hits[0].excerpt).contains("quarterly figures"));
    let both = find("BAKE");
    assert_eq!(both.len(), 2, "an artifact and a belief; what was sent to the model only repeats them");
    assert!(both[0].seq > both[1].seq, "the newest first");
    assert_eq!(find("cafe")[0].id, claim.belief_id.to_string());
    assert!(find("bakery NOT figures").is_empty(), "nothing in the words is an operator");
    assert!(find("\"; DROP TABLE view_tasks; --").is_empty());
    assert!(matches!(desk.query.search(" !? ", Ask::ALL), Err(Error::Asked { .. })));
    let first = desk.query.search("bake", Ask { limit: 1, ..Ask::default() }).expect("it reads");
    let second =
        desk.query.search("bake", Ask { limit: 1, ..Ask::default() }.after(first.next)).expect("it reads");
    assert_eq!((first.rows[0].seq, second.rows[0].seq, second.next), (both[0].seq, both[1].seq, None));
}

#[test]
fn the_text_of_an_artifact_that_goes_is_found_no_more_and_no_other_goes_with_it() {
    let mut desk = Desk::new();
    let mut made = Vec::new();
    for bytes in [b"a kettle of copper".to_vec(), b"a kettle of tin".to_vec(), b"a kettle of clay".to_vec()] {
        let (artifact, draft) = desk.world.artifact(desk.place, ArtifactKind::FileSnapshot, &bytes, vec![]);
        desk.put_with(vec![draft], vec![(Digest::of(&bytes), bytes)]);
        made.push(artifact.artifact_id);
    }
    let find = |desk: &Desk, text: &str| desk.query.search(text, Ask::ALL).expect("it reads").rows.len();
    assert_eq!((find(&desk, "kettle"), find(&desk, "tin")), (3, 1));
    let gone = [made[1], made[2]].map(|artifact_id| {
        desk.world.draft(desk.place, ArtifactExpired { artifact_id, reason: "old".into() })
    });
    desk.put(gone.to_vec());
    assert_eq!((find(&desk, "kettle"), find(&desk, "copper")), (1, 1));
    assert_eq!((find(&desk, "tin"), find(&desk, "clay")), (0, 0));
}

#[test]
fn the_lineage_of_a_task_is_folded_from_its_events() {
    let mut desk = Desk::new();
    let (made, draft) = desk.world.artifact(desk.place, ArtifactKind::Answer, b"x", vec![]);
    desk.put(vec![draft]);
    let graph = desk.query.lineage(desk.task).expect("it reads");
    assert_eq!(graph.producer(made.artifact_id), desk.place.attempt);
    let label = graph.node(desk.task).and_then(|n| n.label.clone()).expect("a label");
    assert!(shown(&label).starts_with("title"));
}
