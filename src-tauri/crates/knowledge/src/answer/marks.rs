//! Citations in an answer: `[r3]` behind a sentence names the result that its model was shown under this number. A mark is a
//! proposal and says nothing by itself: what it names has to bear the sentence.

use super::sentences::Piece;

/// Digits of a number.
const DIGITS_MAX: usize = 4;
/// Citations of one sentence that are looked at.
pub(super) const MARKS_MAX: usize = 8;

/// A citation, by its place in its sentence. Of `[r1, r2]` each has a part, so that what is between the sentence's own words is
/// covered once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: u32,
}

/// The numbers of a mark that a text begins with, each with the byte behind its part. A link is none.
fn mark(text: &str) -> Option<Vec<(usize, u32)>> {
    let mut rest = text.strip_prefix('[')?;
    let mut numbers = Vec::new();
    loop {
        rest = rest.trim_start_matches(' ').strip_prefix(['r', 'R'])?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at_checked(digits).filter(|_| digits <= DIGITS_MAX)?;
        let number: u32 = number.parse().ok()?;
        rest = behind.trim_start_matches(' ');
        if let Some(behind) = rest.strip_prefix(']') {
            numbers.push((text.len() - behind.len(), number));
            return (!behind.starts_with('(')).then_some(numbers);
        }
        rest = rest.strip_prefix([',', ';'])?;
        numbers.push((text.len() - rest.len(), number));
    }
}

/// The marks of a sentence in their order; what stands in a span of code is none.
pub(super) fn marks(sentence: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let (mut at, mut is_code) = (0, false);
    while let Some(next) = sentence.get(at..).and_then(|rest| rest.find(['`', '['])) {
        at += next;
        let rest = sentence.get(at..).unwrap_or_default();
        is_code ^= rest.starts_with('`');
        let Some(numbers) = mark(rest).filter(|_| !is_code) else {
            at += 1;
            continue;
        };
        let mut start = at;
        for (behind, number) in numbers {
            let end = at + behind;
            marks.push(Mark { start, end, number });
            start = end;
        }
        at = start;
    }
    marks
}

/// The words of a sentence without its marks.
pub(super) fn without(sentence: &str, marks: &[Mark]) -> String {
    let mut words = String::with_capacity(sentence.len());
    let mut at = 0;
    for mark in marks {
        words.push_str(sentence.get(at..mark.start).unwrap_or_default().trim_end());
        at = mark.end;
    }
    words.push_str(sentence.get(at..).unwrap_or_default());
    words.trim().to_owned()
}

/// How many bytes of a text are marks that it begins with.
fn led(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let bare = rest.trim_start();
        let Some((behind, _)) = mark(bare).and_then(|numbers| numbers.last().copied()) else { return at };
        at += rest.len() - bare.len() + behind;
    }
}

/// The pieces of an answer with each mark in the sentence that it stands behind: `It is done. [r3] What follows …`.
pub(super) fn attached<'a>(answer: &'a str, all: Vec<Piece<'a>>) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(all.len());
    for piece in all.into_iter().flat_map(cut) {
        let led = if piece.is_code { 0 } else { led(piece.text) };
        let rest = piece.text.get(led..).unwrap_or_default().trim_start();
        // What begins a line of its own is said of what follows it there.
        let joins = |last: &Piece<'_>| {
            let between = answer.get(last.start + last.text.len()..piece.start).unwrap_or_default();
            led > 0 && !last.is_code && (rest.is_empty() || !between.contains('\n'))
        };
        if !pieces.last().is_some_and(joins) {
            pieces.push(piece);
            continue;
        }
        if let Some(last) = pieces.last_mut() {
            last.text = answer.get(last.start..piece.start + led).unwrap_or(last.text);
        }
        if !rest.is_empty() {
            let start = piece.start + piece.text.len() - rest.len();
            pieces.push(Piece { start, text: rest, is_code: false });
        }
    }
    pieces
}

/// A piece that goes on behind a full stop and marks, in its sentences.
fn cut(piece: Piece<'_>) -> Vec<Piece<'_>> {
    let part = |from: usize, to: usize| Piece {
        start: piece.start + from,
        text: piece.text.get(from..to).unwrap_or_default(),
        is_code: piece.is_code,
    };
    let mut pieces = Vec::new();
    let mut from = 0;
    let found = if piece.is_code { Vec::new() } else { marks(piece.text) };
    let mut beside: Vec<Mark> = Vec::new();
    for mark in found {
        // Marks beside each other are one.
        match beside.last_mut() {
            Some(last) if piece.text.get(last.end..mark.start).is_some_and(|gap| gap.trim().is_empty()) => {
                last.end = mark.end;
            }
            _ => beside.push(mark),
        }
    }
    for mark in beside {
        let said = piece.text.get(from..mark.start).unwrap_or_default().trim_end();
        let behind = piece.text.get(mark.end..).unwrap_or_default();
        if said.ends_with(['.', '!', '?']) && !behind.trim().is_empty() {
            pieces.push(part(from, mark.end));
            from = mark.end + behind.len() - behind.trim_start().len();
        }
    }
    pieces.push(part(from, piece.text.len()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::sentences::pieces;
    use super::*;

    fn told(answer: &str) -> Vec<(String, Vec<u32>)> {
        let pieces = attached(answer, pieces(answer));
        for piece in &pieces {
            assert_eq!(answer.get(piece.start..piece.start + piece.text.len()), Some(piece.text));
        }
        let one = |piece: &Piece<'_>| {
            let found = marks(piece.text);
            (without(piece.text, &found), found.iter().map(|mark| mark.number).collect())
        };
        pieces.iter().map(one).collect()
    }

    #[test]
    fn a_mark_belongs_to_the_sentence_that_it_stands_behind() {
        let want = |all: &[(&str, &[u32])]| -> Vec<(String, Vec<u32>)> {
            all.iter().map(|(words, numbers)| ((*words).to_owned(), numbers.to_vec())).collect()
        };
        assert_eq!(
            told(
                "I wrote a.md [r2]. Bob owes 5. [r1][r3] It is out! [r4] Bye.\n- Two [r1, r12]\n[r7] Three.\n"
            ),
            want(&[
                ("I wrote a.md.", &[2]),
                ("Bob owes 5.", &[1, 3]),
                ("It is out!", &[4]),
                ("Bye.", &[]),
                ("- Two", &[1, 12]),
                ("Three.", &[7]),
            ])
        );
        assert_eq!(told("Done.\n\n[r3]"), want(&[("Done.", &[3])]));
    }

    #[test]
    fn a_link_a_span_of_code_a_footnote_and_what_is_no_number_are_no_marks() {
        for words in [
            "See [r3](https://a.example).",
            "`[r3]` is code.",
            "A note [3] and [^3].",
            "[rx] and [r].",
            "[r12345]",
        ] {
            assert!(marks(words).is_empty(), "{words}");
        }
        assert_eq!(marks("a [R3] b").len(), 1);
    }
}
