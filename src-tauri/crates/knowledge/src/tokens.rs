//! How many tokens a text may cost, without any model's tokenizer.
//!
//! An estimate, meant to err upwards: letters of one case count one token for every four begun, digits and signs
//! one each, characters beyond ASCII what byte-level tokenizers spend on them at worst. English prose comes out
//! about a third too high, digests and base64 about right.

/// Tokens that `text` costs at most, as far as can be told without its model's tokenizer.
pub fn count_tokens(text: &str) -> u32 {
    let mut meter = Meter::default();
    text.chars().for_each(|c| meter.take(c));
    meter.total
}

/// The longest beginning of `text` that costs no more than `tokens`.
pub fn head_within(text: &str, tokens: u32) -> &str {
    let mut meter = Meter::default();
    for (at, c) in text.char_indices() {
        meter.take(c);
        if meter.total > tokens {
            return text.get(..at).unwrap_or("");
        }
    }
    text
}

/// The longest end of `text` that costs no more than `tokens`.
pub fn tail_within(text: &str, tokens: u32) -> &str {
    let mut meter = Meter::default();
    let mut from = text.len();
    for (at, c) in text.char_indices().rev() {
        meter.take(c);
        if meter.total > tokens {
            break;
        }
        from = at;
    }
    text.get(from..).unwrap_or("")
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Class {
    #[default]
    Start,
    Lower,
    Upper,
    Blank,
    Alone,
}

/// Counts runs, the same in both directions.
#[derive(Default)]
struct Meter {
    total: u32,
    class: Class,
    run: u32,
}

impl Meter {
    fn take(&mut self, c: char) {
        let class = match c {
            'a'..='z' => Class::Lower,
            'A'..='Z' => Class::Upper,
            ' ' => Class::Blank,
            _ => Class::Alone,
        };
        self.run = if class == self.class { self.run.saturating_add(1) } else { 1 };
        self.class = class;
        let cost = match class {
            Class::Lower | Class::Upper => u32::from(self.run % 4 == 1),
            // One blank belongs to the word beside it.
            Class::Blank => u32::from(self.run > 1 && self.run % 4 == 2),
            Class::Start | Class::Alone => match c.len_utf8() {
                1 | 2 => 1,
                3 => 2,
                _ => 3,
            },
        };
        self.total = self.total.saturating_add(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts_cost_what_the_rule_says() {
        for (text, tokens) in [
            ("", 0),
            ("word", 1),
            ("words", 2),
            ("two words", 3),
            ("2026", 4),
            ("a\n", 2),
            ("é", 1),
            ("漢字", 4),
            ("🦀", 3),
            ("    x", 2),
        ] {
            assert_eq!(count_tokens(text), tokens, "`{text}`");
        }
    }

    proptest! {
        #[test]
        fn a_head_and_a_tail_fit_and_are_the_longest_that_do(text in ".{0,200}", tokens in 0u32..80) {
            let head = head_within(&text, tokens);
            let tail = tail_within(&text, tokens);
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert!(count_tokens(head) <= tokens && count_tokens(tail) <= tokens);
            if let Some(c) = text.strip_prefix(head).and_then(|rest| rest.chars().next()) {
                let longer = format!("{head}{c}");
                prop_assert!(count_tokens(&longer) > tokens);
            }
            if let Some(c) = text.strip_suffix(tail).and_then(|rest| rest.chars().next_back()) {
                let longer = format!("{c}{tail}");
                prop_assert!(count_tokens(&longer) > tokens);
            }
        }

        #[test]
        fn joining_texts_never_costs_more_than_one_token_beyond_their_sum(a in ".{0,80}", b in ".{0,80}") {
            let joined = format!("{a}{b}");
            prop_assert!(count_tokens(&joined) <= count_tokens(&a) + count_tokens(&b) + 1);
        }
    }
}
