//! Reads of files beside each other, told by the system itself: which files were open at the same time.

use model::proposal::Answer;
use serde_json::json;
use testkit::{OpenFiles, World, done, say};

/// Files that one answer looks at.
const FILES: usize = 12;
/// Lines of each: reading them takes longer than beginning to read all others.
const LINES: usize = 40_000;
/// How often as many as may be are waited for: a busy machine may begin one late.
const TRIES: usize = 60;

/// One answer with a call of a tool for each file.
fn each(tool: &str) -> Answer {
    let of = |n: usize| {
        let path = format!("long{n:02}.txt");
        let arguments = match tool {
            "read" => json!({ "path": path, "from": 1, "to": 1 }),
            _ => json!({ "path": path, "pattern": "is not there" }),
        };
        say(tool, arguments).calls
    };
    Answer { calls: (0..FILES).flat_map(of).collect(), ..done("looked") }
}

#[conforms::conforms("HV-3.2-2")]
#[test]
fn files_that_one_answer_reads_or_searches_are_open_together_up_to_the_limit() {
    assert_eq!(model::limits::PARALLEL_READS, 10);
    // Ten unless a person says another number.
    for (seed, limit) in [(1_651, None), (1_652, Some(3)), (1_653, Some(1))] {
        let mut world = World::new(seed);
        if let Some(limit) = limit {
            world.parallel_reads = limit;
            world.reopen();
        }
        let limit = limit.unwrap_or(10);
        let text = "one line of many, and all of them are the same\n".repeat(LINES);
        for n in 0..FILES {
            world.file(&format!("long{n:02}.txt"), &text);
        }
        let files = OpenFiles::of(world.folder.path());
        for tool in ["read", "search"] {
            let together = |turn: usize| {
                let task = world.script(&format!("{tool} {turn}"), vec![each(tool), done("looked")]);
                files.told("long");
                world.drive(task);
                let Some((opened, most)) = files.told("long") else { return limit };
                assert_eq!(opened, FILES, "{tool}: each is looked at");
                assert!(most <= limit, "{tool}: {most} were open together, and {limit} may be");
                most
            };
            assert!((0..TRIES).any(|turn| together(turn) == limit), "{tool}: never {limit} together");
        }
    }
}
