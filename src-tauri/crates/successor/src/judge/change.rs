//! What can be said of a change from its own bytes. A replay shows what it does to work that was done; what it would let happen
//! elsewhere stands in the change itself.

use super::acts::ASK;
use super::{Findings, Grade, Judged};
use crate::constitutional::{is_evaluator, is_of_build, is_test};
use crate::edited::{passes_over_tests, removes_tests};
use crate::{Case, Change, Evidence, Patch, PlayedAct, diff};
use ::acts::sensitive_paths::{PathKind, path_kind};
use model::RelPath;
use std::collections::BTreeMap;
use words::policy::Profile;

/// Profiles, each with at most what the next one has. One that is not here can be compared with none.
const PROFILES: [&str; 5] = [
    "readonly_analysis",
    "local_edit_allowed",
    "network_read_allowed",
    "repo_mutation_gated",
    "external_publish_gated",
];
/// Words that a rule begins with.
const WORDS: [&str; 6] = ["allow", "ask", "dual", "look", "draft", "deny"];
/// Kinds of rule whose `allow` lets happen what cannot be undone here.
const FAR: [&str; 4] = ["Bash(", "Net(", "Mcp(", "FileDelete("];

/// Rules that are named at most where a new `allow` spares no question.
const ASKING_MAX: usize = 5;
/// The rule that has a person look at what was proposed by a model that had read untrusted content.
const UNTRUSTED: &str = "base.untrusted_context";

/// Looks at a change.
pub(super) fn look(case: &Case, patch: &Patch, findings: &mut Findings) {
    match &patch.change {
        Change::Policy { rules, profile } => {
            look_at_rules(&case.rules, rules, findings);
            if let Some(profile) = profile.as_deref().filter(|profile| *profile != case.profile) {
                look_at_profile(&case.profile, profile, findings);
            }
        }
        Change::Code { diff, .. } => look_at_source(diff, findings),
        Change::Words { .. } | Change::Model { .. } => {}
    }
}

/// The rules that say something, each by its word and what it is about, however much room is between them.
fn said(rules: &str) -> Vec<String> {
    let rule = |line: &str| {
        let (word, about) = line.trim().split_once(char::is_whitespace)?;
        WORDS.contains(&word).then(|| format!("{word} {}", about.trim()))
    };
    rules.lines().filter_map(rule).collect()
}

fn look_at_rules(before: &str, after: &str, findings: &mut Findings) {
    let (before, after) = (said(before), said(after));
    for gone in before.iter().filter(|rule| !rule.starts_with("allow ") && !after.contains(rule)) {
        let says = format!(
            "the rule `{gone}` is gone: what it would have held back elsewhere, a replay does not show"
        );
        findings.add(Grade::Unread, "removes_a_rule", says);
    }
    for come in after.iter().filter(|rule| !before.contains(rule)) {
        let allowed = come.strip_prefix("allow ").map(str::trim_start);
        let is_far =
            |rest: &str| FAR.iter().any(|kind| rest.starts_with(kind)) || names_what_is_delicate(rest);
        if allowed.is_some_and(is_far) {
            let says = format!(
                "the rule `{come}` is new: what it would let happen elsewhere, a replay does not show"
            );
            findings.add(Grade::Unread, "allows_beyond_the_replay", says);
        }
    }
}

/// Tells which rules still ask where a new `allow` spares no question.
pub(super) fn still_asked(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(Patch { change: Change::Policy { rules, .. }, .. }) = &judged.successor_case.patch else {
        return;
    };
    let (before, after) = (said(&judged.parent_case.rules), said(rules));
    if !after.iter().any(|rule| rule.starts_with("allow ") && !before.contains(rule)) {
        return;
    }
    let (was, is) = (asked_about(judged.parent), asked_about(judged.successor));
    if is.is_empty() || is.len() < was.len() {
        return;
    }
    let mut asking: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in is.iter().flat_map(|act| &act.rules) {
        let times = asking.entry(rule.as_str()).or_default();
        *times = times.saturating_add(1);
    }
    let mut asking: Vec<(&str, usize)> = asking.into_iter().collect();
    asking.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let named: Vec<String> = asking.iter().take(ASKING_MAX).map(|(rule, _)| rule_in_words(rule)).collect();
    if named.is_empty() {
        return;
    }
    let more = match asking.len().saturating_sub(ASKING_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let acts = match is.len() {
        1 => "1 act is".to_owned(),
        many => format!("{many} acts are"),
    };
    let says = format!(
        "what is newly allowed spares no question: {acts} still asked about, because of {}{more}",
        named.join(", ")
    );
    findings.add(Grade::Told, "still_asked", says);
}

/// What a person is asked about in an arm.
fn asked_about(evidence: &Evidence) -> Vec<&PlayedAct> {
    evidence.tasks.iter().flat_map(|task| &task.acts).filter(|act| act.verdict == ASK).collect()
}

/// A rule by its name; the one that a person's `allow` meets most often, with what it is for.
fn rule_in_words(rule: &str) -> String {
    match rule {
        UNTRUSTED => format!("`{rule}` (the model had read untrusted content)"),
        _ => format!("`{rule}`"),
    }
}

/// Whether a rule is about a file that acts later as code, or holds a secret. An `allow` speaks of such a one where it names it, and then
/// of writing and reading as well.
fn names_what_is_delicate(rule: &str) -> bool {
    let pattern = rule.trim_end().strip_suffix(')').and_then(|rule| rule.split_once('('));
    let path = pattern.and_then(|(_, pattern)| RelPath::from_bytes(pattern.as_bytes()).ok());
    path.is_some_and(|path| matches!(path_kind(&path), PathKind::ActsLater | PathKind::Secret))
}

fn look_at_profile(before: &str, after: &str, findings: &mut Findings) {
    let place = |name: &str| PROFILES.iter().position(|known| *known == name);
    match (place(before), place(after)) {
        (Some(was), Some(is)) if is > was => {
            let (after, before) = (in_words(after), in_words(before));
            let says = format!("the profile \"{after}\" has permissions that \"{before}\" has not");
            findings.add(Grade::Unsafe, "new_class_of_permission", says);
        }
        (Some(_), Some(_)) => {}
        _ => {
            let (after, before) = (in_words(after), in_words(before));
            let says = format!("the profile \"{after}\" cannot be compared with \"{before}\"");
            findings.add(Grade::Unread, "another_profile", says);
        }
    }
}

/// A profile as a person reads it; one that nobody knows by its spelling.
fn in_words(profile: &str) -> &str {
    match profile.parse::<Profile>() {
        Ok(known) => known.in_words(),
        Err(_) => profile,
    }
}

fn look_at_source(text: &str, findings: &mut Findings) {
    let files = match diff::files(text) {
        Ok(files) => files,
        Err(why) => return findings.add(Grade::Void, "change_unreadable", why),
    };
    for file in &files {
        for path in file.paths() {
            if is_test(path) {
                findings.edits_test(path);
            }
            if is_of_build(path) {
                let says = format!(
                    "it changes `{path}`, which decides what is built and tested; look at that first"
                );
                findings.add(Grade::Unread, "edits_the_build", says);
            }
            if is_evaluator(path) {
                let says = format!("it changes `{path}`, which judges changes");
                findings.add(Grade::Unread, "edits_the_evaluator", says);
            }
        }
        let path = file.paths().next().unwrap_or_default();
        if !is_test(path) && removes_tests(file) {
            let says = format!("it removes lines of a test in `{path}`; look at that first");
            findings.add(Grade::Unread, "edits_tests", says);
        }
        if passes_over_tests(file) {
            let says = format!("it may have a test of `{path}` passed over; look at that first");
            findings.add(Grade::Unread, "edits_tests", says);
        }
    }
}
