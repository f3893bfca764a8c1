//! A model of this machine puts a summary in fewer words while nothing is at work: it leaves out, and what it makes up is refused
//! (memory.md 3).

use crate::compacting::{FACT, GOAL, approval, made, reading, small, summary, world, write};
use crate::story::{completed, count, object, packs, shows, state};
use crate::told::{WORDS, Wire};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::context::{ContextSummary, SummaryLine, SummaryLineKind};
use model::fault::Point;
use model::proposal::Answer;
use model::{ApprovalId, TaskId};
use reasoning::{Address, ModelServer};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::{Edge, Mode, World};

/// The fact in fewer words.
const SHORT: &str = "The staging port is 8443.";

/// A task that waits for a person, with a summary in its context.
struct Waiting {
    world: World,
    wire: Arc<Wire>,
    task: TaskId,
    at: ApprovalId,
    first: (ArtifactRef, ContextSummary),
}

fn waiting(seed: u64) -> Waiting {
    let world = world(seed);
    let after = vec![write("out.txt", "8443\n"), ("done", json!({ "summary": "8443" }))];
    let (wire, task) = reading(&world, 12, after);
    let at = approval(world.drive(task));
    made(&world, task);
    let first = summary(&world, task).unwrap();
    Waiting { world, wire, task, at, first }
}

impl Waiting {
    /// The line that quotes the fact: its number, and the line.
    fn fact(&self) -> (usize, &SummaryLine) {
        let mut lines = (1..).zip(&self.first.1.lines);
        lines.find(|(_, line)| line.text.contains(FACT)).expect("the fact is quoted")
    }

    /// An answer that leaves words out of that line, and one line that is made up.
    fn honest_and_not(&self) -> String {
        let (number, line) = self.fact();
        let short = line.text.replace(FACT, SHORT);
        format!("Here are the lines:\n[{number}] {short}\n[{}] The production port is 9999.\n", number + 1)
    }

    fn retell(&self) -> Option<kernel::command::compact::Made> {
        self.world.kernel().retell(self.task, &|| true).unwrap()
    }

    fn compacted(&self) -> usize {
        count(self.world.kernel(), self.task, "attempt.context_compacted")
    }

    /// The task goes on and ends; the text of its last context's summary.
    fn ends(&self) -> String {
        self.world.person.allow(self.world.kernel(), self.task, self.at).unwrap();
        assert_eq!(self.world.drive(self.task), completed());
        let last = packs(self.world.kernel(), self.task).pop().unwrap();
        let own = last.items.iter().find(|item| item.title.starts_with("Summary of turns")).unwrap();
        own.text.clone()
    }
}

#[conforms::conforms(part = "HV-3.2-4")]
#[test]
fn what_a_model_leaves_of_a_summary_is_checked_named_and_stands_in_the_next_context() {
    let w = waiting(4_401);
    w.wire.says_next(WORDS, json!(w.honest_and_not()));
    let asked = w.wire.sent().len();
    let came = w.retell().expect("one line of it is good");
    let (at, second) = summary(&w.world, w.task).unwrap();
    assert_eq!((&came.summary, came.through), (&at, w.first.1.through));
    // It was asked about what was said, seen and quoted, and for no tool.
    let sent = w.wire.sent();
    assert_eq!(sent.len(), asked + 1);
    assert!(sent[asked].contains(FACT) && !sent[asked].contains("\"tools\""), "{}", sent[asked]);
    // One line in the place of the one that it cites, for its events; nothing that was made up, and all else as it was.
    let (_, quote) = w.fact();
    let short: Vec<&SummaryLine> =
        second.lines.iter().filter(|line| line.kind == SummaryLineKind::Retold).collect();
    let [short] = &short[..] else { panic!("one line: {second:?}") };
    assert_eq!((&short.events, short.iteration, short.artifact_id), (&quote.events, 1, quote.artifact_id));
    assert!(short.text.ends_with(SHORT), "{short:?}");
    assert!(!second.lines.iter().any(|line| line.text.contains("9999") || line.text.contains(FACT)));
    let others = |of: &ContextSummary| -> Vec<SummaryLine> {
        let rest = |line: &&SummaryLine| line.kind != SummaryLineKind::Retold && !line.text.contains(FACT);
        of.lines.iter().filter(rest).cloned().collect()
    };
    assert_eq!(others(&w.first.1), others(&second));
    // It says who did it and what all of the answer was, goes on from the one before, and is trusted as that one is.
    let retold = second.retold.as_ref().expect("it names its model");
    assert_eq!(retold.model, "m");
    let now = state(&w.world, w.task);
    let answer: Answer = object(w.world.kernel(), &now, retold.answer.artifact_id);
    assert!(answer.text.contains("9999"), "what was refused is on record: {answer:?}");
    assert_eq!(second.before.as_ref(), Some(&w.first.0));
    assert_eq!(second.trust_tier, w.first.1.trust_tier);
    let artifact = &now.artifacts[&at.artifact_id];
    assert_eq!(
        (artifact.kind, &artifact.inputs),
        (ArtifactKind::ContextSummary, &vec![w.first.0.artifact_id])
    );
    assert_eq!((second.through_seq, second.results), (w.first.1.through_seq, w.first.1.results));
    let told = w.ends();
    assert!(told.contains(SHORT) && !told.contains(FACT) && !told.contains("9999"), "{told}");
    assert_eq!(w.compacted(), 2);
}

#[test]
fn a_summary_by_a_model_that_invents_cites_nothing_or_does_not_answer_changes_nothing() {
    let w = waiting(4_402);
    let (number, line) = w.fact();
    let turned = format!("[{number}] {}", line.text.replace("is 8443", "is not 8443"));
    let other = format!("[{number}] {}", line.text.replace("8443", "9999"));
    for said in [SHORT, "", "[0] x", "[1, 2, 3] All is well.", &turned, &other, "{\"tool\": \"done\"}"] {
        w.wire.says_next(WORDS, json!(said));
        assert_eq!(w.retell(), None, "{said}");
    }
    w.wire.refuse(500, json!({ "error": "busy" }));
    assert_eq!(w.retell(), None);
    let now = summary(&w.world, w.task).unwrap();
    assert_eq!((now, w.compacted()), (w.first.clone(), 1));
    let told = w.ends();
    assert!(told.contains(FACT), "nothing is lost: {told}");
}

#[test]
fn no_model_of_another_machine_is_asked_and_none_while_something_is_at_work() {
    let w = waiting(4_403);
    let asked = w.wire.sent().len();
    assert_eq!(w.world.kernel().retell(w.task, &|| false).unwrap(), None);
    let far: Address = "openai:https://models.example/v1#m".parse().unwrap();
    let far = ModelServer::new(&far, small(), Arc::clone(&w.wire) as _).unwrap();
    let near: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let near = ModelServer::new(&near, small(), Arc::clone(&w.wire) as _).unwrap();
    w.world.reasoners.put(GOAL, Arc::new(far));
    assert_eq!(w.retell(), None);
    assert_eq!(w.wire.sent().len(), asked, "nobody was asked anything");
    w.world.reasoners.put(GOAL, Arc::new(near));
    // What begins while it answers is not waited for by it: its answer counts for nothing.
    let begun = Arc::new(AtomicBool::new(false));
    let then = Arc::clone(&begun);
    w.wire.before_each(move || then.store(true, Ordering::SeqCst));
    w.wire.says_next(WORDS, json!(w.honest_and_not()));
    let came = w.world.kernel().retell(w.task, &|| !begun.load(Ordering::SeqCst)).unwrap();
    assert_eq!((came, w.wire.sent().len(), w.compacted()), (None, asked + 1, 1));
    w.world.kernel().halt("stop").unwrap();
    assert_eq!((w.retell(), w.wire.sent().len()), (None, asked + 1), "and none while all is stopped");
}

#[test]
fn a_host_that_dies_while_it_keeps_the_words_of_a_model_has_kept_them_once_or_not_at_all() {
    for (edge, there) in [(Edge::Before, 1), (Edge::After, 2)] {
        let mut w = waiting(4_404);
        w.wire.says_next(WORDS, json!(w.honest_and_not()));
        w.world.faults.plan(Point::KnowledgeChange, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| w.world.kernel().retell(w.task, &|| true)));
        assert!(w.world.faults.fired(), "{died:?}");
        w.world.faults.clear();
        w.world.reopen();
        assert_eq!(w.compacted(), there, "{edge:?}");
        if there == 1 {
            w.wire.says_next(WORDS, json!(w.honest_and_not()));
            assert!(w.retell().is_some());
        }
        assert_eq!(w.compacted(), 2);
        assert!(w.ends().contains(SHORT), "{edge:?}");
        assert!(shows(&packs(w.world.kernel(), w.task).pop().unwrap(), SHORT));
    }
}
