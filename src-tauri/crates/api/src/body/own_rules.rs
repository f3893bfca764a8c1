//! A person's own rules of policy: as they are, what a change would change, and the task that asks about it.

use super::policy::since;
use super::task::{channel, of_submitted};
use crate::convert::rows;
use crate::{Host, Wire as _, backtest, fold, not_found, usage};
use acts::{rule_in_words, rules_apart};
use governance::{Permissions, PolicyEngine, RuleScope};
use model::Digest;
use std::collections::BTreeMap;
use std::path::Path;
use wire::policy::{ChangeRules, DraftRules, OwnRule, OwnRuleList, OwnRules, RulesDraft};
use wire::task::Submitted;
use wire::{Code, Error};

const HINT: &str = "a rule is a line such as `ask Bash(git push:*)` or `deny FileDelete(**)`; below it, indented, \
                    `because` and a reason";

pub(crate) fn own_rules(host: &dyn Host, p: OwnRules) -> Result<OwnRuleList, Error> {
    let signed = signed(host)?;
    let (sha256, text) = (digest(&signed), signed.clone());
    let mut found = OwnRuleList { sha256, text, rows: Vec::new(), judged: 0 };
    let file = host.rules_file()?.unwrap_or_default();
    let listed = |scope: RuleScope, text: &str| {
        let one = |(line, text): (usize, String)| OwnRule {
            scope: scope.to_string(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            words: rule_in_words(&text),
            text,
            decided: 0,
        };
        rules_apart(text).into_iter().map(one).collect::<Vec<_>>()
    };
    found.rows = [listed(RuleScope::Signed, &signed), listed(RuleScope::User, &file)].concat();
    if let Some(days) = p.days.filter(|_| !found.rows.is_empty()) {
        let (judged, decided) = counted(host, &engine(&signed, &file)?, since(host, Some(days)))?;
        found.judged = judged;
        for row in &mut found.rows {
            let name = format!("{}.l{}", row.scope, row.line);
            row.decided = decided.get(&name).copied().unwrap_or_default();
        }
    }
    Ok(found)
}

/// Of how many acts each rule decides, as they would be judged now; and how many acts there were.
fn counted(
    host: &dyn Host,
    engine: &PolicyEngine,
    since: Option<i64>,
) -> Result<(u64, BTreeMap<String, u64>), Error> {
    let history = backtest::History::read(host, &host.reader()?)?;
    let (mut judged, mut decided) = (0_u64, BTreeMap::<String, u64>::new());
    for asked in history.since(since.unwrap_or(0)) {
        // What is gone is not judged again, and not counted.
        let Ok(again) = asked.again(host.artifacts()?, engine, None, &[]) else { continue };
        judged = judged.saturating_add(1);
        for rule in again.would.determining_rules {
            let times = decided.entry(rule).or_default();
            *times = times.saturating_add(1);
        }
    }
    Ok((judged, decided))
}

pub(crate) fn draft_rules(host: &dyn Host, p: DraftRules) -> Result<RulesDraft, Error> {
    let was = seen(host, &p.was_sha256)?;
    let (before, now) = changed(&was, p.line, p.rule.as_deref())?;
    let file = host.rules_file()?.unwrap_or_default();
    let (in_force, draft) = (engine(&was, &file)?, engine(&now, &file)?);
    let history = backtest::History::read(host, &host.reader()?)?;
    let asked =
        backtest::Before { now: Some(&in_force), engine: &draft, profile: None, since: since(host, p.days) };
    let rows_max = usize::try_from(rows(p.limit)?).unwrap_or(usize::MAX);
    Ok(RulesDraft {
        before: before.map(|rule| rule_in_words(&rule)),
        after: p.rule.map(|rule| rule_in_words(rule.trim_start())),
        told: backtest::count(&history, host.artifacts()?, &asked, rows_max),
    })
}

pub(crate) fn change_rules(host: &dyn Host, p: ChangeRules) -> Result<Submitted, Error> {
    let was = seen(host, &p.was_sha256)?;
    let (_, now) = changed(&was, p.line, p.rule.as_deref())?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_rules(&now, &was, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

/// The policy that a task without rules of its own is judged by in a folder without rules; as it comes, without a store.
pub(crate) fn in_force(host: &dyn Host) -> Result<PolicyEngine, Error> {
    let signed = match signed(host) {
        Err(error) if matches!(error.code, Code::NoStore | Code::NoHost) => String::new(),
        signed => signed?,
    };
    engine(&signed, &host.rules_file()?.unwrap_or_default())
}

/// The policy that a task without rules of its own is judged by in a folder.
pub(crate) fn in_force_at(host: &dyn Host, root: &Path) -> Result<PolicyEngine, Error> {
    let project = kernel::drive::project_rules(root).wire()?.unwrap_or_default();
    let file = host.rules_file()?.unwrap_or_default();
    let signed = signed(host)?;
    engine_of(&[
        (RuleScope::Signed, signed.as_str()),
        (RuleScope::User, file.as_str()),
        (RuleScope::Project, project.as_str()),
    ])
}

/// Whose rule a name is of, where the rules of now do not tell it.
pub(crate) fn whose(name: &str) -> &'static str {
    match name.split_once('.') {
        Some(("signed", _)) => "a rule of yours, as it was then",
        Some(("user", _)) => "a rule of your file, as it was then",
        Some(("project", _)) => "a rule of the project, as it was then",
        Some(("task", _)) => "a rule of the task",
        _ => "",
    }
}

/// The rules that a person approved on cards, all of them.
fn signed(host: &dyn Host) -> Result<String, Error> {
    let Some(at) = fold::store_state(&host.reader()?)?.rules else { return Ok(String::new()) };
    let bytes = host.artifacts()?.read(&at.sha256).wire()?;
    String::from_utf8(bytes.to_vec()).map_err(crate::failed)
}

/// As [`signed`], when they are still those that the person saw.
fn seen(host: &dyn Host, sha256: &str) -> Result<String, Error> {
    let signed = signed(host)?;
    match digest(&signed) == sha256.trim() {
        true => Ok(signed),
        false => Err(Error::new(Code::Conflict, "your rules have changed since you looked at them")
            .hint("look at them again, then change them")),
    }
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn engine(signed: &str, file: &str) -> Result<PolicyEngine, Error> {
    engine_of(&[(RuleScope::Signed, signed), (RuleScope::User, file)])
}

fn engine_of(texts: &[(RuleScope, &str)]) -> Result<PolicyEngine, Error> {
    let mut all = Vec::new();
    for (scope, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        all.push(Permissions::read(*scope, text).map_err(refused)?);
    }
    match all.is_empty() {
        true => PolicyEngine::shipped().map_err(crate::failed),
        false => PolicyEngine::with_permissions(all).map_err(refused),
    }
}

fn refused(error: governance::Error) -> Error {
    usage(error.to_string()).hint(HINT)
}

/// The rule that was, and all rules as they would be: with one more, with another one at a line, or without that.
fn changed(was: &str, line: Option<u32>, rule: Option<&str>) -> Result<(Option<String>, String), Error> {
    let mut apart: Vec<(usize, String)> = rules_apart(was);
    let place = line.and_then(|line| {
        let at = apart.iter().position(|(begins, _)| u32::try_from(*begins) == Ok(line));
        at.map(|at| apart.remove(at))
    });
    if let (Some(line), None) = (line, &place) {
        return Err(not_found("rule at line", &line.to_string()));
    }
    if let Some(rule) = rule {
        let rule = rule.trim_start();
        // Alone first, so that a line that is named is one of those that were written here.
        Permissions::read(RuleScope::Signed, rule).map_err(refused)?;
        let new = rules_apart(rule);
        if new.is_empty() {
            return Err(usage("no rule is written").hint(HINT));
        }
        if new.iter().any(|(_, one)| apart.iter().any(|(_, known)| known == one)) {
            return Err(usage("you have this rule already"));
        }
        let at = place.as_ref().map_or(apart.len(), |(begins, _)| {
            apart.iter().position(|(other, _)| other > begins).unwrap_or(apart.len())
        });
        apart.splice(at..at, new);
    } else if place.is_none() {
        return Err(usage("neither a rule nor the line of one is named").hint(HINT));
    }
    let text: String = apart.iter().map(|(_, rule)| format!("{rule}\n")).collect();
    Ok((place.map(|(_, rule)| rule), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAS: &str = "ask Bash(make:*)\n  because slow\ndeny FileDelete(**)\n";

    #[test]
    fn a_rule_is_added_changed_and_removed_with_what_stands_below_it() {
        let now = |line, rule| changed(WAS, line, rule).map(|(_, text)| text).map_err(|e| e.message);
        assert_eq!(now(None, Some("ask Net(host:a.org)")), Ok(format!("{WAS}ask Net(host:a.org)\n")));
        assert_eq!(
            now(Some(1), Some("deny Bash(make)")),
            Ok("deny Bash(make)\ndeny FileDelete(**)\n".to_owned())
        );
        assert_eq!(now(Some(1), None), Ok("deny FileDelete(**)\n".to_owned()));
        assert_eq!(now(Some(3), None), Ok("ask Bash(make:*)\n  because slow\n".to_owned()));
        assert!(now(Some(2), None).is_err_and(|why| why.contains("line")), "a reason is no rule of its own");
        assert!(now(None, Some("deny FileDelete(**)")).is_err_and(|why| why.contains("already")));
        assert!(now(None, Some(" \n")).is_err() && now(None, None).is_err());
        let wrong = now(None, Some("ask Bash(make)\n  no match make\n"));
        assert!(wrong.as_ref().is_err_and(|why| why.contains("line 2")), "{wrong:?}");
    }
}
