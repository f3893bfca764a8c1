//! What a `SKILL.md` says of itself: the YAML between its first two lines of `---`.

use model::limits::SKILL_FRONT_BYTES_MAX;
use model::skill::{check_skill_name, check_skill_words};
use serde_norway::{Mapping, Value};

/// Keys of the open format, and those that are only told of.
const KNOWN: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// What stands before and behind it.
const FENCE: &str = "---";

/// The front of a `SKILL.md`, read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) license: Option<String>,
    pub(super) compatibility: Option<String>,
    pub(super) allowed_tools: Option<String>,
    /// What of it is not used, in words.
    pub(super) notes: Vec<String>,
}

/// Reads the front.
///
/// # Errors
/// What is wrong with it and what to do, for the person who has the file.
pub(super) fn read(text: &str) -> Result<Front, String> {
    let (front, _) = apart(text)?;
    let value: Value = serde_norway::from_str(front).map_err(|e| no_yaml(&e.to_string()))?;
    let Value::Mapping(map) = value else {
        return Err(format!("between the lines of `{FENCE}` stand no `name: ...` and `description: ...`"));
    };
    let name = text_of(&map, "name")?.ok_or("it has no `name`; write one")?;
    check_skill_name(&name)?;
    let description = text_of(&map, "description")?.ok_or("it has no `description`; write one")?;
    check_skill_words(&description)?;
    let mut notes = Vec::new();
    let others = map.keys().filter_map(Value::as_str).filter(|key| !KNOWN.contains(key));
    let others: Vec<String> = others.map(|key| format!("`{}`", shown(key))).take(8).collect();
    if !others.is_empty() {
        notes.push(format!("not used: {}", others.join(", ")));
    }
    if description.chars().any(|c| model::visible::is_hidden(c) && !c.is_ascii_whitespace()) {
        notes.push(
            "its `description` holds characters that cannot be seen; they are shown as \\u{...}".to_owned(),
        );
    }
    Ok(Front {
        name,
        description: description.trim().to_owned(),
        license: text_of(&map, "license")?,
        compatibility: text_of(&map, "compatibility")?,
        allowed_tools: listed(&map, "allowed-tools")?,
        notes,
    })
}

fn no_yaml(why: &str) -> String {
    let what = match why.contains("mapping values are not allowed") {
        true => "put a text with `: ` in it in quotes",
        false => "correct it",
    };
    format!("what stands between the lines of `{FENCE}` is no YAML: {why}; {what}")
}

/// The front of a text and what stands behind it.
///
/// # Errors
/// When there is no front, or too long a one.
pub(super) fn apart(text: &str) -> Result<(&str, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begins =
        || format!("it does not begin with a line `{FENCE}`, its `name` and its `description`; add them");
    let rest = text.strip_prefix(FENCE).ok_or_else(begins)?;
    let rest = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")).ok_or_else(begins)?;
    let mut at = 0_usize;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            let front = rest.get(..at).unwrap_or_default();
            let behind = rest.get(at.saturating_add(line.len())..).unwrap_or_default();
            return Ok((front, behind));
        }
        at = at.saturating_add(line.len());
        if at > SKILL_FRONT_BYTES_MAX {
            return Err(format!(
                "more than {SKILL_FRONT_BYTES_MAX} bytes stand before its text; shorten them"
            ));
        }
    }
    Err(format!("its first part has no end; write a line `{FENCE}` behind it"))
}

fn text_of(map: &Mapping, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        // `name: 42` is a number to YAML and a name to a person.
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(format!("its `{key}` is no text; put it in quotes")),
    }
}

/// One text, or a list of them as some write it.
fn listed(map: &Mapping, key: &str) -> Result<Option<String>, String> {
    let Some(Value::Sequence(all)) = map.get(key) else { return text_of(map, key) };
    let words: Option<Vec<&str>> = all.iter().map(Value::as_str).collect();
    words
        .map(|words| Some(words.join(" ")))
        .ok_or_else(|| format!("its `{key}` is no text; put it in quotes"))
}

fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(front: &str) -> Result<Front, String> {
        read(&format!("---\n{front}\n---\n# Body\n"))
    }

    #[test]
    fn the_fields_of_the_open_format_are_read_and_others_named() {
        let front = of("name: pdf-tools\ndescription: >\n  Reads PDF\n  files.\nlicense: MIT\ncompatibility: needs poppler\n\
                        metadata:\n  author: me\nallowed-tools: Bash(pdftotext:*) Read\nmodel: big")
        .expect("it can be read");
        assert_eq!((front.name.as_str(), front.description.as_str()), ("pdf-tools", "Reads PDF files."));
        assert_eq!(front.allowed_tools.as_deref(), Some("Bash(pdftotext:*) Read"));
        assert_eq!(
            (front.license.as_deref(), front.compatibility.as_deref()),
            (Some("MIT"), Some("needs poppler"))
        );
        assert_eq!(front.notes, ["not used: `model`"]);
        let listed = of("name: a\ndescription: b\nallowed-tools: [Read, Write]").expect("a list will do");
        assert_eq!(listed.allowed_tools.as_deref(), Some("Read Write"));
        let windows = read("---\r\nname: a\r\ndescription: b\r\n---\r\n# Body").expect("lines may end so");
        assert_eq!(windows.name, "a");
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        for (front, words) in [
            ("description: b", "no `name`"),
            ("name: a", "no `description`"),
            ("name: Big Name\ndescription: b", "rename"),
            ("name: a\ndescription: [b]", "put it in quotes"),
            ("name: a\ndescription: \"\"", "say what it does"),
            ("name: a\ndescription: use when: needed", "in quotes"),
            ("name: a\ndescription: \"b", "no YAML"),
            ("just words", "stand no `name"),
        ] {
            let why = of(front).expect_err(front);
            assert!(why.contains(words), "{front}: {why}");
        }
        let long = of(&format!("name: a\ndescription: {}", "x".repeat(1_100))).expect_err("too long");
        assert!(long.contains("shorten"), "{long}");
        assert!(read("# no front").is_err_and(|why| why.contains("does not begin")));
        assert!(read("---\nname: a\n").is_err_and(|why| why.contains("no end")));
        let huge = format!("---\nname: a\n{}", "# filler\n".repeat(4_000));
        assert!(read(&huge).is_err_and(|why| why.contains("shorten them")));
    }

    #[test]
    fn a_front_that_unfolds_without_end_is_refused_soon() {
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (one, before) in ('b'..='k').zip('a'..='j') {
            bomb.push_str(&format!("{one}: &{one} [{}]\n", vec![format!("*{before}"); 9].join(",")));
        }
        let begun = std::time::Instant::now();
        let why = of(&format!("name: a\ndescription: b\n{bomb}")).expect_err("it is a bomb");
        assert!(why.contains("no YAML") && begun.elapsed().as_secs() < 5, "{why}");
        let deep = of(&format!("name: a\ndescription: {}{}", "[".repeat(5_000), "]".repeat(5_000)));
        assert!(deep.is_err(), "nor one that is nested without end");
    }
}
