//! Policy and gate.

#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/effects/tests/support.rs"]
pub mod support;

use crate::Asked;
use crate::board::{Board, at, timed};
use acts::Action;
use gate::{Gate, GateDecision, Jurisdiction, KernelConfig, KernelRequest, Ruling, ToolCall, Tools, Variant};
use governance::{PolicyEngine, Question};
use model::action::ReadItem;
use model::policy::Profile;
use model::receipt::SandboxLevel;
use model::{PolicyResultId, UnixMs};
use seal::Digest;
use serde_json::{Value, json};

/// Further rules behind the shipped ones of a profile, which are about ten.
const FURTHER: usize = 90;
const ASKED: usize = 2_000;

fn engine() -> PolicyEngine {
    let rule = |n| {
        format!(
            "@id(\"bench.{n}\")\n@reason(\"a rule to be passed over\")\nforbid (principal, action == \
             Hermit::Action::\"network_read\", resource)\nunless {{ context has approval && context has packet_hash \
             && context.approval.packet_hash == context.packet_hash }};\n"
        )
    };
    let text: String = (0..FURTHER).map(rule).collect();
    PolicyEngine::shipped_with("bench", Box::leak(text.into_boxed_str())).expect("the rules are accepted")
}

pub fn run(_: &Asked, board: &Board) {
    let engine = engine();
    let world = support::World::new();
    let path = support::rel("a.txt");
    let read = Action::Observe(acts::Observe { items: vec![ReadItem::Read { path }] });
    let change = Action::Change(acts::Change {
        items: vec![world.write("a.txt", b"new", model::action::Prior::Absent)],
    });
    let ids = crate::grown::Dice(std::sync::atomic::AtomicU64::new(1));
    let policy_result_id = PolicyResultId::fresh(&crate::grown::Now, &ids);
    let mut times = Vec::new();
    for action in [read, change] {
        let request = world.request(action);
        let request_sha256 = Digest::of(&seal::canon::to_canonical(&request).expect("it can be sealed"));
        for _ in 0..ASKED {
            let question = Question {
                request: &request,
                request_sha256,
                profile: Profile::LocalEditAllowed,
                sandbox: SandboxLevel::NamespacesLandlock,
                allow_unconfined: false,
                approved_packet: None,
                packet: None,
                untrusted_in_context: false,
                steps_allowed: &[],
                standing: &[],
                policy_result_id,
                now: UnixMs(1_800_000_000_000),
            };
            times.push(timed(|| engine.evaluate(&question)).0);
        }
    }
    let p50 = at(&mut times, 0.5) * 1_000.0;
    let detail = format!("p50 {p50:.3} ms, about 100 rules, {} questions", times.len());
    board.at_most("policy p99, ms", at(&mut times, 0.99) * 1_000.0, 1.0, &detail);
    passes(board);
}

struct Allows;

impl Jurisdiction for Allows {
    fn evaluate(&self, _: &KernelRequest) -> Ruling {
        Ruling::ALLOW
    }
}

struct Runs;

impl Tools for Runs {
    fn call(&mut self, _: &ToolCall) -> Result<Value, String> {
        Ok(json!({ "dispatched": true }))
    }
}

fn passes(board: &Board) {
    let actor = "prn_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b".to_owned();
    let mut log = Vec::new();
    let mut gate = Gate::new();
    let config = KernelConfig {
        kernel_id: "bench".to_owned(),
        variant: Variant::Permissive,
        session: "ses_1".to_owned(),
        actor: actor.clone(),
        tools: vec!["change".to_owned()],
        head: Digest::ZERO,
        ts_ms: UnixMs(1_000),
    };
    gate.boot(config, &mut log).expect("it boots");
    let mut times = Vec::new();
    for n in 0..ASKED {
        let request = KernelRequest {
            request_id: format!("req_{n}"),
            ts_ms: UnixMs(2_000),
            actor: actor.clone(),
            intent: "change".to_owned(),
            tool_call: Some(ToolCall { name: "change".to_owned(), params: Some(json!({ "n": n })) }),
            params: None,
            evidence: None,
        };
        let (took, receipt) = timed(|| gate.submit(request, &Allows, &mut Runs, &mut log));
        assert_eq!(receipt.decision, GateDecision::Allow, "{:?}", receipt.error);
        times.push(took);
    }
    let p99 = at(&mut times, 0.99) * 1e6;
    board.figure("a pass of the gate", &format!("{:.0} µs, p99 {p99:.0} µs", at(&mut times, 0.5) * 1e6));
}
