//! Standing grants: a person's lasting yes goes along and is checked like any other, in bundles of every scope.

use crate::world::World;
use crate::world::standing::cases;
use crate::world::tools::checked;
use proof::{Include, Options, Scope, Verdict};

#[test]
fn a_standing_grant_answers_for_a_person_and_bundles_of_every_scope_prove_it() {
    let world = World::under_a_standing_grant();
    let last = world.events.len() as u64;
    let all = [Scope::Task, Scope::Span { first: 1, last }, Scope::Receipt(world.receipts[1])];
    for scope in all {
        let report = checked(&world, &Options { scope, ..Options::default() });
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        assert_eq!((report.counts.standing, report.counts.decisions), (1, 0), "{report}");
        assert!(report.proven.iter().any(|s| s.starts_with("1 standing grant of a person is")), "{report}");
        assert!(report.asserted.iter().any(|s| s.starts_with("whose the approval key is")), "{report}");
        let digests = Options { scope, artifacts: Include::None, ..Options::default() };
        let report = checked(&world, &digests);
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        assert_eq!(report.counts.standing, 0);
    }
    let report = checked(&world, &Options { artifacts: Include::None, ..Options::default() });
    let told = report.not_shown.iter().filter(|s| *s == "a standing grant, only its digest");
    assert_eq!(told.count(), 1, "{report}");
    // Of one receipt only the use that it is about.
    let one = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
    assert_eq!(checked(&world, &one).counts.events, 2);
}

#[test]
fn a_standing_grant_that_does_not_hold_is_refused_also_when_every_key_has_signed_the_rest() {
    for case in cases() {
        let report = checked(&case.world, &World::everything());
        assert_eq!(report.exit_code(), case.code, "{}: {report}", case.what);
        assert!(report.headline().contains(case.word), "{}: {report}", case.what);
    }
}
