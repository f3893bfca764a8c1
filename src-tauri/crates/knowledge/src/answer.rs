//! What bears the sentences of a closing answer (product.md, moonshot 9): a sentence that claims an act is bound to its
//! receipt, one that claims a fact to what was seen, and any other is unverified.
//!
//! The binding is made without a model, and errs on one side: what it does not understand is unverified. A bound sentence is
//! not thereby true. Its act is on record, with a receipt; or its words stand in one passage of what was looked at, which may
//! be wrong itself. What the agent wrote in this task bears no sentence but one that says what that file holds. Where a model cites
//! what it was shown, a run of the record's words is enough. Each word of a sentence is carried by what bears it (`carried`); one that
//! is only told like the record is unverified, and stands beside the words to compare it with (`near`).

mod acts;
mod asserts;
mod carried;
mod cited;
mod denials;
mod facts;
mod looks;
mod marks;
mod meaning;
mod near;
mod objects;
mod own;
mod passages;
mod plain;
mod sentence;
mod sentences;
mod strict;
mod tokens;
mod verbs;

use cited::Outcome;
use model::action::ActionClass;
use model::answer::{AnswerSentence, AnswerSource, AnswerSupport as Support};
use model::{ArtifactId, ReceiptId};
pub use near::{Grade, grades};
use own::Own;
use passages::{Passages, clip};
use sentences::{Piece, pieces};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use tokens::{Kind, Token, tokens};

/// The name of the method, with its version: what it says of the same record stays the same.
pub const METHOD: &str = "hermit.answer/5";
/// Sentences of an answer that are looked at; what follows is one more, unverified.
pub const SENTENCES_MAX: usize = 400;
/// Letters of a sentence that is looked at.
const SENTENCE_MAX: usize = 2_000;
/// Letters of a source's title.
const TITLE_MAX: usize = 120;
/// Lines with numbers that are looked at.
const LINES_MAX: usize = 20_000;
/// Passages that all sentences of an answer are compared with which cite them.
const CITED_MAX: usize = 400_000;
/// Receipts and artifacts that are named with a sentence.
const NAMED_MAX: usize = 8;

/// A file as an act left it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Its path in the workspace.
    pub path: String,
    /// Its text, where it is one.
    pub text: String,
}

/// An act on record, with its receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// The receipt.
    pub receipt_id: ReceiptId,
    /// Its class.
    pub class: ActionClass,
    /// Whether all of it was done.
    pub succeeded: bool,
    /// Its place among all that was done and looked at.
    pub order: u32,
    /// Files that were not there before.
    pub made: Vec<Left>,
    /// Files that were there before and are otherwise now.
    pub changed: Vec<Left>,
    /// What is there no longer.
    pub removed: Vec<String>,
    /// What was removed and stands elsewhere by the same act: from where, to where.
    pub moved: Vec<(String, String)>,
    /// The words of a command, with its program.
    pub argv: Vec<String>,
    /// Its exit status.
    pub exit_code: Option<i32>,
    /// What was asked for: the tool, an address, arguments, a message.
    pub words: String,
}

/// Something that was looked at, or that an act printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its artifact.
    pub artifact_id: ArtifactId,
    /// A path, a search, a command.
    pub title: String,
    /// The text.
    pub text: String,
    /// Its place among all that was done and looked at.
    pub order: u32,
}

impl Source {
    fn named(&self) -> AnswerSource {
        let mut title: String = self.title.chars().take(TITLE_MAX).collect();
        if title.len() < self.title.len() {
            title.push('…');
        }
        AnswerSource { artifact_id: self.artifact_id, title }
    }
}

/// A result that a model was shown under a number, by which it cites it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The number.
    pub number: u32,
    /// The result.
    pub artifact_id: ArtifactId,
    /// The place of it, and of the act that it came of, among all that was done and looked at.
    pub order: u32,
}

/// What a task has on record when it answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// What the person said, the goal first.
    pub said: Vec<String>,
    /// What was done, in its order.
    pub deeds: Vec<Deed>,
    /// What was seen, in its order.
    pub sources: Vec<Source>,
    /// What the model that answers was shown, by its numbers.
    pub references: Vec<Reference>,
}

/// What bears a sentence.
struct Bound {
    support: Support,
    receipts: BTreeSet<ReceiptId>,
    sources: BTreeSet<AnswerSource>,
    because: Option<String>,
}

impl Bound {
    const fn of(support: Support) -> Self {
        Self { support, receipts: BTreeSet::new(), sources: BTreeSet::new(), because: None }
    }

    fn unverified(because: impl Into<String>) -> Self {
        Self { because: Some(because.into()), ..Self::of(Support::Unverified) }
    }

    fn with(mut self, other: Self) -> Self {
        self.receipts.extend(other.receipts);
        self.sources.extend(other.sources);
        if self.support != Support::Receipt && other.support != Support::Claimless {
            self.support = other.support;
        }
        self
    }
}

/// Why a sentence is not borne.
type Shown = Result<Bound, String>;

/// The sentences of an answer with what bears each, in their order.
pub fn check(answer: &str, record: &Record) -> Vec<AnswerSentence> {
    let checker = Checker::new(answer, record);
    let all = marks::attached(answer, pieces(answer));
    let mut sentences: Vec<AnswerSentence> =
        all.iter().take(SENTENCES_MAX).map(|piece| checker.piece(*piece)).collect();
    if let (Some(next), Some(last)) = (all.get(SENTENCES_MAX), all.last()) {
        let length = last.start + last.text.len() - next.start;
        let because = "the answer is too long to be looked at whole";
        sentences.push(told(next.start, length, Outcome::of(Bound::unverified(because))));
    }
    sentences
}

fn told(start: usize, length: usize, outcome: Outcome) -> AnswerSentence {
    let small = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let Outcome { bound, cited, cites, near } = outcome;
    AnswerSentence {
        start: small(start),
        length: small(length),
        support: bound.support,
        receipts: bound.receipts.into_iter().take(NAMED_MAX).collect(),
        sources: bound.sources.into_iter().take(NAMED_MAX).collect(),
        because: bound.because,
        near,
        cited,
        cites,
    }
}

/// What is on record, made ready to be compared with.
struct Checker<'r> {
    record: &'r Record,
    /// The whole answer, in small letters.
    answer: String,
    /// What was seen, in its order, without what the agent wrote itself.
    seen: Passages,
    /// What each act was, a text each.
    deeds: Passages,
    /// What each act is called by, without what it quotes.
    called: Vec<BTreeSet<String>>,
    /// What each act left in files, and which.
    written: Passages,
    written_by: Vec<usize>,
    /// What the person said.
    said: Passages,
    /// Of each act, the lines it left in files that nobody had seen before.
    fresh: Vec<String>,
    /// What was printed before words such as `passed` and `errors`.
    counts: BTreeMap<String, BTreeSet<String>>,
    /// The place of the last act that changed something.
    last_change: u32,
    /// Whether what bears a sentence has to carry each word of it.
    is_exact: Cell<bool>,
    /// How much more is compared with what sentences cite.
    cited_left: Cell<usize>,
    /// Lines that code is compared with; made once, as what follows is, however much an answer asks for it.
    code_lines: OnceCell<CodeLines<'r>>,
    /// Of each line with a number, the numbers and what they count.
    count_lines: OnceCell<Vec<Vec<(String, String)>>>,
    /// Of each act, the words of the lines that are fresh.
    fresh_words: OnceCell<Vec<BTreeSet<String>>>,
}

/// Lines that a line of code may be: of what was seen, of what acts left, and the words of commands.
#[derive(Default)]
struct CodeLines<'r> {
    seen: Lines<'r>,
    left: Lines<'r>,
    typed: BTreeMap<String, usize>,
}

impl<'r> CodeLines<'r> {
    fn of(record: &'r Record) -> Self {
        let mut all = Self::default();
        for (at, source) in record.sources.iter().enumerate() {
            all.seen.add(at, &source.text);
        }
        for (at, deed) in record.deeds.iter().enumerate() {
            for left in deed.made.iter().chain(&deed.changed) {
                all.left.add(at, &left.text);
            }
            if !deed.argv.is_empty() {
                all.typed.entry(bare(&deed.argv.join(" ")).to_owned()).or_insert(at);
            }
        }
        all
    }
}

/// Lines as they stand and without what frames them, with the first text that has each.
#[derive(Default)]
struct Lines<'r> {
    whole: BTreeMap<&'r str, usize>,
    bare: BTreeMap<&'r str, usize>,
}

impl<'r> Lines<'r> {
    fn add(&mut self, at: usize, text: &'r str) {
        for line in text.lines() {
            self.whole.entry(line.trim()).or_insert(at);
            // A line of signs says nothing without them.
            if !bare(line).is_empty() {
                self.bare.entry(bare(line)).or_insert(at);
            }
        }
    }

    fn first(&self, line: &str, typed: &str) -> Option<usize> {
        [self.whole.get(line), self.bare.get(typed)].into_iter().flatten().copied().min()
    }
}

impl<'r> Checker<'r> {
    fn new(answer: &str, record: &'r Record) -> Self {
        let mut checker = Self {
            record,
            answer: clip(answer, passages::TEXT_MAX).to_lowercase(),
            seen: Passages::default(),
            deeds: Passages::default(),
            called: record.deeds.iter().map(acts::called).collect(),
            written: Passages::default(),
            written_by: Vec::new(),
            said: Passages::default(),
            fresh: record.deeds.iter().map(|deed| fresh(deed, record)).collect(),
            counts: counts(record),
            last_change: 0,
            is_exact: Cell::new(true),
            cited_left: Cell::new(CITED_MAX),
            code_lines: OnceCell::new(),
            count_lines: OnceCell::new(),
            fresh_words: OnceCell::new(),
        };
        for (at, deed) in record.deeds.iter().enumerate() {
            checker.deeds.add("", &words_of(deed));
            for left in deed.made.iter().chain(&deed.changed) {
                checker.written.add(&left.path, &left.text);
                checker.written_by.push(at);
            }
            if deed.succeeded && !(deed.made.is_empty() && deed.changed.is_empty() && deed.removed.is_empty())
            {
                checker.last_change = checker.last_change.max(deed.order);
            }
        }
        let own = Own::of(record);
        for source in &record.sources {
            checker.seen.add(&source.title, &own.without(source));
        }
        for said in &record.said {
            checker.said.add("", said);
        }
        checker
    }

    /// A sentence, or a block of code. It is judged without its marks, and by what they name where nothing else bears it.
    fn piece(&self, piece: Piece<'_>) -> AnswerSentence {
        let outcome = if piece.text.len() > SENTENCE_MAX {
            Outcome::of(Bound::unverified("it is too long to be looked at"))
        } else if piece.is_code {
            Outcome::of(self.code(piece.text))
        } else {
            let marks = marks::marks(piece.text);
            let words = marks::without(piece.text, &marks);
            self.compared(piece.start, &words, &marks)
        };
        told(piece.start, piece.text.len(), outcome)
    }

    /// A block of code: each of its lines stands somewhere as it is written.
    fn code(&self, text: &str) -> Bound {
        // A fence may name a language; what says more than that is said.
        let is_fence = |line: &str| {
            (line.starts_with("```") || line.starts_with("~~~"))
                && line.trim_matches(['`', '~']).split_whitespace().count() < 2
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_fence(line));
        let known = self.code_lines.get_or_init(|| CodeLines::of(self.record));
        let mut named = Bound::of(Support::Evidence);
        for line in lines {
            let typed = bare(line.strip_prefix(['$', '>']).unwrap_or(line));
            let in_source = known.seen.first(line, typed);
            let command = known.typed.get(typed).filter(|_| !typed.is_empty()).copied();
            let in_deed = known.left.first(line, typed).into_iter().chain(command).min();
            match (in_deed.and_then(|at| self.record.deeds.get(at)), in_source) {
                (Some(deed), _) => {
                    named.support = Support::Receipt;
                    named.receipts.insert(deed.receipt_id);
                }
                (None, Some(at)) => named.sources.extend(self.record.sources.get(at).map(Source::named)),
                (None, None) => {
                    return Bound::unverified("a line of it stands in nothing that was seen or written");
                }
            }
        }
        if named.receipts.is_empty() && named.sources.is_empty() {
            named.support = Support::Claimless;
        }
        named
    }
}

/// A line without what frames it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| !c.is_alphanumeric() && !"\"'`()[]{}<>/.$-+%#!".contains(c))
}

/// The numbers that were printed before each of the words that are counted.
fn counts(record: &Record) -> BTreeMap<String, BTreeSet<String>> {
    let mut counts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lines = record.sources.iter().flat_map(|source| source.text.lines());
    let told = lines.filter(|line| line.contains(|c: char| c.is_ascii_digit()));
    for line in told.take(LINES_MAX) {
        let words = tokens(clip(line, SENTENCE_MAX));
        for pair in words.windows(2) {
            if let [count, word] = pair
                && count.kind == Kind::Number
                && word.kind == Kind::Word
            {
                counts.entry(word.key.clone()).or_default().insert(count.key.clone());
            }
        }
    }
    counts
}

/// The lines that an act left in files and that no text had which was seen before it, or left by an act before.
fn fresh(deed: &Deed, record: &Record) -> String {
    let seen =
        record.sources.iter().filter(|source| source.order < deed.order).map(|source| source.text.as_str());
    let left = record.deeds.iter().filter(|before| before.order < deed.order);
    let left =
        left.flat_map(|before| before.made.iter().chain(&before.changed)).map(|left| left.text.as_str());
    let old: BTreeSet<&str> = seen.chain(left).flat_map(str::lines).map(str::trim).collect();
    let new = deed.made.iter().chain(&deed.changed).flat_map(|left| left.text.lines());
    new.filter(|line| !old.contains(line.trim())).collect::<Vec<_>>().join("\n")
}

/// What an act was, in lines: files, command, words.
fn words_of(deed: &Deed) -> String {
    let mut text = String::new();
    let files = deed.made.iter().chain(&deed.changed).map(|left| left.path.as_str());
    for path in files.chain(deed.removed.iter().map(String::as_str)) {
        text.push_str(&format!("{path}\n"));
    }
    if !deed.argv.is_empty() {
        text.push_str(&format!("{}\n", deed.argv.join(" ")));
        if let Some(code) = deed.exit_code {
            text.push_str(&format!("{} ended with exit code {code}\n", deed.argv.join(" ")));
        }
    }
    text.push_str(&deed.words);
    text
}

/// Whether an act went well; a command that ended with another status than 0 did not.
fn ended_well(deed: &Deed) -> bool {
    deed.succeeded && deed.exit_code.is_none_or(|code| code == 0)
}

fn nowhere(token: &Token) -> String {
    format!("\u{201c}{}\u{201d} stands in nothing that was seen or done", token.raw)
}

/// Paths that an act made, changed or removed.
fn targets(deed: &Deed) -> impl Iterator<Item = &str> {
    deed.made
        .iter()
        .chain(&deed.changed)
        .map(|left| left.path.as_str())
        .chain(deed.removed.iter().map(String::as_str))
}

/// Whether a path is the one that is named, ends with it, or lies below it.
fn is_at(path: &str, name: &str) -> bool {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    !name.is_empty()
        && (path == name
            || path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
            || path.split('/').any(|part| part == name)
            || path.strip_prefix(name).is_some_and(|below| below.starts_with('/')))
}

/// Whether the words of an act hold something as it is written.
fn words_have(deed: &Deed, exact: &str) -> bool {
    deed.words.contains(exact) || deed.argv.join(" ").contains(exact)
}

/// Whether what an act removed stands elsewhere by the same act.
fn was_moved(deed: &Deed, path: &str) -> bool {
    deed.moved.iter().any(|(from, _)| from == path)
}
