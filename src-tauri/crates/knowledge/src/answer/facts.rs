//! A sentence as a whole: whether it claims anything, and whether something that was seen bears it.

use super::asserts::edges;
use super::passages::is_content;
use super::sentence::{Sentence, is_place};
use super::tokens::{Kind, Token, is_path};
use super::verbs::{GENERIC, SAYS, UNIVERSAL, WELL, holds};
use super::{Bound, Checker, Shown, ended_well, is_at, nowhere, targets};
use model::answer::AnswerSupport as Support;

impl Checker<'_> {
    /// What bears a sentence.
    pub(super) fn sentence(&self, text: &str) -> Bound {
        let sentence = Sentence::new(text);
        match self.shown(&sentence) {
            Ok(bound) => bound,
            Err(because) => self.in_plain_words(text).unwrap_or_else(|| Bound::unverified(because)),
        }
    }

    pub(super) fn shown(&self, sentence: &Sentence) -> Shown {
        let bound = self.shown_by_kind(sentence)?;
        if self.is_exact.get() {
            self.carried(sentence, &bound)?;
        }
        Ok(bound)
    }

    fn shown_by_kind(&self, sentence: &Sentence) -> Shown {
        let content: Vec<&Token> = sentence.tokens.iter().filter(|token| is_content(token)).collect();
        let claims = sentence.claims();
        let ends_well = sentence.has(WELL)
            || sentence.ends_without_error()
            || sentence.denies_failure()
            || sentence.ran_well();
        let is_plain = claims.is_empty() && !ends_well && !sentence.fails();
        let is_open = sentence.is_open && !sentence.states();
        if is_plain {
            states_nothing(sentence, &content, is_open)?;
        }
        let is_title = sentence.is_heading && !sentence.titles();
        if is_plain && (content.is_empty() || is_open || is_title) {
            // What is only offered names nobody and counts nothing: `You can cancel 14 days before` is told, and not offered.
            let counts = |token: &Token| {
                token.kind == Kind::Exact
                    && token.raw.contains(|c: char| c.is_ascii_digit())
                    && !is_path(&token.raw)
            };
            let tells = |token: &&&Token| {
                is_open && (matches!(token.kind, Kind::Number | Kind::Name) || counts(token))
            };
            let says = |token: &&&Token| matches!(token.kind, Kind::Exact | Kind::Number);
            if content.iter().any(|token| tells(&token)) {
                return Err("it says more than what could be done".to_owned());
            }
            return match content.iter().find(|token| says(token) && !self.stands_anywhere(token)) {
                None => Ok(Bound::of(Support::Claimless)),
                Some(token) => Err(nowhere(token)),
            };
        }
        if let [only] = content.as_slice()
            && holds("done finished complete completed", &only.raw)
        {
            return if sentence.has(UNIVERSAL) {
                Err("receipts do not show that it was all".to_owned())
            } else {
                self.all_done()
            };
        }
        let attributed = (!sentence.is_first_person).then(|| self.attributed(sentence, &content)).flatten();
        if let Some(bound) = attributed {
            return Ok(bound);
        }
        // `It is used in client.ts` may be what was seen, where no act put it there.
        if claims.iter().all(|claim| is_place(&claim.verb.raw))
            && !ends_well
            && !sentence.fails()
            && !sentence.is_first_person
            && let Ok(bound) = self.fact(&content, &sentence.tokens)
        {
            return Ok(bound);
        }
        if !claims.is_empty() || ends_well || sentence.fails() {
            return self.done(sentence, &claims, &content);
        }
        if sentence.is_first_person {
            return Err("no receipt shows that".to_owned());
        }
        if let Some(bound) = self.only_change(sentence, &content) {
            return Ok(bound);
        }
        self.fact(&content, &sentence.tokens)
    }

    /// `Done.` alone: something was, and the last of it went well.
    pub(super) fn all_done(&self) -> Shown {
        let last = self.record.deeds.last().filter(|last| ended_well(last));
        last.ok_or("no receipt shows that all was done")?;
        let mut bound = Bound::of(Support::Receipt);
        bound.receipts =
            self.record.deeds.iter().filter(|deed| deed.succeeded).map(|deed| deed.receipt_id).collect();
        Ok(bound)
    }

    /// A sentence that says in what its words stand: a source, or a file that the agent wrote.
    pub(super) fn attributed(&self, sentence: &Sentence, content: &[&Token]) -> Option<Bound> {
        if !sentence.tokens.iter().any(|token| holds(SAYS, &token.raw)) {
            return None;
        }
        let named: Vec<&&Token> = content
            .iter()
            .filter(|token| token.kind == Kind::Exact && token.key.chars().count() > 2)
            .collect();
        let all: Vec<&Token> = sentence.tokens.iter().filter(|token| !holds(SAYS, &token.raw)).collect();
        let exact = self.is_exact.get();
        let in_source = |text: usize| named.iter().any(|token| self.seen.is_titled(text, &token.key));
        if let Some(passage) = self.seen.bearing(&all, &in_source, exact) {
            return Some(self.evidence(passage.text));
        }
        let in_file = |text: usize| named.iter().any(|token| self.written.is_titled(text, &token.key));
        self.written.bearing(&all, &in_file, exact).map(|passage| self.by_file(passage.text))
    }

    pub(super) fn evidence(&self, text: usize) -> Bound {
        let mut bound = Bound::of(Support::Evidence);
        let source = self.record.sources.get(text);
        bound.sources.extend(source.map(super::Source::named));
        bound
    }

    pub(super) fn by_file(&self, text: usize) -> Bound {
        let mut bound = Bound::of(Support::Receipt);
        let deed = self.written_by.get(text).and_then(|at| self.record.deeds.get(*at));
        bound.receipts.extend(deed.map(|deed| deed.receipt_id));
        bound
    }

    /// `notes.md` was the only file changed: all that acts changed is named.
    pub(super) fn only_change(&self, sentence: &Sentence, content: &[&Token]) -> Option<Bound> {
        let named: Vec<&&Token> = content.iter().filter(|token| token.kind == Kind::Exact).collect();
        if named.is_empty() || !sentence.has("only") || !sentence.has("changed modified edited touched") {
            return None;
        }
        let mut bound = Bound::of(Support::Receipt);
        for deed in self.record.deeds.iter().filter(|deed| deed.succeeded) {
            if !targets(deed).all(|path| named.iter().any(|token| is_at(path, &token.key))) {
                return None;
            }
            bound.receipts.extend(targets(deed).next().map(|_| deed.receipt_id));
        }
        let every = named.iter().all(|token| {
            self.record.deeds.iter().any(|deed| targets(deed).any(|path| is_at(path, &token.key)))
        });
        (every && !bound.receipts.is_empty()).then_some(bound)
    }

    /// A fact: one passage of what was seen bears it, or one of what an act was; a list may be borne piece by piece.
    pub(super) fn fact(&self, content: &[&Token], all: &[Token]) -> Shown {
        let all: Vec<&Token> = all.iter().collect();
        if let Some(bound) = self.borne(&all) {
            return Ok(bound);
        }
        if let Some(bound) = self.names_a_source(content) {
            return Ok(bound);
        }
        let pieces: Vec<&[&Token]> = all
            .split(|token| token.kind == Kind::Mark || token.raw == "and")
            .filter(|piece| piece.iter().any(|token| is_content(token) && !holds(GENERIC, &token.raw)))
            .collect();
        let shape = |piece: &&[&Token]| {
            let content: Vec<&&Token> = piece.iter().filter(|token| is_content(token)).collect();
            let tells = content.iter().any(|token| token.kind == Kind::Number)
                && content.iter().any(|token| token.kind != Kind::Number);
            tells || content.len() == 1
        };
        if pieces.len() < 2 || !pieces.iter().skip(1).all(shape) {
            return Err(
                match content.iter().find(|token| token.kind != Kind::Word && !self.stands_anywhere(token)) {
                    Some(token) => nowhere(token),
                    None => "nothing that was seen says so".to_owned(),
                },
            );
        }
        let tells = |piece: &[&Token]| piece.iter().filter(|token| is_content(token)).count();
        // What a list is of is said once, before its first member.
        let first: Vec<&Token> = pieces.first().map(|piece| piece.to_vec()).unwrap_or_default();
        let mut context = first.clone();
        let is_label = tells(&context) == 1;
        if tells(&context) > 1
            && let Some(last) = context.iter().rposition(|token| is_content(token))
        {
            context.remove(last);
        }
        let mut bound = Bound::of(Support::Claimless);
        for (at, piece) in pieces.into_iter().enumerate() {
            let follows =
                at > 0 && piece.first().is_some_and(|first| holds("with at for by of from", &first.raw));
            let whole: Vec<&Token> = if at > 0 && (tells(piece) == 1 || is_label) {
                context.iter().chain(piece).copied().collect()
            } else if follows {
                first.iter().chain(piece).copied().collect()
            } else {
                piece.to_vec()
            };
            bound = bound.with(self.borne(&whole).ok_or("nothing that was seen says so in one place")?);
        }
        Ok(bound)
    }

    /// `Source: https://example.org`.
    pub(super) fn names_a_source(&self, content: &[&Token]) -> Option<Bound> {
        let named = |text: usize, token: &Token| self.seen.is_titled(text, &token.key);
        let all_named =
            |text: &usize| content.iter().all(|token| token.kind == Kind::Exact && named(*text, token));
        let text = (0..self.record.sources.len()).find(all_named).filter(|_| !content.is_empty())?;
        Some(self.evidence(text))
    }

    pub(super) fn borne(&self, said: &[&Token]) -> Option<Bound> {
        let any = |_: usize| true;
        let exact = self.is_exact.get();
        // Of an act that failed it is told how it ended, and nothing else.
        let of_end = said.iter().any(|token| holds("exit exited code", &token.raw));
        let well = |at: usize| of_end || self.record.deeds.get(at).is_some_and(ended_well);
        if let Some(passage) = self.seen.bearing(said, &any, exact) {
            return Some(self.evidence(passage.text));
        }
        if let Some(passage) = self.deeds.bearing(said, &well, exact) {
            let mut bound = Bound::of(Support::Receipt);
            bound.receipts.extend(self.record.deeds.get(passage.text).map(|deed| deed.receipt_id));
            return Some(bound);
        }
        let named: Vec<&&Token> = said.iter().filter(|token| token.kind == Kind::Exact).collect();
        let in_file = |text: usize| named.iter().any(|token| self.written.is_titled(text, &token.key));
        self.written.bearing(said, &in_file, exact).map(|passage| self.by_file(passage.text))
    }
}

/// Nothing is said by signs and little words that nothing on record could be compared with.
fn states_nothing(sentence: &Sentence, content: &[&Token], is_open: bool) -> Result<(), String> {
    if !content.is_empty() {
        let is_signed = sentence.is_ticked || (sentence.is_pictured && !sentence.is_heading && !is_open);
        return if is_signed { Err("a sign is no receipt".to_owned()) } else { Ok(()) };
    }
    let all: Vec<&Token> = sentence.tokens.iter().collect();
    let asks = all.first().is_some_and(|first| holds("what why how where", &first.raw));
    let states = (0..all.len()).any(|at| sentence.asserts(at)) || !edges(&all).is_empty();
    if states && !asks && !is_open {
        Err("it says nothing that could be compared".to_owned())
    } else {
        Ok(())
    }
}
