//! One governed act from message to undo, and what the graph says of it.

use crate::tale::{Tale, art, governed, id};
use lineage::{EdgeKind, Graph, NodeId};
use model::artifact::*;
use model::body::{ArtifactCreated, ArtifactSealed, IngressAttributed};
use model::*;

use ArtifactKind::{Answer, ContextPack, FileSnapshot, WebSnapshot};
use TrustTier::{Observed, Untrusted};

#[conforms::conforms("HK-14.4-1", "HK-14.4-2")]
#[test]
fn an_artifact_knows_who_made_it_and_of_what() {
    let graph = governed().graph;
    assert_eq!(graph.producer(art(10)), Some(id("att", 1)));
    assert_eq!(graph.producer(art(23)), None, "named by an event, made by none that was seen");
    assert_eq!(graph.inputs(art(10)), [art(1), art(2)]);
    assert_eq!(graph.inputs(art(11)), [art(10)], "the request was made of the pack");
    assert_eq!(graph.inputs(art(13)), [art(12)]);
    assert_eq!(graph.inputs(art(1)), []);
}

#[conforms::conforms("HK-14.4-3", "HK-14.4-4", "HK-14.4-5")]
#[test]
fn an_artifact_knows_the_decisions_beliefs_and_memories_that_rest_on_it() {
    let graph = governed().graph;
    assert_eq!(graph.decisions_citing(art(2)), [id("dec", 1)]);
    assert_eq!(graph.decisions_citing(art(3)), []);
    assert_eq!(graph.beliefs_referencing(art(1)), [id("blf", 1)]);
    assert_eq!(graph.beliefs_referencing(art(2)), []);
    assert_eq!(graph.memories_from(art(1)), [id("mem", 1)]);
    assert_eq!(graph.memories_from(art(2)), []);
}

#[conforms::conforms("HK-14.4-6")]
#[test]
fn an_artifact_knows_the_receipts_that_include_it() {
    let mut tale = governed();
    for n in [20, 21, 22, 23, 24, 30, 40] {
        assert_eq!(tale.graph.receipts_including(art(n)), [id("rcp", 1)], "artifact {n}");
    }
    assert_eq!(tale.graph.receipts_including(art(41)), [id("rcp", 2)]);
    assert_eq!(tale.graph.receipts_including(art(3)), []);
    tale.tell(ArtifactSealed { artifact_id: art(3), by: id::<ReceiptId>("rcp", 2).to_string() });
    assert_eq!(tale.graph.receipts_including(art(3)), [id("rcp", 2)]);
}

#[test]
fn what_came_of_a_bad_source_is_named_and_nothing_else() {
    let graph = governed().graph;
    let tainted = graph.tainted_by(art(1));
    for node in [
        NodeId::Artifact(art(10)),
        NodeId::Artifact(art(13)),
        NodeId::Belief(id("blf", 1)),
        NodeId::Memory(id("mem", 1)),
        NodeId::Action(id("act", 1)),
        NodeId::Effect(id("act", 1)),
        NodeId::Artifact(art(30)),
        NodeId::Receipt(id("rcp", 1)),
    ] {
        assert!(tainted.contains(&node), "{node} came of the page");
        assert!(graph.taint(node).is_tainted(), "{node}");
        assert_eq!(graph.taint(node).untrusted, [art(1)], "{node}");
    }
    for node in [
        NodeId::Artifact(art(2)),
        NodeId::Artifact(art(3)),
        NodeId::Attempt(id("att", 1)),
        NodeId::Grant(id("grt", 1)),
        NodeId::Decision(id("dec", 1)),
        NodeId::Approval(id("apr", 1)),
    ] {
        assert!(!tainted.contains(&node) && !graph.taint(node).is_tainted(), "{node} carries none of it");
    }
    // A person'"'"'s word does not wash the source clean.
    assert_eq!(graph.taint(NodeId::Memory(id("mem", 1))).tier, Some(Untrusted));
}

#[test]
fn what_rests_on_a_replaced_source_is_stale() {
    let mut tale = Tale::new();
    tale.artifact_at(1, FileSnapshot, Observed, &[], "file:wsp/a", b"one");
    tale.artifact(2, Answer, Observed, &[1]).artifact(9, Answer, Observed, &[]);
    assert_eq!(tale.graph.stale(art(2)), []);
    tale.artifact_at(3, FileSnapshot, Observed, &[], "file:wsp/a", b"one");
    assert_eq!(tale.graph.stale(art(2)), [], "seen again, and the same");
    tale.artifact_at(4, FileSnapshot, Observed, &[], "file:wsp/a", b"two");
    for n in [1, 2] {
        let stale = tale.graph.stale(art(n));
        assert_eq!((stale[0].source, stale[0].newer, stale.len()), (art(1), art(4), 1));
    }
    assert_eq!(tale.graph.stale(art(4)), []);
    assert_eq!(tale.graph.stale(art(9)), []);
}

#[test]
fn a_receipt_is_explained_link_by_link() {
    let graph = governed().graph;
    let chain = graph.explain(id("rcp", 1)).expect("it is there");
    assert_eq!(chain.goal, [NodeId::Step(id("step", 1)), NodeId::Attempt(id("att", 1))]);
    assert_eq!(chain.context, [art(10)]);
    assert_eq!(chain.evidence, [art(1), art(2)]);
    assert_eq!(chain.action, Some(NodeId::Action(id("act", 1))));
    assert_eq!(chain.policy, [NodeId::Policy(id("pol", 1))]);
    assert_eq!(chain.decisions, [NodeId::Decision(id("dec", 1))]);
    assert_eq!(chain.approvals, [NodeId::Approval(id("apr", 1))]);
    assert_eq!(chain.witnesses, [NodeId::Witness(id("wit", 1))]);
    assert_eq!(chain.grants, [NodeId::Grant(id("grt", 1))]);
    assert_eq!(chain.effect, Some(NodeId::Effect(id("act", 1))));
    assert_eq!(chain.changes, [art(30)]);
    assert_eq!(chain.undone_by, [id("rcp", 2)]);
    assert_eq!(chain.taint.untrusted, [art(1)]);
    assert_eq!(graph.explain(id("rcp", 9)), None);
    let bare = graph.explain(id("rcp", 2)).expect("it is there");
    assert_eq!((bare.action, bare.grants.len()), (None, 0));
}

#[test]
fn a_message_says_who_sent_it_and_how_far_that_can_be_relied_on() {
    let mut tale = governed();
    let (ingress_id, principal_id): (IngressId, PrincipalId) = (id("ing", 1), id("prn", 2));
    tale.tell(IngressAttributed { ingress_id, principal_id, trust_tier: TrustTier::Untrusted });
    let node = tale.graph.node(ingress_id).expect("it is there");
    assert_eq!(node.trust_tier, Some(TrustTier::Untrusted));
    assert!(node.detail.ends_with(", untrusted"), "{}", node.detail);
    let own: IngressId = id("ing", 2);
    tale.tell(IngressAttributed { ingress_id: own, principal_id, trust_tier: TrustTier::UserAsserted });
    assert!(!tale.graph.node(own).expect("it is there").detail.contains(','));
}

#[test]
fn every_node_id_reads_itself_and_nothing_else() {
    let graph = governed().graph;
    for node in graph.nodes() {
        assert_eq!(node.id.to_string().parse::<NodeId>(), Ok(node.id));
    }
    for wrong in ["", "effect:", "art_1", "effect:art_00000000000000000000000000000001", "receipt"] {
        assert!(wrong.parse::<NodeId>().is_err(), "`{wrong}`");
    }
}

#[test]
fn erased_words_leave_nodes_and_edges_in_place() {
    let shown = governed().graph;
    let mut tale = Tale::new();
    tale.artifact(1, WebSnapshot, Untrusted, &[]);
    let artifact = Artifact { uri: Sensitive::Erased(Digest::ZERO), ..made(&shown) };
    tale.tell(ArtifactCreated { artifact });
    assert_eq!(tale.graph.inputs(art(10)), [art(1), art(2)]);
    assert_eq!(tale.graph.stale(art(10)), []);
}

fn made(graph: &Graph) -> Artifact {
    Artifact {
        artifact_id: art(10),
        class: ArtifactClass::Derived,
        kind: ContextPack,
        uri: String::new().into(),
        content_hash: graph.node(art(10)).and_then(|n| n.content_hash).expect("made"),
        media_type: String::new(),
        byte_size: 0,
        created_at: UnixMs(0),
        producer: id("prn", 1),
        retention_class: RetentionClass::Task,
        trust_tier: Observed,
        sensitivity_class: Sensitivity::Private,
        produced_by: None,
        inputs: vec![art(1), art(2)],
        task_local_alias: None,
    }
}

#[test]
fn a_drawing_goes_from_cause_to_effect_and_is_the_same_each_time() {
    let graph = governed().graph;
    let layout = graph.layout();
    assert_eq!(layout.nodes.len(), graph.nodes().count());
    let layer = |id: NodeId| layout.nodes.iter().find(|d| d.id == id).map(|d| d.layer).expect("drawn");
    // A pack that an attempt made informs the same attempt: the one edge here that leads back.
    for edge in graph.edges().filter(|e| e.kind != EdgeKind::Informed) {
        assert!(layer(edge.from) < layer(edge.to), "{} to {}", edge.from, edge.to);
    }
    let places: std::collections::BTreeSet<_> = layout.nodes.iter().map(|d| (d.layer, d.row)).collect();
    assert_eq!(places.len(), layout.nodes.len(), "no two in one place");
    assert_eq!(governed().graph.layout(), layout);
    let part = graph.around(&[NodeId::Artifact(art(3))]);
    assert!(part.nodes().count() < graph.nodes().count());
    assert!(part.node(art(3)).is_some() && part.node(art(1)).is_none());
}

#[test]
fn a_thousand_nodes_are_drawn_within_the_rows_they_need() {
    let mut tale = Tale::new();
    for n in 0..1_000 {
        let inputs: Vec<u64> = if n < 20 { vec![] } else { vec![n - 20, n - 1 - (n * 7) % 19] };
        tale.artifact(n, Answer, Observed, &inputs);
    }
    let layout = tale.graph.layout();
    // The attempt and step that own them are drawn too.
    assert!(layout.nodes.len() >= 1_000 && layout.layers > 10 && layout.rows < 200, "{layout:?}");
}

proptest::proptest! {
    /// Invariants 2 and 3, on any graph of artifacts.
    #[test]
    fn taint_is_exactly_reachability_and_never_gains_trust(
        tiers in proptest::collection::vec(0..5_usize, 2..25),
        joins in proptest::collection::vec((0..25_u64, 0..25_u64), 0..60),
    ) {
        let mut tale = Tale::new();
        let count = tiers.len() as u64;
        for (n, tier) in (0..count).zip(&tiers) {
            let inputs: Vec<u64> = joins.iter().filter(|(from, to)| *to == n && *from < n).map(|(f, _)| *f).collect();
            tale.artifact(n, Answer, TrustTier::ALL[*tier], &inputs);
        }
        let graph = tale.graph;
        for n in 0..count {
            let taint = graph.taint(art(n));
            for from in graph.inputs(art(n)) {
                proptest::prop_assert!(taint.tier <= graph.taint(from).tier);
            }
            for m in 0..count {
                let down = graph.tainted_by(art(n)).contains(&NodeId::Artifact(art(m)));
                let up = graph.sources(art(m)).contains(&NodeId::Artifact(art(n)));
                proptest::prop_assert_eq!(down, up);
                let bad = graph.node(art(n)).and_then(|x| x.trust_tier) == Some(Untrusted);
                if bad && (up || n == m) {
                    proptest::prop_assert!(graph.taint(art(m)).untrusted.contains(&art(n)));
                }
            }
        }
        proptest::prop_assert!(graph.edges().all(|e| e.kind != EdgeKind::Cited));
    }
}
