//! Limits of the process and all that come from it.

use crate::Error;
use crate::walls::Walls;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files open at once in one process.
const OPEN_FILES: u64 = 4096;

pub(crate) fn set(walls: &Walls) -> Result<(), Error> {
    // The data limit counts private writable memory, not address space: runtimes reserve far more than they fill.
    let asked = [
        ("the limit of memory", Resource::Data, walls.memory),
        ("the limit of processes", Resource::Nproc, walls.processes),
        ("the limit of file size", Resource::Fsize, walls.file_size),
        ("the limit of processor time", Resource::Cpu, walls.cpu),
        ("the limit of open files", Resource::Nofile, Some(OPEN_FILES)),
        ("the limit of core files", Resource::Core, Some(0)),
    ];
    for (wall, resource, limit) in asked {
        let Some(limit) = limit else { continue };
        // A limit that stands already is never raised.
        let now = getrlimit(resource);
        let limit = now.maximum.map_or(limit, |most| most.min(limit));
        let new = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, new).map_err(|e| Error::wall(wall, e))?;
    }
    // When the machine runs out of memory after all, the command goes first. Not every system lets us say so.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}
