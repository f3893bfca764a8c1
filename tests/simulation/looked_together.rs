//! Reads of files beside each other, told by the system itself: which files were open at the same time.

use model::proposal::Answer;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;
use serde_json::json;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use testkit::{World, done, say};

/// Files that one answer looks at.
const FILES: usize = 12;
/// Lines of each: reading them takes longer than beginning to read all others.
const LINES: usize = 40_000;
/// How often as many as may be are waited for: a busy machine may begin one late.
const TRIES: usize = 5;

/// Hears which files of a folder are opened and closed, in this order.
struct Watch(OwnedFd);

impl Watch {
    fn of(folder: &Path) -> Self {
        let heard = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("the system tells of files");
        add_watch(&heard, folder, WatchFlags::OPEN | WatchFlags::CLOSE).expect("a folder");
        Self(heard)
    }

    /// How many were opened since this was asked last, and how many of them were open together at most.
    fn told(&self) -> (usize, usize) {
        let mut buffer = [MaybeUninit::uninit(); 4_096];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let (mut all, mut open, mut most) = (BTreeSet::new(), BTreeSet::new(), 0);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return (all.len(), most),
                Err(error) => panic!("what was heard cannot be read: {error}"),
            };
            assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW), "something was not heard");
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            let Some(name) = name.filter(|name| name.starts_with("long")) else { continue };
            if event.events().contains(ReadFlags::OPEN) {
                all.insert(name.clone());
                open.insert(name);
                most = most.max(open.len());
            } else {
                open.remove(&name);
            }
        }
    }
}

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
        let watch = Watch::of(world.folder.path());
        for tool in ["read", "search"] {
            let together = |turn: usize| {
                let task = world.script(&format!("{tool} {turn}"), vec![each(tool), done("looked")]);
                watch.told();
                world.drive(task);
                let (opened, most) = watch.told();
                assert_eq!(opened, FILES, "{tool}: each is looked at");
                assert!(most <= limit, "{tool}: {most} were open together, and {limit} may be");
                most
            };
            assert!((0..TRIES).any(|turn| together(turn) == limit), "{tool}: never {limit} together");
        }
    }
}
