//! A skin and a skill, tried as other words are: a model on this machine is asked anew in both arms, with what stands in the one and with what
//! the change has in the other.

use super::asked_words::{MARK, by_its_words, is_sound, reads, rules, tried_words, works_in};
use super::has_walls;
use super::proposed::{done, writes};
use crate::journeys::stage::Stage;
use crate::journeys::tool_servers::{asked, put, work, yes};
use conforms::conforms;
use model::skin::Skin;
use seal::SeedSigner;
use serde_json::{Value, json};
use testkit::Chat;

const PILOT: &str = "Speak as a harbour pilot does.";
const KEEPER: &str = "Speak as the keeper of a lighthouse does.";
const CALM: &str = "Writes letters calmly.";
/// What a model was sent for the work, and in both arms: four answers without the change, three with it, and four without it once more.
const ALL: usize = 4 + 4 + 3 + 4;

/// A model that asks its person about `b.md` unless it is told what the change says.
fn asks_less() -> Chat {
    let stands = vec![reads("plan.md"), writes("b.md"), writes("a.md"), done("written")];
    by_its_words(stands, vec![reads("plan.md"), writes("a.md"), done("written")])
}

/// The file of a signed skin with this voice.
fn skin(voice: &str) -> String {
    skin_of("harbour", voice)
}

fn skin_of(name: &str, voice: &str) -> String {
    let skin = Skin { voice: voice.to_owned(), ..Skin::draft(name) };
    let file = skin.signed_by(&SeedSigner::from_seed([9; 32])).expect("it is signed");
    String::from_utf8(file.to_bytes().expect("it has a canonical form")).expect("UTF-8")
}

fn skill(name: &str, says: &str) -> String {
    format!("---\nname: {name}\ndescription: {says}\n---\nWrite as a letter is written.\n")
}

/// A file beside the store, as `--words` takes it.
fn words(stage: &Stage, what: &str, name: &str, text: &str) -> String {
    let path = stage.at(&format!("changed {what} {name}"));
    std::fs::write(&path, text).expect("a file");
    format!("{what}={name}={}", path.to_str().expect("UTF-8"))
}

/// Whether what was sent with the change does not have the words as they stand, and whatever else was sent has them.
#[track_caller]
fn stands_apart(sent: &[Value], stands: &str) {
    let marked: Vec<&Value> = sent.iter().filter(|one| one.to_string().contains(MARK)).collect();
    assert_eq!(marked.len(), 3, "the change stands in one arm alone");
    for one in sent {
        let text = one.to_string();
        assert_ne!(text.contains(MARK), text.contains(stands), "{text}");
    }
}

#[track_caller]
fn is_better(shown: &Value) {
    assert_eq!(shown["trial"]["outcome"], "better", "{shown}");
    for rule in ["a_model_was_asked", "proposes_no_more_what_was_denied", "did_the_same_again"] {
        assert!(rules(shown).contains(&rule), "no {rule}: {shown}");
    }
    is_sound(shown);
}

/// A person trusts this file of a skin.
#[track_caller]
fn trusts(stage: &Stage, text: &str) {
    put(stage, "one.skin.json", text);
    let path = stage.work().join("one.skin.json");
    let (_, approval) = asked(&stage.hermit(&["skin", "use", path.to_str().expect("UTF-8")]).ends(4).json());
    yes(stage, &approval);
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_changed_skin_is_worn_in_the_place_of_its_name_and_judged_by_what_a_model_does_under_it() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    trusts(&stage, &skin(PILOT));
    let chosen = stage.hermit(&["skin", "use", "harbour"]).ends(0).json();
    let chat = asks_less();
    let task = works_in(&stage, &chat.address());
    let changed = words(&stage, "skin", "harbour", &skin(MARK));
    let shown = tried_words(&stage, &task, &changed, &[]);
    is_better(&shown);
    let requests = chat.requests();
    assert_eq!(requests.len(), ALL, "{shown}");
    stands_apart(&requests, PILOT);

    // What could not be adopted is not tried, and the skin of this name is the one that it was.
    let draft = json!({ "skin": Skin::draft("quay") }).to_string();
    let shown = tried_words(&stage, &task, &words(&stage, "skin", "quay", &draft), &[]);
    assert_eq!((&shown["trial"]["state"], &shown["verdict"]), (&json!("failed"), &Value::Null), "{shown}");
    assert!(shown["trial"]["why"].to_string().contains("nobody signed the skin"), "{shown}");
    assert_eq!(stage.hermit(&["skin", "use", "harbour"]).ends(0).json()["sha256"], chosen["sha256"]);

    // Once another one of its name is trusted, a change is compared with that, and no more with what the task had.
    trusts(&stage, &skin(KEEPER));
    is_better(&tried_words(&stage, &task, &changed, &[]));
    let requests = chat.requests();
    stands_apart(&requests[ALL..], KEEPER);
    // One that is trusted and that no task had would be compared with nothing.
    trusts(&stage, &skin_of("quay", PILOT));
    let shown = tried_words(&stage, &task, &words(&stage, "skin", "quay", &skin_of("quay", MARK)), &[]);
    assert_eq!((&shown["trial"]["state"], &shown["verdict"]), (&json!("failed"), &Value::Null), "{shown}");
    assert!(shown["trial"]["why"].to_string().contains("name a task that had it"), "{shown}");
    assert_eq!(chat.requests().len(), requests.len(), "nobody was asked");
    stage.is_sound();
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_changed_skill_is_told_in_the_place_of_its_name_and_judged_by_what_a_model_does_with_it() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let (folder, main) = (stage.work().join(".agents/skills/letters"), ".agents/skills/letters/SKILL.md");
    std::fs::create_dir_all(&folder).expect("a folder");
    put(&stage, main, &skill("letters", CALM));
    put(&stage, ".agents/skills/letters/more.md", "more of it\n");
    let trust = ["skills", "trust", "letters", "--workspace", &work(&stage)];
    let (_, approval) = asked(&stage.hermit(&trust).ends(4).json());
    yes(&stage, &approval);
    let chat = asks_less();
    let task = works_in(&stage, &chat.address());
    let changed = words(&stage, "skill", "letters", &skill("letters", MARK));
    let shown = tried_words(&stage, &task, &changed, &[]);
    is_better(&shown);
    let requests = chat.requests();
    assert_eq!(requests.len(), ALL, "{shown}");
    stands_apart(&requests, CALM);
    // It is adopted as every skill is: by a person who trusts its files.
    let id = shown["trial"]["trial_id"].as_str().expect("an identifier");
    stage.hermit(&["successor", "adopt", id]).complains(&["hermit skills trust letters"]);

    // A skill that no task had is told in each, beside those that stand.
    let shown = tried_words(&stage, &task, &words(&stage, "skill", "other", &skill("other", MARK)), &[]);
    is_better(&shown);
    let requests = chat.requests();
    let both = |one: &&Value| one.to_string().contains(MARK) && one.to_string().contains(CALM);
    assert_eq!(requests[ALL..].iter().filter(both).count(), 3, "{shown}");

    // What is trusted and lies there no more cannot be compared with, and a text that is no skill is refused with words.
    put(&stage, main, &skill("letters", "Writes letters in haste."));
    let lost = tried_words(&stage, &task, &changed, &[]);
    let none = tried_words(&stage, &task, &words(&stage, "skill", "none", "no front\n"), &[]);
    for (shown, says) in [(&lost, "Put back what you trust"), (&none, "it does not begin with a line")] {
        assert_eq!(
            (&shown["trial"]["state"], &shown["verdict"]),
            (&json!("failed"), &Value::Null),
            "{shown}"
        );
        assert!(shown["trial"]["why"].to_string().contains(says), "{shown}");
    }
    stage.is_sound();
}
