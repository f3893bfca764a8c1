//! What nobody here wrote agrees: `sha256sum`, `openssl`, `ssh-keygen`, and where Python has them `rfc8785` and `securesystemslib`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]
#![allow(clippy::disallowed_methods, reason = "these tests run the stock tools that a stranger would run")]

mod foreign;

use std::{fs, path::PathBuf};

use seal::{
    Digest, PublicKey, SeedSigner, Signer,
    canon::to_canonical,
    disclose::conceal,
    dsse,
    note::{Checkpoint, VerifierKey},
    sshsig,
};
use serde_json::json;

/// A fresh folder under the build folder, one for each test, gone with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

fn folder(test: &str) -> Folder {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("seal-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    Folder(folder)
}

fn run(program: &str, folder: &Folder, args: &[&str], stdin: &[u8]) -> Option<(bool, String)> {
    foreign::run(program, &folder.0, args, stdin)
}

fn signer() -> SeedSigner {
    SeedSigner::from_seed([9; 32])
}

#[test]
fn cross_check_sha256sum_shows_the_digest_of_a_disclosure_file() {
    let folder = folder("sha256sum");
    let (_, disclosures) = conceal(json!({"path": {"$plain": "/home/ä"}}), "", &mut || [7; 16]).unwrap();
    let name = format!("{}.json", disclosures[0].digest);
    fs::write(folder.join(&name), &disclosures[0].bytes).unwrap();
    let Some((ok, said)) = run("sha256sum", &folder, &[&name], b"") else { return };
    assert!(ok);
    assert_eq!(said, format!("{}  {name}\n", disclosures[0].digest));
}

#[test]
fn cross_check_openssl_verifies_a_raw_signature_and_refuses_a_changed_message() {
    let folder = folder("openssl-verify");
    let message = b"3b0c  task/events.jsonl\n";
    fs::write(folder.join("key.pem"), signer().public().to_pem()).unwrap();
    fs::write(folder.join("message"), message).unwrap();
    fs::write(folder.join("message.sig"), signer().sign(message).unwrap().as_bytes()).unwrap();
    let args = [
        "pkeyutl",
        "-verify",
        "-rawin",
        "-pubin",
        "-inkey",
        "key.pem",
        "-in",
        "message",
        "-sigfile",
        "message.sig",
    ];
    let Some((ok, said)) = run("openssl", &folder, &args, b"") else { return };
    assert!(ok, "{said}");
    fs::write(folder.join("message"), b"3b0c  task/events.json1\n").unwrap();
    let (ok, said) = run("openssl", &folder, &args, b"").unwrap();
    assert!(!ok, "{said}");
}

#[test]
fn cross_check_openssl_makes_a_key_and_a_signature_that_we_verify() {
    let folder = folder("openssl-sign");
    let Some((ok, said)) = run("openssl", &folder, &["genpkey", "-algorithm", "ed25519", "-out", "key"], b"")
    else {
        return;
    };
    assert!(ok, "{said}");
    run("openssl", &folder, &["pkey", "-in", "key", "-pubout", "-out", "pub"], b"").unwrap();
    run("openssl", &folder, &["pkey", "-in", "key", "-pubout", "-outform", "DER", "-out", "der"], b"")
        .unwrap();
    fs::write(folder.join("message"), "hello").unwrap();
    let args = ["pkeyutl", "-sign", "-rawin", "-inkey", "key", "-in", "message", "-out", "sig"];
    let (ok, said) = run("openssl", &folder, &args, b"").unwrap();
    assert!(ok, "{said}");
    let pem = fs::read_to_string(folder.join("pub")).unwrap();
    let key = PublicKey::from_pem(&pem).unwrap();
    assert_eq!(key.to_pem(), pem);
    let der = fs::read(folder.join("der")).unwrap();
    assert_eq!((key.to_spki_der(), key.keyid()), (der.clone(), Digest::of(&der)));
    let signature = fs::read(folder.join("sig")).unwrap().as_slice().try_into().unwrap();
    key.verify(b"hello", &signature).unwrap();
    assert!(key.verify(b"hellp", &signature).is_err());
}

#[test]
fn cross_check_openssl_verifies_the_text_of_a_signed_checkpoint() {
    let folder = folder("openssl-note");
    let note = Checkpoint::new("hermit.local/x", 2, Digest::of(b"r")).sign(&signer()).unwrap();
    fs::write(folder.join("key.pem"), signer().public().to_pem()).unwrap();
    fs::write(folder.join("text"), &note.text).unwrap();
    fs::write(folder.join("sig"), &note.signatures[0].bytes).unwrap();
    let args =
        ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pem", "-in", "text", "-sigfile", "sig"];
    let Some((ok, said)) = run("openssl", &folder, &args, b"") else { return };
    assert!(ok, "{said}");
    let key = VerifierKey::new("hermit.local/x", signer().public()).unwrap();
    Checkpoint::open(&note.to_bytes(), "hermit.local/x", &[key]).unwrap();
}

const VERIFY: [&str; 10] = [
    "-Y",
    "verify",
    "-f",
    "allowed_signers",
    "-I",
    "manifest",
    "-n",
    "hermit-proof@v1",
    "-s",
    "message.sshsig",
];

#[test]
fn cross_check_ssh_keygen_verifies_our_signature_and_refuses_changes() {
    let folder = folder("ssh-verify");
    let message = b"line one\nline two\n";
    let line = sshsig::allowed_signers_line("manifest", sshsig::NAMESPACE, &signer().public()).unwrap();
    fs::write(folder.join("allowed_signers"), line).unwrap();
    let armored = sshsig::sign(message, sshsig::NAMESPACE, &signer()).unwrap();
    fs::write(folder.join("message.sshsig"), &armored).unwrap();
    let Some((ok, said)) = run("ssh-keygen", &folder, &VERIFY, message) else { return };
    assert!(ok, "{said}");
    let shown = sshsig::fingerprint(&signer().public());
    assert!(said.contains(&shown), "{said} lacks {shown}");
    let (ok, said) = run("ssh-keygen", &folder, &VERIFY, b"line one\nline twp\n").unwrap();
    assert!(!ok, "{said}");
    let other = sshsig::sign(message, "other", &signer()).unwrap();
    fs::write(folder.join("message.sshsig"), other).unwrap();
    let (ok, said) = run("ssh-keygen", &folder, &VERIFY, message).unwrap();
    assert!(!ok, "another namespace: {said}");
    let line = sshsig::allowed_signers_line("manifest", "other", &signer().public()).unwrap();
    fs::write(folder.join("allowed_signers"), line).unwrap();
    fs::write(folder.join("message.sshsig"), armored).unwrap();
    let (ok, said) = run("ssh-keygen", &folder, &VERIFY, message).unwrap();
    assert!(!ok, "a key for another namespace: {said}");
}

#[test]
fn cross_check_ssh_keygen_signs_with_the_key_it_made_and_we_read_it_alike() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let folder = folder("ssh-sign");
    let Some((ok, said)) =
        run("ssh-keygen", &folder, &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key"], b"")
    else {
        return;
    };
    assert!(ok, "{said}");
    let line = fs::read_to_string(folder.join("key.pub")).unwrap();
    let blob = STANDARD.decode(line.split_whitespace().nth(1).unwrap()).unwrap();
    let key = PublicKey::from_bytes(blob[blob.len() - 32..].try_into().unwrap()).unwrap();
    assert_eq!(sshsig::public_key_line(&key), line.trim_end());
    fs::write(folder.join("message"), "hello").unwrap();
    let args = ["-Y", "sign", "-f", "key", "-n", "hermit-proof@v1", "-O", "hashalg=sha256", "message"];
    let (ok, said) = run("ssh-keygen", &folder, &args, b"").unwrap();
    assert!(ok, "{said}");
    let armored = fs::read_to_string(folder.join("message.sig")).unwrap();
    sshsig::verify(&armored, b"hello", sshsig::NAMESPACE, &key).unwrap();
    assert!(sshsig::verify(&armored, b"hellp", sshsig::NAMESPACE, &key).is_err());
}

#[test]
fn cross_check_python_rfc8785_writes_the_bytes_we_write() {
    let folder = folder("rfc8785");
    let Some(python) = foreign::python("rfc8785") else { return };
    let texts =
        ["", "a\"b\\c/d", "\u{1}\u{1f}\u{7f}\u{8}\t\n\u{c}\r", "é e\u{301} 😂 \u{fb33} \u{ffff}", "$plain"];
    let mut lines = Vec::new();
    for (number, text) in
        [0, -1, 9_007_199_254_740_991_i64, -9_007_199_254_740_991, 56].into_iter().zip(texts)
    {
        let value =
            json!({text: number, "z": [text, {"\u{fb33}": null, "😂": true, "10": false, "1": {}}], "": []});
        lines.push(to_canonical(&value).unwrap());
    }
    fs::write(folder.join("lines"), lines.join(&b'\n')).unwrap();
    let program = "import json, rfc8785\n\
        lines = open('lines', 'rb').read().split(b'\\n')\n\
        print(len(lines), sum(rfc8785.dumps(json.loads(l)) == l for l in lines))";
    let (ok, said) = run(&python, &folder, &["-c", program], b"").unwrap();
    assert!(ok, "{said}");
    assert_eq!(said, "5 5\n");
}

#[test]
fn cross_check_python_securesystemslib_verifies_our_envelope_and_refuses_a_changed_one() {
    let folder = folder("securesystemslib");
    let Some(python) = foreign::python("securesystemslib.dsse, cryptography") else { return };
    let envelope = dsse::sign(dsse::IN_TOTO, "{\"subject\":\"ä\"}".as_bytes(), &signer()).unwrap();
    let mut changed = envelope.clone();
    changed.payload[2] ^= 1;
    fs::write(folder.join("good"), envelope.to_bytes().unwrap()).unwrap();
    fs::write(folder.join("changed"), changed.to_bytes().unwrap()).unwrap();
    let program = format!(
        "import json\n\
         from securesystemslib.dsse import Envelope\n\
         from securesystemslib.signer import SSlibKey\n\
         key = SSlibKey('{}', 'ed25519', 'ed25519', {{'public': '{}'}})\n\
         for name in ('good', 'changed'):\n\
         \u{20}   try:\n\
         \u{20}       Envelope.from_dict(json.load(open(name))).verify([key], 1); print(name, 'holds')\n\
         \u{20}   except Exception as error:\n\
         \u{20}       print(name, type(error).__name__)\n",
        signer().public().keyid(),
        signer().public()
    );
    let (ok, said) = run(&python, &folder, &["-c", &program], b"").unwrap();
    assert!(ok, "{said}");
    assert_eq!(said, "good holds\nchanged VerificationError\n");
}
