//! Anchors by the program: nothing is set by itself.

use crate::bench::Bench;

#[test]
fn with_nothing_set_nobody_is_asked_and_the_way_is_told() {
    let bench = Bench::new();
    let none = bench.run(&["anchor", "now"]).ends_with(2);
    assert!(none.err.contains("hermit anchor clocks set"), "{}", none.err);
    let status = bench.run(&["anchor", "status", "--json"]).ends_with(0).json();
    assert_eq!(status["anchors"].as_array().unwrap().len(), 0);
    let clocks = bench.run(&["anchor", "clocks", "--json"]).ends_with(0).json();
    assert_eq!(
        (clocks["calendars"].to_string(), clocks["depth"].to_string()),
        ("[]".to_owned(), "6".to_owned())
    );
    bench.run(&["anchor", "show", "1"]).ends_with(1);
    let wrong = bench.run(&["anchor", "clocks", "set", "--calendar", "calendar"]).ends_with(2);
    assert!(wrong.err.contains("calendar"), "{}", wrong.err);
}
