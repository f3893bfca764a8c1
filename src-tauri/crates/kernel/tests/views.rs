//! The views of HK-13.6 over a kernel's own log: each shows what its events say, and nothing that they do not say.

use crate::records::busy;
use crate::story::{completed, count, events, rebuilt, state};
use kernel::command::ingress::Saying;
use kernel::command::plan::Part;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::artifact::TrustTier;
use model::attempt::TerminationReason;
use model::ingress::{Channel, IngressResolution};
use model::knowledge::MemoryStatus;
use model::task::{StepStatus, TaskStatus};
use model::{Body, ConversationId, Sensitive, TaskId, limits};
use projections::query::{ArtifactFilter, Ask};
use projections::{MessageKind, Role, RunStatus};
use serde_json::json;
use testkit::{World, done, look, say, write};

fn shown(text: &Sensitive<String>) -> &str {
    text.shown().expect("not erased")
}

#[conforms::conforms("HK-13.6-2")]
#[test]
fn the_task_summary_follows_its_task_from_the_first_word_to_the_end() {
    let world = World::new(1_721);
    world.file("a.txt", "text");
    let task = world.script("sum up", vec![look("a.txt"), write("b.txt", "b"), done("summed up")]);
    let row = || world.kernel().query().unwrap().task(task).unwrap().unwrap();
    let first = row();
    assert_eq!((first.status, first.run_status, first.attempts), (TaskStatus::Ready, RunStatus::Queued, 0));
    assert_eq!(shown(&first.goal), "sum up");
    let approval = world.drive_to_approval(task);
    let asked = row();
    assert_eq!((asked.status, asked.run_status), (TaskStatus::Blocked, RunStatus::AwaitingApproval));
    assert_eq!((asked.open_approvals, asked.attempts, asked.iterations), (1, 1, 1));
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let last = row();
    assert_eq!((last.status, last.run_status), (TaskStatus::Completed, RunStatus::Completed));
    assert_eq!((last.open_approvals, last.termination), (0, Some(TerminationReason::Done)));
    let told = |kind: &str| u32::try_from(count(world.kernel(), task, kind)).unwrap();
    // Of the two receipts one is the approval's own, which tells of nothing done.
    assert_eq!((last.iterations, told("receipt.issued")), (told("attempt.iteration_completed"), 2));
    assert_eq!(last.receipts, 1);
    let spent: u64 = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::BudgetSettled(b) => Some(b.tokens),
            _ => None,
        })
        .sum();
    assert_eq!((last.tokens_used, last.tokens_reserved), (spent, 0));
    assert_eq!(spent, 45, "three answers of fifteen tokens");
    assert!(last.ended_at.is_some() && last.attempt_id == state(&world, task).current);
}

#[conforms::conforms("HK-13.6-3")]
#[test]
fn the_step_queue_shows_what_is_next_and_what_it_waits_for() {
    let world = World::new(1_722);
    let part = |name: &str, after: &[&str]| Part {
        name: name.to_owned(),
        objective: format!("the part {name}"),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
        ..Part::default()
    };
    world.reasoners.script("a", vec![write("a.txt", "a"), done("a is done")]);
    world.reasoners.script("b", vec![write("b.txt", "b"), done("b is done")]);
    let mut submission = world.submission("queue", Reasoning::Scripted { name: "a".to_owned() });
    submission.steps = vec![part("a", &[]), part("b", &["a"])];
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let queue = || -> Vec<(String, StepStatus, u32)> {
        let rows = world.kernel().query().unwrap().steps(Some(task), None, Ask::ALL.oldest_first());
        let rows = rows.unwrap().rows.into_iter();
        let mut rows: Vec<_> =
            rows.map(|row| (shown(&row.title).to_owned(), row.status, row.attempts)).collect();
        rows.sort();
        rows
    };
    let is = |a: (StepStatus, u32), b: (StepStatus, u32)| {
        assert_eq!(queue(), [("a".to_owned(), a.0, a.1), ("b".to_owned(), b.0, b.1)]);
    };
    is((StepStatus::Ready, 0), (StepStatus::Planned, 0));
    let first = world.drive_to_approval(task);
    is((StepStatus::Blocked, 1), (StepStatus::Planned, 0));
    let blocked =
        world.kernel().query().unwrap().steps(None, Some(StepStatus::Blocked), Ask::ALL).unwrap().rows;
    assert_eq!(blocked.len(), 1, "asked by status, over all tasks");
    world.person.allow(world.kernel(), task, first).unwrap();
    let second = world.drive_to_approval(task);
    is((StepStatus::Succeeded, 1), (StepStatus::Blocked, 1));
    world.person.allow(world.kernel(), task, second).unwrap();
    assert_eq!(world.drive(task), completed());
    is((StepStatus::Succeeded, 1), (StepStatus::Succeeded, 1));
}

#[conforms::conforms("HK-13.6-4")]
#[test]
fn the_inbox_holds_what_waits_for_a_person_and_lets_go_of_what_does_not() {
    let world = World::new(1_723);
    let inbox = |at: i64| {
        let now = model::Clock::now(&*world.clock).plus_ms(at);
        let query = world.kernel().query().unwrap();
        let rows = query.inbox(now, Ask::ALL).unwrap().rows;
        let counted = usize::try_from(query.waiting(now).unwrap().approvals).unwrap();
        assert_eq!(counted, rows.len(), "and so many are counted");
        rows
    };
    assert!(inbox(0).is_empty());
    let asks = |name: &str| {
        let task = world.script(name, vec![write(name, name), done("ok")]);
        (task, world.drive_to_approval(task))
    };
    let (one, two, three) = (asks("one.txt"), asks("two.txt"), asks("three.txt"));
    let mut waiting: Vec<_> = inbox(0).iter().map(|row| (row.task_id, row.approval_id)).collect();
    waiting.sort_unstable();
    let mut all = vec![one, two, three];
    all.sort_unstable();
    assert_eq!(waiting, all);
    let row = inbox(0).into_iter().find(|row| row.approval_id == one.1).unwrap();
    assert!(shown(&row.summary).contains("create"), "it says what is asked: {:?}", row.summary);
    assert_eq!(row.packet_sha256, state(&world, one.0).approvals[&one.1].approval.approval_packet_sha256);
    world.person.allow(world.kernel(), one.0, one.1).unwrap();
    world.person.deny(world.kernel(), two.0, two.1, "no").unwrap();
    assert_eq!(inbox(0).iter().map(|row| row.approval_id).collect::<Vec<_>>(), [three.1]);
    assert!(inbox(limits::APPROVAL_MS_MAX + 1).is_empty(), "too late to be answered");
    world.kernel().cancel(three.0, "enough").unwrap();
    world.drive(three.0);
    assert!(inbox(0).is_empty());
}

#[conforms::conforms("HK-13.6-6", "HK-13.6-7", "HK-13.6-8", "HK-13.6-9", "HK-13.6-10", "HK-13.6-11")]
#[test]
fn the_views_of_what_was_made_known_decided_and_proved_hold_it_all_and_nothing_else() {
    let (world, task) = busy(1_724);
    let (query, now) = (world.kernel().query().unwrap(), state(&world, task));
    let catalog = query.artifacts(&ArtifactFilter::default(), Ask::ALL.oldest_first()).unwrap();
    let of_task: Vec<_> = catalog.rows.iter().filter(|row| row.task_id == task).collect();
    assert_eq!(of_task.len(), now.artifacts.len());
    for row in of_task {
        let made = &now.artifacts[&row.artifact_id];
        assert_eq!((row.class, row.kind, &row.uri), (made.class, made.kind, &made.uri));
        assert_eq!((row.content_hash, row.byte_size), (made.content_hash, made.byte_size));
        assert_eq!((&row.media_type, row.producer), (&made.media_type, made.producer));
        assert_eq!((row.trust_tier, row.sensitivity), (made.trust_tier, made.sensitivity_class));
        assert_eq!((row.retention, row.produced_by), (made.retention_class, made.produced_by));
        assert_eq!(row.inputs, made.inputs);
    }
    let [noted] = &query.working_states(task, Ask::ALL).unwrap().rows[..] else { panic!("one holder") };
    let at = now.attempt().unwrap().attempt.working_state_ref.value().copied();
    assert_eq!((Some(noted.artifact_id), noted.revision), (at, 1));
    assert_eq!(now.digest_of(noted.artifact_id), Some(noted.sha256));
    let [belief] = &query.beliefs(Some(task), None, Ask::ALL).unwrap().rows[..] else { panic!("one belief") };
    let held = &now.beliefs[&belief.belief_id];
    assert_eq!(
        (&belief.claim, &belief.scope, belief.confidence),
        (&held.claim, &held.scope, held.confidence)
    );
    assert_eq!((belief.status, belief.evidence.as_slice()), (held.status, held.evidence_refs.as_slice()));
    let [memory] = &query.memories(None, Ask::ALL).unwrap().rows[..] else { panic!("one memory") };
    assert_eq!((shown(&memory.claim), memory.status), ("a is text", MemoryStatus::Active));
    assert_eq!((memory.task_id, memory.trust_tier), (task, TrustTier::UserAsserted));
    let timeline = query.decisions(Some(task), Ask::ALL.oldest_first()).unwrap().rows;
    let decided: Vec<_> = now.decisions.iter().map(|d| (d.decision_id, d.created_at)).collect();
    assert_eq!(timeline.iter().map(|d| (d.decision_id, d.created_at)).collect::<Vec<_>>(), decided);
    let in_order = decided.windows(2).all(|pair| pair[0].1 <= pair[1].1);
    assert!(!decided.is_empty() && in_order, "{decided:?}");
    assert!(timeline.iter().all(|d| !shown(&d.rationale).is_empty()));
    let ledger = query.receipts(Some(task), None, Ask::ALL.oldest_first()).unwrap().rows;
    let issued: Vec<_> =
        now.receipts.iter().map(|r| (r.receipt_id, r.receipt_class, r.result_code)).collect();
    assert_eq!(ledger.iter().map(|r| (r.receipt_id, r.class, r.result_code)).collect::<Vec<_>>(), issued);
    for row in &ledger {
        let (_, receipt) = world.kernel().receipt(row.receipt_id).unwrap();
        assert_eq!(
            (&row.summary, row.reversibility),
            (&receipt.result_summary, receipt.rollback.reversibility)
        );
        assert_eq!(row.verifiability, receipt.verifiability);
    }
    // What is taken back, corrected or undone afterwards, the views say too.
    world.kernel().invalidate_memory(memory.memory_id, "a has changed").unwrap();
    let undo = world.kernel().rollback(ledger.last().unwrap().receipt_id, Channel::Cli, "undo".to_owned());
    let undo = undo.unwrap().task_id;
    assert_eq!(world.drive_allowing(undo).0, completed());
    let query = world.kernel().query().unwrap();
    assert_eq!(query.memory(memory.memory_id).unwrap().unwrap().status, MemoryStatus::Invalidated);
    let undone = query.receipt(ledger.last().unwrap().receipt_id).unwrap().unwrap();
    let by = query.receipt(undone.undone_by.expect("it says by what it was undone")).unwrap().unwrap();
    assert_eq!((by.task_id, by.rolls_back), (undo, Some(undone.receipt_id)));
}

#[conforms::conforms("HK-13.6-12", "HK-15.8-1", "HK-9-7", "HK-25.1-8", "HK-27-13", part = "HK-15.7-1")]
#[test]
fn the_chat_is_a_view_of_events_and_no_model_is_told_from_it() {
    let mut world = World::new(1_725);
    let ask = say("ask", json!({ "question": "which of them?", "choices": ["left", "right"] }));
    let task = world.script("choose one", vec![ask, write("a.txt", "a"), done("chosen")]);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("no question") };
    world.kernel().answer(task, question, "left", Channel::App).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    let chat = |world: &World| {
        let query = world.kernel().query().unwrap();
        let conversation = query.task(task).unwrap().unwrap().conversation_id;
        query.messages(conversation, None, Ask::ALL.oldest_first()).unwrap().rows
    };
    let told = chat(&world);
    let words: Vec<(Role, &str)> =
        told.iter().filter_map(|m| Some((m.role, m.text.as_ref()?.shown()?.as_str()))).collect();
    let place = |text: &str| words.iter().position(|(_, said)| said.contains(text));
    let places: Vec<_> = ["choose one", "which of them?", "left", "chosen"].map(place).to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{words:?}");
    assert_eq!(words[places[0].unwrap()].0, Role::User);
    assert!(
        told.iter().any(|m| m.kind == MessageKind::Ended) && told.windows(2).all(|m| m[0].seq < m[1].seq)
    );
    // The view is lost: what happened is not, the next turn is told the same, and the view is made again.
    let next = world.script("go on", vec![write("b.txt", "b"), done("ok")]);
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    views.execute("DELETE FROM view_messages", []).unwrap();
    drop(views);
    world.take_up().unwrap();
    assert!(chat(&world).is_empty(), "it is gone");
    assert_eq!(state(&world, task).task.status, TaskStatus::Completed);
    assert_eq!(world.drive_allowing(next).0, completed(), "nothing is read from it");
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    projections::rebuild(&views, &mut |_| projections::Flow::Continue).unwrap();
    drop(views);
    world.take_up().unwrap();
    assert_eq!(chat(&world)[..told.len()], told[..]);
}

#[conforms::conforms("HK-13.6-13", "HK-13.6-15", "HK-13.6-16", "HK-13.6-17")]
#[test]
fn a_conversation_has_one_focus_that_only_a_person_moves() {
    let world = World::new(1_726);
    let row = || world.kernel().query().unwrap().conversations(Ask::ALL).unwrap().rows.remove(0);
    let works = |name: &str| {
        let ask = say("ask", json!({ "question": "go on?" }));
        world.script(name, vec![look("a.txt"), ask, write(name, name), done("ok")])
    };
    world.file("a.txt", "text");
    let (one, two) = (works("one.txt"), works("two.txt"));
    let three = works("three.txt");
    assert_eq!((row().focus_task_id, row().open_tasks), (Some(three), 3), "three are open, one is in focus");
    world.kernel().turn_to(row().conversation_id, Some(one)).unwrap();
    assert_eq!((row().focus_task_id, row().last_focus), (Some(one), Some(three)));
    // The others go on: they look, ask, are answered, ask for a yes, act and end.
    for task in [two, three] {
        let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("asks") };
        assert_eq!(row().focus_task_id, Some(one), "a question");
        world.kernel().answer(task, question, "yes", Channel::App).unwrap();
        world.kernel().turn_to(row().conversation_id, Some(one)).unwrap();
        world
            .kernel()
            .append_note(task, "a word from a program", Channel::Webhook, &format!("n{task}"))
            .unwrap();
        let approval = match world.drive(task) {
            DriveOutcome::Waiting(Waiting::Approval(approval)) => approval,
            other => panic!("it asks for a yes: {other:?}"),
        };
        assert_eq!(row().focus_task_id, Some(one), "a note, and what it asks for");
        world.person.allow(world.kernel(), task, approval).unwrap();
        assert_eq!(world.drive(task), completed());
        assert_eq!(row().focus_task_id, Some(one), "an end");
    }
    let mut submission = world.submission("by a webhook", Reasoning::Scripted { name: "one.txt".to_owned() });
    submission.channel = Channel::Webhook;
    world.kernel().submit(&submission).unwrap();
    assert_eq!(row().focus_task_id, Some(one), "nor does a task that no person began");
}

/// What is in focus and why, and that the log alone makes the same of it again.
fn is_in_focus(world: &mut World, conversation: ConversationId, task: Option<TaskId>, reason: &str) {
    let told = |world: &World| {
        let row = world.kernel().query().unwrap().conversation(conversation).unwrap().unwrap();
        (row.focus_task_id, row.focus_reason, row.focus_at, row.last_focus)
    };
    let before = told(world);
    assert_eq!((before.0, before.1.as_str()), (task, reason));
    let (views, again) = rebuilt(world);
    assert_eq!(views, again, "{reason}");
    assert_eq!(told(world), before, "{reason}");
}

#[conforms::conforms("HK-13.6-18")]
#[test]
fn whatever_moved_the_focus_the_log_alone_moves_it_there_again() {
    let mut world = World::new(1_728);
    let ask = || say("ask", json!({ "question": "left or right?" }));
    let [one, two] = ["one", "two"].map(|name| world.script(name, vec![ask(), done("ok")]));
    let here = state(&world, one).task.conversation_id;
    is_in_focus(&mut world, here, Some(two), "new task");
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(two) else { panic!("it asks") };
    // What words are bound to.
    let noted = Saying { task: Some(one), ..Saying::of("mind the gap", Channel::App, "note") };
    assert_eq!(world.kernel().say(&noted).unwrap().task_id, Some(one));
    is_in_focus(&mut world, here, Some(one), "append_note");
    // A person turns away, and to the other one.
    for task in [None, Some(two), None] {
        world.kernel().turn_to(here, task).unwrap();
        is_in_focus(&mut world, here, task, "a person turned to it");
    }
    // The surface says what the words answer, and the words name nothing.
    let question = question.to_string();
    let answer = Saying { reply_to: Some(&question), ..Saying::of("left", Channel::App, "answer") };
    assert_eq!(world.kernel().say(&answer).unwrap().task_id, Some(two));
    is_in_focus(&mut world, here, Some(two), "append_note");
    // Its end.
    assert_eq!(world.drive(two), completed());
    is_in_focus(&mut world, here, None, "its task ended");
}

#[conforms::conforms("HK-27-16")]
#[test]
fn the_focus_and_what_words_are_about_are_made_again_from_what_is_on_record() {
    let mut world = World::new(1_727);
    let [one, two] = ["one", "two"].map(|name| world.script(name, vec![done("ok")]));
    let conversation = state(&world, one).task.conversation_id;
    let said = |text: &str| world.kernel().say(&Saying::of(text, Channel::App, text)).unwrap();
    let by_focus = said("mind the gap");
    world.kernel().turn_to(conversation, None).unwrap();
    let open = said("which one do I mean?");
    world.kernel().turn_to(conversation, Some(one)).unwrap();
    let told = |world: &World| {
        let query = world.kernel().query().unwrap();
        let row = query.conversation(conversation).unwrap().unwrap();
        (row, query.ingress(conversation, Ask::ALL).unwrap().rows)
    };
    let before = told(&world);
    assert_eq!((before.0.focus_task_id, before.0.open_tasks), (Some(one), 2));
    let bound = |id: model::IngressId| before.1.iter().find(|row| row.ingress_id == id).unwrap();
    let (noted, open) = (bound(by_focus.ingress_id), bound(open.ingress_id));
    assert_eq!((noted.resolution, noted.chosen_task_id), (IngressResolution::AppendNote, Some(two)));
    assert_eq!((open.resolution, open.chosen_task_id), (IngressResolution::PendingDisambiguation, None));
    assert_eq!(open.candidates.len(), 2, "and which it may be about");
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    for view in ["view_conversations", "view_ingress"] {
        assert!(views.execute(&format!("DELETE FROM {view}"), []).unwrap() > 0, "{view} is lost");
    }
    projections::rebuild(&views, &mut |_| projections::Flow::Continue).unwrap();
    drop(views);
    world.take_up().unwrap();
    assert_eq!(told(&world), before);
}

#[conforms::conforms("HK-13.6-5")]
#[test]
fn the_view_of_grants_holds_each_from_its_issue_and_none_that_is_used_up_counts_as_active() {
    let mut world = World::new(2_107);
    world.file("a.txt", "text");
    let looking = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, store) = (std::sync::Arc::clone(&looking), world.store.path().to_owned());
    // While an executor is at work its grant is used already: it can start no second one.
    world.oracle.tells(move |_, _| {
        let query = projections::Query::open(&store).unwrap();
        seen.lock().unwrap().push(query.active_grants(model::UnixMs(0), Ask::ALL).unwrap().rows.len());
    });
    let gone = say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete it", vec![look("a.txt"), gone, done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let looked = looking.lock().unwrap().clone();
    assert!(!looked.is_empty() && looked.iter().all(|active| *active == 0), "{looked:?}");
    let issued: Vec<_> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| if let Body::GrantIssued(b) = body { Some(b) } else { None })
        .collect();
    let query = world.kernel().query().unwrap();
    let rows = query.grants(task, Ask::ALL).unwrap().rows;
    assert_eq!((issued.len(), rows.len()), (2, 2));
    for b in &issued {
        let row = query.grant(b.grant_id).unwrap().expect("it is in the view");
        assert_eq!((row.action_request_id, row.max_uses, row.uses), (b.action_request_id, b.max_uses, 1));
        assert_eq!((row.action_class, row.state), (b.action_class, projections::GrantState::Consumed));
        assert_eq!(row.approval_id, b.approval_ref.value().copied(), "and by whose yes");
    }
    drop(query);
    let (kept, again) = crate::story::rebuilt(&mut world);
    assert_eq!(kept, again);
}

#[test]
fn a_grant_that_is_taken_back_while_its_act_is_under_way_was_used_and_is_revoked() {
    let (mut world, task) = crate::recovery::dispatched_and_dead(2_109);
    let row = |world: &World| {
        let rows = world.kernel().query().unwrap().grants(task, Ask::ALL).unwrap().rows;
        let [row] = &rows[..] else { panic!("one grant: {rows:?}") };
        row.clone()
    };
    let before = row(&world);
    assert_eq!((before.state, before.revoked_at), (projections::GrantState::Consumed, None));
    assert!(before.consumed_at.is_some_and(|at| at >= before.issued_at), "{before:?}");
    world.clock.advance(1_000);
    world.kernel().revoke_grant(task, before.grant_id, "I changed my mind").unwrap();
    let now = row(&world);
    assert!(state(&world, task).grants[&now.grant_id].revoked);
    assert_eq!((now.state, now.uses), (projections::GrantState::Revoked, 1), "it was used all the same");
    assert_eq!((now.consumed_at, now.reason.as_str()), (before.consumed_at, "I changed my mind"));
    assert!(now.revoked_at > now.consumed_at, "{now:?}");
    // What it was for goes no further, and that changes nothing of it.
    world.drive(task);
    assert_eq!(row(&world), now);
    let (kept, again) = crate::story::rebuilt(&mut world);
    assert_eq!(kept, again);
}

/// The views as they were when the log had come as far as this: in a copy of a store that nobody holds, without what came later.
fn as_of(world: &World, log_seq: u64) -> (tempfile::TempDir, projections::Query) {
    let from = world.store.path().join(ledger::FILE);
    let whole = rusqlite::Connection::open(&from).unwrap();
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(whole);
    let cut = tempfile::tempdir().unwrap();
    let file = cut.path().join(ledger::FILE);
    std::fs::copy(&from, &file).unwrap();
    let conn = rusqlite::Connection::open(&file).unwrap();
    let sql = "SELECT sql FROM sqlite_schema WHERE name = 'events_stay'";
    let stays: String = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    let later = format!("DELETE FROM events WHERE log_seq > {log_seq};");
    conn.execute_batch(&format!("PRAGMA foreign_keys = OFF; DROP TRIGGER events_stay; {later} {stays}"))
        .unwrap();
    projections::rebuild(&conn, &mut |_| projections::Flow::Continue).unwrap();
    drop(conn);
    let query = projections::Query::open(cut.path()).unwrap();
    (cut, query)
}

#[conforms::conforms("HK-13.6-5")]
#[test]
fn a_grant_is_active_in_its_view_from_its_issue_until_it_is_used_or_has_run_out() {
    let mut world = World::new(2_108);
    world.file("a.txt", "text");
    let gone = say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete it", vec![gone, done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let stored = world.kernel().reader().log(0, 100_000).unwrap();
    let place = |kind: &str| {
        let found = stored.iter().find(|one| one.event().unwrap().event_type == kind);
        found.unwrap_or_else(|| panic!("no `{kind}`")).log_seq
    };
    let (issued, used) = (place("grant.issued"), place("effect.dispatched"));
    let grants = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::GrantIssued(b) => Some((b.grant_id, b.expires_at)),
        _ => None,
    });
    let grants: Vec<_> = grants.collect();
    let [(grant, expires_at)] = grants[..] else { panic!("one grant: {grants:?}") };
    world.crash();
    let active = |log_seq: u64, at: model::UnixMs| -> Vec<model::GrantId> {
        let (_cut, query) = as_of(&world, log_seq);
        query.active_grants(at, Ask::ALL).unwrap().rows.into_iter().map(|row| row.grant_id).collect()
    };
    let early = model::UnixMs(0);
    assert!(active(issued - 1, early).is_empty(), "before it was issued");
    assert_eq!(active(issued, early), [grant]);
    assert!(active(issued, expires_at.plus_ms(1)).is_empty(), "it has run out by then");
    assert!(active(used, early).is_empty(), "it was used");
}
