//! Hermit's entry in another program's configuration: put in and taken out as text, so that what stands there, comments
//! and order too, stays as it is. What comes of it is read again before it counts.

use serde_json::{Map, Value};

/// The name of the entry.
const NAME: &str = "hermit";

/// The form of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments where a program takes them.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The configuration with the entry in it.
///
/// # Errors
/// In words, when it cannot be read, or the entry has no place in it.
pub fn install(format: Format, text: &str, holder: &str, entry: &Value) -> Result<String, String> {
    let without = if has(format, text, holder)? { uninstall(format, text, holder)? } else { text.to_owned() };
    let edited = match format {
        Format::Json => json_with(&without, holder, entry).ok_or("no place for it was found")?,
        Format::Toml => joined(&without, &toml_block(holder, entry)?),
        Format::Yaml => yaml_with(&without, holder, entry)?,
    };
    let read = read(format, &edited)?;
    if read.get(holder).and_then(|servers| servers.get(NAME)) != Some(entry)
        || !same(format, text, &read, holder)?
    {
        return Err("its form is not one that can be changed safely".to_owned());
    }
    Ok(edited)
}

/// The configuration without it.
///
/// # Errors
/// In words, when it cannot be read or the entry is not in it.
pub fn uninstall(format: Format, text: &str, holder: &str) -> Result<String, String> {
    if !has(format, text, holder)? {
        return Err("Hermit is not in it".to_owned());
    }
    let edited = match format {
        Format::Json => json_without(text, holder).ok_or("its place was not found")?,
        Format::Toml => toml_without(text, holder),
        Format::Yaml => yaml_without(text, holder),
    };
    let read = read(format, &edited)?;
    let gone = read.get(holder).and_then(|servers| servers.get(NAME)).is_none();
    if !gone || !same(format, text, &read, holder)? {
        return Err("its form is not one that can be changed safely".to_owned());
    }
    Ok(edited)
}

fn has(format: Format, text: &str, holder: &str) -> Result<bool, String> {
    Ok(read(format, text)?.get(holder).and_then(|servers| servers.get(NAME)).is_some())
}

/// A configuration as values; an empty one has none.
fn read(format: Format, text: &str) -> Result<Map<String, Value>, String> {
    let unread = |e: &dyn std::fmt::Display| format!("it cannot be read: {e}");
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value: Value = match format {
        Format::Json => serde_json::from_str(&plain_json(text)).map_err(|e| unread(&e))?,
        Format::Toml => {
            let table: toml::Table = toml::from_str(text).map_err(|e| unread(&e))?;
            serde_json::to_value(table).map_err(|e| unread(&e))?
        }
        Format::Yaml => serde_norway::from_str(text).map_err(|e| unread(&e))?,
    };
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        _ => Err("it holds no settings by name".to_owned()),
    }
}

/// Whether the two say the same but for the entry.
fn same(format: Format, before: &str, after: &Map<String, Value>, holder: &str) -> Result<bool, String> {
    let bare = |mut all: Map<String, Value>| {
        if let Some(Value::Object(servers)) = all.get_mut(holder) {
            servers.remove(NAME);
            if servers.is_empty() {
                all.remove(holder);
            }
        }
        all.retain(|name, value| name != holder || !value.is_null());
        all
    };
    Ok(bare(read(format, before)?) == bare(after.clone()))
}

// JSON.

/// A member of an object, by the places of its name and its value in the text.
struct Member {
    name: String,
    start: usize,
    value: (usize, usize),
}

/// Behind blanks and comments.
fn skip(text: &[u8], mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(b"//") {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|two| two == b"*/");
            at += end.map_or(rest.len(), |end| end + 4);
        } else if rest.first().is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        } else {
            return at;
        }
    }
}

/// Behind a string that begins here.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Behind a value that begins here.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, at);
            loop {
                at = skip(text, at);
                match text.get(at)? {
                    b'"' => {
                        at = string_end(text, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let rest = text.get(at..)?;
            let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b'}' | b']' | b'/');
            Some(at + rest.iter().position(ends).unwrap_or(rest.len()))
        }
    }
}

/// The members of the object that opens here, and the place of its closing brace.
fn members(text: &[u8], open: usize) -> Option<(Vec<Member>, usize)> {
    let mut found = Vec::new();
    let mut at = (text.get(open) == Some(&b'{')).then_some(open + 1)?;
    loop {
        at = skip(text, at);
        match text.get(at)? {
            b'}' => return Some((found, at)),
            b',' => at += 1,
            b'"' => {
                let (start, end) = (at, string_end(text, at)?);
                let name = serde_json::from_slice(text.get(start..end)?).ok()?;
                at = skip(text, end);
                at = (text.get(at) == Some(&b':')).then(|| skip(text, at + 1))?;
                let value = (at, value_end(text, at)?);
                at = value.1;
                found.push(Member { name, start, value });
            }
            _ => return None,
        }
    }
}

/// The blanks before the text at that place, when nothing else stands before it in its line.
fn indent(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let line = before.rsplit_once('\n').map(|(_, line)| line)?;
    line.chars().all(char::is_whitespace).then(|| line.to_owned())
}

/// The text with a member more in the object that opens there.
fn insert(text: &str, open: usize, name: &str, value: &Value) -> Option<String> {
    let (known, close) = members(text.as_bytes(), open)?;
    let outer = indent(text, close).unwrap_or_default();
    let step = if outer.contains('\t') { "\t" } else { "  " };
    let inner = known.first().and_then(|first| indent(text, first.start));
    let inner = inner.unwrap_or_else(|| format!("{outer}{step}"));
    let written = serde_json::to_string_pretty(value).ok()?.replace('\n', &format!("\n{inner}"));
    let member = format!("{inner}{}: {written}", serde_json::to_string(name).ok()?);
    let Some(last) = known.last() else {
        let kept = text.get(open + 1..close)?.trim_end();
        return Some(format!("{}{kept}\n{member}\n{outer}{}", text.get(..=open)?, text.get(close..)?));
    };
    let behind = skip(text.as_bytes(), last.value.1);
    let has_comma = text.as_bytes().get(behind) == Some(&b',');
    let at = if has_comma { behind + 1 } else { last.value.1 };
    let (before, tail) = (text.get(..at)?, text.get(at..)?);
    // A comment at the end of the last member's line stays there.
    let line = tail.split('\n').next().unwrap_or_default();
    let (note, tail) = tail.split_at(if line.trim_start().starts_with("//") { line.len() } else { 0 });
    let comma = if has_comma { "" } else { "," };
    let closes = tail.trim_start_matches([' ', '\t']).starts_with('}');
    let rest = if closes { format!("\n{outer}{}", tail.trim_start()) } else { tail.to_owned() };
    Some(format!("{before}{comma}{note}\n{member}{rest}"))
}

fn json_with(text: &str, holder: &str, entry: &Value) -> Option<String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = skip(text.as_bytes(), 0);
    let (known, _) = members(text.as_bytes(), root)?;
    match known.iter().find(|member| member.name == holder) {
        Some(servers) => insert(text, servers.value.0, NAME, entry),
        None => insert(text, root, holder, &serde_json::json!({ NAME: entry })),
    }
}

fn json_without(text: &str, holder: &str) -> Option<String> {
    let (all, _) = members(text.as_bytes(), skip(text.as_bytes(), 0))?;
    let servers = all.iter().find(|member| member.name == holder)?;
    let (known, close) = members(text.as_bytes(), servers.value.0)?;
    let at = known.iter().position(|member| member.name == NAME)?;
    let (this, next) = (known.get(at)?, known.get(at + 1));
    let before = at.checked_sub(1).and_then(|at| known.get(at));
    let (kept, to) = match (before, next) {
        (_, Some(next)) => (text.get(..this.start)?.to_owned(), next.start),
        (Some(before), None) => {
            let comma = skip(text.as_bytes(), before.value.1);
            let (kept, between) = (text.get(..comma)?, text.get(comma + 1..this.start)?);
            (format!("{kept}{}", between.trim_end()), this.value.1)
        }
        (None, None) => (text.get(..=servers.value.0)?.to_owned(), close),
    };
    Some(format!("{kept}{}", text.get(to..)?))
}

/// JSON without comments and without commas that nothing follows.
pub fn plain_json(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let next = skip(bytes, at);
        if next > at {
            plain.push(b' ');
            at = next;
            continue;
        }
        let end = match bytes.get(at) {
            Some(b'"') => string_end(bytes, at).unwrap_or(bytes.len()),
            Some(b',') if matches!(bytes.get(skip(bytes, at + 1)), Some(b'}' | b']')) => {
                at += 1;
                continue;
            }
            _ => at + 1,
        };
        plain.extend_from_slice(bytes.get(at..end).unwrap_or_default());
        at = end;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

// TOML and YAML.

/// A text, an empty line, and a block behind it.
fn joined(text: &str, block: &str) -> String {
    match text.trim_end() {
        "" => block.to_owned(),
        text => format!("{text}\n\n{block}"),
    }
}

fn toml_block(holder: &str, entry: &Value) -> Result<String, String> {
    let mut lines = format!("[{holder}.{NAME}]\n");
    for (name, value) in entry.as_object().into_iter().flatten() {
        let value = toml::Value::try_from(value).map_err(|e| e.to_string())?;
        lines.push_str(&format!("{name} = {value}\n"));
    }
    Ok(lines)
}

fn toml_without(text: &str, holder: &str) -> String {
    let own = [format!("[{holder}.{NAME}]"), format!("[{holder}.{NAME}.")];
    let mut inside = false;
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with('[') {
            let is_own = own.iter().any(|begun| line.trim_start().starts_with(begun));
            if is_own && !inside && kept.last().is_some_and(|last| last.trim().is_empty()) {
                kept.pop();
            }
            inside = is_own;
        }
        if !inside {
            kept.push(line);
        }
    }
    ended(&kept)
}

fn ended(lines: &[&str]) -> String {
    if lines.is_empty() { String::new() } else { format!("{}\n", lines.join("\n")) }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_said(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn yaml_with(text: &str, holder: &str, entry: &Value) -> Result<String, String> {
    let written = serde_norway::to_string(entry).map_err(|e| e.to_string())?;
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_end() == format!("{holder}:"));
    let below = at.and_then(|at| lines.iter().skip(at + 1).find(|line| is_said(line)));
    let indent = below.map_or(0, |line| depth(line)).max(2);
    let pad = " ".repeat(indent);
    let mut block = format!("{pad}{NAME}:\n");
    for line in written.lines() {
        block.push_str(&format!("{pad}{pad}{line}\n"));
    }
    Ok(match at {
        None => joined(text, &format!("{holder}:\n{block}")),
        Some(at) => {
            let (before, behind) = lines.split_at(at + 1);
            format!("{}{block}{}", ended(before), ended(behind))
        }
    })
}

fn yaml_without(text: &str, holder: &str) -> String {
    let (mut in_holder, mut inside) = (false, None);
    let mut kept = Vec::new();
    for line in text.lines() {
        if is_said(line) {
            if depth(line) == 0 {
                in_holder = line.trim_end() == format!("{holder}:");
            }
            if inside.is_some_and(|own| depth(line) <= own) {
                inside = None;
            }
            if in_holder && inside.is_none() && depth(line) > 0 && line.trim() == format!("{NAME}:") {
                inside = Some(depth(line));
            }
        }
        if inside.is_none() {
            kept.push(line);
        }
    }
    ended(&kept)
}

#[cfg(test)]
mod tests {
    use super::{Format, install, uninstall};
    use serde_json::{Value, json};

    fn entry() -> Value {
        json!({ "command": "/usr/bin/hermit", "args": ["mcp", "--workspace", "/w \"x\""] })
    }

    /// Puts it in, puts it in again, and takes it out.
    fn round(format: Format, text: &str, holder: &str) -> String {
        let with = install(format, text, holder, &entry()).unwrap_or_else(|e| format!("{e}: {text}"));
        let other = json!({ "command": "other", "args": [] });
        let again =
            install(format, &with, holder, &other).and_then(|text| install(format, &text, holder, &entry()));
        assert!(again.is_ok(), "{again:?}\n{with}");
        let without = uninstall(format, &with, holder);
        assert!(without.is_ok(), "{without:?}\n{with}");
        assert!(uninstall(format, text, holder).is_err(), "it is not in it");
        with
    }

    #[test]
    fn what_stands_there_stays_as_it_is() {
        let json = "{\n  // mine\n  \"z\": 1, /* and */\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }, // last\n  },\n  \"b\": [1, 2,],\n}\n";
        let with = round(Format::Json, json, "mcpServers");
        for line in json.lines() {
            assert!(
                with.lines().any(|kept| kept == line || kept.trim_end() == line.trim_end()),
                "{line}\n{with}"
            );
        }
        let toml = "# mine\nmodel = \"gpt\"\n\n[mcp_servers.other]\ncommand = \"x\" # y\n";
        let with = round(Format::Toml, toml, "mcp_servers");
        assert!(with.starts_with(toml), "{with}");
        assert_eq!(uninstall(Format::Toml, &with, "mcp_servers").as_deref(), Ok(toml));
        let yaml = "# mine\nextensions:\n  other: # kept\n    cmd: x\nz: 1\n";
        let with = round(Format::Yaml, yaml, "extensions");
        assert_eq!(uninstall(Format::Yaml, &with, "extensions").as_deref(), Ok(yaml));
    }

    #[test]
    fn an_empty_file_and_one_without_servers_get_them() {
        for text in [
            "",
            "\n",
            "{}",
            "{ }\n",
            "{\"a\": 1}",
            "{\n\t\"a\": {}\n}\n",
            "{\"mcpServers\": {}}",
            "{\"mcpServers\": {\"o\": 1}}",
        ] {
            round(Format::Json, text, "mcpServers");
        }
        for text in ["", "a = 1", "[b]\nc = 2\n"] {
            round(Format::Toml, text, "mcp_servers");
        }
        for text in ["", "a: 1", "extensions:\n", "extensions:\n    o:\n        cmd: x\n"] {
            round(Format::Yaml, text, "extensions");
        }
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for (format, text, holder) in [
            (Format::Json, "{ not json", "mcpServers"),
            (Format::Json, "[1]", "mcpServers"),
            (Format::Json, "{\"mcpServers\": [1]}", "mcpServers"),
            (Format::Toml, "mcp_servers = { other = { command = \"x\" } }\n", "mcp_servers"),
            (Format::Toml, "= broken", "mcp_servers"),
            (Format::Yaml, "extensions: { other: { cmd: x } }\n", "extensions"),
            (Format::Yaml, "- a\n", "extensions"),
        ] {
            let edited = install(format, text, holder, &entry());
            assert!(edited.is_err(), "{text}: {edited:?}");
        }
    }
}
