//! Time stamps of an authority.

use crate::{TSA, TSA_EC, TSA_PSS, authorities, digest};
use anchor::{Error, Trust, check, rfc3161};
use model::UnixMs;
use model::anchor::AnchorClock;
use seal::Digest;

#[test]
fn a_time_stamp_of_a_named_authority_proves_its_time() {
    let authorities = authorities();
    let trust = Trust { authorities: &authorities, headers: None };
    for (stamp, signer, root) in [
        (TSA, "CN=Example Time,O=Example", "CN=Example Root,O=Example"),
        (TSA_EC, "CN=Example EC Time,O=Example", "CN=Example EC Root,O=Example"),
        (TSA_PSS, "CN=Example PSS Time,O=Example", "CN=Example Root,O=Example"),
    ] {
        let read = rfc3161::read(stamp).unwrap();
        assert_eq!((read.digest, read.accuracy_ms), (digest(), Some(1501)));
        assert_eq!(read.policy, "1.3.6.1.4.1.55555.1");
        assert_eq!(read.gen_time.0 % 1000, 0);
        let vouched = read.verify(&authorities).unwrap();
        assert_eq!((vouched.signer.as_str(), vouched.authority.as_deref()), (signer, Some(root)));
        let checked = check(AnchorClock::Rfc3161, stamp, &digest(), &trust).unwrap();
        assert_eq!(checked.proven.unwrap().not_after, UnixMs(read.gen_time.0 + 1501));
        assert!(
            checked.on_trust.iter().any(|said| said.contains("states the right time")),
            "{:?}",
            checked.on_trust
        );
    }
}

#[test]
fn who_was_not_named_proves_nothing() {
    let [rsa, ec] = <[Vec<u8>; 2]>::try_from(authorities()).unwrap();
    for (stamp, other) in
        [(TSA, vec![]), (TSA, vec![ec.clone()]), (TSA_EC, vec![rsa.clone()]), (TSA_PSS, vec![ec])]
    {
        let trust = Trust { authorities: &other, headers: None };
        let checked = check(AnchorClock::Rfc3161, stamp, &digest(), &trust).unwrap();
        assert_eq!((checked.proven, checked.pending), (None, false));
        assert!(checked.says[0].contains("whom you did not name"), "{:?}", checked.says);
    }
}

#[test]
fn a_time_stamp_of_another_digest_is_wrong() {
    let other = check(AnchorClock::Rfc3161, TSA, &Digest::of(b"other"), &Trust::default());
    assert_eq!(other, Err(Error::OtherDigest { what: "time stamp" }));
}

#[test]
fn a_refusal_says_why() {
    // SEQUENCE { SEQUENCE { 2, SEQUENCE { two characters }, BIT STRING } }
    let refused = [0x30, 15, 0x30, 13, 2, 1, 2, 0x30, 4, 0x0c, 2, b'n', 0x1b, 3, 2, 5, 0x20];
    let Err(Error::Refused { says }) = rfc3161::read(&refused) else { panic!("it was read") };
    assert_eq!(says, "n\u{fffd} (status 2, failure bits 03020520)");
}

/// The same stamp in envelopes that `openssl cms -sign -cades` made, with other certificates and ways to sign.
#[test]
fn a_signer_counts_only_with_a_certificate_for_time_stamps_alone() {
    let authorities = authorities();
    let trust = Trust { authorities: &authorities, headers: None };
    let checked = |stamp: &[u8]| check(AnchorClock::Rfc3161, stamp, &digest(), &trust);
    for good in [
        &include_bytes!("data/more/pss.tsr")[..],
        include_bytes!("data/more/keyid.tsr"),
        include_bytes!("data/more/good.tsr"),
    ] {
        assert!(checked(good).unwrap().proven.is_some());
    }
    for (wrong, says) in [
        (&include_bytes!("data/more/both.tsr")[..], "is not for time stamps alone"),
        (include_bytes!("data/more/loose.tsr"), "is not for time stamps alone"),
        (include_bytes!("data/more/none.tsr"), "is not for time stamps alone"),
        (include_bytes!("data/more/expired.tsr"), "was not valid at its time"),
        (include_bytes!("data/more/early.tsr"), "was not valid at its time"),
        (include_bytes!("data/more/nocert.tsr"), "did not come along"),
    ] {
        let error = checked(wrong).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    // Below an issuer that may have none below it, and below what may issue nothing.
    for beneath in [&include_bytes!("data/more/deep.tsr")[..], include_bytes!("data/more/leaf.tsr")] {
        let checked = checked(beneath).unwrap();
        assert!(checked.proven.is_none() && checked.says[0].contains("whom you did not name"));
    }
}

#[test]
fn a_certificate_that_did_not_come_along_may_be_the_one_that_was_named() {
    let named = [crate::authority(include_str!("data/tsa.pem"))];
    let trust = Trust { authorities: &named, headers: None };
    let stamp = include_bytes!("data/more/nocert.tsr");
    assert!(check(AnchorClock::Rfc3161, stamp, &digest(), &trust).unwrap().proven.is_some());
}

#[test]
fn a_signature_that_was_changed_does_not_hold() {
    let pss = include_bytes!("data/more/pss.tsr");
    // The signature is the last of each.
    for stamp in [TSA, TSA_EC, TSA_PSS, pss] {
        let mut bytes = stamp.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let checked = check(AnchorClock::Rfc3161, &bytes, &digest(), &Trust::default());
        assert_eq!(checked, Err(Error::Signature { what: "time stamp" }));
    }
}

#[test]
fn an_authority_of_the_same_name_with_another_key_is_another() {
    let named = [crate::authority(include_str!("data/more/same-name.pem"))];
    let trust = Trust { authorities: &named, headers: None };
    let checked = check(AnchorClock::Rfc3161, TSA, &digest(), &trust).unwrap();
    assert!(checked.proven.is_none() && checked.says[0].contains("whom you did not name"));
}
