//! The log of releases: whose key signs its head, and who may append to it.

use super::{Workshop, files, is_invalid, signed_by};
use proof::{ReleaseAsked, Verdict, verify_release};
use seal::{PublicKey, SeedSigner, Signer as _};
use std::fs;
use std::path::Path;

#[test]
fn a_release_outside_the_log_and_a_log_that_was_cut_or_does_not_continue_are_refused() {
    let workshop = Workshop::new();
    let first = workshop.made("0.1.0");
    let (second, third) = (workshop.made("0.1.1"), workshop.made("0.2.0"));
    let keys = [workshop.key.public()];
    let held = fs::read(first.join("release.tlog-proof")).unwrap();
    let since = |release: &Path, since: &[u8]| {
        let asked = ReleaseAsked { keys: &keys, since: Some(since), ..ReleaseAsked::default() };
        verify_release(release, &asked).map(|report| report.verdict)
    };
    for release in [&first, &second, &third] {
        assert_eq!(since(release, &held).unwrap(), Verdict::Valid);
    }
    let newest = fs::read(workshop.path("log/checkpoint")).unwrap();
    let verdict = since(&first, &newest).unwrap();
    assert!(is_invalid(&verdict, "releases.log", "does not continue"), "{verdict}");
    assert!(since(&first, b"no head").is_err());

    let (log, proof) = (third.join("releases.log"), third.join("release.tlog-proof"));
    let (leaves, place) = (fs::read_to_string(&log).unwrap(), fs::read_to_string(&proof).unwrap());
    let cut: Vec<&str> = leaves.lines().take(3).collect();
    fs::write(&log, format!("{}\n", cut.join("\n"))).unwrap();
    let verdict = workshop.checked(&third);
    assert!(is_invalid(&verdict, "releases.log", "2 leaves that are not the 3"), "{verdict}");
    fs::write(&log, &leaves).unwrap();
    let shorter: Vec<&str> =
        place.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    fs::write(&proof, format!("{}\n", shorter.join("\n"))).unwrap();
    assert!(
        matches!(workshop.checked(&third), Verdict::Invalid { place, .. } if place == "release.tlog-proof")
    );
    // The place of another release is not its own.
    fs::copy(second.join("release.tlog-proof"), &proof).unwrap();
    assert!(
        matches!(workshop.checked(&third), Verdict::Invalid { place, .. } if place == "release.tlog-proof")
    );

    // Whoever makes releases cannot go on from a log that lost one, nor under another key.
    let kept = workshop.path("log/releases.log");
    fs::write(&kept, format!("{}\n", cut.join("\n"))).unwrap();
    assert!(workshop.made_by(&workshop.key, "0.3.0", "fourth").is_err());
    fs::write(&kept, &leaves).unwrap();
    assert!(workshop.made_by(&SeedSigner::from_seed([8; 32]), "0.3.0", "fourth").is_err());
    assert!(!workshop.path("fourth").exists(), "nothing was made");
    assert!(workshop.made_by(&workshop.key, "0.3.0", "0.2.0").is_err(), "the place is taken");
    workshop.made_by(&workshop.key, "0.3.0", "fourth").unwrap();
}

#[test]
fn a_head_by_another_key_than_the_statement_is_refused_unless_both_were_given_and_then_it_is_told() {
    let workshop = Workshop::new();
    let release = workshop.made("0.1.0");
    let other = SeedSigner::from_seed([8; 32]);
    signed_by(&workshop.key, &other, &release, |_| {});
    let report = |keys: &[PublicKey]| {
        verify_release(&release, &ReleaseAsked { keys, ..ReleaseAsked::default() }).unwrap()
    };
    let (key, of_log) = (workshop.key.public(), other.public());
    let verdict = report(&[key]).verdict;
    assert!(matches!(&verdict, Verdict::Unverifiable { why } if why.contains("tlog-proof")), "{verdict}");
    let verdict = report(&[of_log]).verdict;
    assert!(matches!(&verdict, Verdict::Unverifiable { why } if why.contains("release.json")), "{verdict}");
    for keys in [[key, of_log], [of_log, key]] {
        let report = report(&keys);
        let found = report.release.as_ref().unwrap();
        assert_eq!((found.key, found.log_key), (key.keyid(), of_log.keyid()));
        let said = report.to_string();
        assert!(!said.contains("the same key"), "{said}");
        assert!(said.contains(&format!("another key that you gave ({})", of_log.keyid())), "{said}");
    }
    let plain = workshop.made("0.1.1");
    let keys = [of_log, key];
    let report = verify_release(&plain, &ReleaseAsked { keys: &keys, ..ReleaseAsked::default() }).unwrap();
    assert!(report.to_string().contains("whose head the same key signed"), "{report}");
}

#[test]
fn while_one_release_is_made_a_second_one_with_the_same_log_is_refused_and_makes_nothing() {
    let workshop = Workshop::new();
    workshop.made("0.1.0");
    let before = files(&workshop.path("log"));
    let held = disk::hold(&workshop.path("log/lock")).unwrap();
    assert!(held.is_some());
    let refused = workshop.made_by(&workshop.key, "0.1.1", "second").unwrap_err().to_string();
    assert!(refused.contains("another release is being made"), "{refused}");
    assert!(!workshop.path("second").exists());
    assert_eq!(files(&workshop.path("log")), before);
    drop(held);
    workshop.made("0.1.1");
}
