//! A staged view of a large folder, beside a raw walk of it and a copy that shares bytes where the disk can.

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use crate::rules::support::{World, shell};
use effects::Sandbox;
use std::path::Path;
use std::process::Command;

/// Files of the folder, and how many stand in each folder of it.
const FILES: usize = 50_000;
const IN_ONE: usize = 100;
const TIMES: usize = 9;

pub fn run(_: &Asked, board: &Board) {
    let Some(exec) = program("hermit-exec") else {
        return board.figure("staging of a large folder", "`hermit-exec` is not built");
    };
    let walls = Sandbox::probe(&exec);
    let world = World::with(walls);
    for number in 0..FILES {
        let folder = world.root.join(format!("part-{:04}", number / IN_ONE));
        if number % IN_ONE == 0 {
            std::fs::create_dir_all(&folder).expect("a folder");
        }
        std::fs::write(folder.join(format!("file-{number:05}.txt")), format!("file {number}\n"))
            .expect("a file");
    }
    let count = entries(&world.root);
    let mut walks: Vec<_> = (0..TIMES).map(|_| timed(|| entries(&world.root)).0).collect();
    let walk = at(&mut walks, 0.5);
    board.figure(&format!("raw walk of {count} entries, with their metadata"), &ms(walk));
    let copy = world.store.join("copy");
    let (took, done) = timed(|| {
        Command::new("cp").args(["-a", "--reflink=auto"]).arg(&world.root).arg(&copy).status().expect("cp")
    });
    board.figure("`cp -a --reflink=auto` of it, once", &format!("{} ({done})", ms(took.as_secs_f64())));
    let _ = std::fs::remove_dir_all(&copy);
    let kinds = [
        ("true", "a staged command that changes nothing, ms"),
        (
            "echo changed > part-0250/file-25000.txt; rm -r part-0100",
            "one that changes and deletes 101 files, ms",
        ),
    ];
    for (script, name) in kinds {
        let (mut whole, mut method) = (Vec::new(), String::new());
        for _ in 0..TIMES {
            let request = world.request(shell(script));
            let (took, staging) =
                timed(|| world.executors.stage(request.attempt_id, &request.action, &|| false, &mut |_| {}));
            let staged = staging.expect("it can be staged").staged;
            method = staged.notes.first().cloned().unwrap_or_default();
            world.executors.unstage(request.attempt_id).expect("it is forgotten");
            whole.push(took);
        }
        board.at_most(name, at(&mut whole, 0.5) * 1_000.0, 100.0, &method);
    }
}

fn entries(folder: &Path) -> usize {
    let within = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => 1 + entries(&entry.path()),
        _ => 1,
    };
    std::fs::read_dir(folder).map_or(0, |all| all.flatten().map(within).sum())
}
