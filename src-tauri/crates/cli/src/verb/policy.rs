//! Policy: what it says, why, and what other rules would have said.

use super::{Came, own_rules};
use crate::approve::{TerminalApproval, no_terminal};
use crate::args::{ActArgs, BacktestArgs, PolicyVerb, TestArgs, TrialArgs};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use model::policy::Verdict;
use std::path::Path;
use wire::policy::{
    Act, AllowOverride, Backtest, Backtested, Check, DraftOverride, Explain, Judged, Profiles, RuleRow,
    Rules, Suggest, Suggestions, Test, Trial,
};
use wire::{Code, Error, exit};

/// `hermit policy`.
pub fn policy(context: &Context, verb: PolicyVerb) -> Came {
    match verb {
        PolicyVerb::Profiles => {
            let found = context.free()?.call(&Profiles {})?;
            context.out.answer(&found, |out, found| {
                let row = |r: &wire::policy::ProfileRow| {
                    let digest: String = r.policy_set_sha256.chars().take(12).collect();
                    vec![r.profile.to_string(), r.rules.to_string(), digest, r.about.clone()]
                };
                let rows: Vec<_> = found.rows.iter().map(row).collect();
                table(out, &["profile", "rules", "version", "what it lets happen"], &rows);
            })?;
            Ok(exit::DONE)
        }
        PolicyVerb::Rules { profile } => {
            let found = context.free()?.call(&Rules { profile, trial: Trial::default() })?;
            context.out.answer(&found, |out, found| found.rows.iter().for_each(|r| whole(out, r)))?;
            Ok(exit::DONE)
        }
        PolicyVerb::Own => own_rules::list(context),
        PolicyVerb::Add { rule, because } => own_rules::change(context, None, Some((rule, because))),
        PolicyVerb::Change { line, rule, because } => {
            own_rules::change(context, Some(line), Some((rule, because)))
        }
        PolicyVerb::Rm { line } => own_rules::change(context, Some(line), None),
        PolicyVerb::Test(args) => test(context, args),
        PolicyVerb::Backtest(args) => backtest(context, args),
        PolicyVerb::Suggest { days } => {
            let found = context.reading()?.call(&Suggest { days })?;
            context.out.answer(&found, suggested)?;
            Ok(exit::DONE)
        }
        PolicyVerb::Check { file, scope } => {
            let text = read_rules(&file)?;
            let found = context.free()?.call(&Check { scope, text })?;
            context.out.answer(&found, |out, found| {
                out.say(Tone::Good, format!("{} rules of the {} are accepted", found.rules, found.scope));
                found.cedar.lines().for_each(|line| out.say(Tone::Faint, line));
            })?;
            Ok(exit::DONE)
        }
        PolicyVerb::Override { act, reason, hours, uses } => {
            allow_override(context, act, reason, hours, uses)
        }
        PolicyVerb::Explain { about } => {
            let found = context.reading()?.call(&Explain { about })?;
            context.out.answer(&found, judged)?;
            Ok(exit::DONE)
        }
    }
}

fn whole(out: &Output, rule: &RuleRow) {
    out.say(Tone::Bold, format!("{} ({})", rule.name, rule.effect));
    out.line(format!("  {}", rule.reason));
    rule.text.lines().for_each(|line| out.say(Tone::Faint, format!("    {line}")));
}

fn trial(args: &TrialArgs) -> Result<Trial, Error> {
    let rules = args.rules.as_deref().map(read_rules).transpose()?;
    Ok(Trial { rules, without: args.without.clone() })
}

fn read_rules(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|e| {
        Error::new(Code::Usage, format!("cannot read the rules in `{}`: {e}", path.display()))
            .hint("name a file of rules")
    })
}

fn suggested(out: &Output, found: &Suggestions) {
    out.say(Tone::Bold, format!("You approved {} times", found.allowed));
    for row in &found.rows {
        out.line(format!("  {:>4}  {}", row.answers, plain(&row.words)));
    }
    if found.rows.is_empty() {
        return out.line("No narrow rule would have given those answers.");
    }
    out.line(
        "the number is how often it would have spared you the question; none of them would have answered",
    );
    out.line("one that you denied or left open. `hermit grants allow` gives one; so does `always` at a card");
    if found.left > 0 {
        out.say(Tone::Faint, format!("{} approvals are too broad to turn into a rule", found.left));
    }
}

/// Shows what was denied and why, and lets the person sign that they are asked all the same.
fn allow_override(context: &Context, act: String, reason: String, hours: u32, uses: u32) -> Came {
    let (mut person, mut front) = TerminalApproval::at_terminal(context).ok_or_else(no_terminal)?;
    let asked = DraftOverride { act: act.clone(), reason, hours: Some(hours), uses: Some(uses) };
    let found = context.reading()?.call(&asked)?;
    judged(&context.out, &found.denied);
    let grant: model::standing::StandingGrant =
        serde_json::from_value(found.draft).map_err(|e| Error::new(Code::Failed, e.to_string()))?;
    context.out.say(Tone::Bad, plain(&host::standing_in_words(&grant)));
    let Some(signed) = person.sign_lasting(&mut front, &grant, &["override"])? else {
        context.out.line("Nothing was overridden.");
        return Ok(exit::WAITING);
    };
    let session = context.writing(Signs::Yes)?;
    let overridden = session.call(&AllowOverride { act, envelope: STANDARD.encode(signed) });
    session.close();
    context.out.answer(&overridden?, |out, found| {
        out.say(Tone::Good, "The override is in force.");
        out.line(format!(
            "If the model asks for it again, you will be asked: hermit task retry {}",
            found.task_id
        ));
    })?;
    Ok(exit::DONE)
}

fn test(context: &Context, args: TestArgs) -> Came {
    let trial = trial(&args.trial)?;
    let act = act(args.act, args.replaces, args.network, args.method)?;
    let test = Test { profile: args.profile, act, untrusted: args.untrusted, walls: args.walls, trial };
    let found = context.free()?.call(&test)?;
    context.out.answer(&found, judged)?;
    Ok(match found.verdict {
        Verdict::Allow => exit::DONE,
        Verdict::RequireApproval => exit::WAITING,
        Verdict::Deny | Verdict::Downgrade => exit::REFUSED,
    })
}

fn act(args: ActArgs, replaces: bool, network: bool, method: Option<String>) -> Result<Act, Error> {
    let ActArgs { read, write, delete, moved, command, fetch } = args;
    let moved = moved.and_then(|pair| <[String; 2]>::try_from(pair).ok());
    match (read, write, delete, moved, command, fetch) {
        (Some(path), ..) => Ok(Act::Read { path }),
        (_, Some(path), ..) => Ok(Act::Write { path, replaces }),
        (_, _, Some(path), ..) => Ok(Act::Delete { path }),
        (_, _, _, Some([from, to]), ..) => Ok(Act::Move { from, to }),
        (_, _, _, _, Some(argv), _) => Ok(Act::Command { argv, network }),
        (.., Some(url)) => Ok(Act::Fetch { url, method }),
        (None, None, None, None, None, None) => Err(Error::new(Code::Usage, "no act was named")),
    }
}

fn judged(out: &Output, found: &Judged) {
    let tone = match found.verdict {
        Verdict::Allow => Tone::Good,
        Verdict::RequireApproval => Tone::Warn,
        Verdict::Deny | Verdict::Downgrade => Tone::Bad,
    };
    let said = match found.verdict {
        Verdict::Allow => "allowed without asking",
        Verdict::RequireApproval if found.need.is_some() => {
            "a person is asked first, and two different keys have to allow it"
        }
        Verdict::RequireApproval => "a person is asked first",
        Verdict::Downgrade => match found.downgrade.as_deref() {
            Some("readonly") => {
                "allowed only as a look: it is not done, and what is there is looked at instead"
            }
            Some("draft") => "allowed only as a draft: it is not done, and kept as a text",
            _ => "allowed only in a lesser form",
        },
        _ => "denied",
    };
    out.say(tone, said);
    if let Some(asked) = &found.instead_of {
        out.line(format!("  instead  of {}", plain(asked)));
    }
    out.line(format!("  action   {}", plain(&found.summary)));
    out.line(format!("  profile  {}", found.profile));
    out.line(format!("  risk     {}: {}", found.risk, plain(&found.risk_summary)));
    let classes: Vec<&str> = found.classes.iter().map(|class| class.as_str()).collect();
    out.line(format!("  classes  {}", classes.join(", ")));
    for rule in &found.rules {
        let reason = if rule.reason.is_empty() { "no rule permits it" } else { &rule.reason };
        out.line(format!("  rule     {} ({}): {reason}", rule.name, rule.effect));
    }
}

fn backtest(context: &Context, args: BacktestArgs) -> Came {
    let session = context.reading()?;
    let asked =
        Backtest { profile: args.profile, trial: trial(&args.trial)?, days: args.days, limit: args.limit };
    let found = session.call(&asked)?;
    context.out.answer(&found, told)?;
    Ok(exit::DONE)
}

pub(super) fn told(out: &Output, found: &Backtested) {
    out.say(
        Tone::Bold,
        format!("{} actions checked again, {} would be answered differently", found.judged, found.changed),
    );
    if found.unreadable > 0 {
        out.say(Tone::Warn, format!("{} could not be checked: their content was erased", found.unreadable));
    }
    let count = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    let counts = found.counts.iter().map(|t| {
        vec![t.was.to_string(), t.would.to_string(), t.acts.to_string(), count(t.allowed), count(t.refused)]
    });
    table(out, &["was", "would be", "acts", "you approved", "you denied"], &counts.collect::<Vec<_>>());
    if found.rows.is_empty() {
        return;
    }
    out.line("");
    for row in &found.rows {
        let answer = row.answered.map(|a| format!(", you {a} it")).unwrap_or_default();
        out.line(format!("{}  {} -> {}{answer}", time(row.at), row.was, row.would));
        out.line(format!("    {}", plain(&row.summary.to_string())));
        out.say(Tone::Faint, format!("    {}", row.rules.join(", ")));
    }
    let shown = u64::try_from(found.rows.len()).unwrap_or(u64::MAX);
    if shown < found.changed {
        out.say(Tone::Faint, format!("{} more: --limit N", found.changed.saturating_sub(shown)));
    }
}
