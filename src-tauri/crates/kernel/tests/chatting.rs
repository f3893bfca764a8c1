//! What goes out through a gateway, each an act with a grant and a receipt, once; and what a chat may order, which is little.

use crate::gateways::{
    HOST, HOUR, NAME, allow_messages, connected, deliver, from, hear, pair, record, refused, said, task_of,
    texts,
};
use crate::story::{completed, count, die, events, state};
use acts::Message;
use kernel::command::inbound::{Heard, Received};
use kernel::sender::Sender;
use kernel::{DriveOutcome, Error, Waiting};
use model::Body;
use model::approval::{ApprovalStatus, Surface};
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::gateway::{GatewayState, MessageRefusal, MessageText, MessageUse, SenderProfile};
use model::ingress::Channel;
use model::policy::Profile;
use model::receipt::ResultCode;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::task::{Origin, TaskStatus};
use serde_json::json;
use testkit::{ChatMood, Edge, World, done, say, write};

#[test]
fn the_first_message_to_a_chat_is_put_to_the_person_and_a_standing_grant_answers_for_further_ones() {
    let (world, service) = connected(7_105, true, vec![done("ok")]);
    pair(&world, "mary", SenderProfile::Goals);
    let sending = world.kernel().send_due(NAME, None).unwrap()[0];
    let approval = world.drive_to_approval(sending);
    world.kernel().settle_sent(NAME).unwrap();
    assert!(service.shown().is_empty(), "nothing leaves before a yes");
    let cover = Cover::Chat { gateway: NAME.to_owned(), version: 1, chat: "chat of mary".to_owned() };
    let grant = world.person.standing(world.kernel(), cover, StandingScope::User, Some((sending, approval)));
    let grant = StandingGrant { max_uses: 3, ..grant };
    let signed = world.person.sign_standing(&grant);
    let yes = world.person.sign(world.kernel(), sending, approval, model::approval::Choice::Once, None);
    world.kernel().decide_approval_for_good(sending, approval, &yes, Some(&signed)).unwrap();
    deliver(&world);
    assert_eq!(service.shown().len(), 1);
    let task = task_of(said(&world, "mary", "1", "tidy up"));
    world.drive(task);
    deliver(&world);
    assert_eq!(service.shown().len(), 2);
    assert_eq!(
        world.kernel().reader().grant_uses(grant.grant_id).unwrap(),
        1,
        "the second was not asked about"
    );
    // It is for that chat: another one is asked about.
    pair(&world, "tom", SenderProfile::Ask);
    let other = world.kernel().send_due(NAME, None).unwrap()[0];
    assert!(matches!(world.drive(other), DriveOutcome::Waiting(Waiting::Approval(_))));
    let sent = state(&world, sending);
    assert!(sent.receipts.iter().any(|one| one.result_code == ResultCode::Succeeded));
    assert_eq!(sent.task.origin(), Origin::Service);
    // A grant for a chat covers nothing else, and none but one for a chat covers a message.
    let wide = Cover::Host { name: "chat.example".to_owned(), port: 443, write: true };
    let wide = world.person.standing(world.kernel(), wide, StandingScope::User, None);
    world.kernel().allow_standing(&world.person.sign_standing(&wide)).unwrap();
    assert!(matches!(world.drive(other), DriveOutcome::Waiting(Waiting::Approval(_))));
}

#[test]
fn a_message_that_was_sent_when_its_host_died_is_sent_again_with_the_same_key() {
    for knows_repeats in [true, false] {
        let (mut world, service) = connected(7_120 + u64::from(knows_repeats), knows_repeats, Vec::new());
        pair(&world, "mary", SenderProfile::Goals);
        allow_messages(&world, "mary");
        let sending = world.kernel().send_due(NAME, None).unwrap()[0];
        die(&mut world, sending, Point::EffectObserve, Edge::Before);
        assert_eq!(service.shown().len(), 1, "it was sent, and nobody wrote that down");
        deliver(&world);
        let shown = service.shown();
        assert_eq!(shown.len(), if knows_repeats { 1 } else { 2 });
        assert!(shown.iter().all(|one| one.repeat_key == shown[0].repeat_key));
        assert!(record(&world).traffic.queue.is_empty());
        let receipts = state(&world, sending).receipts;
        let receipt = receipts.iter().find(|one| one.result_code == ResultCode::Succeeded).unwrap();
        let told = world.kernel().artifacts().read(&receipt.envelope.sha256).unwrap();
        assert!(!told.is_empty());
    }
}

#[test]
fn a_service_that_is_away_for_hours_keeps_its_messages_queued_and_gets_each_once() {
    let (world, service) = connected(7_106, true, vec![done("ok")]);
    pair(&world, "mary", SenderProfile::Goals);
    allow_messages(&world, "mary");
    let task = task_of(said(&world, "mary", "1", "tidy up"));
    world.drive(task);
    service.becomes(ChatMood::Away);
    for _ in 0..6 {
        deliver_once(&world);
        world.clock.advance(20 * 60_000);
    }
    let waiting = record(&world).traffic.queue;
    assert_eq!(waiting.len(), 2, "greeting and outcome wait, visibly");
    assert!(waiting[0].attempts >= 2 && waiting[0].attempts <= 6, "it is tried less and less often");
    let why =
        events(world.kernel(), record(&world).messages_task_id).into_iter().filter_map(
            |(_, body)| match body {
                Body::MessageSettled(b) => b.why.shown().cloned(),
                _ => None,
            },
        );
    let why: Vec<String> = why.collect();
    assert!(
        why.iter().all(|why| why.contains("the service cannot be reached")),
        "the outbox says why: {why:?}"
    );
    // Where its listener is answered again it is tried at once, and once each time that this is so.
    assert!(world.kernel().send_due(NAME, None).unwrap().is_empty(), "its time has not come");
    let back = Some(world.kernel().ports().clock.now());
    let again = world.kernel().send_due(NAME, back).unwrap();
    assert_eq!(again.len(), 1);
    world.drive(again[0]);
    world.kernel().settle_sent(NAME).unwrap();
    assert!(world.kernel().send_due(NAME, back).unwrap().is_empty());
    service.becomes(ChatMood::Takes);
    world.clock.advance(2 * HOUR);
    deliver(&world);
    assert_eq!(service.shown().len(), 2);
    assert!(record(&world).traffic.queue.is_empty());
    // One that may have been sent is not sent again, and stands so.
    service.becomes(ChatMood::Silent);
    assert_eq!(said(&world, "mary", "2", "status"), Received::Used(MessageUse::Status, Vec::new()));
    deliver_once(&world);
    assert_eq!(service.shown().len(), 3);
    world.clock.advance(2 * HOUR);
    deliver_once(&world);
    assert_eq!(service.shown().len(), 3);
    assert!(record(&world).traffic.queue.is_empty());
}

fn deliver_once(world: &World) {
    world.kernel().queue_news(NAME, None).unwrap();
    for task in world.kernel().send_due(NAME, None).unwrap() {
        world.drive(task);
    }
    world.kernel().settle_sent(NAME).unwrap();
}

#[test]
fn a_chat_denies_with_a_button_that_is_its_own_and_good_once_and_allows_nothing() {
    let (world, service) = connected(7_107, true, vec![write("a.txt", "x"), done("then not")]);
    pair(&world, "mary", SenderProfile::Goals);
    pair(&world, "tom", SenderProfile::Goals);
    allow_messages(&world, "mary");
    allow_messages(&world, "tom");
    let task = task_of(said(&world, "mary", "1", "write a.txt"));
    let approval = world.drive_to_approval(task);
    deliver(&world);
    let denies = |one: &Message| one.buttons.iter().any(|button| button.label == "Deny");
    let card = service.shown().into_iter().find(denies).expect("a card was sent");
    let digest = state(&world, task).approvals[&approval].approval.approval_packet_sha256.to_string();
    assert!(card.text.contains("a.txt") && card.text.contains(&digest), "{}", card.text);
    // The file by its name alone: what it becomes stands on the card.
    for of_the_card in ["sha256", "bytes"] {
        assert!(!card.text.contains(of_the_card), "`{of_the_card}`: {}", card.text);
    }
    assert!(card.text.contains("A chat approves nothing"));
    assert!(
        card.text.contains("on the page at https://home.example"),
        "no passkey is enrolled: {}",
        card.text
    );
    let data = card.buttons[0].data.clone();
    assert!(data.len() <= 64);
    // A yes in words is words.
    task_of(said(&world, "mary", "2", "yes, I approve it"));
    let asked = |world: &World| {
        state(world, task)
            .approvals
            .values()
            .filter(|one| one.approval.status == ApprovalStatus::Granted)
            .count()
    };
    assert_eq!(asked(&world), 0);
    let press = |sender: &str, id: &str, data: &str| {
        hear(&world, Heard { button: Some(data.to_owned()), ..from(&world, sender, id, "") })
    };
    assert_eq!(press("tom", "2", &data), refused(MessageRefusal::WrongButton), "it is not theirs");
    assert_eq!(press("mary", "3", "ABCDEFGHABCDEFGH"), refused(MessageRefusal::WrongButton));
    assert_eq!(press("stranger", "1", &data), refused(MessageRefusal::NotPaired));
    assert!(matches!(press("mary", "4", &data), Received::Used(MessageUse::Deny, _)));
    assert_eq!(press("mary", "5", &data), refused(MessageRefusal::WrongButton), "it is used up");
    let denied = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ApprovalDenied(b) => Some(b.surface),
        _ => None,
    });
    let is_denied = denied.last() == Some(Surface::Chat);
    let withdrawn = state(&world, task).approvals[&approval].approval.status;
    assert!(is_denied || withdrawn == ApprovalStatus::Invalidated, "{withdrawn}");
    assert_eq!(asked(&world), 0);
    assert!(world.files().is_empty());
}

#[test]
fn a_sender_answers_and_stops_their_own_tasks_and_reads_where_they_may_only_ask() {
    let question = say("ask", json!({ "question": "Which folder?" }));
    let (world, service) =
        connected(7_108, true, vec![question, done("ok"), write("a.txt", "x"), done("no")]);
    let tom = pair(&world, "tom", SenderProfile::Ask);
    allow_messages(&world, "tom");
    let task = task_of(said(&world, "tom", "1", "look around"));
    assert_eq!(state(&world, task).task.policy_profile_ref, Profile::ReadonlyAnalysis);
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Answer(_))));
    deliver(&world);
    assert!(texts(&service).iter().any(|text| text.contains("Which folder?")), "{:?}", texts(&service));
    assert_eq!(task_of(said(&world, "tom", "2", "the first one")), task);
    assert_eq!(count(world.kernel(), task, "clarification.answered"), 1);
    assert_eq!(world.drive(task), completed());
    let second = task_of(said(&world, "tom", "3", "write something"));
    assert_ne!(second, task);
    assert_eq!(said(&world, "tom", "4", "/stop"), Received::Used(MessageUse::Stop, vec![second]));
    world.drive(second);
    assert_eq!(state(&world, second).task.status, TaskStatus::Cancelled);
    assert!(world.files().is_empty());
    let conversation = world.kernel().store_state().conversations;
    assert!(conversation.iter().any(|one| one.conversation_id == tom.conversation_id));
    // A gateway that is paused hears and sends nothing.
    world.kernel().pause_gateway(NAME, "quiet", Channel::App).unwrap();
    assert_eq!(said(&world, "tom", "5", "hello"), refused(MessageRefusal::NotActive));
    assert!(world.kernel().send_due(NAME, None).unwrap().is_empty());
    assert!(matches!(world.kernel().resume_gateway(NAME, Channel::Mcp), Err(Error::Refused(_))));
    let by_token = Sender::from(Channel::Cli).by_program();
    assert!(matches!(world.kernel().resume_gateway(NAME, by_token), Err(Error::Refused(_))));
    world.kernel().resume_gateway(NAME, Channel::App).unwrap();
    assert_eq!(record(&world).state, GatewayState::Active);
}

#[test]
fn the_secret_of_a_gateway_is_for_no_act_also_while_it_is_paused_and_once_it_is_removed() {
    let (world, _) = connected(7_142, true, Vec::new());
    let headers = json!([{ "name": "Authorization", "value": "Bearer ", "secret": "bot" }]);
    let fetch = json!({ "method": "GET", "url": format!("https://{HOST}/"), "headers": headers });
    let requested = |stands: &str| {
        let task = world.script(stands, vec![say("fetch", fetch.clone()), done("no")]);
        drop(world.drive(task));
        count(world.kernel(), task, "action.requested")
    };
    assert_eq!(requested("active"), 0);
    world.kernel().pause_gateway(NAME, "quiet", Channel::App).unwrap();
    assert_eq!(requested("paused"), 0);
    world.kernel().remove_gateway(NAME, "enough", Channel::App).unwrap();
    assert_eq!(requested("removed"), 0, "its token still writes in its chats");
}

#[test]
fn a_long_answer_goes_as_a_file_and_a_secret_goes_nowhere() {
    let long = "word ".repeat(800);
    let (world, service) = connected(7_109, true, vec![done(&long)]);
    pair(&world, "mary", SenderProfile::Goals);
    allow_messages(&world, "mary");
    let task = task_of(said(&world, "mary", "1", "tell me everything"));
    world.drive(task);
    deliver(&world);
    let told = service.shown().pop().unwrap();
    let file = told.file.expect("the whole of it comes along");
    let whole = world.kernel().artifacts().read(&file.sha256).unwrap();
    assert!(told.text.len() < 4_000 && whole.len() >= long.len());
    let kept: Vec<MessageText> = events(world.kernel(), record(&world).messages_task_id)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::MessageQueued(b) => Some(b.body.sha256),
            _ => None,
        })
        .map(|sha256| serde_json::from_slice(&world.kernel().artifacts().read(&sha256).unwrap()).unwrap())
        .collect();
    assert!(kept.iter().any(|one| one.whole.is_some()));
    let kinds = events(world.kernel(), record(&world).messages_task_id).into_iter().filter_map(
        |(_, body)| match body {
            Body::ArtifactCreated(b) => Some(b.artifact.kind),
            _ => None,
        },
    );
    assert!(kinds.into_iter().all(|kind| kind == ArtifactKind::ChatMessage));
}
