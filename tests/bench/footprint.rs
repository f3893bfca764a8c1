//! How much memory a long task needs, in a process of its own: `--task-events N` of a store on disk.

use crate::Asked;
use crate::board::Board;
use crate::proofs::shared::world::flat::Flat;
use proof::{Options, Trust, export_to, verify};
use seal::Signer as _;
use std::path::Path;
use std::process::Command;

/// Peak of resident memory so far, in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1_024.0 / 1e6
}

/// What the process of its own does: one half each, so that each has a peak of its own.
pub fn only(arguments: &[String]) {
    let [_, half, events, folder] = arguments else { panic!("--footprint-only HALF EVENTS FOLDER") };
    let (folder, events) = (Path::new(folder), events.parse().expect("a number"));
    let path = folder.join("bundle");
    let begin = std::time::Instant::now();
    let files = if half == "export" {
        let store = Flat::new(folder, 200, events);
        let made = peak();
        println!("{made:.0} MB with the store made, after {:.0} s", begin.elapsed().as_secs_f64());
        std::fs::write(folder.join("log.pem"), store.world.keys.log.public().to_pem()).expect("a key");
        export_to(&store, store.signers(), store.world.task, &Options::default(), &path)
            .expect("exported")
            .files
    } else {
        let key = std::fs::read_to_string(folder.join("log.pem")).expect("a key");
        let report = verify(&path, &[Trust::parse(&key).expect("a key")]).expect("it can be read");
        assert_eq!((report.exit_code(), report.counts.events), (0, events), "{report}");
        report.counts.files
    };
    println!("{files} files in {:.0} s", begin.elapsed().as_secs_f64());
    println!("peak {:.1}", peak());
}

pub fn run(asked: &Asked, board: &Board) {
    let folder = tempfile::tempdir().expect("a folder");
    for half in ["export", "verify"] {
        let own = std::env::current_exe().expect("this program");
        let words = ["--footprint-only", half, &asked.task_events.to_string()];
        let output = Command::new(own).args(words).arg(folder.path()).output().expect("started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let peak = said.lines().find_map(|line| line.strip_prefix("peak ")?.parse().ok()).unwrap_or(f64::NAN);
        let detail =
            format!("{} events; {}", asked.task_events, said.lines().rev().nth(1).unwrap_or_default());
        board.at_most(&format!("memory of {half}, MB"), peak, 256.0, &detail);
    }
}
