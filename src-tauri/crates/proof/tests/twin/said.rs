//! What receipts, events and the bundle's statement may not say, also when every key of the store has signed it: one
//! wrong word at a time, refused by both verifiers.

use super::{Field, agree, insider, zip};
use crate::world::World;
use crate::world::tools::{Bench, Files, Power, repair};
use model::body::EffectDispatched;
use model::{ActionRequestId, GrantId};
use proof::{Options, Scope, Verdict};
use seal::Digest;
use serde_json::{Value, json};

/// One way to say something, and a word of the refusal; none where it may be said.
type Edit = fn(&mut Value);
type Saying = (&'static str, Option<&'static str>, Edit);

/// A digest by which nobody goes.
fn nobody() -> String {
    Digest::of(b"nobody").to_string()
}

/// A digest of another kind, for its length.
fn longer() -> String {
    nobody().repeat(2)
}

const SIGNER: Option<&str> = Some("another signer");
const SUBJECT: Option<&str> = Some("a subject has no SHA-256 digest, or more than that");
const KIND: Option<&str> = Some("not the statement of a receipt");

fn receipts() -> Vec<Saying> {
    vec![
        ("what it said", None, |_| ()),
        ("another signer", SIGNER, |s| s["predicate"]["signer_ref"] = json!({ "value": nobody() })),
        ("no signer", SIGNER, |s| s["predicate"]["signer_ref"] = json!({ "absent": "unavailable" })),
        ("a subject with two digests", SUBJECT, |s| {
            s["subject"][0]["digest"]["sha512"] = longer().into();
        }),
        ("a subject with another digest", SUBJECT, |s| {
            s["subject"][0]["digest"] = json!({ "sha512": longer() });
        }),
        ("a subject without a digest", SUBJECT, |s| s["subject"][0]["digest"] = json!({})),
        ("a subject whose digest is none", SUBJECT, |s| {
            s["subject"][0]["digest"]["sha256"] = nobody().to_uppercase().into();
        }),
        ("a second subject with two digests", SUBJECT, |s| {
            let digests = json!({ "sha256": nobody(), "sha512": longer() });
            s["subject"].as_array_mut().unwrap().push(json!({ "digest": digests }));
        }),
        ("a subject with a name of before", None, |s| s["subject"][0]["name"] = json!({ "$sd": nobody() })),
        ("a subject with the name of something else", Some("it does not open `/subject/0/name`"), |s| {
            s["subject"][0]["name"] = s["predicate"]["result_summary"].clone();
        }),
        ("a subject with a name in plain text", Some("invalid type"), |s| {
            s["subject"][0]["name"] = json!("x")
        }),
        ("no subject at all", None, |s| s["subject"] = json!([])),
        ("another manifest key", Some("another manifest key"), |s| {
            s["predicate"]["manifest_ref"] = nobody().into();
        }),
        ("another kind of statement", KIND, |s| s["_type"] = "https://in-toto.io/Statement/v0.1".into()),
        ("another kind of predicate", KIND, |s| s["predicateType"] = "https://example.org/v1".into()),
    ]
}

const OURS: Option<&str> = Some("not the statement of a hermit-proof/1 bundle");
const SPAN: Option<&str> = Some("its span is none of the task's events");
const KEYS: Option<&str> = Some("other keys than those in keys/");

fn statements() -> Vec<Saying> {
    vec![
        ("what it said", None, |_| ()),
        ("another kind of statement", OURS, |s| s["_type"] = "https://in-toto.io/Statement/v0.1".into()),
        ("another kind of predicate", OURS, |s| s["predicateType"] = "https://hermit.local/proof/v2".into()),
        ("another format", OURS, |s| s["predicate"]["bundle"] = "hermit-proof/2".into()),
        ("another canonical form", OURS, |s| s["predicate"]["canon"] = "jcs/1".into()),
        ("another log", Some("another key, log or task"), |s| s["predicate"]["log_id"] = "another".into()),
        ("no events", Some("an empty log proves nothing"), |s| s["predicate"]["task_size"] = 0.into()),
        ("more events", Some("size or root is not the statement's"), |s| {
            s["predicate"]["task_size"] = (s["predicate"]["task_size"].as_u64().unwrap() + 1).into();
        }),
        ("another root", Some("size or root is not the statement's"), |s| {
            s["predicate"]["task_root"] = nobody().into();
        }),
        ("another key", KEYS, |s| s["predicate"]["keys"]["log"] = nobody().into()),
        ("no key of a person", KEYS, |s| {
            s["predicate"]["keys"].as_object_mut().unwrap().remove("approval");
        }),
        ("one receipt", Some("one receipt alone has no statement"), |s| {
            s["predicate"]["receipt_id"] = "rcp_0199c82cc04c7cbea98920b50037fcfb".into();
        }),
        ("a span from nowhere", SPAN, |s| s["predicate"]["span"] = json!([0, 1])),
        ("a span backwards", SPAN, |s| s["predicate"]["span"] = json!([2, 1])),
        ("a span beyond the end", SPAN, |s| {
            s["predicate"]["span"] = json!([1, s["predicate"]["task_size"].as_u64().unwrap() + 1]);
        }),
        ("a span beside all events", Some("does not belong into a bundle of this scope"), |s| {
            s["predicate"]["span"] = json!([1, 1]);
        }),
        ("a subject less", Some("its subjects are not the files"), |s| {
            s["subject"].as_array_mut().unwrap().pop();
        }),
        ("its subjects backwards", Some("its subjects are not the files"), |s| {
            s["subject"].as_array_mut().unwrap().reverse();
        }),
        ("more than a statement has", Some("unknown field"), |s| s["predicate"]["more"] = 1.into()),
        ("another time", None, |s| s["predicate"]["exported_at_ms"] = 1.into()),
    ]
}

fn events() -> Vec<(&'static str, Saying)> {
    let goal = "task.goal_changed";
    vec![
        (goal, ("of a type of tomorrow", None, |e| e["event_type"] = "task.dreamt_of".into())),
        ("action.requested", ("in a shape of tomorrow", None, |e| e["schema_version"] = 9.into())),
        (
            goal,
            ("of another task", Some("it belongs to task"), |e| {
                e["task_id"] = "task_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b".into();
            }),
        ),
        (goal, ("in another canonical form", Some("is not ours"), |e| e["canon"] = "jcs/1".into())),
        (
            "receipt.issued",
            ("of another class", Some("it says otherwise than event"), |e| {
                e["payload"]["result_code"] = "failed".into();
            }),
        ),
        (
            "effect.dispatched",
            ("under an entry that is not here", Some("gate entry under which event"), |e| {
                e["payload"]["audit_entry_sha256"] = nobody().into();
            }),
        ),
    ]
}

/// A bundle, what it says, and a word of the refusal.
type Judged = (&'static str, Option<&'static str>, Files);

/// Both verifiers on every bundle: refused with the word, or as valid as it may be.
fn judged(field: &Field, said: Vec<Judged>) {
    let (bench, mut zips, mut valid) = (Bench::new(), Vec::new(), 0);
    for (what, word, files) in said {
        let zip = zip(&files);
        let report = bench.verify(&zip, &[field.trust()]);
        match (word, &report.verdict) {
            (None, Verdict::Valid) => valid += 1,
            (Some(word), Verdict::Invalid { .. } | Verdict::Incomplete { .. }) => {
                assert!(report.headline().contains(word), "{what}: {report}");
            }
            _ => panic!("{what}: {report}"),
        }
        zips.push((what.to_owned(), zip));
    }
    if let Some(theirs) = agree(&zips, &field.trust()) {
        assert_eq!(theirs, valid);
    }
}

fn whole() -> Field {
    Field::new(World::new(1, 1), &World::everything())
}

/// All that is judged here and is whole and signed, by what it is about; the kit of vectors has it too.
pub fn all() -> Vec<(&'static str, Vec<Judged>)> {
    let field = whole();
    let refused = of_entries(&field).into_iter().find(|(_, word, _)| word.is_some());
    vec![
        ("effect", refused.into_iter().collect()),
        ("receipt", of_receipts(&field)),
        ("statement", of_statements(&field)),
        ("event", of_events(&field)),
        ("authority", of_authority(&field)),
        ("file", of_files(&field)),
    ]
}

#[test]
fn a_receipt_that_names_another_signer_or_digests_its_subjects_otherwise_is_refused() {
    let field = whole();
    judged(&field, of_receipts(&field));
}

fn of_receipts(field: &Field) -> Vec<Judged> {
    let name = field.files.keys().find(|name| name.starts_with("receipts/")).unwrap().clone();
    let said = receipts().into_iter().map(|(what, word, mut edit)| {
        let mut files = field.files.clone();
        insider::edit_receipt(&mut files, &field.world, &name, &mut edit);
        (what, word, insider::signed_anew(&files, &field.world))
    });
    said.collect()
}

#[test]
fn a_statement_that_is_of_another_kind_or_about_other_events_or_keys_is_refused() {
    let field = whole();
    judged(&field, of_statements(&field));
}

fn of_statements(field: &Field) -> Vec<Judged> {
    let said = statements().into_iter().map(|(what, word, mut edit)| {
        let mut files = field.files.clone();
        insider::edit_statement(&mut files, &field.world, &mut edit);
        (what, word, files)
    });
    said.collect()
}

#[test]
fn an_event_that_says_otherwise_than_the_rest_is_refused_and_one_of_tomorrow_is_counted() {
    let field = whole();
    let said = of_events(&field);
    for (what, _, files) in &said[..2] {
        let report = Bench::new().verify(&zip(files), &[field.trust()]);
        let told = "what 1 event of types unknown to this program mean";
        assert_eq!(report.not_shown.iter().filter(|s| *s == told).count(), 1, "{what}: {report}");
    }
    judged(&field, said);
}

fn of_events(field: &Field) -> Vec<Judged> {
    let said = events().into_iter().map(|(event_type, (what, word, mut edit))| {
        let mut files = field.files.clone();
        insider::edit_event(&mut files, event_type, &mut edit);
        (what, word, insider::signed_anew(&files, &field.world))
    });
    said.collect()
}

#[test]
fn only_an_entry_that_lets_something_pass_may_be_dispatched_under() {
    let field = whole();
    let said = of_entries(&field);
    let pass = said.iter().filter(|(_, word, _)| word.is_none()).count();
    assert!(pass > 0 && pass < said.len(), "{pass} of {}", said.len());
    judged(&field, said);
}

/// Each entry in place of the one under which an effect was dispatched.
fn of_entries(field: &Field) -> Vec<Judged> {
    let entries = String::from_utf8(field.files["gate/entries.jsonl"].clone()).unwrap();
    let said = entries.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).map(|entry| {
        let states = [&entry["state_from"], &entry["state_to"]];
        let passes = states.iter().any(|state| **state == "EXECUTING") && entry["decision"] == "ALLOW";
        let word = if passes { None } else { Some("which lets nothing pass") };
        let mut files = field.files.clone();
        insider::edit_event(&mut files, "effect.dispatched", &mut |event| {
            event["payload"]["audit_entry_sha256"] = entry["entry_hash"].clone();
        });
        ("under an entry", word, insider::signed_anew(&files, &field.world))
    });
    said.collect()
}

#[test]
fn authority_about_another_request_or_question_is_refused() {
    let field = whole();
    judged(&field, of_authority(&field));
}

fn of_authority(field: &Field) -> Vec<Judged> {
    let with = |member: &str| {
        let named = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).is_ok_and(|v| !v[member].is_null());
        let mut all = field.files.iter().filter(|(name, _)| name.starts_with("artifacts/"));
        all.find(|(_, bytes)| named(bytes)).unwrap().0.clone()
    };
    let (policy, packet) = (with("determining_rules"), with("rollback_availability"));
    let shown = Some("the packet that was shown is about another request");
    let edits: Vec<(&str, &str, Option<&str>, Edit)> = vec![
        ("a result of another request", &policy, Some("its policy result is about another request"), |p| {
            p["action_request_sha256"] = nobody().into()
        }),
        ("a result in other words", &policy, Some("its grant"), |p| p["risk_summary"] = "none".into()),
        ("a packet of another request", &packet, shown, |p| p["action_request"]["reason"] = "none".into()),
        ("a packet of another question", &packet, shown, |p| {
            p["approval_id"] = "apr_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b".into();
        }),
        ("a packet that is none", &packet, Some("missing field"), |p| {
            p.as_object_mut().unwrap().remove("nonce");
        }),
    ];
    let said = edits.into_iter().map(|(what, name, word, mut edit)| {
        let mut files = field.files.clone();
        insider::edit_artifact(&mut files, &field.world, name, &mut edit);
        (what, word, insider::signed_anew(&files, &field.world))
    });
    said.collect()
}

#[test]
fn a_file_that_belongs_into_another_bundle_is_named_as_such() {
    let field = whole();
    judged(&field, of_files(&field));
}

fn of_files(field: &Field) -> Vec<Judged> {
    let disclosure = field.files.iter().find(|(name, _)| name.starts_with("disclosures/")).unwrap().1;
    let receipt = field.files.iter().find(|(name, _)| name.starts_with("receipts/")).unwrap().1;
    let strange = [
        ("disclosures.jsonl", disclosure, "only one receipt alone has its disclosures in one file"),
        (
            "receipts/rcp_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b.dsse.json",
            receipt,
            "no event of this bundle records",
        ),
        ("statement.json", receipt, "no statement that nobody signed"),
        ("task/events/1.json", receipt, "does not belong into a bundle of this scope"),
    ];
    let said = strange.into_iter().map(|(name, bytes, word)| {
        let mut files = field.files.clone();
        files.insert(name.to_owned(), [bytes.as_slice(), b"\n"].concat());
        repair(&mut files, Power::Receipt, &field.world);
        (name, Some(word), files)
    });
    let mut said: Vec<_> = said.collect();
    // Nor does a proof carry words beside those that were signed.
    let mut files = field.files.clone();
    let proof = String::from_utf8(files["task/checkpoint.tlog-proof"].clone()).unwrap();
    let more = proof.replacen("\nindex", "\nextra AAAA\nindex", 1);
    files.insert("task/checkpoint.tlog-proof".to_owned(), more.into_bytes());
    repair(&mut files, Power::Receipt, &field.world);
    said.push(("a proof with more in it", Some("it carries what nobody signed"), files));
    // Nor does a head, though any witness may sign it: the sums are of one spelling of it.
    let mut files = field.files.clone();
    for name in ["log/checkpoint", "task/checkpoint.tlog-proof", "gate/checkpoint.tlog-proof"] {
        let text = String::from_utf8(files[name].clone()).unwrap();
        let line = text.lines().last().unwrap().replacen("hermit.local", "witness.example", 1);
        files.insert(name.to_owned(), format!("{text}{line}\n").into_bytes());
    }
    said.push(("a head with another signature", Some("it was changed"), files));
    said
}

#[test]
fn a_statement_that_nobody_signed_is_about_a_task_or_a_span_or_one_receipt() {
    let mut field = Field::new(World::without_keys(1), &World::everything());
    let receipt = field.world.receipts[0].to_string();
    let mut zips = Vec::new();
    for (span, receipt, word) in [
        (None, None, "signed by nobody"),
        (Some([1, 1]), Some(&receipt), "one receipt alone has no statement beside its own, and no span"),
        (Some([1, 1]), None, "does not belong into a bundle of this scope"),
        (None, Some(&receipt), "does not belong into a bundle of this scope"),
    ] {
        let files = field.files.clone();
        let mut statement: Value = serde_json::from_slice(&files["statement.json"]).unwrap();
        let predicate = statement["predicate"].as_object_mut().unwrap();
        predicate.extend(span.map(|span| ("span".to_owned(), json!(span))));
        predicate.extend(receipt.map(|receipt| ("receipt_id".to_owned(), json!(receipt))));
        let bytes = seal::canon::canonical_value(&statement).unwrap();
        field.files.insert("statement.json".to_owned(), bytes);
        repair(&mut field.files, Power::Sums, &field.world);
        let zip = field.zip();
        let report = Bench::new().verify(&zip, &[]);
        assert!(report.headline().contains(word), "{span:?} {receipt:?}: {report}");
        zips.push((word.to_owned(), zip));
        field.files = files;
    }
    agree(&zips, &field.trust());
}

#[test]
fn a_long_list_of_what_is_missing_is_cut_and_says_so() {
    let mut zips = Vec::new();
    for missing in [50, 51, 60_usize] {
        let mut world = World::new(0, 0);
        for n in 0..missing {
            world.push(EffectDispatched {
                action_request_id: ActionRequestId::fresh(&world.clock, &world.dice),
                grant_id: GrantId::fresh(&world.clock, &world.dice),
                executor: "hermit.change".to_owned(),
                audit_entry_sha256: Digest::of(&n.to_le_bytes()),
            });
        }
        let field = Field::new(world, &World::everything());
        let zip = field.zip();
        let report = Bench::new().verify(&zip, &[field.manifest()]);
        let Verdict::Incomplete { missing: told } = &report.verdict else { panic!("{report}") };
        assert_eq!(told.len(), missing.min(51), "{report}");
        assert_eq!(told.last().unwrap() == "and more", missing > 50, "{report}");
        zips.push((format!("{missing} missing"), zip));
    }
    agree(&zips, &whole().manifest());
}

#[test]
fn only_events_that_were_signed_and_are_not_here_are_told_of_and_a_readme_asks_for_no_key_where_none_is() {
    let mut zips = Vec::new();
    for (world, hidden, told) in
        [(World::new(1, 1), 0, false), (World::new(1, 1), 1, true), (World::without_keys(1), 1, false)]
    {
        let scope = Scope::Span { first: 1, last: world.events.len() as u64 - hidden };
        let field = Field::new(world, &Options { scope, ..Options::default() });
        let report = Bench::new().verify(&field.zip(), &[]);
        let said = report.not_shown.iter().any(|s| s.contains("that they exist is signed"));
        assert_eq!(said, told, "{report}");
        zips.push((format!("{hidden} hidden"), field.zip()));
    }
    agree(&zips, &whole().manifest());
    for (world, signed) in [(World::new(1, 0), true), (World::without_keys(1), false)] {
        let receipt = world.receipts[0];
        let options = Options { scope: Scope::Receipt(receipt), ..Options::default() };
        let readme = Field::new(world, &options).files["README.txt"].clone();
        let readme = String::from_utf8(readme).unwrap();
        assert!(readme.starts_with("hermit-proof/1 - ") && readme.contains(&receipt.to_string()), "{readme}");
        assert_eq!(readme.contains("ssh-keygen"), signed, "{readme}");
    }
}
