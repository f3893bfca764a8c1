//! How much is at stake, and that a proposer can only raise it.

use super::actions::any_items;
use super::world::*;
use crate::risk::{WIDE_LOSSES, WIDE_TARGETS};
use acts::Action;
use model::action::{ChangeItem, Reversibility};
use model::policy::{Profile, RiskBand, Verdict};
use model::receipt::SandboxLevel;
use proptest::prelude::*;

fn band(action: Action) -> RiskBand {
    evaluate(action, Profile::ExternalPublishGated).risk_band
}

fn no_folder(name: &str) -> ChangeItem {
    ChangeItem::Delete { path: path(name), prior: model::action::Prior::EmptyFolder }
}

fn many(number: i64, item: fn(&str) -> ChangeItem) -> Action {
    change(&(0..number).map(|at| item(&format!("f{at}"))).collect::<Vec<_>>())
}

/// It runs programs, so that it is asked about as a command is; what only looks does not run it.
#[test]
fn a_change_of_hermit_is_tried_where_a_command_may_run_and_a_person_is_asked() {
    let patch = "{}".to_owned();
    let tried = Action::TryChange(acts::TryChange {
        patch,
        about: "less".to_owned(),
        draw: None,
        wall_seconds: None,
    });
    let asked = evaluate(tried.clone(), Profile::LocalEditAllowed);
    assert_eq!((asked.verdict, asked.risk_band), (Verdict::RequireApproval, RiskBand::Moderate));
    let denied = |profile| evaluate(tried.clone(), profile).verdict;
    assert_eq!(denied(Profile::ReadonlyAnalysis), Verdict::Deny);
    assert_eq!(denied(Profile::DestructiveDenied), Verdict::Deny);
    let request = request(tried.clone());
    let mut unconfined = question(&request, Profile::LocalEditAllowed);
    unconfined.sandbox = SandboxLevel::Unconfined;
    assert_eq!(ENGINE.evaluate(&unconfined).verdict, Verdict::Deny);
}

#[conforms::conforms("HK-16.2-1", "HK-16.2-2")]
#[test]
fn every_side_of_a_request_can_raise_its_band() {
    use RiskBand::*;
    let setuid = ChangeItem::Write {
        path: path("tool"),
        content_sha256: sha("new"),
        byte_size: 3,
        prior: model::action::Prior::Absent,
        mode: Some(0o4755),
    };
    let cases = [
        ("a look", read("a.txt"), Low),
        ("a look at a key", read("id_rsa"), High),
        ("a new file", change(&[create("a.txt")]), Low),
        ("a new hidden file", change(&[create(".editorconfig")]), Moderate),
        ("a new shell start-up file", change(&[create(".bashrc")]), High),
        ("a new hook", change(&[create(".git/hooks/pre-commit")]), High),
        ("a file that runs as somebody else", change(&[setuid]), Critical),
        ("an overwrite", change(&[overwrite("a.txt")]), Moderate),
        ("a deletion", change(&[delete("a.txt")]), Moderate),
        ("the deletion of a key", change(&[delete("server.pem")]), High),
        ("a move", change(&[rename("a", "b")]), Low),
        ("many moves", many(WIDE_LOSSES, |name| rename(name, &format!("to/{name}"))), Low),
        ("very many moves", many(WIDE_TARGETS, |name| rename(name, &format!("to/{name}"))), Moderate),
        ("a folder with nothing in it", change(&[no_folder("empty")]), Low),
        ("a new Makefile", change(&[create("Makefile")]), High),
        ("a new test set-up", change(&[create("tests/conftest.py")]), High),
        ("some deletions", many(WIDE_LOSSES - 1, delete), Moderate),
        ("many deletions", many(WIDE_LOSSES, delete), Moderate),
        ("many overwrites", many(WIDE_LOSSES, overwrite), Moderate),
        ("some new files", many(WIDE_TARGETS - 1, create), Low),
        ("very many new files", many(WIDE_TARGETS, create), Moderate),
        ("a command", command(&["make"], false), High),
        ("a command with the network", command(&["make"], true), Critical),
        ("a memory", remember("x"), Moderate),
        ("an undo", rollback(&[create("a")]), Moderate),
    ];
    for (what, action, wanted) in cases {
        assert_eq!(band(action), wanted, "{what}");
    }
}

#[test]
fn a_command_without_walls_is_critical() {
    let request = request(command(&["make"], false));
    let mut question = question(&request, Profile::RepoMutationGated);
    question.sandbox = SandboxLevel::Unconfined;
    assert_eq!(ENGINE.evaluate(&question).risk_band, RiskBand::Critical);
}

#[test]
fn a_command_behind_landlock_alone_is_asked_about_as_critical() {
    let request = request(command(&["make"], false));
    let mut question = question(&request, Profile::LocalEditAllowed);
    question.sandbox = SandboxLevel::Landlock;
    let got = ENGINE.evaluate(&question);
    assert_eq!(got.risk_band, RiskBand::Critical, "so that no standing grant answers for it");
    assert_eq!(got.verdict, Verdict::RequireApproval);
    assert!(got.risk_summary.contains("bubblewrap"), "{}", got.risk_summary);
}

/// On the card it stands why, and a profile that wants a sandbox does not take this one for one.
#[test]
fn a_command_in_a_sandbox_that_let_something_through_is_as_one_without_and_the_card_says_so() {
    let request = request(command(&["make"], false));
    let judged = |sandbox| {
        let mut question = question(&request, Profile::LocalEditAllowed);
        question.sandbox = sandbox;
        ENGINE.evaluate(&question)
    };
    let (open, none) = (judged(SandboxLevel::SeatbeltOpen), judged(SandboxLevel::Unconfined));
    assert_eq!((open.verdict, open.risk_band), (none.verdict, RiskBand::Critical));
    assert!(open.risk_summary.contains("did not refuse everything"), "{}", open.risk_summary);
    let (held, best) = (judged(SandboxLevel::Seatbelt), judged(SandboxLevel::NamespacesLandlock));
    assert_eq!((held.verdict, held.risk_summary), (best.verdict, best.risk_summary));
}

#[test]
fn untrusted_content_in_context_raises_what_changes_something_and_nothing_else() {
    for action in every_kind() {
        let request = request(action);
        let mut question = question(&request, Profile::ExternalPublishGated);
        let before = ENGINE.evaluate(&question).risk_band;
        question.untrusted_in_context = true;
        let after = ENGINE.evaluate(&question);
        assert!(after.risk_band >= before);
        let raised = before < RiskBand::Moderate && request.action_class.is_important();
        assert_eq!(after.risk_band > before, raised, "{}: {}", after.action_summary, after.risk_summary);
    }
}

proptest! {
    // Each case asks twenty times.
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_proposer_can_raise_the_risk_and_never_lower_it(items in any_items(), words in "\\PC{0,12}") {
        let actions = [change(&items), rollback(&items), command(&["make"], false), read("a")];
        for action in actions {
            let honest = request(action);
            let floor = ENGINE.evaluate(&question(&honest, Profile::RepoMutationGated)).risk_band;
            for hint in Reversibility::ALL {
                let mut hinted = honest.clone();
                hinted.reversibility_hint = *hint;
                hinted.reason.clone_from(&words);
                let got = ENGINE.evaluate(&question(&hinted, Profile::RepoMutationGated)).risk_band;
                prop_assert!(got >= floor);
                if *hint == Reversibility::Irreversible {
                    prop_assert_eq!(got, RiskBand::Critical);
                }
            }
        }
    }
}
