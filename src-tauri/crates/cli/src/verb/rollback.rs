//! `hermit rollback`: the plan first, then one task for each folder, each with one card.

use super::Came;
use super::run::{stay_with, take_up};
use crate::args::RollbackArgs;
use crate::context::{Context, Signs};
use crate::local_time;
use crate::output::{Output, Tone};
use crate::report::changes;
use crate::text::{plain, short, size, time};
use acts::items::IF_EMPTY;
use host::Session;
use model::action::Reversibility;
use model::receipt::ReceiptClass;
use wire::receipts::{List, Plan, ReceiptRow, Rollback, UndoItem, UndoPlan, UndoPlans};
use wire::{Code, Error, exit};
use words::act::UndoKind;

/// Changes of a plan that are shown one by one; the card shows all.
const SHOWN: usize = 40;

/// `hermit rollback`.
pub fn rollback(context: &Context, args: &RollbackArgs) -> Came {
    // What is no time is told before any passphrase is asked for.
    args.since.as_deref().map(time_of).transpose()?;
    let session = context.writing(if args.plan { Signs::No } else { Signs::Yes })?;
    take_up(context, &session);
    let done = meant(args, &session).and_then(|what| undo(context, &session, &what, args.plan));
    session.close();
    done
}

/// `hermit undo`: the newest receipt that can be undone and was not.
pub fn last(context: &Context) -> Came {
    let session = context.writing(Signs::Yes)?;
    take_up(context, &session);
    let done = newest(&session).and_then(|receipt| {
        let (what, when) = (plain(&receipt.summary.to_string()), time(receipt.issued_at));
        context.out.note(format!("Undo: {what} ({when}, receipt {})", short(&receipt.receipt_id)));
        one(context, &session, &Plan { receipt: Some(receipt.receipt_id), ..Plan::default() }, None)
    });
    session.close();
    done
}

fn newest(session: &Session) -> Result<ReceiptRow, Error> {
    let mut list = List { task: None, after: None, limit: None };
    loop {
        let page = session.call(&list)?;
        // What an undo did is not undone by the next one: that would put everything back.
        let fits = |r: &&ReceiptRow| {
            let is_left = r.undone_by.is_none()
                && matches!(r.reversibility, Reversibility::Reversible | Reversibility::Partial);
            r.rolls_back.is_none() && is_left && changes(r) && r.class != ReceiptClass::ApprovalResolution
        };
        for found in page.rows.iter().filter(fits) {
            // Of what is taken back in part, its statement alone says whether anything is kept.
            let show = || wire::receipts::Show { receipt: found.receipt_id.clone(), brief: true };
            let is_whole = found.reversibility == Reversibility::Reversible && found.has_undo();
            if is_whole || session.call(&show())?.has_undo() {
                return Ok(found.clone());
            }
        }
        list.after = Some(page.next.ok_or_else(|| Error::new(Code::Conflict, "there is nothing to undo"))?);
    }
}

fn meant(args: &RollbackArgs, session: &Session) -> Result<Plan, Error> {
    let Some(when) = &args.since else {
        let named = args.what.clone().unwrap_or_default();
        let task = Plan { task: Some(named.clone()), ..Plan::default() };
        if named.trim().starts_with("task_") {
            return Ok(task);
        }
        // A short reference may be of either; a receipt first.
        let show = wire::receipts::Show { receipt: named.clone(), brief: true };
        let unknown = matches!(session.call(&show), Err(error) if error.code == Code::NotFound);
        let is_task = unknown && session.call(&wire::task::Show { task: named.clone() }).is_ok();
        return Ok(if is_task { task } else { Plan { receipt: Some(named), ..Plan::default() } });
    };
    let since = time_of(when)?;
    Ok(Plan { since: Some(since), ..Plan::default() })
}

fn time_of(when: &str) -> Result<i64, Error> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    local_time::parse(when, i64::try_from(now).unwrap_or(0)).ok_or_else(|| {
        Error::new(Code::Usage, format!("`{when}` is not a time"))
            .hint("write `2026-11-22`, `2026-11-22 05:30`, `yesterday`, `tuesday`, `90m`, `3h`, `2d` or `1w`")
    })
}

fn undo(context: &Context, session: &Session, what: &Plan, only_plan: bool) -> Came {
    let whole = what.receipt.is_none();
    if only_plan || whole {
        let plans = session.call(what)?;
        if only_plan {
            context.out.answer(&plans, shown)?;
            return Ok(exit::DONE);
        }
        if plans.plans.is_empty() {
            return Err(Error::new(Code::Conflict, "there is nothing to undo"));
        }
        shown(&context.out, &plans);
        let mut code = exit::DONE;
        for plan in plans.plans.iter().filter(|plan| !plan.items.is_empty()) {
            code = code.max(one(context, session, what, Some(plan.workspace_id.clone()))?);
        }
        return Ok(code);
    }
    one(context, session, what, None)
}

fn one(context: &Context, session: &Session, what: &Plan, workspace: Option<String>) -> Came {
    let heard = session.listen();
    let submitted = session.call(&Rollback {
        receipt: what.receipt.clone(),
        task: what.task.clone(),
        since: what.since,
        workspace,
        idempotency_key: None,
        channel: Some("cli".to_owned()),
    })?;
    stay_with(context, session, &submitted.task_id, heard).map(|(code, _)| code)
}

fn shown(out: &Output, plans: &UndoPlans) {
    if plans.plans.is_empty() {
        out.line("there is nothing to undo");
    }
    for plan in &plans.plans {
        folder(out, plan);
    }
}

fn folder(out: &Output, plan: &UndoPlan) {
    let place = plan.workspace.as_ref().map_or_else(|| plan.workspace_id.clone(), ToString::to_string);
    let many = plan.receipts.len();
    let word = if many == 1 { "receipt" } else { "receipts" };
    out.line(format!("Undo in {}: {many} {word}, the newest first", plain(&place)));
    for receipt in &plan.receipts {
        let part = if receipt.whole { "" } else { "  (in part)" };
        let summary = plain(&receipt.summary.to_string());
        out.line(format!("  {}  {}  {summary}{part}", short(&receipt.receipt_id), time(receipt.issued_at)));
    }
    if plan.items.is_empty() {
        out.line("Nothing would be changed.");
    } else {
        out.line("It would:");
    }
    for item in plan.items.iter().take(SHOWN) {
        out.line(format!("  {}", words(item)));
    }
    if let Some(more) = plan.items.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        out.line(format!("  and {more} more; the approval card shows all"));
    }
    for note in &plan.notes {
        out.say(Tone::Faint, format!("  {}", plain(note)));
    }
    if !plan.left.is_empty() {
        out.say(Tone::Warn, "It would leave as they are:");
    }
    for left in &plan.left {
        out.line(format!("  {}: {}", plain(&left.place), plain(&left.why)));
    }
}

fn words(item: &UndoItem) -> String {
    let path = plain(&item.path);
    let bytes = item.bytes.map_or(String::new(), |bytes| format!(" ({})", size(bytes)));
    match item.what {
        UndoKind::Restore => format!("bring back {path}{bytes}"),
        UndoKind::Replace => format!("put {path} back to what it was{bytes}"),
        UndoKind::Delete => format!("delete {path}"),
        UndoKind::DeleteFolder => format!("remove the folder {path}, {IF_EMPTY}"),
        UndoKind::Move => format!("move {path} back to {}", plain(item.to.as_deref().unwrap_or_default())),
        UndoKind::MakeFolder => format!("make the folder {path} again"),
        UndoKind::Mode => format!("give the folder {path} back the permissions it had"),
        UndoKind::Link => format!("put the link {path} back"),
    }
}
