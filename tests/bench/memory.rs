//! How memory is found, beside plain BM25 and plain vectors on the same corpus; how long a pack of a large project takes; and
//! whether a loop is slower while its context is summed up beside it.

use crate::Asked;
use crate::board::{Board, at, ms, timed};
use crate::conversations;
use crate::grown;
use crate::journeys::summary::{Server, parts, served};
use kernel::command::submit::{Reasoning, Submission};
use kernel::ports::{Embedder, Unembedded};
use ledger::Batch;
use model::artifact::TrustTier;
use model::body::MemoryPromoted;
use model::context::{ContextPack, FoundBy, Section};
use model::fault::Point;
use model::knowledge::{
    InvalidationPolicy, MemoryAssertion, MemoryRecord, MemoryRetention, MemoryStatus, MemoryType,
};
use model::{Body, Clock as _, Digest, MemoryId, PrincipalId, TaskId, WorkspaceId};
use reasoning::embedding::EmbeddingModel;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::{Embedding, World, done, look};

/// What is remembered, and the questions.
const CORPUS: &str = include_str!("data/memory.txt");
/// The same of other matters, by which nothing was ever chosen.
const HELD_OUT: &str = include_str!("data/held_out.txt");
/// By which the long conversations are made.
const SEED: u64 = 20_261_128;
/// Two words that begin with so many equal letters are one.
const STEM: usize = 5;
/// Places that count.
const FIRST: usize = 5;
/// Goals by which a pack of the large project is timed.
const GOALS: usize = 20;
/// Files that the long task looks at, and bytes of each.
const LOOKS: usize = 60;
const LOOK_BYTES: usize = 6_000;

pub fn run(asked: &Asked, board: &Board) {
    let server = embeddings();
    let address = server.as_ref().map(|(address, _)| address.as_str());
    retrieval("", CORPUS, address, board);
    retrieval("held out: ", HELD_OUT, address, board);
    let long: &'static str = Box::leak(conversations::made(SEED).into_boxed_str());
    retrieval("long conversations: ", long, address, board);
    drop(server);
    large(asked.memories, board);
    compaction(board);
}

/// How many of the questions were answered: of all, and of those that share no word with their answer.
#[derive(Clone, Copy)]
struct Shares {
    all: f64,
    unlike: f64,
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} ({:.3} of the questions without a word of their answer)", self.all, self.unlike)
    }
}

/// What projects remember: name of the project and claim; and questions with the place of their answer.
struct Corpus {
    claims: Vec<(&'static str, &'static str)>,
    questions: Vec<(&'static str, usize)>,
}

impl Corpus {
    fn read(text: &'static str) -> Self {
        let (mut project, mut claims, mut questions) = ("", Vec::new(), Vec::new());
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("#", name)) if !name.contains(' ') => project = name,
                Some(("-", claim)) => claims.push((project, claim)),
                Some(("?", question)) => questions.push((question, claims.len() - 1)),
                _ => {}
            }
        }
        Self { claims, questions }
    }

    fn told(&self) -> String {
        let projects = self.claims.iter().map(|(project, _)| *project).collect::<BTreeSet<_>>().len();
        let unlike = self.questions.iter().filter(|(question, answer)| self.is_unlike(question, *answer));
        format!(
            "{} records of {projects} projects, {} questions, {} of them without a word of their answer",
            self.claims.len(),
            self.questions.len(),
            unlike.count()
        )
    }

    /// The share of questions whose answer is among the first of what is found.
    fn recall(&self, find: &mut dyn FnMut(&str, &str) -> Vec<usize>) -> Shares {
        let mut answered: [Vec<bool>; 2] = Default::default();
        for (question, answer) in &self.questions {
            let found = find(question, self.claims[*answer].0);
            let is_found = found.iter().take(FIRST).any(|found| found == answer);
            answered[usize::from(self.is_unlike(question, *answer))].push(is_found);
        }
        let share = |of: &[bool]| of.iter().filter(|found| **found).count() as f64 / of.len().max(1) as f64;
        Shares { all: share(&answered.concat()), unlike: share(&answered[1]) }
    }

    /// Whether a question has no word that its answer has.
    fn is_unlike(&self, question: &str, answer: usize) -> bool {
        let stems = |text: &str| -> BTreeSet<String> {
            let words = knowledge::relevance::every_word(text);
            words.map(|word| word.chars().take(STEM).collect()).collect()
        };
        stems(question).is_disjoint(&stems(self.claims[answer].1))
    }
}

/// A model at a server, as the host asks it.
struct AtServer(EmbeddingModel, host::Outbound, AtomicBool);

impl Embedder for AtServer {
    fn named(&self) -> Option<String> {
        self.2.load(Ordering::SeqCst).then(|| self.0.address())
    }

    fn embed(
        &self,
        _: &str,
        texts: &[&str],
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, Unembedded> {
        // What is found is measured, and not how busy this machine is.
        self.0
            .embed(&self.1, texts, patience.max(Duration::from_secs(120)), goes_on)
            .map_err(|error| Unembedded::Failed(error.to_string()))
    }
}

/// An embedding model that was named, or that lies in the parts: its address, and its server.
fn embeddings() -> Option<(String, Option<Server>)> {
    if let Ok(address) = std::env::var("HERMIT_EMBEDDINGS_URL") {
        return Some((address, None));
    }
    let (port, server) = served(&parts()?.join("all-minilm-l6-v2.gguf"), 0, true)?;
    Some((format!("openai:http://127.0.0.1:{port}/v1#minilm"), Some(server)))
}

/// A store that remembers a corpus: the folder of each project, and the place of each record by its identifier.
struct Filled {
    world: World,
    places: BTreeMap<&'static str, WorkspaceId>,
    ids: BTreeMap<String, usize>,
}

impl Filled {
    /// The first pack of a task of this project, and which of the corpus it holds, in its order.
    fn asked(&self, question: &str, project: &str) -> (ContextPack, Vec<usize>) {
        let pack = pack(&self.world, self.places[project], question);
        let memory = pack.items.iter().filter(|item| item.section == Section::Memory);
        let held = memory.filter_map(|item| self.ids.get(&item.source).copied()).collect();
        (pack, held)
    }
}

/// What four ways find of the same records, side by side.
fn retrieval(which: &str, text: &'static str, address: Option<&str>, board: &Board) {
    let corpus = Corpus::read(text);
    let figure = |what: &str, seen: &str| board.figure(&format!("{which}{what}"), seen);
    figure("corpus", &corpus.told());
    let model = address.map(|address| {
        let egress = host::Outbound::new(
            &host::Config::default(),
            Arc::default(),
            host::secrets::SecretBook::default(),
        );
        Arc::new(AtServer(EmbeddingModel::at(address).expect("an address"), egress, AtomicBool::new(false)))
    });
    let mut world = World::bare(77);
    if let Some(model) = &model {
        world.embedder = Arc::clone(model) as _;
    }
    world.take_up().expect("it opens");
    world.register_keys().expect("keys");
    let (places, ids) = filled(&mut world, &corpus);
    let filled = Filled { world, places, ids };
    let plain = plain_recall(&corpus);
    figure("recall@5 of plain BM25", &plain.to_string());
    let words = corpus.recall(&mut |question, project| filled.asked(question, project).1);
    figure("recall@5 of Hermit, words alone (a word such as `the` finds nothing)", &words.to_string());
    let Some(model) = model else {
        return figure(
            "recall@5 with meaning",
            "no model: `cargo xtask parts minilm`, or set HERMIT_EMBEDDINGS_URL",
        );
    };
    let nearest = vectors(&corpus, &model);
    let meaning = corpus.recall(&mut |q, p| nearest(q, p));
    figure("recall@5 of plain vectors", &meaning.to_string());
    model.2.store(true, Ordering::SeqCst);
    let (took, made) = timed(|| filled.world.kernel().make_vectors(usize::MAX, &|| true).expect("made"));
    figure("vectors made of the corpus", &format!("{} in {took:.1?}", made.made));
    both(which, (&corpus, &filled), &nearest, meaning.all.max(plain.all), board);
}

/// What words and meaning find together, at least as much as the better of the two alone.
fn both(
    which: &str,
    (corpus, filled): (&Corpus, &Filled),
    nearest: &dyn Fn(&str, &str) -> Vec<usize>,
    alone: f64,
    board: &Board,
) {
    let (mut by, mut found, mut by_words) = (BTreeMap::<FoundBy, u32>::new(), 0, 0);
    let (mut fullest, mut missed) = ((0_u32, 0_u32), Vec::new());
    let fused = corpus.recall(&mut |question, project| {
        let (pack, ours) = filled.asked(question, project);
        pack.items.iter().filter_map(|item| item.found_by).for_each(|one| *by.entry(one).or_default() += 1);
        by_words += u32::from(pack.meaning.as_ref().is_none_or(|meaning| meaning.words_alone.is_some()));
        found += 1;
        fullest = fullest.max((pack.tokens, pack.tokens_max));
        let mut asked = corpus.questions.iter().filter(|(asked, _)| *asked == question);
        let answer = asked.find(|(_, answer)| corpus.claims[*answer].0 == project).map(|(_, answer)| *answer);
        let is_in = |all: &[usize]| all.iter().take(FIRST).any(|at| Some(*at) == answer);
        if !is_in(&ours) && is_in(&nearest(question, project)) {
            missed.push(question.to_owned());
        }
        ours
    });
    let by: Vec<String> =
        by.iter().map(|(by, times)| format!("{by} {:.1}", f64::from(*times) / f64::from(found))).collect();
    let detail = format!("of a pack: {}; {by_words} packs by words alone", by.join(", "));
    board.at_least(&format!("{which}recall@5 of Hermit, words and meaning"), fused.all, alone, &detail);
    let figure = |what: &str, seen: &str| board.figure(&format!("{which}{what}"), seen);
    figure("recall@5 of Hermit, words and meaning, by kind", &fused.to_string());
    let (fullest, most) = (f64::from(fullest.0), f64::from(fullest.1));
    board.at_most(&format!("{which}tokens of the fullest pack"), fullest, most, "of what a pack may hold");
    figure("found by plain vectors and not by Hermit", &format!("{}: {missed:?}", missed.len()));
}

fn plain_recall(corpus: &Corpus) -> Shares {
    let plain = bm25(corpus);
    corpus.recall(&mut |question, project| plain(question, project))
}

/// SQLite's own BM25 over the same claims, asked for every word of the question.
fn bm25(corpus: &Corpus) -> impl Fn(&str, &str) -> Vec<usize> {
    let conn = Connection::open_in_memory().expect("a database");
    conn.execute_batch("CREATE VIRTUAL TABLE s USING fts5 (text, project, tokenize = 'porter unicode61 remove_diacritics 2')")
        .expect("made");
    for (at, (project, claim)) in corpus.claims.iter().enumerate() {
        conn.execute("INSERT INTO s (rowid, text, project) VALUES (?1, ?2, ?3)", (at as i64, claim, project))
            .expect("kept");
    }
    move |question, project| {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| format!("text:\"{word}\"")).collect();
        let mut found = conn
            .prepare_cached(
                "SELECT rowid FROM s WHERE s MATCH ?1 AND project = ?2 ORDER BY bm25(s), rowid LIMIT 5",
            )
            .expect("asked");
        let rows = found.query_map((words.join(" OR "), project), |row| row.get::<_, i64>(0)).expect("found");
        rows.map(|at| at.expect("a row") as usize).collect()
    }
}

/// The nearest by the cosine of the model's own numbers.
fn vectors(corpus: &Corpus, model: &AtServer) -> impl Fn(&str, &str) -> Vec<usize> {
    let unit = |texts: Vec<&str>| -> Vec<Vec<f32>> {
        let parts = texts.chunks(32).flat_map(|part| {
            model.embed("", part, Duration::from_secs(60), &|| true).expect("the model answers")
        });
        let unit = parts.map(|vector| {
            let length = vector.iter().map(|n| n * n).sum::<f32>().sqrt();
            vector.iter().map(|n| n / length).collect()
        });
        unit.collect()
    };
    let claims = unit(corpus.claims.iter().map(|(_, claim)| *claim).collect());
    let asked = unit(corpus.questions.iter().map(|(question, _)| *question).collect());
    let questions: BTreeMap<String, Vec<f32>> =
        corpus.questions.iter().map(|(question, _)| (*question).to_owned()).zip(asked).collect();
    let projects: Vec<&str> = corpus.claims.iter().map(|(project, _)| *project).collect();
    move |question, project| {
        let asked = &questions[question];
        let cosine = |at: &usize| claims[*at].iter().zip(asked).map(|(a, b)| a * b).sum::<f32>();
        let mut near: Vec<usize> = (0..claims.len()).filter(|at| projects[*at] == project).collect();
        near.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
        near
    }
}

/// Puts the corpus into the world's store: the folder of each project, and the place of each record by its identifier.
fn filled(
    world: &mut World,
    corpus: &Corpus,
) -> (BTreeMap<&'static str, WorkspaceId>, BTreeMap<String, usize>) {
    let mut places = BTreeMap::new();
    for (project, _) in &corpus.claims {
        places.entry(*project).or_insert_with(|| {
            let folder = world.path(project);
            std::fs::create_dir_all(&folder).expect("a folder");
            world.kernel().workspace(&folder.canonicalize().expect("there")).expect("known")
        });
    }
    let known = world.kernel().store_state().projects;
    let records = corpus.claims.iter().map(|(project, claim)| record(claim, known[&places[project]].0));
    let records: Vec<MemoryRecord> = records.collect();
    let ids = records.iter().enumerate().map(|(at, record)| (record.memory_id.to_string(), at)).collect();
    remember(world, records);
    (places, ids)
}

fn record(claim: &str, project: Digest) -> MemoryRecord {
    let moment = grown::Now.now().plus_ms(i64::try_from(MADE.fetch_add(1, Ordering::Relaxed)).expect("few"));
    MemoryRecord {
        memory_id: MemoryId::fresh(&grown::Now, &grown::IDS),
        promoted_by_task_id: TaskId::fresh(&grown::Now, &grown::IDS),
        promoted_by: PrincipalId::fresh(&grown::Now, &grown::IDS),
        claim: claim.to_owned().into(),
        scope: "project".to_owned().into(),
        evidence_refs: Vec::new(),
        trust_tier: TrustTier::UserAsserted,
        promotion_reason: "a person said so".to_owned().into(),
        status: MemoryStatus::Active,
        created_at: moment,
        promoted_from_belief_id: None,
        invalidated_at: None,
        supersedes: None,
        project_hash: Some(project),
        structured_assertion: Some(MemoryAssertion { memory_type: MemoryType::Decision }),
        retention_class: Some(MemoryRetention::Kept),
        invalidation_policy: Some(InvalidationPolicy::Correction),
        expires_at: None,
    }
}

static MADE: AtomicU64 = AtomicU64::new(0);

/// Appends records as a task promoted them.
fn remember(world: &mut World, records: Vec<MemoryRecord>) {
    world.crash();
    let writer = grown::writer(world.store.path(), true);
    let task = grown::task();
    let mut records = records.into_iter().peekable();
    while records.peek().is_some() {
        let drafts = records.by_ref().take(2_000).map(|record| {
            let mut draft = grown::draft(task, false);
            draft.body = MemoryPromoted { record }.into();
            draft
        });
        writer
            .commit(Batch { drafts: drafts.collect(), ..Batch::new(Point::KnowledgeChange) })
            .expect("committed");
    }
    drop(writer);
    world.reopen();
}

static ASKED: AtomicU64 = AtomicU64::new(0);

/// The first pack of a task with this goal.
fn pack(world: &World, workspace_id: WorkspaceId, goal: &str) -> ContextPack {
    let kernel = world.kernel();
    let name = format!("{goal} {}", ASKED.fetch_add(1, Ordering::Relaxed));
    world.reasoners.script(&name, vec![done("ok")]);
    let submission =
        Submission { workspace_id, ..world.submission(&name, Reasoning::Scripted { name: name.clone() }) };
    let submission = Submission { goal: goal.to_owned(), ..submission };
    let task = kernel.submit(&submission).expect("submitted").task_id;
    world.drive(task);
    let state = kernel.task(task).expect("there");
    let compiled = kernel.reader().events(task, 0, 1_000).expect("read").into_iter().find_map(|stored| {
        let event = stored.event().expect("an event");
        match kernel.reader().revealing(|shown| event.body(shown)).expect("read").expect("a body") {
            Body::ContextCompiled(compiled) => Some(compiled.pack.artifact_id),
            _ => None,
        }
    });
    let digest = state.digest_of(compiled.expect("a context")).expect("known");
    serde_json::from_slice(&kernel.artifacts().read(&digest).expect("kept")).expect("a pack")
}

/// A pack from a project of many memories.
fn large(memories: u64, board: &Board) {
    let corpus = Corpus::read(CORPUS);
    let words: Vec<&str> = corpus.claims.iter().flat_map(|(_, claim)| claim.split_whitespace()).collect();
    let claim = |n: u64| -> String {
        let word = |k: u64| words[((n * 7_919 + k * 104_729 + n * n % 977) % words.len() as u64) as usize];
        (0..12).map(word).collect::<Vec<_>>().join(" ")
    };
    let embedding = Arc::new(Embedding::of(&[]));
    *embedding.named.lock().expect("nobody panicked") = None;
    let mut world = World::bare(78);
    world.embedder = Arc::clone(&embedding) as _;
    world.take_up().expect("it opens");
    world.register_keys().expect("keys");
    let folder = world.folder.path().canonicalize().expect("there");
    let workspace = world.kernel().workspace(&folder).expect("known");
    let empty = median(|goal| drop(pack(&world, workspace, goal)), &corpus);
    let project = world.kernel().store_state().projects[&workspace].0;
    let (took, ()) =
        timed(|| remember(&mut world, (0..memories).map(|n| record(&claim(n), project)).collect()));
    board.figure("memories of one project", &format!("{memories}, written in {took:.1?}"));
    let conn = Connection::open_in_memory().expect("a database");
    conn.execute_batch(
        "CREATE VIRTUAL TABLE s USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2'); BEGIN",
    )
    .expect("made");
    for n in 0..memories {
        conn.execute("INSERT INTO s (text) VALUES (?1)", [claim(n)]).expect("kept");
    }
    conn.execute_batch("COMMIT").expect("kept");
    let raw = median(
        |goal| {
            let words = knowledge::relevance::words(&[goal]);
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let text = "SELECT rowid FROM s WHERE s MATCH ?1 ORDER BY bm25(s), rowid LIMIT 64";
            let mut found = conn.prepare_cached(text).expect("asked");
            let rows = found.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0)).expect("found");
            assert!(rows.count() <= 64);
        },
        &corpus,
    );
    let by_words = median(|goal| drop(pack(&world, workspace, goal)), &corpus);
    *embedding.named.lock().expect("nobody panicked") = Some("openai:http://127.0.0.1:9/v1#mini".to_owned());
    let (took, made) = timed(|| world.kernel().make_vectors(usize::MAX, &|| true).expect("made"));
    board.figure(
        "vectors made of them, the model's own time left out",
        &format!("{} in {took:.1?}", made.made),
    );
    let fused = median(|goal| drop(pack(&world, workspace, goal)), &corpus);
    board.figure("a task of one turn, without memory", &ms(empty));
    board.figure("raw FTS5 query of its goal", &ms(raw));
    board.figure("a task of one turn, memory by words", &ms(by_words));
    board.figure("a task of one turn, memory by words and meaning", &ms(fused));
}

fn median(mut run: impl FnMut(&str), corpus: &Corpus) -> f64 {
    let step = (corpus.questions.len() / GOALS).max(1);
    let goals = corpus.questions.iter().step_by(step);
    let mut times: Vec<Duration> = goals.map(|(goal, _)| timed(|| run(goal)).0).collect();
    at(&mut times, 0.5)
}

/// The same long task, alone and with its context summed up beside it again and again.
fn compaction(board: &Board) {
    let alone = long_task(false);
    let beside = long_task(true);
    let said =
        |(seconds, made): (f64, u64)| format!("{seconds:.2} s for {LOOKS} turns, {made} summaries made");
    board.figure("a long task, its context never summed up", &said(alone));
    board.figure("the same, summed up beside it all the time", &said(beside));
}

fn long_task(compacts: bool) -> (f64, u64) {
    let world = World::new(79);
    let looks: Vec<_> = (0..LOOKS)
        .map(|n| {
            let name = format!("part{n}.txt");
            world.file(&name, &format!("line {n} of what is looked at\n").repeat(LOOK_BYTES / 30));
            look(&name)
        })
        .chain([done("read")])
        .collect();
    let task = world.script("read everything", looks);
    let (over, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut seconds = 0.0;
    std::thread::scope(|scope| {
        if compacts {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let came = world.kernel().compact(task, true).expect("compacted");
                    made.fetch_add(u64::from(came.is_some()), Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        let began = Instant::now();
        world.drive(task);
        seconds = began.elapsed().as_secs_f64();
        over.store(true, Ordering::SeqCst);
    });
    (seconds, made.load(Ordering::SeqCst))
}
