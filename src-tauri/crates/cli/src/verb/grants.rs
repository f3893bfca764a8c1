//! Authority that was given: single grants, and what a person always allows.

use super::Came;
use super::approvals::more;
use crate::approve::{TerminalApproval, no_terminal};
use crate::args::{GrantsAllow, GrantsVerb, ListArgs};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::standing_offer::{draft, past};
use crate::text::{plain, time};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use std::path::Path;
use wire::grants::{Allow, Draft, Grant, List, Proposal, Revoke, Standing, StandingList};
use wire::{Error, exit};
use words::policy::GrantStatus;

/// `hermit grants`.
pub fn grants(context: &Context, verb: GrantsVerb) -> Came {
    match verb {
        GrantsVerb::List(args) => list(context, args),
        GrantsVerb::Revoke { grant, reason } => {
            let session = context.writing(Signs::No)?;
            let revoked = session.call(&Revoke { grant, reason });
            session.close();
            context
                .out
                .answer(&revoked?, |out, revoked| out.line(format!("Revoked: {}", revoked.grant_id)))?;
            Ok(exit::DONE)
        }
        GrantsVerb::Allow(args) => allow(context, *args),
    }
}

fn list(context: &Context, args: ListArgs) -> Came {
    let session = context.reading()?;
    let of_a_task = args.task.is_some();
    let found = session.call(&List { task: args.task, after: args.after, limit: args.limit })?;
    let standing = match of_a_task {
        true => StandingList { rows: Vec::new() },
        false => session.call(&Standing { all: false })?,
    };
    let both = json!({ "rows": found.rows, "next": found.next, "standing": standing.rows });
    context.out.answer(&both, |out, _| {
        lasting(out, &standing);
        if found.rows.is_empty() {
            if standing.rows.is_empty() {
                out.line("No standing approvals. `--task TASK` lists the single-use grants of a task.");
            }
            return;
        }
        let rows = found.rows.iter().map(|g| {
            vec![
                g.grant_id.clone(),
                stands(g),
                g.action_class.in_words().to_owned(),
                format!("{}/{}", g.uses, g.max_uses),
                time(g.expires_at),
            ]
        });
        table(out, &["grant", "state", "class", "used", "expires"], &rows.collect::<Vec<_>>());
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// Where a single grant stands, in words. One that was taken back may have been used as well.
fn stands(grant: &Grant) -> String {
    match (grant.state, grant.consumed_at) {
        (GrantStatus::Revoked, Some(_)) => "revoked while in use".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn lasting(out: &Output, standing: &StandingList) {
    if standing.rows.is_empty() {
        return;
    }
    out.say(Tone::Bold, "Standing approvals");
    for row in &standing.rows {
        let words = row.words.as_deref().unwrap_or("(erased)");
        out.line(format!(
            "  {}  used {} of {}, until {}",
            row.grant_id,
            row.uses,
            row.max_uses,
            time(row.expires_at)
        ));
        out.line(format!("    {}", plain(words)));
        if let Some(place) = &row.place {
            out.say(Tone::Faint, format!("    {} {}", row.scope, plain(place)));
        }
    }
}

/// The draft of a grant. A project that no task has worked in is known from it on; the store is free again while a
/// person reads it.
fn drafted(context: &Context, asked: &Draft) -> Result<Proposal, Error> {
    drop(context.reading()?);
    let session = context.writing(Signs::No)?;
    let proposal = session.call(asked);
    session.close();
    proposal
}

/// Drafts it, shows what it means, and lets the person sign: the same gate as an approval.
fn allow(context: &Context, args: GrantsAllow) -> Came {
    let (mut person, mut front) = TerminalApproval::at_terminal(context).ok_or_else(no_terminal)?;
    let workspace = args.project.as_deref().map(|at| crate::context::absolute(Path::new(at))).transpose()?;
    let asked = Draft {
        command: args.command,
        whole: args.exact,
        cwd: args.cwd,
        network: args.network,
        changes: args.changes,
        paths: args.paths,
        acts: args.act,
        host: args.host,
        port: args.port,
        write: args.send,
        workspace,
        task: args.task,
        schedule: args.schedule,
        days: Some(args.days),
        uses: Some(args.uses),
        after_untrusted: args.after_untrusted,
    };
    let proposal = drafted(context, &asked)?;
    let grant = draft(&proposal)?;
    context.out.say(Tone::Bold, plain(&host::standing_in_words(&grant)));
    context.out.rows(&past(&proposal.rehearsed));
    if !args.after_untrusted {
        context.out.say(
            Tone::Warn,
            "You are still asked once the model has listed a folder or read a file, which it nearly always has. \
             With --after-untrusted it answers then, too.",
        );
    }
    let Some(signed) = person.sign_lasting(&mut front, &grant, &["always"])? else {
        context.out.line("Nothing was approved.");
        return Ok(exit::WAITING);
    };
    let session = context.writing(Signs::No)?;
    let allowed = session.call(&Allow { envelope: STANDARD.encode(signed) });
    session.close();
    context.out.answer(&allowed?, |out, allowed| {
        out.say(Tone::Good, "The standing approval is in force.");
        out.line(format!("Revoke it: hermit grants revoke {}", allowed.grant_id));
    })?;
    Ok(exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_that_was_taken_back_while_its_act_was_under_way_says_both() {
        let told = |state: &str, consumed_at: Option<i64>| {
            let grant = json!({
                "grant_id": "grt_1", "task_id": "task_1", "action_request_id": "areq_1", "action_class": "write_local",
                "state": state, "issued_at": 0, "expires_at": 9, "max_uses": 1, "uses": u32::from(consumed_at.is_some()),
                "approval_id": null, "reason": "", "consumed_at": consumed_at, "revoked_at": null,
            });
            stands(&serde_json::from_value(grant).expect("a grant"))
        };
        assert_eq!(told("revoked", Some(1)), "revoked while in use");
        assert_eq!(told("revoked", None), "revoked");
        assert_eq!(told("consumed", Some(1)), "consumed");
        assert_eq!(told("active", None), "active");
    }
}
