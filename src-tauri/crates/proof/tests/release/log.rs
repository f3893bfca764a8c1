//! The log of releases: whose key signs its head, and who may append to it.

use super::{Workshop, files, signed_by};
use proof::{ReleaseAsked, Verdict, verify_release};
use seal::{PublicKey, SeedSigner, Signer as _};
use std::fs;

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
    let held = fs::File::options().write(true).open(workshop.path("log/lock")).unwrap();
    held.try_lock().unwrap();
    let refused = workshop.made_by(&workshop.key, "0.1.1", "second").unwrap_err().to_string();
    assert!(refused.contains("another release is being made"), "{refused}");
    assert!(!workshop.path("second").exists());
    assert_eq!(files(&workshop.path("log")), before);
    drop(held);
    workshop.made("0.1.1");
}
