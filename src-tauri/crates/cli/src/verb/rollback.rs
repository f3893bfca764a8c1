//! `hermit rollback`: the plan first, then one task for each folder, each with one card.

use super::Came;
use super::run::{stay_with, take_up};
use crate::args::RollbackArgs;
use crate::context::{Context, Signs};
use crate::moment;
use crate::output::{Output, Tone};
use crate::text::{plain, size, time};
use host::Session;
use wire::receipts::{Plan, Rollback, UndoItem, UndoPlan, UndoPlans};
use wire::{Code, Error, exit};

/// Changes of a plan that are shown one by one; the card shows all.
const SHOWN: usize = 40;

/// `hermit rollback`.
pub fn rollback(context: &Context, args: &RollbackArgs) -> Came {
    let what = meant(args)?;
    let session = context.writing(Signs::Yes)?;
    take_up(context, &session);
    let done = undo(context, &session, &what, args.plan);
    session.close();
    done
}

fn meant(args: &RollbackArgs) -> Result<Plan, Error> {
    let Some(when) = &args.since else {
        let named = args.what.clone().unwrap_or_default();
        return Ok(if named.trim().starts_with("task_") {
            Plan { task: Some(named), ..Plan::default() }
        } else {
            Plan { receipt: Some(named), ..Plan::default() }
        });
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let since = moment::parse(when, i64::try_from(now).unwrap_or(0)).ok_or_else(|| {
        Error::new(Code::Usage, format!("`{when}` is no time")).hint(
            "write `2026-11-22`, `2026-11-22 05:30` (UTC), `yesterday`, `tuesday`, `90m`, `3h`, `2d` or `1w`",
        )
    })?;
    Ok(Plan { since: Some(since), ..Plan::default() })
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
    out.line(format!("{}: {many} {word}, the newest first", plain(&place)));
    for receipt in &plan.receipts {
        let part = if receipt.whole { "" } else { "  (in part)" };
        let summary = plain(&receipt.summary.to_string());
        out.line(format!("  {}  {}  {summary}{part}", receipt.receipt_id, time(receipt.issued_at)));
    }
    if plan.items.is_empty() {
        out.line("nothing would be changed");
    } else {
        out.line("it would");
    }
    for item in plan.items.iter().take(SHOWN) {
        out.line(format!("  {}", words(item)));
    }
    if let Some(more) = plan.items.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        out.line(format!("  and {more} more, which the card shows"));
    }
    for note in &plan.notes {
        out.say(Tone::Faint, format!("  {}", plain(note)));
    }
    if !plan.left.is_empty() {
        out.say(Tone::Warn, "it would leave");
    }
    for left in &plan.left {
        let place = left.place.split_once('/').map_or(left.place.as_str(), |(_, path)| path);
        out.line(format!("  {}: {}", plain(place), plain(&left.why)));
    }
}

fn words(item: &UndoItem) -> String {
    let path = plain(&item.path);
    let bytes = item.bytes.map_or(String::new(), |bytes| format!(" ({})", size(bytes)));
    match item.what.as_str() {
        "restore" => format!("bring back {path}{bytes}"),
        "replace" => format!("put {path} back to what it was{bytes}"),
        "delete" => format!("delete {path}"),
        "delete_folder" => format!("remove the folder {path}"),
        "move" => format!("move {path} back to {}", plain(item.to.as_deref().unwrap_or_default())),
        "make_folder" => format!("make the folder {path} again"),
        "mode" => format!("give the folder {path} back the permissions it had"),
        "link" => format!("put the link {path} back"),
        other => format!("{other} {path}"),
    }
}
