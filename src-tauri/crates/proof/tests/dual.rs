//! Dual control: what two different keys had to allow is proven with both yeses, or refused.

use crate::world::World;
use crate::world::dual::cases;
use crate::world::tools::checked;
use proof::{Include, Options, Scope, Verdict};

#[test]
fn both_yeses_go_along_in_bundles_of_every_scope() {
    let world = World::allowed_by_two();
    let last = world.events.len() as u64;
    for scope in [Scope::Task, Scope::Span { first: 1, last }, Scope::Receipt(world.receipts[0])] {
        let report = checked(&world, &Options { scope, ..Options::default() });
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        assert_eq!((report.counts.decisions, report.counts.by_passkey), (2, 1), "{report}");
        let digests = Options { scope, artifacts: Include::None, ..Options::default() };
        assert_eq!(checked(&world, &digests).verdict, Verdict::Valid);
    }
    let signed = world.events.iter().position(|event| {
        model::Event::from_bytes(event).is_ok_and(|event| event.event_type == "approval.signed")
    });
    // Of a span, the first may stand before it.
    let scope = Scope::Span { first: signed.unwrap() as u64 + 2, last };
    let report = checked(&world, &Options { scope, ..Options::default() });
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert!(
        report.not_shown.iter().any(|said| said.starts_with("the first of the two yeses on")),
        "{report}"
    );
}

/// What our own verifier says is written in each case; whether the twin says the same is compared beside.
#[test]
fn one_yes_two_of_one_key_and_one_to_something_else_are_refused_where_two_keys_have_to_allow() {
    for case in cases() {
        let report = checked(&case.world, &World::everything());
        assert_eq!(report.exit_code(), case.code, "{}: {report}", case.what);
        assert!(report.headline().contains(case.word), "{}: {report}", case.what);
    }
}
