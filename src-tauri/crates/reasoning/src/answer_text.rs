//! What of an answer is words for a person: calls that are written into the text are not.

/// How a call in a text begins.
const MARKS: [&str; 2] = ["```", "<tool_call>"];

/// A text as it comes in, of which only the prose is passed on.
#[derive(Debug, Default)]
pub struct Prose {
    held: String,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but white space came so far.
    #[default]
    Begins,
    /// Words.
    Words,
    /// A call; nothing behind it is words.
    Call,
}

impl Prose {
    /// The words in the next piece, as far as it is known that they are words.
    pub fn push(&mut self, piece: &str) -> String {
        if self.state == State::Call {
            return String::new();
        }
        self.held.push_str(piece);
        if self.state == State::Begins {
            match self.held.trim_start().chars().next() {
                None => return String::new(),
                Some('{' | '[') => {
                    self.state = State::Call;
                    self.held.clear();
                    return String::new();
                }
                Some(_) => self.state = State::Words,
            }
        }
        if let Some(at) = MARKS.iter().filter_map(|mark| self.held.find(mark)).min() {
            self.state = State::Call;
            let words = self.held.get(..at).unwrap_or_default().trim_end().to_owned();
            self.held.clear();
            return words;
        }
        let may_begin =
            |at: &usize| MARKS.iter().any(|mark| mark.starts_with(self.held.get(*at..).unwrap_or("?")));
        let keep = self.held.char_indices().map(|(at, _)| at).find(may_begin).unwrap_or(self.held.len());
        let rest = self.held.split_off(keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// What was held back, once nothing more comes.
    pub fn end(&mut self) -> String {
        if self.state == State::Call { String::new() } else { std::mem::take(&mut self.held) }
    }
}

/// The prose of a whole text.
pub fn of(text: &str) -> String {
    let mut prose = Prose::default();
    let words = prose.push(text);
    words + &prose.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_no_prose_however_it_comes() {
        for (text, words) in [
            ("I look.", "I look."),
            ("  {\"tool\": \"read\"}", ""),
            ("[{\"tool\": \"read\"}]", ""),
            ("I look.\n```json\n{\"tool\": \"read\"}\n```", "I look."),
            ("So:<tool_call>{}</tool_call>", "So:"),
            ("a `word` and 1 < 2", "a `word` and 1 < 2"),
            (" \n", " \n"),
        ] {
            assert_eq!(of(text), words);
            let mut prose = Prose::default();
            let mut heard: String = text.chars().map(|c| prose.push(&c.to_string())).collect();
            heard += &prose.end();
            assert_eq!(heard.trim_end(), words.trim_end(), "letter by letter");
        }
    }
}
