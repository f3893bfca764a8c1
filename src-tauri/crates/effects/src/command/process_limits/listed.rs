//! Processes as `ps` lists them, for a system that shows them to programs in no file.

use super::FamilyUse;
use std::collections::BTreeSet;

/// What `ps` is asked to list: each process by its number, its parent and its group, the KiB that it fills and how long it ran.
const LISTS: [&str; 2] = ["-axo", "pid=,ppid=,pgid=,rss=,time="];
/// Where it is; never through a search path that somebody else could set.
#[cfg(target_os = "macos")]
const PS: &str = "/bin/ps";

/// Everything that descends from a process or is of its group; none where no list is to be had.
#[cfg(target_os = "macos")]
pub(super) fn family(first: u32) -> Option<FamilyUse> {
    family_by(PS, first)
}

/// The same by the list that this program prints. In a crowd that leaves no room for one more process it cannot be started.
fn family_by(program: &str, first: u32) -> Option<FamilyUse> {
    let mut ps = std::process::Command::new(program);
    // In the words and numbers of no language.
    ps.args(LISTS).env_clear().env("LC_ALL", "C").stdin(std::process::Stdio::null());
    let listed = ps.output().ok().filter(|output| output.status.success())?;
    used(first, &String::from_utf8_lossy(&listed.stdout))
}

/// One line of the list.
struct Line {
    pid: u32,
    parent: u32,
    group: u32,
    bytes: u64,
    cpu_ms: u64,
}

/// What a family uses by this list; none where it lists nothing. Threads are not listed: each process counts as one. What
/// processes share is counted with each.
fn used(first: u32, listed: &str) -> Option<FamilyUse> {
    let lines: Vec<Line> = listed.lines().filter_map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let of_it = of_family(first, &lines);
    let child = lines.iter().filter(|line| line.parent == first).map(|line| line.pid).min();
    let none = FamilyUse { child, ..FamilyUse::default() };
    let of_it = lines.iter().filter(|line| of_it.contains(&line.pid));
    Some(of_it.fold(none, |used, line| FamilyUse {
        threads: used.threads.saturating_add(1),
        bytes: used.bytes.saturating_add(line.bytes),
        cpu_ms: used.cpu_ms.saturating_add(line.cpu_ms),
        ..used
    }))
}

/// What among these descends from a process or is of its group.
fn of_family(first: u32, lines: &[Line]) -> BTreeSet<u32> {
    let own = lines.iter().filter(|line| line.pid == first || line.group == first);
    let mut of_it: BTreeSet<u32> = own.map(|line| line.pid).collect();
    loop {
        let before = of_it.len();
        let children = lines.iter().filter(|line| of_it.contains(&line.parent)).map(|line| line.pid);
        let children: Vec<u32> = children.collect();
        of_it.extend(children);
        if of_it.len() == before {
            return of_it;
        }
    }
}

fn line(line: &str) -> Option<Line> {
    let mut fields = line.split_whitespace();
    let mut number = || fields.next()?.parse::<u32>().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let bytes = fields.next()?.parse::<u64>().ok()?.checked_mul(1024)?;
    Some(Line { pid, parent, group, bytes, cpu_ms: milliseconds(fields.next()?)? })
}

/// A time as `minutes:seconds.hundredths`, with hours before it where a system tells them.
fn milliseconds(time: &str) -> Option<u64> {
    let (whole, hundredths) = time.split_once('.').unwrap_or((time, "0"));
    let add = |sum: u64, part: &str| sum.checked_mul(60)?.checked_add(part.parse().ok()?);
    let seconds = whole.split(':').try_fold(0, add)?;
    let hundredths = hundredths.parse::<u64>().ok().filter(|part| *part < 100)?;
    seconds.checked_mul(1000)?.checked_add(hundredths.checked_mul(10)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `ps` prints it: right-aligned, and a name of no process stands in it.
    const LIST: &str = "    1     0     1   9500   5:12.34
  400     1   400   2048   0:01.50
  401   400   400   1024   1:00.05
  402   401   402    512   0:00.00
  403     1   400     16   0:00.25
  500     1   500 999999 100:00.00
";

    #[test]
    fn a_family_is_what_descends_from_the_first_or_is_of_its_group() {
        let found = used(400, LIST).unwrap();
        assert_eq!(
            found.threads, 4,
            "one that left the group is of it by its parent, an orphan by its group"
        );
        assert_eq!(found.bytes, (2048 + 1024 + 512 + 16) * 1024);
        assert_eq!(found.cpu_ms, 1_500 + 60_050 + 250);
        assert_eq!(found.child, Some(401));
        assert_eq!(used(7, LIST), Some(FamilyUse::default()));
    }

    #[test]
    fn what_is_no_line_of_the_list_is_no_process() {
        for bad in
            ["", "400", "400 1 400 2048", "-1 1 1 1 0:00.00", "1 1 1 x 0:00.00", "1 1 1 1 0:0x.00", "ps: bad"]
        {
            assert!(line(bad).is_none(), "{bad}");
        }
        let most = u64::MAX;
        assert!(line(&format!("1 1 1 {most} 0:00.00")).is_none(), "more than there is");
        assert_eq!(milliseconds("2:03:04.05"), Some(7_384_050));
        assert_eq!(milliseconds("0:00.100"), None);
    }

    #[test]
    fn where_no_list_is_to_be_had_nothing_is_counted() {
        assert_eq!(family_by("/no such/ps", std::process::id()), None, "it cannot be started");
        assert_eq!(used(400, ""), None);
        assert_eq!(used(400, "ps: fork: Resource temporarily unavailable\n"), None);
    }

    #[cfg(target_os = "macos")]
    #[test]
    fn this_process_is_of_its_own_family_and_fills_memory() {
        let found = family(std::process::id()).unwrap();
        assert!(found.threads >= 1 && found.bytes > 0, "{found:?}");
    }
}
