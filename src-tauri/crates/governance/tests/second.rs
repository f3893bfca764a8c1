//! The same questions put to another Cedar engine: `cedarpy`, from PyPI. `HERMIT_CEDAR_ASKS=10000` asks more.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and asks a program"
)]

use acts::{Action, ActionRequest};
use governance::{CedarAsk, Permissions, PolicyEngine, Question, RuleScope, hypothetical};
use model::action::{ActionClass, ChangeItem, Prior, ReadItem};
use model::policy::Profile;
use model::receipt::SandboxLevel;
use model::{Digest, PolicyResultId, RelPath, UnixMs, WorkspaceId};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Asked in the suite; ten thousand take longer.
const ASKS: usize = 500;

const CHECK: &str = r#"
import json, sys, cedarpy
wrong = 0
asks = [json.loads(line) for line in sys.stdin]
groups = {}
for ask in asks:
    groups.setdefault((ask["rules"], ask["schema"]), []).append(ask)
for (rules, schema), group in groups.items():
    requests = [{k: ask[k] for k in ("principal", "action", "resource", "context")} for ask in group]
    for ask, request, answer in zip(group, requests, cedarpy.is_authorized_batch(requests, rules, [], schema), strict=True):
        said = (answer.allowed, len(answer.diagnostics.reasons), len(answer.diagnostics.errors))
        if said != (ask["allowed"], ask["reasons"], ask["errors"]):
            wrong += 1
            print("differs", said, json.dumps(request), answer.diagnostics.errors)
print("asked", len(asks), "wrong", wrong)
"#;

/// The same sequence each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).expect("small")]
    }

    fn path(&mut self) -> RelPath {
        let names =
            ["a.md", "src/x.rs", ".env", ".git/hooks/pre-commit", "id_rsa", "docs/deep/b.txt", "b.md"];
        RelPath::from_bytes(self.pick(&names).as_bytes()).expect("a path")
    }

    fn item(&mut self) -> ChangeItem {
        let (path, prior) = (self.path(), Prior::Sha256(Digest::of(b"old")));
        match self.roll(4) {
            0 => ChangeItem::Delete { path, prior },
            1 => ChangeItem::Move { from: path, to: self.path(), prior },
            kind => ChangeItem::Write {
                path,
                content_sha256: Digest::of(b"new"),
                byte_size: 3,
                prior: if kind == 2 { Prior::Absent } else { prior },
                mode: self.pick(&[None, Some(0o644), Some(0o755), Some(0o4755)]),
            },
        }
    }

    fn action(&mut self) -> Action {
        let several = 1 + self.roll(4);
        match self.roll(5) {
            0 => Action::Observe(acts::Observe {
                items: (0..several).map(|_| ReadItem::Read { path: self.path() }).collect(),
            }),
            1 | 2 => Action::Change(acts::Change { items: (0..several).map(|_| self.item()).collect() }),
            _ => {
                let argv = self.pick(&[
                    &["make", "test"][..],
                    &["git", "push"],
                    &["sh", "-c", "ls && rm x"],
                    &["sh", "-c", "$(x)"],
                ]);
                Action::Command(acts::Command {
                    argv: argv.iter().map(|word| (*word).to_owned()).collect(),
                    cwd: RelPath::ROOT,
                    network: self.roll(3) == 0,
                    timeout_ms: 1000,
                    hosts: Vec::new(),
                    secrets: Vec::new(),
                })
            }
        }
    }
}

fn request(dice: &mut Dice) -> ActionRequest {
    let action = dice.action();
    let space = WorkspaceId::new(uuid::Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0080));
    let class = action.classes().first().copied().expect("a class");
    ActionRequest { action_class: class, target_resources: action.resources(space), ..hypothetical(action) }
}

fn asks(engines: &[PolicyEngine], dice: &mut Dice) -> Vec<CedarAsk> {
    let request = request(dice);
    let packet = dice.pick(&[None, Some(Digest::of(b"packet")), Some(Digest::of(b"another"))]);
    let allowed = [ActionClass::ReadLocal, ActionClass::WriteLocal];
    let engine = &engines[usize::try_from(dice.roll(engines.len() as u64)).expect("small")];
    let question = Question {
        request: &request,
        request_sha256: Digest::of(&seal::canon::to_canonical(&request).expect("canonical")),
        profile: dice.pick(Profile::ALL),
        sandbox: dice.pick(SandboxLevel::ALL),
        allow_unconfined: dice.roll(2) == 0,
        approved_packet: dice.pick(&[None, Some(Digest::of(b"packet"))]),
        packet,
        untrusted_in_context: dice.roll(2) == 0,
        steps_allowed: if dice.roll(3) == 0 { &allowed } else { &[] },
        standing: &[],
        policy_result_id: PolicyResultId::new(request.action_request_id.uuid()),
        now: UnixMs(1_800_000_000_000),
    };
    engine.asked_of_cedar(&question).expect("it can be put to Cedar")
}

fn line(ask: &CedarAsk) -> Value {
    json!({
        "principal": ask.principal, "action": ask.action, "resource": ask.resource, "context": ask.context,
        "rules": ask.rules, "schema": ask.schema, "allowed": ask.allowed, "reasons": ask.reasons, "errors": ask.errors,
    })
}

#[test]
fn another_cedar_engine_answers_every_question_as_this_one_does() {
    let there = Command::new("python3").args(["-c", "import cedarpy"]).output();
    if !there.is_ok_and(|ran| ran.status.success()) {
        // `npm test` puts a python that has it first on PATH.
        return conforms::lacks("python's `cedarpy`");
    }
    let mine = "ask Bash(git push:*)\ndeny FileDelete(**)\ndeny FileEdit(docs/**)\n";
    let rules = Permissions::read(RuleScope::User, mine).expect("rules");
    let engines = [
        PolicyEngine::shipped().expect("sound"),
        PolicyEngine::with_permissions(vec![rules]).expect("sound"),
    ];
    let wanted = std::env::var("HERMIT_CEDAR_ASKS").ok().and_then(|n| n.parse().ok()).unwrap_or(ASKS);
    let mut dice = Dice(20_261_122);
    let mut all = Vec::new();
    while all.len() < wanted {
        all.extend(asks(&engines, &mut dice));
    }
    assert!(all.iter().any(|ask| ask.allowed) && all.iter().any(|ask| !ask.allowed && ask.reasons > 0));
    let mut python = Command::new("python3")
        .args(["-c", CHECK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = python.stdin.take().expect("a pipe");
    let lines: Vec<String> = all.iter().map(|ask| format!("{}\n", line(ask))).collect();
    let writing =
        std::thread::spawn(move || lines.iter().try_for_each(|line| input.write_all(line.as_bytes())));
    let output = python.wait_with_output().expect("it ends");
    writing.join().expect("no panic").expect("it reads everything");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.ends_with(&format!("asked {} wrong 0\n", all.len())), "{said}");
}
