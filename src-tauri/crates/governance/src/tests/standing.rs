//! A person's lasting yes: what it covers, what it never does, and what it is worth afterwards.

use super::world::*;
use crate::grant::{MintInput, mint};
use crate::standing::{InForce, covers, in_words, propose, sign, sound, verify};
use crate::{PolicyEngine, Question};
use model::action::{ChangeItem, Prior, Program, Reach, Reversibility};
use model::approval::{Shape, Surface};
use model::policy::{PolicyResult, Profile, RiskBand, Verdict};
use model::standing::{Cover, PathAct, STANDING_FORMAT, StandingGrant, StandingScope};
use model::{UnixMs, WorkspaceId};
use seal::SeedSigner;

const LOG: &str = "log_of_this_store";

fn grant_of(cover: Cover) -> StandingGrant {
    StandingGrant {
        format: STANDING_FORMAT.to_owned(),
        log_id: LOG.to_owned(),
        grant_id: id!(GrantId, 90),
        cover,
        scope: StandingScope::Project { workspace_id: SPACE },
        after_untrusted: false,
        issued_at: T0,
        expires_at: T0.plus_ms(7 * DAY),
        max_uses: 50,
        given_at: None,
        override_reason: None,
        surface: Surface::Terminal,
        decided_by: PERSON,
    }
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

fn run(prefix: &[&str], whole: bool, changes: &[&str]) -> StandingGrant {
    let cwd = path("src");
    let (words, changes) = (words(prefix), words(changes));
    grant_of(Cover::Command { words, whole, cwd, network: false, changes, programs: Vec::new() })
}

fn places(glob: &str, acts: &[PathAct]) -> StandingGrant {
    grant_of(Cover::Paths { glob: glob.to_owned(), acts: acts.to_vec() })
}

/// A command that has run in a staged view and changed these.
fn staged(argv: &[&str], items: &[ChangeItem]) -> ActionRequest {
    let mut request = request(command(argv, false));
    request.staged =
        staged_request().staged.map(|staged| model::action::Staged { items: items.to_vec(), ..staged });
    request.target_resources = resources_of(SPACE, &request.action, request.staged.as_ref(), None);
    request
}

fn asked(request: &ActionRequest, standing: &[InForce<'_>], untrusted: bool, now: UnixMs) -> PolicyResult {
    asked_of(&ENGINE, request, standing, untrusted, now)
}

fn asked_of(
    engine: &PolicyEngine,
    request: &ActionRequest,
    standing: &[InForce<'_>],
    untrusted: bool,
    now: UnixMs,
) -> PolicyResult {
    let plain = question(request, Profile::LocalEditAllowed);
    engine.evaluate(&Question { standing, untrusted_in_context: untrusted, now, ..plain })
}

fn in_force(grant: &StandingGrant, uses: u32) -> InForce<'_> {
    InForce { grant, envelope_sha256: sha("envelope"), uses }
}

#[conforms::conforms("HV-3.3-3")]
#[test]
fn every_simple_command_of_a_command_must_be_covered() {
    let test = run(&["cargo", "test"], false, &["**"]);
    let fits = |argv: &[&str]| covers(&test, &staged(argv, &[]));
    for argv in [
        &["cargo", "test"][..],
        &["cargo", "test", "--release"],
        &["sh", "-c", "cargo test"],
        &["bash", "-ec", "cargo test && cargo test --doc; cargo test *"],
    ] {
        assert_eq!(fits(argv), Ok(()), "{argv:?}");
    }
    for argv in [
        &["cargo", "build"][..],
        &["cargo"],
        &["./cargo", "test"],
        &["/usr/bin/cargo", "test"],
        &["env", "cargo", "test"],
        &["cargo test"],
        &["sh", "-c", "cargo test && rm -rf target"],
        &["sh", "-c", "cargo test; curl x | sh"],
        &["sh", "-c", "cargo test $(rm x)"],
        &["sh", "-c", "cargo test > /dev/null"],
        &["sh", "-c", "A=1 cargo test"],
        &["sh", "-c", "c* test"],
        &["sh", "-c", "cargo 'test' & rm x"],
        &["zsh", "-c", "cargo test"],
        &["sh", "-c", "cargo test || if true; then rm x; fi"],
    ] {
        assert!(fits(argv).is_err(), "{argv:?}");
    }
    let exact = run(&["sh", "-c", "echo $HOME > x"], true, &["**"]);
    assert_eq!(covers(&exact, &staged(&["sh", "-c", "echo $HOME > x"], &[])), Ok(()), "exactly these words");
    assert!(covers(&exact, &staged(&["sh", "-c", "echo $HOME > y"], &[])).is_err());
    let whole = run(&["cargo", "test"], true, &["**"]);
    assert!(covers(&whole, &staged(&["cargo", "test", "--all"], &[])).is_err());
}

#[test]
fn the_effect_is_bounded_as_well_as_the_words() {
    let test = run(&["cargo", "test"], false, &["target/**", "Cargo.lock"]);
    let fits = |items: &[ChangeItem]| covers(&test, &staged(&["cargo", "test"], items));
    assert_eq!(fits(&[create("target/a/b"), overwrite("Cargo.lock"), delete("target/c")]), Ok(()));
    assert!(fits(&[create("target/a"), delete("src/main.rs")]).is_err());
    assert!(fits(&[rename("target/a", "b")]).is_err());
    assert!(
        fits(&[create("target/.git/hooks/pre-commit")]).is_err(),
        "what acts later is named outright or not covered"
    );
    let mut unstaged = request(command(&["cargo", "test"], false));
    assert!(covers(&test, &unstaged).is_err(), "nobody knows what it would change");
    assert_eq!(covers(&run(&["cargo", "test"], false, &["**"]), &unstaged), Ok(()));
    unstaged.action = command(&["cargo", "test"], true);
    assert!(covers(&run(&["cargo", "test"], false, &["**"]), &unstaged).is_err(), "no network");
    let Action::Command(elsewhere) = &mut unstaged.action else { panic!("a command") };
    elsewhere.cwd = path("elsewhere");
    assert!(covers(&run(&["cargo", "test"], false, &["**"]), &unstaged).is_err(), "another folder");
}

#[test]
fn paths_are_covered_by_glob_and_by_what_is_done_there() {
    use PathAct::{Create, Delete, Overwrite};
    let edit = |glob: &str| places(glob, &[Create, Overwrite]);
    let fits = |grant: &StandingGrant, items: &[ChangeItem]| covers(grant, &request(change(items)));
    for (glob, at, yes) in [
        ("docs/*.md", "docs/a.md", true),
        ("docs/*.md", "docs/b/a.md", false),
        ("docs/**", "docs/b/a.md", true),
        ("docs/**", "docs2/a.md", false),
        ("**/*.md", "a.md", true),
        ("**/*.md", "x/y/a.md", true),
        ("a?.txt", "ab.txt", true),
        ("a?.txt", "a/.txt", false),
        ("a.txt", "a.txt", true),
        ("*.env", ".env", false),
        (".env", ".env", true),
        ("**", ".ssh/id_rsa", false),
        ("**", ".bashrc", false),
        ("*a*b*c*", "xxaxxbxxcxx", true),
        ("*a*b*c*", "xxaxxcxxbxx", false),
    ] {
        assert_eq!(fits(&edit(glob), &[create(at)]).is_ok(), yes, "{glob} over {at}");
    }
    let edits = edit("docs/**");
    assert!(fits(&edits, &[create("docs/a"), delete("docs/b")]).is_err(), "deleting is not editing");
    assert!(fits(&edits, &[create("docs/a"), create("b")]).is_err(), "every item, not some");
    assert!(fits(&edits, &[rename("docs/a", "docs/b")]).is_err());
    let moves = places("docs/**", &[Create, Delete]);
    assert_eq!(fits(&moves, &[rename("docs/a", "docs/b")]), Ok(()));
    assert!(
        fits(&moves, &[rename("docs/a", "b")]).is_err() && fits(&moves, &[rename("b", "docs/a")]).is_err()
    );
    let elsewhere = StandingGrant {
        scope: StandingScope::Project { workspace_id: WorkspaceId::new(uuid(81)) },
        ..edit("**")
    };
    assert!(fits(&elsewhere, &[create("a")]).is_err(), "another project");
    let task = StandingGrant { scope: StandingScope::Task { task_id: id!(TaskId, 3) }, ..edit("**") };
    assert!(fits(&task, &[create("a")]).is_err(), "another task");
    for action in [rollback(&[overwrite("a")]), remember("x"), read("a"), command(&["touch", "a"], false)] {
        assert!(covers(&edit("**"), &request(action)).is_err());
    }
}

#[test]
fn what_runs_whatever_stands_behind_it_is_allowed_word_for_word_or_not_at_all() {
    for prefix in [
        &["sh"][..],
        &["bash", "-c"],
        &["env"],
        &["sudo", "ls"],
        &["/usr/bin/env", "x"],
        &["xargs", "rm"],
        &["find", "."],
        &["python3"],
        &["python3.12", "-c"],
        &["node", "-e"],
        &["perl"],
        &["timeout", "5"],
        &["busybox", "sh"],
        &[],
    ] {
        assert!(sound(&run(prefix, false, &["**"])).is_err(), "{prefix:?}");
    }
    for prefix in
        [&["cargo"][..], &["python3", "tools/check.py"], &["python3", "-m", "pytest"], &["git", "status"]]
    {
        assert_eq!(sound(&run(prefix, false, &["**"])), Ok(()), "{prefix:?}");
    }
    assert_eq!(sound(&run(&["sh", "-c", "ls | wc"], true, &["**"])), Ok(()));
    for glob in ["/etc/*", "../x", "a//b", "", "a**b", "./a", "a/."] {
        assert!(sound(&places(glob, &[PathAct::Create])).is_err(), "{glob}");
        assert!(sound(&run(&["cargo"], false, &[glob])).is_err(), "{glob}");
    }
    let host = |name: &str, port| {
        sound(&grant_of(Cover::Host { name: name.to_owned(), port, write: false })).is_ok()
    };
    assert!(host("example.com", 443) && host("*.example.com", 443));
    for name in ["*", "*.", "com", "*com", "Example.com", "a..b", "127.0.0.1", "exam ple.com", "*.*.com", ""]
    {
        assert!(!host(name, 443), "{name}");
    }
    assert!(!host("example.com", 0));
    let good = run(&["cargo"], false, &[]);
    for bad in [
        StandingGrant { max_uses: 0, ..good.clone() },
        StandingGrant { max_uses: 10_001, ..good.clone() },
        StandingGrant { expires_at: T0, ..good.clone() },
        StandingGrant { expires_at: T0.plus_ms(93 * DAY), ..good.clone() },
        StandingGrant { format: "hermit-standing/2".to_owned(), ..good },
    ] {
        assert!(sound(&bad).is_err());
    }
}

#[test]
fn a_standing_grant_answers_where_a_person_would_be_asked_and_is_named() {
    let grant = places("*.md", &[PathAct::Create]);
    let held = [in_force(&grant, 3)];
    let act = request(change(&[create("a.md")]));
    assert_eq!(asked(&act, &[], false, T0).verdict, Verdict::RequireApproval);
    let allowed = asked(&act, &held, false, T0);
    assert_eq!(allowed.verdict, Verdict::Allow);
    assert_eq!(allowed.standing, Some(held[0].named()));
    assert!(allowed.determining_rules.contains(&format!("standing:{}", grant.grant_id)));
    assert!(
        allowed.determining_rules.contains(&"local_edit_allowed.ask_edit".to_owned()),
        "and what it answered"
    );
    assert!(allowed.reasoning_summary.contains(&in_words(&grant)));
    let other = asked(&request(change(&[create("a.txt")])), &held, false, T0);
    assert_eq!((other.verdict, other.standing), (Verdict::RequireApproval, None));
    // Expired, not begun, used up: a person is asked again.
    for (uses, now) in [(3, T0.plus_ms(7 * DAY)), (3, UnixMs(T0.0 - 1)), (50, T0), (51, T0)] {
        let asked = asked(&act, &[in_force(&grant, uses)], false, now);
        assert_eq!(
            (asked.verdict, asked.standing),
            (Verdict::RequireApproval, None),
            "{uses} uses at {now:?}"
        );
    }
    assert_eq!(asked(&act, &[in_force(&grant, 49)], false, T0.plus_ms(7 * DAY - 1)).verdict, Verdict::Allow);
    // The first that covers answers; the others are not touched.
    let two = StandingGrant { grant_id: id!(GrantId, 91), ..grant.clone() };
    let spent = [in_force(&grant, 50), in_force(&two, 0)];
    assert_eq!(asked(&act, &spent, false, T0).standing, Some(spent[1].named()));
}

#[test]
fn what_policy_denies_and_what_is_critical_is_never_covered() {
    let all = places("**", &[PathAct::Create, PathAct::Overwrite, PathAct::Delete]);
    let held = [in_force(&all, 0)];
    let act = request(change(&[delete("a.md")]));
    for profile in Profile::ALL {
        let question = question(&act, *profile);
        let (without, with) =
            (ENGINE.evaluate(&question), ENGINE.evaluate(&Question { standing: &held, ..question }));
        let wanted =
            if without.verdict == Verdict::RequireApproval { Verdict::Allow } else { without.verdict };
        assert_eq!(with.verdict, wanted, "{profile}");
    }
    let send = request(command(&["curl", "x"], true));
    let cwd = path("src");
    let curl = grant_of(Cover::Command {
        words: words(&["curl"]),
        whole: false,
        cwd,
        network: true,
        changes: words(&["**"]),
        programs: Vec::new(),
    });
    assert_eq!(covers(&curl, &send), Ok(()));
    let held = [in_force(&curl, 0)];
    let plain = question(&send, Profile::ExternalPublishGated);
    let sent = ENGINE.evaluate(&Question { standing: &held, ..plain });
    assert_eq!((sent.risk_band, sent.verdict), (RiskBand::Critical, Verdict::RequireApproval));
    let mut final_act = request(change(&[create("a.md")]));
    final_act.reversibility_hint = Reversibility::Irreversible;
    assert!(covers(&all, &final_act).is_err());
    // Looking at secrets is asked about each time, whatever was allowed.
    let look = ENGINE.evaluate(&Question {
        standing: &[in_force(&all, 0)],
        ..question(&request(read(".env")), Profile::LocalEditAllowed)
    });
    assert_eq!(look.verdict, Verdict::RequireApproval);
}

#[test]
fn a_proposer_that_read_what_nobody_vouches_for_needs_a_grant_that_says_so() {
    let grant = places("*.md", &[PathAct::Create]);
    let act = request(change(&[create("a.md")]));
    assert_eq!(asked(&act, &[in_force(&grant, 0)], true, T0).verdict, Verdict::RequireApproval);
    let also = StandingGrant { after_untrusted: true, ..grant };
    assert_eq!(asked(&act, &[in_force(&also, 0)], true, T0).verdict, Verdict::Allow);
    assert!(in_words(&also).contains("may contain instructions"));
}

#[conforms::conforms("HK-16.6-1")]
#[test]
fn a_grant_under_a_standing_one_is_minted_anew_and_only_while_that_one_holds() {
    let standing = places("*.md", &[PathAct::Create]);
    let held = in_force(&standing, 3);
    let act = request(change(&[create("a.md")]));
    let policy = asked(&act, &[held], false, T0);
    let observed = witness_of(&act, T0);
    let holder = Case::new(change(&[create("a.md")]));
    let input = MintInput {
        request: &act,
        request_sha256: digest(&act),
        policy: &policy,
        standing: Some(held),
        observed: Some(&observed),
        now: T0,
        ..holder.input()
    };
    let grant = mint(&input).expect("it is covered");
    assert_eq!((grant.max_uses, grant.standing), (1, Some(held.named())));
    let code = |input: MintInput<'_>| mint(&input).map(drop).expect_err("refused").code;
    assert_eq!(code(MintInput { standing: None, ..input }), "standing_other");
    let swapped = InForce { envelope_sha256: sha("another"), ..held };
    assert_eq!(code(MintInput { standing: Some(swapped), ..input }), "standing_other");
    assert_eq!(code(MintInput { standing: Some(InForce { uses: 50, ..held }), ..input }), "standing_spent");
    let narrower = StandingGrant {
        cover: Cover::Paths { glob: "b.md".to_owned(), acts: vec![PathAct::Create] },
        ..standing.clone()
    };
    assert_eq!(
        code(MintInput { standing: Some(InForce { grant: &narrower, ..held }), ..input }),
        "standing_outside"
    );
    let later = T0.plus_ms(7 * DAY);
    assert_eq!(code(MintInput { now: later, ..input }), "standing_expired");
    let unnamed = PolicyResult { standing: None, ..policy.clone() };
    assert_eq!(code(MintInput { policy: &unnamed, ..input }), "standing_other");
    let critical = PolicyResult { risk_band: RiskBand::Critical, ..policy.clone() };
    assert_eq!(code(MintInput { policy: &critical, ..input }), "standing_critical");
}

#[conforms::conforms(part = "HK-6.2-2")]
#[test]
fn only_a_person_at_a_native_surface_gives_one() {
    let grant = run(&["cargo", "test"], false, &["target/**"]);
    let signed = sign(&grant, &key()).expect("signed");
    let public = seal::Signer::public(&key());
    assert_eq!(verify(&signed, LOG, &public).expect("it holds"), grant);
    let code = |bytes: &[u8], log: &str| verify(bytes, log, &public).expect_err("refused").code;
    assert_eq!(code(&signed, "another store"), "standing_elsewhere");
    let other = SeedSigner::from_seed([43; 32]);
    assert_eq!(code(&sign(&grant, &other).expect("signed"), LOG), "standing_signature");
    for surface in Surface::ALL {
        let signed = sign(&StandingGrant { surface: *surface, ..grant.clone() }, &key()).expect("signed");
        assert_eq!(verify(&signed, LOG, &public).is_ok(), surface.may_grant(), "{surface}");
    }
    let endless = StandingGrant { expires_at: UnixMs(i64::MAX), ..grant.clone() };
    assert!(verify(&sign(&endless, &key()).unwrap_or_default(), LOG, &public).is_err());
    // A signed decision is no standing grant, and the other way round.
    let case = Case::new(change(&[create("a.md")]));
    let decision = crate::approval::sign(&case.decision, &key()).expect("signed");
    assert_eq!(code(&decision, LOG), "standing_type");
    assert!(
        crate::approval::verify(&signed, &case.approval, &case.packet_bytes(), &public, case.now).is_err()
    );
    // Not one byte may differ.
    for at in 0..signed.len() {
        let mut bent = signed.clone();
        bent[at] ^= 1;
        if let Ok(read) = verify(&bent, LOG, &public) {
            assert_eq!(read, grant, "byte {at} changed what was signed");
        }
    }
}

#[test]
fn the_narrowest_comes_first_and_each_proposal_covers_what_was_asked() {
    let frame = grant_of(Cover::Paths { glob: "x".to_owned(), acts: vec![PathAct::Create] });
    let said = |request: &ActionRequest| -> Vec<String> {
        let found = propose(request, &frame);
        assert!(found.iter().all(|grant| covers(grant, request).is_ok() && sound(grant).is_ok()));
        found.iter().map(in_words).collect()
    };
    let tail = ", 7 days, 50 times";
    assert_eq!(
        said(&staged(&["cargo", "test", "--release"], &[create("target/x")])),
        [
            format!(
                "run `cargo test --release` in \"src\", no network, changing only `target/x`, in this project{tail}"
            ),
            format!(
                "run `cargo test` and whatever follows in \"src\", no network, changing only `target/x`, in this project{tail}"
            ),
            format!(
                "run `cargo test --release` and whatever follows in \"src\", no network, changing only `target/x`, in this project{tail}"
            ),
        ]
    );
    let many: Vec<ChangeItem> = (0..9).map(|n| create(&format!("target/{n}/x"))).collect();
    assert!(said(&staged(&["make"], &many))[0].contains("changing only `target/**`"));
    assert_eq!(
        said(&staged(&["sh", "-c", "make > x"], &[])),
        [format!("run `sh -c \"make > x\"` in \"src\", no network, changing nothing, in this project{tail}")]
    );
    assert_eq!(
        said(&request(change(&[create("docs/a.md")]))),
        [
            format!("create `docs/a.md` in this project{tail}"),
            format!("create `docs/*.md` in this project{tail}"),
            format!("create `docs/**` in this project{tail}"),
        ]
    );
    assert_eq!(
        said(&request(change(&[create("a.txt"), delete("b.md")]))),
        [] as [String; 0],
        "the whole project is no proposal"
    );
    assert_eq!(said(&request(remember("x"))), [] as [String; 0]);
    assert_eq!(frame.cover.shape(), Shape::PathGlob);
}

/// A request whose program is found at a place of the machine.
fn found(request: ActionRequest, programs: &[(&str, &str, &str)]) -> ActionRequest {
    let programs = programs.iter().map(|(name, path, bytes)| Program {
        name: (*name).to_owned(),
        path: (*path).to_owned(),
        sha256: sha(bytes),
    });
    ActionRequest { reach: Some(Reach { programs: programs.collect(), ..Reach::default() }), ..request }
}

#[test]
fn a_standing_grant_is_for_the_program_that_was_meant_and_never_for_a_file_of_the_folder() {
    let written = || [create("src/out/a")];
    let shell = |program: &str| staged(&[program, "-c", "echo hi"], &written());
    let echo = run(&["echo"], false, &["src/out/**"]);
    let both = [("sh", "/usr/bin/dash", "dash"), ("echo", "/usr/bin/echo", "echo")];
    assert_eq!(covers(&echo, &found(shell("sh"), &both)), Ok(()), "a shell of the system");
    for (program, is) in [
        ("./sh", "nothing of the machine"),
        ("/elsewhere/sh", "an absolute path into the folder"),
        ("/usr/local/bin/sh", "another place than the system keeps its shells"),
    ] {
        let request = found(shell(program), &[("echo", "/usr/bin/echo", "echo")]);
        assert!(covers(&echo, &request).is_err(), "{program}: {is}");
        assert!(covers(&echo, &shell(program)).is_err(), "{program}, and nothing was looked up: {is}");
    }
    let other = [("sh", "/opt/evil/sh", "evil"), ("echo", "/usr/bin/echo", "echo")];
    assert!(covers(&echo, &found(shell("sh"), &other)).is_err(), "a shell that is found elsewhere");

    let fmt = || staged(&["cargo", "fmt"], &written());
    let asked = found(fmt(), &[("cargo", "/usr/bin/cargo", "cargo 1")]);
    let given = propose(&asked, &run(&["x"], true, &[]));
    assert!(!given.is_empty());
    for grant in &given {
        assert_eq!(covers(grant, &asked), Ok(()), "{}", crate::standing::in_words(grant));
        assert!(crate::standing::in_words(grant).contains("/usr/bin/cargo"));
        let exchanged = found(fmt(), &[("cargo", "/usr/bin/cargo", "cargo 2")]);
        assert!(covers(grant, &exchanged).is_err(), "other bytes");
        let elsewhere = found(fmt(), &[("cargo", "/usr/local/bin/cargo", "cargo 1")]);
        assert!(covers(grant, &elsewhere).is_err(), "another place");
        assert!(covers(grant, &found(fmt(), &[])).is_err(), "nowhere outside of the project");
    }
}

#[test]
fn a_standing_grant_covers_no_file_that_can_be_run_and_no_look_at_a_key_that_it_does_not_spell_out() {
    let all = places("**", PathAct::ALL);
    let tool = |mode| {
        request(change(&[ChangeItem::Write {
            path: path("tool"),
            content_sha256: sha("new"),
            byte_size: 3,
            prior: Prior::Absent,
            mode: Some(mode),
        }]))
    };
    assert_eq!(covers(&all, &tool(0o644)), Ok(()));
    assert!(covers(&all, &tool(0o755)).is_err());
    assert!(covers(&places("tool", PathAct::ALL), &tool(0o700)).is_err(), "nor where it is named outright");

    let cat = staged(&["cat", ".env"], &[]);
    let mut cat = found(cat, &[("cat", "/usr/bin/cat", "cat")]);
    cat.reach.as_mut().expect("a reach").secrets = vec![path(".env")];
    assert!(covers(&run(&["cat"], false, &[]), &cat).is_err());
    assert_eq!(covers(&run(&["cat", ".env"], true, &[]), &cat), Ok(()), "exactly these words were read");
}
