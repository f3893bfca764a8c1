//! A yes by a passkey goes along and is checked like one by the approval key, in bundles of every scope.

use crate::authenticator::Authenticator;
use crate::world::World;
use crate::world::passkeys::cases;
use crate::world::tools::checked;
use proof::{Include, Options, Scope, Verdict};

#[test]
fn a_yes_by_a_passkey_is_proven_with_what_its_authenticator_said() {
    let here = "http://localhost:7717";
    for mut one in [Authenticator::es256(7, here), Authenticator::eddsa(8, here)] {
        one.flags = 0x1d;
        let world = World::answered_by_passkey(&mut one, 2);
        let last = world.events.len() as u64;
        for scope in [Scope::Task, Scope::Span { first: 1, last }] {
            let report = checked(&world, &Options { scope, ..Options::default() });
            assert_eq!(report.verdict, Verdict::Valid, "{report}");
            assert_eq!((report.counts.decisions, report.counts.by_passkey), (2, 2), "{report}");
            let told = report.proven.iter().find(|s| s.contains("signed by a passkey")).unwrap();
            for word in ["2 decisions of a person are", here, "present and verified", "was copied to other"] {
                assert!(told.contains(word), "{told}");
            }
            assert!(report.not_shown.iter().any(|s| s.contains("revoked before it signed")), "{report}");
            let digests = Options { scope, artifacts: Include::None, ..Options::default() };
            let report = checked(&world, &digests);
            assert_eq!((&report.verdict, report.counts.decisions), (&Verdict::Valid, 0), "{report}");
        }
    }
}

#[test]
fn a_yes_by_a_security_key_is_told_as_one() {
    let world = World::answered_by_passkey(&mut Authenticator::es256(7, "hermit:security-key"), 1);
    let report = checked(&world, &Options::default());
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    let told = |words: &str| report.proven.iter().any(|said| said.contains(words));
    assert!(told("1 decision of a person is signed by a security key that the approval key lets say yes"));
    assert!(!told("signed by a passkey"), "{report}");
}

#[test]
fn a_yes_at_another_machine_is_told_as_one() {
    let world = World::answered_by_passkey(&mut Authenticator::eddsa(8, "hermit:mesh"), 2);
    let report = checked(&world, &Options::default());
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!((report.counts.decisions, report.counts.by_passkey), (2, 2), "{report}");
    let told = |words: &str| report.proven.iter().any(|said| said.contains(words));
    assert!(told("2 decisions of a person are signed by the approval key of another machine"), "{report}");
    assert!(!told("signed by a passkey") && !told("stays on its device"), "{report}");
}

/// What our own verifier says is written in each case; whether the twin says the same is compared beside.
#[test]
fn a_yes_by_a_passkey_that_is_none_is_refused_at_its_place() {
    for case in cases() {
        let report = checked(&case.world, &World::everything());
        assert_eq!(report.exit_code(), case.code, "{}: {report}", case.what);
        assert!(report.headline().contains(case.word), "{}: {report}", case.what);
        if case.code == 0 {
            assert_eq!(
                (report.counts.decisions, report.counts.by_passkey),
                (1, 1),
                "{}: {report}",
                case.what
            );
        }
    }
}
