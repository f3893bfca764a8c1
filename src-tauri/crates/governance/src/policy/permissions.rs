//! Permission wildcards: `deny Bash(git push:*)`, `allow FileEdit(docs/**)`, a line each, by scope (governance.md 1).
//!
//! What a rule matches is computed here from the typed action; what follows from a match is Cedar: every `ask`, `dual`
//! and `deny` becomes a forbid of a layer of its own, so that deny wins whatever else permits. An `allow` lifts a
//! question, never a deny, and only when every part of the request is allowed.

use crate::Error;
use crate::standing::{glob_is_sound, glob_matches, glob_matches_folded};
use acts::programs::open_ended;
use acts::sensitive_paths::{PathKind, path_kind};
use acts::{ActionRequest, Part};
use model::file_name::is_same;
use model::{RelPath, ResourceId};
use seal::Digest;
use std::fmt::Write as _;
use std::path::Path;
pub use words::policy::RuleScope;

/// Rules of one scope at most: they are judged for every request.
const RULES_MAX: usize = 200;

/// Ends of programs that Windows lets people leave out, and their bytes.
const ENDS: [&str; 4] = [".exe", ".com", ".bat", ".cmd"];
const END_BYTES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allow,
    Ask,
    /// Asked, and two different keys have to say yes.
    Dual,
    Deny,
    /// Only looked at, or fetched.
    Look,
    /// Only kept as a text.
    Draft,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// Words; whether more may follow.
    Bash(Vec<String>, bool),
    Read(String),
    Edit(String),
    Delete(String),
    /// A host or `*.` and its ending, `*` for any; a port or any.
    Net(String, Option<u16>),
    /// Server and tool, `*` for any tool.
    Mcp(String, String),
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Permission {
    /// `user.l3`: the scope and the line.
    id: String,
    answer: Answer,
    pattern: Pattern,
    /// As it is written.
    text: String,
    because: Option<String>,
}

/// The rules of one scope, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    scope: RuleScope,
    rules: Vec<Permission>,
    sha256: Digest,
}

impl Permissions {
    /// Reads rules: `allow|ask|dual|look|draft|deny KIND(PATTERN)` a line, below it indented `match EXAMPLE`, `no match EXAMPLE` and
    /// `because TEXT`; `#` begins a comment line.
    ///
    /// # Errors
    /// [`Error::Layer`] with the line: what is not understood, an example that does not come out as it says, and a
    /// project's `allow`.
    pub fn read(scope: RuleScope, text: &str) -> Result<Self, Error> {
        let refuse = |at: usize, why: &str| Error::Layer {
            layer: scope.to_string(),
            why: format!("line {}: {why}", at + 1),
        };
        let mut rules: Vec<Permission> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let said = line.trim();
            if said.is_empty() || said.starts_with('#') {
                continue;
            }
            if line.starts_with([' ', '\t']) {
                let rule = rules.last_mut().ok_or_else(|| refuse(at, "there is no rule above it"))?;
                detail(rule, said).map_err(|why| refuse(at, &why))?;
                continue;
            }
            let rule = rule(scope, at + 1, said).map_err(|why| refuse(at, &why))?;
            if scope == RuleScope::Project && rule.answer == Answer::Allow {
                return Err(refuse(at, "a project may ask, dual, look, draft and deny; only you allow"));
            }
            rules.push(rule);
            if rules.len() > RULES_MAX {
                return Err(refuse(at, "there are too many rules"));
            }
        }
        Ok(Self { scope, rules, sha256: Digest::of(format!("{scope}\n{text}").as_bytes()) })
    }

    /// Whose they are.
    pub const fn scope(&self) -> RuleScope {
        self.scope
    }

    /// How many rules there are.
    pub const fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Digest of scope and text.
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// What is compiled of them: a Cedar layer, named as the scope.
    pub fn cedar(&self) -> String {
        const YES: &str = "unless { context has approval && context has packet_hash && \
                           context.approval.packet_hash == context.packet_hash }";
        const FULL: &str = " && context.mode == \"full\"";
        let mut out = format!("// The rules of the {}, sha256 {}.\n\n", self.scope, self.sha256);
        for rule in self.rules.iter().filter(|rule| rule.answer != Answer::Allow) {
            let Permission { id, answer, because, text, .. } = rule;
            let reason = because.clone().unwrap_or_else(|| match self.scope {
                RuleScope::Signed => format!("your rule says `{text}`"),
                scope => format!("a rule of the {scope} says `{text}`"),
            });
            let reason = reason.replace('\\', "\\\\").replace('"', "\\\"");
            // What only looks anyway has no lesser form, so such a rule does not speak of it.
            const CHANGES: &str = "action in Hermit::Action::\"consequential\"";
            let (decision, action, full, unless) = match answer {
                Answer::Ask => ("@decision(\"ask\")\n", "action", FULL, YES),
                Answer::Dual => ("@decision(\"ask\")\n@keys(\"2\")\n", "action", FULL, YES),
                Answer::Look => ("@decision(\"downgrade:readonly\")\n", CHANGES, FULL, ""),
                Answer::Draft => ("@decision(\"downgrade:draft\")\n", CHANGES, FULL, ""),
                Answer::Allow | Answer::Deny => ("", "action", "", ""),
            };
            // Writing into a string cannot fail.
            let _ = writeln!(
                out,
                "@id(\"{id}\")\n{decision}@reason(\"{reason}\")\nforbid (principal, {action}, resource)\nwhen {{ \
                 context.matched.contains(\"{id}\"){full} }}\n{unless};\n"
            );
        }
        out
    }

    /// The rules that match some part of a request.
    pub(crate) fn matched(&self, request: &ActionRequest) -> Vec<String> {
        let parts = parts(request);
        let met =
            |rule: &&Permission| rule.answer != Answer::Allow && parts.iter().any(|p| rule.speaks_of(p));
        self.rules.iter().filter(met).map(|rule| rule.id.clone()).collect()
    }
}

/// The rules which together allow every part of a request, when they do.
pub(crate) fn allowed_by(all: &[Permissions], request: &ActionRequest) -> Option<Vec<String>> {
    let parts = parts(request);
    let allows: Vec<&Permission> =
        all.iter().flat_map(|p| &p.rules).filter(|rule| rule.answer == Answer::Allow).collect();
    let mut met = Vec::new();
    for part in &parts {
        let rule =
            allows.iter().find(|rule| rule.pattern.meets(part) && rule.pattern.is_plain_about(part))?;
        met.push(rule.id.clone());
    }
    met.sort();
    met.dedup();
    (!met.is_empty()).then_some(met)
}

fn rule(scope: RuleScope, line: usize, text: &str) -> Result<Permission, String> {
    let (word, rest) = text
        .split_once(char::is_whitespace)
        .ok_or("a rule is `allow|ask|dual|look|draft|deny KIND(PATTERN)`")?;
    let answer = match word {
        "allow" => Answer::Allow,
        "ask" => Answer::Ask,
        "dual" => Answer::Dual,
        "look" => Answer::Look,
        "draft" => Answer::Draft,
        "deny" => Answer::Deny,
        other => return Err(format!("`{other}` is none of `allow`, `ask`, `dual`, `look`, `draft`, `deny`")),
    };
    let rest = rest.trim();
    let lesser = ["FileEdit(", "FileDelete(", "Net("];
    if matches!(answer, Answer::Look | Answer::Draft) && !lesser.iter().any(|kind| rest.starts_with(kind)) {
        return Err(format!(
            "`{word}` speaks of FileEdit, FileDelete and Net; nothing else has a lesser form"
        ));
    }
    let inner = rest.strip_suffix(')').and_then(|rest| rest.split_once('('));
    let (kind, pattern) = inner.ok_or("a rule is `allow|ask|dual|look|draft|deny KIND(PATTERN)`")?;
    let glob = |pattern: &str| match glob_is_sound(pattern) {
        true => Ok(pattern.to_owned()),
        false => Err(format!("`{pattern}` is no glob below the project")),
    };
    let pattern = match kind {
        "Bash" => bash(pattern, answer)?,
        "FileRead" => Pattern::Read(glob(pattern)?),
        "FileEdit" => Pattern::Edit(glob(pattern)?),
        "FileDelete" => Pattern::Delete(glob(pattern)?),
        "Net" => net(pattern)?,
        "Mcp" => {
            let (server, tool) = pattern.split_once("__").ok_or("write `Mcp(server__tool)`")?;
            Pattern::Mcp(server.to_owned(), tool.to_owned())
        }
        other => {
            return Err(format!("`{other}` is none of Bash, FileRead, FileEdit, FileDelete, Net, Mcp"));
        }
    };
    Ok(Permission { id: format!("{scope}.l{line}"), answer, pattern, text: text.to_owned(), because: None })
}

fn bash(pattern: &str, answer: Answer) -> Result<Pattern, String> {
    let (words, more) = match pattern.strip_suffix(":*") {
        Some(words) => (words, true),
        None if pattern == "*" => ("", true),
        None => (pattern, false),
    };
    if words.contains('*') {
        return Err("only the end of a command is open: `Bash(git push:*)`".to_owned());
    }
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if answer == Answer::Allow {
        if words.is_empty() {
            return Err("nobody allows every command".to_owned());
        }
        if more {
            open_ended(&words)?;
        }
    }
    Ok(Pattern::Bash(words, more))
}

fn net(pattern: &str) -> Result<Pattern, String> {
    let host = pattern.strip_prefix("host:").ok_or("write `Net(host:NAME)` or `Net(host:NAME:PORT)`")?;
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port.parse().map_err(|_| format!("`{port}` is no port"))?)),
        None => (host, None),
    };
    let inner = name.strip_prefix("*.").unwrap_or(name);
    if name == "*" || (!inner.is_empty() && !inner.contains('*') && name == name.to_ascii_lowercase()) {
        return Ok(Pattern::Net(name.to_owned(), port));
    }
    Err(format!("`{name}` is no host, nor `*.` and the end of one"))
}

/// An example or a reason of the rule above.
fn detail(rule: &mut Permission, said: &str) -> Result<(), String> {
    if let Some(text) = said.strip_prefix("because ") {
        rule.because = Some(text.trim().to_owned());
        return Ok(());
    }
    let (example, wanted) = match (said.strip_prefix("match "), said.strip_prefix("no match ")) {
        (Some(example), _) => (example, true),
        (None, Some(example)) => (example, false),
        (None, None) => return Err(format!("`{said}` is none of `match`, `no match`, `because`")),
    };
    let met = examples(&rule.pattern, example.trim())?.iter().any(|part| rule.speaks_of(part));
    if met == wanted {
        return Ok(());
    }
    let not = if met { "matches" } else { "does not match" };
    Err(format!("`{}` {not} `{}`, and the rule says otherwise", rule.text, example.trim()))
}

/// What an example stands for, for a rule of this kind.
fn examples(pattern: &Pattern, text: &str) -> Result<Vec<Part>, String> {
    let path = || RelPath::from_bytes(text.as_bytes()).map_err(|e| e.to_string());
    match pattern {
        Pattern::Bash(..) => Ok(acts::command_parts(&["sh".to_owned(), "-c".to_owned(), text.to_owned()])),
        Pattern::Read(_) => Ok(vec![Part::Read(path()?)]),
        Pattern::Edit(_) => Ok(vec![Part::Edit(path()?)]),
        Pattern::Delete(_) => Ok(vec![Part::Delete(path()?)]),
        Pattern::Net(..) => {
            let (name, port) = text.rsplit_once(':').unwrap_or((text, "443"));
            let port = port.parse().map_err(|_| format!("`{port}` is no port"))?;
            Ok(vec![Part::Host(name.to_owned(), port)])
        }
        Pattern::Mcp(..) => Err("tools of MCP servers have no examples yet".to_owned()),
    }
}

fn parts(request: &ActionRequest) -> Vec<Part> {
    let mut parts = request.action.as_tool().parts();
    parts.extend(request.staged.iter().flat_map(|staged| &staged.items).flat_map(acts::items::parts));
    parts.extend(request.target_resources.iter().filter_map(|resource| match resource {
        ResourceId::Host(name, port) => Some(Part::Host(name.clone(), *port)),
        ResourceId::File(..) | ResourceId::Ref(..) | ResourceId::Receipt(_) => None,
        ResourceId::Mcp(..)
        | ResourceId::Secret(_)
        | ResourceId::Memory(_)
        | ResourceId::Rules
        | ResourceId::Soul
        | ResourceId::Successor
        | ResourceId::Skill(_)
        | ResourceId::Schedule(_)
        | ResourceId::Skin(_)
        | ResourceId::Gateway(_)
        | ResourceId::Chat(..) => Some(Part::Other),
    }));
    parts
}

/// Whether what is started is a program, by its path or by its name, whichever way a system writes these: Windows also with a drive
/// alone in front, `C:git.exe`.
fn is_program(said: &str, program: &str) -> bool {
    let name = said.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    [said, name].iter().any(|said| is_same(without_end(said).as_bytes(), without_end(program).as_bytes()))
}

/// Whether a program is named alone or by its whole path: what lies below the folder of the work, the work may have put there.
fn is_named_surely(program: &str) -> bool {
    Path::new(program).has_root() || !program.contains(['/', '\\', ':'])
}

/// A program without the end of its name that Windows lets people leave out.
fn without_end(program: &str) -> &str {
    let program = program.trim_end_matches([' ', '.']);
    let cut = program.len().saturating_sub(END_BYTES);
    let is_end = |end: &str| ENDS.iter().any(|known| end.eq_ignore_ascii_case(known));
    let has_end = cut > 0 && program.get(cut..).is_some_and(is_end);
    if has_end { program.get(..cut).unwrap_or(program) } else { program }
}

impl Permission {
    /// Whether it speaks of a part. What asks or denies does so in whatever way some disk takes a name, or another case of a letter would get
    /// round it; what allows does so for the very bytes of a path.
    fn speaks_of(&self, part: &Part) -> bool {
        let is_folded = || match (&self.pattern, part) {
            (Pattern::Read(glob), Part::Read(path))
            | (Pattern::Edit(glob), Part::Edit(path))
            | (Pattern::Delete(glob), Part::Delete(path)) => glob_matches_folded(glob, path.as_bytes()),
            _ => false,
        };
        self.pattern.meets(part) || (self.answer != Answer::Allow && is_folded())
    }
}

impl Pattern {
    fn meets(&self, part: &Part) -> bool {
        match (self, part) {
            (Self::Bash(words, more), Part::Command(said)) => {
                // A program is the same by its path and by its name, however some disk spells it, for what is asked and denied.
                let same = |(at, word): (usize, &String)| match said.get(at).and_then(Option::as_deref) {
                    Some(said) if at == 0 => is_program(said, word),
                    Some(said) => said == word,
                    None => false,
                };
                words.iter().enumerate().all(same) && (*more || said.len() == words.len())
            }
            // What cannot be read may be anything: `Bash(*)` alone speaks of it.
            (Self::Bash(words, true), Part::Unreadable) => words.is_empty(),
            (Self::Read(glob), Part::Read(path))
            | (Self::Edit(glob), Part::Edit(path))
            | (Self::Delete(glob), Part::Delete(path)) => glob_matches(glob, path.as_bytes()),
            (Self::Net(name, port), Part::Host(host, at)) => {
                let fits = match name.strip_prefix('*') {
                    Some(ending) => host.ends_with(ending) && host.len() > ending.len(),
                    None => name == host,
                };
                fits && port.is_none_or(|port| port == *at)
            }
            _ => false,
        }
    }

    /// Whether an `allow` may speak of a part: not of what is delicate by a wildcard, nor of a program by another path.
    fn is_plain_about(&self, part: &Part) -> bool {
        match (self, part) {
            (Self::Bash(words, _), Part::Command(said)) => {
                said.first().and_then(Option::as_ref) == words.first()
                    && words.first().is_some_and(|program| is_named_surely(program))
            }
            (
                Self::Edit(glob) | Self::Delete(glob) | Self::Read(glob),
                Part::Edit(path) | Part::Delete(path) | Part::Read(path),
            ) => {
                glob.as_bytes() == path.as_bytes()
                    || !matches!(path_kind(path), PathKind::ActsLater | PathKind::Secret)
            }
            (Self::Net(name, _), Part::Host(..)) => name != "*",
            _ => false,
        }
    }
}
