//! Memory that no process of a clone shows as its own is bounded in sum as well: what would keep it cannot be made, or is counted.

use super::{AMPLE, has_walls, sandbox};
use ::successor::Budget;
use conforms::conforms;
use host::successor::{CloneEnd, CloneProgram, run_confined};
use std::path::Path;
use std::process::Command;
use words::successor::BudgetPart;

const PYTHON: &str = "/usr/bin/python3";

/// Where there is nothing to try it with, the test is skipped by that name.
fn has_python() -> bool {
    let is_there = Path::new(PYTHON).exists();
    if !is_there {
        conforms::skip("no Python here: python3 has to be installed");
    }
    is_there
}

/// A clone that is this script.
fn runs(script: &str, budget: &Budget) -> CloneEnd {
    let python = Path::new(PYTHON).canonicalize().expect("a program");
    let clone = CloneProgram::of(&python, &["-c", script]);
    run_confined(&sandbox(), &clone, Vec::new(), budget, &|| false).expect("it runs in a sandbox")
}

/// Says what of these it could make.
const MAKES: &str = "
import ctypes, mmap, os, socket
system = ctypes.CDLL(None, use_errno=True)
def made(name, number):
    if number >= 0:
        print(name)
try:
    mmap.mmap(-1, 4096)
    print('shared pages')
except OSError:
    pass
try:
    made('a file of memory', os.memfd_create('x'))
except OSError:
    pass
made('a segment', system.shmget(0, 4096, 0o1600))
made('a queue', system.msgget(0, 0o1600))
made('semaphores', system.semget(0, 1, 0o1600))
try:
    socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    print('a larger socket')
except OSError:
    pass
if os.path.exists('/dev/zero'):
    print('pages of zeros')
print('the end')
";

#[conforms(part = "HV-5-5")]
#[test]
fn memory_that_belongs_to_no_process_cannot_be_made() {
    if !has_walls() || !has_python() {
        return;
    }
    let end = runs(MAKES, &AMPLE);
    assert!(end.is_whole(), "{end:?}");
    assert_eq!(String::from_utf8_lossy(&end.evidence), "the end\n");
    // Without the sandbox each of them can be made: a test that tries nothing would be noticed.
    let outside = Command::new(PYTHON).args(["-c", MAKES]).output().expect("it runs");
    let made = String::from_utf8_lossy(&outside.stdout).into_owned();
    assert!(made.contains("shared pages") && made.contains("a file of memory"), "{made}");
}

/// The budget of memory of these tests; what a process of theirs shows as its own stays far below.
const MEMORY: Budget = Budget { memory_bytes: 192 << 20, wall_ms: 240_000, ..AMPLE };

#[conforms(part = "HV-5-5")]
#[test]
fn what_is_kept_outside_of_every_process_counts_in_sum() {
    if !has_walls() || !has_python() {
        return;
    }
    // Full pairs of sockets; full pipes of many processes, none of which has much; tables of pages that hold nothing.
    let sockets = "
import socket, time
kept = []
for _ in range(1200):
    pair = socket.socketpair()
    pair[0].setblocking(False)
    try:
        while True:
            pair[0].send(b'x' * 65536)
    except BlockingIOError:
        pass
    kept.append(pair)
time.sleep(600)
";
    let pipes = "
import os, time
for _ in range(8):
    if os.fork() == 0:
        for _ in range(1900):
            there = os.pipe()[1]
            os.set_blocking(there, False)
            os.write(there, b'x' * 4096)
        time.sleep(600)
        os._exit(0)
time.sleep(600)
";
    let tables = "
import mmap, time
pages = mmap.mmap(-1, 192 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
for at in range(0, 192 << 30, 2 << 20):
    pages[at]
time.sleep(600)
";
    for script in [sockets, pipes, tables] {
        let end = runs(script, &MEMORY);
        assert_eq!(end.used.ended_for, Some(BudgetPart::Memory), "{script}: {end:?}");
    }
    // Files without a byte fill a home of memory by their names.
    let names = "
import os, time
for at in range(20000):
    open(os.path.join(os.environ['HOME'], 'x' * 200 + str(at)), 'w').close()
time.sleep(600)
";
    let end = runs(names, &Budget { disk_bytes: 8 << 20, wall_ms: 240_000, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Disk), "{end:?}");
    // Who does the same a little is not ended for it.
    let little = sockets.replace("1200", "12").replace("time.sleep(600)", "print('done')");
    let end = runs(&little, &MEMORY);
    assert!(end.is_whole() && end.evidence == b"done\n", "{end:?}");
}
