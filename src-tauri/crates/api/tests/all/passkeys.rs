//! Passkeys as a page uses them: enrolled with the passphrase, asked, answered by, listed and revoked, and proven.

use crate::home::{Home, PASSPHRASE};
use api::passkeys::{Asserted, Attested, allow, ask, enrol, list, options, revoke};
use seal::webauthn::{base64url, base64url_decode};
use seal::{Digest, Signer as _};
use serde_json::json;
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
    let receipts = home.must("receipts.list", json!({ "task": task.to_string() }));
    let rows = receipts["rows"].as_array().expect("rows");
    let receipt = rows.iter().find(|r| r["class"] == "tool_execution").expect("a receipt of it");
    let out = TempDir::new().expect("a folder");
    let key = home.world.keys.log_signer().public().to_pem();
    for (n, mut params) in [json!({ "task": task.to_string() }), json!({ "receipt": receipt["receipt_id"] })]
        .into_iter()
        .enumerate()
    {
        let path = out.path().join(format!("proof{n}.zip"));
        params["path"] = json!(path);
        home.must("proof.export", params);
        let report = home.must("proof.verify", json!({ "path": path, "trust": [key] }));
        assert_eq!(report["verdict"], "valid", "{report}");
        let proven = report["proven"].to_string();
        assert!(proven.contains("signed by a passkey that the approval key lets say yes"), "{report}");
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
