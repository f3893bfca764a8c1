//! Words by which an answer claims that something was done, by the kind of act that would show it. English only: what is said
//! in another language claims nothing that could be bound, and stays unverified.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The kind of act that a verb claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Family {
    /// A file was made or changed.
    Write,
    /// Something was made of something else: what it was made of is named as well.
    Transform,
    /// A file was taken away.
    Remove,
    /// A file stands elsewhere now.
    Move,
    /// A program ran, however it ended.
    Run,
    /// A program did what its name says, and ended well.
    Make,
    /// Something was got from the network.
    Fetch,
    /// Something went to somebody.
    Send,
    /// Version control was changed.
    Commit,
    /// Something was looked at.
    Look,
    /// It was looked at after all was done.
    Verify,
    /// Something else: a verb of no list.
    Other,
}

const WRITE: &str = "wrote written created added saved updated edited changed modified replaced fixed corrected generated \
    produced implemented inserted appended rewrote rewritten refactored documented formatted made adjusted applied set \
    configured defined drafted prepared recorded resolved repaired patched introduced turned switched enabled disabled \
    populated filled completed raised lowered increased decreased reduced bumped reworked overwrote overwritten cleaned improved simplified noted put exported stored backed \
    touched altered reordered renumbered commented annotated listed";
const TRANSFORM: &str = "translated converted summarized summarised extracted sorted organized organised grouped merged split \
    copied combined collected compressed plotted duplicated imported";
const REMOVE: &str = "deleted removed erased purged emptied gone wiped trashed discarded eliminated";
const MOVE: &str = "moved renamed relocated archived reorganized reorganised";
const RUN: &str = "ran re-ran run executed launched invoked called";
const MAKE: &str = "built compiled installed tested started restarted stopped linted benchmarked profiled released deployed \
    debugged uninstalled upgraded migrated killed rebuilt reran freed rebooted";
const FETCH: &str = "fetched downloaded retrieved requested visited browsed";
const SEND: &str = "sent emailed e-mailed mailed posted published uploaded shared submitted notified messaged forwarded \
    replied tweeted invited scheduled booked paid ordered purchased bought transferred subscribed contacted announced \
    delivered alerted informed reported assigned reserved donated signed registered";
const COMMIT: &str =
    "committed pushed pulled branched tagged staged cloned stashed reverted rebased cherry-picked";
const LOOK: &str = "read looked reviewed inspected examined searched scanned listed found opened analyzed analysed compared \
    counted identified noticed saw explored browsed studied checked";
const VERIFY: &str = "verified confirmed validated ensured double-checked proved proven assured certified";

const LISTS: [(&str, Family); 11] = [
    (LOOK, Family::Look),
    (VERIFY, Family::Verify),
    (WRITE, Family::Write),
    (TRANSFORM, Family::Transform),
    (REMOVE, Family::Remove),
    (MOVE, Family::Move),
    (RUN, Family::Run),
    (MAKE, Family::Make),
    (FETCH, Family::Fetch),
    (SEND, Family::Send),
    (COMMIT, Family::Commit),
];

/// The kind of each word of the lists, of the first list that has it.
static FAMILIES: LazyLock<BTreeMap<&str, Family>> = LazyLock::new(|| {
    let words =
        LISTS.iter().rev().flat_map(|(list, family)| list.split_whitespace().map(|word| (word, *family)));
    words.collect()
});
/// The same by the words' stems.
static STEMS: LazyLock<BTreeMap<String, Family>> = LazyLock::new(|| {
    let words =
        LISTS.iter().rev().flat_map(|(list, family)| list.split_whitespace().map(|word| (word, *family)));
    words.map(|(word, family)| (super::tokens::stem(word), family)).collect()
});

/// The kind of act that a word in the past claims.
pub(super) fn family(raw: &str) -> Option<Family> {
    FAMILIES.get(raw).copied()
}

/// The kind of act that a word names which is not in the past: `change`, `send`.
pub(super) fn family_of_base(raw: &str) -> Option<Family> {
    const IRREGULAR: [(&str, &str); 15] = [
        ("write", "wrote"),
        ("make", "made"),
        ("run", "ran"),
        ("send", "sent"),
        ("build", "built"),
        ("find", "found"),
        ("see", "saw"),
        ("pay", "paid"),
        ("buy", "bought"),
        ("do", "made"),
        ("overwrite", "overwrote"),
        ("rebuild", "rebuilt"),
        ("keep", "kept"),
        ("rerun", "reran"),
        ("split", "split"),
    ];
    let past = IRREGULAR.iter().find(|(base, _)| *base == raw).map(|(_, past)| *past);
    if let Some(past) = past {
        return family(past);
    }
    STEMS.get(&super::tokens::stem(raw)).copied()
}

/// What an act that a word claims is called in the words of programs and tools: `npm install`, `git push`, `send_mail`.
pub(super) fn program_words(raw: &str) -> Vec<String> {
    let irregular: &[&str] = match raw {
        "built" | "rebuilt" | "compiled" => {
            &["build", "compile", "make", "tsc", "cargo", "cc", "gcc", "webpack", "vite"]
        }
        "tested" => TESTS,
        "sent" | "emailed" | "e-mailed" | "mailed" => &["send", "mail", "email", "smtp", "message", "post"],
        "wrote" | "written" | "made" => &["write", "create", "add"],
        "paid" => &["pay", "payment"],
        "bought" => &["buy", "purchase"],
        "ran" | "reran" => &["run"],
        "installed" | "upgraded" => &["install", "add", "upgrade", "update"],
        "created" | "added" | "left" | "saved" => {
            &["create", "add", "comment", "new", "branch", "checkout", "save", "draft", "backup", "insert"]
        }
        "updated" | "changed" | "set" | "edited" => &["update", "set", "edit", "patch", "put"],
        "assigned" => &["assign", "assignee"],
        "filed" => &["file", "create"],
        "deleted" | "removed" => &["delete", "remove", "rm"],
        "backed" => &["backup", "copy"],
        "posted" | "uploaded" | "submitted" | "published" => &["post", "put", "upload", "submit", "publish"],
        _ => &[],
    };
    let mut words: Vec<String> = irregular.iter().map(|word| super::tokens::stem(word)).collect();
    words.push(super::tokens::stem(raw));
    words
}

/// Names of programs that test, and words that ask a program to.
const TESTS: &[&str] = &[
    "test",
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "tox",
    "nox",
    "ctest",
    "rspec",
    "phpunit",
    "nextest",
    "unittest",
    "ava",
    "playwright",
    "cypress",
    "junit",
    "gtest",
    "prove",
    "check",
];

/// Whether the words of a command ask for tests.
pub(super) fn is_test(argv: &[String]) -> bool {
    let runs_targets = argv.first().is_some_and(|program| {
        holds("make gmake ninja npm pnpm yarn bun just meson", program.rsplit('/').next().unwrap_or(program))
    });
    argv.iter().any(|word| {
        word.split(|c: char| !c.is_alphanumeric()).any(|part| {
            let part = part.to_lowercase();
            // `make check` tests, and `ruff check` does not.
            let is_check = part == "check";
            (TESTS.contains(&part.as_str()) && (!is_check || runs_targets)) || part == "tests"
        })
    })
}

/// How the words around a claim turn it.
pub(super) const NEGATIONS: &str = "not no nothing none never without nobody neither cannot n't didn't don't doesn't wasn't \
    weren't isn't aren't couldn't haven't hasn't won't can't unchanged untouched unmodified unaffected intact";

/// Words that say an act was tried in vain.
pub(super) const FAILED: &str =
    "failed fails failing failure couldn't unable impossible refused denied rejected blocked";

/// Words that say that all is well with what ran.
pub(super) const WELL: &str = "pass passes passed passing succeed succeeds succeeded compiles works \
    green";

/// Words between a verb and what it is about that end what it is about.
pub(super) const ENDS_OBJECT: &str = "from with using based by so that because which where for after before like of when while \
    since via per through if who whose until";

/// Nouns that name nothing in particular.
pub(super) const GENERIC: &str = "file files folder folders directory change changes edit edits text content contents it them \
    this these those that everything anything something thing things bug fix issue problem result results both item items \
    entry entries version copy line lines section sections task work request action actions step steps operation \
    modification modifications code following above below there here each every all other others else any some project \
    document documents update new command commands script scripts program programs suite table page pages website \
    site";

/// Verbs in the past, and of no list, by which somebody says what they did.
pub(super) const OTHER: &str =
    "gave told took got went brought chose drew asked spoke rang came held dropped";

/// Verbs by which something is there that was not.
pub(super) const MAKES: &str =
    "added created introduced implemented inserted appended wrote written defined generated";

/// Verbs whose object need not be what was changed: it is what something was made of.
pub(super) const INPUTS: &str = "translated converted summarized summarised extracted combined collected imported copied \
    duplicated split compressed plotted merged";

/// Nouns for what something is called by.
pub(super) const LABELS: &str = "message title name named label output outputs printed source sources";

/// Words that claim more than one look can show.
pub(super) const UNIVERSAL: &str = "all every each everything everyone everybody any always entire entirely completely fully only \
    whole correct correctly";

/// Words with which English is written, and which say nothing by themselves.
pub(super) const FUNCTION: &str = "a about after again all also am an and any are as at be because been before being between both \
    but by can could did do does sources source output printed during each either else ever few for from had has have having he her here hers him \
    his how i if in into is it its itself just let like many may me might more most much must my myself near neither no \
    nor not now of off on once one only onto or other others our ours out over own per please same shall she should since \
    so some still such than that the their theirs them then there these they this those through to too two under until up use uses used well remain remains remained stay stays stayed equals \
    upon us very via was we were what when where whether which while who whom whose why will with within without would yes successful successfully \
    yet you your yours i've i'm i'll i'd we've it's that's there's here's don't didn't";

/// Words that say in what other words stand.
pub(super) const SAYS: &str = "according says said states claims reads lists shows contains has have had reports mentions describes \
    answered answers includes begins starts ends columns";

/// What is set down somewhere `is` so, without anybody having done it just now.
pub(super) const STANDS: &str = "set defined declared implemented configured documented stored";

thread_local! {
    /// The words of each list that was asked for, by where the list lies: the lists are many, and are asked for each word of a text.
    static WORDS: RefCell<BTreeMap<(usize, usize), BTreeSet<&'static str>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Whether a space-parted list of words holds a word.
pub(super) fn holds(list: &'static str, word: &str) -> bool {
    WORDS.with_borrow_mut(|words| {
        let of = words.entry((list.as_ptr().addr(), list.len()));
        of.or_insert_with(|| list.split_whitespace().collect()).contains(word)
    })
}
