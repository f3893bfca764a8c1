//! Changes of the source that race are built one at a time: side by side each would use up the time of the others.

use super::as_typed::{HONEST, PASSES, Source, is_refused, tried_sources, worked};
use super::has_walls;
use serde_json::Value;

/// When a change began to be built and ended to be tested, in nanoseconds: it tells both by the name of a test that fails.
fn window(one: &Value) -> (u128, u128) {
    is_refused(one);
    let failed = one["verdict"]["tests"]["failed"][0].as_str().unwrap_or_else(|| panic!("{one}"));
    let mut numbers = failed.split('_').filter_map(|word| word.parse().ok());
    let (Some(began), Some(ended)) = (numbers.next(), numbers.next()) else { panic!("{failed}") };
    (began, ended)
}

#[test]
fn changes_of_the_source_that_race_are_built_one_after_the_other_and_none_on_another() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let build =
        "[ ! -f \"$CARGO_TARGET_DIR/began\" ] || exit 1\ndate +%s%N > \"$CARGO_TARGET_DIR/began\"\nsleep 1";
    let suite = format!(
        "{PASSES}\necho \"test from_$(cat \"$CARGO_TARGET_DIR/began\")_to_$(date +%s%N) ... FAILED\"\nexit 1"
    );
    let each = Source { build, suite: &suite, program: Some("exit 0"), ..HONEST };
    let mut windows: Vec<(u128, u128)> =
        tried_sources(&stage, &task, &[each, each, each]).iter().map(window).collect();
    windows.sort_unstable();
    for pair in windows.windows(2) {
        assert!(pair[0].1 < pair[1].0, "two were built at once: {windows:?}");
    }
    stage.is_sound();
}
