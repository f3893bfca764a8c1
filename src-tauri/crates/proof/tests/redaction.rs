//! What is withheld cannot be read anywhere in the bundle, everything still verifies, and the preview tells the truth.

use crate::world::World;
use crate::world::tools::{Files, files_of};
use proof::{Include, Options, Redact, Scope, Trust, Verdict, export_to, preview, verify};
use seal::Signer as _;
use std::collections::BTreeSet;

fn bundle(world: &World, options: &Options) -> (Files, proof::Report) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    export_to(world, world.signers(), world.task, options, &path).unwrap();
    let report = verify(&path, &[Trust::from(world.keys.log.public())]).unwrap();
    (files_of(&path), report)
}

fn holds(files: &Files, text: &str) -> bool {
    let mut payloads = files.values().cloned().collect::<Vec<_>>();
    payloads.extend(
        files.values().filter_map(|b| seal::dsse::Envelope::parse(b).ok()).map(|envelope| envelope.payload),
    );
    payloads.iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

const PATH: &str = "notes/0.txt";
const TEXT: &str = "which a person may want to keep to themselves";
const SPOKEN_PATH: &str = "folder \u{dc}n\u{ef}code/";

fn profile(word: &str) -> Redact {
    Redact::parse(&[word.to_owned()]).unwrap()
}

#[test]
fn each_profile_withholds_what_it_says_in_every_scope_and_everything_still_verifies() {
    let world = World::new(1, 4);
    let scopes = [Scope::Task, Scope::Receipt(world.receipts[0]), Scope::Span { first: 1, last: 18 }];
    for scope in scopes {
        for (word, path, text) in
            [("none", true, true), ("paths", false, true), ("content", true, false), ("all", false, false)]
        {
            let redact = profile(word);
            let options = Options { scope, artifacts: redact.standard_artifacts(), redact, since: None };
            let (files, report) = bundle(&world, &options);
            assert_eq!(report.verdict, Verdict::Valid, "{word}: {report}");
            assert_eq!(holds(&files, PATH), path, "{word} in {scope:?}: the path");
            if scope == Scope::Task {
                assert_eq!(holds(&files, TEXT), text, "{word}: the text");
                assert_eq!(holds(&files, SPOKEN_PATH), word == "none", "{word}: a path inside a text");
            }
            assert_eq!(
                report.counts.redacted > 0,
                word != "none" || report.counts.disclosed == 0,
                "{report}"
            );
            let told = report.not_shown.iter().any(|s| s.contains(&format!("--redact {word}")));
            assert_eq!(told, word != "none" && !matches!(scope, Scope::Receipt(_)), "{report}");
        }
    }
}

#[test]
fn json_pointers_withhold_what_stands_at_or_below_them_and_nothing_beside() {
    let world = World::new(1, 2);
    let all = bundle(&world, &Options { artifacts: Include::None, ..Options::default() }).1.counts.disclosed;
    for (pointer, gone) in [
        ("/payload/goal", 3),
        ("/payload/go", 0),
        ("/predicate/changes", 1),
        ("/predicate/observed/0", 1),
        ("/predicate/result_summary", 1),
        ("/payload", all - 3),
    ] {
        let redact = Redact::parse(&[pointer.to_owned()]).unwrap();
        let options = Options { artifacts: Include::None, redact, ..Options::default() };
        let (_, report) = bundle(&world, &options);
        assert_eq!(report.verdict, Verdict::Valid, "{pointer}: {report}");
        assert_eq!((report.counts.redacted, report.counts.disclosed), (gone, all - gone), "{pointer}");
    }
    let both = ["/payload/goal".to_owned(), "/predicate/result_summary".to_owned()];
    let redact = Redact::parse(&both).unwrap();
    let (_, report) = bundle(&world, &Options { artifacts: Include::None, redact, ..Options::default() });
    assert_eq!(report.counts.redacted, 4);
    for words in [&["goal"][..], &["all", "/payload"], &["/a~2"], &["ALL"], &[""]] {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let refused = Redact::parse(&words).unwrap_err().to_string();
        assert!(refused.contains("paths, content or all"), "{refused}");
    }
}

#[test]
fn the_preview_tells_exactly_what_the_bundle_then_carries_and_writes_nothing() {
    let world = World::new(2, 3);
    for word in ["none", "paths", "content", "all"] {
        for scope in [Scope::Task, Scope::Receipt(world.receipts[1]), Scope::Span { first: 3, last: 20 }] {
            let redact = profile(word);
            let options = Options { scope, artifacts: redact.standard_artifacts(), redact, since: None };
            let told = preview(&world, world.task, &options).unwrap();
            let (files, report) = bundle(&world, &options);
            let values: u64 = told.leaves.iter().map(|leaf| leaf.count).sum();
            assert_eq!(values, report.counts.disclosed, "{word} {scope:?}");
            assert_eq!(told.withheld, report.counts.redacted, "{word} {scope:?}");
            let artifacts: u64 = told.artifacts.iter().map(|kind| kind.count).sum();
            assert_eq!(artifacts, report.counts.artifacts, "{word} {scope:?}");
            assert_eq!((told.events, told.receipts), (report.counts.events, report.counts.receipts));
            let bytes: u64 = told.artifacts.iter().map(|kind| kind.bytes).sum();
            let carried = files.iter().filter(|(name, _)| name.starts_with("artifacts/"));
            assert_eq!(bytes, carried.map(|(_, b)| b.len() as u64).sum::<u64>());
            let places: BTreeSet<&str> = told.leaves.iter().map(|leaf| leaf.pointer.as_str()).collect();
            assert_eq!(places.len(), told.leaves.len(), "each place once");
            assert!(!places.iter().any(|place| place.contains("/0")), "{places:?}");
        }
    }
}
