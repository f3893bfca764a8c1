//! A long text in parts that a service takes.

use unicode_segmentation::UnicodeSegmentation as _;

/// Room that is left for closing a code fence and opening it again.
const FENCE_ROOM: usize = 24;

/// Length in UTF-16 code units, which no service counts more strictly than.
fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Splits a text into parts of at most `limit` UTF-16 code units, at paragraphs, lines or words where there are any. No part
/// cuts a grapheme, and a code fence that a part leaves open is closed there and opened again in the next one. A single
/// grapheme that is longer than the limit stands alone.
pub fn split(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    if length(text) <= limit {
        return if text.trim().is_empty() { Vec::new() } else { vec![text.to_owned()] };
    }
    // Too little room for fences: they are not looked at.
    let fenced = limit > 4 * FENCE_ROOM;
    let mut parts = Vec::new();
    let (mut rest, mut open) = (text.to_owned(), None::<String>);
    while !rest.is_empty() {
        let before = open.as_ref().map(|fence| format!("{fence}\n")).unwrap_or_default();
        let room = limit.saturating_sub(length(&before) + if fenced { FENCE_ROOM } else { 0 }).max(1);
        let is_last = length(&rest) + length(&before) <= limit;
        let at = if is_last { rest.len() } else { cut(&rest, room) };
        let (head, tail) = rest.split_at_checked(at).unwrap_or((&rest, ""));
        let after = if fenced { fence_after(open.as_deref(), head) } else { None };
        let mut part = format!("{before}{}", head.trim_end_matches('\n'));
        if let (Some(fence), false) = (&after, tail.is_empty()) {
            part.push('\n');
            part.push_str(fence_mark(fence));
        }
        if !part.trim().is_empty() {
            parts.push(part);
        }
        (open, rest) = (after, tail.to_owned());
    }
    parts
}

/// Where to cut: behind the last paragraph, line or word that fits in the second half, or else behind the last grapheme.
fn cut(text: &str, room: usize) -> usize {
    let (mut used, mut fits) = (0, 0);
    let (mut paragraph, mut line, mut word) = (0, 0, 0);
    let mut last = "";
    for (at, grapheme) in text.grapheme_indices(true) {
        used += length(grapheme);
        if used > room && fits > 0 {
            break;
        }
        fits = at + grapheme.len();
        match grapheme {
            "\n" | "\r\n" if matches!(last, "\n" | "\r\n") => paragraph = fits,
            "\n" | "\r\n" => line = fits,
            " " | "\t" => word = fits,
            _ => {}
        }
        last = grapheme;
    }
    let late = |at: usize| at > fits / 2;
    match (late(paragraph), late(line), late(word)) {
        (true, _, _) => paragraph,
        (_, true, _) => line,
        (_, _, true) => word,
        _ => fits,
    }
}

/// The fence that is open behind this text, given what was open before it; its information string is kept where short.
fn fence_after(open: Option<&str>, text: &str) -> Option<String> {
    let mut open = open.map(str::to_owned);
    for line in text.lines() {
        let bare = line.trim_start_matches(' ');
        if line.len() - bare.len() > 3 {
            continue;
        }
        let mark = fence_mark(bare);
        if mark.len() < 3 {
            continue;
        }
        let said = bare.strip_prefix(mark).unwrap_or_default().trim();
        let closes = |fence: &str| {
            let of = fence_mark(fence);
            said.is_empty() && mark.starts_with(of)
        };
        match &open {
            Some(fence) if closes(fence) => open = None,
            Some(_) => {}
            None if mark.starts_with('`') && said.contains('`') => {}
            None if mark.len() > 6 => open = Some(mark.chars().take(6).collect()),
            None => {
                let named = format!("{mark}{said}");
                open = Some(if length(&named) <= 18 { named } else { mark.to_owned() });
            }
        }
    }
    open
}

/// The run of backticks or tildes at the beginning of a line.
fn fence_mark(line: &str) -> &str {
    let Some(first @ ('`' | '~')) = line.chars().next() else { return "" };
    let end = line.find(|c| c != first).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_part_and_an_empty_one_none() {
        assert_eq!(split("hello", 10), ["hello"]);
        assert_eq!(split(" \n", 10), Vec::<String>::new());
    }

    #[test]
    fn parts_fit_and_hold_every_word() {
        let text = (0..500).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        let parts = split(&text, 200);
        assert!(parts.iter().all(|part| length(part) <= 200));
        let words: Vec<String> =
            parts.iter().flat_map(|part| part.split_whitespace()).map(str::to_owned).collect();
        assert_eq!(words.join(" "), text);
    }

    #[test]
    fn a_grapheme_is_never_cut() {
        let family = "👩\u{200D}👩\u{200D}👧\u{200D}👦";
        for limit in [1, 5, 11, 12, 30, 150] {
            for part in split(&family.repeat(40), limit) {
                assert_eq!(part.replace(family, ""), "", "limit {limit}");
            }
        }
    }

    #[test]
    fn an_open_fence_is_closed_and_opened_again() {
        let code = (0..60).map(|n| format!("let x{n} = {n};")).collect::<Vec<_>>().join("\n");
        let text = format!("Before.\n\n```rust\n{code}\n```\n\nAfter.");
        let parts = split(&text, 300);
        assert!(parts.len() > 3);
        for part in &parts {
            assert!(length(part) <= 300, "{part}");
            assert_eq!(fence_after(None, part), None, "{part}");
        }
        assert!(parts[1].starts_with("```rust\n") && parts[1].ends_with("\n```"), "{}", parts[1]);
        let code_again: String = parts.concat().replace("```rust\n", "").replace("\n```", "");
        assert_eq!(code_again.matches("let x").count(), 60);
    }

    #[test]
    fn fences_of_a_stranger_do_not_grow_the_parts() {
        for text in
            ["`".repeat(5000), format!("```{}\n{}", "x".repeat(900), "y\n".repeat(900)), "~~~\n".repeat(900)]
        {
            for part in split(&text, 120) {
                assert!(length(&part) <= 120, "{part}");
            }
        }
    }
}
