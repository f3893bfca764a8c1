//! Releases as `hermit-release` makes them and `hermit-verify --release` checks them, and each way in which one may be broken.

mod log;

use crate::foreign;
use proof::{MadeOf, ReleaseAsked, ReleaseParts, Verdict, make_release, release_signer, verify_release};
use seal::{Digest, PublicKey, SeedSigner, Signer as _, dsse::Envelope};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SYSTEM: &str = "x86_64-unknown-linux-gnu";

/// A source with its lock files, programs, and the place where the log is kept.
struct Workshop {
    folder: tempfile::TempDir,
    key: SeedSigner,
}

impl Workshop {
    fn new() -> Self {
        let workshop = Self { folder: tempfile::tempdir().unwrap(), key: SeedSigner::from_seed([7; 32]) };
        // The address of cargo's registry, in parts.
        let cargo = concat!(
            "version = 4\n\n[[package]]\nname = \"adler2\"\nversion = \"2.0.1\"\n",
            "source = \"registry+https://github.com/rust-lang/crates",
            ".io-index\"\nchecksum = \"00\"\n"
        );
        let npm = r#"{"packages":{"":{},"node_modules/react":{"version":"19.3.1","license":"MIT"}}}"#;
        for (path, text) in [
            ("source/Cargo.lock", cargo),
            ("source/src-tauri/sidecar/Cargo.lock", cargo),
            ("source/src-tauri/trainer/Cargo.lock", cargo),
            ("source/package-lock.json", npm),
            ("source/texts.txt", "Do what you like.\n"),
            ("source/tests/house/licences.tsv", "# name, licence\nadler2\t0BSD OR MIT/Apache-2.0\n"),
            ("built/hermit", "a program"),
            ("built/hermit-verify", "another program"),
        ] {
            let path = workshop.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        workshop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn made_by(&self, key: &SeedSigner, version: &str, out: &str) -> Result<PathBuf, proof::Error> {
        let made_of = MadeOf {
            version: version.to_owned(),
            system: SYSTEM.to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            committed_at: 1_760_100_000,
            source_sha256: Digest::of(b"the source"),
            builder: "a test".to_owned(),
            toolchain: "rustc of a test".to_owned(),
            paths_remapped: true,
        };
        let programs = ["built/hermit", "built/hermit-verify"].map(|name| self.path(name));
        let (root, log) = (self.path("source"), self.path("log"));
        let texts = self.path("source/texts.txt");
        let parts =
            ReleaseParts { made_of, programs: &programs, root: &root, log: &log, texts: Some(&texts) };
        let out = self.path(out);
        make_release(&parts, key, &out).map(|_| out)
    }

    fn made(&self, version: &str) -> PathBuf {
        self.made_by(&self.key, version, version).unwrap()
    }

    /// Puts a key that openssl made into `key.pem`, and its public half into `key.pub.pem`; false where openssl is not here.
    fn asks_openssl_for_a_key(&self) -> bool {
        let folder = self.folder.path();
        let make = ["genpkey", "-algorithm", "ed25519", "-out", "key.pem"];
        let Some((ok, said)) = foreign::run("openssl", folder, &make, b"") else { return false };
        assert!(ok, "{said}");
        let publish = ["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub.pem"];
        let (ok, said) = foreign::run("openssl", folder, &publish, b"").unwrap();
        assert!(ok, "{said}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(self.path("key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
        }
        true
    }

    fn checked(&self, release: &Path) -> Verdict {
        let keys = [self.key.public()];
        verify_release(release, &ReleaseAsked { keys: &keys, ..ReleaseAsked::default() }).unwrap().verdict
    }
}

/// Whether this is refused as changed, there, and for that.
fn is_invalid(verdict: &Verdict, at: &str, because: &str) -> bool {
    matches!(verdict, Verdict::Invalid { place, why } if place == at && why.contains(because))
}

fn lacks(verdict: &Verdict, what: &str) -> bool {
    matches!(verdict, Verdict::Incomplete { missing } if missing.iter().any(|one| one.contains(what)))
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_release_is_valid_and_one_changed_byte_in_any_file_of_it_is_refused() {
    let workshop = Workshop::new();
    let release = workshop.made("0.1.0");
    assert_eq!(workshop.checked(&release), Verdict::Valid);
    assert_eq!(workshop.checked(&release.join("release.json")), Verdict::Valid, "by its statement");
    let before = files(&release);
    assert_eq!(before.len(), 3 + 3 + 2 + 4, "{:?}", before.keys());
    for (name, bytes) in &before {
        let path = release.join(name);
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            let verdict = workshop.checked(&release);
            assert!(!matches!(verdict, Verdict::Valid), "byte {at} of {name}");
            if !name.starts_with("release") {
                assert!(is_invalid(&verdict, name, "not those that were signed"), "{name}: {verdict}");
            }
        }
        fs::write(&path, [bytes.as_slice(), b"\n"].concat()).unwrap();
        assert!(!matches!(workshop.checked(&release), Verdict::Valid), "a byte behind {name}");
        fs::remove_file(&path).unwrap();
        assert!(lacks(&workshop.checked(&release), name), "without {name}");
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(workshop.checked(&release), Verdict::Valid);
    fs::write(release.join("programs/more"), "not signed").unwrap();
    assert!(is_invalid(&workshop.checked(&release), "programs/more", "does not name it"));
}

#[test]
fn a_release_by_another_key_an_older_one_and_one_for_another_system_are_refused_by_name() {
    let workshop = Workshop::new();
    let release = workshop.made("0.2.0-rc.1");
    let keys = [workshop.key.public()];
    let ask = |asked: ReleaseAsked<'_>| verify_release(&release, &asked).map(|report| report.verdict);
    let all = ReleaseAsked { keys: &keys, ..ReleaseAsked::default() };

    let other = [SeedSigner::from_seed([8; 32]).public()];
    let verdict = ask(ReleaseAsked { keys: &other, ..all }).unwrap();
    assert!(matches!(&verdict, Verdict::Unverifiable { why } if why.contains("another key")), "{verdict}");
    // Whoever has two keys may take either.
    let both: Vec<PublicKey> = other.into_iter().chain(keys).collect();
    assert_eq!(ask(ReleaseAsked { keys: &both, ..all }).unwrap(), Verdict::Valid);

    for have in ["0.1.9", "0.2.0-beta", "0.2.0-rc.1"] {
        let verdict = ask(ReleaseAsked { not_older: Some(have), ..all }).unwrap();
        assert_eq!(verdict, Verdict::Valid, "{have}");
    }
    for have in ["0.2.0-rc.2", "0.2.0", "0.10.0", "1.0.0"] {
        let verdict = ask(ReleaseAsked { not_older: Some(have), ..all }).unwrap();
        assert!(is_invalid(&verdict, "release.json", &format!("older than {have}")), "{verdict}");
    }
    assert!(ask(ReleaseAsked { not_older: Some("newest"), ..all }).is_err(), "no version");

    assert_eq!(ask(ReleaseAsked { system: Some(SYSTEM), ..all }).unwrap(), Verdict::Valid);
    let verdict = ask(ReleaseAsked { system: Some("aarch64-apple-darwin"), ..all }).unwrap();
    assert!(is_invalid(&verdict, "release.json", "it is for x86_64-unknown-linux-gnu"), "{verdict}");
}

/// Signs a statement that was changed, with the key of the release, and makes its place in the log anew.
fn signed_again(workshop: &Workshop, release: &Path, change: impl Fn(&mut serde_json::Value)) {
    signed_by(&workshop.key, &workshop.key, release, change);
}

/// The same with a key for the statement and one for the head of the log.
fn signed_by(key: &SeedSigner, of_log: &SeedSigner, release: &Path, change: impl Fn(&mut serde_json::Value)) {
    use seal::note::Checkpoint;
    use seal::tlog_proof::TlogProof;
    let envelope = Envelope::parse(&fs::read(release.join("release.json")).unwrap()).unwrap();
    let mut statement: serde_json::Value = serde_json::from_slice(&envelope.payload).unwrap();
    change(&mut statement);
    let payload = seal::canon::canonical_value(&statement).unwrap();
    let envelope = seal::dsse::sign(seal::dsse::IN_TOTO, &payload, key).unwrap().to_bytes().unwrap();
    let leaf = seal::merkle::leaf_hash(&envelope);
    let head = Checkpoint::new("hermit.local/releases", 1, leaf).sign(of_log).unwrap();
    fs::write(release.join("release.json"), envelope).unwrap();
    fs::write(release.join("releases.log"), format!("hermit-releases 1\n{leaf}\n")).unwrap();
    fs::write(release.join("release.tlog-proof"), TlogProof::new(0, Vec::new(), head).to_text()).unwrap();
}

#[test]
fn a_release_without_a_list_of_components_or_with_one_that_leaves_something_out_is_refused() {
    let workshop = Workshop::new();
    let release = workshop.made("0.1.0");
    let bom = fs::read(release.join("bom.cdx.json")).unwrap();
    let list: serde_json::Value = serde_json::from_slice(&bom).unwrap();
    assert_eq!((&list["bomFormat"], &list["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    assert_eq!(list["metadata"]["timestamp"], "2025-10-10T12:40:00Z");
    let components = list["components"].as_array().unwrap();
    let told: Vec<_> = components
        .iter()
        .map(|one| (one["purl"].as_str(), one["licenses"][0]["expression"].as_str()))
        .collect();
    let wanted = [("pkg:cargo/adler2@2.0.1", "0BSD OR MIT OR Apache-2.0"), ("pkg:npm/react@19.3.1", "MIT")];
    assert_eq!(told, wanted.map(|(purl, licence)| (Some(purl), Some(licence))));

    // Signed again without it: nobody has to have a list that the statement does not name.
    signed_again(&workshop, &release, |_| {});
    assert_eq!(workshop.checked(&release), Verdict::Valid, "signed again as it was");
    fs::remove_file(release.join("bom.cdx.json")).unwrap();
    assert!(lacks(&workshop.checked(&release), "SBOM"));
    signed_again(&workshop, &release, |statement| {
        statement["subject"].as_array_mut().unwrap().retain(|one| one["name"] != "bom.cdx.json");
        statement["predicate"]["sizes"].as_object_mut().unwrap().remove("bom.cdx.json");
    });
    assert!(lacks(&workshop.checked(&release), "SBOM"));

    let with = |list: &serde_json::Value| {
        let release = workshop.made_by(&workshop.key, "0.1.0", "listed").unwrap();
        let bytes = serde_json::to_vec(list).unwrap();
        fs::write(release.join("bom.cdx.json"), &bytes).unwrap();
        signed_again(&workshop, &release, |statement| {
            let subjects = statement["subject"].as_array_mut().unwrap();
            let bom = subjects.iter_mut().find(|one| one["name"] == "bom.cdx.json").unwrap();
            bom["digest"]["sha256"] = Digest::of(&bytes).to_string().into();
            statement["predicate"]["sizes"]["bom.cdx.json"] = bytes.len().into();
        });
        let verdict = workshop.checked(&release);
        fs::remove_dir_all(release).unwrap();
        verdict
    };
    assert_eq!(with(&list), Verdict::Valid, "the same list in another spelling");
    let mut fewer = list.clone();
    fewer["components"].as_array_mut().unwrap().pop();
    assert!(is_invalid(&with(&fewer), "bom.cdx.json", "it leaves out `pkg:npm/react@19.3.1`"));
    let mut more = list.clone();
    more["components"][0]["purl"] = "pkg:cargo/other@1.0.0".into();
    assert!(is_invalid(&with(&more), "bom.cdx.json", "pkg:cargo/"));
    // A lock tells name and version, and a licence or a digest where it has one: the list says the same of each.
    for (at, what, change) in [
        (0_usize, "name", ("name", serde_json::json!("adler"))),
        (0, "version", ("version", "2.0.0".into())),
        (0, "digest", ("hashes", serde_json::json!([{ "alg": "SHA-256", "content": "01" }]))),
        (0, "digest", ("hashes", serde_json::json!([]))),
        (1, "licence", ("licenses", serde_json::json!([{ "expression": "0BSD" }]))),
        (1, "licence", ("licenses", serde_json::json!([{ "license": { "id": "MIT" } }]))),
    ] {
        let mut other = list.clone();
        other["components"][at][change.0] = change.1;
        let verdict = with(&other);
        assert!(
            is_invalid(&verdict, "bom.cdx.json", &format!("it has another {what} of `pkg:")),
            "{verdict}"
        );
    }
    let mut of_another = list.clone();
    of_another["metadata"]["properties"][0]["value"] = "00".into();
    assert!(is_invalid(&with(&of_another), "bom.cdx.json", "made of another `Cargo.lock`"));
    assert!(is_invalid(&with(&serde_json::json!({})), "bom.cdx.json", "not a list of components"));
}

#[test]
fn what_is_larger_or_more_than_in_any_release_is_refused_before_it_is_read() {
    let workshop = Workshop::new();
    let release = workshop.made("0.1.0");
    for (name, bytes) in
        [("release.json", 4 << 20), ("release.tlog-proof", 1_000_000), ("releases.log", 4 << 20)]
    {
        let path = release.join(name);
        let before = fs::read(&path).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(bytes + 1).unwrap();
        assert!(is_invalid(&workshop.checked(&release), name, "more than the"), "{name}");
        fs::write(&path, before).unwrap();
    }
    assert_eq!(workshop.checked(&release), Verdict::Valid);
    for number in 0..1_100 {
        fs::write(release.join(format!("programs/{number}")), b"").unwrap();
    }
    assert!(is_invalid(&workshop.checked(&release), "the folder", "more files than any release"));
    fs::remove_dir_all(release.join("programs")).unwrap();
    fs::create_dir_all(release.join("a/b/c/d/e/f/g/h/i/j")).unwrap();
    let verdict = workshop.checked(&release);
    assert!(is_invalid(&verdict, "a/b/c/d/e/f/g/h/i", "only plain files in few folders"), "{verdict}");
}

#[test]
fn the_same_parts_give_the_same_bytes_wherever_they_lie() {
    let (one, other) = (Workshop::new(), Workshop::new());
    let (one, other) = (files(&one.made("0.1.0")), files(&other.made("0.1.0")));
    assert_eq!(one, other);
}

#[cfg(unix)]
#[test]
fn a_link_a_pipe_and_a_name_that_leads_elsewhere_are_no_files_of_a_release() {
    let workshop = Workshop::new();
    let release = workshop.made("0.1.0");
    let program = release.join("programs/hermit");
    let aside = workshop.path("aside");
    fs::rename(&program, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &program).unwrap();
    assert!(is_invalid(&workshop.checked(&release), "programs/hermit", "only plain files"));
    fs::remove_file(&program).unwrap();
    fs::rename(&aside, &program).unwrap();
    for name in ["../hermit", "programs/../hermit", "programs/a/b", "hermit", "/programs/x"] {
        let release = workshop.made_by(&workshop.key, "0.1.0", "named").unwrap();
        signed_again(&workshop, &release, |statement| {
            let subject = &mut statement["subject"].as_array_mut().unwrap()[6];
            let was = subject["name"].as_str().unwrap().to_owned();
            subject["name"] = name.into();
            let sizes = statement["predicate"]["sizes"].as_object_mut().unwrap();
            let size = sizes.remove(&was).unwrap();
            sizes.insert(name.to_owned(), size);
        });
        let verdict = workshop.checked(&release);
        assert!(is_invalid(&verdict, "release.json", "is not a file of a release"), "{name}: {verdict}");
        fs::remove_dir_all(release).unwrap();
    }
}

#[test]
fn the_lock_files_of_this_source_make_a_list_in_which_every_crate_has_a_licence() {
    let workshop = Workshop::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let made_of = MadeOf {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        system: SYSTEM.to_owned(),
        commit: "0".repeat(40),
        committed_at: 0,
        source_sha256: Digest::ZERO,
        builder: "a test".to_owned(),
        toolchain: "rustc of a test".to_owned(),
        paths_remapped: false,
    };
    let programs = [workshop.path("built/hermit")];
    let (log, out) = (workshop.path("log"), workshop.path("out"));
    let parts = ReleaseParts { made_of, programs: &programs, root, log: &log, texts: None };
    make_release(&parts, &workshop.key, &out).unwrap();
    assert_eq!(workshop.checked(&out), Verdict::Valid);
    let list: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("bom.cdx.json")).unwrap()).unwrap();
    let components = list["components"].as_array().unwrap();
    assert!(components.len() > 800, "{}", components.len());
    let bare = components.iter().find(|one| one["licenses"].is_null());
    assert!(bare.is_none(), "{bare:?}");
}

/// What a program said on both streams, and its exit code.
fn call(program: &str, words: &[&str], stdin: &[u8]) -> (i32, String) {
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[test]
fn cross_check_the_programs_make_and_check_a_release_with_a_key_of_openssl() {
    let workshop = Workshop::new();
    if !workshop.asks_openssl_for_a_key() {
        return;
    }
    let path = |name: &str| workshop.path(name).to_str().unwrap().to_owned();
    let commit = "a".repeat(40);
    let (secret, log, root, program) = (path("key.pem"), path("log"), path("source"), path("built/hermit"));
    let made = |out: &str| {
        let words: &[&str] = &[
            "--key",
            &secret,
            "--out",
            out,
            "--log",
            &log,
            "--root",
            &root,
            "--version",
            "0.1.0",
            "--system",
            SYSTEM,
            "--commit",
            &commit,
            "--committed-at",
            "1760100000",
            "--builder",
            "a test",
            "--toolchain",
            "rustc",
            &program,
        ];
        call(env!("CARGO_BIN_EXE_hermit-release"), words, b"the source")
    };
    let (out, public) = (path("out"), path("key.pub.pem"));
    let (code, said) = made(&out);
    assert_eq!(code, 0, "{said}");
    assert_eq!(made(&out).0, 2, "the place is taken");

    let verify = |words: &[&str]| call(env!("CARGO_BIN_EXE_hermit-verify"), words, b"");
    let (code, said) =
        verify(&["--release", &out, "--key", &public, "--not-older", "0.1.0", "--system", SYSTEM]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("valid: release 0.1.0 for ") && said.contains("\nonly asserted:\n"), "{said}");
    let (code, said) = verify(&["--release", &out, "--key", &public, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (code, &report["verdict"], &report["release"]["components"]),
        (0, &"valid".into(), &2_u64.into())
    );
    assert_eq!(report["release"]["made_of"]["source_sha256"], Digest::of(b"the source").to_string());
    assert_eq!(verify(&["--release", &out, "--key", &public, "--not-older", "0.1.1"]).0, 5);
    let stranger = path("stranger.pem");
    fs::write(&stranger, workshop.key.public().to_pem()).unwrap();
    assert_eq!(verify(&["--release", &out, "--key", &stranger]).0, 6);
    for wrong in [
        &["--release", out.as_str()][..],
        &["--release"],
        &["--release", &out, "--key", &commit],
        &["--release", &out, "x"],
    ] {
        assert_eq!(verify(wrong).0, 2, "{wrong:?}");
    }

    fs::remove_file(Path::new(&out).join("bom.cdx.json")).unwrap();
    let (code, said) = verify(&["--release", &out, "--key", &public]);
    assert!(code == 7 && said.contains("SBOM"), "{said}");
}

#[test]
fn cross_check_openssl_verifies_what_the_release_key_signed() {
    let workshop = Workshop::new();
    if !workshop.asks_openssl_for_a_key() {
        return;
    }
    let folder = workshop.folder.path();
    let key = release_signer(&fs::read_to_string(workshop.path("key.pem")).unwrap()).unwrap();
    assert_eq!(key.public().to_pem(), fs::read_to_string(workshop.path("key.pub.pem")).unwrap());
    let release = workshop.made_by(&key, "0.1.0", "out").unwrap();
    let envelope = Envelope::parse(&fs::read(release.join("release.json")).unwrap()).unwrap();
    fs::write(workshop.path("signature"), envelope.signatures[0].sig.as_bytes()).unwrap();
    let by_openssl = |signed: &[u8]| {
        fs::write(workshop.path("signed"), signed).unwrap();
        let verify = "pkeyutl -verify -rawin -pubin -inkey key.pub.pem -in signed -sigfile signature";
        foreign::run("openssl", folder, &verify.split(' ').collect::<Vec<_>>(), b"").unwrap().0
    };
    assert!(by_openssl(&envelope.pae()));
    assert!(!by_openssl(&envelope.payload), "the payload alone is not what was signed");
}
