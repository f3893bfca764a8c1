//! Permission wildcards: what a rule matches, what it compiles to, and that deny wins.

use super::world::*;
use crate::{Permissions, PolicyEngine, Question, RuleScope};
use acts::Action;
use model::policy::{Profile, Verdict};

fn read_rules(scope: RuleScope, text: &str) -> Result<Permissions, String> {
    Permissions::read(scope, text).map_err(|e| e.to_string())
}

fn engine(texts: &[(RuleScope, &str)]) -> PolicyEngine {
    let read = texts.iter().map(|(scope, text)| read_rules(*scope, text).expect("sound rules")).collect();
    PolicyEngine::with_permissions(read).expect("they compile")
}

fn says(engine: &PolicyEngine, action: Action) -> Verdict {
    engine.evaluate(&question(&request(action), Profile::LocalEditAllowed)).verdict
}

#[conforms::conforms("HV-3.3-3")]
#[test]
fn a_rule_speaks_of_every_simple_command_path_and_host() {
    let mine = engine(&[(
        RuleScope::User,
        "# mine\nallow Bash(cargo test:*)\nallow FileEdit(*.md)\nask FileEdit(ask.md)\ndeny Bash(git push:*)\ndeny FileDelete(**)\n",
    )]);
    for (action, wanted) in [
        (command(&["cargo", "test", "--all"], false), Verdict::Allow),
        (command(&["sh", "-c", "cargo test && cargo test x"], false), Verdict::Allow),
        (command(&["sh", "-c", "cargo test; ls"], false), Verdict::RequireApproval),
        (command(&["sh", "-c", "cargo test $(ls)"], false), Verdict::RequireApproval),
        (command(&["sh", "-c", "ls && git push -f"], false), Verdict::Deny),
        (command(&["/usr/bin/git", "push"], false), Verdict::Deny),
        (command(&["/usr/bin/GIT", "push"], false), Verdict::Deny),
        // So does Windows, where a path has other signs and a program an end that people leave out.
        (command(&["git.exe", "push"], false), Verdict::Deny),
        (command(&["C:\\Git\\cmd\\Git.EXE", "push"], false), Verdict::Deny),
        (command(&["git.cmd ", "push"], false), Verdict::Deny),
        (command(&["C:git.exe", "push"], false), Verdict::Deny),
        (command(&["C:cargo", "test"], false), Verdict::RequireApproval),
        (command(&["cargo.exe", "test"], false), Verdict::RequireApproval),
        (command(&["CARGO", "test"], false), Verdict::RequireApproval),
        (command(&["git", "status"], false), Verdict::RequireApproval),
        (change(&[create("a.md")]), Verdict::Allow),
        (change(&[create("a.md"), create("b.txt")]), Verdict::RequireApproval),
        (change(&[create("a.md"), create("ask.md")]), Verdict::RequireApproval),
        // Some disk takes these for the same file: what asks speaks of them, and what allows does not.
        (change(&[create("a.md"), create("ASK.md")]), Verdict::RequireApproval),
        (change(&[create("a\u{17f}k.md")]), Verdict::RequireApproval),
        (change(&[create("a.MD")]), Verdict::RequireApproval),
        (change(&[create("asks.md")]), Verdict::Allow),
        (change(&[create("a.md"), delete("b.md")]), Verdict::Deny),
        (change(&[rename("a.md", "b.md")]), Verdict::Deny),
        (read("a.md"), Verdict::Allow),
        (remember("x"), Verdict::RequireApproval),
    ] {
        assert_eq!(says(&mine, action.clone()), wanted, "{action:?}");
    }
}

#[test]
fn a_program_below_the_folder_is_allowed_by_no_rule_however_a_system_writes_its_path() {
    let told = |program: &str| {
        let rule = format!("allow Bash({program})\n");
        let mine = engine(&[(RuleScope::User, rule.as_str())]);
        says(&mine, command(&[program], false))
    };
    for program in ["tools/check", "./check", "tools\\check", "C:check"] {
        assert_eq!(told(program), Verdict::RequireApproval, "{program}");
    }
    for program in ["check", "/usr/bin/check"] {
        assert_eq!(told(program), Verdict::Allow, "{program}");
    }
}

#[test]
fn a_staged_command_is_allowed_only_with_what_it_changed() {
    let test = engine(&[(RuleScope::User, "allow Bash(make:*)\n")]);
    let both = engine(&[(RuleScope::User, "allow Bash(make:*)\nallow FileEdit(**)\nallow FileDelete(**)\n")]);
    let staged = staged_request();
    for (engine, wanted) in [(&test, Verdict::RequireApproval), (&both, Verdict::Allow)] {
        assert_eq!(engine.evaluate(&question(&staged, Profile::LocalEditAllowed)).verdict, wanted);
    }
}

/// A staged command that changed nothing.
fn idle() -> acts::ActionRequest {
    let mut idle = staged_request();
    if let Some(staged) = &mut idle.staged {
        staged.items.clear();
    }
    idle.target_resources = idle.action.resources(SPACE);
    idle
}

#[test]
fn a_staged_run_that_changed_nothing_asks_nobody_and_anything_beyond_does() {
    use model::receipt::SandboxLevel::{Landlock, SeatbeltOpen, Unconfined};
    let may = [
        Profile::LocalEditAllowed,
        Profile::NetworkReadAllowed,
        Profile::RepoMutationGated,
        Profile::ExternalPublishGated,
    ];
    let verdict = |request: &acts::ActionRequest, profile| {
        let tainted = Question { untrusted_in_context: true, ..question(request, profile) };
        (ENGINE.evaluate(&question(request, profile)).verdict, ENGINE.evaluate(&tainted).verdict)
    };
    for profile in may {
        assert_eq!(verdict(&idle(), profile), (Verdict::Allow, Verdict::Allow), "{profile}");
        let allowed = ENGINE.evaluate(&question(&idle(), profile));
        assert!(allowed.determining_rules.contains(&"local_edit_allowed.nothing_to_commit".to_owned()));
        type Edit = fn(&mut model::action::Staged);
        let beyond: [(&str, Edit); 4] = [
            ("a key within reach", |staged| staged.look_first = Some("`.env` looks like a key".to_owned())),
            ("no walls", |staged| staged.sandbox_level = Unconfined),
            ("walls that leave permissions of other files open", |staged| staged.sandbox_level = Landlock),
            ("walls that let something through", |staged| staged.sandbox_level = SeatbeltOpen),
        ];
        for (what, change) in beyond {
            let mut request = idle();
            request.staged.iter_mut().for_each(change);
            assert_eq!(verdict(&request, profile).0, Verdict::RequireApproval, "{profile}: {what}");
        }
        let untried = acts::ActionRequest { staged: None, ..idle() };
        assert_eq!(verdict(&untried, profile).0, Verdict::RequireApproval, "{profile}: not tried yet");
    }
    for profile in [Profile::ReadonlyAnalysis, Profile::DestructiveDenied] {
        assert_eq!(verdict(&idle(), profile), (Verdict::Deny, Verdict::Deny), "{profile}");
    }
    let own = engine(&[(RuleScope::User, "ask Bash(make:*)\n")]);
    let asked = own.evaluate(&question(&idle(), Profile::LocalEditAllowed));
    assert_eq!(asked.verdict, Verdict::RequireApproval, "a person's own rule to ask stands");
}

#[test]
fn deny_wins_whoever_says_it_and_an_allow_lifts_no_deny_no_secret_and_no_taint() {
    let wide = "allow FileEdit(**)\nallow FileDelete(**)\n";
    let all = engine(&[(RuleScope::User, wide), (RuleScope::Project, "deny FileEdit(a*)\n")]);
    assert_eq!(says(&all, change(&[create("a")])), Verdict::Deny);
    assert_eq!(says(&all, change(&[create("b")])), Verdict::Allow);
    assert_eq!(says(&all, change(&[create(".vscode/tasks.json")])), Verdict::RequireApproval);
    let act = request(change(&[create("b")]));
    let tainted = Question { untrusted_in_context: true, ..question(&act, Profile::LocalEditAllowed) };
    assert_eq!(all.evaluate(&tainted).verdict, Verdict::RequireApproval);
    for profile in [Profile::ReadonlyAnalysis, Profile::DestructiveDenied] {
        let gone = request(change(&[delete("b")]));
        let (with, without) =
            (all.evaluate(&question(&gone, profile)), ENGINE.evaluate(&question(&gone, profile)));
        assert_eq!(with.verdict, without.verdict, "{profile}");
    }
    let same = ENGINE.policy_set_sha256(Profile::LocalEditAllowed);
    assert_ne!(all.policy_set_sha256(Profile::LocalEditAllowed), same, "other rules are another version");
}

#[test]
fn examples_are_checked_and_what_is_not_understood_is_refused_with_its_line() {
    let good = "ask Bash(git push:*)\n  match git push origin\n  match ls && git push\n  no match git status\n  because \
                others \"see\" it\ndeny Net(host:*.example.com)\n  match a.example.com:443\n  no match example.com\n";
    assert_eq!(read_rules(RuleScope::User, good).expect("sound").len(), 2);
    for (text, line) in [
        ("ask Bash(git push:*)\n  match git status\n", "line 2"),
        ("ask Bash(git push:*)\n  no match git push\n", "line 2"),
        ("\n\nmaybe Bash(ls)\n", "line 3"),
        ("ask Shell(ls)\n", "line 1"),
        ("ask Bash(ls\n", "line 1"),
        ("  match ls\n", "line 1"),
        ("ask Bash(l*s)\n", "line 1"),
        ("ask FileEdit(../x)\n", "line 1"),
        ("ask FileEdit(/etc/**)\n", "line 1"),
        ("ask Net(example.com)\n", "line 1"),
        ("ask Net(host:a*b)\n", "line 1"),
        ("ask Mcp(tool)\n", "line 1"),
        ("allow Bash(*)\n", "line 1"),
        ("allow Bash(sh -c:*)\n", "line 1"),
        ("allow Bash(env:*)\n", "line 1"),
        ("ask Bash(ls)\n  perhaps ls\n", "line 2"),
    ] {
        let why = read_rules(RuleScope::User, text).expect_err(text);
        assert!(why.contains(line), "{text}: {why}");
    }
    assert!(
        read_rules(RuleScope::Project, "allow FileEdit(a)\n")
            .expect_err("tightens")
            .contains("only you allow")
    );
    let sneaky = "deny Bash(x)\n  because \" || true; \\\n";
    assert!(
        PolicyEngine::with_permissions(vec![read_rules(RuleScope::User, sneaky).expect("words")]).is_ok()
    );
}

#[conforms::conforms("HK-11.4-1")]
#[test]
fn a_rule_allows_an_edit_or_a_send_only_as_a_look_or_as_a_draft() {
    let rules =
        "look FileEdit(docs/**)\ndraft FileDelete(docs/**)\ndraft Net(host:*)\ndeny FileEdit(docs/no.md)\n";
    let engine = engine(&[(RuleScope::Project, rules)]);
    let says = |action: Action, profile| {
        let got = engine.evaluate(&question(&request(action), profile));
        (got.verdict, got.downgrade, got.determining_rules)
    };
    let lesser = |mode: &str, rule: &str| (Verdict::Downgrade, Some(mode.to_owned()), vec![rule.to_owned()]);
    for profile in [Profile::LocalEditAllowed, Profile::ExternalPublishGated] {
        assert_eq!(says(change(&[create("docs/a.md")]), profile), lesser("readonly", "project.l1"));
        assert_eq!(says(change(&[delete("docs/a.md")]), profile), lesser("draft", "project.l2"));
        assert_eq!(says(send(), profile), lesser("draft", "project.l3"));
        assert_eq!(says(change(&[create("a.md")]), profile).0, Verdict::RequireApproval, "of no rule");
        assert_eq!(says(change(&[create("docs/no.md")]), profile).0, Verdict::Deny, "deny wins");
        // What would be changed in both ways is not done in either: the first form by its name stands for all of it.
        let both = change(&[create("docs/a.md"), delete("docs/b.md")]);
        assert_eq!(says(both, profile), lesser("draft", "project.l2"));
    }
    assert_eq!(says(fetch(), Profile::NetworkReadAllowed).0, Verdict::RequireApproval, "a look stays one");
    for refused in ["look Bash(ls)", "draft FileRead(**)", "draft Mcp(a__b)", "see FileEdit(**)"] {
        assert!(read_rules(RuleScope::User, refused).is_err(), "{refused}");
    }
}

#[test]
fn a_dual_rule_asks_for_two_keys_whatever_else_asks_and_no_allow_lifts_it() {
    let mine = engine(&[(RuleScope::User, "allow FileEdit(**)\ndual FileEdit(*.md)\nask FileEdit(b.md)\n")]);
    for (items, wanted) in [
        (vec![create("a.md")], (Verdict::RequireApproval, Some(2))),
        (vec![create("b.md")], (Verdict::RequireApproval, Some(2))),
        (vec![create("a.md"), create("c.txt")], (Verdict::RequireApproval, Some(2))),
        (vec![create("c.txt")], (Verdict::Allow, None)),
    ] {
        let asked = request(change(&items));
        let said = mine.evaluate(&question(&asked, Profile::LocalEditAllowed));
        assert_eq!((said.verdict, said.need), wanted, "{items:?}");
        assert_eq!(said.reasoning_summary.contains("two different keys"), wanted.1.is_some());
    }
    let plain = engine(&[(RuleScope::Project, "dual Bash(git status:*)\n")]);
    for (argv, wanted) in [(["git", "diff"], None), (["git", "status"], Some(2))] {
        let said = plain.evaluate(&question(&request(command(&argv, false)), Profile::LocalEditAllowed));
        assert_eq!((said.verdict, said.need), (Verdict::RequireApproval, wanted));
    }
}
