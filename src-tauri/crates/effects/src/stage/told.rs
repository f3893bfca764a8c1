//! What a guest itself told of what it changed, read out of what it printed. It is its word: what its view shows is the
//! truth, and this is laid beside it.

use model::RelPath;
use model::guest::GuestTells;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Places that are taken from one turn, at most.
const PLACES_MAX: usize = 4_096;
/// Places that it read and that a receipt names.
const READ_NAMED: usize = 20;
/// Helpers of a guest that are named, and letters of the name of each.
const HELPERS_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 80;

/// What a guest told in one turn; all of it is empty where it told nothing.
#[derive(Default)]
pub(super) struct Told {
    /// Places below the folder that it said it changed, sorted; none where it tells nothing of them.
    pub(super) changed: Option<Vec<RelPath>>,
    /// Bytes that it said it left in places, where it said all of them.
    pub(super) left: BTreeMap<RelPath, u64>,
    /// What it called itself when it was greeted.
    pub(super) version: Option<String>,
    /// Its own helpers, in words.
    pub(super) helpers: Vec<String>,
    /// What it read, in words, as far as it tells.
    pub(super) read: Option<String>,
}

/// What a guest that tells in this way told of its work below `root`, out of the transcript of its turn.
pub(super) fn told(how: Option<GuestTells>, transcript: &[u8], root: &Path) -> Told {
    let transcript: Option<Value> = serde_json::from_slice(transcript).ok();
    let (Some(how), Some(transcript)) = (how, transcript) else { return Told::default() };
    let printed = transcript.get("stdout").and_then(Value::as_str).unwrap_or_default();
    let root = root.to_str().unwrap_or_default();
    Told {
        changed: Some(changed(how, printed, root)),
        left: left(how, printed, root),
        version: version(how, printed),
        helpers: helpers(how, printed, root),
        read: read(how, printed, root),
    }
}

/// Places that it said it changed, sorted.
fn changed(how: GuestTells, printed: &str, root: &str) -> Vec<RelPath> {
    let named: Vec<String> = match how {
        GuestTells::CodexJson => lines(printed).flat_map(|line| codex(&line)).collect(),
        GuestTells::ClaudeJson => lines(printed).flat_map(|line| claude(&line)).collect(),
        GuestTells::AiderText => printed.lines().filter_map(aider).map(str::to_owned).collect(),
        GuestTells::Acp => printed.lines().filter_map(acp).collect(),
    };
    let places: BTreeSet<RelPath> =
        named.iter().filter_map(|name| place(name, root)).take(PLACES_MAX).collect();
    places.into_iter().collect()
}

fn lines(printed: &str) -> impl Iterator<Item = Value> + '_ {
    printed.lines().filter_map(|line| serde_json::from_str(line.trim()).ok())
}

/// `{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"…"}]}}`
fn codex(line: &Value) -> Vec<String> {
    let item =
        line.get("item").filter(|item| item.get("type").and_then(Value::as_str) == Some("file_change"));
    let changes = item.and_then(|item| item.get("changes")).and_then(Value::as_array);
    let path = |change: &Value| change.get("path").and_then(Value::as_str).map(str::to_owned);
    changes.into_iter().flatten().filter_map(path).collect()
}

fn claude(line: &Value) -> Vec<String> {
    uses(line, &["Write", "Edit", "MultiEdit", "NotebookEdit"])
}

/// Files that it says it used one of these tools on:
/// `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":"…"}}]}}`
fn uses(line: &Value, tools: &[&str]) -> Vec<String> {
    let content = line.pointer("/message/content").and_then(Value::as_array);
    let named = |part: &Value| {
        let name = part.get("name").and_then(Value::as_str)?;
        let input = part.get("input").filter(|_| tools.contains(&name))?;
        input.get("file_path").or_else(|| input.get("notebook_path"))?.as_str().map(str::to_owned)
    };
    content.into_iter().flatten().filter_map(named).collect()
}

/// `Applied edit to notes/a.md`
fn aider(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Applied edit to ")
}

/// `told: changed notes/a.md`, as the one that speaks to it in its sandbox writes it.
fn acp(line: &str) -> Option<String> {
    let name = line.strip_prefix("told: changed ")?;
    match name.starts_with('"') {
        true => serde_json::from_str(name).ok(),
        false => Some(name.to_owned()),
    }
}

/// `told: left 5 bytes in notes/a.md`
fn left(how: GuestTells, printed: &str, root: &str) -> BTreeMap<RelPath, u64> {
    if how != GuestTells::Acp {
        return BTreeMap::new();
    }
    let line = |line: &str| {
        let (bytes, name) = line.strip_prefix("told: left ")?.split_once(" bytes in ")?;
        let name = if name.starts_with('"') { serde_json::from_str(name).ok()? } else { name.to_owned() };
        Some((place(&name, root)?, bytes.parse().ok()?))
    };
    printed.lines().filter_map(line).take(PLACES_MAX).collect()
}

/// Places that it read, in words, as far as it tells; what else it read nobody sees.
fn read(how: GuestTells, printed: &str, root: &str) -> Option<String> {
    let (places, by): (BTreeSet<String>, _) = match how {
        GuestTells::Acp => {
            let named = printed.lines().filter_map(|line| line.strip_prefix("reads "));
            (named.map(str::to_owned).collect(), "through its client")
        }
        GuestTells::ClaudeJson => {
            let named = lines(printed).flat_map(|line| uses(&line, &["Read", "NotebookRead"]));
            let below = named.filter_map(|name| Some(place(&name, root)?.to_string()));
            (below.take(PLACES_MAX).collect(), "by its own word")
        }
        GuestTells::CodexJson | GuestTells::AiderText => return None,
    };
    let named: Vec<&str> = places.iter().map(String::as_str).take(READ_NAMED).collect();
    let more = places.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let many = acts::count(places.len(), "file");
    (!named.is_empty()).then(|| {
        format!("it read {many} {by}: {}{more}; what it read by itself is not known", named.join(", "))
    })
}

/// Its own helpers, in the order in which it began them: the name that it gave each, and the places that it says they
/// changed. Only one kind tells of them.
fn helpers(how: GuestTells, printed: &str, root: &str) -> Vec<String> {
    if how != GuestTells::ClaudeJson {
        return Vec::new();
    }
    let mut all: Vec<(String, String, BTreeSet<RelPath>)> = Vec::new();
    for line in lines(printed) {
        for (id, name) in begun(&line) {
            if all.len() < HELPERS_MAX && all.iter().all(|(known, ..)| *known != id) {
                all.push((id, name, BTreeSet::new()));
            }
        }
        let of = line.get("parent_tool_use_id").and_then(Value::as_str);
        if let Some((.., places)) = all.iter_mut().find(|(id, ..)| Some(id.as_str()) == of) {
            places.extend(claude(&line).iter().filter_map(|name| place(name, root)).take(READ_NAMED));
        }
    }
    let words = |(_, name, places): (_, String, BTreeSet<RelPath>)| {
        let named: Vec<String> = places.iter().take(READ_NAMED).map(ToString::to_string).collect();
        match named.as_slice() {
            [] => format!("\"{name}\", and tells of no change by it"),
            named => format!("\"{name}\", which it says changed {}", named.join(", ")),
        }
    };
    all.into_iter().map(words).collect()
}

/// `{"type":"tool_use","id":"…","name":"Task","input":{"subagent_type":"…","description":"…"}}`
fn begun(line: &Value) -> Vec<(String, String)> {
    let content = line.pointer("/message/content").and_then(Value::as_array);
    let helper = |part: &Value| {
        let name = part.get("name").and_then(Value::as_str)?;
        let input = part.get("input").filter(|_| matches!(name, "Task" | "Agent"))?;
        let said = |member: &str| input.get(member).and_then(Value::as_str).filter(|said| !said.is_empty());
        let name: String =
            said("description").or_else(|| said("subagent_type"))?.chars().take(NAME_CHARS_MAX).collect();
        Some((part.get("id")?.as_str()?.to_owned(), name))
    };
    content.into_iter().flatten().filter_map(helper).collect()
}

/// What a guest called itself when it was greeted: `agent: name version`.
fn version(how: GuestTells, printed: &str) -> Option<String> {
    let first = printed.lines().next().filter(|_| how == GuestTells::Acp)?;
    let named = first.strip_prefix("agent: ")?.trim();
    (!named.is_empty()).then(|| named.chars().take(80).collect())
}

/// A place below the folder, as an agent writes it.
fn place(name: &str, root: &str) -> Option<RelPath> {
    let below = name.strip_prefix(root).filter(|_| !root.is_empty()).map(|rest| rest.trim_start_matches('/'));
    let name = below.unwrap_or(name);
    let name = name.strip_prefix("./").unwrap_or(name);
    (!name.starts_with('/'))
        .then(|| RelPath::from_bytes(name.as_bytes()).ok())
        .flatten()
        .filter(|path| !path.is_root())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(how: impl Into<Option<GuestTells>>, stdout: &str) -> Told {
        let transcript = serde_json::json!({ "stdout": stdout });
        told(how.into(), &serde_json::to_vec(&transcript).unwrap(), Path::new("/w/f"))
    }

    fn said(how: impl Into<Option<GuestTells>>, stdout: &str) -> Option<Vec<String>> {
        heard(how, stdout).changed.map(|places| places.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_a_helper_of_the_agent_changed_is_told_by_its_name_and_what_it_read_as_well() {
        let says = |parent: &str, parts: &str| {
            format!(
                "{{\"type\":\"assistant\",\"parent_tool_use_id\":{parent},\"message\":{{\"content\":[{parts}]}}}}\n"
            )
        };
        let uses = |id: &str, name: &str, input: &str| {
            format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input}}}")
        };
        let mut stdout = says("null", &uses("t1", "Task", "{\"description\":\"write tests\"}"));
        stdout += &says("null", &uses("t2", "Task", "{\"subagent_type\":\"explore\"}"));
        stdout += &says("\"t1\"", &uses("u", "Write", "{\"file_path\":\"/w/f/t.py\"}"));
        stdout += &says("\"t2\"", &uses("v", "Read", "{\"file_path\":\"/w/f/a.md\"}"));
        stdout += &says("null", &uses("w", "Write", "{\"file_path\":\"/w/f/own.py\"}"));
        let Told { helpers: told, read, .. } = heard(GuestTells::ClaudeJson, &stdout);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("\"write") && told[0].ends_with("tests\", which it says changed t.py"),
            "{told:?}"
        );
        assert_eq!(told[1], "\"explore\", and tells of no change by it");
        let read = read.unwrap();
        assert!(read.starts_with("it read 1 file by its own word: a.md;"), "{read}");
        assert!(heard(GuestTells::Acp, &stdout).helpers.is_empty());
    }

    #[test]
    fn what_each_kind_prints_is_read_and_all_else_is_not() {
        let codex = "{\"type\":\"item.completed\",\"item\":{\"type\":\"file_change\",\"changes\":[{\"path\":\"/w/f/a.txt\",\
                     \"kind\":\"add\"},{\"path\":\"b/c\"}]}}\nnot json\n{\"item\":{\"type\":\"other\",\"changes\":[{\"path\":\"x\"}]}}";
        assert_eq!(said(GuestTells::CodexJson, codex).unwrap(), ["a.txt", "b/c"]);
        let claude = "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Write\",\"input\":\
                      {\"file_path\":\"/w/f/n.md\"}},{\"type\":\"tool_use\",\"name\":\"Read\",\"input\":{\"file_path\":\"/w/f/r\"}}]}}";
        assert_eq!(said(GuestTells::ClaudeJson, claude).unwrap(), ["n.md"]);
        let aider =
            "thinking\nApplied edit to notes/a.md\nApplied edit to ../out\nApplied edit to /etc/passwd";
        assert_eq!(said(GuestTells::AiderText, aider).unwrap(), ["notes/a.md"]);
        let acp = "agent: toy 9\nreads a b.txt\nreads n/a.md\nreads n/a.md\ntool: edit\ntold: changed n/a.md\ntold: changed \"b\\nc\"\ntold: changed /etc/passwd\ntold: left 7 bytes in n/a.md\ntold: left x bytes in b";
        assert_eq!(said(GuestTells::Acp, acp).unwrap(), ["b%0Ac", "n/a.md"]);
        let Told { version, read, left, .. } = heard(GuestTells::Acp, acp);
        assert_eq!(version.as_deref(), Some("toy 9"));
        assert_eq!(heard(GuestTells::AiderText, acp).version, None);
        let told = read.unwrap();
        assert!(told.starts_with("it read 2 files through its client: a b.txt, n/a.md;"), "{told}");
        assert_eq!(heard(None, acp).read, None);
        assert_eq!(left, BTreeMap::from([("n/a.md".parse().unwrap(), 7)]));
        assert_eq!(said(None, aider), None);
        assert_eq!(said(GuestTells::AiderText, "").unwrap(), Vec::<String>::new());
    }
}
