//! Anchors: clocks elsewhere are given 32 bytes of a head of the log, each by an act with a card, a grant and a receipt; what they
//! answer is believed as far as it holds, and proven at the depth that a person chose (mesh.md 3).

use crate::story::{completed, die, log, object, state};
use acts::ApprovalPacket;
use conforms::conforms;
use kernel::anchor_registry::ClockRecord;
use kernel::command::anchors::{AnchorTerms, ToAnchor};
use kernel::{DriveOutcome, Error, Waiting};
use model::anchor::{AnchorClock, AnchorState, AnchorSubject};
use model::fault::Point;
use model::ingress::Channel;
use model::receipt::{ReceiptClass, ResultCode};
use model::standing::{Cover, StandingScope};
use model::{Body, Digest, TaskId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{
    AuthorityMood, CalendarMood, Edge, Mode, Server, TestCalendar, TestChain, WalletMood, World,
    time_authority,
};

const HOUR: i64 = 3_600_000;
const OTS: AnchorClock = AnchorClock::OpenTimestamps;
const NODE: &str = "http://127.0.0.1:8332";

/// A world with a chain that nobody asks yet.
fn world(seed: u64) -> (World, Arc<TestChain>) {
    let chain = Arc::new(TestChain::default());
    let mut world = World::bare(seed);
    world.clocks = Arc::clone(&chain) as _;
    world.take_up().unwrap();
    world.register_keys().unwrap();
    (world, chain)
}

fn calendars(all: &[&TestCalendar]) -> AnchorTerms {
    let calendars = all.iter().map(|one| one.server.url("")).collect();
    AnchorTerms { calendars, depth: 6, ..AnchorTerms::default() }
}

fn key() -> String {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    format!("anchor {}", ASKED.fetch_add(1, Ordering::SeqCst))
}

fn stamp(world: &World, terms: &AnchorTerms, clocks: &[AnchorClock]) -> (u64, Vec<TaskId>) {
    let by = (Channel::Cli, key());
    let (number, made) = world.kernel().stamp_anchor(terms, (ToAnchor::Head, clocks), (by.0, &by.1)).unwrap();
    (number, made.into_iter().map(|one| one.task_id).collect())
}

fn complete(world: &World, terms: &AnchorTerms, number: u64) -> TaskId {
    let made = world.kernel().complete_anchors(terms, Some(number), (Channel::Cli, &key())).unwrap();
    made[0].task_id
}

fn at(world: &World, number: u64, clock: AnchorClock) -> ClockRecord {
    world.kernel().anchor_registry().get(number).unwrap().clocks[&clock].clone()
}

/// Lets a clock be asked at these servers, as a person does at a card.
fn allow(world: &World, clock: AnchorClock, servers: &[&Server]) {
    let mut hosts: Vec<String> = servers.iter().map(|server| server.host()).collect();
    hosts.sort();
    let grant =
        world.person.standing(world.kernel(), Cover::Anchor { clock, hosts }, StandingScope::User, None);
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
}

/// What the clock of the host does at this moment; the tasks that it began are driven.
fn due(world: &World, terms: &AnchorTerms) -> usize {
    let begun = world.kernel().anchors_due(terms).unwrap();
    begun.iter().for_each(|task| drop(world.drive(*task)));
    begun.len()
}

/// How the act of a task went, by its receipt.
fn code(world: &World, task: TaskId) -> ResultCode {
    let receipts = state(world, task).receipts;
    let acted = receipts.iter().rfind(|one| one.receipt_class == ReceiptClass::ToolExecution);
    acted.expect("it left a receipt").result_code
}

fn said(world: &World, event_type: &str) -> usize {
    log(world.kernel()).iter().filter(|(event, _)| event.event_type == event_type).count()
}

#[conforms(part = "HV-3.6-3")]
#[test]
fn a_clock_is_given_32_bytes_after_a_card_that_says_so_and_before_that_nothing() {
    let (world, chain) = world(9_301);
    let calendar = TestCalendar::begin(&chain);
    let terms = calendars(&[&calendar]);
    assert_eq!(world.kernel().next_anchor(&terms).unwrap(), None, "with nothing asked for nothing is due");
    let (number, tasks) = stamp(&world, &terms, &[]);
    let approval = world.drive_to_approval(tasks[0]);
    assert!(calendar.server.heard().is_empty(), "nothing leaves before a yes");
    let seen = state(&world, tasks[0]);
    let packet: ApprovalPacket =
        object(world.kernel(), &seen, seen.approvals[&approval].approval.approval_packet_ref);
    let act = packet.action_request.action.as_tool();
    let card: Vec<String> = act.lines(&packet.action_request).into_iter().map(|line| line.text).collect();
    let card = card.join("\n");
    assert!(card.contains(&format!("32 bytes made from them to {}", calendar.server.url(""))), "{card}");
    assert!(card.contains("nothing of what is in your log"), "{card}");
    world.person.allow(world.kernel(), tasks[0], approval).unwrap();
    assert_eq!(world.drive(tasks[0]), completed());
    let heard = calendar.server.heard();
    let record = world.kernel().anchor_registry().get(number).unwrap().clone();
    assert_eq!((heard.len(), heard[0].bytes.len()), (1, 32));
    assert_ne!(heard[0].bytes, record.digest.0, "a calendar does not learn the digest itself");
    // The digest is that of the text of a signed head, which is kept byte for byte.
    let AnchorSubject::Head { note_sha256, .. } = record.subject else { panic!("it is a head") };
    let note = world.kernel().artifacts().read(&note_sha256).unwrap();
    let text = seal::note::Note::parse(&note).unwrap().text;
    assert_eq!(record.digest, Digest::of(text.as_bytes()));
    let one = at(&world, number, OTS);
    assert_eq!((one.state, one.at.as_slice()), (AnchorState::Pending, [calendar.server.host()].as_slice()));
    assert!(one.proof.is_some() && one.not_after.is_none(), "nothing is proven by a promise");
    assert_eq!(code(&world, tasks[0]), ResultCode::Succeeded);
    // Without a yes for good it asks the person once, and gives up after two weeks.
    assert_eq!(due(&world, &terms), 0);
    world.clock.advance(6 * HOUR);
    assert_eq!(due(&world, &terms), 1);
    assert_eq!(calendar.server.heard().len(), 1, "that one waits for the person");
    let waits = at(&world, number, OTS).asked_by.unwrap();
    let approval = world.drive_to_approval(waits);
    world.person.deny(world.kernel(), waits, approval, "not now").unwrap();
    world.drive(waits);
    world.clock.advance(24 * HOUR);
    assert_eq!(due(&world, &terms), 0, "who said no is not asked once more");
    assert_eq!(at(&world, number, OTS).state, AnchorState::Pending);
    world.clock.advance(15 * 24 * HOUR);
    while due(&world, &terms) > 0 {}
    assert_eq!(at(&world, number, OTS).state, AnchorState::Failed);
    assert_eq!(world.kernel().next_anchor(&terms).unwrap(), None);
}

#[conforms(part = "HV-3.6-3")]
#[test]
fn a_stamp_is_completed_by_itself_at_the_depth_that_was_chosen_and_a_reorganisation_takes_it_back() {
    let (world, chain) = world(9_302);
    let calendar = TestCalendar::begin(&chain);
    let terms = calendars(&[&calendar]);
    allow(&world, OTS, &[&calendar.server]);
    let (number, tasks) = stamp(&world, &terms, &[]);
    assert_eq!(world.drive(tasks[0]), completed(), "the standing grant answers");
    let soon = world.kernel().next_anchor(&terms).unwrap().unwrap();
    assert!(soon > world.kernel().ports().clock.now());
    world.clock.advance(HOUR);
    assert_eq!((due(&world, &terms), at(&world, number, OTS).state), (1, AnchorState::Pending));
    assert_eq!(due(&world, &terms), 0, "and not again at once");
    calendar.becomes(CalendarMood::Confirms);
    world.clock.advance(2 * HOUR);
    assert_eq!(
        (due(&world, &terms), at(&world, number, OTS).state),
        (1, AnchorState::Pending),
        "one block deep"
    );
    chain.grows(4);
    world.clock.advance(4 * HOUR);
    assert_eq!((due(&world, &terms), at(&world, number, OTS).state), (1, AnchorState::Pending), "five");
    chain.grows(1);
    world.clock.advance(8 * HOUR);
    assert_eq!(due(&world, &terms), 1);
    let one = at(&world, number, OTS);
    let block = one.block.clone().unwrap();
    assert_eq!((one.state, block.depth), (AnchorState::Anchored, 6));
    assert_eq!(one.not_after.unwrap().0, i64::try_from(block.time).unwrap() * 1000);
    chain.reorganises();
    let again = AnchorTerms { node: Some(NODE.to_owned()), ..terms };
    let task = complete(&world, &again, number);
    let (outcome, asked) = world.drive_allowing(task);
    assert_eq!((outcome, asked), (completed(), 1), "the node is none that was allowed");
    let one = at(&world, number, OTS);
    assert_eq!((one.state, one.not_after), (AnchorState::Withdrawn, None));
    assert_eq!((said(&world, "anchor.withdrawn"), said(&world, "anchor.completed")), (1, 1));
}

#[test]
fn what_proves_nothing_is_not_kept_and_one_clock_blocks_no_other() {
    for (seed, mood) in
        [CalendarMood::Babbles, CalendarMood::Floods, CalendarMood::Away].into_iter().enumerate()
    {
        let (world, chain) = world(9_310 + seed as u64);
        let (bad, good) = (TestCalendar::begin(&chain), TestCalendar::begin(&chain));
        bad.becomes(mood);
        allow(&world, OTS, &[&bad.server, &good.server]);
        let (number, tasks) = stamp(&world, &calendars(&[&bad]), &[]);
        world.drive(tasks[0]);
        let one = at(&world, number, OTS);
        assert_eq!((one.state, &one.proof), (AnchorState::Failed, &None), "{mood:?}");
        assert!(one.why.unwrap().contains(&bad.server.host()));
        assert_eq!(code(&world, tasks[0]), ResultCode::Failed);
        let (number, tasks) = stamp(&world, &calendars(&[&bad, &good]), &[]);
        assert_eq!(world.drive(tasks[0]), completed());
        assert_eq!(at(&world, number, OTS).at, [good.server.host()]);
    }
}

#[test]
fn a_calendar_that_names_a_block_that_does_not_hold_it_proves_nothing_and_takes_nothing() {
    let (world, chain) = world(9_320);
    let calendar = TestCalendar::begin(&chain);
    let terms = calendars(&[&calendar]);
    allow(&world, OTS, &[&calendar.server]);
    let (number, tasks) = stamp(&world, &terms, &[]);
    world.drive(tasks[0]);
    calendar.becomes(CalendarMood::Lies);
    let task = complete(&world, &terms, number);
    world.drive(task);
    chain.grows(100);
    let one = at(&world, number, OTS);
    assert_eq!((one.state, one.not_after), (AnchorState::Pending, None));
    assert!(one.why.unwrap().contains("another Merkle root"));
    assert_eq!(code(&world, task), ResultCode::Failed);
}

#[conforms(part = "HV-3.6-3")]
#[test]
fn a_transaction_is_asked_about_each_time_with_its_fee_and_is_never_sent_twice() {
    for (seed, point, edge) in [
        (0, Point::EffectObserve, Edge::Before),
        (1, Point::CallSend, Edge::After),
        (2, Point::CallSend, Edge::Before),
    ] {
        let (mut world, chain) = world(9_330 + seed);
        let node = AnchorTerms { node: Some(NODE.to_owned()), depth: 2, ..AnchorTerms::default() };
        let by = (Channel::Cli, key());
        let unpriced =
            world.kernel().stamp_anchor(&node, (ToAnchor::Head, &[AnchorClock::OpReturn]), (by.0, &by.1));
        assert!(matches!(unpriced, Err(Error::Input(_))), "without a price nobody is asked");
        let hosts = vec!["127.0.0.1:8332".to_owned()];
        let cover = Cover::Anchor { clock: AnchorClock::OpReturn, hosts };
        let grant = world.person.standing(world.kernel(), cover, StandingScope::User, None);
        world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
        let terms = AnchorTerms { fee: Some(300), ..node.clone() };
        let (number, tasks) = stamp(&world, &terms, &[AnchorClock::OpReturn]);
        let approval = world.drive_to_approval(tasks[0]);
        let seen = state(&world, tasks[0]);
        let packet: ApprovalPacket =
            object(world.kernel(), &seen, seen.approvals[&approval].approval.approval_packet_ref);
        let lines = packet.action_request.action.as_tool().lines(&packet.action_request);
        assert!(lines.iter().any(|line| line.text.contains("at most 300 satoshi")), "{lines:?}");
        world.person.allow(world.kernel(), tasks[0], approval).unwrap();
        die(&mut world, tasks[0], point, edge);
        world.drive(tasks[0]);
        let one = at(&world, number, AnchorClock::OpReturn);
        if edge == Edge::Before && point == Point::CallSend {
            assert_eq!((chain.sent(), one.state), (0, AnchorState::Failed), "it is not made anew");
            continue;
        }
        assert_eq!((chain.sent(), one.state), (1, AnchorState::Pending), "it was looked for");
        chain.mines();
        let asks = complete(&world, &node, number);
        assert_eq!(world.drive(asks), completed(), "to look costs nothing, and is allowed");
        assert_eq!(at(&world, number, AnchorClock::OpReturn).state, AnchorState::Pending, "one block deep");
        chain.grows(1);
        world.drive(complete(&world, &node, number));
        let one = at(&world, number, AnchorClock::OpReturn);
        assert_eq!((one.state, one.block.map(|block| block.depth)), (AnchorState::Anchored, Some(2)));
        chain.reorganises();
        world.drive(complete(&world, &node, number));
        assert_eq!(at(&world, number, AnchorClock::OpReturn).state, AnchorState::Withdrawn);
        chain.mines();
        chain.grows(1);
        world.drive(complete(&world, &node, number));
        assert_eq!(at(&world, number, AnchorClock::OpReturn).state, AnchorState::Anchored);
        assert_eq!(chain.sent(), 1);
    }
}

#[test]
fn a_transaction_whose_answer_was_lost_is_unknown_until_somebody_looks() {
    let (world, chain) = world(9_340);
    chain.becomes(WalletMood::Silent);
    let node = AnchorTerms { node: Some(NODE.to_owned()), depth: 1, ..AnchorTerms::default() };
    let terms = AnchorTerms { fee: Some(300), ..node };
    let (_, tasks) = stamp(&world, &terms, &[AnchorClock::OpReturn]);
    let approval = world.drive_to_approval(tasks[0]);
    world.person.allow(world.kernel(), tasks[0], approval).unwrap();
    let stands = world.drive(tasks[0]);
    assert!(!matches!(stands, DriveOutcome::Ended { .. }), "{stands:?}");
    assert!(state(&world, tasks[0]).has_unknown_outcome());
    assert_eq!(chain.sent(), 1);
}

#[conforms(part = "HV-3.6-3")]
#[test]
fn a_host_that_dies_at_any_point_of_anchoring_loses_no_anchor_and_gives_none_twice() {
    for nth in 1..=3 {
        for edge in [Edge::Before, Edge::After] {
            let (mut world, chain) = world(9_350 + u64::from(nth) * 2 + u64::from(edge == Edge::After));
            let calendar = TestCalendar::begin(&chain);
            let terms = calendars(&[&calendar]);
            allow(&world, OTS, &[&calendar.server]);
            let key = key();
            world.faults.plan(Point::AnchorRecord, edge, Mode::Abort, nth);
            let run = |world: &World| {
                let by = (Channel::Cli, key.as_str());
                let made = world.kernel().stamp_anchor(&terms, (ToAnchor::Head, &[]), by).unwrap().1;
                made.into_iter().for_each(|one| drop(world.drive(one.task_id)));
            };
            let died = catch_unwind(AssertUnwindSafe(|| run(&world)));
            assert!(died.is_err() && world.faults.fired(), "{nth} {edge:?}");
            world.faults.clear();
            world.reopen();
            // The host takes up what can go on, and what is due.
            let open = world.kernel().resumable().unwrap();
            open.iter().for_each(|task| drop(world.drive(*task)));
            due(&world, &terms);
            if world.kernel().anchor_registry().all().next().is_none() {
                run(&world);
            }
            let all: Vec<_> = world.kernel().anchor_registry().all().cloned().collect();
            assert_eq!(all.len(), 1, "{nth} {edge:?}");
            let one = &all[0].clocks[&OTS];
            assert_eq!((one.state, one.is_asked), (AnchorState::Pending, false), "{nth} {edge:?}");
            assert!(one.proof.is_some(), "{nth} {edge:?}: {one:?}");
            assert_eq!(calendar.server.heard().len(), 1, "{nth} {edge:?}");
            assert_eq!((said(&world, "anchor.requested"), said(&world, "anchor.stamped")), (1, 1));
            let before = all;
            world.reopen();
            let after: Vec<_> = world.kernel().anchor_registry().all().cloned().collect();
            assert_eq!(after, before, "the log alone tells the same");
        }
    }
}

#[test]
fn a_host_that_dies_while_a_calendar_is_asked_asks_it_again() {
    let (mut world, chain) = world(9_360);
    let calendar = TestCalendar::begin(&chain);
    let terms = calendars(&[&calendar]);
    allow(&world, OTS, &[&calendar.server]);
    let (number, tasks) = stamp(&world, &terms, &[]);
    die(&mut world, tasks[0], Point::CallSend, Edge::After);
    assert_eq!(world.drive(tasks[0]), completed());
    let heard = calendar.server.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].bytes, heard[1].bytes, "about the same bytes");
    assert!(at(&world, number, OTS).proof.is_some());
}

#[test]
fn a_head_is_anchored_by_itself_every_so_many_hours_and_not_while_one_waits() {
    let (world, chain) = world(9_370);
    let calendar = TestCalendar::begin(&chain);
    let terms = AnchorTerms { every_hours: 1, ..calendars(&[&calendar]) };
    assert_eq!(due(&world, &terms), 1, "the first is due at once");
    let first = at(&world, 1, OTS).asked_by.unwrap();
    assert!(
        matches!(world.drive(first), DriveOutcome::Waiting(Waiting::Approval(_))),
        "nobody allowed it yet"
    );
    world.clock.advance(HOUR);
    assert_eq!(due(&world, &terms), 0, "one that waits is enough");
    let approval = world.drive_to_approval(first);
    world.person.deny(world.kernel(), first, approval, "not now").unwrap();
    world.drive(first);
    assert_eq!(at(&world, 1, OTS).state, AnchorState::Failed);
    allow(&world, OTS, &[&calendar.server]);
    assert_eq!(due(&world, &terms), 1);
    assert_eq!(at(&world, 2, OTS).state, AnchorState::Pending);
    assert_eq!(calendar.server.heard().len(), 1);
    let next = world.kernel().next_anchor(&terms).unwrap().unwrap();
    assert!(next.0 - world.kernel().ports().clock.now().0 <= HOUR);
    let halted = AnchorTerms { every_hours: 0, ..terms };
    world.clock.advance(24 * HOUR);
    assert_eq!(due(&world, &halted), 1, "what is pending is asked about; no other head is anchored");
    assert_eq!(world.kernel().anchor_registry().all().count(), 2);
}

#[conforms(part = "HV-3.6-3")]
#[test]
fn an_authority_proves_the_time_at_once_where_it_signs_this_digest_and_this_request() {
    for (seed, mood, says) in [
        (0, AuthorityMood::Signs, None),
        (1, AuthorityMood::OtherDigest, Some("another digest")),
        (2, AuthorityMood::OtherNonce, Some("the nonce")),
    ] {
        // There is no `openssl` on every machine.
        let Some(server) = time_authority(mood) else { return };
        let (world, _) = world(9_380 + seed);
        let terms = AnchorTerms { authorities: vec![server.url("/tsr")], depth: 6, ..AnchorTerms::default() };
        allow(&world, AnchorClock::Rfc3161, &[&server]);
        let (number, tasks) = stamp(&world, &terms, &[]);
        world.drive(tasks[0]);
        let one = at(&world, number, AnchorClock::Rfc3161);
        let heard = server.heard();
        assert_eq!(heard[0].header("content-type"), Some("application/timestamp-query"));
        match says {
            None => {
                assert_eq!(one.state, AnchorState::Anchored, "{:?}", one.why);
                let proof = world.kernel().artifacts().read(&one.proof.unwrap().sha256).unwrap();
                let digest = world.kernel().anchor_registry().get(number).unwrap().digest;
                let checked = anchor::check(AnchorClock::Rfc3161, &proof, &digest, &anchor::Trust::default());
                assert!(checked.is_ok(), "a stranger checks the same bytes: {checked:?}");
            }
            Some(says) => {
                assert_eq!(one.state, AnchorState::Failed);
                assert!(one.why.as_ref().unwrap().contains(says), "{:?}", one.why);
                assert_eq!(code(&world, tasks[0]), ResultCode::Failed);
            }
        }
    }
}

#[test]
fn what_is_not_set_is_said_and_asks_nobody() {
    let (world, _) = world(9_390);
    let nothing = AnchorTerms::default();
    let refused = world.kernel().stamp_anchor(&nothing, (ToAnchor::Head, &[]), (Channel::Cli, "k"));
    assert!(matches!(refused, Err(Error::Input(_))), "{refused:?}");
    let unset = world.kernel().stamp_anchor(&nothing, (ToAnchor::Head, &[OTS]), (Channel::Cli, "k"));
    assert!(matches!(unset, Err(Error::Input(_))), "{unset:?}");
    let missing = world.kernel().complete_anchors(&nothing, Some(7), (Channel::Cli, "k"));
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    assert_eq!(world.kernel().anchors_due(&nothing).unwrap(), Vec::<TaskId>::new());
    let is_anchor = |body: &Body| matches!(body, Body::AnchorRequested(_) | Body::AnchorAsked(_));
    assert!(!log(world.kernel()).iter().any(|(_, body)| is_anchor(body)));
}
