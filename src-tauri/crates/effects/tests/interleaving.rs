//! Agent and person at work in the same folder, in any order, with undos between: no byte of the person is lost.
//!
//! `HERMIT_INTERLEAVINGS=10000 cargo test -p hermit-effects interleaving` runs the long size of it.

use crate::support::{World, current, file_bits, receipt, rel, sha};
use acts::{Action, ActionRequest};
use effects::{plan_rollback_keeping, plan_undo};
use model::RelPath;
use model::action::{ChangeItem, Prior};
use model::receipt::{ItemOutcome, Receipt, ResultCode};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

const PLACES: [&str; 5] = ["a.txt", "b.txt", "c.txt", "d.bin", "e.txt"];

#[derive(Debug, Clone)]
enum Step {
    /// The agent changes a line of what it has read.
    AgentLine(usize, usize),
    /// The agent writes bytes that are no text.
    AgentBytes(usize, u8),
    AgentDelete(usize),
    AgentMove(usize, usize),
    AgentMode(usize),
    /// The person puts a line of their own into a file, or makes it.
    PersonLine(usize, usize),
    /// The person writes bytes of their own that are no text.
    PersonBytes(usize),
    PersonDelete(usize),
    PersonMove(usize, usize),
    PersonMode(usize),
    /// An earlier act, counted from the last, is undone, or is refused.
    Undo(usize),
    /// So many of the last acts are undone together; what stands in the way is left and named.
    UndoMany(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let place = || 0..PLACES.len();
    prop_oneof![
        5 => (place(), 0..14usize).prop_map(|(p, l)| Step::AgentLine(p, l)),
        1 => (place(), any::<u8>()).prop_map(|(p, b)| Step::AgentBytes(p, b)),
        1 => place().prop_map(Step::AgentDelete),
        1 => (place(), place()).prop_map(|(a, b)| Step::AgentMove(a, b)),
        1 => place().prop_map(Step::AgentMode),
        5 => (place(), 0..14usize).prop_map(|(p, l)| Step::PersonLine(p, l)),
        1 => place().prop_map(Step::PersonBytes),
        1 => place().prop_map(Step::PersonDelete),
        1 => (place(), place()).prop_map(|(a, b)| Step::PersonMove(a, b)),
        1 => place().prop_map(Step::PersonMode),
        5 => (0..4usize).prop_map(Step::Undo),
        3 => (0..5usize).prop_map(Step::UndoMany),
    ]
}

type Tree = BTreeMap<PathBuf, (String, Vec<u8>)>;

/// An act with its receipt, and what was there before and after it.
struct Done {
    receipt: Receipt,
    at: usize,
    before: Tree,
    after: Tree,
}

/// A folder, what the agent has done in it, and every line the person has written.
struct Play {
    world: World,
    done: Vec<Done>,
    lines: Vec<(Vec<u8>, usize)>,
    merged: usize,
    refused: usize,
    left: usize,
    beside: usize,
}

impl Play {
    fn new() -> Self {
        let world = World::new();
        for (at, name) in PLACES.iter().enumerate().take(4) {
            let text: String = (0..12).map(|line| format!("{name} line {line}\n")).collect();
            if at == 3 { world.put(name, [0u8, 1, 2, 255]) } else { world.put(name, text) }
        }
        Self { world, done: Vec::new(), lines: Vec::new(), merged: 0, refused: 0, left: 0, beside: 0 }
    }

    /// A governed act: earlier bytes are kept, then it is done, then it has its receipt.
    fn act(&mut self, at: usize, action: Action) -> ResultCode {
        let request: ActionRequest = self.world.request(action);
        for image in self.world.executors.before_images(request.items()) {
            let (_, digest, bytes) = image.unwrap();
            assert_eq!(self.world.shelf.put(&bytes), digest);
        }
        let before = self.world.tree();
        let outcome = self.world.perform(&request);
        let receipt = receipt(&self.world, &request, &outcome);
        let after = self.world.tree();
        self.done.push(Done { receipt, at, before, after });
        outcome.result_code
    }

    fn agent(&mut self, at: usize, item: ChangeItem) {
        assert_eq!(self.act(at, Action::Change(acts::Change { items: vec![item] })), ResultCode::Succeeded);
    }

    fn write(&mut self, at: usize, place: usize, bytes: &[u8], mode: Option<u32>) {
        let prior = self.world.get(PLACES[place]).map_or(Prior::Absent, |old| sha(&old));
        let mut item = self.world.write(PLACES[place], bytes, prior);
        if let ChangeItem::Write { mode: to, .. } = &mut item {
            *to = mode;
        }
        self.agent(at, item);
    }

    fn lines_of(&self, place: usize) -> Vec<String> {
        let bytes = self.world.get(PLACES[place]).unwrap_or_default();
        String::from_utf8_lossy(&bytes).split_inclusive('\n').map(str::to_owned).collect()
    }

    fn step(&mut self, at: usize, step: &Step) {
        let path = |place: &usize| self.world.at(PLACES[*place]);
        match step {
            Step::AgentLine(place, line) => {
                let mut lines = self.lines_of(*place);
                match lines.get_mut(*line) {
                    // Not over a line of the person: whoever reads a file keeps what is not theirs.
                    Some(old) if !old.starts_with("mine") => *old = format!("agent {at}\n"),
                    Some(_) => {}
                    None => lines.push(format!("agent {at}\n")),
                }
                self.write(at, *place, lines.concat().as_bytes(), None);
            }
            Step::AgentBytes(place, byte) => self.write(at, *place, &[0, *byte, 0], None),
            Step::AgentMode(place) => {
                if let Some(bytes) = self.world.get(PLACES[*place]) {
                    self.write(at, *place, &bytes, file_bits::seen(0o755));
                }
            }
            Step::AgentDelete(place) => {
                if let Some(old) = self.world.get(PLACES[*place]) {
                    self.agent(at, ChangeItem::Delete { path: rel(PLACES[*place]), prior: sha(&old) });
                }
            }
            Step::AgentMove(from, to) => {
                let (old, there) = (self.world.get(PLACES[*from]), self.world.get(PLACES[*to]));
                if let (Some(old), None) = (old, there) {
                    let (from, to) = (rel(PLACES[*from]), rel(PLACES[*to]));
                    self.agent(at, ChangeItem::Move { from, to, prior: sha(&old) });
                }
            }
            Step::PersonLine(place, line) => {
                let mut lines = self.lines_of(*place);
                let mine = format!("mine {at}\n");
                lines.insert((*line).min(lines.len()), mine.clone());
                self.world.put(PLACES[*place], lines.concat());
                self.lines.push((mine.into_bytes(), at));
            }
            Step::PersonBytes(place) => {
                let mine = format!("\0mine {at}\n").into_bytes();
                self.world.put(PLACES[*place], &mine);
                self.lines.push((mine, at));
            }
            Step::PersonDelete(place) => _ = std::fs::remove_file(path(place)),
            Step::PersonMove(from, to) if !path(to).exists() => _ = std::fs::rename(path(from), path(to)),
            Step::PersonMove(..) => {}
            Step::PersonMode(place) => _ = file_bits::give(&path(place), 0o600),
            Step::Undo(back) => self.undo(at, *back),
            Step::UndoMany(back) => self.undo_many(at, *back),
        }
    }

    fn undo(&mut self, at: usize, back: usize) {
        let Some(which) = self.done.len().checked_sub(back + 1) else { return };
        let before = self.world.tree();
        let of = self.done[which].receipt.clone();
        let seen = current(&self.world, &of);
        let here = self.world.executors.texts(&PLACES.map(rel));
        let read = |sha256: &model::Digest| {
            here.get(sha256).cloned().or_else(|| self.world.shelf.0.lock().unwrap().get(sha256).cloned())
        };
        let Ok(plan) = plan_rollback_keeping(&of, &seen, &read) else {
            self.refused += 1;
            assert!(self.world.tree() == before, "a refusal changes nothing");
            return;
        };
        let alone = plan.merged.is_empty() && self.done[which].after == before;
        self.merged += plan.merged.len();
        plan.merged.iter().for_each(|bytes| _ = self.world.shelf.put(bytes));
        let code = self.act(at, crate::support::undo_of(of.receipt_id, plan.items));
        assert_eq!(code, ResultCode::Succeeded, "what was planned can be done");
        self.nothing_lost(&before, self.done[which].at);
        if alone {
            assert!(self.world.tree() == self.done[which].before, "nobody else wrote: the undo is exact");
        }
    }

    /// What the person wrote after an act, and was there before it was undone, is there still.
    fn nothing_lost(&self, before: &Tree, act: usize) {
        let after = self.world.tree();
        for (mine, written) in self.lines.iter().filter(|(_, written)| *written > act) {
            let here = |tree: &Tree| tree.values().any(|(_, bytes)| contains(bytes, mine));
            let mine = String::from_utf8_lossy(mine);
            assert!(!here(before) || here(&after), "`{mine}` of step {written} was lost by undoing {act}");
        }
    }

    fn undo_many(&mut self, at: usize, back: usize) {
        let Some(oldest) = self.done.len().checked_sub(back + 1) else { return };
        let before = self.world.tree();
        let receipts: Vec<Receipt> = self.done[oldest..].iter().rev().map(|d| d.receipt.clone()).collect();
        let here = self.world.executors.texts(&PLACES.map(rel));
        let read = |sha256: &model::Digest| {
            here.get(sha256).cloned().or_else(|| self.world.shelf.0.lock().unwrap().get(sha256).cloned())
        };
        let look = |path: &RelPath| self.world.executors.observe(&[self.world.file(path)]).remove(0).state;
        let plan = plan_undo(&receipts.iter().collect::<Vec<_>>(), &look, &read);
        assert_eq!(plan.undone.len() + plan.partly.len(), receipts.len());
        assert_eq!(plan.left.is_empty(), plan.partly.is_empty(), "what is left is named: {:?}", plan.left);
        self.left += plan.left.len();
        self.beside += plan.left.iter().filter(|left| left.beside.is_some()).count();
        let in_a_row = self.done[oldest..].windows(2).all(|two| two[0].after == two[1].before)
            && self.done.last().is_some_and(|last| last.after == before);
        let alone = in_a_row && plan.left.is_empty() && plan.merged.is_empty();
        assert!(
            !in_a_row || plan.left.is_empty(),
            "nobody else wrote, so nothing is in the way: {:?}",
            plan.left
        );
        plan.merged.iter().for_each(|bytes| _ = self.world.shelf.put(bytes));
        if !plan.items.is_empty() {
            let whole = plan.left.is_empty();
            let action = crate::support::undo_as_planned(plan);
            let code = self.act(at, action);
            let wanted = if whole { ResultCode::Succeeded } else { ResultCode::Partial };
            assert_eq!(code, wanted, "what was planned can be done");
            assert!(
                self.done
                    .last()
                    .unwrap()
                    .receipt
                    .changes
                    .iter()
                    .all(|change| change.outcome == ItemOutcome::Done || change.before == change.after)
            );
        }
        self.nothing_lost(&before, self.done[oldest].at);
        if alone {
            assert!(self.world.tree() == self.done[oldest].before, "nobody else wrote: the undo is exact");
        }
    }
}

fn contains(bytes: &[u8], mine: &[u8]) -> bool {
    bytes == mine || bytes.split_inclusive(|b| *b == b'\n').any(|found| found == mine)
}

fn cases() -> u32 {
    std::env::var("HERMIT_INTERLEAVINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

#[test]
fn no_human_byte_is_lost_in_any_interleaving_and_undo_of_undo_is_identity() {
    use proptest::test_runner::{Config, TestRunner};
    let (mut undone, mut merged, mut refused, mut left, mut beside) = (0, 0, 0, 0, 0);
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let counts = std::cell::RefCell::new((&mut undone, &mut merged, &mut refused, &mut left, &mut beside));
    let all = runner.run(&prop::collection::vec(step(), 2..16), |steps| {
        let mut play = Play::new();
        steps.iter().enumerate().for_each(|(at, step)| play.step(at, step));
        let mut counts = counts.borrow_mut();
        *counts.0 += play
            .done
            .iter()
            .filter(|d| d.receipt.action_class == model::action::ActionClass::Rollback)
            .count();
        *counts.1 += play.merged;
        *counts.2 += play.refused;
        *counts.3 += play.left;
        *counts.4 += play.beside;
        Ok(())
    });
    all.unwrap();
    println!(
        "{} interleavings: {undone} undone, {merged} of them merged, {refused} refused; {left} places left, of {beside} \
         the earlier version came beside",
        cases()
    );
    // Of a few hundred each happens many times over; a single one is asked for only where that is certain.
    if cases() >= 300 {
        assert!(undone > 0 && merged > 0 && refused > 0 && left > 0 && beside > 0, "each of them happened");
    }
}

#[test]
fn an_undo_goes_around_a_later_edit_and_is_itself_undone() {
    let mut play = Play::new();
    play.step(0, &Step::AgentLine(0, 2));
    play.step(1, &Step::PersonLine(0, 9));
    let edited = play.world.tree();
    play.step(2, &Step::Undo(0));
    assert_eq!(play.merged, 1);
    let text = String::from_utf8(play.world.get("a.txt").unwrap()).unwrap();
    assert!(
        text.contains("mine 1") && text.contains("a.txt line 2\n") && !text.contains("agent 0"),
        "{text}"
    );
    play.step(3, &Step::Undo(0));
    assert!(play.world.tree() == edited, "undo of undo, where nobody wrote in between, is exact");
}

#[test]
fn an_undo_that_would_lose_an_edit_of_the_same_lines_is_refused_and_names_the_file() {
    let mut play = Play::new();
    play.step(0, &Step::AgentLine(0, 2));
    let text = String::from_utf8(play.world.get("a.txt").unwrap()).unwrap();
    play.world.put("a.txt", text.replace("agent 0", "agent 0, and mine"));
    let of = play.done[0].receipt.clone();
    let seen = current(&play.world, &of);
    let here = play.world.executors.texts(&[rel("a.txt")]);
    let read = |sha256: &model::Digest| {
        here.get(sha256).cloned().or_else(|| play.world.shelf.0.lock().unwrap().get(sha256).cloned())
    };
    let conflict = plan_rollback_keeping(&of, &seen, &read).unwrap_err();
    assert!(conflict.items[0].resource.ends_with("a.txt"), "{conflict:?}");
    assert!(conflict.items[0].why.contains("the same lines"), "{conflict:?}");
}
