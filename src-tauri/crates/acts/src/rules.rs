//! A person's rules of policy as they are read by a person: what each means, and what a change of them changes.

use crate::{Line, LineKind, count, visible};

/// What a rule such as `ask Bash(git push:*)` means, in words. What is no rule is given back as it is written.
pub fn rule_in_words(rule: &str) -> String {
    let said = rule.lines().next().unwrap_or_default().trim();
    let written = || format!("\"{}\"", visible(said));
    let Some((answer, rest)) = said.split_once(char::is_whitespace) else { return written() };
    let inner = rest.trim().strip_suffix(')').and_then(|rest| rest.split_once('('));
    let Some(what) = inner.and_then(|(kind, pattern)| covered(kind, pattern)) else { return written() };
    match answer {
        "allow" => format!("Allow without asking: {what}"),
        "ask" => format!("Always ask before: {what}"),
        "dual" => format!("Always ask, and let two different keys allow: {what}"),
        "deny" => format!("Never allow: {what}"),
        "look" => format!("Only look at the place, instead of: {what}"),
        "draft" => format!("Only keep a draft, instead of: {what}"),
        _ => written(),
    }
}

fn covered(kind: &str, pattern: &str) -> Option<String> {
    let files = || match pattern {
        "**" => "any file".to_owned(),
        _ => format!("files that match `{}`", visible(pattern)),
    };
    Some(match kind {
        "Bash" => match (pattern, pattern.strip_suffix(":*")) {
            ("*", _) => "running any command".to_owned(),
            (_, Some(words)) => format!("running commands that begin with `{}`", visible(words)),
            (words, None) => format!("running exactly `{}`", visible(words)),
        },
        "FileRead" => format!("reading {}", files()),
        "FileEdit" => format!("creating or changing {}", files()),
        "FileDelete" => format!("deleting {}", files()),
        "Net" => match pattern.strip_prefix("host:")? {
            "*" => "reaching any host".to_owned(),
            host => match host.strip_prefix("*.") {
                Some(end) => format!("reaching any host below `{}`", visible(end)),
                None => format!("reaching the host `{}`", visible(host)),
            },
        },
        "Mcp" => match pattern.split_once("__")? {
            (server, "*") => format!("calling any tool of the server `{}`", visible(server)),
            (server, tool) => format!("calling `{}` of the server `{}`", visible(tool), visible(server)),
        },
        _ => return None,
    })
}

/// Rules with what stands indented below each, and the line, from 1, at which each begins. Comments and blank lines are
/// between them.
pub fn rules_apart(text: &str) -> Vec<(usize, String)> {
    let mut apart: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let said = line.trim();
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        match apart.last_mut() {
            Some((_, rule)) if line.starts_with([' ', '\t']) => {
                rule.push('\n');
                rule.push_str(line.trim_end());
            }
            _ => apart.push((at.saturating_add(1), line.trim_end().to_owned())),
        }
    }
    apart
}

/// Whether a change takes a rule away by which two different keys have to allow something.
pub fn drops_dual(was: &str, now: &str) -> bool {
    let heads = |text: &str| -> Vec<String> {
        let rules = rules_apart(text).into_iter();
        rules.filter_map(|(_, rule)| Some(rule.lines().next()?.trim().to_owned())).collect()
    };
    let stay = heads(now);
    heads(was).iter().any(|rule| rule.split_whitespace().next() == Some("dual") && !stay.contains(rule))
}

/// The rules that a change takes away, those that it brings, and how many stay.
fn difference(was: &str, now: &str) -> (Vec<String>, Vec<String>, usize) {
    let mut gone: Vec<String> = rules_apart(was).into_iter().map(|(_, rule)| rule).collect();
    let (mut came, mut stay) = (Vec::new(), 0_usize);
    for (_, rule) in rules_apart(now) {
        match gone.iter().position(|one| *one == rule) {
            Some(at) => {
                gone.remove(at);
                stay = stay.saturating_add(1);
            }
            None => came.push(rule),
        }
    }
    (gone, came, stay)
}

/// A change of rules in one line.
pub(crate) fn title(was: &str, now: &str) -> String {
    let (gone, came, _) = difference(was, now);
    match (gone.as_slice(), came.as_slice()) {
        ([], [one]) => format!("add a rule of policy. {}", rule_in_words(one)),
        ([one], []) => format!("remove a rule of policy. {}", rule_in_words(one)),
        ([_], [one]) => format!("change a rule of policy. {}", rule_in_words(one)),
        _ => format!("change your rules of policy: {} removed, {} added", gone.len(), came.len()),
    }
}

/// A change of rules as its card tells it: what each rule means that goes or comes, and how it is written.
pub(crate) fn lines(was: &str, now: &str) -> Vec<Line> {
    let (gone, came, stay) = difference(was, now);
    // Each of these is an effect: a page shows those of an act without files, and leaves words of risk to the risk's own.
    let risk = |text: &str| Line { kind: LineKind::Destructive, text: text.to_owned() };
    let mut lines =
        vec![risk("change what Hermit may do: your rules hold in every folder, from the next action on")];
    if came.iter().any(|rule| rule.starts_with("allow")) {
        lines.push(risk("what you allow here is then done WITHOUT asking you, unless its risk is critical"));
    }
    if gone.iter().any(|rule| !rule.starts_with("allow")) {
        lines.push(risk("what a removed rule asked about or denied is then judged without it"));
    }
    for (word, kind, rules) in
        [("until now", LineKind::Destructive, &gone), ("from now on", LineKind::Effect, &came)]
    {
        for rule in rules {
            lines.push(Line { kind, text: format!("{word}: {}", rule_in_words(rule)) });
            let mark = if word == "until now" { '-' } else { '+' };
            let written = rule.lines().map(|line| format!("{mark} {}", visible(line)));
            lines.extend(written.map(|text| Line { kind, text }));
        }
    }
    let text = match stay {
        0 => "you have no other rules".to_owned(),
        stay => format!("{} of yours as before", count(stay, "other rule")),
    };
    lines.push(Line { kind: LineKind::Fact, text });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_rule_is_told_in_words_and_what_is_none_as_it_is_written() {
        for (rule, words) in [
            ("ask Bash(git push:*)", "Always ask before: running commands that begin with `git push`"),
            ("deny Bash(*)", "Never allow: running any command"),
            ("allow Bash(make)", "Allow without asking: running exactly `make`"),
            ("deny FileDelete(**)", "Never allow: deleting any file"),
            (
                "look FileEdit(*.md)",
                "Only look at the place, instead of: creating or changing files that match `*.md`",
            ),
            (
                "draft Net(host:*.example.com)",
                "Only keep a draft, instead of: reaching any host below `example.com`",
            ),
            ("ask Net(host:a.org:443)", "Always ask before: reaching the host `a.org:443`"),
            ("deny Mcp(files__*)", "Never allow: calling any tool of the server `files`"),
            ("ask FileRead(a\u{202e}b)", "Always ask before: reading files that match `a\\u{202e}b`"),
            ("often Bash(x)", "\"often Bash(x)\""),
            ("ask everything", "\"ask everything\""),
        ] {
            assert_eq!(rule_in_words(rule), words, "{rule}");
        }
    }

    #[test]
    fn a_rule_of_two_keys_goes_with_its_first_line_whatever_stands_below_it() {
        let was = "ask Bash(*)\ndual FileEdit(*.md)\n  because both of us\n";
        for (now, goes) in [
            (was, false),
            ("dual FileEdit(*.md)\n", false),
            ("dual FileEdit(*.md)\n  because all of us\nask Bash(*)\n", false),
            ("ask FileEdit(*.md)\nask Bash(*)\n", true),
            ("dual FileEdit(a.md)\n", true),
            ("# dual FileEdit(*.md)\n", true),
            ("", true),
        ] {
            assert_eq!(drops_dual(was, now), goes, "{now}");
        }
        assert!(!drops_dual("ask Bash(*)\n", ""));
    }

    #[test]
    fn a_change_tells_what_goes_comes_and_stays_by_whole_rules() {
        let was = "# mine\nask Bash(make:*)\n  because slow\ndeny FileDelete(**)\n";
        let now = "deny FileDelete(**)\nask Bash(make:*)\n  because it is slow\nallow FileEdit(*.md)\n";
        let told: Vec<String> = lines(was, now).into_iter().map(|line| line.text).collect();
        assert!(told.iter().any(|line| line.contains("WITHOUT asking")), "{told:?}");
        assert!(told.contains(&"-   because slow".to_owned()), "{told:?}");
        assert!(
            told.contains(&"+   because it is slow".to_owned()),
            "a reason is part of its rule: {told:?}"
        );
        assert!(told.contains(&"1 other rule of yours as before".to_owned()), "{told:?}");
        assert!(!told.iter().any(|line| line.contains("FileDelete")), "{told:?}");
        assert_eq!(title(was, now), "change your rules of policy: 1 removed, 2 added");
        assert_eq!(title("", "deny Bash(*)\n"), "add a rule of policy. Never allow: running any command");
    }
}
