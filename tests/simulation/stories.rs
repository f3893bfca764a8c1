//! What people do with Hermit, in small stories that together pass every durable boundary there is.

use super::sim::{Sim, Step, Stop};
use kernel::command::ingest::Incoming;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::TaskId;
use model::approval::ApprovalStatus;
use model::artifact::TrustTier;
use model::attempt::AttemptStatus;
use model::body::Body;
use model::ingress::{Channel, ClarificationStatus};
use model::policy::Profile;
use model::receipt::{ReceiptClass, ResultCode};
use model::task::TaskStatus;
use serde_json::json;
use testkit::{Say, Server, change, done, fetch, look, say, write};

/// One story.
#[derive(Clone, Copy)]
pub struct Story {
    /// Its name.
    pub name: &'static str,
    /// The folder before it begins.
    pub before: &'static [(&'static str, &'static str)],
    /// What happens.
    pub steps: &'static [Step],
}

pub const NOTHING: &[(&str, &str)] = &[];
const TWO: &[(&str, &str)] = &[("a.txt", "one"), ("c.txt", "old")];

const THREE: &[(&str, &str)] = &[("a.txt", "one"), ("c.txt", "old"), ("e/f.txt", "three")];

/// What a server hears of it is all there is of it, and cannot be taken back.
pub const SEND: Story = Story { name: "send", before: NOTHING, steps: &[give_send, allow_send, drive_send] };

/// Every kind of change in one act: over a file, a large one, into folders that are made for it, away, and moved.
pub const MIXED: Story =
    Story { name: "mixed", before: THREE, steps: &[give_mixed, allow_mixed, drive_mixed] };

/// All of them but the one with commands, which needs `hermit-exec`.
pub const ALL: &[Story] = &[
    Story { name: "change", before: TWO, steps: &[give_change, allow_change, drive_change] },
    Story { name: "collect", before: TWO, steps: &[give_change, allow_change, drive_change, later, collect] },
    Story { name: "refuse", before: NOTHING, steps: &[give_refuse, |sim| refuse_what(sim, "refuse")] },
    Story { name: "drift", before: TWO, steps: &[give_drift, allow_drift, meddle_a, drive_drift] },
    Story { name: "undo", before: NOTHING, steps: &[give_undo, finish_undo, undo, finish_undoing] },
    Story {
        name: "conflict",
        before: NOTHING,
        steps: &[give_undo, finish_undo, meddle_n, undo, finish_undoing],
    },
    Story { name: "ask", before: NOTHING, steps: &[give_ask, answer] },
    Story { name: "babble", before: NOTHING, steps: &[give_babble, drive_babble, go_on] },
    Story { name: "pause", before: NOTHING, steps: &[give_pause, pause, go_on_paused, give_doomed, cancel] },
    Story { name: "retry", before: NOTHING, steps: &[give_retry, retry] },
    Story { name: "halt", before: NOTHING, steps: &[give_halt, allow_halt, halt, leave, stays_halted, boot] },
    Story { name: "bring", before: NOTHING, steps: &[bring, give_bring, note] },
    Story { name: "remember", before: TWO, steps: &[give_remember, finish_remember, forget_it] },
    Story { name: "expire", before: NOTHING, steps: &[give_expire, wait_too_long, drive_expire] },
    Story { name: "locked", before: NOTHING, steps: &[give_locked, allow_locked, drive_locked] },
    Story {
        name: "unknown",
        before: NOTHING,
        steps: &[give_unknown, allow_unknown, die_unseen, meddle_n, find_out],
    },
    SEND,
    super::asked_clocks::ANCHOR,
];

/// A command that can be told apart from its own repetition.
pub const COMMAND: Story =
    Story { name: "command", before: NOTHING, steps: &[give_command, allow_command, drive_command] };

/// Submits a goal under a name, as a client would that does not know whether it was heard.
pub fn give(sim: &mut Sim, name: &'static str, script: Vec<Say>) -> Result<(), Stop> {
    give_under(sim, Profile::LocalEditAllowed, name, script)
}

fn give_under(sim: &mut Sim, profile: Profile, name: &'static str, script: Vec<Say>) -> Result<(), Stop> {
    let root = sim.world.folder.path().canonicalize().expect("the folder exists");
    sim.kernel().workspace(&root)?;
    if sim.models.insert(name) {
        sim.world.reasoners.put(name, sim.model(name, script));
    }
    let reasoning = Reasoning::Scripted { name: name.to_owned() };
    let submission = Submission { profile, ..sim.world.submission(name, reasoning) };
    let submitted = sim.kernel().submit(&submission)?;
    let known = sim.tasks.insert(name, submitted.task_id);
    assert!(known.is_none_or(|k| k == submitted.task_id), "{}: one goal, two tasks", sim.name);
    Ok(())
}

fn answers(answers: Vec<model::proposal::Answer>) -> Vec<Say> {
    answers.into_iter().map(Say::Answer).collect()
}

/// Drives to the nth question and allows it, unless that was done before.
pub fn allow(sim: &mut Sim, name: &str, nth: usize) -> Result<(), Stop> {
    let task = sim.task(name);
    if granted(sim, task) >= nth {
        return Ok(());
    }
    if let DriveOutcome::Waiting(Waiting::Approval(id)) = sim.kernel().drive(task)? {
        sim.world.person.allow(sim.kernel(), task, id)?;
    }
    Ok(())
}

fn granted(sim: &Sim, task: TaskId) -> usize {
    let state = sim.kernel().task(task).expect("a task");
    state.approvals.values().filter(|r| r.approval.status == ApprovalStatus::Granted).count()
}

fn drive(sim: &mut Sim, name: &str) -> Result<DriveOutcome, Stop> {
    Ok(sim.kernel().drive(sim.task(name))?)
}

fn give_change(sim: &mut Sim) -> Result<(), Stop> {
    let items = json!([
        { "op": "move", "from": "a.txt", "to": "b/a.txt" },
        { "op": "delete", "path": "c.txt" },
        { "op": "write", "path": "d.txt", "content": "new" },
    ]);
    give(sim, "change", answers(vec![look("a.txt"), look("c.txt"), change(items), done("changed")]))
}

fn allow_change(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "change", 1)
}

fn drive_change(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "change").map(drop)
}

fn give_mixed(sim: &mut Sim) -> Result<(), Stop> {
    let items = json!([
        { "op": "write", "path": "a.txt", "content": "two" },
        { "op": "write", "path": "n/m/large.txt", "content": "0123456789abcdef".repeat(5 << 10) },
        { "op": "delete", "path": "c.txt" },
        { "op": "move", "from": "e/f.txt", "to": "n/f.txt" },
        { "op": "write", "path": "g/new.txt", "content": "new" },
    ]);
    // A look that was interrupted is not taken again by this model, and no file is written over that was not seen.
    let looks = ["a.txt", "c.txt", "e/f.txt", "a.txt"].map(look);
    give(sim, "mixed", answers(looks.into_iter().chain([change(items), done("changed")]).collect()))
}

fn allow_mixed(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "mixed", 1)
}

fn drive_mixed(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "mixed").map(drop)
}

/// Long enough for what nothing leads to.
fn later(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.clock.advance(31 * 24 * 3600 * 1000);
    Ok(())
}

fn collect(sim: &mut Sim) -> Result<(), Stop> {
    sim.kernel().collect(model::limits::COLLECT_AFTER_MS, None, &mut |_, _| {})?;
    let state = sim.kernel().task(sim.task("change"))?;
    let acts: Vec<_> =
        state.receipts.iter().filter(|r| r.receipt_class == ReceiptClass::ToolExecution).collect();
    for act in acts {
        let plan = sim.kernel().preview_rollback(&[act.receipt_id])?;
        assert!(plan.left.is_empty(), "{}: a collection took what an undo needs: {:?}", sim.name, plan.left);
    }
    Ok(())
}

fn give_refuse(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "refuse", answers(vec![write("n.txt", "x"), done("not done")]))
}

pub fn refuse_what(sim: &mut Sim, name: &str) -> Result<(), Stop> {
    let task = sim.task(name);
    if let DriveOutcome::Waiting(Waiting::Approval(id)) = sim.kernel().drive(task)? {
        sim.world.person.deny(sim.kernel(), task, id, "not here")?;
        sim.kernel().drive(task)?;
    }
    Ok(())
}

fn give_drift(sim: &mut Sim) -> Result<(), Stop> {
    let go = || change(json!([{ "op": "move", "from": "a.txt", "to": "b/a.txt" }]));
    give(sim, "drift", answers(vec![go(), go(), done("moved")]))
}

fn allow_drift(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "drift", 1)
}

fn meddle_a(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.file("a.txt", "two");
    Ok(())
}

fn drive_drift(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "drift").map(drop)
}

fn give_undo(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "undo", answers(vec![write("n.txt", "agent"), done("written")]))
}

fn finish_undo(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "undo", 1)?;
    drive(sim, "undo").map(drop)
}

fn meddle_n(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.file("n.txt", "person");
    Ok(())
}

fn undo(sim: &mut Sim) -> Result<(), Stop> {
    let state = sim.kernel().task(sim.task("undo"))?;
    let effect =
        state.receipts.iter().find(|r| r.receipt_class == ReceiptClass::ToolExecution).expect("a receipt");
    let submitted = sim.kernel().rollback(effect.receipt_id, Channel::Cli, "undo it".to_owned())?;
    sim.tasks.insert("undoing", submitted.task_id);
    Ok(())
}

fn finish_undoing(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "undoing", 1)?;
    drive(sim, "undoing").map(drop)
}

fn give_ask(sim: &mut Sim) -> Result<(), Stop> {
    let question = say("ask", json!({ "question": "which?", "choices": ["a", "b"] }));
    give(sim, "ask", answers(vec![question, done("a")]))
}

fn answer(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("ask");
    let answered =
        sim.kernel().task(task)?.clarifications.values().any(|c| c.status == ClarificationStatus::Answered);
    if !answered && let DriveOutcome::Waiting(Waiting::Answer(id)) = sim.kernel().drive(task)? {
        sim.kernel().answer(task, id, "a", Channel::Cli)?;
    }
    drive(sim, "ask").map(drop)
}

fn give_babble(sim: &mut Sim) -> Result<(), Stop> {
    let garbled = say("fly", json!({ "to": "the moon" }));
    let script = vec![Say::Answer(garbled), Say::Down, Say::Answer(done("nothing to do"))];
    give(sim, "babble", script)
}

fn drive_babble(sim: &mut Sim) -> Result<(), Stop> {
    match sim.kernel().drive(sim.task("babble")) {
        Ok(_) | Err(kernel::Error::Reasoning(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn go_on(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("babble");
    if sim.kernel().task(task)?.task.status == TaskStatus::Paused {
        sim.kernel().resume(task)?;
    }
    drive_babble(sim)
}

fn give_pause(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "pause", answers(vec![write("p.txt", "p"), done("written")]))?;
    drive(sim, "pause").map(drop)
}

fn pause(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("pause");
    if sim.kernel().task(task)?.task.status != TaskStatus::Paused {
        sim.kernel().pause(task)?;
    }
    assert_eq!(sim.kernel().drive(task)?, DriveOutcome::Waiting(Waiting::Resume));
    Ok(())
}

fn go_on_paused(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("pause");
    if sim.kernel().task(task)?.task.status == TaskStatus::Paused {
        sim.kernel().resume(task)?;
    }
    allow(sim, "pause", 1)?;
    drive(sim, "pause").map(drop)
}

fn give_doomed(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "doomed", answers(vec![write("q.txt", "q"), done("written")]))?;
    drive(sim, "doomed").map(drop)
}

fn cancel(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("doomed");
    if !sim.kernel().task(task)?.task.status.is_terminal() {
        sim.kernel().cancel(task, "not wanted any more")?;
    }
    drive(sim, "doomed").map(drop)
}

fn give_retry(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "retry", answers(vec![write("r.txt", "r1"), write("r.txt", "r2"), done("written")]))?;
    let attempts = sim.kernel().task(sim.task("retry"))?.attempts.len();
    if attempts == 0 { drive(sim, "retry").map(drop) } else { Ok(()) }
}

fn retry(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("retry");
    drive(sim, "retry")?;
    let superseded = |a: &kernel::state::AttemptState| a.attempt.status == AttemptStatus::Superseded;
    if !sim.kernel().task(task)?.attempts.values().any(superseded) {
        sim.kernel().retry(task, "again".to_owned())?;
    }
    drive(sim, "retry").map(drop)
}

fn give_halt(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "halt", answers(vec![write("h.txt", "h"), done("written")]))
}

fn allow_halt(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "halt", 1)
}

fn halt(sim: &mut Sim) -> Result<(), Stop> {
    // A halt that the log could not take holds in this process alone: said again, it is recorded.
    let said = sim.kernel().halt("smoke");
    if !matches!(said, Err(kernel::Error::Halted)) {
        said?;
    }
    stays_halted(sim)
}

fn leave(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.crash();
    Ok(())
}

fn stays_halted(sim: &mut Sim) -> Result<(), Stop> {
    assert_eq!(drive(sim, "halt")?, DriveOutcome::Halted, "{}: a halt is forgotten", sim.name);
    assert!(sim.world.files().is_empty(), "{}: something was done in spite of the halt", sim.name);
    Ok(())
}

fn boot(sim: &mut Sim) -> Result<(), Stop> {
    if sim.kernel().halted().is_some() {
        sim.kernel().boot()?;
    }
    drive(sim, "halt").map(drop)
}

fn bring(sim: &mut Sim) -> Result<(), Stop> {
    for bytes in [vec![7_u8; 100 << 10], b"small".to_vec()] {
        let incoming = Incoming {
            name: "scan.bin".to_owned(),
            uri: "file:scan.bin".to_owned(),
            media_type: "application/octet-stream",
            bytes: &mut bytes.as_slice(),
            trust_tier: TrustTier::Untrusted,
        };
        sim.kernel().ingest(incoming, Channel::Cli)?;
    }
    Ok(())
}

fn give_bring(sim: &mut Sim) -> Result<(), Stop> {
    let large = "0123456789abcdef".repeat(5 << 10);
    give(
        sim,
        "bring",
        answers(vec![write("large.txt", &large), write("large.txt", &large), done("written")]),
    )?;
    if granted(sim, sim.task("bring")) == 0 { drive(sim, "bring").map(drop) } else { Ok(()) }
}

fn note(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("bring");
    let state = sim.kernel().task(task)?;
    if state.inputs.is_empty() && state.absorbed.is_empty() {
        sim.kernel().append_note(task, "and mind the line endings", Channel::Cli, "note 1")?;
    }
    drive(sim, "bring").map(drop)
}

fn give_remember(sim: &mut Sim) -> Result<(), Stop> {
    let arguments =
        json!({ "claim": "a says one", "scope": "workspace", "reason": "asked", "evidence": ["a.txt"] });
    give(sim, "remember", answers(vec![look("a.txt"), say("remember", arguments), done("kept")]))
}

fn finish_remember(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "remember", 1)?;
    drive(sim, "remember").map(drop)
}

fn forget_it(sim: &mut Sim) -> Result<(), Stop> {
    let events = sim.events();
    let promoted = events.iter().find_map(|(_, body)| match body {
        Body::MemoryPromoted(b) => Some(b.record.memory_id),
        _ => None,
    });
    let gone = events.iter().any(|(_, body)| matches!(body, Body::MemoryInvalidated(_)));
    if !gone {
        let memory = promoted.unwrap_or_else(|| panic!("{}: nothing was remembered", sim.name));
        sim.kernel().invalidate_memory(memory, "it says two by now")?;
    }
    Ok(())
}

fn give_expire(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "expire", answers(vec![write("e.txt", "e"), done("written")]))?;
    drive(sim, "expire").map(drop)
}

fn wait_too_long(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.clock.advance(8 * 24 * 3600 * 1000);
    Ok(())
}

fn drive_expire(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "expire").map(drop)
}

fn give_locked(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "locked", answers(vec![write("l.txt", "l"), done("written")]))
}

fn allow_locked(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "locked", 1)
}

fn drive_locked(sim: &mut Sim) -> Result<(), Stop> {
    sim.world.keys.lock(true);
    let standing = drive(sim, "locked");
    sim.world.keys.lock(false);
    standing?;
    drive(sim, "locked").map(drop)
}

fn give_unknown(sim: &mut Sim) -> Result<(), Stop> {
    give(sim, "unknown", answers(vec![write("n.txt", "agent"), done("written")]))
}

fn allow_unknown(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "unknown", 1)
}

/// The host dies when the file is written and before it could say so.
fn die_unseen(sim: &mut Sim) -> Result<(), Stop> {
    if sim.world.oracle.performed().is_empty() {
        sim.world.oracle.die_after_next();
        drive(sim, "unknown")?;
    }
    Ok(())
}

fn find_out(sim: &mut Sim) -> Result<(), Stop> {
    let task = sim.task("unknown");
    if let DriveOutcome::Waiting(Waiting::UnknownOutcome) = sim.kernel().drive(task)? {
        sim.kernel().resolve_outcome(task, ResultCode::Partial, "somebody wrote over it")?;
        sim.kernel().drive(task)?;
    }
    Ok(())
}

fn give_command(sim: &mut Sim) -> Result<(), Stop> {
    let once = testkit::command(&["sh", "-c", "echo done >> count.txt"]);
    give(sim, "command", answers(vec![once, done("ran")]))
}

fn allow_command(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "command", 1)
}

fn drive_command(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "command").map(drop)
}

fn give_send(sim: &mut Sim) -> Result<(), Stop> {
    let url = sim.server.get_or_insert_with(Server::agreeing).url("/orders");
    let order = fetch("POST", &url, Some("one kettle"));
    give_under(sim, Profile::ExternalPublishGated, "send", answers(vec![order, done("ordered")]))
}

fn allow_send(sim: &mut Sim) -> Result<(), Stop> {
    allow(sim, "send", 1)
}

fn drive_send(sim: &mut Sim) -> Result<(), Stop> {
    drive(sim, "send").map(drop)
}
