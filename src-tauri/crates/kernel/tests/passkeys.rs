//! Passkeys on the whole path: enrolled under the approval key, a yes by one, what is refused, and what ends one.

use crate::story::{completed, events, in_store, state};
use kernel::Error;
use kernel::command::approve::Answered;
use kernel::command::rotate_keys::Rotation;
use model::approval::{ApprovalStatus, Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::body::KeyPurpose;
use model::passkey::{PASSKEY_FORMAT, PasskeyEnrolment, SECURITY_KEY_ORIGIN, SIGN_IN_PAYLOAD_TYPE};
use model::principal::PrincipalType;
use model::{ApprovalId, Body, Digest, TaskId};
use seal::webauthn::base64url;
use seal::{SeedSigner, Signer};
use testkit::{Authenticator, World, done, write};

const HERE: &str = "http://localhost:7717";

fn enrolment(world: &World, one: &Authenticator) -> PasskeyEnrolment {
    let kernel = world.kernel();
    PasskeyEnrolment {
        format: PASSKEY_FORMAT.to_owned(),
        log_id: kernel.reader().log_id().to_owned(),
        credential_id: base64url(&one.credential_id),
        public_key: one.key().to_base64(),
        rp_id: one.rp_id.clone(),
        origin: one.origin.clone(),
        authenticator_data: base64url(&one.made()),
        surface: Surface::Test,
        enrolled_by: kernel.store_state().principal(PrincipalType::User).unwrap(),
        enrolled_at: kernel.ports().clock.now(),
    }
}

fn enrolled_by(world: &World, said: &PasskeyEnrolment, key: &dyn Signer) -> Result<Digest, Error> {
    let envelope = governance::approval::sign_passkey(said, key).unwrap();
    world.kernel().enrol_passkey(&envelope, "this laptop", &["internal".to_owned()])
}

pub fn enrolled(world: &World, one: &Authenticator) -> Digest {
    enrolled_by(world, &enrolment(world, one), world.person.signer()).unwrap()
}

/// The canonical bytes of an answer to a question.
fn answer(world: &World, task: TaskId, approval: ApprovalId, choice: Choice) -> Vec<u8> {
    let asked = &state(world, task).approvals[&approval].approval;
    let packet = world.kernel().artifacts().read(&asked.approval_packet_sha256).unwrap();
    let who = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    let now = world.kernel().ports().clock.now();
    let said = governance::approval::answer(&packet, choice, Surface::Test, who, now, None).unwrap();
    seal::canon::to_canonical(&said).unwrap()
}

pub fn yes(world: &World, task: TaskId, approval: ApprovalId, one: &mut Authenticator) -> Vec<u8> {
    let payload = answer(world, task, approval, Choice::Once);
    one.sign(DECISION_PAYLOAD_TYPE, &payload).to_bytes().unwrap()
}

/// The code with which it is refused; the question waits still.
fn refused(world: &World, task: TaskId, approval: ApprovalId, signed: &[u8]) -> String {
    let said = world.kernel().decide_approval_by_passkey(task, approval, signed);
    assert_eq!(state(world, task).approvals[&approval].approval.status, ApprovalStatus::Pending);
    match said {
        Err(Error::Refused(refusal)) => refusal.code.to_owned(),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn asked(world: &World, goal: &str, names: &[&str]) -> (TaskId, ApprovalId) {
    let mut answers: Vec<_> = names.iter().map(|name| write(name, goal)).collect();
    answers.push(done("ok"));
    let task = world.script(goal, answers);
    (task, world.drive_to_approval(task))
}

#[test]
fn a_passkey_of_either_kind_says_yes_once_and_the_act_is_done() {
    for (seed, mut one) in [(3601, Authenticator::es256(7, HERE)), (3602, Authenticator::eddsa(8, HERE))] {
        let mut world = World::new(seed);
        let id = enrolled(&world, &one);
        assert_eq!(id, one.key().keyid());
        let (task, approval) = asked(&world, "notes", &["a.md"]);
        let signed = yes(&world, task, approval, &mut one);
        // What is enrolled and how far it counted outlasts the process.
        world.reopen();
        let accepted = Answered::Accepted { status: ApprovalStatus::Granted, task_id: task };
        let kernel = world.kernel();
        assert_eq!(kernel.decide_approval_by_passkey(task, approval, &signed).unwrap(), accepted);
        let again = kernel.decide_approval_by_passkey(task, approval, &signed).unwrap();
        assert_eq!(again, Answered::NotActive { status: ApprovalStatus::Granted, task_id: task });
        let granted = events(kernel, task).into_iter().find_map(|(_, body)| match body {
            Body::ApprovalGranted(b) => Some(b),
            _ => None,
        });
        let granted = granted.unwrap();
        assert_eq!(granted.keyid, id, "the log names the passkey");
        assert_eq!(kernel.artifacts().read(&granted.envelope.sha256).unwrap(), signed);
        assert!(granted.passkey.is_some(), "whoever has the task has what lets the passkey say yes");
        let receipts = state(&world, task).receipts;
        let told = receipts.iter().map(|one| kernel.receipt(one.receipt_id).unwrap().1.result_summary);
        let told: Vec<String> = told.filter_map(|words| words.shown().cloned()).collect();
        assert!(told.contains(&"Approved by a person, with a passkey, in a test".to_owned()), "{told:?}");
        let store = kernel.store_state();
        let record = store.passkeys.get(id).unwrap();
        assert_eq!((record.counter, record.last_used_at.is_some()), (1, true));
        assert_eq!(world.drive(task), completed());
        assert_eq!(world.files().len(), 1);
    }
}

#[test]
fn a_security_key_says_yes_for_itself_and_no_page_does_in_its_place() {
    let world = World::new(3607);
    let mut key = Authenticator::es256(7, SECURITY_KEY_ORIGIN);
    let id = enrolled(&world, &key);
    let mut of_page = Authenticator::es256(9, HERE);
    enrolled(&world, &of_page);
    let (task, approval) = asked(&world, "notes", &["a.md"]);
    let bent = |one: &mut Authenticator, origin: &str, rp_id: &str, flags: u8| {
        let before = (one.origin.clone(), one.rp_id.clone(), one.flags);
        (one.origin, one.rp_id, one.flags) = (origin.to_owned(), rp_id.to_owned(), flags);
        let signed = yes(&world, task, approval, one);
        (one.origin, one.rp_id, one.flags) = before;
        refused(&world, task, approval, &signed)
    };
    let (here, host) = (SECURITY_KEY_ORIGIN, "localhost");
    assert_eq!(bent(&mut key, HERE, host, 0x05), "passkey_origin");
    assert_eq!(bent(&mut key, here, host, 0x05), "passkey_rp");
    assert_eq!(bent(&mut key, here, here, 0x01), "passkey_unverified");
    assert_eq!(bent(&mut of_page, here, here, 0x05), "passkey_origin");
    let signed = yes(&world, task, approval, &mut key);
    let accepted = Answered::Accepted { status: ApprovalStatus::Granted, task_id: task };
    assert_eq!(world.kernel().decide_approval_by_passkey(task, approval, &signed).unwrap(), accepted);
    let receipts = state(&world, task).receipts;
    let told = receipts.iter().map(|one| world.kernel().receipt(one.receipt_id).unwrap().1.result_summary);
    let told: Vec<String> = told.filter_map(|words| words.shown().cloned()).collect();
    assert!(told.contains(&"Approved by a person, with a security key, in a test".to_owned()), "{told:?}");
    assert_eq!(world.kernel().store_state().passkeys.get(id).unwrap().origin, SECURITY_KEY_ORIGIN);
    assert_eq!(world.drive(task), completed());
}

#[test]
fn what_is_about_something_else_or_of_nobody_who_was_there_is_refused() {
    let world = World::new(3603);
    let mut one = Authenticator::es256(7, HERE);
    enrolled(&world, &one);
    let (task, before) = asked(&world, "notes", &["a.md", "b.md"]);
    let replayed = yes(&world, task, before, &mut one);
    let elsewhere = answer(&world, task, before, Choice::Once);
    world.person.allow(world.kernel(), task, before).unwrap();
    let approval = world.drive_to_approval(task);
    assert_eq!(refused(&world, task, approval, &replayed), "approval_other");
    let bent = |bend: &dyn Fn(&mut Authenticator)| {
        let mut other = Authenticator::es256(7, HERE);
        other.counter = 10;
        bend(&mut other);
        let signed = yes(&world, task, approval, &mut other);
        refused(&world, task, approval, &signed)
    };
    assert_eq!(bent(&|a| a.origin = "http://localhost:7718".to_owned()), "passkey_origin");
    assert_eq!(bent(&|a| a.rp_id = "example.org".to_owned()), "passkey_rp");
    assert_eq!(bent(&|a| a.flags = 0x04), "passkey_absent");
    assert_eq!(bent(&|a| a.flags = 0x01), "passkey_unverified");
    assert_eq!(bent(&|a| drop(a.says.insert("crossOrigin".to_owned(), true.into()))), "passkey_framed");
    assert_eq!(bent(&|a| drop(a.says.insert("type".to_owned(), "webauthn.create".into()))), "passkey_type");
    assert_eq!(bent(&|a| a.credential_id = vec![9; 16]), "passkey_unknown");
    // Another key that calls itself so.
    let mut thief = Authenticator::es256(9, HERE);
    thief.credential_id = one.credential_id.clone();
    let signed = yes(&world, task, approval, &mut thief);
    assert_eq!(refused(&world, task, approval, &signed), "passkey_signature");
    // No more than once, and no other words than were signed.
    let lasting = answer(&world, task, approval, Choice::Standing);
    let lasting = one.sign(DECISION_PAYLOAD_TYPE, &lasting).to_bytes().unwrap();
    assert_eq!(refused(&world, task, approval, &lasting), "choice");
    let mut changed = one.sign(DECISION_PAYLOAD_TYPE, &answer(&world, task, approval, Choice::Once));
    changed.payload = elsewhere;
    assert_eq!(refused(&world, task, approval, &changed.to_bytes().unwrap()), "passkey_challenge");
    assert_eq!(in_store(&world, "passkey.used"), 0);
}

#[test]
fn a_copy_that_counts_by_itself_a_revoked_one_and_one_under_an_older_approval_key_say_nothing() {
    let world = World::new(3604);
    let mut one = Authenticator::es256(7, HERE);
    let id = enrolled(&world, &one);
    let (task, first) = asked(&world, "notes", &["a.md", "b.md", "c.md"]);
    let signed = yes(&world, task, first, &mut one);
    world.kernel().decide_approval_by_passkey(task, first, &signed).unwrap();
    let second = world.drive_to_approval(task);
    // The copy has counted to one, too.
    let mut copy = Authenticator::es256(7, HERE);
    let signed = yes(&world, task, second, &mut copy);
    assert_eq!(refused(&world, task, second, &signed), "passkey_counter");
    assert_eq!(in_store(&world, "passkey.refused"), 1, "it is on record");
    let signed = yes(&world, task, second, &mut one);
    world.kernel().decide_approval_by_passkey(task, second, &signed).unwrap();
    let third = world.drive_to_approval(task);
    // Under another approval key it has to be enrolled again.
    let next = SeedSigner::from_seed([0x21; 32]);
    let rotation = Rotation { purpose: KeyPurpose::Approval, old: world.person.signer(), new: &next };
    world.kernel().rotate_keys(&[rotation], None).unwrap();
    let signed = yes(&world, task, third, &mut one);
    assert_eq!(refused(&world, task, third, &signed), "passkey_enrolment");
    let old = enrolled_by(&world, &enrolment(&world, &one), world.person.signer());
    assert!(matches!(old, Err(Error::Refused(r)) if r.code == "passkey_enrolment"), "by the key before");
    assert_eq!(enrolled_by(&world, &enrolment(&world, &one), &next).unwrap(), id);
    world.kernel().revoke_passkey(id, "the laptop is sold").unwrap();
    assert!(matches!(world.kernel().revoke_passkey(id, "again"), Err(Error::Conflict(_))));
    let signed = yes(&world, task, third, &mut one);
    assert_eq!(refused(&world, task, third, &signed), "passkey_revoked");
    assert_eq!(world.files().len(), 2);
}

#[test]
fn a_yes_that_was_not_used_before_the_approval_key_was_replaced_is_asked_for_again() {
    let world = World::new(3606);
    let mut one = Authenticator::es256(7, HERE);
    enrolled(&world, &one);
    let (task, approval) = asked(&world, "notes", &["a.md"]);
    let signed = yes(&world, task, approval, &mut one);
    world.kernel().decide_approval_by_passkey(task, approval, &signed).unwrap();
    let next = SeedSigner::from_seed([0x21; 32]);
    let rotation = Rotation { purpose: KeyPurpose::Approval, old: world.person.signer(), new: &next };
    world.kernel().rotate_keys(&[rotation], None).unwrap();
    assert_ne!(world.drive_to_approval(task), approval);
    assert_eq!(world.files().len(), 0);
}

#[test]
fn only_what_the_approval_key_signed_for_this_store_is_enrolled() {
    let world = World::new(3605);
    let one = Authenticator::eddsa(7, HERE);
    let good = enrolment(&world, &one);
    let code = |said: &PasskeyEnrolment, key: &dyn Signer| match enrolled_by(&world, said, key) {
        Err(Error::Refused(refusal)) => refusal.code,
        other => panic!("expected a refusal, got {other:?}"),
    };
    let person = world.person.signer();
    assert_eq!(code(&good, &SeedSigner::from_seed([0x31; 32])), "passkey_enrolment");
    let case = |bend: &dyn Fn(&mut PasskeyEnrolment)| {
        let mut said = good.clone();
        bend(&mut said);
        code(&said, person)
    };
    assert_eq!(case(&|e| e.log_id = "another".to_owned()), "passkey_elsewhere");
    assert_eq!(case(&|e| e.surface = Surface::Mcp), "surface");
    assert_eq!(case(&|e| e.origin = "http://127.0.0.1:7717".to_owned()), "passkey_origin");
    assert_eq!(case(&|e| e.origin = "http://example.org".to_owned()), "passkey_origin");
    assert_eq!(case(&|e| e.origin = "https://example.org".to_owned()), "passkey_origin", "for another host");
    assert_eq!(case(&|e| e.credential_id = "AAAA".to_owned()), "passkey_unreadable");
    let stranger = Authenticator::es256(9, HERE).key().to_base64();
    assert_eq!(case(&|e| e.public_key.clone_from(&stranger)), "passkey_unreadable");
    assert_eq!(case(&|e| e.enrolled_at = e.enrolled_at.plus_ms(-3_600_000)), "passkey_time");
    let mut unseen = Authenticator::eddsa(7, HERE);
    unseen.flags = 0x01;
    assert_eq!(code(&enrolment(&world, &unseen), person), "passkey_unverified");
    enrolled(&world, &one);
    let twice = enrolled_by(&world, &enrolment(&world, &one), person);
    assert!(matches!(twice, Err(Error::Conflict(_))), "{twice:?}");
    assert_eq!(in_store(&world, "passkey.enrolled"), 1);
}

#[test]
fn a_passkey_signs_a_page_in_for_what_was_drawn_and_neither_that_nor_a_yes_is_the_other() {
    let world = World::new(3607);
    let kernel = world.kernel();
    let mut one = Authenticator::es256(7, HERE);
    let id = enrolled(&world, &one);
    let (task, approval) = asked(&world, "notes", &["a.md"]);
    let drawn = governance::approval::sign_in_payload(kernel.reader().log_id(), HERE, &[5; 32]);
    let other = governance::approval::sign_in_payload(kernel.reader().log_id(), HERE, &[6; 32]);
    let signed = one.sign(SIGN_IN_PAYLOAD_TYPE, &drawn).to_bytes().unwrap();
    let no = |signed: &[u8], payload: &[u8], origin: &str| match kernel
        .sign_in_by_passkey(signed, payload, origin)
    {
        Err(Error::Refused(refusal)) => refusal.code,
        other => panic!("expected a refusal, got {other:?}"),
    };
    assert_eq!(no(&signed, &other, HERE), "sign_in_other");
    assert_eq!(no(&signed, &drawn, "http://localhost:7718"), "passkey_origin");
    assert_eq!(kernel.sign_in_by_passkey(&signed, &drawn, HERE).unwrap(), id);
    assert_eq!(kernel.store_state().passkeys.get(id).unwrap().counter, 1);
    assert!(kernel.passkey_holds(id));
    // Said twice it has not counted on.
    assert_eq!(no(&signed, &drawn, HERE), "passkey_counter");
    assert_eq!((in_store(&world, "passkey.signed_in"), in_store(&world, "passkey.sign_in_refused")), (1, 1));
    // It is no yes, whatever it is called; and a yes signs nobody in.
    let signed = one.sign(SIGN_IN_PAYLOAD_TYPE, &drawn).to_bytes().unwrap();
    assert_eq!(refused(&world, task, approval, &signed), "decision_type");
    let signed = one.sign(DECISION_PAYLOAD_TYPE, &drawn).to_bytes().unwrap();
    assert_eq!(refused(&world, task, approval, &signed), "decision_unreadable");
    let decision = answer(&world, task, approval, Choice::Once);
    let signed = one.sign(SIGN_IN_PAYLOAD_TYPE, &decision).to_bytes().unwrap();
    assert_eq!(no(&signed, &drawn, HERE), "sign_in_other");
    one.flags = 0x01;
    let signed = one.sign(SIGN_IN_PAYLOAD_TYPE, &drawn).to_bytes().unwrap();
    assert_eq!(no(&signed, &drawn, HERE), "passkey_unverified");
    one.flags = 0x05;
    kernel.revoke_passkey(id, "the phone is sold").unwrap();
    let signed = one.sign(SIGN_IN_PAYLOAD_TYPE, &drawn).to_bytes().unwrap();
    assert_eq!(no(&signed, &drawn, HERE), "passkey_revoked");
    assert!(!kernel.passkey_holds(id));
}
