//! Every profile against every class and against telling actions, as tables.

use super::world::*;
use crate::policy::Facts;
use crate::policy::probe;
use acts::Action;
use acts::Counts;
use model::action::{ActionClass, ReadItem};
use model::policy::{Profile, Verdict};
use model::receipt::SandboxLevel;

/// Columns in the order of [`Profile::ALL`]: readonly, edits, network reads, repository, publication, preserving, background.
/// `+` allow, `?` a person is asked, `-` deny, `r` only as a look, `d` only as a draft.
const BY_CLASS: &str = "
    read_local             +  +  +  +  +  +  +
    network_read           -  -  ?  ?  ?  -  -
    durable_memory_write   -  ?  ?  ?  ?  ?  ?
    write_local            r  ?  ?  ?  ?  ?  ?
    delete_local           r  ?  ?  ?  ?  -  ?
    execute_command        -  ?  ?  ?  ?  -  -
    rollback               -  ?  ?  ?  ?  ?  -
    vcs_mutation           d  -  -  ?  ?  -  -
    network_write          d  -  r  -  ?  -  -
    credentialed_api_call  d  -  -  -  ?  -  -
    publication            d  -  -  -  ?  -  -
    payment                -  -  -  -  -  -  -
    external_effect        -  ?  ?  ?  ?  -  -
    capability_change      -  ?  ?  ?  ?  ?  -
    policy_override        -  -  -  -  -  -  -
    approval_resolution    -  -  -  -  -  -  -
";

/// The same columns; the actions are those of [`situation`].
const BY_SITUATION: &str = "
    read                     +  +  +  +  +  +  +
    read_key                 ?  ?  ?  ?  ?  ?  ?
    search_for_keys          ?  ?  ?  ?  ?  ?  ?
    create                   r  ?  ?  ?  ?  ?  ?
    overwrite                r  ?  ?  ?  ?  -  ?
    delete                   r  ?  ?  ?  ?  -  ?
    move                     r  ?  ?  ?  ?  -  ?
    create_and_delete        r  ?  ?  ?  ?  -  ?
    write_into_git           d  -  -  ?  ?  -  -
    command                  -  ?  ?  ?  ?  -  -
    command_git_commit       -  -  -  ?  ?  -  -
    command_git_status       -  ?  ?  ?  ?  -  -
    command_network          -  -  -  -  ?  -  -
    unconfined               -  -  -  -  -  -  -
    unconfined_allowed       -  -  -  ?  -  -  -
    unconfined_network       -  -  -  -  -  -  -
    unsandboxed_level        -  -  -  -  -  -  -
    fetch                    -  -  ?  ?  ?  -  -
    send                     d  -  -  -  ?  -  -
    commit                   d  -  -  ?  ?  -  -
    remember                 -  ?  ?  ?  ?  ?  ?
    undo_by_creating         -  ?  ?  ?  ?  ?  -
    undo_by_overwriting      -  ?  ?  ?  ?  -  -
    undo_by_deleting         -  ?  ?  ?  ?  -  -
    untrusted_read           +  +  +  +  +  +  +
    untrusted_create         r  ?  ?  ?  ?  ?  ?
    outside_step             -  -  -  -  -  -  -
";

/// A verdict and, of a downgrade, the lesser form.
type Said = (Verdict, Option<&'static str>);

fn rows(table: &'static str) -> Vec<(&'static str, Vec<Said>)> {
    let verdict = |sign: &str| match sign {
        "+" => (Verdict::Allow, None),
        "?" => (Verdict::RequireApproval, None),
        "-" => (Verdict::Deny, None),
        "r" => (Verdict::Downgrade, Some("readonly")),
        "d" => (Verdict::Downgrade, Some("draft")),
        other => panic!("`{other}` is no sign of the table"),
    };
    let row = |line: &'static str| {
        let mut words = line.split_whitespace();
        (words.next().expect("a name"), words.map(verdict).collect())
    };
    table.lines().filter(|line| !line.trim().is_empty()).map(row).collect()
}

/// What the plainest request of a class would do.
fn facts(class: ActionClass) -> Facts {
    let mut facts = Facts {
        counts: Counts { targets: 1, ..Counts::default() },
        sandbox: Some(SandboxLevel::NamespacesLandlock),
        ..Facts::default()
    };
    match class {
        ActionClass::WriteLocal => facts.counts.creates = 1,
        ActionClass::DeleteLocal => facts.counts.deletes = 1,
        _ => {}
    }
    facts
}

#[conforms::conforms("HK-16.3-1", "HK-16.3-2", "HK-16.5-1", "HK-10.4-4", "HK-25.2-1", part = "HK-16.4-1")]
#[test]
fn every_profile_answers_every_class_as_the_table_says() {
    let rows = rows(BY_CLASS);
    assert_eq!(rows.len(), ActionClass::ALL.len(), "every class has a row");
    for (name, verdicts) in rows {
        let class: ActionClass = name.parse().expect("a class");
        assert_eq!(verdicts.len(), Profile::ALL.len(), "`{name}` answers every profile");
        for (profile, (wanted, mode)) in Profile::ALL.iter().zip(verdicts) {
            let got = probe(&ENGINE, *profile, &[class], &facts(class));
            assert_eq!(got.verdict, wanted, "`{name}` under `{profile}`: {:?}", got.reasons);
            assert_eq!(got.downgrade.as_deref(), mode, "`{name}` under `{profile}`");
            assert!(!got.rules.is_empty(), "`{name}` under `{profile}` names what decided");
        }
    }
}

fn situation(name: &str) -> Action {
    match name {
        "read" | "untrusted_read" => read("notes.txt"),
        "read_key" => read("deploy/id_ed25519"),
        "search_for_keys" => Action::Observe(acts::Observe {
            items: vec![ReadItem::Search {
                path: path(""),
                pattern: "BEGIN".to_owned(),
                glob: Some("**/*.pem".to_owned()),
            }],
        }),
        "create" | "untrusted_create" | "outside_step" => change(&[create("a.txt")]),
        "overwrite" => change(&[overwrite("a.txt")]),
        "delete" => change(&[delete("a.txt")]),
        "move" => change(&[rename("a.txt", "b.txt")]),
        "create_and_delete" => change(&[create("a.txt"), delete("b.txt")]),
        "write_into_git" => change(&[create(".git/hooks/pre-push")]),
        "command_git_commit" => command(&["git", "commit", "-m", "x"], false),
        "command_git_status" => command(&["git", "status"], false),
        "command_network" | "unconfined_network" => command(&["make"], true),
        "commit" => commit(),
        "fetch" => fetch(),
        "send" => send(),
        "remember" => remember("a claim"),
        "undo_by_creating" => rollback(&[create("a.txt")]),
        "undo_by_overwriting" => rollback(&[overwrite("a.txt")]),
        "undo_by_deleting" => rollback(&[delete("a.txt")]),
        "command" | "unconfined" | "unconfined_allowed" | "unsandboxed_level" => command(&["make"], false),
        other => panic!("`{other}` is no situation"),
    }
}

#[conforms::conforms("HK-10.4-3", "HK-11.4-1")]
#[test]
fn every_profile_answers_telling_actions_as_the_table_says() {
    for (name, verdicts) in rows(BY_SITUATION) {
        assert_eq!(verdicts.len(), Profile::ALL.len(), "`{name}` answers every profile");
        let request = request(situation(name));
        for (profile, (wanted, mode)) in Profile::ALL.iter().zip(verdicts) {
            let mut question = question(&request, *profile);
            question.untrusted_in_context = name.starts_with("untrusted");
            question.allow_unconfined = matches!(name, "unconfined_allowed" | "unconfined_network");
            if name.starts_with("unconfined") {
                question.sandbox = SandboxLevel::Unconfined;
            }
            if name == "unsandboxed_level" {
                question.sandbox = SandboxLevel::Beneath;
            }
            if name == "outside_step" {
                question.steps_allowed = &[ActionClass::ReadLocal];
            }
            let got = ENGINE.evaluate(&question);
            let why = &got.reasoning_summary;
            assert_eq!(got.verdict, wanted, "`{name}` under `{profile}`: {why}");
            assert_eq!(got.downgrade.as_deref(), mode, "a downgrade, and only that, names its mode");
            // A yes to the very packet turns exactly a question into an allow, and lifts nothing else.
            question.packet = Some(sha("packet"));
            question.approved_packet = question.packet;
            let after = if wanted == Verdict::RequireApproval { Verdict::Allow } else { wanted };
            assert_eq!(ENGINE.evaluate(&question).verdict, after, "`{name}` under `{profile}` after a yes");
            question.approved_packet = Some(sha("another packet"));
            assert_eq!(ENGINE.evaluate(&question).verdict, wanted, "a yes to another packet is none");
        }
    }
}

#[test]
fn a_rule_that_asks_stands_by_name_in_the_result() {
    let got = evaluate(change(&[delete("a.txt")]), Profile::LocalEditAllowed);
    assert_eq!(got.determining_rules, ["local_edit_allowed.ask_edit"]);
    let got = evaluate(change(&[delete("a.txt")]), Profile::ReadonlyAnalysis);
    assert_eq!(got.determining_rules, ["readonly_analysis.look_instead"]);
    let got = evaluate(change(&[delete("a.txt")]), Profile::DestructiveDenied);
    assert_eq!(got.determining_rules, ["destructive_denied.delete", "destructive_denied.overwrite"]);
    let got = evaluate(command(&["curl"], true), Profile::LocalEditAllowed);
    assert_eq!(got.determining_rules, ["default_deny"]);
    let got = evaluate(read("a"), Profile::LocalEditAllowed);
    assert_eq!(got.determining_rules, ["base.read_local"]);
}

#[test]
fn one_class_that_is_denied_denies_the_whole_request() {
    let mixed = [ActionClass::ReadLocal, ActionClass::WriteLocal, ActionClass::Payment];
    for profile in Profile::ALL {
        let got = probe(&ENGINE, *profile, &mixed, &facts(ActionClass::WriteLocal));
        assert_eq!(got.verdict, Verdict::Deny, "under `{profile}`");
    }
    let asked = [ActionClass::ReadLocal, ActionClass::WriteLocal];
    let got = probe(&ENGINE, Profile::LocalEditAllowed, &asked, &facts(ActionClass::WriteLocal));
    assert_eq!(got.verdict, Verdict::RequireApproval, "one that asks makes the whole ask");
}
