//! A key that is spoken to byte by byte: what it does, what it refuses, and what it lies.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and tells how long it took"
)]

use seal::Digest;
use seal::webauthn::{Assertion, Enrolled, Signed, client_data_json, credential_of};
use securitykey::{Asserted, Device, Error, Making, Moment, Pin, REPORT, SecurityKey, Wanted};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use testkit::{Authenticator, PlainKey, Touch};

const RP: &str = "hermit:security-key";
const PIN: &str = "tulip4";

/// A key on a wire that may be pulled.
struct Plugged {
    key: PlainKey,
    says: VecDeque<[u8; REPORT]>,
    /// Reports that are still taken.
    left: usize,
    /// Everything that was said to it.
    heard: Vec<u8>,
}

impl Plugged {
    fn new(passkey: Authenticator) -> Self {
        let key = PlainKey::new(passkey, PIN);
        Self { key, says: VecDeque::new(), left: usize::MAX, heard: Vec::new() }
    }
}

impl Device for Plugged {
    fn write(&mut self, report: &[u8; REPORT]) -> io::Result<()> {
        self.left = self.left.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
        self.heard.extend_from_slice(report);
        self.says.extend(self.key.hear(report));
        Ok(())
    }

    fn read(&mut self, patience: Duration) -> io::Result<Option<[u8; REPORT]>> {
        if self.left == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let next = self.says.pop_front();
        if next.is_none() {
            std::thread::sleep(patience.min(Duration::from_millis(5)));
        }
        Ok(next)
    }
}

fn es256() -> Authenticator {
    Authenticator::es256(7, "https://nowhere.example")
}

fn make(at: &mut Plugged, pin: &str, exclude: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    let new =
        Making { rp_id: RP, user: (b"usr_1", "approvals in Hermit"), client_data_hash: [1; 32], exclude };
    SecurityKey::open(at)?.make(&new, &Pin::new(pin)?, &mut |_| true)
}

fn sign(at: &mut Plugged, hash: [u8; 32], pin: &str, allow: &[Vec<u8>]) -> Result<Asserted, Error> {
    let wanted = Wanted { rp_id: RP, client_data_hash: hash, allow };
    SecurityKey::open(at)?.sign(&wanted, &Pin::new(pin)?, &mut |_| true)
}

#[test]
fn a_key_makes_a_passkey_and_signs_with_it_by_either_protocol_and_of_either_kind() {
    for (passkey, protocols, binds) in [
        (es256(), vec![2, 1], true),
        (es256(), vec![1], false),
        (Authenticator::eddsa(9, "https://nowhere.example"), vec![3, 2], true),
    ] {
        let mut at = Plugged::new(passkey);
        (at.key.protocols, at.key.binds) = (protocols, binds);
        let made = credential_of(&make(&mut at, PIN, &[]).unwrap(), RP).unwrap();
        // Among others that are not on it, in more lists than one.
        let mut allow: Vec<Vec<u8>> = (0..20).map(|n| vec![n; 64]).collect();
        allow.push(made.credential_id.clone());
        let payload = b"a decision".to_vec();
        let client_data = client_data_json("webauthn.get", Digest::of(&payload).as_bytes(), RP);
        let came = sign(&mut at, *Digest::of(&client_data).as_bytes(), PIN, &allow).unwrap();
        let webauthn = Assertion {
            credential_id: came.credential_id,
            authenticator_data: came.authenticator_data,
            client_data_json: client_data,
            signature: came.signature,
        };
        let signed = Signed { payload_type: "t".to_owned(), payload, webauthn };
        let enrolled = Enrolled { credential_id: &made.credential_id, key: &made.key, rp_id: RP, origin: RP };
        assert_eq!(signed.verify(&enrolled).unwrap().counter, 1, "one touch, one signature");
        let elsewhere = Enrolled { origin: "http://localhost", ..enrolled };
        assert_eq!(signed.verify(&elsewhere).unwrap_err().code, "passkey_origin");
        let another = Enrolled { rp_id: "localhost", ..enrolled };
        assert_eq!(signed.verify(&another).unwrap_err().code, "passkey_rp");
        // The PIN itself, and what it is known by, are nowhere in what was sent.
        let digest = Digest::of(PIN.as_bytes());
        for secret in [PIN.as_bytes(), &digest.as_bytes()[..16]] {
            assert!(!at.heard.windows(secret.len()).any(|window| window == secret));
        }
    }
}

#[test]
fn what_is_enrolled_is_not_enrolled_again_and_what_is_not_there_does_not_sign() {
    let mut at = Plugged::new(es256());
    make(&mut at, PIN, &[]).unwrap();
    let mut others: Vec<Vec<u8>> = (0..20).map(|n| vec![n; 64]).collect();
    assert_eq!(sign(&mut at, [2; 32], PIN, &others), Err(Error::NotHere));
    assert_eq!(sign(&mut at, [2; 32], PIN, &others[..1]), Err(Error::NotHere));
    others.insert(0, at.key.passkey.credential_id.clone());
    assert_eq!(make(&mut at, PIN, &others), Err(Error::Known));
    others.rotate_left(1);
    assert_eq!(make(&mut at, PIN, &others), Err(Error::Known), "in the last of the lists");
}

#[test]
fn a_wrong_pin_says_how_many_are_left_then_pauses_and_then_blocks() {
    let mut at = Plugged::new(es256());
    make(&mut at, PIN, &[]).unwrap();
    let allow = [at.key.passkey.credential_id.clone()];
    let wrong = |at: &mut Plugged| sign(at, [2; 32], "daisy5", &allow).unwrap_err();
    assert_eq!(wrong(&mut at), Error::PinWrong { left: Some(7) });
    assert_eq!(wrong(&mut at), Error::PinWrong { left: Some(6) });
    assert!(wrong(&mut at).to_string().contains("take the security key out"));
    assert_eq!(SecurityKey::open(&mut at).unwrap().tries_left(), Err(Error::PinPaused));
    at.key.tries = 0;
    assert_eq!(SecurityKey::open(&mut at).unwrap().tries_left(), Err(Error::PinBlocked));
    assert_eq!(wrong(&mut at), Error::PinBlocked);
    assert_eq!(at.key.passkey.counter, 0, "nothing was signed");
    at.key.pin = None;
    assert_eq!(sign(&mut at, [2; 32], PIN, &allow), Err(Error::PinMissing));
}

#[test]
fn what_a_person_leaves_is_cancelled_at_the_key() {
    let mut at = Plugged::new(es256());
    make(&mut at, PIN, &[]).unwrap();
    let allow = [at.key.passkey.credential_id.clone()];
    at.key.touch = Touch::Never;
    let wanted = Wanted { rp_id: RP, client_data_hash: [2; 32], allow: &allow };
    let mut told = Vec::new();
    let mut until_touch = |moment| {
        told.push(moment);
        moment != Moment::Touch
    };
    let came = SecurityKey::open(&mut at).unwrap().sign(&wanted, &Pin::new(PIN).unwrap(), &mut until_touch);
    assert_eq!(came, Err(Error::Cancelled));
    assert_eq!((at.key.cancelled, at.key.passkey.counter), (1, 0));
    assert!(told.contains(&Moment::Touch));
}

#[test]
fn a_key_that_is_taken_out_at_any_report_is_gone() {
    let mut at = Plugged::new(es256());
    make(&mut at, PIN, &[]).unwrap();
    let allow = [at.key.passkey.credential_id.clone()];
    let before = at.heard.len() / REPORT;
    sign(&mut at, [2; 32], PIN, &allow).unwrap();
    let whole = at.heard.len() / REPORT - before;
    assert!(whole > 5);
    for left in 0..whole {
        at.says.clear();
        at.left = left;
        assert_eq!(sign(&mut at, [2; 32], PIN, &allow), Err(Error::Gone), "after {left} reports");
    }
}

#[test]
fn whatever_a_key_answers_that_is_no_answer_is_refused() {
    let deep = [&[0, 0xa1, 0x01][..], &[0x81; 12], &[0x00]].concat();
    let long = [&[0, 0xa1, 0x02, 0x59, 0x17, 0x70][..], &[0; 6_000]].concat();
    let answers: [(u8, Vec<u8>); 8] = [
        (0x02, vec![]),
        (0x02, vec![0]),
        (0x02, vec![0, 0xa0]),
        (0x02, vec![0, 0xa1, 0x01]),
        (0x02, vec![0, 0xbf, 0xff]),
        (0x02, deep),
        (0x02, long),
        // Another passkey than the one that was asked for.
        (0x02, b"\x00\xa2\x01\xa1\x62id\x41\x09\x03\x41\x00".to_vec()),
    ];
    for (command, says) in answers {
        let mut at = Plugged::new(es256());
        at.key.made = true;
        at.key.passkey.rp_id = RP.to_owned();
        let allow = [at.key.passkey.credential_id.clone()];
        at.key.instead = Some((command, says.clone()));
        let came = sign(&mut at, [2; 32], PIN, &allow);
        assert!(matches!(came, Err(Error::Unreadable(_))), "{says:02x?}: {came:?}");
    }
    for (status, error) in
        [(0x27, Error::Denied), (0x2f, Error::TimedOut), (0x2e, Error::NotHere), (0x33, Error::Refused(0x33))]
    {
        let mut at = Plugged::new(es256());
        let allow = [at.key.passkey.credential_id.clone()];
        at.key.instead = Some((0x02, vec![status]));
        assert_eq!(sign(&mut at, [2; 32], PIN, &allow), Err(error));
    }
}

/// What is said to a report.
type Hears = Box<dyn FnMut(&[u8; REPORT]) -> Vec<[u8; REPORT]> + Send>;

/// Something on a wire that is no key.
struct Says(Hears, VecDeque<[u8; REPORT]>);

impl Device for Says {
    fn write(&mut self, report: &[u8; REPORT]) -> io::Result<()> {
        self.1.extend((self.0)(report));
        Ok(())
    }
    fn read(&mut self, patience: Duration) -> io::Result<Option<[u8; REPORT]>> {
        let next = self.1.pop_front();
        if next.is_none() {
            std::thread::sleep(patience.min(Duration::from_millis(20)));
        }
        Ok(next)
    }
}

#[test]
fn what_does_not_keep_to_reports_is_refused_in_time() {
    let told = |cid: [u8; 4], head: &[u8]| {
        let mut report = [0; REPORT];
        let all = [cid.as_slice(), head].concat();
        report[..all.len()].copy_from_slice(&all);
        report
    };
    // Greetings of others without end and then nothing, one that is too short, one that speaks U2F alone.
    let greeting = move |nonce: &[u8], rest: &[u8]| {
        let length = u8::try_from(nonce.len() + rest.len()).unwrap();
        told([0xff; 4], &[[0x86, 0, length].as_slice(), nonce, rest].concat())
    };
    let cases: [(Hears, fn(&Error) -> bool); 5] = [
        (Box::new(move |_| vec![greeting(&[0; 8], &[1; 9]); 500]), |e| *e == Error::Gone),
        (Box::new(move |r| vec![greeting(&r[7..15], &[1; 4])]), |e| matches!(e, Error::Unreadable(_))),
        (Box::new(move |r| vec![greeting(&r[7..15], &[1, 1, 1, 1, 2, 0, 0, 0, 1])]), |e| *e == Error::Old),
        (Box::new(move |_| vec![told([0xff; 4], &[0x86, 0xff, 0xff])]), |e| {
            matches!(e, Error::Unreadable(_))
        }),
        (Box::new(move |_| vec![told([0xff; 4], &[0x86, 0, 100]), told([0xff; 4], &[1])]), |e| {
            matches!(e, Error::Unreadable(_))
        }),
    ];
    for (number, (hears, is_expected)) in cases.into_iter().enumerate() {
        let begun = Instant::now();
        let error = SecurityKey::open(&mut Says(hears, VecDeque::new())).err().unwrap();
        assert!(is_expected(&error) && begun.elapsed() < Duration::from_secs(8), "{number}: {error:?}");
    }
}
