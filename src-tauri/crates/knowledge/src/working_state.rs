//! Task-local execution state: schema-governed, bounded, compactable (HK-15.2).

use crate::Error;
use model::knowledge::WorkingState;
use model::limits::{WORKING_STATE_BYTES_MAX, WORKING_STATE_ITEM_BYTES_MAX, WORKING_STATE_ITEMS_MAX};
use serde_json::Value;

fn wrong(why: impl Into<String>) -> Error {
    Error::WorkingState { why: why.into() }
}

/// Reads a working state; a field the schema does not know is refused, then the bounds are checked.
///
/// # Errors
/// [`Error::WorkingState`].
pub fn parse(value: Value) -> Result<WorkingState, Error> {
    let state =
        serde_json::from_value(value).map_err(|e| wrong(format!("does not follow its schema: {e}")))?;
    check(&state)?;
    Ok(state)
}

/// The canonical size in bytes, when every bound holds.
///
/// # Errors
/// [`Error::WorkingState`] that names the list and the bound.
pub fn check(state: &WorkingState) -> Result<u64, Error> {
    for (name, list) in lists(state) {
        if list.len() > WORKING_STATE_ITEMS_MAX {
            return Err(wrong(format!(
                "holds {} items in `{name}`, {WORKING_STATE_ITEMS_MAX} are allowed; fold some into one",
                list.len()
            )));
        }
        if let Some(item) = list.iter().find(|i| i.len() > WORKING_STATE_ITEM_BYTES_MAX) {
            return Err(wrong(format!(
                "holds an item of {} bytes in `{name}`, {WORKING_STATE_ITEM_BYTES_MAX} are allowed; shorten it",
                item.len()
            )));
        }
    }
    if let Some(plan) = state.plan.as_ref().filter(|p| p.len() > WORKING_STATE_ITEM_BYTES_MAX) {
        return Err(wrong(format!(
            "holds a plan of {} bytes, {WORKING_STATE_ITEM_BYTES_MAX} are allowed; shorten it",
            plan.len()
        )));
    }
    let bytes = bytes_of(state)?;
    if bytes > WORKING_STATE_BYTES_MAX {
        return Err(wrong(format!(
            "has {bytes} bytes, {WORKING_STATE_BYTES_MAX} are allowed; drop what is done"
        )));
    }
    Ok(bytes as u64)
}

/// The state after a note: a list of the note that holds anything takes the place of the old one, so that nothing
/// grows by itself; a list of blank items empties it; an empty list leaves it as it was. The result is compacted.
///
/// # Errors
/// [`Error::WorkingState`] when the note itself breaks a bound that compaction does not mend.
pub fn merge(old: &WorkingState, note: &WorkingState) -> Result<WorkingState, Error> {
    let pick = |old: &[String], new: &[String]| if new.is_empty() { old.to_vec() } else { new.to_vec() };
    let merged = WorkingState {
        objectives: pick(&old.objectives, &note.objectives),
        constraints: pick(&old.constraints, &note.constraints),
        plan: note.plan.clone().or_else(|| old.plan.clone()),
        pending_questions: pick(&old.pending_questions, &note.pending_questions),
        resource_handles: pick(&old.resource_handles, &note.resource_handles),
        expected_outputs: pick(&old.expected_outputs, &note.expected_outputs),
        uncertainties: pick(&old.uncertainties, &note.uncertainties),
    };
    let (compacted, _) = compact(merged)?;
    check(&compacted)?;
    Ok(compacted)
}

/// Trims, drops blanks and repeats, and then drops the oldest items until every bound on numbers holds: handles
/// first, objectives last, constraints never. Returns how many items went.
///
/// # Errors
/// [`Error::WorkingState`] when it has no canonical form.
pub fn compact(mut state: WorkingState) -> Result<(WorkingState, u32), Error> {
    let before = count(&state);
    tidy(&mut state.constraints, usize::MAX);
    for list in droppable(&mut state) {
        tidy(list, WORKING_STATE_ITEMS_MAX);
    }
    state.plan = state.plan.map(|p| p.trim().to_owned()).filter(|p| !p.is_empty());
    let mut over = bytes_of(&state)?.saturating_sub(WORKING_STATE_BYTES_MAX);
    for list in droppable(&mut state) {
        let mut gone = 0;
        while let Some(item) = list.get(gone).filter(|_| over > 0) {
            // Its text, two quotes and a comma: at least what its canonical form takes away.
            over = over.saturating_sub(item.len() + 2);
            gone += 1;
        }
        list.drain(..gone);
    }
    let dropped = before.saturating_sub(count(&state));
    Ok((state, u32::try_from(dropped).unwrap_or(u32::MAX)))
}

/// The lists that may lose items, the first to lose first.
fn droppable(state: &mut WorkingState) -> [&mut Vec<String>; 5] {
    [
        &mut state.resource_handles,
        &mut state.uncertainties,
        &mut state.pending_questions,
        &mut state.expected_outputs,
        &mut state.objectives,
    ]
}

/// The newest mention of a repeated item stays; beyond `max` the oldest items go.
fn tidy(list: &mut Vec<String>, max: usize) {
    let mut kept: Vec<String> = Vec::with_capacity(list.len());
    for item in list.iter().rev() {
        let item = item.trim();
        if !item.is_empty() && kept.len() < max && !kept.iter().any(|k| k == item) {
            kept.push(item.to_owned());
        }
    }
    kept.reverse();
    *list = kept;
}

/// Every list with its name, in the order a pack shows them.
pub(crate) fn lists(state: &WorkingState) -> [(&'static str, &[String]); 6] {
    [
        ("objectives", &state.objectives),
        ("constraints", &state.constraints),
        ("pending_questions", &state.pending_questions),
        ("expected_outputs", &state.expected_outputs),
        ("uncertainties", &state.uncertainties),
        ("resource_handles", &state.resource_handles),
    ]
}

fn count(state: &WorkingState) -> usize {
    lists(state).iter().map(|(_, list)| list.len()).sum()
}

fn bytes_of(state: &WorkingState) -> Result<usize, Error> {
    let bytes = seal::canon::to_canonical(state);
    bytes.map(|b| b.len()).map_err(|e| wrong(format!("has no canonical form: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn words(n: usize, len: usize) -> Vec<String> {
        (0..n).map(|i| format!("{i:0len$}")).collect()
    }

    #[conforms::conforms("HK-15.2-2")]
    #[test]
    fn a_field_outside_the_schema_is_refused() {
        assert!(parse(json!({"objectives": ["one"], "plan": "p"})).is_ok());
        let error = parse(json!({"transcript": ["hello"]})).expect_err("there is no such field");
        assert!(error.to_string().contains("transcript"), "{error}");
    }

    #[test]
    fn every_bound_is_held() {
        let many = WorkingState { objectives: words(WORKING_STATE_ITEMS_MAX + 1, 4), ..Default::default() };
        let long =
            WorkingState { uncertainties: words(1, WORKING_STATE_ITEM_BYTES_MAX + 1), ..Default::default() };
        let plan = Some("p".repeat(WORKING_STATE_ITEM_BYTES_MAX + 1));
        let plan = WorkingState { plan, ..Default::default() };
        let large = WorkingState { objectives: words(WORKING_STATE_ITEMS_MAX, 1000), ..Default::default() };
        for (state, says) in [(many, "items"), (long, "an item"), (plan, "a plan"), (large, "bytes")] {
            let error = check(&state).expect_err(says);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn a_note_replaces_what_it_names_and_leaves_the_rest() {
        let old = WorkingState {
            objectives: vec!["read".into(), "write".into()],
            constraints: vec!["no network".into()],
            pending_questions: vec!["which folder?".into()],
            ..Default::default()
        };
        let note = WorkingState {
            objectives: vec!["write".into(), " write ".into()],
            pending_questions: vec![" ".into()],
            plan: Some("write it".into()),
            ..Default::default()
        };
        let new = merge(&old, &note).expect("within bounds");
        assert_eq!(new.objectives, ["write"]);
        assert_eq!(new.constraints, ["no network"]);
        assert_eq!(new.pending_questions, Vec::<String>::new());
        assert_eq!(new.plan.as_deref(), Some("write it"));
    }

    #[test]
    fn compaction_drops_the_oldest_handles_first_and_no_constraint() {
        let state = WorkingState {
            constraints: words(20, 500),
            resource_handles: words(30, 600),
            objectives: words(20, 300),
            ..Default::default()
        };
        let (compacted, dropped) = compact(state.clone()).expect("it can be hashed");
        assert!(check(&compacted).is_ok());
        assert!(dropped > 0);
        assert_eq!(compacted.constraints, state.constraints);
        assert_eq!(compacted.objectives, state.objectives);
        assert_eq!(compacted.resource_handles.last(), state.resource_handles.last());
    }

    proptest! {
        #[conforms::conforms(part = "HK-15.2-3")]
        #[test]
        fn notes_without_end_never_make_it_grow_without_bound(
            notes in prop::collection::vec(prop::collection::vec((0..900_usize, "[a-z]{1,4}"), 0..80), 1..8)
        ) {
            let mut state = WorkingState::default();
            for note in notes {
                let note: Vec<String> = note.into_iter().map(|(n, word)| word.repeat(n / 4)).collect();
                let note = WorkingState {
                    objectives: note.clone(), uncertainties: note.clone(), resource_handles: note,
                    ..Default::default()
                };
                state = merge(&state, &note).expect("compaction mends it");
                prop_assert!(check(&state).is_ok());
            }
        }
    }
}
