//! Passkeys as a page uses them: enrolled with the passphrase, asked, answered by, listed and revoked, and proven.

use crate::home::{Home, PASSPHRASE};
use api::passkeys::{Asserted, Attested, allow, ask, enrol, list, options, revoke};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::TaskId;
use model::approval::{ApprovalStatus, Choice, DECISION_PAYLOAD_TYPE, Surface};
use model::passkey::{PASSKEY_FORMAT, PasskeyEnrolment, SECURITY_KEY_ORIGIN};
use model::principal::PrincipalType;
use seal::webauthn::{base64url, base64url_decode};
use seal::{Digest, Signer as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Authenticator;
use wire::Code;

const HERE: &str = "http://localhost:7717";
const CHALLENGE: [u8; 32] = [9; 32];

fn attested(one: &Authenticator, challenge: &[u8]) -> Attested {
    Attested {
        client_data_json: base64url(&one.client_data("webauthn.create", challenge)),
        attestation_object: base64url(&one.attestation()),
        transports: vec!["internal".to_owned()],
    }
}

fn enrolled(home: &Home, one: &Authenticator, name: &str) -> wire::passkeys::Passkey {
    enrol(home, HERE, &CHALLENGE, name, &attested(one, &CHALLENGE), PASSPHRASE.as_bytes()).expect("enrolled")
}

fn asserted(one: &mut Authenticator, decision: &str) -> Asserted {
    let signed = one.sign("", &base64url_decode(decision).expect("a decision")).webauthn;
    Asserted {
        credential_id: base64url(&signed.credential_id),
        client_data_json: base64url(&signed.client_data_json),
        authenticator_data: base64url(&signed.authenticator_data),
        signature: base64url(&signed.signature),
        decision: decision.to_owned(),
    }
}

#[test]
fn a_page_enrols_a_passkey_and_its_yes_is_proven_to_a_stranger() {
    let home = Home::new(71);
    let mut one = Authenticator::es256(7, HERE);
    let asked = options(&home, HERE, CHALLENGE).expect("it can be enrolled here");
    assert_eq!(
        (asked.rp_id.as_str(), asked.challenge.as_str()),
        ("localhost", base64url(&CHALLENGE).as_str())
    );
    assert!(asked.exclude.is_empty() && asked.algorithms == [-7, -8]);
    let row = enrolled(&home, &one, "this laptop");
    assert_eq!((row.algorithm.as_str(), row.origin.as_str(), row.in_force), ("ES256", HERE, true));
    let again = options(&home, HERE, CHALLENGE).expect("another can be");
    assert_eq!(again.exclude, [base64url(&one.credential_id)]);
    let (task, approval) = home.with_a_question("delete it");
    let shown = api::page_approval::shown(&home, &approval).expect("it waits");
    let asked = ask(&home, HERE, &approval, &shown.packet_sha256).expect("it can be asked");
    let decision = base64url_decode(&asked.decision).expect("a decision");
    assert_eq!(asked.challenge, base64url(Digest::of(&decision).as_bytes()));
    assert_eq!((asked.credentials.as_slice(), asked.rp_id.as_str()), (again.exclude.as_slice(), "localhost"));
    let came = asserted(&mut one, &asked.decision);
    let decided = allow(&home, HERE, &approval, &shown.packet_sha256, &came).expect("it is a yes");
    assert!(decided.accepted);
    home.world.drive(task);
    assert!(home.world.files().is_empty(), "it was deleted");
    assert!(list(&home).expect("a list")[0].last_used_at.is_some());
    for report in proofs(&home, task) {
        assert_eq!(report["verdict"], "valid", "{report}");
        let proven = report["proven"].to_string();
        assert!(proven.contains("signed by a passkey that the approval key lets say yes"), "{report}");
    }
}

/// What a stranger is told of the task, and of the receipt of what it did.
fn proofs(home: &Home, task: TaskId) -> Vec<Value> {
    let receipts = home.must("receipts.list", json!({ "task": task.to_string() }));
    let rows = receipts["rows"].as_array().expect("rows");
    let receipt = rows.iter().find(|r| r["class"] == "tool_execution").expect("a receipt of it");
    let out = TempDir::new().expect("a folder");
    let key = home.world.keys.log_signer().public().to_pem();
    let all = [json!({ "task": task.to_string() }), json!({ "receipt": receipt["receipt_id"] })];
    let proof = |(n, mut params): (usize, Value)| {
        let path = out.path().join(format!("proof{n}.zip"));
        params["path"] = json!(path);
        home.must("proof.export", params);
        home.must("proof.verify", json!({ "path": path, "trust": [key] }))
    };
    all.into_iter().enumerate().map(proof).collect()
}

#[test]
fn of_two_keys_a_card_says_which_has_said_yes_and_a_stranger_is_shown_both() {
    let home = Home::new(75);
    std::fs::write(home.world.store.path().join("policy.rules"), "dual FileDelete(**)\n").expect("rules");
    let (task, approval) = home.with_a_question("delete it");
    let two = || home.must("approvals.show", json!({ "approval": approval }))["two_keys"].clone();
    let says = || two()["says"].as_str().expect("words").to_owned();
    assert_eq!((&two()["given"], &two()["able"]), (&json!(0), &json!(1)));
    assert!(
        says().starts_with("two different keys have to allow this, and fewer may say yes here"),
        "{}",
        says()
    );
    let mut one = Authenticator::es256(7, HERE);
    enrolled(&home, &one, "phone");
    assert_eq!(says(), "two different keys have to allow this; 2 may say yes here");
    let shown = api::page_approval::shown(&home, &approval).expect("it waits");
    let asked = ask(&home, HERE, &approval, &shown.packet_sha256).expect("it can be asked");
    let came = asserted(&mut one, &asked.decision);
    let decided = allow(&home, HERE, &approval, &shown.packet_sha256, &came).expect("it is a yes");
    assert_eq!((decided.accepted, decided.status), (true, ApprovalStatus::Pending));
    let first = "1 of 2: allowed with a passkey (phone), in the browser; another key has to allow it, too";
    assert_eq!(says(), first);
    home.world.drive(task);
    assert_eq!(home.world.files().len(), 1, "nothing is done");
    let id = approval.parse().expect("its name");
    let envelope = home.world.person.sign(home.world.kernel(), task, id, Choice::Once, None);
    let envelope = STANDARD.encode(envelope);
    let decided = home.must("approvals.decide", json!({ "approval": approval, "envelope": envelope }));
    assert_eq!((&decided["accepted"], &decided["status"]), (&json!(true), &json!("granted")));
    assert!(two().is_null(), "it is over");
    home.world.drive(task);
    assert!(home.world.files().is_empty(), "it was deleted");
    for report in proofs(&home, task) {
        assert_eq!(report["verdict"], "valid", "{report}");
        let proven = report["proven"].to_string();
        assert!(proven.contains("signed by a passkey that the approval key lets say yes"), "{report}");
        assert!(proven.contains("1 decision of a person"), "{report}");
    }
}

#[test]
fn what_is_not_of_this_page_this_challenge_or_this_passphrase_enrols_and_allows_nothing() {
    let home = Home::new(72);
    let mut one = Authenticator::eddsa(8, HERE);
    let came = attested(&one, &CHALLENGE);
    let tried = |origin: &str, challenge: &[u8; 32], name: &str, words: &[u8]| {
        enrol(&home, origin, challenge, name, &came, words).expect_err("refused").code
    };
    let words = PASSPHRASE.as_bytes();
    assert_eq!(tried(HERE, &CHALLENGE, "laptop", b"guess"), Code::KeyLocked);
    assert_eq!(tried(HERE, &[8; 32], "laptop", words), Code::Refused);
    assert_eq!(tried("http://localhost:1", &CHALLENGE, "laptop", words), Code::Refused);
    assert_eq!(tried("http://192.168.1.2:7717", &CHALLENGE, "laptop", words), Code::Refused);
    assert_eq!(tried(HERE, &CHALLENGE, "  ", words), Code::Usage);
    assert!(list(&home).expect("a list").is_empty());
    let (_, approval) = home.with_a_question("delete it");
    let shown = api::page_approval::shown(&home, &approval).expect("it waits").packet_sha256;
    let none = ask(&home, HERE, &approval, &shown).expect_err("nothing is enrolled");
    assert_eq!(none.code, Code::NotFound);
    let row = enrolled(&home, &one, "laptop");
    let other = "0".repeat(64);
    assert_eq!(ask(&home, HERE, &approval, &other).expect_err("another card").code, Code::Conflict);
    let asked = ask(&home, HERE, &approval, &shown).expect("it can be asked");
    let came = asserted(&mut one, &asked.decision);
    let elsewhere = allow(&home, "http://localhost:1", &approval, &shown, &came);
    assert_eq!(elsewhere.expect_err("another page").code, Code::NotFound);
    let bent = Asserted { signature: base64url(&[0; 64]), ..came.clone() };
    assert_eq!(allow(&home, HERE, &approval, &shown, &bent).expect_err("nobody signed").code, Code::Refused);
    let gone = revoke(&home, "laptop").expect("revoked");
    assert_eq!((gone.passkey_id, gone.in_force), (row.passkey_id, false));
    assert!(gone.revoked_at.is_some());
    assert!(allow(&home, HERE, &approval, &shown, &came).is_err(), "it says nothing any more");
    assert_eq!(
        home.ask("passkeys.revoke", json!({ "passkey": "laptop" })).expect_err("once").code,
        Code::Conflict
    );
    assert_eq!(home.must("passkeys.list", json!({}))["passkeys"][0]["name"], "laptop");
}

#[test]
fn the_table_takes_a_security_key_that_the_approval_key_signed_and_no_passkey_of_a_page() {
    let home = Home::new(73);
    let envelope = |one: &Authenticator| {
        let reader = home.world.kernel().reader();
        let said = PasskeyEnrolment {
            format: PASSKEY_FORMAT.to_owned(),
            log_id: reader.log_id().to_owned(),
            credential_id: base64url(&one.credential_id),
            public_key: one.key().to_base64(),
            rp_id: one.rp_id.clone(),
            origin: one.origin.clone(),
            authenticator_data: base64url(&one.made()),
            surface: Surface::Test,
            enrolled_by: home.world.kernel().store_state().principal(PrincipalType::User).expect("a person"),
            enrolled_at: home.world.kernel().ports().clock.now(),
        };
        governance::approval::sign_passkey(&said, home.world.person.signer()).expect("signed")
    };
    let hand_in = |signed: &[u8]| {
        home.ask("passkeys.enrol", json!({ "envelope": STANDARD.encode(signed), "name": "the blue one" }))
    };
    let (mut key, mut page) = (Authenticator::es256(7, SECURITY_KEY_ORIGIN), Authenticator::es256(8, HERE));
    assert_eq!(hand_in(&envelope(&page)).expect_err("of a page").code, Code::Refused);
    let mut unsigned = envelope(&key);
    unsigned.truncate(40);
    assert_eq!(hand_in(&unsigned).expect_err("no envelope").code, Code::Refused);
    let row = hand_in(&envelope(&key)).expect("enrolled");
    assert_eq!((&row["origin"], &row["in_force"]), (&json!(SECURITY_KEY_ORIGIN), &json!(true)), "{row}");
    enrolled(&home, &page, "this laptop");

    let (_, approval) = home.with_a_question("delete it");
    let shown = api::page_approval::shown(&home, &approval).expect("it waits");
    let asked = ask(&home, HERE, &approval, &shown.packet_sha256).expect("the page can be asked");
    let decision = base64url_decode(&asked.decision).expect("a decision");
    let decide = |one: &mut Authenticator, standing: Option<&str>| {
        let signed = one.sign(DECISION_PAYLOAD_TYPE, &decision).to_bytes().expect("bytes");
        let envelope = STANDARD.encode(signed);
        home.ask(
            "approvals.decide",
            json!({ "approval": approval, "envelope": envelope, "standing": standing }),
        )
    };
    let of_page = decide(&mut page, None).expect_err("it says yes on its page");
    assert!(of_page.code == Code::Refused && of_page.message.contains("on that page"), "{of_page:?}");
    assert_eq!(decide(&mut key, Some("e30=")).expect_err("nothing that lasts").code, Code::Refused);
    assert_eq!(decide(&mut key, None).expect("a yes")["accepted"], true);
}
