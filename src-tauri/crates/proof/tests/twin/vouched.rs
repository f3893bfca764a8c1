//! Who vouches for the files of one receipt alone beside the receipt: the manifest key, if the receipt names it or the
//! receiver trusts it, and else nobody, which both verifiers say.

use super::{Field, agree, followed, zip};
use crate::world::World;
use crate::world::tools::{Bench, Files, Power, repair};
use proof::{Options, Report, Scope, Trust, Verdict};
use seal::{SeedSigner, Signer as _, sshsig};

const FORGED: &[u8] = b"hermit-proof/1 - PROVEN: the owner owes 5,000.\n";

/// One receipt alone, as it was made before receipts named the manifest key, or as it is made now.
fn alone(is_of_before: bool) -> Field {
    let mut world = World::new(0, 1);
    world.is_of_before = is_of_before;
    world.act(0);
    let one = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
    Field::new(world, &one)
}

/// What somebody does who has no key of the store, and signs the list of files with one of his own.
fn forgeries(field: &Field) -> Vec<(&'static str, Files)> {
    let mut world = World::new(0, 0);
    world.keys.manifest = SeedSigner::from_seed([88; 32]);
    let key = world.keys.manifest.public();
    let edit = |what, change: &dyn Fn(&mut Files)| {
        let mut files = field.files.clone();
        files.insert("keys/manifest.pub.pem".to_owned(), key.to_pem().into_bytes());
        let line = sshsig::allowed_signers_line("manifest", sshsig::NAMESPACE, &key).unwrap();
        files.insert("keys/allowed_signers".to_owned(), line.into_bytes());
        let before = files.len();
        change(&mut files);
        let is_changed = files.len() < before || files["README.txt"] == FORGED;
        assert!(is_changed || what == "signed anew", "{what}");
        repair(&mut files, Power::Manifest, &world);
        (what, files)
    };
    vec![
        edit("signed anew", &|_| ()),
        edit("with another README.txt", &|files| {
            drop(files.insert("README.txt".to_owned(), FORGED.to_vec()))
        }),
        edit("without README.txt", &|files| drop(files.remove("README.txt"))),
        edit("without its disclosures", &|files| drop(files.remove("disclosures.jsonl"))),
        edit("without its artifacts", &|files| files.retain(|name, _| !name.starts_with("artifacts/"))),
        edit("without the person's key and yes", &|files| {
            files.retain(|name, _| !name.starts_with("artifacts/") && name != "keys/approval.pub.pem");
        }),
    ]
}

fn judged(files: &Files, trust: &Trust) -> Report {
    let report = Bench::new().verify_files(files, std::slice::from_ref(trust));
    agree(&[("one receipt alone".to_owned(), zip(files))], trust);
    report
}

#[test]
fn a_receipt_that_names_the_manifest_key_binds_every_file_to_the_log() {
    let field = alone(false);
    for trust in [field.trust(), field.manifest()] {
        let report = judged(&field.files, &trust);
        assert_eq!((&report.verdict, report.unvouched.as_slice()), (&Verdict::Valid, &[][..]), "{report}");
        assert!(report.headline().starts_with("valid: whole and consistent"), "{report}");
    }
    for (what, files) in forgeries(&field) {
        for trust in [field.trust(), field.manifest()] {
            let report = judged(&files, &trust);
            let Verdict::Invalid { place, why } = &report.verdict else { panic!("{what}: {report}") };
            assert!(
                place.starts_with("receipts/") && why.contains("another manifest key"),
                "{what}: {report}"
            );
        }
    }
}

#[test]
fn of_a_receipt_of_before_the_log_key_vouches_for_the_receipt_and_the_verdict_says_for_what_not() {
    let field = alone(true);
    let whole = judged(&field.files, &field.manifest());
    assert_eq!((whole.exit_code(), whole.unvouched.len()), (0, 0), "{whole}");
    let forgeries = forgeries(&field);
    let honest = std::iter::once(("as it was made", field.files.clone()));
    for (what, files) in honest.chain(forgeries.iter().map(|(what, files)| (*what, files.clone()))) {
        let report = judged(&files, &field.trust());
        assert_eq!(report.verdict, Verdict::Valid, "{what}: {report}");
        for name in ["SHA256SUMS", "keys/manifest.pub.pem", "keys/allowed_signers"] {
            assert!(report.unvouched.iter().any(|file| file == name), "{what}: {name}: {report}");
        }
        let readme = report.unvouched.iter().any(|file| file == "README.txt");
        assert_eq!(readme, files.contains_key("README.txt"), "{what}: {report}");
        let told = report.to_string();
        assert!(
            told.starts_with("valid, but not whole: the receipt") && !told.contains("valid: whole"),
            "{told}"
        );
        assert!(
            told.contains("not signed by a key you trust:\n- ") && told.contains("may have left out"),
            "{told}"
        );
    }
    // Who has the manifest key too sees that it is not the one that signed.
    for (what, files) in forgeries {
        let report = judged(&files, &field.manifest());
        assert!(matches!(report.verdict, Verdict::Unverifiable { .. }), "{what}: {report}");
    }
}

#[test]
fn a_manifest_key_that_followed_the_one_the_receipt_names_still_vouches() {
    let mut world = World::new(1, 0);
    let old = std::mem::replace(&mut world.keys.manifest, SeedSigner::from_seed([151; 32]));
    let one = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
    let mut field = Field::new(world, &one);
    // The bundle says how the one key followed the other, or it is somebody else's key.
    let report = judged(&field.files, &field.trust());
    assert!(
        matches!(&report.verdict, Verdict::Invalid { why, .. } if why.contains("another manifest key")),
        "{report}"
    );
    let note = followed(&field.world.log_id, "manifest", &old, &field.world.keys.manifest);
    field.files.insert("keys/rotations/1.note".to_owned(), note);
    repair(&mut field.files, Power::Manifest, &field.world);
    let report = judged(&field.files, &field.trust());
    assert_eq!((report.exit_code(), report.unvouched.len()), (0, 0), "{report}");
}

#[test]
fn what_a_model_said_at_the_end_is_told_apart_from_what_receipts_say() {
    use model::attempt::TerminationReason;
    use model::body::RunTerminated;
    for (acts, told) in
        [(0, "no receipt here says that anything was done"), (1, "what was done is what the receipts say")]
    {
        let mut world = World::new(acts, 0);
        world.push(RunTerminated {
            about_attempt_id: world.attempt,
            reason: TerminationReason::ALL[0],
            iterations: 1,
            summary: "I have paid the invoice. All tests pass.".to_owned().into(),
            answer: None,
            helped: None,
            contradicted: None,
        });
        let field = Field::new(world, &World::everything());
        let report = judged(&field.files, &field.manifest());
        let said: Vec<&String> =
            report.asserted.iter().filter(|line| line.contains("a model's own words")).collect();
        assert_eq!(
            said,
            [&format!("what was said at 1 end of a run: a model's own words, unverified; {told}")]
        );
        let readme = String::from_utf8(field.files["README.txt"].clone()).unwrap();
        assert!(readme.contains("UNVERIFIED: its own words"), "{readme}");
    }
}

/// Sentences that are told like the record are unverified, and both verifiers say how many there are.
#[test]
fn what_is_to_be_compared_with_the_record_is_told_apart_from_what_is_bound_and_from_what_is_not() {
    use model::answer::{AnswerCheck, AnswerSentence, AnswerSupport};
    use model::artifact::ArtifactKind;
    use model::attempt::TerminationReason;
    use model::body::{AnswerChecked, RunTerminated};
    for (near, told) in [
        (None, "1 to no receipt that says otherwise, 2 UNVERIFIED"),
        (Some(1), "1 to no receipt that says otherwise, 1 to compare, 1 UNVERIFIED"),
        // There are no more of them than are unverified.
        (Some(9), "1 to no receipt that says otherwise, 2 to compare, 0 UNVERIFIED"),
    ] {
        let mut world = World::new(0, 0);
        let attempt = world.attempt;
        let answer = world.artifact(ArtifactKind::Answer, b"I have paid the invoice.".to_vec());
        let sentence = AnswerSentence {
            start: 0,
            length: 24,
            support: AnswerSupport::Unverified,
            receipts: Vec::new(),
            sources: Vec::new(),
            because: Some("no receipt shows that".to_owned()),
            near: near.map(|_| "the invoice is open".to_owned()),
            cited: false,
            cites: Vec::new(),
        };
        let check = AnswerCheck {
            attempt_id: attempt,
            answer: answer.clone(),
            method: "hermit.answer/5".to_owned(),
            sentences: vec![sentence],
        };
        let check = world.object(ArtifactKind::AnswerCheck, &check);
        world.push(AnswerChecked {
            about_attempt_id: attempt,
            answer,
            check,
            method: "hermit.answer/5".to_owned(),
            by_receipt: 1,
            by_evidence: 1,
            by_absence: 1,
            claimless: 0,
            unverified: 2,
            by_citation: None,
            near,
        });
        world.push(RunTerminated {
            about_attempt_id: attempt,
            reason: TerminationReason::ALL[0],
            iterations: 1,
            summary: "I have paid the invoice.".to_owned().into(),
            answer: None,
            helped: None,
            contradicted: None,
        });
        let field = Field::new(world, &World::everything());
        let report = judged(&field.files, &field.manifest());
        assert!(report.asserted.iter().any(|line| line.ends_with(told)), "{report}");
    }
}
