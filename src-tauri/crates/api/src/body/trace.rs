//! From a byte back to its goal, and from a bad source forward to all that rests on it.

use crate::ids::find;
use crate::lineages::{around, link, links};
use crate::writers::{Written, writer_of};
use crate::{Host, Wire as _, fold, not_found, usage};
use kernel::StoreState;
use kernel::skill_registry::SkillRegistry;
use lineage::{Graph, NodeId, Places};
use model::artifact::ArtifactKind;
use model::knowledge::MemoryStatus;
use model::receipt::{ReceiptClass, Statement};
use model::task::Origin;
use model::{ArtifactId, MemoryId, ReceiptId, TaskId};
use projections::rows::ReceiptRow;
use std::collections::BTreeSet;
use std::path::Path;
use wire::receipts::{Explanation, Show};
use wire::trace::{Edge, Explain, Explained, Graph as Drawing, Line, Node, Recall, Recalled, Step};
use wire::{Code, Error};
use words::knowledge::ExplainedKind;

/// What can be explained, and how it is named.
pub(crate) const EXPLAINS: &str = "what Hermit did in a folder that was named to it can be explained: name a file there by its \
    path, with `:LINE` behind it for one line; an artifact by its identifier; or a receipt by its identifier, by 4 or more \
    digits from its beginning or end, or as pages write it, such as `R-1a2b`";

/// Receipts of one file that are told at most.
const CHAINS_MAX: usize = 20;

pub(crate) fn explain(host: &dyn Host, p: Explain) -> Result<Explained, Error> {
    let subject = p.subject.trim().to_owned();
    if Path::new(&subject).is_absolute() {
        return path(host, &subject, p.line);
    }
    if p.line.is_some() {
        return Err(usage("only a file has lines; give its path"));
    }
    let begins = |prefix: &str| subject.to_ascii_lowercase().starts_with(&format!("{prefix}_"));
    if begins(ArtifactId::PREFIX) {
        return artifact(host, &subject);
    }
    if begins(TaskId::PREFIX) {
        let task: TaskId = find(host, &subject)?;
        return Err(usage(format!("`{task}` is a task; what it did is explained one by one"))
            .hint(format!("name a receipt of it: `hermit receipts list --task {task}` lists them")));
    }
    let row = match super::receipts::found(host, &subject) {
        Ok(row) => row,
        // Digits alone may be an artifact's as well; a receipt comes first.
        Err(error) if error.code == Code::NotFound && is_digits(&subject) => {
            return artifact(host, &subject).map_err(|error| match error.code {
                Code::NotFound => Error::new(
                    Code::NotFound,
                    format!(
                        "there is no receipt and no artifact whose identifier begins or ends with `{subject}`"
                    ),
                )
                .hint(EXPLAINS),
                _ => error,
            });
        }
        // It is not even spelled as a receipt is.
        Err(error) if error.code == Code::Usage => {
            return Err(usage(format!(
                "`{subject}` is no file, receipt or artifact that Hermit has a record of"
            ))
            .hint(EXPLAINS));
        }
        Err(error) => return Err(error),
    };
    let (graph, _) = around(&host.query()?, row.task_id)?;
    let told = chain(&graph, row.receipt_id)?;
    let around = [NodeId::Receipt(row.receipt_id)];
    let about = (ExplainedKind::Receipt, row.receipt_id.to_string());
    explained(host, about, Vec::new(), None, vec![told], &graph, &around)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn explained(
    host: &dyn Host,
    (kind, subject): (ExplainedKind, String),
    told: Vec<String>,
    line: Option<Line>,
    chains: Vec<Explanation>,
    graph: &Graph,
    around: &[NodeId],
) -> Result<Explained, Error> {
    let mut told = told;
    // The newest change in plain words comes first; how it was found, behind it.
    if let Some(chain) = chains.first() {
        let row = super::receipts::row(&super::receipts::found(host, &chain.receipt_id)?);
        let asked = Show { receipt: chain.receipt_id.clone(), brief: true };
        // Where its statement cannot be read, the list tells it as far as it knows.
        let has_undo = super::receipts::show(host, asked).map_or(row.has_undo(), |shown| shown.has_undo());
        told.splice(0..0, super::explanation::sentences(chain, &row, has_undo));
    }
    Ok(Explained { kind, subject, told, line, chains, graph: drawing(graph, around) })
}

/// What stands behind a receipt.
fn chain(graph: &Graph, receipt: ReceiptId) -> Result<Explanation, Error> {
    let told = graph.explain(receipt).ok_or_else(|| not_found("receipt", &receipt.to_string()))?;
    Ok(Explanation {
        receipt_id: told.receipt.to_string(),
        goal: links(graph, told.goal),
        context: links(graph, told.context),
        evidence: links(graph, told.evidence),
        action: told.action.map(|id| link(graph, id)),
        policy: links(graph, told.policy),
        decisions: links(graph, told.decisions),
        approvals: links(graph, told.approvals),
        witnesses: links(graph, told.witnesses),
        grants: links(graph, told.grants),
        effect: told.effect.map(|id| link(graph, id)),
        changes: links(graph, told.changes),
        undone_by: links(graph, told.undone_by),
        trust: told.taint.tier,
        untrusted: links(graph, told.taint.untrusted),
    })
}

/// The part of the graph around some nodes, with a place for each.
fn drawing(graph: &Graph, around: &[NodeId]) -> Drawing {
    let part = graph.around(around);
    let layout = part.layout();
    let node = |n: &lineage::Drawn| Node { link: link(&part, n.id), layer: n.layer, row: n.row };
    let edge = |e: lineage::Edge| Edge { from: e.from.to_string(), to: e.to.to_string(), kind: e.kind };
    Drawing {
        nodes: layout.nodes.iter().map(node).collect(),
        edges: part.edges().map(edge).collect(),
        layers: layout.layers,
        rows: layout.rows,
    }
}

fn artifact(host: &dyn Host, named: &str) -> Result<Explained, Error> {
    let id: ArtifactId = find(host, named)?;
    let row = host.query()?.artifact(id).wire()?.ok_or_else(|| not_found("artifact", named))?;
    let (graph, _) = around(&host.query()?, row.task_id)?;
    let mut told = Vec::new();
    match graph.producer(id) {
        Some(attempt) => told.push(format!("attempt {attempt} of task {} made it", row.task_id)),
        None => told.push(format!(
            "nobody's attempt made it: it came in, or the kernel keeps it, in task {}",
            row.task_id
        )),
    }
    let including = graph.receipts_including(id);
    // What only went into an act stands behind that act's receipt.
    let resting = graph.carried_into(id).into_iter().filter_map(|node| match node {
        NodeId::Receipt(receipt) => Some(receipt),
        _ => None,
    });
    let mut receipts = including.clone();
    receipts.extend(resting.filter(|id| !including.contains(id)));
    receipts.truncate(CHAINS_MAX);
    if receipts.is_empty() {
        told.push("no receipt includes it, and none rests on it".to_owned());
    } else if including.is_empty() {
        told.push(format!("it is part of no receipt; {} rest on it", receipts.len()));
    }
    let chains = receipts.into_iter().map(|r| chain(&graph, r)).collect::<Result<_, _>>()?;
    let about = (ExplainedKind::Artifact, id.to_string());
    explained(host, about, told, None, chains, &graph, &[NodeId::Artifact(id)])
}

/// A file: every change of it that has a receipt, and for a line the one that wrote it.
fn path(host: &dyn Host, path: &str, line: Option<u32>) -> Result<Explained, Error> {
    let history = crate::writers::history(host, Path::new(path))?;
    let mut told = history.told.clone();
    let written = match line {
        Some(number) => Some(writer_of(host, Path::new(path), &history, number, &mut told)?),
        None => None,
    };
    let wanted: Vec<(ReceiptId, TaskId)> = match &written {
        Some(Written { by: Some(step), .. }) => vec![(step.receipt_id, step.task_id)],
        Some(_) => Vec::new(),
        None => history.steps.iter().take(CHAINS_MAX).map(|s| (s.receipt_id, s.task_id)).collect(),
    };
    let graph = match wanted.first() {
        Some((_, task)) => around(&host.query()?, *task)?.0,
        None => Graph::new(),
    };
    let mut chains = Vec::new();
    for (receipt, _) in &wanted {
        // Where the log is too long to fold whole, a change by another family of tasks is told by its own graph.
        match chain(&graph, *receipt) {
            Ok(told) => chains.push(told),
            Err(_) => chains.push(chain(&around(&host.query()?, task_of(host, *receipt)?)?.0, *receipt)?),
        }
    }
    let nodes: Vec<NodeId> = wanted.iter().map(|(receipt, _)| NodeId::Receipt(*receipt)).collect();
    let line = written.map(|written| Line {
        number: written.number,
        text: written.text,
        written_by: written.by.as_ref().map(|step| step.receipt_id.to_string()),
        number_then: written.number_then,
    });
    explained(host, (ExplainedKind::Path, path.to_owned()), told, line, chains, &graph, &nodes)
}

fn task_of(host: &dyn Host, receipt: ReceiptId) -> Result<TaskId, Error> {
    let row = host.query()?.receipt(receipt).wire()?;
    row.map(|row| row.task_id).ok_or_else(|| not_found("receipt", &receipt.to_string()))
}

pub(crate) fn recall(host: &dyn Host, p: Recall) -> Result<Recalled, Error> {
    let store = fold::store_state(&host.reader()?)?;
    let Sources { nodes: sources, places, task } = sources(host, &store.skills, p.source.trim())?;
    let (graph, reach) = around(&host.query()?, task)?;
    let found = graph.recall_at(&sources, &places);
    let mut plan = at_work(host, &graph, &found.artifacts)?;
    plan.extend(super::suggestions::to_deny(host, &graph, &found.artifacts)?);
    let step_of = |id: &NodeId| step(host, &graph, &store, *id);
    for id in &found.order {
        plan.extend(step_of(id)?);
    }
    for id in &found.beside {
        plan.extend(of_beside(host, &graph, *id)?);
    }
    for id in &sources {
        plan.extend(step_of(id)?);
    }
    Ok(Recalled {
        sources: links(&graph, sources),
        scope: reach,
        artifacts: links(&graph, found.artifacts),
        beliefs: links(&graph, found.beliefs),
        memories: links(&graph, found.memories),
        decisions: links(&graph, found.decisions),
        effects: links(&graph, found.effects),
        receipts: links(&graph, found.receipts),
        plan,
    })
}

/// How to end the tasks that go on with a context, or a summary of one, which derives from the source: as long as they are at
/// work, more comes to rest on it.
fn at_work(host: &dyn Host, graph: &Graph, derived: &[NodeId]) -> Result<Vec<Step>, Error> {
    let holds = |kind: ArtifactKind| matches!(kind, ArtifactKind::ContextPack | ArtifactKind::ContextSummary);
    let nodes = derived.iter().filter_map(|id| graph.node(*id));
    let told: BTreeSet<TaskId> =
        nodes.filter(|node| node.artifact_kind.is_some_and(holds)).map(|node| node.task_id).collect();
    let (query, mut plan) = (host.query()?, Vec::new());
    for task in told {
        let Some(row) = query.task(task).wire()? else { continue };
        // What Hermit itself proposed is taken back by its card.
        if row.status.is_terminal() || row.origin == Origin::Service {
            continue;
        }
        plan.push(Step {
            subject: link(graph, NodeId::Task(task)),
            command: Some(format!("hermit task cancel {task}")),
            why: "it continues with a context that derives from the source".to_owned(),
        });
    }
    Ok(plan)
}

/// What a person means: the nodes, the places in those that tell of other things too, and a task of one of them.
struct Sources {
    nodes: Vec<NodeId>,
    places: Places,
    task: TaskId,
}

fn sources(host: &dyn Host, skills: &SkillRegistry, named: &str) -> Result<Sources, Error> {
    let whole = |(nodes, task)| Sources { nodes, places: Places::new(), task };
    if let Some(skill) = named.strip_prefix("skill:") {
        return of_skill(host, skills, skill).map(whole);
    }
    if !Path::new(named).is_absolute() {
        return one_source(host, named).map(whole);
    }
    let found = crate::file_names::of_file(host, Path::new(named))?;
    let Some(first) = found.first() else {
        let none =
            Error::new(Code::NotFound, format!("nothing of `{named}` was ever taken in, read or kept"));
        return Err(none.hint("name an artifact instead; `hermit search` finds them"));
    };
    let task = first.task_id;
    let nodes = found.iter().map(|one| NodeId::Artifact(one.artifact_id)).collect();
    let part = found.into_iter().filter(|one| !one.at.is_empty());
    Ok(Sources { nodes, places: part.map(|one| (one.artifact_id, one.at)).collect(), task })
}

/// A record that an agent asked for which had the source, and that rests on other evidence: it is not taken back unseen.
fn of_beside(host: &dyn Host, graph: &Graph, id: NodeId) -> Result<Option<Step>, Error> {
    let NodeId::Memory(memory) = id else { return Ok(None) };
    let row = host.query()?.memory(memory).wire()?;
    if row.is_none_or(|row| row.status != MemoryStatus::Active) {
        return Ok(None);
    }
    let why = format!(
        "it rests on other evidence, but the agent that asked for it had the source before it: look whether it holds with \
         `hermit memory show {memory}`, and take it back if not: `{}`",
        forget(memory)
    );
    Ok(Some(Step { subject: link(graph, id), command: None, why }))
}

/// A skill by its name, and the bytes of it behind `@`, where one version of it is meant.
fn of_skill(host: &dyn Host, skills: &SkillRegistry, named: &str) -> Result<(Vec<NodeId>, TaskId), Error> {
    let (name, sha256) = named.split_once('@').unwrap_or((named, ""));
    let meant = skills.0.iter().filter(|one| one.name == name && one.sha256.to_string().starts_with(sha256));
    let meant: Vec<ArtifactId> = meant.map(|one| one.record.artifact_id).collect();
    let first = meant.first().ok_or_else(|| {
        not_found("skill that was ever trusted", named)
            .hint("`hermit skills list` shows those of a folder and your own")
    })?;
    let row = host.query()?.artifact(*first).wire()?.ok_or_else(|| not_found("artifact", named))?;
    Ok((meant.into_iter().map(NodeId::Artifact).collect(), row.task_id))
}

fn one_source(host: &dyn Host, named: &str) -> Result<(Vec<NodeId>, TaskId), Error> {
    if let Ok(node) = named.parse::<NodeId>() {
        let query = host.query()?;
        let reader = query.reader();
        // Any task will do where the log is folded whole; else the one the node belongs to.
        let task = match node {
            NodeId::Artifact(id) => query.artifact(id).wire()?.map(|row| row.task_id),
            NodeId::Receipt(id) => query.receipt(id).wire()?.map(|row| row.task_id),
            _ => reader.task_ids().wire()?.into_iter().next(),
        };
        let task = task.ok_or_else(|| not_found(node.kind().as_str(), named))?;
        let known = around(&query, task)?.0.node(node).is_some();
        return if known { Ok((vec![node], task)) } else { Err(not_found(node.kind().as_str(), named)) };
    }
    let id: ArtifactId = find(host, named)?;
    let row = host.query()?.artifact(id).wire()?.ok_or_else(|| not_found("artifact", named))?;
    Ok((vec![NodeId::Artifact(id)], row.task_id))
}

/// What a person can run to take one thing back.
fn step(host: &dyn Host, graph: &Graph, store: &StoreState, id: NodeId) -> Result<Option<Step>, Error> {
    let of =
        |command: Option<String>, why: &str| Step { subject: link(graph, id), command, why: why.to_owned() };
    Ok(Some(match id {
        NodeId::Receipt(receipt) => {
            let Some(row) = host.query()?.receipt(receipt).wire()? else { return Ok(None) };
            // Its records are taken back one by one: one act may have remembered others beside them.
            if row.class == ReceiptClass::MemoryPromotion && !graph.promoted_in(receipt).is_empty() {
                return Ok(None);
            }
            return Ok(undo(&row, &of));
        }
        NodeId::Memory(memory) => match host.query()?.memory(memory).wire()? {
            Some(row) if row.status != MemoryStatus::Active => {
                of(None, &format!("it is {} already", row.status))
            }
            _ => of(Some(forget(memory)), "it was promoted from what derives from the source"),
        },
        NodeId::Belief(_) => of(None, "a belief ends with its task; what rests on it is listed here too"),
        NodeId::Artifact(at) if store.skills.0.iter().any(|one| one.record.artifact_id == at) => {
            let name =
                store.skills.0.iter().find(|one| one.record.artifact_id == at).map(|one| one.name.clone());
            let command =
                name.map(|name| format!("hermit skills untrust {name} --reason \"it is a bad source\""));
            of(command, "no model is told of the skill from then on")
        }
        NodeId::Artifact(at) if store.playbooks.0.iter().any(|one| one.text.artifact_id == at) => {
            let one = store.playbooks.0.iter().find(|one| one.text.artifact_id == at);
            let command =
                one.map(|one| format!("hermit playbooks off {} --reason \"it is a bad source\"", one.name));
            of(command, "`hermit run --playbook` does not run it from then on")
        }
        NodeId::Artifact(_) => {
            of(None, "the source itself stays as evidence; `hermit erase` takes its content away")
        }
        _ => return Ok(None),
    }))
}

fn forget(memory: MemoryId) -> String {
    format!("hermit memory invalidate {memory} --reason \"it rests on a bad source\"")
}

fn undo(row: &ReceiptRow, of: &dyn Fn(Option<String>, &str) -> Step) -> Option<Step> {
    use model::action::Reversibility as R;
    if row.rolls_back.is_some() || !changes(row) {
        return None;
    }
    Some(match (row.undone_by, row.reversibility) {
        (Some(by), _) => of(None, &format!("undone already, by {by}")),
        (None, R::Irreversible) => of(None, "it cannot be undone; look at what it did with `hermit explain`"),
        (None, _) if !super::receipts::row(row).has_undo() => {
            of(None, "no undo brings this back; it is taken back by a change of its own")
        }
        (None, _) => of(
            Some(format!("hermit rollback {}", row.receipt_id)),
            "what it changed rests on the source; the undo asks you first and has a receipt of its own",
        ),
    })
}

/// Whether the act may have changed something.
pub(crate) fn changes(row: &ReceiptRow) -> bool {
    use model::action::Reversibility;
    use model::receipt::ReceiptClass;
    let about_others =
        matches!(row.class, ReceiptClass::ApprovalResolution | ReceiptClass::ObservationResolution);
    !about_others && row.action_class.is_important() && row.reversibility != Reversibility::NoEffect
}

/// The statement of a receipt, sensitive leaves as far as they can be read.
pub(crate) fn statement(host: &dyn Host, row: &ReceiptRow) -> Result<Option<Statement>, Error> {
    let Some(artifact) = host.query()?.artifact(row.envelope_ref).wire()? else { return Ok(None) };
    let Ok(bytes) = host.artifacts()?.read(&artifact.content_hash) else { return Ok(None) };
    let payload = kernel::command::rollback::payload_of(&bytes).wire()?;
    let statement = seal::canon::parse_canonical(&payload).wire()?;
    let shown = fold::revealed(&host.reader()?, statement, "")?;
    Ok(serde_json::from_value(shown).ok())
}
