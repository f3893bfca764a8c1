//! The bell of a terminal when a person is waited for.

use crate::bench::Bench;

#[test]
fn the_bell_rings_when_a_person_is_waited_for_and_not_where_it_is_off() {
    let rung = |config: Option<&str>| {
        let bench = Bench::new();
        if let Some(config) = config {
            std::fs::write(bench.home().join("config.json"), config).unwrap();
        }
        let folder = bench.folder();
        let mut terminal =
            bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
        terminal.expect("Approve?").send("later\r");
        let (code, shown) = terminal.end();
        assert_eq!(code, 4, "{shown}");
        shown.matches('\u{7}').count()
    };
    assert_eq!(rung(None), 1);
    assert_eq!(rung(Some(r#"{"bell": false}"#)), 0);
    // Nobody hears it where nobody is.
    let bench = Bench::new();
    let folder = bench.folder();
    let ran = bench.run(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]).ends_with(4);
    assert!(!ran.out.contains('\u{7}') && !ran.err.contains('\u{7}'));
}
