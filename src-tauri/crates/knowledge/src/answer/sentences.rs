//! An answer in sentences: lines first, then what ends with a full stop; a fenced block of code is one piece.

use unicode_segmentation::UnicodeSegmentation;

/// A piece of an answer, by its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Byte where it begins.
    pub(super) start: usize,
    pub(super) text: &'a str,
    /// Whether it is a block of code, which is compared line by line.
    pub(super) is_code: bool,
}

/// The sentences of an answer in their order, without what is empty; what stands between them is white space.
pub(super) fn pieces(answer: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut fence: Option<usize> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let end = at + line.len();
        let is_mark = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match (fence, is_mark) {
            (None, true) => fence = Some(at),
            (Some(start), true) => {
                push(&mut pieces, answer, start, end, true);
                fence = None;
            }
            (Some(_), false) => {}
            (None, false) => sentences(&mut pieces, answer, at, end),
        }
        at = end;
    }
    if let Some(start) = fence {
        push(&mut pieces, answer, start, at, true);
    }
    pieces
}

fn sentences<'a>(pieces: &mut Vec<Piece<'a>>, answer: &'a str, start: usize, end: usize) {
    let line = answer.get(start..end).unwrap_or_default();
    let mut from = start;
    let mut to = start;
    for part in bounds(line) {
        to += part.len();
        let so_far = answer.get(from..to).unwrap_or_default();
        // A span of code or a quotation that is open goes on, and the number of a list stands with what it numbers.
        let is_open = so_far.matches('`').count() % 2 == 1 || so_far.matches('"').count() % 2 == 1;
        let is_number = so_far.trim().trim_end_matches(['.', ')']).chars().all(|c| c.is_ascii_digit());
        if !is_open && !is_number {
            push(pieces, answer, from, to, false);
            from = to;
        }
    }
    push(pieces, answer, from, end, false);
}

/// A line in its sentences. What goes on without a space is one: `DSC01.JPG`.
pub(super) fn bounds(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut to) = (0, 0);
    for part in line.split_sentence_bounds() {
        to += part.len();
        if part.ends_with(char::is_whitespace) {
            parts.extend(line.get(from..to));
            from = to;
        }
    }
    parts.extend(line.get(from..).filter(|rest| !rest.is_empty()));
    parts
}

fn push<'a>(pieces: &mut Vec<Piece<'a>>, answer: &'a str, start: usize, end: usize, is_code: bool) {
    let whole = answer.get(start..end).unwrap_or_default();
    let text = whole.trim();
    if !text.is_empty() {
        let start = start + whole.len() - whole.trim_start().len();
        pieces.push(Piece { start, text, is_code });
    }
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn an_answer_is_cut_into_its_sentences_and_nothing_of_it_is_lost() {
        let answer = "I read `a. B.txt`. It has 3.5 MB, e.g. two parts. A.JPG too.\n\n1. First. Second!\n- Third\n```\nx = 1. Y\n```\nEnd";
        let told: Vec<&str> = pieces(answer).iter().map(|piece| piece.text).collect();
        let want = [
            "I read `a. B.txt`.",
            "It has 3.5 MB, e.g. two parts.",
            "A.JPG too.",
            "1. First.",
            "Second!",
            "- Third",
            "```\nx = 1. Y\n```",
            "End",
        ];
        assert_eq!(told, want);
        for piece in pieces(answer) {
            assert_eq!(answer.get(piece.start..piece.start + piece.text.len()), Some(piece.text));
        }
        assert_eq!(pieces("```\nnever closed").len(), 1);
        assert!(pieces(" \n\n").is_empty());
    }
}
