//! `hermit receipts`: the list, and one receipt as answers to what a person asks of it.

use super::Came;
use super::approvals::more;
use crate::args::ReceiptsVerb;
use crate::context::Context;
use crate::output::{Output, Tone, table};
use crate::text::{clip, count, path, plain, short, time};
use host::Session;
use model::action::Reversibility;
use model::policy::Verdict;
use serde_json::Value;
use wire::Error;
use wire::changes::Changes;
use wire::exit;
use wire::receipts::{Explanation, Receipt, Signature};
use wire::task::{Action, Task};
use words::act::{ActionClass, ChangeKind, ItemOutcome};
use words::policy::{ApprovalStatus, Surface};

/// Changed places that are named.
const PLACES: u32 = 20;
/// Characters of an answer.
const CHARS: usize = 300;
/// Lines of what was seen of a guest's turn.
const SEEN: usize = 60;
/// Outputs of it that are named.
const KEPT: usize = 8;
const NOTHING_READ: &str = "nothing was read for it";
const NOT_ASKED: &str = "nothing was sent to one";

/// `hermit receipts`.
pub fn receipts(context: &Context, verb: ReceiptsVerb) -> Came {
    let session = context.reading()?;
    match verb {
        ReceiptsVerb::List(args) => {
            let list = wire::receipts::List { task: args.task, after: args.after, limit: args.limit };
            let found = session.call(&list)?;
            context.out.answer(&found, |out, found| {
                if found.rows.is_empty() {
                    return out.line("No receipts yet.");
                }
                let rows = found.rows.iter().map(|r| {
                    let undone = if r.undone_by.is_some() { "undone" } else { "" };
                    vec![
                        short(&r.receipt_id).to_owned(),
                        r.result.to_string(),
                        time(r.issued_at),
                        undone.to_owned(),
                        plain(&r.summary.to_string()),
                    ]
                });
                table(out, &["receipt", "result", "when", "", "what"], &rows.collect::<Vec<_>>());
                more(out, found.next.as_deref());
            })?;
        }
        ReceiptsVerb::Show { receipt } => {
            let found = session.call(&wire::receipts::Show { receipt, brief: false })?;
            let told = Told::of(&session, &found);
            context.out.answer(&found, |out, found| show(out, found, &told))?;
        }
    }
    Ok(exit::DONE)
}

/// What stands around a receipt, or why the store cannot tell it.
struct Told {
    why: Result<Option<Explanation>, Error>,
    task: Result<Task, Error>,
    changes: Result<Changes, Error>,
    authority: String,
    /// What was seen of the turn of a guest, and what of it is kept.
    turn: Vec<String>,
}

impl Told {
    fn of(session: &Session, found: &Receipt) -> Self {
        let id = found.row.receipt_id.clone();
        let why = session.call(&wire::trace::Explain { subject: id.clone(), line: None });
        let why = why.map(|explained| explained.chains.into_iter().next());
        let task = session.call(&wire::task::Show { task: found.row.task_id.clone() });
        let show = wire::changes::Show { of: id, from: None, limit: Some(PLACES), find: None, brief: true };
        let changes = session.call(&show);
        let authority = authority(session, found, &task, &why).unwrap_or_else(|error| unread(&error));
        let is_guest = task.as_ref().is_ok_and(|task| task.reasoner.starts_with("guest:"));
        let turn = if is_guest { turn(session, found) } else { Vec::new() };
        Self { why, task, changes, authority, turn }
    }
}

/// What was seen of an act of a guest: what it reached, what it called itself, what it did not tell; and what is kept.
fn turn(session: &Session, found: &Receipt) -> Vec<String> {
    let list = |name: &str| found.receipt.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let observed = list("observed");
    let lines = observed.iter().filter_map(Value::as_str).map(|line| format!("seen        {}", words(line)));
    let more = observed.len().saturating_sub(SEEN);
    let more = (more > 0).then(|| {
        format!(
            "seen        and {more} more lines: hermit --json receipts show {}",
            short(&found.row.receipt_id)
        )
    });
    // The report of a turn is what was observed and an output, and is told once.
    let mut outputs: Vec<String> = Vec::new();
    for output in list("output_refs") {
        let id = output.get("artifact_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !id.is_empty() && !outputs.contains(&id) {
            outputs.push(id);
        }
    }
    let kept = outputs.into_iter().take(KEPT).map(|artifact| {
        match session.call(&wire::artifacts::Show { artifact }) {
            Ok(shown) => {
                let (kind, id) =
                    (shown.kind.as_str().replace('.', " "), short(&shown.artifact_id).to_owned());
                let size = crate::text::size(shown.byte_size);
                format!("kept        {kind}, {size} (hermit artifacts show {id})")
            }
            Err(error) => format!("kept        what {}", unread(&error)),
        }
    });
    lines.take(SEEN).chain(more).chain(kept).collect()
}

/// Who let it happen: a person and where, a standing approval, or policy alone.
fn authority(
    session: &Session,
    found: &Receipt,
    task: &Result<Task, Error>,
    why: &Result<Option<Explanation>, Error>,
) -> Result<String, Error> {
    let standing = found.receipt.pointer("/authorized/standing/grant_id").and_then(Value::as_str);
    if let Some(standing) = standing {
        return Ok(format!("your standing approval {}", short(standing)));
    }
    let actions = &task.as_ref().map_err(Clone::clone)?.actions;
    let of = |act: &&Action| act.receipt_id.as_deref() == Some(found.row.receipt_id.as_str());
    let approval = match actions.iter().find(of).and_then(|act| act.approval_id.clone()) {
        None if found.row.class == model::receipt::ReceiptClass::ApprovalResolution => {
            let why = why.as_ref().map_err(Clone::clone)?;
            why.as_ref().and_then(|why| Some(why.approvals.last()?.id.clone()))
        }
        known => known,
    };
    let Some(approval) = approval else { return Ok("policy allowed it without asking".to_owned()) };
    let card = match session.call(&wire::approvals::Show { approval: approval.clone() }) {
        Ok(card) => card,
        Err(error) => return Ok(format!("approval {}, which {}", short(&approval), unread(&error))),
    };
    let at = card.row.surface.map(Surface::place).unwrap_or_default();
    let when = card.row.resolved_at.map(time).unwrap_or_default();
    Ok(match card.row.status {
        ApprovalStatus::Denied => format!("you denied it {at}, {when} (approval {})", short(&approval)),
        _ => format!("you approved it {at}, {when} (approval {})", short(&approval)),
    })
}

fn unread(error: &Error) -> String {
    format!("could not be read: {}", words(&error.message))
}

fn show(out: &Output, found: &Receipt, told: &Told) {
    let row = &found.row;
    out.say(Tone::Bold, format!("Receipt {}: {}", short(&row.receipt_id), words(&row.summary.to_string())));
    for line in wire::who_asks(found.part_of.as_ref(), found.agent.as_deref()) {
        out.say(Tone::Plain, format!("  {}", words(&line)));
    }
    for (question, answer) in answers(found, told) {
        out.say(Tone::Plain, format!("  {question:<11} {answer}"));
    }
    for line in &told.turn {
        out.say(Tone::Plain, format!("  {line}"));
    }
    match &told.changes {
        Ok(changes) if changes.total > 0 => changed(out, changes),
        Ok(_) => {}
        Err(error) => out.say(Tone::Plain, format!("  {:<11} {}", "changes", unread(error))),
    }
    let id = short(&row.receipt_id);
    if found.has_undo() && row.undone_by.is_none() {
        out.say(Tone::Faint, format!("Undo: hermit rollback {id}"));
    }
    out.say(Tone::Faint, format!("Proof: hermit proof export {} -o proof.zip", short(&row.task_id)));
    out.say(Tone::Faint, format!("Every value that is signed: hermit --json receipts show {id}"));
}

/// What a person asks of a receipt, and what it says (HK-21).
fn answers(found: &Receipt, told: &Told) -> Vec<(&'static str, String)> {
    let row = &found.row;
    let goal = told.task.as_ref().map_or_else(unread, |task| words(&task.goal.to_string()));
    let of_why = |answer: fn(&Explanation) -> String, nothing: &str| match &told.why {
        Ok(Some(why)) => answer(why),
        Ok(None) => nothing.to_owned(),
        Err(error) => unread(error),
    };
    vec![
        (
            "result",
            format!(
                "{}, {}",
                row.resolved.unwrap_or(row.result).as_str().replace('_', " "),
                time(row.issued_at)
            ),
        ),
        ("goal", goal),
        ("authority", told.authority.clone()),
        (
            "evidence",
            format!("{} (hermit explain {})", of_why(evidence, NOTHING_READ), short(&row.receipt_id)),
        ),
        ("model", told.task.as_ref().map_or_else(unread, |task| asked(task, of_why(model, NOT_ASKED)))),
        ("denied", told.task.as_ref().map_or_else(unread, refused)),
        ("undo", undo(found)),
        ("signature", signature(found)),
    ]
}

/// What was read for an act.
fn evidence(why: &Explanation) -> String {
    // Words of a model are untrusted always; what counts here is what it had read.
    let untrusted = why.untrusted.iter().filter(|one| !one.detail.starts_with("model.")).count();
    match (why.evidence.len(), untrusted.min(why.evidence.len())) {
        (0, _) => NOTHING_READ.to_owned(),
        (all, 0) => count(all, "thing"),
        (all, some) => format!("{}, {some} untrusted", count(all, "thing")),
    }
}

/// How often a model was asked for an act.
fn model(why: &Explanation) -> String {
    match why.context.len() {
        0 => NOT_ASKED.to_owned(),
        times => format!("was asked {}", count(times, "time")),
    }
}

/// The same, where something else than a model of Hermit's proposes.
fn asked(task: &Task, by_model: String) -> String {
    match task.reasoner.split_once(':') {
        Some(("guest", name)) => format!("none of Hermit's: the agent {} worked by itself", words(name)),
        Some(("playbook", name)) => format!("none: the playbook {} proposed it", words(name)),
        _ => by_model,
    }
}

/// What policy refused in the same task.
fn refused(task: &Task) -> String {
    let acts = task.actions.iter().filter(|act| act.verdict == Some(Verdict::Deny));
    let acts: Vec<String> = acts.map(|act| words(&act.summary.to_string())).collect();
    if acts.is_empty() { "nothing of this task".to_owned() } else { acts.join("; ") }
}

fn words(text: &str) -> String {
    clip(&plain(text), CHARS)
}

fn undo(found: &Receipt) -> String {
    let row = &found.row;
    let said = match (&row.undone_by, row.reversibility, row.action_class) {
        (Some(by), ..) => return format!("undone by receipt {}", short(by)),
        (None, Reversibility::Irreversible, _) => "cannot be undone",
        (None, Reversibility::NoEffect, _) => "there is nothing to undo",
        _ if found.has_undo() => "can be undone",
        (None, _, ActionClass::DurableMemoryWrite) => {
            "not by `hermit rollback`: mark the record as wrong (`hermit memory invalidate`)"
        }
        (None, _, ActionClass::CapabilityChange) => {
            "not by `hermit rollback`: change the same setting of Hermit again"
        }
        _ => "cannot be undone: nothing is kept of what was there before",
    };
    said.to_owned()
}

fn signature(found: &Receipt) -> String {
    match found.signature {
        Signature::Holds => "signed, and the signature holds".to_owned(),
        Signature::Fails => "DOES NOT HOLD: the receipt key in force did not sign these bytes".to_owned(),
        Signature::None => "not signed: this store had no keys".to_owned(),
        Signature::UnknownKey => "by a key that this store does not know".to_owned(),
    }
}

/// The first places that were changed, and how each went where it did not go as planned.
fn changed(out: &Output, changes: &Changes) {
    let many = usize::try_from(changes.total).unwrap_or_default();
    let folder = changes.workspace.as_ref().map(|text| format!(" in {}", plain(&text.to_string())));
    out.say(Tone::Bold, format!("{}{}", count(many, "change"), folder.unwrap_or_default()));
    for file in &changes.files {
        let (before, after) = (file.before.as_ref(), file.after.as_ref());
        let stays = before.is_some() && before.map(|side| &side.sha256) == after.map(|side| &side.sha256);
        let how = match (file.outcome, &file.note) {
            (_, Some(note)) => format!("  ({})", plain(note)),
            (Some(ItemOutcome::NotDone), _) if stays => "  (left as it is)".to_owned(),
            (Some(ItemOutcome::NotDone), _) => "  (not done)".to_owned(),
            (Some(ItemOutcome::Unknown), _) => "  (not known)".to_owned(),
            _ => String::new(),
        };
        let sign = match (file.op, &file.before) {
            // A folder that is there still.
            (ChangeKind::Delete, _) if file.note.is_some() => " ",
            (ChangeKind::Delete, _) => "-",
            (ChangeKind::Write, None) | (ChangeKind::Folder | ChangeKind::Link, _) => "+",
            (ChangeKind::Write, Some(_)) => "~",
            (ChangeKind::Move, _) => " ",
        };
        let to = file.to.as_deref().map(|to| format!(" → {}", path(to))).unwrap_or_default();
        out.say(Tone::Plain, format!("  {sign} {}{to}{how}", path(&file.path)));
    }
    if let Some(left) = many.checked_sub(changes.files.len()).filter(|left| *left > 0) {
        out.say(Tone::Faint, format!("  and {left} more"));
    }
}
