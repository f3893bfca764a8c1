//! Sentences of a form by which one record alone bears them, whatever verb they have: what it has word for word, how much it lists, and
//! a thing with its details.

use super::super::passages::{bounded, is_content, is_negation};
use super::super::tokens::{Kind, Token, is_path, tokens};
use super::super::verbs::{UNIVERSAL, family, holds};
use super::super::{Deed, ended_well};
use super::lists::WEIGHTY;
use super::{Held, Judge, Proof, has, shortened};

/// Letters from which a quotation is one that tells a record.
const QUOTED_MIN: usize = 8;
/// Words around what an error says that add nothing to it.
const OF_ERROR: &str = "error errors message reason failing failed assertion stopped aborted ended gave panicked reported says said";
/// Words around a count that add nothing to it.
const OF_LIST: &str = "file files entry entries item items folder directory start begin beginning list held contained contains lists held total";
/// Lines of a record that is about one thing.
const CARD_MAX: usize = 16;
/// Letters of such a line.
const CARD_LINE: usize = 90;

impl Judge<'_, '_> {
    /// What bears a sentence by its form.
    pub(super) fn formed(&self, said: &[&Token], is_first_person: bool) -> Option<Vec<Proof>> {
        let weighs = |token: &&Token| holds(WEIGHTY, &token.raw) || holds(UNIVERSAL, &token.raw);
        if is_first_person || said.iter().any(|token| is_negation(token)) || said.iter().any(weighs) {
            return None;
        }
        let mut records = self.records.iter().enumerate();
        records.find_map(|(at, held)| {
            let quote = self
                .quotes(held, said)
                .or_else(|| self.lists(held, said))
                .or_else(|| self.prints_act(held, said))
                .or_else(|| self.details(held, said))?;
            Some(vec![Proof { record: at, text: held.texts.first().copied(), quote }])
        })
    }

    /// `The error was "no space left"`: what failed printed these words, and what else is said of it stands there as well.
    fn quotes(&self, held: &Held, said: &[&Token]) -> Option<String> {
        let quoted: Vec<&&Token> = said
            .iter()
            .filter(|token| {
                token.kind == Kind::Exact && token.key.contains(' ') && token.key.len() >= QUOTED_MIN
            })
            .collect();
        let source = self.source(held)?;
        let failed = self.deeds(held).any(|deed| !ended_well(deed));
        let text = source.text.to_lowercase();
        let is_there = |token: &&&Token| bounded(&text, &token.key).is_some();
        let rest =
            |token: &&&Token| is_content(token) && !quoted.iter().any(|quote| std::ptr::eq(**quote, **token));
        let is_told = |token: &&Token| {
            (token.kind == Kind::Word && holds(OF_ERROR, &token.raw)) || self.has_in(held, token)
        };
        let is_all = !quoted.is_empty()
            && failed
            && quoted.iter().all(is_there)
            && said.iter().filter(rest).all(is_told);
        let line = source
            .text
            .lines()
            .find(|line| quoted.iter().any(|quote| bounded(&line.to_lowercase(), &quote.key).is_some()));
        line.filter(|_| is_all).map(shortened)
    }

    /// `The folder held five files, four of them PDFs`: a listing of that many names.
    fn lists(&self, held: &Held, said: &[&Token]) -> Option<String> {
        let deed = self.deeds(held).find(|deed| ended_well(deed))?;
        let [program, arguments @ ..] = deed.argv.as_slice() else { return None };
        let source = self.source(held)?;
        let is_option = |word: &&String| word.starts_with('-');
        // Of one folder and no more than it, a name in each line.
        let is_plain =
            arguments.iter().filter(is_option).all(|word| matches!(word.as_str(), "-l" | "-1" | "-lh"));
        if program != "ls" || !is_plain || arguments.iter().filter(|word| !is_option(word)).count() != 1 {
            return None;
        }
        let lines =
            source.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("total "));
        let names: Vec<String> = lines.map(str::to_lowercase).collect();
        let numbers = said.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
        let (mut told, mut counted): (usize, Vec<&Token>) = (0, Vec::new());
        for (at, number) in numbers {
            let mut behind = said.iter().skip(at + 1).filter(|token| !holds("of them", &token.raw));
            let (kind, next) = (behind.next()?, behind.next());
            let one = kind.raw.trim_end_matches('s');
            let how_many = if holds("files entries items", &kind.raw) {
                names.len()
            } else if next.is_some_and(|next| holds("files", &next.raw)) {
                names.iter().filter(|name| bounded(name, &format!(".{one}")).is_some()).count()
            } else {
                names
                    .iter()
                    .filter(|name| name.split_whitespace().any(|word| word.ends_with(&format!(".{one}"))))
                    .count()
            };
            if how_many == 0 || number.key != how_many.to_string() {
                return None;
            }
            told += 1;
            counted.push(kind);
        }
        let is_told = |token: &&Token| {
            token.kind == Kind::Number
                || (token.kind == Kind::Word && holds(OF_LIST, &token.raw))
                || counted.iter().any(|kind| std::ptr::eq(*kind, *token))
                || arguments.iter().any(|word| bounded(&word.to_lowercase(), &token.key).is_some())
        };
        let mut content = said.iter().filter(|token| is_content(token));
        (told > 0 && content.all(is_told)).then(|| shortened(&names.join(", ")))
    }

    /// `The result was written to a.csv`: a program that ended well printed that it wrote it.
    fn prints_act(&self, held: &Held, said: &[&Token]) -> Option<String> {
        const WRITES: &str = "written wrote saved created exported";
        let deed = self.deeds(held).find(|deed| ended_well(deed) && !deed.argv.is_empty())?;
        let source = self.source(held).filter(|_| deed.order >= self.checker.last_change)?;
        let mut verbs = said.iter().filter(|token| acts(token));
        let verb = verbs.next().filter(|verb| holds(WRITES, &verb.raw))?;
        let path = said.iter().find(|token| token.kind == Kind::Exact && is_path(&token.key))?;
        let line = source.text.lines().find(|line| {
            tokens(line).iter().any(|token| holds(WRITES, &token.raw))
                && bounded(&line.to_lowercase(), &path.key).is_some()
        })?;
        let own = tokens(line);
        let is_told = |token: &&&Token| {
            std::ptr::eq(**token, *verb)
                || std::ptr::eq(**token, *path)
                || holds("result results output", &token.raw)
                || (token.kind != Kind::Exact && own.iter().any(|other| other.key == token.key))
        };
        let behind = said.windows(2).any(
            |pair| matches!(pair, [to, it] if std::ptr::eq(*it, *path) && holds("to in into as", &to.raw)),
        );
        let is_all = behind
            && verbs.next().is_none()
            && said.iter().filter(|token| is_content(token)).all(|token| is_told(&token));
        is_all.then(|| shortened(line))
    }

    /// `No. 2390 – desk lamp, €75.40, due 8 November`: each piece is all of it in one line of a record that is about one thing.
    fn details(&self, held: &Held, said: &[&Token]) -> Option<String> {
        if !held.deeds.is_empty() {
            return None;
        }
        let source = self.source(held)?;
        let lines: Vec<&str> = source.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if !is_card(&lines) || said.iter().any(|token| super::super::asserts::is_link(token)) {
            return None;
        }
        if has(said, "will would should could might may if or not to from") || said.iter().any(|t| acts(t)) {
            return None;
        }
        let titled = tokens(&source.title.replace(['/', '.', '_', '-'], " "));
        let words: Vec<Vec<Token>> = lines.iter().map(|line| tokens(line)).collect();
        let is_in = |line: &[Token], piece: &[&Token]| {
            let mut from = 0;
            piece.iter().filter(|token| is_content(token)).all(|token| {
                let found = line.iter().skip(from).position(|other| other.key == token.key);
                let is_named = token.kind == Kind::Word || token.kind == Kind::Name;
                match found {
                    Some(at) => {
                        from += at;
                        true
                    }
                    None => is_named && titled.iter().any(|other| other.key == token.key),
                }
            })
        };
        let pieces: Vec<&[&Token]> = said
            .split(|token| token.kind == Kind::Mark)
            .filter(|piece| piece.iter().any(|token| is_content(token)))
            .collect();
        let held_by = |piece: &&[&Token]| words.iter().position(|line| is_in(line, piece));
        let found: Option<Vec<usize>> = pieces.iter().map(held_by).collect();
        let found = found.filter(|found| found.len() > 1)?;
        let mut at: Vec<usize> = found;
        at.dedup();
        let told: Vec<&str> = at.iter().filter_map(|at| lines.get(*at).copied()).collect();
        Some(shortened(&told.join("; ")))
    }

    fn source(&self, held: &Held) -> Option<&super::Source> {
        held.texts.first().and_then(|text| self.checker.record.sources.get(*text))
    }

    fn deeds(&self, held: &Held) -> impl Iterator<Item = &Deed> {
        held.deeds.iter().filter_map(|at| self.checker.record.deeds.get(*at))
    }

    /// Whether what was asked for or came of it has a word, number or name.
    fn has_in(&self, held: &Held, token: &Token) -> bool {
        let all = self.checker;
        let texts = |text: &usize| {
            if token.kind == Kind::Exact {
                all.seen.text_holds(*text, &token.key)
            } else {
                all.seen.text_has(*text, &token.key)
            }
        };
        held.deeds.iter().any(|deed| all.deeds.text_has(*deed, &token.key)) || held.texts.iter().any(texts)
    }
}

/// Whether a token claims an act.
fn acts(token: &Token) -> bool {
    token.kind != Kind::Exact && family(&token.raw).is_some()
}

/// Whether the lines of a text are about one thing: a name and its value in most, no name twice, and no list.
fn is_card(lines: &[&str]) -> bool {
    let mut labels: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once(": ")).map(|(label, _)| label).collect();
    let all = labels.len();
    labels.sort_unstable();
    labels.dedup();
    let is_short = |line: &&str| line.chars().count() <= CARD_LINE;
    let is_listed = |line: &&str| {
        line.starts_with(['-', '*', '|', '+', '#', '{', '['])
            || line.split_once(' ').is_some_and(|(first, _)| first.ends_with(['.', ')']) && first.len() < 4)
    };
    lines.len() <= CARD_MAX
        && all >= 2
        && labels.len() == all
        && lines.iter().all(is_short)
        && !lines.iter().any(is_listed)
}
