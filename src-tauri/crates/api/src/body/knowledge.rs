//! What is held true, and why; and the search through everything.

use super::task::{channel, of_submitted};
use crate::convert::{all, ask, every, opt, opt_text, opt_word, page, rows, text, word};
use crate::files::absolute;
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, fold, not_found, usage};
use kernel::command::belief::Correction;
use kernel::command::memory::Memorandum;
use kernel::workspace::decode_root;
use model::artifact::{ArtifactClass, ArtifactKind, EvidenceRef, Selector};
use model::event::EntityType;
use model::knowledge::{MemoryStatus, MemoryType};
use model::{BeliefId, Digest, MemoryId, ReceiptId, TaskId};
use projections::Query;
use projections::query::{MemoryFilter, Page};
use projections::rows::{ArtifactRow, MemoryRow};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use wire::knowledge::{
    Belief, BeliefList, Beliefs, Correct, Corrected, Decision, DecisionList, Decisions, Evidence, Forget,
    Forgotten, History, Hit, Hits, Invalidate, Invalidated, Memories, Memory, MemoryList, Project, Remember,
    Revision, RevisionList, Revoke, Revoked, Search,
};
use wire::task::Submitted;
use wire::{Code, Error, Text};

pub(crate) use super::memory_contexts::memory_contexts;
pub(crate) use super::memory_then::{memory_points, memory_then};
pub(crate) use super::suggestions::{review, suggestions};

/// Tasks of one search whose changed files are looked through by name.
const TASKS_OF_FILES_MAX: usize = 20;

pub(crate) fn decisions(host: &dyn Host, p: Decisions) -> Result<DecisionList, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let found = host.query()?.decisions(task, ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, |r| Decision {
        decision_id: r.decision_id.to_string(),
        task_id: r.task_id.to_string(),
        class: r.class,
        summary: text(&r.summary),
        rationale: text(&r.rationale),
        risk: r.risk,
        decided_by: r.decided_by.to_string(),
        reversible: r.reversible,
        evidence: r.evidence.iter().map(evidence).collect(),
        alternatives: r.alternatives.iter().map(text).collect(),
        created_at: r.created_at.0,
    }))
}

pub(crate) fn beliefs(host: &dyn Host, p: Beliefs) -> Result<BeliefList, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let status = opt_word(p.status.as_deref())?;
    let found = host.query()?.beliefs(task, status, ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, |r| Belief {
        belief_id: r.belief_id.to_string(),
        task_id: r.task_id.to_string(),
        claim: text(&r.claim),
        scope: text(&r.scope),
        confidence: r.confidence,
        trust: r.trust_tier,
        status: r.status,
        revision: r.revision,
        evidence: r.evidence.iter().map(evidence).collect(),
        created_at: r.created_at.0,
        updated_at: r.updated_at.0,
        superseded_by: opt(r.superseded_by),
        contradicts: all(&r.contradicts),
        reason: opt_text(r.reason.as_ref()),
    }))
}

pub(crate) fn history(host: &dyn Host, p: History) -> Result<RevisionList, Error> {
    let id: BeliefId = find(host, &p.belief)?;
    let found = host.query()?.belief_revisions(id, ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, |r| Revision {
        revision: r.revision,
        confidence: r.confidence,
        trust: r.trust_tier,
        reason: opt_text(r.reason.as_ref()),
        at: r.at.0,
    }))
}

pub(crate) fn revoke(host: &dyn Host, p: Revoke) -> Result<Revoked, Error> {
    let (kernel, id): (_, BeliefId) = (host.kernel()?, find(host, &p.belief)?);
    let row = host.query()?.belief(id).wire()?.ok_or_else(|| crate::not_found("belief", &p.belief))?;
    kernel.revoke_belief(row.task_id, id, &p.reason).wire()?;
    Ok(Revoked { belief_id: id.to_string(), task_id: row.task_id.to_string() })
}

pub(crate) fn correct(host: &dyn Host, p: Correct) -> Result<Corrected, Error> {
    let one = || usage("say one thing of it: `confidence`, `instead`, `against` or `over`");
    let confidence = p.confidence.map(Correction::Confidence);
    let (instead, against) = (p.instead.map(Correction::Instead), p.against.map(Correction::Against));
    let over = p.over.then_some(Correction::Over);
    let mut said = [confidence, instead, against, over].into_iter().flatten();
    let (Some(said), None) = (said.next(), said.next()) else { return Err(one()) };
    if matches!(said, Correction::Confidence(1_001..)) {
        return Err(usage("`confidence` goes from 0 to 1000"));
    }
    let (kernel, id): (_, BeliefId) = (host.kernel()?, find(host, &p.belief)?);
    let row = host.query()?.belief(id).wire()?.ok_or_else(|| crate::not_found("belief", &p.belief))?;
    let by = channel(p.channel.as_deref())?;
    let new = kernel.correct_belief((row.task_id, id), &said, &p.reason, by).wire()?;
    Ok(Corrected { belief_id: id.to_string(), task_id: row.task_id.to_string(), by: opt(new) })
}

pub(crate) fn memories(host: &dyn Host, p: Memories) -> Result<MemoryList, Error> {
    let status = match p.status.as_deref() {
        None => Some(MemoryStatus::Active),
        Some("any") => None,
        Some(status) => Some(word(status)?),
    };
    let projects = projects(host)?;
    if let Some(about) = p.about.as_deref() {
        return relevant(host, about, &p, &projects);
    }
    let project = project_of(p.folder.as_deref(), &projects)?;
    let filter = MemoryFilter { status, memory_type: opt_word(p.memory_type.as_deref())?, project };
    let query = host.query()?;
    let found = match p.memory.as_deref() {
        None => query.memories(filter, ask(p.after.as_deref(), p.limit)?).wire()?,
        Some(named) => {
            let row = query.memory(find(host, named)?).wire()?;
            let row = row.ok_or_else(|| crate::not_found("memory record", named))?;
            Page { rows: vec![row], next: None }
        }
    };
    let rows = memories_now(&query, &found.rows, &projects)?;
    in_conversations(&query, MemoryList { rows, next: opt(found.next) })
}

/// What is held in a project and says something of these words, the most relevant first.
fn relevant(host: &dyn Host, about: &str, p: &Memories, projects: &Projects) -> Result<MemoryList, Error> {
    let is_held = p.status.as_deref().is_none_or(|status| status == MemoryStatus::Active.as_str());
    if p.folder.is_none() || p.memory.is_some() || p.after.is_some() || !is_held {
        return Err(usage(
            "what is relevant is looked up among what is held in one project: name a folder of it, and nothing else but a type",
        ));
    }
    let memory_type: Option<MemoryType> = opt_word(p.memory_type.as_deref())?;
    let project = project_of(p.folder.as_deref(), projects)?;
    let words = knowledge::relevance::words(&[about]);
    let query = host.query()?;
    let mut found = query.memories_saying(&words, project, host.now(), rows(p.limit)?).wire()?;
    found.retain(|(row, _)| memory_type.is_none() || row.memory_type == memory_type);
    let mut rows = memories_now(&query, found.iter().map(|(row, _)| row), projects)?;
    for (row, (_, share)) in rows.iter_mut().zip(&found) {
        row.relevance = Some(*share);
    }
    in_conversations(&query, MemoryList { rows, next: None })
}

/// The same records, each with the conversation of its task.
fn in_conversations(query: &Query, mut found: MemoryList) -> Result<MemoryList, Error> {
    for row in &mut found.rows {
        let task: TaskId = row.task_id.parse().map_err(|_| not_found("task", &row.task_id))?;
        row.conversation_id = query.task(task).wire()?.map(|task| task.conversation_id.to_string());
    }
    Ok(found)
}

/// Records as they are now, in the same order.
pub(super) fn memories_now<'r>(
    query: &Query,
    rows: impl IntoIterator<Item = &'r MemoryRow>,
    projects: &Projects,
) -> Result<Vec<Memory>, Error> {
    let rows: Vec<&MemoryRow> = rows.into_iter().collect();
    let held: Vec<&MemoryRow> =
        rows.iter().copied().filter(|row| row.status == MemoryStatus::Active).collect();
    let withheld = query.memories_repeating(&held).wire()?;
    Ok(rows.into_iter().map(|row| memory(row, projects, withheld.contains(&row.memory_id))).collect())
}

fn memory(r: &MemoryRow, projects: &Projects, withheld: bool) -> Memory {
    Memory {
        memory_id: r.memory_id.to_string(),
        task_id: r.task_id.to_string(),
        conversation_id: None,
        claim: text(&r.claim),
        scope: text(&r.scope),
        reason: text(&r.reason),
        trust: r.trust_tier,
        status: r.status,
        evidence: r.evidence.iter().map(evidence).collect(),
        promoted_by: r.promoted_by.to_string(),
        memory_type: r.memory_type,
        project: r.project_hash.map(|hash| Project {
            hash: hash.to_string(),
            name: projects.get(&hash).and_then(|(name, _)| name.clone()),
        }),
        retention: r.retention,
        invalidation: r.invalidation,
        from_belief: opt(r.from_belief),
        supersedes: opt(r.supersedes),
        uses: r.uses,
        last_used_at: r.last_used_at.map(|at| at.0),
        helped: r.helped,
        helped_in: opt(r.helped_in),
        contradicted: r.contradicted,
        contradicted_in: opt(r.contradicted_in),
        withheld,
        expires_at: r.expires_at.map(|at| at.0),
        created_at: r.created_at.0,
        ended_at: r.ended_at.map(|at| at.0),
        end_reason: opt_text(r.end_reason.as_ref()),
        superseded_by: opt(r.superseded_by),
        relevance: None,
    }
}

/// The project of a folder, where one is named.
pub(super) fn project_of(folder: Option<&str>, projects: &Projects) -> Result<Option<Digest>, Error> {
    let Some(folder) = folder else { return Ok(None) };
    let root = absolute("folder", folder)?;
    let known = projects.iter().find(|(_, (_, known))| known.contains(&root));
    let unknown = || {
        Error::new(Code::NotFound, format!("no task worked in `{folder}` yet"))
            .hint("name a folder that a task worked in, or leave it out")
    };
    Ok(Some(*known.ok_or_else(unknown)?.0))
}

/// A name and the folders of each project that this store knows.
pub(super) type Projects = BTreeMap<Digest, (Option<Text>, Vec<PathBuf>)>;

pub(super) fn projects(host: &dyn Host) -> Result<Projects, Error> {
    let mut projects = Projects::new();
    let of = fold::store_state(&host.reader()?)?.projects;
    let query = host.query()?;
    for row in every(|ask| query.workspaces(ask))? {
        let (Some((hash, _)), Some(root)) = (of.get(&row.workspace_id), row.root_path.shown()) else {
            continue;
        };
        let (hash, root) = (*hash, decode_root(root).wire()?);
        let (name, roots) = projects.entry(hash).or_default();
        let last = root.file_name().map(|last| Text::Shown(last.to_string_lossy().into_owned()));
        *name = name.take().or(last);
        roots.push(root);
    }
    Ok(projects)
}

pub(crate) fn remember(host: &dyn Host, p: Remember) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let said = Memorandum {
        claim: p.claim,
        scope: p.scope.unwrap_or_default(),
        everywhere: p.everywhere,
        reason: p
            .reason
            .filter(|why| !why.trim().is_empty())
            .unwrap_or_else(|| "a person said so".to_owned()),
        memory_type: p.memory_type,
        pinned: p.pinned,
        days: p.days,
        replaces: find_opt(host, p.replaces.as_deref())?,
    };
    let submitted = host.kernel()?.propose_memory(said, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn forget(host: &dyn Host, p: Forget) -> Result<Forgotten, Error> {
    let kernel = host.kernel()?;
    let id: MemoryId = find(host, &p.memory)?;
    let task = kernel.revoke_memory(id, &p.reason).wire()?;
    Ok(Forgotten { memory_id: id.to_string(), task_id: task.to_string() })
}

fn evidence(e: &EvidenceRef) -> Evidence {
    Evidence {
        artifact_id: e.artifact_id.to_string(),
        part: part(&e.selector),
        excerpt_sha256: e.excerpt_hash.to_string(),
        trust: e.trust_tier,
        confidence: e.confidence,
    }
}

fn part(selector: &Selector) -> String {
    match selector {
        Selector::Whole => "all of it".to_owned(),
        Selector::Bytes { start, end } => format!("bytes {start} to {end}"),
        Selector::Lines { start, end, .. } if start == end => format!("line {start}"),
        Selector::Lines { start, end, .. } => format!("lines {start} to {end}"),
        Selector::JsonPath { pointer } => format!("the value at {pointer}"),
        Selector::Dom { selector } => format!("the element {selector}"),
        Selector::TimeSpan { start_ms, end_ms } => {
            let [from, to] = [start_ms, end_ms].map(|ms| model::lasting(Duration::from_millis(*ms)));
            format!("from {from} to {to}")
        }
        Selector::Record { id } => format!("the record {id}"),
    }
}

pub(crate) fn invalidate(host: &dyn Host, p: Invalidate) -> Result<Invalidated, Error> {
    let kernel = host.kernel()?;
    let id: MemoryId = find(host, &p.memory)?;
    let task = kernel.invalidate_memory(id, &p.reason).wire()?;
    Ok(Invalidated { memory_id: id.to_string(), task_id: task.to_string() })
}

pub(crate) fn search(host: &dyn Host, p: Search) -> Result<Hits, Error> {
    let query = host.query()?;
    let words = crate::file_names::words_of(host, &p.text)?;
    let mut found = query.search(&words, ask(p.after.as_deref(), p.limit)?).wire()?;
    // What was asked for leads to the receipt of what was done.
    let mut receipts: BTreeMap<String, ReceiptId> = BTreeMap::new();
    let (mut own, mut contents, mut titles) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
    for hit in &found.rows {
        if let Entry::Vacant(free) = titles.entry(hit.task_id) {
            free.insert(query.task(hit.task_id).wire()?.map(|row| text(&row.title)));
        }
        match hit.kind {
            EntityType::ActionRequest => {
                let act = query.action(hit.id.parse().map_err(unnamed)?).wire()?;
                receipts.extend(act.and_then(|act| Some((hit.id.clone(), act.receipt_id?))));
            }
            // What Hermit wrote down for itself, such as a contract as JSON, is no answer to a person.
            EntityType::Artifact => {
                let row = query.artifact(hit.id.parse().map_err(unnamed)?).wire()?;
                own.extend(
                    row.as_ref().filter(|row| row.class == ArtifactClass::Audit).map(|_| hit.id.clone()),
                );
                contents.extend(row.map(|row| (hit.id.clone(), content_in_words(&row))));
            }
            _ => {}
        }
    }
    found.rows.retain(|hit| !own.contains(&hit.id));
    let mut files = match p.after {
        None => changed_files(host, &found.rows, &words, &titles)?,
        Some(_) => Vec::new(),
    };
    let mut hits = page(found, |hit| Hit {
        kind: receipts.get(&hit.id).map_or(hit.kind, |_| EntityType::Receipt),
        id: receipts.get(&hit.id).map_or_else(|| hit.id.clone(), ToString::to_string),
        task_id: hit.task_id.to_string(),
        title: titles.get(&hit.task_id).cloned().flatten(),
        what: match (receipts.get(&hit.id), contents.get(&hit.id)) {
            (Some(_), _) => "receipt".to_owned(),
            (None, Some(words)) => words.clone(),
            (None, None) => hit.kind.to_string().replace('_', " "),
        },
        part: hit.part.clone(),
        at: hit.at.0,
        excerpt: text(&hit.excerpt),
    });
    files.append(&mut hits.rows);
    hits.rows = files;
    Ok(hits)
}

/// Receipts that tell what became of a file whose name was searched for, in the tasks that were hit.
fn changed_files(
    host: &dyn Host,
    hits: &[projections::query::Hit],
    words: &str,
    titles: &BTreeMap<TaskId, Option<Text>>,
) -> Result<Vec<Hit>, Error> {
    let mut tasks: Vec<TaskId> = Vec::new();
    for hit in hits {
        if !tasks.contains(&hit.task_id) {
            tasks.push(hit.task_id);
        }
    }
    let mut found = Vec::new();
    for task in tasks.into_iter().take(TASKS_OF_FILES_MAX) {
        found.extend(crate::file_names::changed(host, task, words)?.into_iter().map(|file| Hit {
            kind: EntityType::Receipt,
            id: file.receipt_id.to_string(),
            task_id: task.to_string(),
            title: titles.get(&task).cloned().flatten(),
            what: "receipt".to_owned(),
            part: "file".to_owned(),
            at: file.at.0,
            excerpt: Text::Shown(file.told),
        }));
    }
    Ok(found)
}

/// What kept content is, as a person would say it, with its name where it has one.
fn content_in_words(row: &ArtifactRow) -> String {
    let kind = match row.kind {
        ArtifactKind::Answer => "answer".to_owned(),
        ArtifactKind::Message => "message".to_owned(),
        ArtifactKind::CommandTranscript => "output of a command".to_owned(),
        ArtifactKind::GuestSent => "what a guest sent".to_owned(),
        ArtifactKind::FileSnapshot => "file as it was read".to_owned(),
        ArtifactKind::WebSnapshot => "page as it was fetched".to_owned(),
        ArtifactKind::SearchBundle => "result of a search".to_owned(),
        ArtifactKind::ActionResult => "result of an action".to_owned(),
        ArtifactKind::Patch => "change to apply".to_owned(),
        ArtifactKind::Diff => "change as it was found".to_owned(),
        ArtifactKind::TestReport => "test report".to_owned(),
        other => other.as_str().replace('.', " "),
    };
    match super::artifacts::name_of(row) {
        Some(Text::Shown(name)) if !name.is_empty() => format!("{kind}, {name}"),
        _ => kind,
    }
}

fn unnamed(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Damaged, format!("the index of the search names what cannot be: {error}"))
}
