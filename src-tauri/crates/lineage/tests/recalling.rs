//! What a recall takes, and what it names beside, of an agent that looked at several things.

use crate::tale::{Tale, art, at, id};
use lineage::{NodeId, Places};
use model::action::{ActionClass, Reversibility};
use model::artifact::ArtifactKind::{ActionResult, ContextPack, ModelAnswer, ModelRequest, ModelResponse};
use model::artifact::*;
use model::body::*;
use model::knowledge::{MemoryRecord, MemoryStatus};
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::*;
use std::collections::BTreeSet;

use TrustTier::{Observed, Untrusted, UserAsserted};

/// A turn: the pack `n` of these artifacts, what is sent and what comes back.
fn turn(tale: &mut Tale, n: u64, inputs: &[u64], memories: Option<Vec<MemoryId>>) {
    let about = id("att", 1);
    tale.artifact(n, ContextPack, Observed, inputs);
    tale.tell(ContextCompiled {
        about_attempt_id: about,
        iteration: 1,
        pack: at(n),
        tokens: 1,
        items: 1,
        omissions: 0,
        memories,
        pinned: None,
    });
    tale.artifact(n + 1, ModelRequest, Observed, &[]);
    let (provider, model) = ("local".to_owned(), "small".to_owned());
    tale.tell(ModelRequested {
        about_attempt_id: about,
        iteration: 1,
        request: at(n + 1),
        provider,
        model,
        remote: false,
    });
    tale.artifact(n + 2, ModelResponse, Observed, &[]).artifact(n + 3, ModelAnswer, Observed, &[]);
    tale.tell(ModelResponded {
        about_attempt_id: about,
        iteration: 1,
        response: at(n + 2),
        answer: at(n + 3),
        tokens_in: 1,
        tokens_out: 1,
        cost_micros: 0,
        finish_reason: "stop".into(),
    });
}

/// An act of this class by whoever had seen these artifacts: it leaves the artifact `n`, and what `within` says comes before that.
fn act(tale: &mut Tale, n: u64, action_class: ActionClass, seen: &[u64], within: impl FnOnce(&mut Tale)) {
    let tool = if action_class == ActionClass::ReadLocal { "observe" } else { "any" };
    act_by(tale, n, (tool, action_class), seen, within);
}

/// The same, by this tool.
fn act_by(
    tale: &mut Tale,
    n: u64,
    (tool, action_class): (&str, ActionClass),
    seen: &[u64],
    within: impl FnOnce(&mut Tale),
) {
    let action = id("act", n);
    tale.tell(ActionRequested {
        action_request_id: action,
        request: at(900 + n),
        action_class,
        tool: tool.into(),
        summary: "act".to_owned().into(),
    });
    tale.tell(EffectDispatched {
        action_request_id: action,
        grant_id: id("grt", n),
        executor: "any".into(),
        audit_entry_sha256: Digest::ZERO,
    });
    within(tale);
    tale.artifact(n, ActionResult, Untrusted, seen);
    tale.tell(EffectObserved {
        action_request_id: action,
        result: at(n),
        result_code: ResultCode::Succeeded,
        sandbox_level: SandboxLevel::Beneath,
        recovered: false,
    });
    tale.tell(ReceiptIssued {
        receipt_id: id("rcp", n),
        receipt_class: ReceiptClass::ToolExecution,
        action_class,
        result_code: ResultCode::Succeeded,
        action_request_id: Some(action),
        envelope: at(950 + n),
        statement_sha256: Digest::ZERO,
        reversibility: Reversibility::Reversible,
        rolls_back: None,
        verifiability: Verifiability::Signed,
        summary: "done".to_owned().into(),
    });
}

/// A record that rests on a part of an artifact, or on all of it.
fn remembered(tale: &mut Tale, n: u64, on: u64, pointer: Option<&str>) {
    let selector = pointer.map_or(Selector::Whole, |at| Selector::JsonPath { pointer: at.to_owned() });
    let evidence = EvidenceRef {
        artifact_id: art(on),
        selector,
        excerpt_hash: Digest::of(b"x"),
        capture_method: "observe".into(),
        confidence: 1000,
        trust_tier: Untrusted,
    };
    let record = MemoryRecord {
        memory_id: id("mem", n),
        promoted_by_task_id: id("task", 1),
        promoted_by: id("prn", 1),
        claim: "c".to_owned().into(),
        scope: "s".to_owned().into(),
        evidence_refs: vec![evidence],
        trust_tier: UserAsserted,
        promotion_reason: "r".to_owned().into(),
        status: MemoryStatus::Active,
        created_at: UnixMs(0),
        promoted_from_belief_id: None,
        invalidated_at: None,
        supersedes: None,
        project_hash: None,
        structured_assertion: None,
        retention_class: None,
        invalidation_policy: None,
        expires_at: None,
    };
    tale.tell(MemoryPromoted { record });
    tale.tell(ArtifactPromoted { artifact_id: art(on), memory_id: id("mem", n) });
}

/// Look 1 finds the artifact 1, of several files, and look 2 the artifact 2, of another; records 1 to 4 rest on two files of the
/// first look, on all of it, and on the second; each has an act and a receipt of its own but the first two. Act 9 writes.
fn tale() -> Tale {
    let mut tale = Tale::new();
    turn(&mut tale, 100, &[], None);
    act(&mut tale, 1, ActionClass::ReadLocal, &[], |_| {});
    turn(&mut tale, 110, &[1], None);
    act(&mut tale, 2, ActionClass::ReadLocal, &[1], |_| {});
    turn(&mut tale, 120, &[1, 2], None);
    act(&mut tale, 3, ActionClass::DurableMemoryWrite, &[1, 2], |tale| {
        remembered(tale, 1, 1, Some("/results/0"));
        remembered(tale, 2, 1, Some("/results/10"));
    });
    act(&mut tale, 4, ActionClass::DurableMemoryWrite, &[1, 2], |tale| remembered(tale, 3, 1, None));
    act(&mut tale, 5, ActionClass::DurableMemoryWrite, &[1, 2], |tale| remembered(tale, 4, 2, None));
    act(&mut tale, 9, ActionClass::WriteLocal, &[1, 2], |_| {});
    tale
}

fn memory(n: u64) -> NodeId {
    NodeId::Memory(id("mem", n))
}

fn receipt(n: u64) -> NodeId {
    NodeId::Receipt(id("rcp", n))
}

#[test]
fn a_place_in_a_look_takes_what_rests_on_it_or_on_all_of_it_and_names_the_rest() {
    let graph = tale().graph;
    let source = NodeId::Artifact(art(1));
    let at = |pointer: &str| Places::from([(art(1), BTreeSet::from([pointer.to_owned()]))]);
    let found = graph.recall_at(&[source], &at("/results/0"));
    assert_eq!(found.memories, [memory(1), memory(3)], "`/results/10` is another place");
    assert_eq!(found.beside, [memory(2), memory(4)]);
    assert!(found.receipts.contains(&receipt(9)), "what was done after it derives from it");
    assert!(found.receipts.contains(&receipt(3)) && found.receipts.contains(&receipt(4)));
    assert!(!found.receipts.contains(&receipt(5)), "that remembered what another file said");
    assert!(!found.effects.contains(&NodeId::Effect(id("act", 5))));
    assert_eq!(graph.promoted_in(id("rcp", 3)), [id("mem", 1), id("mem", 2)]);
    // Within and around a place is the same place.
    assert_eq!(graph.recall_at(&[source], &at("/results/10/text")).memories, [memory(2), memory(3)]);
    assert_eq!(graph.recall_at(&[source], &at("/results")).memories, [memory(1), memory(2), memory(3)]);
    // All of the look is all that rests on it.
    let all = graph.recall(&[source]);
    assert_eq!((all.memories, all.beside), (vec![memory(1), memory(2), memory(3)], vec![memory(4)]));
    // Asked for by the act itself, nothing of it is set beside.
    let of_act = graph.recall(&[NodeId::Action(id("act", 2))]);
    assert!(of_act.artifacts.contains(&NodeId::Artifact(art(2))) && of_act.memories.contains(&memory(4)));
}

#[test]
fn a_context_that_was_told_of_a_record_derives_from_what_the_record_rests_on() {
    let mut told = tale();
    turn(&mut told, 130, &[], Some(vec![id("mem", 2)]));
    act(&mut told, 10, ActionClass::WriteLocal, &[], |_| {});
    let graph = told.graph;
    let of = |n: u64| graph.recall(&[memory(n)]).receipts;
    assert!(of(2).contains(&receipt(10)) && !of(1).contains(&receipt(10)));
}

#[test]
fn what_an_agent_put_there_itself_and_what_a_tool_answered_are_no_look_at_what_stood_there() {
    let mut tale = Tale::new();
    turn(&mut tale, 100, &[], None);
    act(&mut tale, 1, ActionClass::ReadLocal, &[], |_| {});
    turn(&mut tale, 110, &[1], None);
    act(&mut tale, 2, ActionClass::ReadLocal, &[1], |_| {});
    act_by(&mut tale, 3, ("call", ActionClass::ReadLocal), &[1], |_| {});
    turn(&mut tale, 120, &[1, 2, 3], None);
    act(&mut tale, 4, ActionClass::WriteLocal, &[1, 2, 3], |_| {});
    turn(&mut tale, 130, &[1, 2, 3, 4], None);
    act(&mut tale, 5, ActionClass::ReadLocal, &[1, 2, 3, 4], |_| {});
    turn(&mut tale, 140, &[1, 2, 3, 4, 5], None);
    act(&mut tale, 6, ActionClass::DurableMemoryWrite, &[1, 2, 3, 4, 5], |tale| {
        remembered(tale, 1, 2, None);
        remembered(tale, 2, 3, None);
        remembered(tale, 3, 5, None);
    });
    let found = tale.graph.recall(&[NodeId::Artifact(art(1))]);
    assert_eq!((found.memories, found.beside), (vec![memory(2), memory(3)], vec![memory(1)]));
}

#[test]
fn a_context_of_before_that_names_no_record_derives_from_the_look_itself() {
    let mut old = tale();
    old.task = 2;
    turn(&mut old, 130, &[1], None);
    act(&mut old, 10, ActionClass::WriteLocal, &[], |_| {});
    let at = Places::from([(art(1), BTreeSet::from(["/results/0".to_owned()]))]);
    assert!(old.graph.recall_at(&[NodeId::Artifact(art(1))], &at).receipts.contains(&receipt(10)));
}
