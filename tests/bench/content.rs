//! Keeping and reading large content as chunks, beside writing and reading the same bytes as one file.

use crate::Asked;
use crate::board::{Board, at, ms, timed};
use artifacts::{Mode, NoInline, Store, Sweep};
use model::fault::NoFaults;
use model::{Digest, UnixMs};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of the content, and how often it is kept.
const BYTES: usize = 64 * 1024 * 1024;
const TIMES: u8 = 5;

#[derive(Default)]
struct Times {
    raw_write: Vec<Duration>,
    kept: Vec<Duration>,
    changed: Vec<Duration>,
    same: Vec<Duration>,
    raw_read: Vec<Duration>,
    read: Vec<Duration>,
    added: Vec<u64>,
}

pub fn run(_: &Asked, board: &Board) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut times = Times::default();
    for round in 0..TIMES {
        once(dir.path(), round, &mut times);
    }
    let pair = |what: &str, mine: &mut Vec<Duration>, raw: &mut Vec<Duration>, beside: &str| {
        let (mine, raw) = (at(mine, 0.5), at(raw, 0.5));
        let figure = format!("{}, {:.1} times {beside} ({})", ms(mine), mine / raw.max(1e-9), ms(raw));
        board.figure(what, &figure);
    };
    let (mut write, mut read) = (times.raw_write, times.raw_read);
    pair("64 MiB kept as chunks", &mut times.kept, &mut write, "a raw write with sync and SHA-256");
    pair("the same with one byte changed", &mut times.changed, &mut write, "that");
    pair("the same again", &mut times.same, &mut write, "that");
    pair("64 MiB read and compared", &mut times.read, &mut read, "a raw read with SHA-256");
    times.added.sort_unstable();
    let middle = times.added.get(times.added.len() / 2).copied().unwrap_or(0);
    board.figure("room that one changed byte takes", &format!("{} KiB of 65,536", middle / 1024));
}

fn once(dir: &Path, round: u8, times: &mut Times) {
    let store = Store::open(dir, Arc::new(NoInline), Arc::new(NoFaults)).expect("a store");
    let mut bytes = noise(u64::from(round) + 1);
    let raw = dir.join("raw");
    let write = || {
        let mut file = fs::File::create(&raw).expect("a file");
        file.write_all(&bytes).expect("written");
        file.sync_all().expect("synced");
        Digest::of(&bytes)
    };
    times.raw_write.push(timed(write).0);
    times.kept.push(timed(|| store.put(&bytes).expect("kept")).0);
    let before = store.weigh().expect("weighed").bytes;
    bytes[BYTES / 2] ^= 1;
    let (took, put) = timed(|| store.put(&bytes).expect("kept"));
    times.changed.push(took);
    times.added.push(store.weigh().expect("weighed").bytes - before);
    times.same.push(timed(|| store.put(&bytes).expect("kept")).0);
    times.raw_read.push(timed(|| Digest::of(&fs::read(&raw).expect("read"))).0);
    let stream = || std::io::copy(&mut store.content(&put.digest()).expect("there"), &mut std::io::sink());
    times.read.push(timed(|| stream().expect("whole")).0);
    drop(store);
    // The next round finds nothing of this one.
    let store = Store::open(dir, Arc::new(NoInline), Arc::new(NoFaults)).expect("a store");
    let sweep = Sweep { mode: Mode::Remove, now: UnixMs(0), spare_since: None };
    store.collect(&BTreeSet::new(), sweep).expect("collected");
}

/// Bytes that repeat nothing.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = vec![0; BYTES];
    for piece in bytes.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        piece.copy_from_slice(&state.to_le_bytes());
    }
    bytes
}
