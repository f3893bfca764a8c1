//! What goes wrong says what it is and what to do.

use crate::bench::{Bench, program};
use std::process::Command;

#[test]
fn without_bubblewrap_the_doctor_says_what_that_costs() {
    let bench = Bench::new();
    let script = "for at in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do \
                  [ ! -e $at ] || mount --bind /dev/null $at || exit 77; done; exec \"$0\" doctor --json";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(program());
    let ran = bench.finish_in(command);
    if ran.code == 77 || ran.err.contains("unshare failed") {
        return conforms::skip("this machine mounts nothing for us, so bubblewrap is not hidden");
    }
    let facts = ran.json();
    let sandbox = facts["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == "sandbox").unwrap();
    assert_eq!(sandbox["level"], "note", "{sandbox}");
    if sandbox["value"].as_str().unwrap().starts_with("in part, without namespaces") {
        assert!(
            sandbox["value"].as_str().unwrap().contains("refused: write outside, read outside"),
            "{sandbox}"
        );
        for cost in
            ["tried in a copy", "asked about", "gets the network", "unix socket", "permissions and times"]
        {
            assert!(sandbox["advice"].as_str().unwrap().contains(cost), "{cost}: {sandbox}");
        }
    } else {
        // Without Landlock too, nothing runs.
        assert!(sandbox["advice"].as_str().unwrap().contains("commands are refused here"), "{sandbox}");
    }
    assert!(sandbox["advice"].as_str().unwrap().contains("install `bubblewrap`"), "{sandbox}");
}
