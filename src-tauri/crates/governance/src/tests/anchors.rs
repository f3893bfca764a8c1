//! Asking a clock elsewhere: what it is worth, and which lasting yes answers for it.

use super::world::*;
use crate::Question;
use crate::standing::{covers, propose, sound};
use acts::{Action, Anchor, Tool as _};
use model::anchor::{AnchorClock, AnchorSubject};
use model::approval::Surface;
use model::policy::{Profile, RiskBand, Verdict};
use model::standing::{Cover, STANDING_FORMAT, StandingGrant, StandingScope};

const CALENDAR: &str = "https://calendar.example";

fn stamp(clock: AnchorClock) -> Anchor {
    let is_paid = clock == AnchorClock::OpReturn;
    Anchor {
        number: 3,
        clock,
        digest: sha("the head"),
        subject: AnchorSubject::Link { number: 1 },
        completes: false,
        at: if is_paid { Vec::new() } else { vec![CALENDAR.to_owned()] },
        node: Some("http://127.0.0.1:8332".to_owned()),
        nonce: "0".repeat(32),
        depth: 6,
        prior: None,
        was: None,
        fee_max: is_paid.then_some(300),
    }
}

fn frame(cover: Cover) -> StandingGrant {
    StandingGrant {
        format: STANDING_FORMAT.to_owned(),
        log_id: "log".to_owned(),
        grant_id: id!(GrantId, 90),
        cover,
        scope: StandingScope::User,
        after_untrusted: true,
        issued_at: T0,
        expires_at: T0.plus_ms(DAY),
        max_uses: 5,
        given_at: None,
        override_reason: None,
        surface: Surface::Terminal,
        decided_by: PERSON,
    }
}

fn cover(clock: AnchorClock, hosts: &[&str]) -> Cover {
    Cover::Anchor { clock, hosts: hosts.iter().map(|host| (*host).to_owned()).collect() }
}

#[test]
fn a_stamp_is_asked_about_and_a_lasting_yes_names_its_clock_and_every_server_to_the_end() {
    let asked = request(Action::Anchor(stamp(AnchorClock::OpenTimestamps)));
    let judged = ENGINE.evaluate(&Question { ..question(&asked, Profile::ExternalPublishGated) });
    assert_eq!((judged.verdict, judged.risk_band), (Verdict::RequireApproval, RiskBand::High));
    let made = propose(&asked, &frame(cover(AnchorClock::Rfc3161, &["a:1"])));
    let servers = ["127.0.0.1:8332", "calendar.example:443"];
    assert_eq!(
        made.iter().map(|one| &one.cover).collect::<Vec<_>>(),
        [&cover(AnchorClock::OpenTimestamps, &servers)]
    );
    let completes = Anchor {
        completes: true,
        prior: Some(model::artifact::ArtifactRef { artifact_id: id!(ArtifactId, 7), sha256: sha("a stamp") }),
        ..stamp(AnchorClock::OpenTimestamps)
    };
    assert_eq!(completes.check(), Ok(()));
    assert_eq!(covers(&made[0], &request(Action::Anchor(completes.clone()))), Ok(()), "and how it stands");
    let elsewhere = Anchor { at: vec!["https://other.example".to_owned()], ..completes };
    assert!(covers(&made[0], &request(Action::Anchor(elsewhere))).is_err(), "no other server");
    let authority = stamp(AnchorClock::Rfc3161);
    assert!(covers(&made[0], &request(Action::Anchor(authority))).is_err(), "no other clock");
    let project = StandingGrant { scope: StandingScope::Project { workspace_id: SPACE }, ..made[0].clone() };
    assert!(sound(&project).is_err());
    assert!(sound(&frame(cover(AnchorClock::OpReturn, &[]))).is_err());
    assert!(sound(&frame(cover(AnchorClock::OpReturn, &["b:1", "a:1"]))).is_err(), "sorted");
}

#[test]
fn what_costs_money_is_critical_and_no_lasting_yes_answers_for_it() {
    let paid = request(Action::Anchor(stamp(AnchorClock::OpReturn)));
    let judged = ENGINE.evaluate(&Question { ..question(&paid, Profile::ExternalPublishGated) });
    assert_eq!((judged.verdict, judged.risk_band), (Verdict::RequireApproval, RiskBand::Critical));
    let grant = frame(cover(AnchorClock::OpReturn, &["127.0.0.1:8332"]));
    assert!(sound(&grant).is_ok(), "it is for how a transaction stands");
    assert!(covers(&grant, &paid).is_err());
    assert!(propose(&paid, &grant).is_empty());
    let looks = Anchor { completes: true, fee_max: None, ..stamp(AnchorClock::OpReturn) };
    assert_eq!(covers(&grant, &request(Action::Anchor(looks))), Ok(()));
}

#[test]
fn what_no_clock_can_be_asked_is_refused() {
    let good = stamp(AnchorClock::OpenTimestamps);
    assert_eq!(good.check(), Ok(()));
    for bad in [
        Anchor { at: vec!["calendar".to_owned()], ..good.clone() },
        Anchor { at: vec![CALENDAR.to_owned(); 17], ..good.clone() },
        Anchor { nonce: "xyz".to_owned(), ..good.clone() },
        Anchor { depth: 0, ..good.clone() },
        Anchor { fee_max: Some(1), ..good.clone() },
        Anchor { completes: true, ..good.clone() },
        Anchor { completes: true, ..stamp(AnchorClock::Rfc3161) },
        Anchor { fee_max: None, ..stamp(AnchorClock::OpReturn) },
        Anchor { node: None, ..stamp(AnchorClock::OpReturn) },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
    }
}
