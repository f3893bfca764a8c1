//! Five hundred secrets in every form, planted wherever an agent looks: none is kept, shown to a model, or handed out.

use crate::home::Home;
use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use conforms::conforms;
use kernel::command::submit::Reasoning;
use model::Digest;
use redact::Redactor;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;
use testkit::{done, look, say, write};
use zeroize::Zeroizing;

const PLANTED: usize = 500;
/// Secrets in one file.
const TOGETHER: usize = 25;
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=!%&?#\"\\";

/// Thirty-two characters that nobody else writes, the same in every run.
fn value(n: usize) -> String {
    let digest = Digest::of(format!("planted {n}").as_bytes());
    digest.0.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}

fn hex(bytes: &[u8], upper: bool) -> String {
    bytes.iter().map(|b| if upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect()
}

fn url(bytes: &[u8]) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~".contains(b);
    bytes.iter().map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// How a value is planted: as it is, encoded, and broken over lines.
fn planted(value: &str) -> Vec<String> {
    let broken = |text: &str, width: usize| -> String {
        text.as_bytes().chunks(width).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n")
    };
    let mut forms = vec![
        format!("<{value}>"),
        json!(value).to_string(),
        hex(value.as_bytes(), false),
        hex(value.as_bytes(), true),
        url(value.as_bytes()),
        broken(value, 11),
        broken(&STANDARD.encode(value), 19),
        broken(&hex(value.as_bytes(), false), 30),
        format!("{} … {}", &value[..16], &value[16..]),
    ];
    for before in ["", "a", "ab"] {
        forms.push(STANDARD.encode(format!("{before}{value}")));
        forms.push(URL_SAFE.encode(format!("{before}{value};")));
    }
    forms
}

/// What is searched for, made apart from the redactor: enough of each encoding to know it by, without its ends.
fn needles(value: &str) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for half in [&value[..16], &value[16..]] {
        found.insert(half.to_owned());
        let quoted = json!(half).to_string();
        found.insert(quoted[1..quoted.len() - 1].to_owned());
        found.insert(hex(half.as_bytes(), false));
        found.insert(hex(half.as_bytes(), true));
        found.insert(url(half.as_bytes()));
    }
    // More than half of a value, as base64 has it, at either end.
    for before in ["", "a", "ab"] {
        for text in [STANDARD.encode(format!("{before}{value}")), URL_SAFE.encode(format!("{before}{value}"))]
        {
            found.insert(text[4..28].to_owned());
            found.insert(text[text.len() - 28..text.len() - 4].to_owned());
        }
    }
    found.into_iter().collect()
}

/// Bytes without white space, written out or escaped, so that what was broken is whole.
fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'\\' && rest.peek() == Some(&b'n') {
            rest.next();
        } else if !byte.is_ascii_whitespace() {
            out.push(byte);
        }
    }
    out
}

struct Search {
    finder: AhoCorasick,
    needles: Vec<String>,
    owners: Vec<usize>,
}

impl Search {
    fn new(values: &[String]) -> Self {
        let (mut all, mut owners) = (Vec::new(), Vec::new());
        for (n, value) in values.iter().enumerate() {
            for needle in needles(value) {
                all.push(needle);
                owners.push(n);
            }
        }
        Self { finder: AhoCorasick::new(&all).expect("needles"), needles: all, owners }
    }

    /// Which values are in these bytes.
    fn found(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let both = [bytes.to_vec(), squeezed(bytes)];
        both.iter()
            .flat_map(|bytes| {
                self.finder.find_overlapping_iter(bytes).map(|m| self.owners[m.pattern().as_usize()])
            })
            .collect()
    }

    fn none_below(&self, folder: &Path) -> u64 {
        let mut looked = 0;
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                looked += self.none_below(&path);
                continue;
            }
            let bytes = std::fs::read(&path).expect("a file");
            let found = self.found(&bytes);
            let both = [bytes.clone(), squeezed(&bytes)];
            let such: BTreeSet<(&String, String)> = both
                .iter()
                .flat_map(|b| self.finder.find_iter(b).map(move |m| (m, b)))
                .map(|(m, b)| {
                    let around = &b[m.start().saturating_sub(60)..(m.end() + 60).min(b.len())];
                    (&self.needles[m.pattern().as_usize()], String::from_utf8_lossy(around).into_owned())
                })
                .take(400)
                .collect();
            assert!(found.is_empty(), "{} holds {} of them, such as {such:#?}", path.display(), found.len());
            assert!(self.found(path.to_string_lossy().as_bytes()).is_empty());
            looked += bytes.len() as u64;
        }
        looked
    }
}

#[conforms("HK-17.3-2", "HK-17.3-4", "HK-6.3-3")]
#[test]
fn five_hundred_secrets_in_every_form_are_in_nothing_that_is_kept_or_handed_out() {
    let values: Vec<String> = (0..PLANTED).map(value).collect();
    let search = Search::new(&values);
    let mut home = Home::new(70);
    let secrets = values.iter().enumerate();
    let known = secrets.map(|(n, v)| (format!("s{n}"), Zeroizing::new(v.as_bytes().to_vec())));
    home.world.redactor.put(Redactor::new(known).expect("a redactor"));
    let mut seen = BTreeSet::new();
    let (mut answers, mut names) = (Vec::new(), Vec::new());
    for (n, together) in values.chunks(TOGETHER).enumerate() {
        let text: String = together.iter().flat_map(|v| planted(v)).map(|form| form + "\n--\n").collect();
        seen.extend(search.found(text.as_bytes()));
        // Every third file is no text, so that its bytes come back in base64.
        let name = format!("f{n:02}.txt");
        home.world.file(&name, &if n % 3 == 2 { format!("\0{text}") } else { text });
        answers.push(look(&name));
        names.push(name);
    }
    assert_eq!(seen.len(), PLANTED, "the search finds what was planted");
    let named = values.iter().find(|v| !v.contains(['/', '\\'])).expect("one that can name a file");
    let name = format!("{named}.log");
    home.world.file(&name, "named by a secret");
    answers.push(say("list", json!({ "path": ".", "recursive": true })));
    answers.push(say("search", json!({ "path": ".", "pattern": "[A-Za-z0-9]{8}" })));
    let mut note = say("note", json!({ "facts": [format!("the key is {}", values[1])] }));
    note.text = format!("I read {}", values[2]);
    answers.push(note);
    answers.push(write("made.txt", &planted(&values[3]).join("\n")));
    answers.push(done(&format!("it was {} all along", values[4])));
    home.world.reasoners.script("find", answers);
    let reasoning = Reasoning::Scripted { name: "find".to_owned() };
    let submission = home.world.submission(&format!("find {} and tell", values[5]), reasoning);
    let task = home.world.kernel().submit(&submission).expect("submitted").task_id;
    let (standing, asked) = home.world.drive_allowing(task);
    assert!(matches!(standing, kernel::DriveOutcome::Ended { .. }), "{standing:?}");
    assert_eq!(asked, 1, "only the write is asked about");
    let given = TempDir::new().expect("a folder");
    let source = given.path().join("given.txt");
    std::fs::write(&source, planted(&values[6]).join(" ")).expect("a file");
    home.must("artifacts.ingest", json!({ "path": source }));
    for name in ["tasks", "receipts", "context"] {
        let (command, params) = match name {
            "tasks" => ("task.show", json!({ "task": task.to_string() })),
            "receipts" => ("receipts.list", json!({ "task": task.to_string() })),
            _ => ("context.show", json!({ "task": task.to_string() })),
        };
        let shown = home.must(command, params).to_string();
        assert!(search.found(shown.as_bytes()).is_empty(), "{command}: {shown}");
    }
    let shown = home.must("task.show", json!({ "task": task.to_string() })).to_string();
    assert!(shown.contains("[secret:s5]"), "{shown}");
    let bundle = given.path().join("bundle");
    home.must("proof.export", json!({ "task": task.to_string(), "path": bundle }));
    assert!(search.none_below(&bundle) > 100_000, "a bundle of everything that was read");
    home.world.crash();
    assert!(search.none_below(home.world.store.path()) > 1_000_000, "the store holds all that was read");
    let made = home.world.files().remove("made.txt").expect("written");
    assert!(search.found(&made).is_empty(), "what a model writes is without values before anybody is asked");
}
