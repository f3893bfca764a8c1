//! Unnamed secrets: every kind that people meet, and what only looks like one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use redact::{KeyLines, Redactor};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";

/// Chance that is the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    /// A value as it is described: `{x32}` is so many characters of an alphabet, the rest stands as it is.
    fn value(&mut self, form: &str) -> String {
        let mut out = String::new();
        let mut rest = form;
        while let Some((plain, behind)) = rest.split_once('{') {
            let (hole, more) = behind.split_once('}').unwrap();
            out.push_str(plain);
            let (letter, many) = hole.split_at(1);
            let alphabet = match letter {
                "x" => HEX.to_owned(),
                "d" => DIGITS.to_owned(),
                "u" => format!("{UPPER}{DIGITS}"),
                "l" => format!("{LOWER}{DIGITS}"),
                "a" => format!("{LOWER}{UPPER}{DIGITS}"),
                "w" => format!("{LOWER}{UPPER}{DIGITS}_-"),
                "b" => format!("{LOWER}{UPPER}{DIGITS}+/"),
                other => panic!("no alphabet `{other}`"),
            };
            let letters = alphabet.as_bytes();
            for _ in 0..many.parse().unwrap() {
                out.push(char::from(letters[self.roll(letters.len())]));
            }
            rest = more;
        }
        out + rest
    }
}

/// Name, and the value with what is around it; the value stands between `‹` and `›`.
const KINDS: &[(&str, &str)] = &[
    ("aws access key", "‹AKIA{u16}›"),
    ("aws secret, named", "aws_secret_access_key = ‹{b40}›"),
    ("aws secret, bare", "‹{b40}›"),
    ("github classic", "‹ghp_{a36}›"),
    ("github fine", "‹github_pat_{a22}_{a59}›"),
    ("gitlab", "‹glpat-{w20}›"),
    ("gitlab runner", "‹GR1348941{w20}›"),
    ("gitlab runner, new", "‹glrt-{w20}›"),
    ("slack bot", "‹xoxb-{d12}-{d12}-{a24}›"),
    ("slack webhook", "https://hooks.slack.com/services/‹T{u8}/B{u10}/{a24}›"),
    ("slack app", "‹xapp-1-A{u10}-{d13}-{x64}›"),
    ("twilio key", "‹SK{x32}›"),
    ("twilio token", "TWILIO_AUTH_TOKEN=‹{x32}›"),
    ("sendgrid", "‹SG.{w22}.{w43}›"),
    ("mailgun", "‹key-{x32}›"),
    ("mailgun, new", "mailgun: ‹{x32}-{x8}-{x8}›"),
    ("mailchimp", "‹{x32}-us12›"),
    ("google key", "‹AIza{w35}›"),
    ("google oauth", "‹ya29.{w60}›"),
    ("google secret", "‹GOCSPX-{w28}›"),
    ("docker hub", "‹dckr_pat_{w27}›"),
    ("heroku, old", "HEROKU_API_KEY=‹{x8}-{x4}-{x4}-{x4}-{x12}›"),
    ("heroku, new", "‹HRKU-AA{w58}›"),
    ("azure storage", "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=‹{b86}==›;EndpointSuffix=x"),
    ("azure storage, bare", "‹{b76}+ASt{b6}==›"),
    ("azure client secret", "‹{a3}8Q~{a34}›"),
    ("discord bot", "‹MT{a22}.{a6}.{w38}›"),
    ("discord webhook", "https://discord.com/api/webhooks/{d18}/‹{w68}›"),
    ("telegram", "‹{d10}:AA{w33}›"),
    ("shopify", "‹shpat_{x32}›"),
    ("square", "‹EAAA{w60}›"),
    ("square, old", "‹sq0atp-{w22}›"),
    ("databricks", "‹dapi{x32}›"),
    ("digitalocean", "‹dop_v1_{x64}›"),
    ("grafana", "‹glsa_{a32}_{x8}›"),
    ("grafana cloud", "‹glc_{b60}=›"),
    ("vault", "‹hvs.{w90}›"),
    ("linear", "‹lin_api_{a40}›"),
    ("notion", "‹secret_{a43}›"),
    ("notion, new", "‹ntn_{d11}{a35}›"),
    ("postman", "‹PMAK-{x24}-{x34}›"),
    ("age", "‹AGE-SECRET-KEY-1{u58}›"),
    ("stripe", "‹sk_live_{a24}›"),
    ("npm", "‹npm_{a36}›"),
    ("pypi", "‹pypi-AgEIcHlwaS5vcmc{w60}›"),
    ("cargo", "‹cio{a32}›"),
    ("openai", "‹sk-proj-{w48}›"),
    ("anthropic", "‹sk-ant-api03-{w90}AA›"),
    ("huggingface", "‹hf_{a34}›"),
    ("jwt", "‹eyJhbGciOiJIUzI1NiJ9.eyJ{w40}.{w43}›"),
    ("password in an address", "postgres://root:‹{a16}›@db:5432/x"),
    ("header", "Authorization: Bearer ‹{w40}›"),
    ("assigned", "DB_PASSWORD=‹{a16}›"),
    ("cloudflare", "CLOUDFLARE_API_TOKEN=‹{w40}›"),
    ("tailscale", "‹tskey-auth-{a12}-{a30}›"),
    ("terraform", "‹{a14}.atlasv1.{w66}›"),
    ("figma", "‹figd_{w40}›"),
    ("new relic", "‹NRAK-{u27}›"),
    ("sentry", "‹sntryu_{x64}›"),
];

/// Values of one kind: each with the text it stands in.
fn samples() -> Vec<(&'static str, String, String)> {
    let mut dice = Dice(7);
    let mut all = Vec::new();
    for (kind, form) in KINDS {
        for _ in 0..8 {
            let text = dice.value(form);
            let (_, behind) = text.split_once('‹').unwrap();
            let (value, _) = behind.split_once('›').unwrap();
            all.push((*kind, value.to_owned(), text.replace(['‹', '›'], "")));
        }
    }
    all
}

#[test]
fn every_kind_of_key_is_taken_out_wherever_it_stands() {
    let redactor = Redactor::default();
    let mut missed = Vec::new();
    for (kind, value, text) in samples() {
        let places = [
            text.clone(),
            format!("before\n{text}\nafter"),
            format!("KEY={text}\nNEXT=1"),
            format!("the key is {text}, keep it"),
            format!("value: \"{text}\""),
        ];
        for place in places {
            let clean = redactor.text(&place);
            if clean.rest.contains(&value) {
                missed.push(format!("{kind}: {place}"));
            }
            assert_eq!(redactor.text(&clean.rest).rest, clean.rest, "redacting twice changes nothing");
        }
        let json = serde_json::json!({ "text": text, "list": [text] });
        if redactor.json(json, true).rest.to_string().contains(&value) {
            missed.push(format!("{kind} in JSON: {text}"));
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn a_key_in_base64_is_taken_out_whole() {
    let redactor = Redactor::default();
    let by_name = ["aws secret, bare", "assigned"];
    for (kind, _, text) in samples().into_iter().filter(|(kind, _, _)| !by_name.contains(kind)) {
        let long = format!("# settings of the service, as they are on the machine that builds it\n{text}\n");
        for inside in [&text, &long] {
            let packed = STANDARD.encode(inside);
            let wrapped = packed.as_bytes().chunks(76).collect::<Vec<_>>().join(&b'\n');
            for place in [packed.clone(), format!("data: {packed}\n"), String::from_utf8(wrapped).unwrap()] {
                let clean = redactor.text(&place);
                assert!(
                    clean.rest.contains("[redacted: ") && clean.rest.len() < 60,
                    "{kind}: {text}: {}",
                    clean.rest
                );
            }
        }
    }
}

#[test]
fn a_private_key_leaves_nothing_on_any_of_its_lines_and_what_is_around_it_stays() {
    let mut dice = Dice(3);
    let body: Vec<String> = (0..25).map(|_| dice.value("{b64}")).collect();
    let armour = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let file = format!("one\n{}\n{}\n{}\ntwo = 2;\n", armour("BEGIN"), body.join("\n"), armour("END"));
    let mut lines = KeyLines::default();
    let shown: Vec<&[u8]> = file.lines().map(|line| lines.line(line.as_bytes())).collect();
    assert_eq!(shown.len(), file.lines().count());
    let shown: Vec<String> = shown.iter().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
    assert!(body.iter().all(|line| !shown.contains(line)), "{shown:?}");
    assert_eq!((shown[0].as_str(), shown[28].as_str()), ("one", "two = 2;"));
    // Code that only names the armour is read on.
    let code = "let begin = \"-----BEGIN PRIVATE KEY-----\";\nlet key = read(begin)?;\n";
    assert!(Redactor::default().text(code).rest.contains("let key = read(begin)?;"));
    let mut lines = KeyLines::default();
    let shown: Vec<&[u8]> = code.lines().map(|line| lines.line(line.as_bytes())).collect();
    assert_eq!(shown[1], b"let key = read(begin)?;");
}

#[test]
fn what_only_looks_like_a_key_stays() {
    let mut dice = Dice(11);
    let mut texts: Vec<String> = [
        "{x40}",
        "{x64}",
        "{x32}",
        "{x128}",
        "sha256:{x64}",
        "sha512-{b86}==",
        "commit {x40}",
        "{x7}",
        "{x8}-{x4}-{x4}-{x4}-{x12}",
        "task_01J{u23}",
        "art_01J{u23}",
        "receipt_01J{u23}: succeeded",
        "sha256={x64}",
        "integrity: sha512-{b86}==",
        "checksum = \"{x64}\"",
        "src=\"/assets/index-{a8}.js\"",
        "ETag: \"{x32}\"",
        "https://example.org/{x40}/{a22}",
        "w=100&h=200&q=80&v={x8}",
        "-----BEGIN CERTIFICATE-----\nMIID{b60}\n{b64}\n-----END CERTIFICATE-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} me@host",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{b400}==",
        "R0lGODlhAQABAIAAAAAAAP///{b200}",
        "age1{l58}",
        "max_tokens: 4096, next_page_token: null",
        "password_hint: ask your mother",
        "HERMIT_PASSPHRASE_FILE=/run/keys/passphrase",
        "private_key_path = \"/etc/ssl/key.pem\"",
        "let secret = Secrets::open(&vault)?.secret(handle);",
        "api_key: options.apiKey ?? process.env.API_KEY,",
        "fn password(&self) -> Option<&Passphrase>;",
        "Approval passphrase: \").send(&text)",
        "password: PassphraseFile,",
        "the secret: nobody but you can approve",
        "tokens per second: 12345.678901",
    ]
    .iter()
    .flat_map(|form| (0..20).map(|_| dice.value(form)).collect::<Vec<_>>())
    .collect();
    // A picture, wrapped as mail wraps it.
    let picture: Vec<u8> = (0..40_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    let packed = STANDARD.encode(&picture);
    texts.push(
        packed.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>().join("\n"),
    );
    texts.push(packed);
    for text in texts {
        let clean = Redactor::default().text(&text);
        assert_eq!(clean.rest, text, "{:?}", clean.found);
    }
}

/// Files of this repository that a person or an agent would read.
fn sources(at: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let skipped = ["target", "node_modules", ".git", "dist", "gen", "tests", "redact"];
        let kinds = [
            "rs", "ts", "tsx", "md", "toml", "json", "lock", "sql", "tsv", "css", "html", "yaml", "yml", "js",
        ];
        if path.is_dir() && !skipped.contains(&name.as_str()) {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kinds.contains(&&*kind.to_string_lossy())) {
            found.push(path);
        }
    }
}

#[test]
fn this_repository_reads_as_it_is_but_for_the_keys_in_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 400, "{}", files.len());
    let redactor = Redactor::default();
    let mut found = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let clean = redactor.text(&text);
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        if !clean.found.is_empty() {
            let lines = text.lines().filter(|line| !redactor.text(line).found.is_empty());
            found.extend(
                lines.map(|line| format!("{name}: {}: {:?}", line.trim(), redactor.text(line).found.keys())),
            );
        }
    }
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[expect(clippy::disallowed_methods, reason = "it is about time")]
#[test]
fn the_time_it_takes_grows_with_the_text_and_with_nothing_else() {
    let redactor = Redactor::default();
    let words = [
        "sk-",
        "AccountKey=",
        "eyJ",
        "password: ",
        "://a:",
        "aws aws aws ",
        "-----BEGIN PRIVATE KEY-----\n",
        "A",
    ];
    for word in words {
        let mut took = Vec::new();
        for size in [20_000, 160_000] {
            let text = word.repeat(size / word.len());
            let start = Instant::now();
            redactor.text(&text);
            took.push(start.elapsed());
        }
        assert!(took[1] < took[0] * 40 + Duration::from_millis(500), "{word}: {took:?}");
    }
}
