//! Legal histories from a seed: statuses move along their tables, what is answered was asked, what is used exists.

// By its path: benchmarks take this file from elsewhere.
#[path = "history/contents.rs"]
mod contents;

use crate::store::Store;
use crate::way::way;
use crate::world::{Place, World, words};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::*;
use model::event::Draft;
use model::ingress::{Channel, IngressResolution};
use model::knowledge::Belief;
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::task::{StepStatus, TaskStatus};
use model::*;

struct Talk {
    id: ConversationId,
    inbox: TaskId,
}

/// A task under way, and what of it is open.
struct Work {
    task: TaskId,
    status: TaskStatus,
    step: StepId,
    step_status: StepStatus,
    attempt: Option<(Place, AttemptStatus)>,
    attempts: u32,
    turns: u32,
    waiting: Vec<(ApprovalId, ActionRequestId)>,
    allowed: Vec<(ActionRequestId, Option<ApprovalId>)>,
    granted: Vec<(ActionRequestId, GrantId)>,
    done: Vec<ActionRequestId>,
    uncertain: Vec<ActionRequestId>,
    receipts: Vec<ReceiptId>,
    questions: Vec<ClarificationId>,
    inputs: Vec<IngressId>,
    beliefs: Vec<Belief>,
    memories: Vec<MemoryId>,
    artifacts: Vec<ArtifactId>,
}

/// A history that grows.
pub struct History {
    pub store: Store,
    pub world: World,
    rng: u64,
    talks: Vec<Talk>,
    works: Vec<Work>,
}

impl History {
    pub fn new(seed: u64) -> Self {
        let rng = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { store: Store::new(), world: World::new(), rng, talks: vec![], works: vec![] }
    }

    pub fn run(mut self, steps: u32) -> Self {
        for _ in 0..steps {
            let (drafts, blobs) = self.next();
            if !drafts.is_empty() {
                self.store.commit(drafts, &blobs, &[]);
            }
            if self.chance(40) {
                self.erase();
            }
        }
        self
    }

    fn roll(&mut self, below: usize) -> usize {
        self.rng ^= self.rng << 13;
        self.rng ^= self.rng >> 7;
        self.rng ^= self.rng << 17;
        usize::try_from(self.rng % below.max(1) as u64).unwrap_or(0)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.roll(one_in) == 0
    }

    /// Erases a few disclosures, with the event that says so in the same batch.
    fn erase(&mut self) {
        let mut digests = Vec::new();
        for _ in 0..3 {
            let n = self.store.open.len();
            let at = self.roll(n);
            digests.extend(self.store.open.get(at).copied());
        }
        digests.sort();
        digests.dedup();
        let system = crate::world::id("task", 1);
        let body = DisclosuresErased { digests: digests.clone(), reason: "asked for".into() };
        let draft = self.world.draft(Place::task(system), body);
        self.store.commit(vec![draft], &[], &digests);
    }

    /// The next batch, for whoever keeps it elsewhere: events, and content they name.
    pub fn next(&mut self) -> (Vec<Draft>, Vec<Vec<u8>>) {
        let plain = |drafts| (drafts, vec![]);
        if self.talks.is_empty() || self.chance(30) {
            let (id, inbox, draft) = self.world.conversation();
            self.talks.push(Talk { id, inbox });
            return plain(vec![draft]);
        }
        if self.works.is_empty() || self.chance(8) {
            return plain(self.new_task());
        }
        if self.chance(20) {
            return plain(self.house());
        }
        let at = self.roll(self.works.len());
        let mut work = self.works.swap_remove(at);
        let made = match self.roll(10) {
            0 => self.message(&mut work),
            1 | 2 => plain(self.knowledge(&mut work)),
            3 => self.content(&mut work),
            4..=6 => plain(self.act(&mut work)),
            _ => plain(self.advance(&mut work)),
        };
        self.works.push(work);
        made
    }

    fn channel(&mut self) -> Channel {
        let at = self.roll(Channel::ALL.len());
        Channel::ALL[at]
    }

    fn new_task(&mut self) -> Vec<Draft> {
        let at = self.roll(self.talks.len());
        let (conversation, inbox) = (self.talks[at].id, self.talks[at].inbox);
        let channel = self.channel();
        let (ingress, received) = self.world.ingress(conversation, inbox, channel);
        let task: TaskId = self.world.fresh("task");
        let bound = self.world.bound(ingress, inbox, IngressResolution::StartNewRoot, Some(task));
        let part_of = self.works.first().map(|work| work.task).filter(|_| at.is_multiple_of(2));
        let created = self.world.task(task, part_of, conversation, ingress);
        let (step, planned) = self.world.step(task);
        self.works.push(Work {
            task,
            status: TaskStatus::Created,
            step,
            step_status: StepStatus::Planned,
            attempt: None,
            attempts: 0,
            turns: 0,
            waiting: vec![],
            allowed: vec![],
            granted: vec![],
            done: vec![],
            uncertain: vec![],
            receipts: vec![],
            questions: vec![],
            inputs: vec![],
            beliefs: vec![],
            memories: vec![],
            artifacts: vec![],
        });
        vec![received, bound, created, planned]
    }

    /// What concerns no task: people, folders, the gate, the focus, talk.
    fn house(&mut self) -> Vec<Draft> {
        let at = self.roll(self.talks.len());
        let (conversation_id, inbox) = (self.talks[at].id, self.talks[at].inbox);
        let system = Place::task(crate::world::id("task", 1));
        let body: Body = match self.roll(7) {
            5 => self.world.rooted(conversation_id),
            0 => WorkspaceRegistered { workspace_id: self.world.fresh("wsp"), root_path: words("/home/", 1) }
                .into(),
            1 => GateHalted { session: "s".into(), reason: words("fire", 1), by_person: true }.into(),
            2 => GateBooted { session: "t".into() }.into(),
            3 => {
                let focus_task_id = self.works.first().map(|w| w.task).filter(|_| at.is_multiple_of(2));
                FocusChanged { conversation_id, focus_task_id, reason: "switched".into() }.into()
            }
            4 => {
                let principal = model::principal::Principal {
                    principal_id: self.world.fresh("prn"),
                    principal_type: model::principal::PrincipalType::User,
                    display_name: words("somebody", self.world.n),
                    created_at: UnixMs(self.world.now),
                    authn_context_ref: None,
                    labels: vec![],
                    external_identity_ref: None,
                };
                PrincipalRegistered { principal }.into()
            }
            _ => {
                let (ingress, received) = self.world.ingress(conversation_id, inbox, Channel::App);
                let how = [IngressResolution::ChatOnly, IngressResolution::PendingDisambiguation][at % 2];
                return vec![received, self.world.bound(ingress, inbox, how, None)];
            }
        };
        vec![self.world.draft(system, body)]
    }

    fn knowledge(&mut self, work: &mut Work) -> Vec<Draft> {
        let place = work.attempt.map_or(Place::task(work.task), |(place, _)| place);
        let world = &mut self.world;
        let live: Vec<Belief> =
            work.beliefs.iter().filter(|b| ::knowledge::belief::is_live(b)).cloned().collect();
        let body: Body = match (self.rng >> 9) % 8 {
            0 | 1 => BeliefAsserted { belief: world.belief(place) }.into(),
            2 if !live.is_empty() => {
                let evidence = [world.evidence()];
                ::knowledge::belief::revise(&live[0], 500, &evidence, "looked again").expect("it is live")
            }
            3 if live.len() > 1 => {
                ::knowledge::belief::supersede(&live[0], &live[1]).expect("equally trusted")
            }
            4 if live.len() > 1 => BeliefContradicted {
                belief_id: live[0].belief_id,
                by: live[1].belief_id,
                note: words("differs", world.n),
            }
            .into(),
            5 if !live.is_empty() => ::knowledge::belief::revoke(&live[0], "wrong").expect("it is live"),
            6 => {
                let old = work.memories.last().copied();
                let record = world.memory(place, old);
                work.memories.push(record.memory_id);
                let bodies = ::knowledge::memory::promoted(record);
                return bodies.into_iter().map(|body| world.draft(place, body)).collect();
            }
            _ => return vec![world.decision(place)],
        };
        let mut map = work.beliefs.iter().map(|b| (b.belief_id, b.clone())).collect();
        ::knowledge::belief::fold(&mut map, &body);
        work.beliefs = map.into_values().collect();
        vec![world.draft(place, body)]
    }

    /// One link of the governed path, wherever the task has come to.
    fn act(&mut self, work: &mut Work) -> Vec<Draft> {
        let Some((place, _)) = work.attempt.filter(|_| work.status == TaskStatus::Running) else {
            return vec![];
        };
        if let Some(action) = work.uncertain.pop() {
            return self.looked(place, action);
        }
        if let Some(action) = work.done.pop() {
            let undoes = work.receipts.last().copied().filter(|_| self.chance(4));
            let (id, receipt) = self.world.receipt(place, action, ResultCode::Succeeded, undoes);
            work.receipts.push(id);
            return vec![receipt];
        }
        if let Some((action, grant_id)) = work.granted.pop() {
            if self.chance(5) {
                return vec![
                    self.world.draft(place, GrantRevoked { grant_id, reason: "changed my mind".into() }),
                ];
            }
            let unknown = self.chance(4);
            let code = if unknown { ResultCode::UnknownOutcome } else { ResultCode::Succeeded };
            (if unknown { &mut work.uncertain } else { &mut work.done }).push(action);
            return self.world.effect(place, action, grant_id, code);
        }
        if let Some((action, approval)) = work.allowed.pop() {
            let (grant, draft) = self.world.grant(place, action, approval);
            work.granted.push((action, grant));
            return vec![draft];
        }
        if let Some((approval_id, action)) = work.waiting.pop() {
            return match self.roll(5) {
                0 => vec![self.world.no(place, approval_id)],
                1 => vec![self.world.draft(place, ApprovalExpired { approval_id })],
                2 => {
                    vec![self.world.draft(place, ApprovalInvalidated { approval_id, reason: "drift".into() })]
                }
                _ => {
                    work.allowed.push((action, Some(approval_id)));
                    vec![self.world.yes(place, approval_id)]
                }
            };
        }
        let verdict = Verdict::ALL[self.roll(Verdict::ALL.len())];
        let (action, mut drafts) = self.world.action(place, verdict);
        match verdict {
            Verdict::Allow => work.allowed.push((action, None)),
            Verdict::RequireApproval => {
                let (approval, asked) = self.world.approval(place, action);
                work.waiting.push((approval, action));
                drafts.push(asked);
            }
            Verdict::Deny | Verdict::Downgrade => {}
        }
        drafts
    }

    fn looked(&mut self, place: Place, action_request_id: ActionRequestId) -> Vec<Draft> {
        let (receipt_id, receipt) =
            self.world.receipt(place, action_request_id, ResultCode::UnknownOutcome, None);
        let note = words("looked", self.world.n);
        let body = OutcomeResolved { action_request_id, result_code: ResultCode::Failed, note, receipt_id };
        vec![receipt, self.world.draft(place, body)]
    }

    /// Ends every task that is under way, along the tables: what still waits is withdrawn first.
    #[allow(dead_code, reason = "for stores that are grown to be browsed")]
    pub fn finish(&mut self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for work in std::mem::take(&mut self.works) {
            let task = Place::task(work.task);
            let lapsed = work.waiting.iter().map(|(id, _)| ApprovalExpired { approval_id: *id });
            drafts.extend(lapsed.map(|body| self.world.draft(task, body)));
            let unasked = work.questions.iter().map(|id| ClarificationCancelled { clarification_id: *id });
            drafts.extend(unasked.map(|body| self.world.draft(task, body)));
            drafts.extend(work.uncertain.iter().flat_map(|action| self.looked(task, *action)));
            if let Some((place, from)) = work.attempt {
                let ends = [AttemptStatus::Cancelled, AttemptStatus::Failed];
                let path = way(transition::ATTEMPT, from, &ends);
                drafts.extend(path.iter().map(|(from, to)| self.world.moved(place, *from, *to)));
            }
            let end = if self.chance(9) { TaskStatus::Failed } else { TaskStatus::Completed };
            for (from, to) in way(transition::TASK, work.status, &[end]) {
                drafts.push(self.world.status(work.task, from, to));
            }
        }
        drafts
    }

    /// Task, step and attempt along their tables.
    fn advance(&mut self, work: &mut Work) -> Vec<Draft> {
        let task = Place::task(work.task);
        let (TaskStatus::Running, Some((place, now))) = (work.status, work.attempt) else {
            let next: Vec<TaskStatus> =
                transition::TASK.iter().filter(|(from, _)| *from == work.status).map(|(_, to)| *to).collect();
            if next.is_empty() {
                return vec![];
            }
            let to = next[self.roll(next.len())];
            let mut drafts = Vec::new();
            if to == TaskStatus::Cancelled && self.chance(2) {
                let body = TaskCancelRequested { about_task_id: work.task, reason: words("stop", 1) };
                drafts.push(self.world.draft(task, body));
            }
            drafts.push(self.world.status(work.task, work.status, to));
            work.status = to;
            if to == TaskStatus::Running && work.attempt.is_none() {
                drafts.extend(self.begin(work));
            }
            return drafts;
        };
        if self.chance(3) {
            return self.turn(work, place);
        }
        let next: Vec<AttemptStatus> =
            transition::ATTEMPT.iter().filter(|(from, _)| *from == now).map(|(_, to)| *to).collect();
        // The way forward comes first in the table; half of the time a question is asked on it.
        let forward = if self.chance(3) { self.roll(next.len()) } else { 0 };
        let asks = now == AttemptStatus::Reasoning && self.chance(2);
        let to = if asks { AttemptStatus::AwaitingInput } else { next[forward] };
        let mut drafts = vec![self.world.moved(place, now, to)];
        work.attempt = Some((place, to));
        if to == AttemptStatus::AwaitingInput {
            let (question, draft) = self.world.question(place);
            work.questions.push(question);
            drafts.push(draft);
        }
        if to.is_ended() {
            let reasons =
                [TerminationReason::Done, TerminationReason::Expired, TerminationReason::NoProgress];
            let body = RunTerminated {
                about_attempt_id: place.attempt.expect("an attempt"),
                reason: reasons[self.roll(3)],
                iterations: work.turns,
                summary: words("that was it", self.world.n),
                answer: None,
                helped: None,
                contradicted: None,
            };
            drafts.push(self.world.draft(place, body));
            work.attempt = None;
            let next = [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Blocked][self.roll(3)];
            drafts.push(self.world.status(work.task, TaskStatus::Running, next));
            work.status = next;
            for clarification_id in work.questions.drain(..) {
                drafts.push(self.world.draft(place, ClarificationCancelled { clarification_id }));
            }
        }
        drafts
    }

    fn begin(&mut self, work: &mut Work) -> Vec<Draft> {
        work.attempts += 1;
        let (place, created) = self.world.attempt(work.task, work.step, work.attempts);
        work.attempt = Some((place, AttemptStatus::Created));
        let to =
            if work.step_status == StepStatus::Planned { StepStatus::Ready } else { StepStatus::Running };
        let body =
            StepStatusChanged { about_step_id: work.step, from: work.step_status, to, reason: "go".into() };
        work.step_status = to;
        vec![self.world.draft(place, body), created]
    }

    fn turn(&mut self, work: &mut Work, place: Place) -> Vec<Draft> {
        work.turns += 1;
        let (about, iteration) = (place.attempt.expect("an attempt"), work.turns);
        let compiled = self.world.compiled(place, iteration, &work.memories);
        let reserved = BudgetReserved { about_task_id: work.task, tokens: 1_000, cost_micros: 5 };
        let settled = BudgetSettled { about_task_id: work.task, tokens: 950, cost_micros: 4, wall_ms: 12 };
        let asked = ModelRequested {
            about_attempt_id: about,
            iteration,
            request: self.world.some_ref(),
            provider: "local".into(),
            model: "small".into(),
            remote: false,
        };
        let mut drafts = vec![self.world.draft(place, compiled), self.world.draft(place, reserved)];
        drafts.push(self.world.draft(place, asked));
        if self.chance(4) {
            let error = words("no answer", self.world.n);
            let body = ModelFailed { about_attempt_id: about, iteration, error, retryable: true };
            drafts.push(self.world.draft(place, body));
            return drafts;
        }
        let answered = ModelResponded {
            about_attempt_id: about,
            iteration,
            response: self.world.some_ref(),
            answer: self.world.some_ref(),
            tokens_in: 900,
            tokens_out: 50,
            cost_micros: 4,
            finish_reason: "stop".into(),
        };
        let state = WorkingStateUpdated { state: self.world.some_ref(), byte_size: 77, revision: iteration };
        drafts.push(self.world.draft(place, answered));
        drafts.push(self.world.draft(place, settled));
        drafts.push(self.world.draft(place, state));
        drafts.push(self.world.iteration(place, iteration));
        drafts
    }
}
