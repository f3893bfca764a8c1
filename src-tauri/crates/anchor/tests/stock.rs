//! What nobody here wrote agrees: `openssl ts`, and where Python has it `opentimestamps`.
#![allow(clippy::disallowed_methods, reason = "these tests run the stock tools that a stranger would run")]

use crate::{COMPLETE, PENDING, TSA, TSA_EC, TSA_PSS, authority, digest, foreign};
use anchor::ots::Timestamp;
use anchor::{Trust, check, rfc3161};
use model::anchor::AnchorClock;
use std::fs;
use std::path::{Path, PathBuf};

/// A fresh folder under the build folder, gone with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn folder(test: &str) -> Folder {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("anchor-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    Folder(folder)
}

fn openssl(folder: &Path, line: &str) -> Option<(bool, String)> {
    foreign::run("openssl", folder, &line.split(' ').collect::<Vec<_>>(), b"")
}

#[test]
fn cross_check_openssl_verifies_the_time_stamps_that_are_verified_here() {
    let folder = folder("openssl-verify");
    fs::write(folder.0.join("data"), "hermit").unwrap();
    fs::write(folder.0.join("ca.pem"), include_str!("data/tsa-ca.pem")).unwrap();
    fs::write(folder.0.join("ec.pem"), include_str!("data/tsa-ec-ca.pem")).unwrap();
    for (stamp, ca) in [(TSA, "ca.pem"), (TSA_EC, "ec.pem"), (TSA_PSS, "ca.pem")] {
        fs::write(folder.0.join("stamp.tsr"), stamp).unwrap();
        let line = format!("ts -verify -in stamp.tsr -data data -CAfile {ca}");
        let Some((is_valid, said)) = openssl(&folder.0, &line) else { return };
        assert!(is_valid, "{said}");
    }
}

/// What an authority of `openssl` works by.
const AUTHORITY: &str = "[tsa]\ndefault_tsa = t\n[t]\nserial = ./serial\nsigner_digest = sha256\n\
    default_policy = 1.2.3.4\ndigests = sha256\ness_cert_id_alg = sha256\n\
    [req]\ndistinguished_name = d\n[d]\n\
    [leaf]\nkeyUsage = critical,digitalSignature\nextendedKeyUsage = critical,timeStamping\n";

#[test]
fn cross_check_openssl_stamps_what_is_asked_for_here() {
    let folder = folder("openssl-stamp");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.0.join(name), bytes).unwrap();
    write("c.cnf", AUTHORITY.as_bytes());
    write("serial", b"01");
    let nonce = 0xfedc_ba98_7654_3210;
    write("q.tsq", &rfc3161::request(&digest(), nonce));
    for line in [
        "ecparam -name secp384r1 -genkey -noout -out key.pem",
        "req -x509 -new -key key.pem -out tsa.pem -days 30 -subj /CN=Fresh -config c.cnf -extensions leaf",
        "ts -query -in q.tsq -text",
        "ts -reply -config c.cnf -queryfile q.tsq -inkey key.pem -signer tsa.pem -out made.tsr",
        "ts -verify -in made.tsr -queryfile q.tsq -CAfile tsa.pem",
    ] {
        let Some((is_done, said)) = openssl(&folder.0, line) else { return };
        assert!(is_done, "{line}: {said}");
        assert!(!line.starts_with("ts -query") || said.contains("0xFEDCBA9876543210"), "{said}");
    }
    let made = fs::read(folder.0.join("made.tsr")).unwrap();
    assert_eq!(rfc3161::read(&made).unwrap().nonce, Some(nonce));
    let named = [authority(&fs::read_to_string(folder.0.join("tsa.pem")).unwrap())];
    let trust = Trust { authorities: &named, headers: None };
    let checked = check(AnchorClock::Rfc3161, &made, &digest(), &trust).unwrap();
    assert!(checked.proven.is_some(), "{:?}", checked.says);
    assert!(checked.on_trust.iter().any(|said| said.contains("how exact")), "{:?}", checked.on_trust);
}

/// Reads files of the command line by the reference, writes each again, and says what attests them.
const REFERENCE: &str = "import sys, warnings\n\
warnings.simplefilter('ignore')\n\
from opentimestamps.core.timestamp import DetachedTimestampFile\n\
from opentimestamps.core.serialize import BytesDeserializationContext, BytesSerializationContext\n\
for name in sys.argv[1:]:\n\
    \x20   given = open(name, 'rb').read()\n\
    \x20   read = DetachedTimestampFile.deserialize(BytesDeserializationContext(given))\n\
    \x20   written = BytesSerializationContext()\n\
    \x20   read.serialize(written)\n\
    \x20   print(written.getbytes() == given, read.file_digest.hex(), len(list(read.timestamp.all_attestations())))\n";

#[test]
fn cross_check_python_opentimestamps_reads_what_is_written_here() {
    let folder = folder("opentimestamps");
    let Some(python) = foreign::python("opentimestamps.core.timestamp") else { return };
    let (commitment, mut stamp) = Timestamp::stamp_request(&digest(), [7; 16]);
    for answer in [include_bytes!("data/answer.bin").as_slice(), &[&[0][..], &[5; 8], &[3, 1, 2, 3]].concat()]
    {
        stamp.merge(&commitment, answer).unwrap();
    }
    let written = [stamp.to_bytes().unwrap(), PENDING.to_vec(), COMPLETE.to_vec()];
    for (number, bytes) in written.iter().enumerate() {
        fs::write(folder.0.join(format!("{number}.ots")), bytes).unwrap();
    }
    let run = foreign::run(&python, &folder.0, &["-c", REFERENCE, "0.ots", "1.ots", "2.ots"], b"");
    let Some((is_done, said)) = run else { return };
    assert!(is_done, "{said}");
    let expected: Vec<String> = [2, 2, 4].iter().map(|count| format!("True {} {count}", digest())).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}
