//! Trials of changes of Hermit itself: begun, listed, shown with what differed, stopped. Nothing here applies a change.

use super::asked_words;
use super::trials_on_record::{not_begun, on_record};
use crate::convert::{all, rows};
use crate::{Drawn, Host, Wire as _, failed, fold, ids, no_host, not_found, usage};
use ::successor::limits::{LINE_CHARS_MAX, PATCH_BYTES_MAX, TASKS_MAX};
use ::successor::{
    Budget, Change, Evidence, Patch, PatchKind, Played, PlayedAct, VERDICT_PAYLOAD_TYPE, Verdict, WordsItem,
    constitutional, edited_tests,
};
use kernel::check_skill;
use kernel::command::skins::of_change;
use kernel::command::successor::BegunTrial;
use kernel::trial_registry::{Trial as Record, TrialRegistry};
use model::artifact::ArtifactRef;
use model::{Digest, TaskId};
use seal::dsse;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::policy::Check;
use wire::successor::{
    List, Preview, Previewed, PreviewedChange, Show, Stop, Trial, TrialBudget, TrialChange, TrialDifference,
    TrialEdit, TrialList, TrialMeasure, TrialParentTests, TrialPlanted, TrialReason, TrialRow, TrialTests,
    TrialVerdict, Try,
};
use wire::{Code, Error};

/// Changes that race at most.
const RIVALS_MAX: usize = 8;
/// Tasks that are drawn where nobody says how many.
const DRAWN: u32 = 10;
/// Differences that are shown.
const DIFFERENCES_MAX: usize = 200;
const MEGABYTE: u64 = 1024 * 1024;

pub(crate) fn try_change(host: &dyn Host, p: Try) -> Result<TrialList, Error> {
    let kernel = host.kernel()?;
    let patches = patches(&p.patches)?;
    let ask = asked_words::named(p.ask.as_deref(), &patches)?;
    let named: Vec<TaskId> = p.tasks.iter().map(|task| ids::find(host, task)).collect::<Result<_, _>>()?;
    let most = usize::try_from(p.draw.unwrap_or(DRAWN)).unwrap_or(usize::MAX);
    if most == 0 || most.max(named.len()) > TASKS_MAX {
        return Err(usage(format!("a change is tried on 1 to {TASKS_MAX} tasks")));
    }
    let trials = host.trials().ok_or_else(no_host)?;
    let (seed, budget) = (p.seed.unwrap_or_else(|| fresh_seed(host)), budget(&p, &patches));
    let Drawn { tasks, left_out } = trials.draw(seed, &named, most)?;
    if tasks.is_empty() {
        let mut says =
            "there is no completed task that can be played again, so there is nothing to try it on"
                .to_owned();
        if !left_out.is_empty() {
            says.push_str(&format!("; too large for a trial: {}", left_out.len()));
        }
        return Err(usage(says).hint("name one with `--task`, or do some work first"));
    }
    let begun = patches.into_iter().map(|patch| BegunTrial {
        patch,
        about: p.about.clone(),
        tasks: tasks.clone(),
        left_out: left_out.clone(),
        seed,
        budget,
    });
    let begun = on_record(kernel, begun.collect())?;
    let mut said = Ok(());
    for id in &begun {
        if let Err(error) = trials.begin(id, ask) {
            // The others begin all the same.
            said = said.and(not_begun(kernel, id, &error.message));
        }
    }
    said?;
    let registry = kernel.trial_registry();
    let rows = begun.iter().filter_map(|id| registry.get(id)).map(|one| row(host, one));
    Ok(TrialList { trials: rows.collect::<Result<_, _>>()?, next: None })
}

/// Reads changes as `try_change` would, rules and differences to their end, and begins nothing.
pub(crate) fn preview(host: &dyn Host, p: Preview) -> Result<Previewed, Error> {
    let asked = Try {
        wall_seconds: p.wall_seconds,
        cpu_seconds: p.cpu_seconds,
        memory_mb: p.memory_mb,
        disk_mb: p.disk_mb,
        processes: p.processes,
        tokens: p.tokens,
        ..Try::default()
    };
    let patches = patches(&p.patches)?;
    let budget = budget_of(&budget(&asked, &patches));
    let changes = patches.into_iter().map(|patch| previewed(host, patch)).collect::<Result<_, _>>()?;
    Ok(Previewed { changes, budget })
}

fn previewed(host: &dyn Host, patch: Patch) -> Result<PreviewedChange, Error> {
    let edits = match &patch.change {
        Change::Code { diff, .. } => edited_tests(diff, &[]).map_err(usage)?,
        Change::Policy { rules, .. } => {
            super::policy::check(host, Check { scope: None, text: rules.clone() })?;
            Vec::new()
        }
        Change::Words { items } => {
            items.iter().try_for_each(|item| can_be_tried(host, item))?;
            Vec::new()
        }
        Change::Model { .. } => Vec::new(),
    };
    Ok(PreviewedChange {
        kind: patch.kind(),
        constitutional: constitutional(&patch),
        edited_tests: edits.into_iter().map(|one| one.file).collect(),
        says: patch.says,
    })
}

/// Whether a trial of these words could show anything.
fn can_be_tried(host: &dyn Host, item: &WordsItem) -> Result<(), Error> {
    let name = &item.name;
    match item.what.as_str() {
        "soul" => Ok(()),
        "playbook" => {
            let read = host.read_playbook(&item.text)?;
            if read.name != *name {
                return Err(usage(format!("the playbook calls itself `{}`, not `{name}`", read.name)));
            }
            // One that a person adopted has a version.
            match host.playbooks().iter().any(|one| one.version.is_none() && one.name == *name) {
                true => Err(usage(format!("the playbook `{name}` comes with Hermit"))
                    .hint("give yours a name of its own")),
                false => Ok(()),
            }
        }
        what @ ("skin" | "skill") => {
            let fits = match what {
                "skin" => of_change(name, &item.text).map(drop),
                _ => check_skill(name, &item.text),
            };
            fits.map_err(|why| usage(format!("the {what} `{name}` cannot be tried: {why}")))
        }
        other => Err(usage(format!("the {other} `{name}` cannot be tried"))
            .hint("of words, SOUL.md, a skin, a skill and a playbook of your own can be tried")),
    }
}

fn budget_of(budget: &Budget) -> TrialBudget {
    TrialBudget {
        wall_ms: budget.wall_ms,
        cpu_ms: budget.cpu_ms,
        memory_bytes: budget.memory_bytes,
        disk_bytes: budget.disk_bytes,
        processes: Some(budget.processes),
        tokens: budget.tokens,
    }
}

pub(super) fn patches(texts: &[String]) -> Result<Vec<Patch>, Error> {
    if texts.is_empty() || texts.len() > RIVALS_MAX {
        return Err(usage(format!(
            "name 1 to {RIVALS_MAX} changes; several of them race over the same tasks"
        )));
    }
    if let Some(large) = texts.iter().find(|text| text.len() > PATCH_BYTES_MAX) {
        let size = large.len();
        return Err(usage(format!("a change has {PATCH_BYTES_MAX} bytes at most, and this has {size}")));
    }
    let read = |text: &String| Patch::read(text.as_bytes()).map_err(|e| usage(e.to_string()));
    let patches: Vec<Patch> = texts.iter().map(read).collect::<Result<_, _>>()?;
    if patches.iter().enumerate().any(|(at, patch)| patches.iter().take(at).any(|other| other == patch)) {
        return Err(usage("the same change is named twice"));
    }
    Ok(patches)
}

/// What each clone may use up: what was said, and the standard for the rest.
pub(super) fn budget(p: &Try, patches: &[Patch]) -> Budget {
    let is_code = patches.iter().any(|patch| patch.kind() == PatchKind::Code);
    let asks = patches.iter().any(|patch| patch.is_read_by_models() || patch.kind() == PatchKind::Model);
    // Source is built in its clone, and a model on this machine may take minutes for each answer.
    let (seconds, megabytes) = match (is_code, asks) {
        (true, _) => (3 * 3_600, 8 * 1_024),
        (false, true) => (3_600, 1_024),
        (false, false) => (600, 1_024),
    };
    let wall_ms = p.wall_seconds.unwrap_or(seconds).saturating_mul(1_000);
    Budget {
        wall_ms,
        cpu_ms: p.cpu_seconds.map_or(wall_ms.saturating_mul(2), |seconds| seconds.saturating_mul(1_000)),
        memory_bytes: p.memory_mb.unwrap_or(if is_code { 4 * 1_024 } else { 1_024 }).saturating_mul(MEGABYTE),
        disk_bytes: p.disk_mb.unwrap_or(megabytes).saturating_mul(MEGABYTE),
        processes: p.processes.unwrap_or(if is_code { 512 } else { 64 }),
        tokens: p.tokens.unwrap_or(1_000_000),
    }
}

/// A number that nobody chose, of which every digit is kept by all who read it.
pub(super) fn fresh_seed(host: &dyn Host) -> u64 {
    let drawn = Digest::of(host.fresh_key().as_bytes()).to_string();
    drawn.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(1)
}

pub(crate) fn list(host: &dyn Host, p: List) -> Result<TrialList, Error> {
    let registry = registry(host)?;
    let before = match p.cursor.as_deref() {
        None => u64::MAX,
        Some(text) => text.parse().map_err(|_| usage("`cursor` is the one that a list ended with"))?,
    };
    let most = usize::try_from(rows(p.limit)?).unwrap_or(usize::MAX);
    let mut left = registry.all().rev().filter(|one| one.place < before);
    let shown: Vec<&Record> = left.by_ref().take(most).collect();
    let is_more = left.next().is_some();
    let next = shown.last().filter(|_| is_more).map(|last| last.place.to_string());
    Ok(TrialList { trials: shown.into_iter().map(|one| row(host, one)).collect::<Result<_, _>>()?, next })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Trial, Error> {
    let registry = registry(host)?;
    let record = meant(&registry, &p.trial)?;
    shown(host, &registry, record)
}

pub(crate) fn stop(host: &dyn Host, p: Stop) -> Result<Trial, Error> {
    let kernel = host.kernel()?;
    let registry = registry(host)?;
    let id = meant(&registry, &p.trial)?.trial_id.clone();
    let why =
        p.reason.as_deref().map(str::trim).filter(|why| !why.is_empty()).unwrap_or("a person stopped it");
    if why.chars().count() > LINE_CHARS_MAX {
        return Err(usage(format!("a reason has {LINE_CHARS_MAX} characters at most")));
    }
    kernel.stop_trial(&id, why).wire()?;
    if let Some(trials) = host.trials() {
        trials.stop(&id);
    }
    let registry = kernel.trial_registry();
    let record = registry.get(&id).ok_or_else(|| not_found("trial", &id))?;
    shown(host, &registry, record)
}

fn registry(host: &dyn Host) -> Result<Arc<TrialRegistry>, Error> {
    Ok(fold::store_state(&host.reader()?)?.trials)
}

/// The trial that is meant: by its identifier, or by its end.
fn meant<'t>(registry: &'t TrialRegistry, text: &str) -> Result<&'t Record, Error> {
    const DIGITS_MIN: usize = 4;
    let text = text.trim();
    if let Some(one) = registry.get(text) {
        return Ok(one);
    }
    let ends = |one: &&Record| text.len() >= DIGITS_MIN && one.trial_id.ends_with(text);
    let mut found = registry.all().filter(ends);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Error::new(Code::Ambiguous, format!("`{text}` fits more than one trial"))),
        (None, _) => Err(not_found("trial", text)),
    }
}

/// An object that may have been erased since.
fn object<T>(
    host: &dyn Host,
    at: &ArtifactRef,
    read: impl Fn(&[u8]) -> Result<T, ::successor::Error>,
) -> Result<Option<T>, Error> {
    match host.artifacts()?.read(&at.sha256) {
        Ok(bytes) => read(&bytes).map(Some).map_err(failed),
        Err(artifacts::Error::Missing { .. }) => Ok(None),
        Err(error) => Err(error).wire(),
    }
}

fn row(host: &dyn Host, one: &Record) -> Result<TrialRow, Error> {
    let patch = object(host, &one.patch, Patch::read)?;
    let verdict = one.verdict.as_ref().map(|at| object(host, at, Verdict::read)).transpose()?.flatten();
    row_of(host, one, patch.as_ref(), verdict.as_ref())
}

/// The task whose act proposed a trial; none where a person began it.
fn proposing_task(host: &dyn Host, one: &Record) -> Result<Option<String>, Error> {
    let Some(act) = one.proposed_by else { return Ok(None) };
    Ok(host.query()?.action(act).wire()?.map(|act| act.task_id.to_string()))
}

fn row_of(
    host: &dyn Host,
    one: &Record,
    patch: Option<&Patch>,
    verdict: Option<&Verdict>,
) -> Result<TrialRow, Error> {
    let measures = verdict.map(|verdict| verdict.measures.as_slice()).unwrap_or_default();
    let measure = |one: &::successor::Measure| TrialMeasure {
        name: one.name.clone(),
        parent: one.parent,
        successor: one.successor,
        measured_by: one.measured_by,
    };
    let (asked, stage) = asked_words::of(host, one, verdict);
    Ok(TrialRow {
        trial_id: one.trial_id.clone(),
        group: one.group.clone(),
        proposed_by: proposing_task(host, one)?,
        kind: one.kind,
        says: patch.map(|patch| patch.says.clone()),
        about: one.about.clone(),
        state: one.state,
        stage,
        outcome: one.outcome,
        why: one.why.clone(),
        tasks: u32::try_from(one.tasks.len()).unwrap_or(u32::MAX),
        seed: one.seed,
        began_at: one.began_at.0,
        ended_at: one.ended_at.map(|at| at.0),
        measures: measures.iter().map(measure).collect(),
        asked,
    })
}

pub(super) fn shown(host: &dyn Host, registry: &TrialRegistry, record: &Record) -> Result<Trial, Error> {
    let patch = object(host, &record.patch, Patch::read)?;
    let verdict = match &record.verdict {
        Some(at) => object(host, at, Verdict::read)?.map(|verdict| (at, verdict)),
        None => None,
    };
    let group = record.group.as_deref().unwrap_or(&record.trial_id);
    let is_rival = |one: &&Record| {
        one.trial_id != record.trial_id && one.group.as_deref().unwrap_or(&one.trial_id) == group
    };
    let rivals = registry.all().filter(is_rival).map(|one| row(host, one)).collect::<Result<_, _>>()?;
    let judged = verdict.as_ref().map(|(_, verdict)| verdict);
    Ok(Trial {
        trial: row_of(host, record, patch.as_ref(), judged)?,
        edited_tests: patch.as_ref().map(|patch| edits(patch, judged)).unwrap_or_default(),
        waits_for_look: judged.is_some_and(Verdict::waits_for_a_look),
        patch_sha256: record.patch.sha256.to_string(),
        sources: patch.as_ref().map(|patch| patch.sources.clone()).unwrap_or_default(),
        changes: patch.as_ref().map(|patch| changes(&patch.change)).unwrap_or_default(),
        tasks: all(&record.tasks),
        left_out: all(&record.left_out),
        budget: budget_of(&record.budget),
        verdict: verdict.map(|(at, verdict)| verdict_of(host, record, at, verdict)).transpose()?,
        rivals,
    })
}

/// Tests that a change edits, as it tells itself and as a run of the tests found them. A change that cannot be read has none: its
/// trial says why.
fn edits(patch: &Patch, verdict: Option<&Verdict>) -> Vec<TrialEdit> {
    let edited = match (verdict, &patch.change) {
        (Some(verdict), _) => verdict.edited_tests(patch),
        (None, Change::Code { diff, .. }) => edited_tests(diff, &[]),
        (None, _) => Ok(Vec::new()),
    };
    let shown = |one: model::adoption::EditedTest| TrialEdit {
        file: one.file,
        sha256: one.sha256.to_string(),
        difference: one.difference,
    };
    edited.unwrap_or_default().into_iter().map(shown).collect()
}

/// What a change changes, piece by piece.
fn changes(change: &Change) -> Vec<TrialChange> {
    let piece = |what: &str, text: &str| TrialChange { what: what.to_owned(), text: text.to_owned() };
    match change {
        Change::Policy { rules, profile } => {
            let profile = profile.as_deref().map(|profile| piece("profile", profile));
            std::iter::once(piece("rules", rules)).chain(profile).collect()
        }
        Change::Words { items } => {
            let shown = |item: &WordsItem| piece(&format!("{} {}", item.what, item.name), &item.text);
            items.iter().map(shown).collect()
        }
        Change::Model { address, sha256 } => {
            let file = sha256.map(|digest| piece("file", &digest.to_string()));
            std::iter::once(piece("model", address)).chain(file).collect()
        }
        Change::Code { source, diff } => {
            vec![piece("applies to the source", &source.to_string()), piece("difference", diff)]
        }
    }
}

fn verdict_of(
    host: &dyn Host,
    record: &Record,
    at: &ArtifactRef,
    verdict: Verdict,
) -> Result<TrialVerdict, Error> {
    let mut arms = Vec::new();
    // What stands behind both arms is the one that a model was asked in once more.
    for one in record.evidence.iter().take(2) {
        arms.extend(object(host, one, Evidence::read)?);
    }
    let (differences, more_differences) = match arms.as_slice() {
        [parent, successor] => differences(parent, successor),
        _ => (Vec::new(), 0),
    };
    let used = verdict.used;
    let reason = |one: ::successor::Reason| TrialReason { rule: one.rule, says: one.says };
    let of_parent = |run: ::successor::ParentTests| TrialParentTests {
        passed: run.passed,
        failed: run.failed,
        not_run: run.not_run,
    };
    let tests = |run: ::successor::TestsRun| TrialTests {
        suite: run.suite,
        passed: run.passed,
        failed: run.failed,
        edited: run.edited,
        parent: run.parent.map(of_parent),
    };
    let planted = |one: ::successor::Planted| TrialPlanted { name: one.name, refused: one.refused };
    Ok(TrialVerdict {
        is_signed: is_signed(host, record, at)?,
        reasons: verdict.reasons.into_iter().map(reason).collect(),
        tests: verdict.tests.map(tests),
        planted: verdict.planted.into_iter().map(planted).collect(),
        used: TrialBudget {
            wall_ms: used.wall_ms,
            cpu_ms: used.cpu_ms,
            memory_bytes: used.memory_bytes,
            disk_bytes: used.disk_bytes,
            processes: None,
            tokens: used.tokens,
        },
        ended_for: used.ended_for,
        constitutional: verdict.constitutional,
        opinion: verdict.opinion,
        differences,
        more_differences,
        has_evidence: arms.len() == 2,
        verdict_sha256: at.sha256.to_string(),
        evidence_sha256: all(&verdict.evidence_sha256),
        evaluator_sha256: verdict.evaluator_sha256.to_string(),
    })
}

/// Whether the signature over the verdict holds, where the key that made it is known here.
fn is_signed(host: &dyn Host, record: &Record, at: &ArtifactRef) -> Result<Option<bool>, Error> {
    let Some((signature, keyid)) = &record.signature else { return Ok(Some(false)) };
    let Some(key) = host.trusted_log_keys().into_iter().find(|key| key.keyid() == *keyid) else {
        return Ok(None);
    };
    let Ok(signature) = signature.parse::<seal::Signature>() else { return Ok(Some(false)) };
    let bytes = host.artifacts()?.read(&at.sha256).wire()?;
    Ok(Some(key.verify(&dsse::pae(VERDICT_PAYLOAD_TYPE, &bytes), &signature).is_ok()))
}

/// Acts that the arms did not do alike, the same act twice compared with the same act twice; and how many there are beyond those.
fn differences(parent: &Evidence, successor: &Evidence) -> (Vec<TrialDifference>, u64) {
    let after: BTreeMap<TaskId, &Played> = successor.tasks.iter().map(|task| (task.task_id, task)).collect();
    let before: BTreeMap<TaskId, &Played> = parent.tasks.iter().map(|task| (task.task_id, task)).collect();
    let tasks = parent.tasks.iter().chain(&successor.tasks).map(|task| task.task_id);
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for task in tasks.filter(|task| seen.insert(*task)) {
        let one = keyed(before.get(&task).map(|task| task.acts.as_slice()).unwrap_or_default());
        let other = keyed(after.get(&task).map(|task| task.acts.as_slice()).unwrap_or_default());
        let both = one.iter().chain(other.iter().filter(|(key, _)| !one.contains_key(*key)));
        for (key, named) in both {
            let (was, is) = (one.get(key).copied(), other.get(key).copied());
            let effect = |act: Option<&PlayedAct>| act.and_then(|act| act.effect_sha256);
            let verdict = |act: Option<&PlayedAct>| act.map(|act| act.verdict.clone());
            let effect_differs = effect(was) != effect(is);
            if effect_differs || verdict(was) != verdict(is) {
                found.push(TrialDifference {
                    task_id: task.to_string(),
                    summary: named.summary.clone(),
                    class: named.class.clone(),
                    before: verdict(was),
                    after: verdict(is),
                    effect_differs,
                });
            }
        }
    }
    let more = found.len().saturating_sub(DIFFERENCES_MAX);
    found.truncate(DIFFERENCES_MAX);
    (found, u64::try_from(more).unwrap_or(u64::MAX))
}

/// Acts by what they are, and the how-manyth of those it is.
fn keyed(acts: &[PlayedAct]) -> BTreeMap<(Digest, usize), &PlayedAct> {
    let mut times: BTreeMap<Digest, usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for act in acts {
        let time = times.entry(act.action_sha256).or_default();
        found.insert((act.action_sha256, *time), act);
        *time += 1;
    }
    found
}
