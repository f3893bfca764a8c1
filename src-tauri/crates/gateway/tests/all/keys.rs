//! Keys on a page: made and opened where a person read the link at a terminal, and nowhere else.

use crate::open;
use crate::person::Page;
use gateway::{Keeper, KeyState, NewKeys, NewPassphrase};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wire::{Code, Error};
use zeroize::Zeroizing;

const VAULT: &str = "the vault opens with this";

/// Keys that are words in memory.
#[derive(Default)]
pub struct Held(Mutex<Option<(Vec<u8>, bool)>>);

impl Keeper for Held {
    fn state(&self) -> Result<KeyState, Error> {
        let held = self.0.lock().expect("unbroken");
        Ok(KeyState {
            made: held.is_some(),
            approval: held.is_some(),
            open: held.as_ref().is_some_and(|(_, open)| *open),
            vault: held.as_ref().map(|_| "file"),
            no_keychain: Some("this is a test".to_owned()),
            chars_min: 8,
        })
    }

    fn make(self: Arc<Self>, new: &NewKeys) -> Result<(), Error> {
        assert!(!new.keychain);
        let words = new.vault_passphrase.as_ref().expect("a passphrase").to_vec();
        if words == *new.approval_passphrase {
            return Err(Error::new(Code::Usage, "two different passphrases"));
        }
        *self.0.lock().expect("unbroken") = Some((words, true));
        Ok(())
    }

    fn unlock(self: Arc<Self>, passphrase: Option<Zeroizing<Vec<u8>>>, open: Duration) -> Result<(), Error> {
        assert!(open <= Duration::from_secs(8 * 3600));
        match &mut *self.0.lock().expect("unbroken") {
            Some((words, open)) if passphrase.is_some_and(|given| *given == *words) => {
                *open = true;
                Ok(())
            }
            _ => Err(Error::new(Code::KeyLocked, "this passphrase does not open it")),
        }
    }

    fn change_passphrase(self: Arc<Self>, change: &NewPassphrase) -> Result<(), Error> {
        match &mut *self.0.lock().expect("unbroken") {
            Some((words, _)) if !change.approval && *change.old == *words => {
                *words = change.new.to_vec();
                Ok(())
            }
            _ => Err(Error::new(Code::KeyLocked, "this passphrase does not open it")),
        }
    }

    fn lock(self: Arc<Self>) -> Result<(), Error> {
        if let Some((_, open)) = &mut *self.0.lock().expect("unbroken") {
            *open = false;
        }
        Ok(())
    }

    fn hook_secret(&self, hook: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let has_one = ["deploy", "unheard"].contains(&hook);
        Ok(has_one.then(|| Zeroizing::new(crate::hooks::SECRET.as_bytes().to_vec())))
    }
}

fn new(vault: &str, approval: &str) -> Value {
    json!({ "keychain": false, "vault_passphrase": vault, "approval_passphrase": approval })
}

#[test]
fn keys_are_made_and_opened_on_a_page_whose_link_was_read_at_a_terminal_and_on_no_other() {
    let open = open(130);
    let (program, person) = (Page::of(&open), Page::at_terminal(&open));
    let made = new(VAULT, "and this one says yes");
    let unlock = json!({ "passphrase": VAULT });
    let refused = |(code, answer): (u16, Value)| {
        assert_eq!((code, &answer["code"]), (403, &json!("forbidden")), "{answer}");
    };
    refused(program.post("/api/session/keys/make", &made));
    // A program gets nothing of all this, whatever it brings.
    let (bearer, origin) = (open.bearer(), open.origin());
    for path in ["", "/make", "/unlock", "/passphrase", "/lock"] {
        let headers = [
            ("authorization", bearer.as_str()),
            ("origin", origin.as_str()),
            ("x-hermit-session", person.session.as_str()),
            ("content-type", "application/json"),
        ];
        refused(open.raw(&format!("/api/session/keys{path}"), &headers, made.to_string().as_bytes()));
    }
    let (code, state) = person.post("/api/session/keys", &json!({}));
    assert_eq!((code, &state["at_terminal"], &state["made"]), (200, &json!(true), &json!(false)), "{state}");
    assert_eq!(person.post("/api/session/keys/make", &new(VAULT, VAULT)).0, 400, "one passphrase is not two");
    let (code, state) = person.post("/api/session/keys/make", &made);
    assert_eq!((code, &state["approval"], &state["open"]), (200, &json!(true), &json!(true)), "{state}");
    // Whoever has a session may lock; to open takes the person.
    let (code, state) = program.post("/api/session/keys/lock", &json!({}));
    assert_eq!((code, &state["open"], &state["at_terminal"]), (200, &json!(false), &json!(false)), "{state}");
    refused(program.post("/api/session/keys/unlock", &unlock));
    let (code, state) = person.post("/api/session/keys/unlock", &unlock);
    assert_eq!((code, &state["open"]), (200, &json!(true)), "{state}");
    let change = json!({ "approval": false, "old": VAULT, "new": "the vault opens with that" });
    refused(program.post("/api/session/keys/passphrase", &change));
    assert_eq!(person.post("/api/session/keys/passphrase", &change).0, 200);
    assert_eq!(person.post("/api/session/keys/unlock", &unlock).0, 409, "the old one opens nothing any more");
    let is_offered = |word: &str| wire::COMMANDS.iter().any(|info| info.name.contains(word));
    assert!(!is_offered("unlock") && !is_offered("passphrase"), "no other surface offers it");
}

#[test]
fn who_guesses_the_approval_passphrase_by_changing_it_waits_at_the_door_of_approvals() {
    let open = open(132);
    let (_, approval) = open.home.with_a_question("delete held");
    let page = Page::at_terminal(&open);
    assert_eq!(page.post("/api/session/keys/make", &new(VAULT, "and this one says yes")).0, 200);
    let guess = json!({ "approval": true, "old": "not the one", "new": "one that I know" });
    for _ in 0..3 {
        assert_eq!(page.post("/api/session/keys/passphrase", &guess).0, 409);
    }
    assert_eq!(page.post("/api/session/keys/passphrase", &guess).0, 429);
    assert_eq!(page.allow(&page.read(&approval)).0, 429, "a card is no way around that");
    let (code, _) = page.post("/api/session/keys/unlock", &json!({ "passphrase": VAULT }));
    assert_eq!(code, 200, "whoever opens the vault does not wait");
    let vault = json!({ "approval": false, "old": VAULT, "new": "one that I guess" });
    assert_eq!(
        page.post("/api/session/keys/passphrase", &vault).0,
        429,
        "new words are a try at the other key"
    );
}

#[test]
fn who_changes_the_vaults_passphrase_to_guess_the_other_one_waits_as_well() {
    let open = open(133);
    let page = Page::at_terminal(&open);
    assert_eq!(page.post("/api/session/keys/make", &new(VAULT, "and this one says yes")).0, 200);
    let mut old = VAULT.to_owned();
    for number in 0..3 {
        let guess = format!("a guess of number {number}");
        let change = json!({ "approval": false, "old": old, "new": guess });
        assert_eq!(page.post("/api/session/keys/passphrase", &change).0, 200, "{number}");
        old = guess;
    }
    let change = json!({ "approval": false, "old": old, "new": "one guess more" });
    assert_eq!(page.post("/api/session/keys/passphrase", &change).0, 429);
    let (code, _) = page.post("/api/session/keys/unlock", &json!({ "passphrase": old }));
    assert_eq!(code, 200, "the vault opens all the same");
}

#[test]
fn wrong_passphrases_of_the_vault_make_its_door_wait_and_not_the_one_of_approvals() {
    let open = open(131);
    let (_, approval) = open.home.with_a_question("delete held");
    let page = Page::at_terminal(&open);
    assert_eq!(page.post("/api/session/keys/make", &new(VAULT, "and this one says yes")).0, 200);
    let wrong = json!({ "passphrase": "not the one" });
    for _ in 0..3 {
        assert_eq!(page.post("/api/session/keys/unlock", &wrong).0, 409);
    }
    let (code, answer) = page.post("/api/session/keys/unlock", &json!({ "passphrase": VAULT }));
    assert_eq!((code, answer["details"]["retry_at"].is_i64()), (429, true), "{answer}");
    let yes = page.read(&approval);
    assert_eq!(page.allow(&yes).0, 200, "whoever approves does not wait for that");
}
