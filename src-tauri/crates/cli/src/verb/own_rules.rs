//! A person's own rules of policy: listed, and changed by a card.

use super::Came;
use super::policy::told;
use super::tools::stay;
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::text::plain;
use wire::exit;
use wire::policy::{ChangeRules, DraftRules, OwnRuleList, OwnRules, RulesDraft};

/// Days of the past that a rule is tried on.
const DAYS: u32 = 30;

/// `hermit policy own`.
pub(super) fn list(context: &Context) -> Came {
    let found = context.reading()?.call(&OwnRules { days: Some(DAYS) })?;
    context.out.answer(&found, listed)?;
    Ok(exit::DONE)
}

fn listed(out: &Output, found: &OwnRuleList) {
    if found.rows.is_empty() {
        return out.line("You have no rules of your own. Add one with `hermit policy add`.");
    }
    for row in &found.rows {
        let place = if row.scope == "signed" { format!("{:>4}", row.line) } else { "file".to_owned() };
        out.line(format!("{place}  {}", plain(&row.words)));
        row.text.lines().for_each(|line| out.say(Tone::Faint, format!("      {}", plain(line))));
        let times = match row.decided {
            0 => "decided nothing".to_owned(),
            1 => "decided 1 action".to_owned(),
            times => format!("decided {times} actions"),
        };
        out.say(Tone::Faint, format!("      {times} in {DAYS} days"));
    }
    if found.rows.iter().any(|row| row.scope != "signed") {
        out.say(
            Tone::Faint,
            "rules marked `file` stand in `policy.rules` in the store's folder; change them there",
        );
    }
}

/// `hermit policy add`, `change` and `rm`: the draft, then the card.
pub(super) fn change(context: &Context, line: Option<u32>, rule: Option<(String, Option<String>)>) -> Came {
    let rule = rule.map(|(rule, because)| match because {
        Some(because) => format!("{rule}\n  because {because}"),
        None => rule,
    });
    let session = context.reading()?;
    let was_sha256 = session.call(&OwnRules { days: None })?.sha256;
    let draft = DraftRules {
        line,
        rule: rule.clone(),
        was_sha256: was_sha256.clone(),
        days: Some(DAYS),
        limit: Some(10),
    };
    let drafted = session.call(&draft)?;
    session.close();
    if !context.out.is_json() {
        drafted_in_words(&context.out, &drafted);
    }
    let change =
        ChangeRules { line, rule, was_sha256, channel: Some("cli".to_owned()), idempotency_key: None };
    stay(context, |session| session.call(&change))
}

fn drafted_in_words(out: &Output, drafted: &RulesDraft) {
    if let Some(before) = &drafted.before {
        out.line(format!("until now    {}", plain(before)));
    }
    match &drafted.after {
        Some(after) => out.line(format!("from now on  {}", plain(after))),
        None => out.line("from now on  without this rule"),
    }
    out.line(format!("In the last {DAYS} days:"));
    told(out, &drafted.told);
}
