//! Whether an adapter is better: the exact next act, a valid schema and perplexity on held-out examples, before and
//! after, beside the most frequent answer (HV-3.8).

use crate::example::{Example, Split};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Held-out examples below which nothing is offered.
pub const HELD_OUT_MIN: u32 = 5;

/// Fields that name an act, the first that is there.
const NAMED_BY: [&str; 5] = ["tool", "name", "action", "act", "type"];

/// What was measured of one model on the held-out examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measures {
    /// Examples.
    pub examples: u32,
    /// Share of answers that are the next act, exactly.
    pub next_act_exact: f64,
    /// Share of answers that are JSON with the fields of an act, of the examples where one is asked for.
    pub schema_valid: f64,
    /// Perplexity of the true answers.
    pub perplexity: f64,
}

/// The answer that is most frequent among those that are learned from, given to everything: what a model that learned
/// nothing of the questions would reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// That answer.
    pub answer: String,
    /// Share of the held-out examples where it is the next act.
    pub next_act_exact: f64,
}

/// What follows from the measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Whether the adapter may be offered.
    pub offered: bool,
    /// Why, or why not.
    pub words: String,
}

/// Judges an adapter beside its base and beside the most frequent answer.
#[must_use]
pub fn judge(before: &Measures, after: &Measures, baseline: &Baseline) -> Verdict {
    let no = |words: String| Verdict { offered: false, words };
    let numbers = [before, after].map(|one| [one.next_act_exact, one.schema_valid, one.perplexity]);
    if before.examples != after.examples || after.examples < HELD_OUT_MIN {
        return no(format!(
            "it was measured on {} examples, and at least {HELD_OUT_MIN}, the same before and after, are needed",
            after.examples
        ));
    }
    if numbers.iter().flatten().chain([&baseline.next_act_exact]).any(|number| !number.is_finite()) {
        return no("a measure is no number".to_owned());
    }
    let higher = [
        ("exact next acts", before.next_act_exact, after.next_act_exact),
        ("answers with a valid schema", before.schema_valid, after.schema_valid),
    ];
    for (what, was, is) in higher {
        if is < was {
            return no(format!(
                "it has fewer {what}: {:.1} of a hundred, before {:.1}",
                is * 100.0,
                was * 100.0
            ));
        }
    }
    if after.perplexity > before.perplexity {
        return no(format!(
            "true answers are less likely to it: perplexity {:.3}, before {:.3}",
            after.perplexity, before.perplexity
        ));
    }
    if after.next_act_exact <= baseline.next_act_exact {
        return no(format!(
            "always giving the most frequent answer does as well: {:.1} of a hundred exact next acts, it has {:.1}",
            baseline.next_act_exact * 100.0,
            after.next_act_exact * 100.0
        ));
    }
    if higher.iter().all(|(_, was, is)| is == was) && after.perplexity >= before.perplexity {
        return no("it does no better than its base".to_owned());
    }
    let words = format!(
        "{:.1} of a hundred exact next acts, before {:.1}; perplexity {:.3}, before {:.3}",
        after.next_act_exact * 100.0,
        before.next_act_exact * 100.0,
        after.perplexity,
        before.perplexity
    );
    Verdict { offered: true, words }
}

/// The most frequent answer of what is learned from, measured on what is held out; of several the first in order.
#[must_use]
pub fn majority(examples: &[Example]) -> Baseline {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for example in examples.iter().filter(|example| example.split == Split::Train) {
        *times.entry(example.answer.as_str()).or_default() += 1;
    }
    let most = times.iter().rev().max_by_key(|(_, number)| **number).map_or("", |(answer, _)| *answer);
    let held: Vec<&Example> = examples.iter().filter(|example| example.split == Split::HeldOut).collect();
    let exact = held.iter().filter(|example| is_same_act(&example.answer, most)).count();
    Baseline { answer: most.to_owned(), next_act_exact: share(exact, held.len()) }
}

/// Whether an answer is the wanted act: the same JSON where both are JSON, else the same words.
#[must_use]
pub fn is_same_act(wanted: &str, said: &str) -> bool {
    match (serde_json::from_str::<Value>(wanted), serde_json::from_str::<Value>(said)) {
        (Ok(wanted), Ok(said)) => wanted == said,
        _ => wanted.trim() == said.trim(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of examples are small")]
fn share(some: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { some as f64 / all as f64 }
}

/// The forms of acts, as the answers that are learned from show them: for each act the fields that all of them have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shapes(BTreeMap<String, BTreeSet<String>>);

impl Shapes {
    /// The forms among what is learned from.
    #[must_use]
    pub fn of(examples: &[Example]) -> Self {
        let mut shapes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for example in examples.iter().filter(|example| example.split == Split::Train) {
            if let Some((act, fields)) = form(&example.answer) {
                let common = shapes.get(&act).map(|known| known & &fields).unwrap_or(fields);
                shapes.insert(act, common);
            }
        }
        Self(shapes)
    }

    /// Whether an act is asked for with this answer, so that its form can be measured.
    #[must_use]
    pub fn asks(answer: &str) -> bool {
        form(answer).is_some()
    }

    /// Whether an answer is an act that is known, with all its fields.
    #[must_use]
    pub fn is_valid(&self, said: &str) -> bool {
        form(said)
            .is_some_and(|(act, fields)| self.0.get(&act).is_some_and(|wanted| wanted.is_subset(&fields)))
    }
}

/// The name of an act and its fields, those of an object within it as `outer.inner`.
fn form(text: &str) -> Option<(String, BTreeSet<String>)> {
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(text) else { return None };
    let named = NAMED_BY.iter().find_map(|field| object.get(*field)?.as_str()).unwrap_or_default().to_owned();
    let mut fields = BTreeSet::new();
    for (field, value) in &object {
        fields.insert(field.clone());
        if let Value::Object(inner) = value {
            fields.extend(inner.keys().map(|name| format!("{field}.{name}")));
        }
    }
    Some((named, fields))
}

/// Measures that are gathered example by example.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    examples: usize,
    exact: usize,
    acts: usize,
    valid: usize,
    loss: f64,
    tokens: usize,
}

impl Tally {
    /// Takes one held-out example: its true answer, what the model said, and the loss of the true answer with the
    /// number of its tokens.
    pub fn take(&mut self, shapes: &Shapes, wanted: &str, said: &str, loss: f64, tokens: usize) {
        self.examples += 1;
        self.exact += usize::from(is_same_act(wanted, said));
        if Shapes::asks(wanted) {
            self.acts += 1;
            self.valid += usize::from(shapes.is_valid(said));
        }
        self.loss += loss;
        self.tokens += tokens;
    }

    /// What was measured.
    #[must_use]
    pub fn measures(&self) -> Measures {
        Measures {
            examples: u32::try_from(self.examples).unwrap_or(u32::MAX),
            next_act_exact: share(self.exact, self.examples),
            schema_valid: share(self.valid, self.acts),
            perplexity: perplexity(self.loss, self.tokens),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens are small")]
fn perplexity(loss: f64, tokens: usize) -> f64 {
    // A number of JSON, however bad it is.
    if tokens == 0 { f64::MAX } else { (loss / tokens as f64).exp().min(f64::MAX) }
}
