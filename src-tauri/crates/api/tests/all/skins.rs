//! Skins over the wire: listed, checked without a store's help, chosen for a conversation by name or behind a slash, and put to a
//! person; what is refused leaves nothing on record.

use crate::home::Home;
use serde_json::{Value, json};
use wire::Code;

fn events(home: &Home) -> Value {
    home.must("ledger.stats", json!({}))["events"].clone()
}

fn chosen(home: &Home, conversation: &Value) -> Value {
    home.must("skins.list", json!({ "conversation": conversation }))["chosen"]["name"].clone()
}

#[test]
fn a_conversation_has_the_skin_that_was_chosen_for_it_on_every_surface_and_no_other_has() {
    let home = Home::new(76);
    let first = home.must("conversations.list", json!({}))["rows"][0]["conversation_id"].clone();
    let second = home.must("conversations.open", json!({ "title": "Elsewhere" }))["conversation_id"].clone();
    assert_eq!(chosen(&home, &first), Value::Null);
    let listed = home.must("skins.list", json!({}))["skins"].as_array().expect("skins").clone();
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|one| one["state"] == "built_in" && one["signed_by"].is_null()), "{listed:?}");
    home.must("skins.choose", json!({ "conversation": first, "skin": "teaching" }));
    assert_eq!((chosen(&home, &first), chosen(&home, &second)), (json!("teaching"), Value::Null));
    let say = |text: &str| {
        home.ask("conversations.say", json!({ "conversation": second, "text": text, "channel": "app" }))
    };
    let said = say("/skin terse").expect("it is done");
    assert!(said["told"][0].as_str().expect("a line").contains("the skin terse"), "{said}");
    assert_eq!((chosen(&home, &first), chosen(&home, &second)), (json!("teaching"), json!("terse")));
    // What cannot be chosen is refused before it is on record.
    let before = events(&home);
    assert_eq!(say("/skin nobody").expect_err("there is none").code, Code::NotFound);
    assert_eq!(say("/skin").expect_err("which?").code, Code::Usage);
    let unknown = home.ask("skins.choose", json!({ "conversation": first, "skin": "nobody" }));
    assert_eq!(unknown.expect_err("there is none").code, Code::NotFound);
    assert_eq!(events(&home), before);
    say("/skin none").expect("it is taken off");
    assert_eq!((chosen(&home, &first), chosen(&home, &second)), (json!("teaching"), Value::Null));
    home.must("skins.choose", json!({ "conversation": first }));
    assert_eq!(chosen(&home, &first), Value::Null);
}

#[test]
fn a_choice_that_comes_again_overrules_none_that_came_after_it() {
    let home = Home::new(78);
    let here = home.must("conversations.list", json!({}))["rows"][0]["conversation_id"].clone();
    let say = |text: &str, key: &str| {
        let words = json!({ "conversation": here, "text": text, "channel": "app", "idempotency_key": key });
        home.must("conversations.say", words)["told"][0].as_str().expect("a line").to_owned()
    };
    assert!(say("/skin terse", "first").contains("the skin terse"));
    assert!(say("/skin teaching", "second").contains("the skin teaching"));
    let before = events(&home);
    assert!(say("/skin terse", "first").contains("the skin teaching"), "it tells how it stands");
    assert_eq!((chosen(&home, &here), events(&home)), (json!("teaching"), before.clone()));
    // The same where nothing had to be done the first time, and where it was taken off since.
    say("/skin teaching", "third");
    say("/skin none", "fourth");
    assert!(say("/skin teaching", "third").contains("no skin"));
    assert_eq!(chosen(&home, &here), Value::Null);
}

#[test]
fn a_file_is_begun_checked_and_shown_and_what_is_wrong_with_one_is_said() {
    let home = Home::new(77);
    let begun = home.must("skins.draft", json!({ "name": "harbour" }))["text"].clone();
    let checked = home.must("skins.check", json!({ "text": begun }));
    assert_eq!((&checked["name"], &checked["state"]), (&json!("harbour"), &json!("untrusted")));
    assert!(checked["notes"].to_string().contains("nobody signed"), "{checked}");
    let refused = |text: &str, says: &str| {
        let error = home.ask("skins.check", json!({ "text": text })).expect_err(says);
        assert!(error.code == Code::Usage && error.message.contains(says), "{error:?}");
    };
    let begun = begun.as_str().expect("text");
    refused(&begun.replace("\"version\"", "\"policy\": \"all\", \"version\""), "unknown field `policy`");
    refused(&begun.replace("its tone", "https://x.example/tone"), "lies elsewhere");
    refused(&begun.replace("\"version\": 1", "\"version\": 0"), "`version`");
    assert!(home.ask("skins.draft", json!({ "name": "No Name" })).is_err());
    let unsigned = home.ask("skins.trust", json!({ "text": begun })).expect_err("nobody signed it");
    assert!(unsigned.message.contains("nobody signed"), "{unsigned:?}");
    let shown = home.must("skins.show", json!({ "skin": "terse" }));
    assert!(shown["voice"].as_str().expect("words").starts_with("Be brief."), "{shown}");
    assert_eq!(home.ask("skins.show", json!({ "skin": "nobody" })).expect_err("none").code, Code::NotFound);
}
