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
use wire::changes::Changes;
use wire::exit;
use wire::receipts::{Explanation, Receipt, ReceiptRow, Signature};
use wire::task::Task;
use words::act::ItemOutcome;
use words::policy::{ApprovalStatus, Surface};

/// Changed places that are named.
const PLACES: u32 = 20;
/// Characters of an answer.
const CHARS: usize = 300;

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

/// What stands around a receipt, as far as the store can tell it.
struct Told {
    why: Option<Explanation>,
    task: Option<Task>,
    changes: Option<Changes>,
    authority: String,
}

impl Told {
    fn of(session: &Session, found: &Receipt) -> Self {
        let id = found.row.receipt_id.clone();
        let why = session.call(&wire::trace::Explain { subject: id.clone(), line: None }).ok();
        let why = why.and_then(|explained| explained.chains.into_iter().next());
        let task = session.call(&wire::task::Show { task: found.row.task_id.clone() }).ok();
        let show = wire::changes::Show { of: id, from: None, limit: Some(PLACES), find: None, brief: true };
        let changes = session.call(&show).ok();
        let authority = authority(session, found, task.as_ref(), why.as_ref());
        Self { why, task, changes, authority }
    }
}

/// Who let it happen: a person and where, a standing approval, or policy alone.
fn authority(session: &Session, found: &Receipt, task: Option<&Task>, why: Option<&Explanation>) -> String {
    let standing = found.receipt.pointer("/authorized/standing/grant_id").and_then(Value::as_str);
    if let Some(standing) = standing {
        return format!("your standing approval {}", short(standing));
    }
    let action = task.and_then(|task| {
        task.actions.iter().find(|act| act.receipt_id.as_deref() == Some(found.row.receipt_id.as_str()))
    });
    let resolution = found.row.class == model::receipt::ReceiptClass::ApprovalResolution;
    let behind = || Some(why?.approvals.last()?.id.clone()).filter(|_| resolution);
    let Some(approval) = action.and_then(|act| act.approval_id.clone()).or_else(behind) else {
        return "policy allowed it without asking".to_owned();
    };
    let Ok(card) = session.call(&wire::approvals::Show { approval: approval.clone() }) else {
        return format!("approval {}", short(&approval));
    };
    let at = card.row.surface.map(Surface::place).unwrap_or_default();
    let when = card.row.resolved_at.map(time).unwrap_or_default();
    match card.row.status {
        ApprovalStatus::Denied => format!("you denied it {at}, {when} (approval {})", short(&approval)),
        _ => format!("you approved it {at}, {when} (approval {})", short(&approval)),
    }
}

fn show(out: &Output, found: &Receipt, told: &Told) {
    let row = &found.row;
    out.say(Tone::Bold, format!("Receipt {}: {}", short(&row.receipt_id), words(&row.summary.to_string())));
    for (question, answer) in answers(found, told) {
        out.say(Tone::Plain, format!("  {question:<11} {answer}"));
    }
    if let Some(changes) = told.changes.as_ref().filter(|changes| changes.total > 0) {
        changed(out, changes);
    }
    let id = short(&row.receipt_id);
    if !matches!(row.reversibility, Reversibility::Irreversible | Reversibility::NoEffect)
        && row.undone_by.is_none()
    {
        out.say(Tone::Faint, format!("Undo: hermit rollback {id}"));
    }
    out.say(Tone::Faint, format!("Proof: hermit proof export {} -o proof.zip", short(&row.task_id)));
    out.say(Tone::Faint, format!("Every value that is signed: hermit --json receipts show {id}"));
}

/// What a person asks of a receipt, and what it says (HK-21).
fn answers(found: &Receipt, told: &Told) -> Vec<(&'static str, String)> {
    let row = &found.row;
    let goal = told.task.as_ref().map(|task| words(&task.goal.to_string())).unwrap_or_default();
    let (evidence, untrusted) =
        // Words of a model are untrusted always; what counts here is what it had read.
        told.why.as_ref().map_or((0, 0), |why| {
            let read = why.untrusted.iter().filter(|one| !one.detail.starts_with("model.")).count();
            (why.evidence.len(), read.min(why.evidence.len()))
        });
    let seen = told.why.as_ref().map_or(0, |why| why.context.len());
    let refused: Vec<String> = told
        .task
        .iter()
        .flat_map(|task| &task.actions)
        .filter(|act| act.verdict == Some(Verdict::Deny))
        .map(|act| words(&act.summary.to_string()))
        .collect();
    let evidence = match (evidence, untrusted) {
        (0, _) => "nothing was read for it".to_owned(),
        (all, 0) => count(all, "thing"),
        (all, some) => format!("{}, {some} untrusted", count(all, "thing")),
    };
    vec![
        (
            "result",
            format!("{}, {}", plain(row.resolved.unwrap_or(row.result).as_str()), time(row.issued_at)),
        ),
        ("goal", goal),
        ("authority", told.authority.clone()),
        ("evidence", format!("{evidence} (hermit explain {})", short(&row.receipt_id))),
        (
            "model",
            if seen == 0 {
                "nothing was sent to one".to_owned()
            } else {
                format!("was asked {}", count(seen, "time"))
            },
        ),
        ("refused", if refused.is_empty() { "nothing of this task".to_owned() } else { refused.join("; ") }),
        ("undo", undo(row)),
        ("signature", signature(found)),
    ]
}

fn words(text: &str) -> String {
    clip(&plain(text), CHARS)
}

fn undo(row: &ReceiptRow) -> String {
    match (&row.undone_by, row.reversibility) {
        (Some(by), _) => format!("undone by receipt {}", short(by)),
        (None, Reversibility::Irreversible) => "cannot be undone".to_owned(),
        (None, Reversibility::NoEffect) => "there is nothing to undo".to_owned(),
        (None, _) => "can be undone".to_owned(),
    }
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
        let how = match file.outcome {
            Some(ItemOutcome::NotDone) => "  (not done)",
            Some(ItemOutcome::Unknown) => "  (not known)",
            _ => "",
        };
        let sign = match (file.op.as_str(), &file.before, &file.after) {
            ("delete", ..) => "-",
            ("write", None, _) | ("folder" | "link", ..) => "+",
            ("write", ..) => "~",
            _ => " ",
        };
        let to = file.to.as_deref().map(|to| format!(" → {}", path(to))).unwrap_or_default();
        out.say(Tone::Plain, format!("  {sign} {}{to}{how}", path(&file.path)));
    }
    if let Some(left) = many.checked_sub(changes.files.len()).filter(|left| *left > 0) {
        out.say(Tone::Faint, format!("  and {left} more"));
    }
}
