//! What must hold of a store, whatever happened to its hosts.

use super::sim::Sim;
use model::attempt::TerminationReason;
use model::body::Body;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use model::{ActionRequestId, GrantId, Slot, TaskId};
use seal::Signer as _;
use std::collections::{BTreeMap, BTreeSet};

/// How a story came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Tasks by goal: status and reason.
    pub tasks: BTreeMap<String, (TaskStatus, Option<TerminationReason>)>,
    /// The folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What the receipts of effects say.
    pub results: Vec<ResultCode>,
}

/// Checks everything and says how the story came out. Closes the kernel.
pub fn audit(sim: &mut Sim) -> Ending {
    audit_of(sim, true)
}

/// As [`audit`], and the views only where they are asked for.
pub fn audit_of(sim: &mut Sim, views: bool) -> Ending {
    sim.run(|sim| {
        let tasks = sim.kernel().reader().task_ids().expect("readable");
        sim.kernel().checkpoint(&tasks)?;
        Ok(())
    });
    let tasks = endings(sim);
    nothing_staged_is_left(sim);
    sim.run(|sim| Ok(sim.kernel().close()?));
    sim.learn(true);
    verified(sim);
    let results = effects(sim);
    sim.world.crash();
    if views {
        rebuilt(sim);
    }
    Ending { tasks, files: sim.world.files(), results }
}

fn endings(sim: &Sim) -> BTreeMap<String, (TaskStatus, Option<TerminationReason>)> {
    let mut found = BTreeMap::new();
    for task in task_ids(sim) {
        let state = sim.kernel().task(task).expect("a task");
        let reason = state.attempt().and_then(kernel::state::AttemptState::ended);
        let goal = state.goal_text();
        let goal = goal.split("receipt ").next().unwrap_or_default().to_owned();
        // The same goal once more is a follow-up.
        let again = (2..).map(|n| format!("{goal} ({n})"));
        let name = std::iter::once(goal.clone()).chain(again).find(|name| !found.contains_key(name));
        found.insert(name.unwrap_or_default(), (state.task.status, reason));
    }
    found
}

/// Every task has ended, so nothing of a staged run is wanted, and nothing is there.
fn nothing_staged_is_left(sim: &Sim) {
    let spool = sim.world.store.path().join("spool");
    let names = std::fs::read_dir(spool).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("stage-")).collect();
    let open = task_ids(sim)
        .into_iter()
        .filter(|id| sim.kernel().task(*id).is_ok_and(|state| !state.task.status.is_terminal()));
    assert!(left.is_empty() || open.count() > 0, "{}: staged runs are left behind: {left:?}", sim.name);
}

/// Tasks of people.
fn task_ids(sim: &Sim) -> BTreeSet<TaskId> {
    let created =
        |(event, body): &(model::Event, Body)| matches!(body, Body::TaskCreated(_)).then_some(event.task_id);
    sim.events().iter().filter_map(created).collect()
}

/// Every chain, tree and signature of the ledger holds.
fn verified(sim: &Sim) {
    let key = sim.world.keys.log_signer().public();
    let report = ledger::verify(sim.kernel().reader(), &[key], None, &mut |_| true).expect("it verifies");
    assert_eq!(report.verdict, ledger::Verdict::Valid, "{}: {}", sim.name, report.reason);
}

/// What the log says of one act.
#[derive(Default)]
struct Act {
    important: bool,
    asked: u32,
    allowed: u32,
    granted: Option<GrantId>,
    by_person: bool,
    dispatched: u32,
    observed: u32,
    uncertain: u32,
    resolved: u32,
    receipts: u32,
    receipts_unknown: u32,
}

/// No effect without its dispatch, none twice, no grant used beyond its uses, one receipt for each important act.
fn effects(sim: &Sim) -> Vec<ResultCode> {
    let (acts, grants) = acts(sim);
    for (request, begun) in sim.world.oracle.performed() {
        let act = acts.get(&request);
        assert_eq!(begun, 1, "{}: `{request}` was begun {begun} times", sim.name);
        assert!(act.is_some_and(|a| a.dispatched == 1), "{}: `{request}` ran without its dispatch", sim.name);
    }
    for (grant, (max_uses, used)) in grants {
        assert!(used <= max_uses, "{}: grant `{grant}` was used {used} times of {max_uses}", sim.name);
        let counted = sim.kernel().reader().grant_uses(grant).expect("readable");
        assert_eq!(counted, used, "{}: uses of `{grant}` in the log and beside it", sim.name);
    }
    for (request, act) in &acts {
        let name = &sim.name;
        assert!(
            act.asked <= 1 && act.allowed <= 1,
            "{name}: `{request}` asked {} allowed {}",
            act.asked,
            act.allowed
        );
        assert!(act.dispatched <= 1, "{name}: `{request}` dispatched {} times", act.dispatched);
        assert!(act.resolved <= act.uncertain, "{name}: `{request}` settled without having been open");
        if act.dispatched == 0 {
            assert_eq!(act.receipts + act.receipts_unknown, 0, "{name}: a receipt for what was never begun");
            continue;
        }
        assert!(act.granted.is_some(), "{name}: `{request}` dispatched without a grant");
        assert!(
            !act.by_person || act.allowed == 1,
            "{name}: `{request}` dispatched without the yes it names"
        );
        // A look that was interrupted is taken again and may stay without an outcome (HK-19.5).
        if act.important {
            assert_eq!(act.observed + act.uncertain, 1, "{name}: `{request}` has no outcome, or several");
            assert_eq!(act.receipts, act.observed, "{name}: `{request}` has {} receipts", act.receipts);
            assert_eq!(
                act.receipts_unknown, act.uncertain,
                "{name}: unknown outcomes of `{request}` and receipts"
            );
        }
    }
    let said = |(_, body): &(model::Event, Body)| match body {
        Body::ReceiptIssued(b) if b.action_request_id.is_some() => Some(b.result_code),
        _ => None,
    };
    sim.events().iter().filter_map(said).collect()
}

type Grants = BTreeMap<GrantId, (u32, u32)>;

fn acts(sim: &Sim) -> (BTreeMap<ActionRequestId, Act>, Grants) {
    let mut acts: BTreeMap<ActionRequestId, Act> = BTreeMap::new();
    let mut grants: Grants = BTreeMap::new();
    let mut about = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for (event, body) in sim.events().iter() {
        if let Some(key) = &event.idempotency_key {
            assert!(keys.insert(key.clone()), "{}: the key `{key}` stands twice", sim.name);
        }
        match body {
            Body::ActionRequested(b) => {
                acts.entry(b.action_request_id).or_default().important = b.action_class.leaves_receipt();
            }
            Body::ApprovalRequested(b) => {
                about.insert(b.approval.approval_id, b.action_request_id);
                // An approval withdrawn for new input may be asked for again.
                acts.entry(b.action_request_id).or_default().asked = 1;
            }
            Body::ApprovalGranted(b) => acts.entry(about[&b.approval_id]).or_default().allowed += 1,
            Body::GrantIssued(b) => {
                let act = acts.entry(b.action_request_id).or_default();
                assert!(act.granted.is_none(), "{}: a second grant for one act", sim.name);
                act.granted = Some(b.grant_id);
                act.by_person = matches!(b.approval_ref, Slot::Value(_));
                grants.insert(b.grant_id, (b.max_uses, 0));
            }
            Body::EffectDispatched(b) => {
                acts.entry(b.action_request_id).or_default().dispatched += 1;
                grants.entry(b.grant_id).or_default().1 += 1;
            }
            Body::EffectObserved(b) if b.result_code != ResultCode::Denied => {
                acts.entry(b.action_request_id).or_default().observed += 1;
            }
            Body::EffectUncertain(b) => acts.entry(b.action_request_id).or_default().uncertain += 1,
            Body::OutcomeResolved(b) => acts.entry(b.action_request_id).or_default().resolved += 1,
            Body::ReceiptIssued(b) => {
                let Some(request) = b.action_request_id else { continue };
                let act = acts.entry(request).or_default();
                match b.result_code {
                    ResultCode::UnknownOutcome => act.receipts_unknown += 1,
                    _ => act.receipts += 1,
                }
            }
            _ => {}
        }
    }
    (acts, grants)
}

/// The views folded anew from the log are the live ones, byte for byte.
fn rebuilt(sim: &Sim) {
    let path = sim.world.store.path().join(ledger::FILE);
    let conn = rusqlite::Connection::open(path).expect("the file of the ledger");
    conn.execute_batch("PRAGMA synchronous=OFF").expect("a setting");
    let live = projections::tables(&conn).expect("live views");
    projections::rebuild(&conn, &mut |_| projections::Flow::Continue).expect("they fold");
    let fresh = projections::tables(&conn).expect("fresh views");
    assert_eq!(live, fresh, "{}: live views and rebuilt ones differ", sim.name);
}
