//! What a person reads on a screen is plain: the words that `words.toml` bans stand in no text of the screens it names.

use super::tree::{root, sources};
use proc_macro2::{TokenStream, TokenTree};
use serde::Deserialize;
use std::collections::BTreeMap;
use syn::visit::Visit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    screens: Vec<String>,
    help: Vec<String>,
    banned: BTreeMap<String, String>,
}

/// Every text of a file that may reach a screen; doc comments only where they are help.
struct Texts {
    help: bool,
    found: Vec<(usize, String)>,
}

impl Texts {
    fn of(source: &str, help: bool) -> Vec<(usize, String)> {
        let mut texts = Self { help, found: Vec::new() };
        texts.visit_file(&syn::parse_file(source).expect("it is Rust"));
        texts.found
    }

    /// Macros are not parsed by syn: their literals are.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.found.push((literal.span().start().line, text.value()));
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

/// The texts of a page, with their lines: what stands in quotes, and what stands between tags. Comments are none.
fn page_texts(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let line = |at: usize| source[..at].matches('\n').count() + 1;
    let mut rest = 0;
    while let Some(next) = source[rest..].chars().next() {
        let here = &source[rest..];
        let before = source[..rest].chars().next_back();
        let end = if here.starts_with("//") && before != Some(':') {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("/*") {
            here.find("*/").map_or(here.len(), |end| end + 2)
        } else if matches!(next, '"' | '`') || next == '\'' && !before.is_some_and(char::is_alphanumeric) {
            let text = quoted(here, next);
            found.push((line(rest), text.to_owned()));
            (1 + text.len() + 1).min(here.len())
        } else if next == '>' && before != Some('=') {
            let text = &here[1..here[1..].find(['<', '{', '"', '`']).map_or(here.len(), |end| end + 1)];
            // Behind the last tag of an expression there is code again.
            let text = text.split(");\n").next().unwrap_or_default();
            found.push((line(rest), text.to_owned()));
            1 + text.len()
        } else {
            next.len_utf8()
        };
        rest += end;
    }
    found
}

/// What stands between a quote and the next one that no backslash is before.
fn quoted(here: &str, quote: char) -> &str {
    let mut escaped = false;
    let inside = &here[1..];
    let end = inside.find(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    &inside[..end.unwrap_or(inside.len())]
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| matches!(&a.meta, syn::Meta::List(l) if l.tokens.to_string() == "test"))
}

impl<'ast> Visit<'ast> for Texts {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        match &attribute.meta {
            syn::Meta::List(list) if self.help => self.tokens(list.tokens.clone()),
            syn::Meta::NameValue(_) if self.help => syn::visit::visit_attribute(self, attribute),
            _ => {}
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.found.push((text.span().start().line, text.value()));
    }
}

/// The banned words of a text, each with what to say instead.
fn banned<'w>(text: &str, words: &'w BTreeMap<String, String>) -> Vec<(&'w str, &'w str)> {
    let text = text.to_lowercase();
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let stands = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            edge(text[..at].chars().next_back()) && edge(text[at + word.len()..].chars().next())
        })
    };
    words.iter().filter(|(word, _)| stands(word)).map(|(w, i)| (w.as_str(), i.as_str())).collect()
}

/// The reasons of rules, which a person reads beside what they allow, ask or deny.
fn rule_texts(source: &str) -> Vec<(usize, String)> {
    let reason = |line: &str| Some(line.strip_prefix("@reason(\"")?.strip_suffix("\")")?.to_owned());
    source.lines().enumerate().filter_map(|(at, line)| Some((at + 1, reason(line)?))).collect()
}

#[test]
fn the_reason_of_a_rule_is_read_and_its_conditions_are_not() {
    let rule = "@id(\"walls.confined\")\n@reason(\"no walls here\")\nforbid (principal, action, resource);\n";
    assert_eq!(rule_texts(rule), vec![(2, "no walls here".to_owned())]);
}

#[test]
fn no_screen_says_what_a_person_has_to_translate() {
    let text = std::fs::read_to_string(root().join("tests/house/words.toml")).expect("the list");
    let words: Words = toml::from_str(&text).expect("it is as the test reads it");
    let mut found = Vec::new();
    for listed in words.screens.iter().chain(&words.help) {
        let help = words.help.contains(listed);
        let is_page =
            |path: &str| (path.ends_with(".ts") || path.ends_with(".tsx")) && !path.contains(".test.");
        let files: Vec<_> = sources()
            .iter()
            .filter(|s| s.is_rust() || is_page(&s.path) || s.path.ends_with(".cedar"))
            .filter(|s| s.path.starts_with(listed))
            .collect();
        assert!(!files.is_empty(), "words.toml names `{listed}`, which there is not");
        for file in files {
            let texts = match file.path.rsplit('.').next() {
                Some("rs") => Texts::of(&file.text, help),
                Some("cedar") => rule_texts(&file.text),
                _ => page_texts(&file.text),
            };
            for (line, text) in texts {
                let words = banned(&text, &words.banned);
                found.extend(
                    words
                        .iter()
                        .map(|(word, instead)| format!("{}:{line} says `{word}`; say: {instead}", file.path)),
                );
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_banned_word_is_found_in_a_literal_a_macro_and_a_help_text_and_nowhere_else() {
    let words: BTreeMap<String, String> = [("lapses".to_owned(), "expires".to_owned())].into();
    let source = "/// It lapses.\nfn f() { g(\"it lapses\"); h!(\"{x} LAPSES soon\"); let elapses = 1; }\n\
                  #[cfg(test)]\nmod tests { const X: &str = \"lapses\"; }";
    let count = |help: bool| {
        Texts::of(source, help).iter().filter(|(_, text)| !banned(text, &words).is_empty()).count()
    };
    assert_eq!((count(false), count(true)), (2, 3));
    assert!(banned("it collapses and elapses", &words).is_empty());
}

#[test]
fn a_banned_word_is_found_in_a_quote_and_between_tags_of_a_page_and_nowhere_else() {
    let words: BTreeMap<String, String> = [("lapses".to_owned(), "expires".to_owned())].into();
    let source = "a(<b>fine</b>);\n/** It lapses. */\n// It lapses.\n/* it lapses */ const lapses = (a) => lapses(a);\n\
                  <b title=\"It \\\" lapses\">{lapses}, lapses</b>\n<p>It lapses {`lapses ${at}`} </p>";
    let lines = page_texts(source).into_iter().filter(|(_, text)| !banned(text, &words).is_empty());
    assert_eq!(lines.map(|(line, _)| line).collect::<Vec<_>>(), [5, 6, 6]);
}

/// A page cannot call the host for a word: what it says is compared here.
#[test]
fn a_sandbox_has_the_same_words_in_the_doctor_on_the_card_and_in_the_page_that_verifies() {
    let known = model::receipt::SandboxLevel::ALL;
    for page in ["ui/src/screen/words.ts", "ui/verifier/src/page/words.ts"] {
        let text = std::fs::read_to_string(root().join(page)).expect("a page");
        for level in known {
            let row = format!("  {level}: \"{}\",\n", level.in_words());
            assert!(text.contains(&row), "{page} lacks `{}`", row.trim());
        }
    }
}

/// Who writes a length of time without `words::time::lasting`, and why.
const LENGTHS_BY_HAND: [(&str, &str); 10] = [
    ("acp/src/guest/mod.rs", "its room has no door to the words"),
    ("cli/src/progress.rs", "a clock that goes on, to the second"),
    ("cli/src/verb/models_get.rs", "as above"),
    ("cli/src/verb/successor.rs", "a cell of a table of measures"),
    ("effects/src/sandbox/app_container.rs", "the plan of a sandbox, as a diagnosis prints it"),
    ("effects/src/stage/mod.rs", "a measure in the notes of a command"),
    ("kernel/src/command/outbound_words.rs", "a short line of a chat, to the second, the minute or the hour"),
    ("model/src/schedule.rs", "words by which it can be said again"),
    ("model/src/terms.rs", "a bound in the unit in which a person types it"),
    ("training/src/spec.rs", "as above"),
];

/// Whether a format string writes a unit of time behind a value of its own.
fn is_length_by_hand(text: &str) -> bool {
    ["} s", "} ms", "} second", "} seconds", "} milliseconds"].iter().any(|unit| {
        let ends = |at: usize| text[at + unit.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
        text.match_indices(unit).any(|(at, _)| ends(at))
    })
}

#[test]
fn a_length_of_time_is_told_by_one_function() {
    let by_hand = |path: &str| {
        let of_tools = path.starts_with("xtask/") || path.starts_with("conforms");
        path.contains("/src/") && !of_tools && !path.contains("/tests/") && !path.ends_with("/tests.rs")
    };
    let mut found = BTreeMap::new();
    for source in sources().iter().filter(|s| s.is_rust()) {
        let Some(path) = source.path.strip_prefix("src-tauri/crates/").filter(|path| by_hand(path)) else {
            continue;
        };
        let lines = Texts::of(&source.text, false).into_iter().filter(|(_, text)| is_length_by_hand(text));
        let lines: Vec<usize> = lines.map(|(line, _)| line).collect();
        if !lines.is_empty() {
            found.insert(path, lines);
        }
    }
    for (path, why) in LENGTHS_BY_HAND {
        assert!(found.remove(path).is_some(), "{path} writes none any more: {why}");
    }
    assert!(found.is_empty(), "say it with `words::time::lasting`: {found:?}");
}

#[test]
fn a_unit_of_time_behind_a_value_is_found_and_a_plural_is_not() {
    assert!(is_length_by_hand("within {} s") && is_length_by_hand("within {ms} ms; {read} were"));
    assert!(is_length_by_hand("no longer than {0} seconds") && is_length_by_hand("{:.1} s left"));
    assert!(
        !is_length_by_hand("{many} files") && !is_length_by_hand("{}s") && !is_length_by_hand("{} segments")
    );
}
