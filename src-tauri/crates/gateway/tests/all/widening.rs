//! What lets something run by itself is a person's: whoever has the host's token asks for it, and no more.

use crate::home::PASSPHRASE;
use crate::hooks::with_a_hook;
use crate::person::Page;
use kernel::command::person::{Matter, Signed};
use model::Clock as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::{Access, COMMANDS, Code};

/// What a command that changes something does to what Hermit does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Something runs, or is believed, that did not before: only a person's surface, or what a person signed, may.
    Person,
    /// A card asks a person; nothing comes of it before the yes.
    Asks,
    /// What a person signed is handed in.
    Signed,
    /// Something that ran runs no more.
    Narrows,
    /// A task of whoever asks: each of its acts is judged.
    Begins,
    /// Words, on record with who said them.
    Says,
    /// How something is done that is judged all the same; what may be spent is only lowered by a program.
    Sets,
    /// Nothing that runs by itself is another by it.
    Keeps,
}

/// Every command that changes something. A new one has to say what it does here.
const EFFECTS: &[(&str, Effect)] = &[
    ("adoptions.back", Effect::Asks),
    ("adoptions.propose", Effect::Asks),
    ("agent.call", Effect::Begins),
    ("agent.open", Effect::Begins),
    ("agent.stop", Effect::Narrows),
    ("agent.tools", Effect::Keeps),
    ("anchors.complete", Effect::Asks),
    ("anchors.set_clocks", Effect::Sets),
    ("anchors.stamp", Effect::Asks),
    ("anchors.wallet", Effect::Keeps),
    ("approvals.decide", Effect::Signed),
    ("approvals.deny", Effect::Narrows),
    ("approvals.part", Effect::Narrows),
    ("artifacts.collect", Effect::Keeps),
    ("artifacts.ingest", Effect::Keeps),
    ("artifacts.keep", Effect::Keeps),
    ("context.compact", Effect::Keeps),
    ("conversations.bind", Effect::Says),
    ("conversations.focus", Effect::Says),
    ("conversations.open", Effect::Says),
    ("conversations.say", Effect::Says),
    ("gate.boot", Effect::Person),
    ("gate.halt", Effect::Narrows),
    ("gateways.add", Effect::Asks),
    ("gateways.pair", Effect::Asks),
    ("gateways.pause", Effect::Narrows),
    ("gateways.remove", Effect::Narrows),
    ("gateways.resume", Effect::Person),
    ("gateways.unpair", Effect::Narrows),
    ("grants.allow", Effect::Signed),
    ("grants.draft", Effect::Asks),
    ("grants.revoke", Effect::Narrows),
    ("host.resume", Effect::Begins),
    ("host.wait", Effect::Keeps),
    ("identity.attest", Effect::Person),
    ("identity.publish", Effect::Asks),
    ("identity.write", Effect::Asks),
    ("keys.register", Effect::Person),
    ("knowledge.correct", Effect::Says),
    ("knowledge.forget", Effect::Narrows),
    ("knowledge.invalidate", Effect::Narrows),
    ("knowledge.remember", Effect::Asks),
    ("knowledge.review", Effect::Asks),
    ("knowledge.revoke", Effect::Narrows),
    ("ledger.checkpoint", Effect::Keeps),
    ("ledger.rebuild", Effect::Person),
    // What a person signed, where the key that answers is not open here.
    ("mesh.answer", Effect::Signed),
    ("mesh.approver", Effect::Person),
    ("mesh.export", Effect::Keeps),
    ("mesh.hand_over", Effect::Person),
    ("mesh.hold", Effect::Person),
    // Each letter of it is signed by a machine that a person paired.
    ("mesh.import", Effect::Keeps),
    ("mesh.invite", Effect::Person),
    ("mesh.join", Effect::Person),
    ("mesh.nodes", Effect::Keeps),
    ("mesh.pairing", Effect::Keeps),
    ("mesh.send", Effect::Begins),
    ("mesh.set", Effect::Person),
    ("mesh.take", Effect::Person),
    // It narrows and cannot be taken back: who may not trust a machine of a person is that person's to say.
    ("mesh.withdraw", Effect::Person),
    ("models.ceiling", Effect::Sets),
    ("models.embed", Effect::Person),
    ("models.get", Effect::Keeps),
    ("models.remove", Effect::Narrows),
    ("models.set", Effect::Sets),
    ("models.set_reads", Effect::Sets),
    ("models.standard", Effect::Person),
    ("models.stop_get", Effect::Narrows),
    ("models.test", Effect::Keeps),
    ("passkeys.enrol", Effect::Signed),
    ("passkeys.revoke", Effect::Narrows),
    ("playbooks.adopt", Effect::Asks),
    ("playbooks.try_draft", Effect::Keeps),
    ("playbooks.turn_off", Effect::Narrows),
    ("policy.allow_override", Effect::Signed),
    ("policy.change_rules", Effect::Asks),
    ("proof.export", Effect::Keeps),
    ("receipts.plan", Effect::Keeps),
    ("receipts.rollback", Effect::Begins),
    ("schedules.keep", Effect::Asks),
    ("schedules.pause", Effect::Narrows),
    ("schedules.remove", Effect::Narrows),
    ("schedules.resume", Effect::Person),
    ("schedules.run", Effect::Begins),
    ("skills.adopt", Effect::Asks),
    ("skills.trust", Effect::Asks),
    ("skills.untrust", Effect::Narrows),
    ("skins.choose", Effect::Sets),
    ("skins.trust", Effect::Asks),
    ("skins.untrust", Effect::Narrows),
    ("successor.stop", Effect::Narrows),
    ("successor.try_change", Effect::Keeps),
    ("task.answer", Effect::Says),
    ("task.cancel", Effect::Narrows),
    ("task.edit_goal", Effect::Says),
    ("task.note", Effect::Says),
    ("task.pause", Effect::Narrows),
    ("task.resume", Effect::Begins),
    ("task.retry", Effect::Begins),
    ("task.set_priority", Effect::Sets),
    ("task.settle", Effect::Person),
    ("task.submit", Effect::Begins),
    ("tools.add", Effect::Asks),
    ("tools.call", Effect::Begins),
    ("tools.classify", Effect::Asks),
    ("tools.disable", Effect::Narrows),
    ("tools.login", Effect::Asks),
    ("tools.login_begin", Effect::Keeps),
    ("tools.login_cancel", Effect::Narrows),
    ("tools.login_stands", Effect::Keeps),
    ("tools.logout", Effect::Narrows),
    ("tools.pass_off", Effect::Narrows),
    ("tools.pass_on", Effect::Asks),
    ("tools.prompt", Effect::Begins),
    ("tools.remove", Effect::Narrows),
    ("tools.sampling", Effect::Asks),
    ("training.curate", Effect::Person),
    ("training.export", Effect::Begins),
    // What a machine learned leaves it: its person says with whom.
    ("training.join", Effect::Person),
    ("training.pause", Effect::Narrows),
    ("training.preview", Effect::Keeps),
    // A folder is marked by anybody, and the mark is taken off by a person alone.
    ("training.private", Effect::Sets),
    ("training.prove", Effect::Begins),
    ("training.recall", Effect::Narrows),
    ("training.run", Effect::Begins),
    ("training.stands", Effect::Keeps),
    ("training.stop", Effect::Narrows),
    ("training.together", Effect::Person),
    ("workspaces.moved", Effect::Says),
];

#[test]
fn every_command_that_changes_something_says_whether_it_lets_anything_run_by_itself() {
    let told: BTreeMap<&str, Effect> = EFFECTS.iter().copied().collect();
    assert_eq!(told.len(), EFFECTS.len(), "one stands here twice");
    let changing: BTreeMap<&str, Access> =
        COMMANDS.iter().filter(|info| info.changes()).map(|info| (info.name, info.access)).collect();
    assert_eq!(told.keys().collect::<Vec<_>>(), changing.keys().collect::<Vec<_>>());
    for (name, access) in changing {
        let is_persons = matches!(access, Access::owner | Access::person | Access::surface);
        assert_eq!(is_persons, told[name] == Effect::Person, "{name} is {access:?}, and {:?}", told[name]);
    }
}

#[test]
fn a_token_resumes_nothing_and_a_persons_surface_and_signature_do() {
    let open = with_a_hook(320);
    let (home, client) = (&open.home, open.client());
    let bearer = open.bearer();
    let named = json!({ "name": "roll-out" });
    let pause = || assert_eq!(home.must("schedules.pause", named.clone())["state"], "paused");
    let is_active = || home.must("schedules.show", named.clone())["state"] == "active";
    let signed = |matter: Matter| {
        let world = &home.world;
        let subject = world.kernel().schedule_registry().standing("roll-out").unwrap().resume_subject();
        let log_id = api::Host::reader(&**home).unwrap().log_id().to_owned();
        let signed = Signed::of(&log_id, matter, subject, world.clock.now(), world.person.signer()).unwrap();
        let text = String::from_utf8(signed.text).unwrap();
        json!({ "name": "roll-out", "signed": { "text": text, "signature": signed.signature.to_string() } })
    };
    let refused = |params: &Value, code: Code| {
        assert_eq!(client.ask("schedules.resume", params).unwrap_err().code, code, "{params}");
        assert!(!is_active(), "{params}");
    };
    pause();
    refused(&named, Code::Forbidden);
    refused(&json!({ "name": "roll-out", "signed": null }), Code::Forbidden);
    refused(&signed(Matter::Boot), Code::Refused);
    // A page whose link a program could have made, and a program that has the passphrase.
    let page = Page::of(&open);
    let with = |passphrase: &str| json!({ "of": "schedule", "name": "roll-out", "passphrase": passphrase });
    assert_eq!(page.post("/api/schedules.resume", &named).0, 403);
    assert_eq!(page.post("/api/session/resume", &with("wrong")).0, 409);
    let by_program = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let right = with(PASSPHRASE).to_string();
    assert_eq!(open.raw("/api/session/resume", &by_program, right.as_bytes()).0, 403);
    assert!(!is_active());
    // The passphrase, a page that a person opened from a terminal, and a signature from anywhere resume it.
    assert_eq!(page.post("/api/session/resume", &with(PASSPHRASE)).0, 200);
    assert!(is_active());
    pause();
    assert_eq!(Page::at_terminal(&open).post("/api/schedules.resume", &named).0, 200);
    assert!(is_active());
    pause();
    let yes = signed(Matter::Resume);
    assert_eq!(client.ask("schedules.resume", &yes).unwrap()["state"], "active");
    pause();
    refused(&yes, Code::Refused);
    home.must("schedules.resume", named.clone());
    assert!(is_active(), "at the process itself");
}

#[test]
fn a_token_says_neither_who_answers_by_default_nor_where_memories_go() {
    let open = with_a_hook(325);
    let (program, person) = (Page::of(&open), Page::at_terminal(&open));
    let asked = json!({ "address": null });
    for name in ["models.standard", "models.embed"] {
        let path = format!("/api/{name}");
        assert_eq!(open.client().ask(name, &asked).unwrap_err().code, Code::Forbidden, "{name}");
        // No signature stands for it.
        let forged = json!({ "address": null, "signed": { "text": "{}", "signature": "00" } });
        assert!(open.client().ask(name, &forged).is_err(), "{name}");
        assert_eq!(program.post(&path, &asked).0, 403, "{name}");
        assert_ne!(person.post(&path, &asked).0, 403, "{name}");
    }
}

#[test]
fn a_page_changes_the_mesh_with_the_passphrase_and_a_program_sends_none() {
    let open = with_a_hook(326);
    let (page, bearer) = (Page::of(&open), open.bearer());
    let on = json!({ "on": true });
    let with = |command: &str, passphrase: &str| json!({ "command": command, "params": on, "passphrase": passphrase });
    assert_eq!(page.post("/api/mesh.set", &on).0, 403, "nobody knows that a person is at this page");
    assert_eq!(page.post("/api/session/mesh", &with("mesh.set", "wrong")).0, 409);
    let by_program = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let right = with("mesh.set", PASSPHRASE).to_string();
    assert_eq!(open.raw("/api/session/mesh", &by_program, right.as_bytes()).0, 403);
    // The passphrase is believed, and no mesh could run in this process.
    let (_, answer) = page.post("/api/session/mesh", &with("mesh.set", PASSPHRASE));
    assert_eq!(answer["code"], Code::NoHost.as_str(), "{answer}");
    for command in ["gate.boot", "mesh.send", "mesh.export"] {
        assert_eq!(page.post("/api/session/mesh", &with(command, PASSPHRASE)).0, 400, "{command}");
    }
    // No answer for another machine is given by guessing where nobody counts.
    let guess = json!({ "approval": "x", "allow": true, "passphrase": PASSPHRASE });
    assert_eq!(page.post("/api/mesh.answer", &guess).0, 422);
    assert_eq!(open.client().ask("mesh.answer", &guess).unwrap_err().code, Code::UnknownField);
}
