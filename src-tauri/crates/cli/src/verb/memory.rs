//! `hermit memory`: what is remembered, held true and decided.

use super::approvals::more;
use super::tools::stay;
use super::{Came, memory_contexts, memory_then};
use crate::args::{BeliefCorrect, ListArgs, MemoryAdd, MemoryList, MemoryVerb};
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone, table};
use crate::text::{plain, short, time, trust};
use wire::knowledge::{
    Beliefs, Correct, Decisions, Evidence, Forget, History, Invalidate, Memories, Memory, Remember, Review,
    Reviewed, Revoke, Suggestion, SuggestionList, Suggestions,
};
use wire::{Error, exit};

/// `hermit memory`.
pub fn memory(context: &Context, verb: MemoryVerb) -> Came {
    match verb {
        MemoryVerb::List(args) => match args.as_of.clone() {
            None => memories(context, args)?,
            Some(as_of) => memory_then::list(context, args, &as_of)?,
        },
        MemoryVerb::Points { after, limit } => memory_then::points(context, after, limit)?,
        MemoryVerb::Show { memory } => memory_contexts::show(context, memory)?,
        MemoryVerb::Add(args) => return remember(context, args, None),
        MemoryVerb::Replace { memory, by } => return remember(context, by, Some(memory)),
        MemoryVerb::Forget { memory, reason } => {
            let session = context.writing(Signs::Yes)?;
            let done = session.call(&Forget { memory, reason });
            session.close();
            context.out.answer(&done?, |out, done| out.line(format!("{} is taken back", done.memory_id)))?;
        }
        MemoryVerb::Suggestions => suggestions(context)?,
        MemoryVerb::Review => review(context)?,
        MemoryVerb::Beliefs(args) => beliefs(context, args)?,
        MemoryVerb::History { belief } => history(context, belief)?,
        MemoryVerb::Revoke { belief, reason } => {
            let session = context.writing(Signs::Yes)?;
            let done = session.call(&Revoke { belief, reason });
            session.close();
            context.out.answer(&done?, |out, done| out.line(format!("{} is taken back", done.belief_id)))?;
        }
        MemoryVerb::Correct(args) => correct(context, args)?,
        MemoryVerb::Decisions(args) => decisions(context, args)?,
        MemoryVerb::Invalidate { memory, reason } => {
            let session = context.writing(Signs::Yes)?;
            let done = session.call(&Invalidate { memory, reason });
            session.close();
            context
                .out
                .answer(&done?, |out, done| out.line(format!("{} is marked as wrong", done.memory_id)))?;
        }
    }
    Ok(exit::DONE)
}

fn correct(context: &Context, args: BeliefCorrect) -> Result<(), Error> {
    let session = context.writing(Signs::Yes)?;
    let done = session.call(&Correct {
        belief: args.belief,
        confidence: args.confidence,
        instead: args.instead,
        against: args.against,
        over: args.over,
        reason: args.reason,
        channel: Some("cli".to_owned()),
    });
    session.close();
    context.out.answer(&done?, |out, done| match &done.by {
        Some(by) => out.line(format!("{} is corrected by {by}", done.belief_id)),
        None => out.line(format!("{} is corrected", done.belief_id)),
    })?;
    Ok(())
}

fn memories(context: &Context, args: MemoryList) -> Result<(), Error> {
    let ask = Memories {
        status: args.status,
        memory: None,
        memory_type: args.memory_type,
        folder: args.folder.as_deref().map(absolute).transpose()?,
        about: args.about,
        after: args.after,
        limit: args.limit,
    };
    let session = context.reading()?;
    let found = session.call(&ask)?;
    let meaning = session.call(&wire::models::Embedded {})?;
    context.out.answer(&found, |out, found| {
        let relevance = |m: &Memory| m.relevance.map(|share| format!("{:.1} %", f64::from(share) / 10.0));
        let rows = found.rows.iter().map(|m| {
            let more = [
                m.memory_id.clone(),
                m.status.to_string(),
                m.memory_type.map_or_else(|| "-".to_owned(), |kind| kind.to_string()),
                project(m),
                trust(m.trust).to_owned(),
                used(m),
                plain(&m.claim.to_string()),
            ];
            relevance(m).into_iter().chain(more).collect::<Vec<String>>()
        });
        let first = found.rows.first().and_then(relevance).map(|_| "relevance");
        let more = ["memory", "status", "type", "holds in", "trust", "used", "claim"];
        let head: Vec<&str> = first.into_iter().chain(more).collect();
        list(out, &head, rows.collect(), found.next.as_deref());
        if let Some(words) = withheld(&found.rows) {
            out.say(Tone::Warn, words);
        }
        if meaning.model.is_some() {
            super::models::by_meaning(out, &meaning);
        }
    })?;
    Ok(())
}

/// Why no task is told of a record.
const WITHHELD: &str = "holds, or may hold, a value of a secret that a task looked into";

/// What is said below a list of those of its records that no task is told of; nothing where there are none.
fn withheld(rows: &[Memory]) -> Option<String> {
    let first = rows.iter().find(|memory| memory.withheld)?;
    let many = match rows.iter().filter(|memory| memory.withheld).count() {
        1 => "1 of these is not told to any task: it".to_owned(),
        many => format!("{many} of these are not told to any task: each"),
    };
    Some(format!(
        "{many} {WITHHELD}; `hermit memory replace {}` says it in other words, and `hermit memory forget` takes it back",
        first.memory_id
    ))
}

/// How often models were told of it, and what came of that.
fn used(memory: &Memory) -> String {
    let part = |times: u32, word: &str| (times > 0).then(|| format!("{word} {times}"));
    let parts =
        [part(memory.uses, "told"), part(memory.helped, "helped"), part(memory.contradicted, "contradicted")];
    let not_told = memory.withheld.then(|| "not told to any task".to_owned());
    let parts: Vec<String> = not_told.into_iter().chain(parts.into_iter().flatten()).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

/// Where a record holds.
pub(super) fn project(memory: &Memory) -> String {
    match &memory.project {
        None => "every project".to_owned(),
        Some(project) => match &project.name {
            Some(name) => plain(&name.to_string()),
            None => project.hash.chars().take(12).collect(),
        },
    }
}

/// What is known of one record.
pub(super) fn shown(out: &Output, m: &Memory) {
    let fact = |name: &str, value: &str| out.line(format!("  {name:<10} {value}"));
    out.say(Tone::Bold, plain(&m.claim.to_string()));
    fact("memory", &m.memory_id);
    fact("status", m.status.as_str());
    if let Some(kind) = m.memory_type {
        fact("type", kind.as_str());
    }
    fact("holds in", &project(m));
    if !matches!(m.scope.to_string().as_str(), "*" | "project") {
        fact("for", &plain(&m.scope.to_string()));
    }
    fact("because", &plain(&m.reason.to_string()));
    fact("trust", trust(m.trust));
    fact("since", &time(m.created_at));
    match (m.expires_at, m.retention) {
        (Some(at), _) => fact("until", &time(at)),
        (None, Some(retention)) => fact("kept", retention.as_str()),
        (None, None) => {}
    }
    let told = match (m.uses, m.last_used_at) {
        (0, _) => "no model yet".to_owned(),
        (1, Some(at)) => format!("a model once, {}", time(at)),
        (uses, at) => format!("models {uses} times, last {}", at.map(time).unwrap_or_default()),
    };
    fact("told to", &told);
    if m.withheld {
        fact("not told", &format!("to any task from now on: it {WITHHELD}"));
    }
    let of = |times: u32, last: &Option<String>| match (times, last) {
        (0, _) | (_, None) => None,
        (times, Some(task)) => Some(format!("{times}, last in {task}")),
    };
    if let Some(tasks) = of(m.helped, &m.helped_in) {
        fact("helped", &tasks);
    }
    if let Some(tasks) = of(m.contradicted, &m.contradicted_in) {
        fact("contradicted", &tasks);
    }
    if let Some(at) = m.ended_at {
        let why =
            m.end_reason.as_ref().map(|why| format!(": {}", plain(&why.to_string()))).unwrap_or_default();
        fact("ended", &format!("{}{why}", time(at)));
    }
    for (name, other) in
        [("replaces", &m.supersedes), ("replaced", &m.superseded_by), ("belief", &m.from_belief)]
    {
        if let Some(other) = other {
            fact(name, other);
        }
    }
    fact("task", &m.task_id);
    if let Some(conversation) = &m.conversation_id {
        fact("said in", conversation);
    }
    for piece in &m.evidence {
        fact(
            "evidence",
            &format!("{} of {} ({})", plain(&piece.part), piece.artifact_id, trust(piece.trust)),
        );
    }
}

fn remember(context: &Context, args: MemoryAdd, replaces: Option<String>) -> Came {
    let remember = Remember {
        claim: args.claim,
        scope: args.scope,
        everywhere: args.everywhere,
        reason: args.reason,
        memory_type: args.memory_type,
        pinned: args.pin,
        days: args.days,
        replaces,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&remember))
}

/// What waits to be remembered, card by card.
fn suggestions(context: &Context) -> Result<(), Error> {
    let found = context.reading()?.call(&Suggestions {})?;
    context.out.answer(&found, |out, found: &SuggestionList| {
        let mut card = None;
        for one in &found.rows {
            if card != Some(&one.approval_id) {
                let project = one.project.as_ref().and_then(|project| project.name.as_ref());
                let place = project.map_or_else(|| "every project".to_owned(), |name| plain(&name.to_string()));
                out.say(Tone::Bold, format!("Approval {} (in {place})", short(&one.approval_id)));
                card = Some(&one.approval_id);
            }
            suggestion(out, one);
        }
        match found.rows.first() {
            None => out.line("nothing is proposed; `hermit memory review` looks at what ended since"),
            Some(first) => {
                let part = match found.rows.iter().any(|row| row.of > 1) {
                    true => ", and of one with several lines with `--only 1` about that line alone",
                    false => "",
                };
                out.line(format!(
                    "`hermit approvals approve {}` asks you about all of a card{part}; `hermit approvals deny` strikes \
                     all of it",
                    first.approval_id
                ));
            }
        }
    })
}

fn suggestion(out: &Output, one: &Suggestion) {
    let kind = one.memory_type.map_or_else(String::new, |kind| format!(", {kind}"));
    out.line(format!("  {}. {} ({}{kind})", one.number, plain(&one.claim.to_string()), trust(one.trust)));
    out.say(Tone::Faint, format!("     because: {}", plain(&one.reason.to_string())));
    for ground in &one.grounds {
        let shown = match &ground.receipt_id {
            Some(receipt) => format!("receipt {}", short(receipt)),
            None => format!("event {}", short(&ground.event_id)),
        };
        let quote = plain(&ground.quote.to_string());
        out.say(
            Tone::Faint,
            format!("     {}: \"{quote}\" ({shown} of task {})", plain(&ground.what), short(&ground.task_id)),
        );
    }
}

/// Looks at what ended, now.
fn review(context: &Context) -> Result<(), Error> {
    let session = context.writing(Signs::Yes)?;
    let came = session.call(&Review {});
    session.close();
    context.out.answer(&came?, |out, came: &Reviewed| {
        match (&came.task_id, came.lines) {
            (Some(_), 1) => out.line("1 line is proposed; `hermit memory suggestions` shows it"),
            (Some(_), many) => out.line(format!("{many} lines are proposed; `hermit memory suggestions` shows them")),
            (None, _) if came.more => out.line("nothing new so far is worth remembering"),
            (None, _) => out.line("nothing new is worth remembering"),
        }
        if came.drafts > 0 {
            out.line("a playbook was drafted from what recurs; `hermit playbooks drafts` shows it");
        }
        if came.more {
            out.line("not everything that ended is read yet; `hermit memory review` goes on");
        }
        if came.waiting > 0 {
            let tasks = if came.waiting == 1 { "task that ended waits" } else { "tasks that ended wait" };
            out.say(
                Tone::Faint,
                format!(
                    "{} {tasks}: for its project to come to rest, or for your answer to what is proposed there",
                    came.waiting
                ),
            );
        }
    })
}

fn evidence(pieces: &[Evidence]) -> String {
    format!("{} pieces of evidence", pieces.len())
}

fn beliefs(context: &Context, args: ListArgs) -> Result<(), Error> {
    let ask = Beliefs { task: args.task, status: args.status, after: args.after, limit: args.limit };
    let found = context.reading()?.call(&ask)?;
    context.out.answer(&found, |out, found| {
        let rows = found.rows.iter().map(|b| {
            vec![
                b.belief_id.clone(),
                b.status.to_string(),
                b.confidence.to_string(),
                evidence(&b.evidence),
                plain(&b.claim.to_string()),
            ]
        });
        list(out, &["belief", "status", "of 1000", "on", "claim"], rows.collect(), found.next.as_deref());
    })?;
    Ok(())
}

fn history(context: &Context, belief: String) -> Result<(), Error> {
    let found = context.reading()?.call(&History { belief, after: None, limit: None })?;
    context.out.answer(&found, |out, found| {
        let rows = found.rows.iter().map(|r| {
            let reason = r.reason.as_ref().map(|reason| plain(&reason.to_string())).unwrap_or_default();
            vec![
                r.revision.to_string(),
                time(r.at),
                r.confidence.to_string(),
                trust(r.trust).to_owned(),
                reason,
            ]
        });
        list(out, &["revision", "since", "of 1000", "trust", "why"], rows.collect(), found.next.as_deref());
    })?;
    Ok(())
}

fn decisions(context: &Context, args: ListArgs) -> Result<(), Error> {
    let found =
        context.reading()?.call(&Decisions { task: args.task, after: args.after, limit: args.limit })?;
    context.out.answer(&found, |out, found| {
        let rows = found.rows.iter().map(|d| {
            vec![
                d.decision_id.clone(),
                d.class.to_string().replace('_', " "),
                d.risk.to_string(),
                time(d.created_at),
                plain(&d.summary.to_string()),
            ]
        });
        list(out, &["decision", "class", "risk", "made", "what"], rows.collect(), found.next.as_deref());
    })?;
    Ok(())
}

pub(super) fn list(out: &Output, head: &[&str], rows: Vec<Vec<String>>, next: Option<&str>) {
    if rows.is_empty() {
        return out.line("nothing yet");
    }
    table(out, head, &rows);
    more(out, next);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn memory(id: &str, uses: u32, withheld: bool) -> Memory {
        serde_json::from_value(json!({
            "memory_id": id, "task_id": "task_1", "claim": "the pet has a cage", "scope": "project", "reason": "it is asked",
            "trust": "observed", "status": "active", "evidence": [], "promoted_by": "prn_1", "uses": uses, "helped": 0,
            "contradicted": 0, "withheld": withheld, "created_at": 1,
        }))
        .expect("a record")
    }

    #[test]
    fn a_list_says_of_which_records_no_task_is_told_and_what_can_be_done() {
        let rows = [memory("mem_1", 2, false), memory("mem_2", 2, true), memory("mem_3", 0, true)];
        let told: Vec<String> = rows.iter().map(used).collect();
        assert_eq!(told, ["told 2", "not told to any task, told 2", "not told to any task"]);
        let [told, one, _] = &rows;
        assert_eq!(withheld(std::slice::from_ref(told)), None);
        let words = withheld(std::slice::from_ref(one)).expect("it is said");
        assert!(
            words.starts_with("1 of these is not told to any task: it holds, or may hold, a value"),
            "{words}"
        );
        let words = withheld(&rows).expect("it is said");
        assert!(
            words.starts_with("2 of these are not told to any task: each holds, or may hold,"),
            "{words}"
        );
        assert!(words.contains("`hermit memory replace mem_2`"), "{words}");
    }
}
