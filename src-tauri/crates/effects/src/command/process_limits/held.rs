//! Memory that the system keeps for a family of processes and that none of them shows as its own: what lies in pipes, and what lies
//! in pairs of sockets.
//!
//! Nobody tells how much lies there. It is counted as the most that can: an upper bound of few bytes for whoever has few files open.

use std::collections::BTreeSet;
use std::fs;

/// What a pipe may hold once its user has as much in pipes as the system lets one have: two pages.
const PIPE_BYTES: u64 = 2 * 4096;
/// How much more than its bound, which nobody inside can raise, a socket takes: the last piece goes beyond it, and each piece takes
/// more than its bytes. Measured is less than two and a half times.
const SOCKET_TIMES: u64 = 3;
/// The bound of a socket where the system does not tell it.
const SOCKET_BYTES: u64 = 212_992;

/// The most bytes that these processes can have in pipes and sockets. `inside` is one that stands in their network.
pub(super) fn bytes(pids: &BTreeSet<u32>, inside: Option<u32>) -> u64 {
    let open = pids.iter().map(|pid| open_files(*pid)).fold(0, u64::saturating_add);
    let sockets = inside.map_or(0, sockets);
    let bound = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    let bound = bound.and_then(|text| text.trim().parse().ok()).unwrap_or(SOCKET_BYTES);
    let in_sockets = sockets.saturating_mul(bound).saturating_mul(SOCKET_TIMES);
    open.saturating_mul(PIPE_BYTES).saturating_add(in_sockets)
}

/// Files that a process has open. Each of its threads may have files of its own, so they are counted with each.
fn open_files(pid: u32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    threads.flatten().map(|thread| files_below(&thread.path().join("fd"))).fold(0, u64::saturating_add)
}

/// The length of that folder is their number; systems before Linux 6.2 say zero, and each is counted.
fn files_below(folder: &std::path::Path) -> u64 {
    let told = fs::metadata(folder).map_or(0, |about| about.len());
    if told > 0 {
        return told;
    }
    let each = fs::read_dir(folder).map_or(0, Iterator::count);
    u64::try_from(each).unwrap_or(u64::MAX)
}

/// Sockets of the network that a process stands in, also those that are on their way from one process to another; none where it is
/// the network of this process, in which others have theirs.
fn sockets(pid: u32) -> u64 {
    let network = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
    let (theirs, own) = (network(&pid.to_string()), network("self"));
    if theirs.is_none() || theirs == own {
        return 0;
    }
    let told = fs::read_to_string(format!("/proc/{pid}/net/sockstat")).unwrap_or_default();
    told.lines().find_map(used).unwrap_or(0)
}

fn used(line: &str) -> Option<u64> {
    line.strip_prefix("sockets: used ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_sockets_are_counted_as_the_most_that_they_can_hold() {
        assert_eq!(used("sockets: used 12"), Some(12));
        assert_eq!(used("TCP: inuse 0 orphan 0 tw 0 alloc 7 mem 0"), None);
        let own = BTreeSet::from([std::process::id()]);
        let before = open_files(std::process::id());
        let files: Vec<_> = (0..64).map(|_| fs::File::open("/proc/self/stat").unwrap()).collect();
        assert!(before > 0 && bytes(&own, Some(std::process::id())) >= 64 * PIPE_BYTES, "{}", files.len());
        // What others have in the network of this process is not its own.
        assert_eq!(sockets(std::process::id()), 0);
        assert_eq!(bytes(&BTreeSet::from([u32::MAX]), None), 0);
    }
}
