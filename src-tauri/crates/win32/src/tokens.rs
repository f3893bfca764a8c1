//! What a confined command runs as, and what its job holds it to: which groups its token keeps, in whose name it is looked at a
//! second time, and the limits as the system counts them.

use crate::access::Sid;

/// As whom a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// In a container of this name, without a capability.
    Container(Sid),
    /// As the user, without groups and privileges, at low integrity; what it may reach has to be open to this one as well.
    Restricted(Sid),
    /// As the user.
    Own,
}

/// What a job holds all processes of a command to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes at once.
    pub processes: u64,
    /// Bytes of memory of one process, and of all together.
    pub memory_bytes: u64,
    /// Seconds of a processor that one process may use.
    pub cpu_seconds: u64,
}

/// The same in the numbers of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobNumbers {
    /// Processes at once.
    pub processes: u32,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Tenths of a microsecond.
    pub cpu: i64,
}

impl Limits {
    /// The numbers of a job; what does not fit is the most that fits.
    #[must_use]
    pub fn numbers(self) -> JobNumbers {
        JobNumbers {
            processes: u32::try_from(self.processes.max(1)).unwrap_or(u32::MAX),
            memory_bytes: usize::try_from(self.memory_bytes).unwrap_or(usize::MAX),
            cpu: i64::try_from(self.cpu_seconds.saturating_mul(10_000_000)).unwrap_or(i64::MAX),
        }
    }
}

/// What of a desktop a job keeps from a command: handles of windows of others, the clipboard read and written, parameters of the
/// system, settings of the screen, global atoms, other desktops, and the end of the session.
pub const KEPT_FROM_DESKTOP: u32 = 0xff;

/// A group is the session of a person who signed in.
const IS_SESSION: u32 = 0xc000_0000;
/// A group is no group: it says which integrity the token has.
const IS_INTEGRITY: u32 = 0x20;

/// Groups without which no program begins: everyone, those who use the machine, how they came to it, and this very session.
fn is_needed(who: &Sid, attributes: u32) -> bool {
    let named = matches!(
        who.parts(),
        (1 | 2, [_]) | (5, [4 | 11 | 15 | 113]) | (5, [32, 545]) | (5, [64, ..]) | (16 | 18, _)
    );
    named || attributes & IS_SESSION == IS_SESSION || attributes & IS_INTEGRITY != 0
}

/// The groups of a token that a restricted one has only so that they take rights from it, never to give it any.
#[must_use]
pub fn to_disable(groups: &[(Sid, u32)]) -> Vec<Sid> {
    let others = groups.iter().filter(|(who, attributes)| !is_needed(who, *attributes));
    others.map(|(who, _)| who.clone()).collect()
}

/// In whose names everything is looked at a second time for a restricted token: what the user alone may reach is closed to it.
#[must_use]
pub fn to_restrict(groups: &[(Sid, u32)], own: &Sid) -> Vec<Sid> {
    let everyone = Sid::of(1, vec![0]);
    let (restricted, users) = (Sid::of(5, vec![12]), Sid::of(5, vec![32, 545]));
    let session = groups.iter().filter(|(_, attributes)| attributes & IS_SESSION == IS_SESSION);
    let session = session.map(|(who, _)| who.clone());
    [everyone, restricted, users, own.clone()].into_iter().chain(session).collect()
}

/// The groups of a token as the system tells them: a number, and then for each where it stands and its attributes. `begins` is
/// where these numbers stand themselves.
#[must_use]
pub fn groups(told: &[usize], begins: usize) -> Vec<(Sid, u32)> {
    let bytes: Vec<u8> = told.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let low = |number: usize| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
    let count = told.first().map_or(0, |number| low(*number));
    let pairs = told.get(1..).unwrap_or_default().chunks_exact(2);
    let one = |pair: &[usize]| {
        let [stands_at, attributes] = pair else { return None };
        let sid = bytes.get(stands_at.checked_sub(begins)?..)?;
        Some((Sid::read(sid).ok()?, low(*attributes)))
    };
    pairs.take(usize::try_from(count).unwrap_or_default()).filter_map(one).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn sid(text: &str) -> Sid {
        text.parse().expect("a user")
    }

    /// Of a person who administers the machine and is of a domain.
    fn person() -> Vec<(Sid, u32)> {
        [
            ("S-1-5-21-1-2-3-513", 7),
            ("S-1-1-0", 7),
            ("S-1-5-114", 7),
            ("S-1-5-32-544", 7),
            ("S-1-5-32-545", 7),
            ("S-1-5-32-578", 7),
            ("S-1-5-4", 7),
            ("S-1-2-1", 7),
            ("S-1-5-11", 7),
            ("S-1-5-15", 7),
            ("S-1-5-113", 7),
            ("S-1-5-5-0-171000", 0xc000_0007),
            ("S-1-2-0", 7),
            ("S-1-5-64-10", 7),
            ("S-1-16-12288", 0x60),
        ]
        .map(|(who, attributes)| (sid(who), attributes))
        .to_vec()
    }

    #[test]
    fn a_restricted_token_loses_the_groups_that_give_more_than_everybody_has() {
        let lost: Vec<String> = to_disable(&person()).iter().map(Sid::written).collect();
        assert_eq!(lost, ["S-1-5-21-1-2-3-513", "S-1-5-114", "S-1-5-32-544", "S-1-5-32-578"]);
        let own = sid("S-1-9-1");
        let names: Vec<String> = to_restrict(&person(), &own).iter().map(Sid::written).collect();
        assert_eq!(names, ["S-1-1-0", "S-1-5-12", "S-1-5-32-545", "S-1-9-1", "S-1-5-5-0-171000"]);
    }

    #[test]
    fn groups_are_read_from_where_they_stand_and_what_stands_elsewhere_is_none() {
        let (one, other) = (sid("S-1-5-32-544").bytes(), sid("S-1-1-0").bytes());
        let size = size_of::<usize>();
        let begins = 0x1000;
        let behind = |at: usize| begins + 5 * size + at;
        let mut numbers = vec![2, behind(0), 7, behind(16), 0x60];
        let mut bytes = [one, other].concat();
        bytes.resize(32, 0);
        let word = |chunk: &[u8]| usize::from_ne_bytes(chunk.try_into().expect("a word"));
        numbers.extend(bytes.chunks_exact(size).map(word));
        let found = groups(&numbers, begins);
        assert_eq!(found, [(sid("S-1-5-32-544"), 7), (sid("S-1-1-0"), 0x60)]);
        assert!(groups(&numbers, begins + 0x1000).is_empty() && groups(&numbers, 0).is_empty());
        assert!(groups(&[], 0).is_empty() && groups(&[usize::MAX, 1], 0).is_empty());
    }

    #[test]
    fn limits_are_told_in_the_numbers_of_a_job_and_never_as_none() {
        let limits = Limits { processes: 8, memory_bytes: 4096, cpu_seconds: 60 };
        let numbers = JobNumbers { processes: 8, memory_bytes: 4096, cpu: 600_000_000 };
        assert_eq!(limits.numbers(), numbers);
        let most = Limits { processes: u64::MAX, memory_bytes: u64::MAX, cpu_seconds: u64::MAX }.numbers();
        assert_eq!((most.processes, most.cpu), (u32::MAX, i64::MAX));
        assert_eq!(Limits { processes: 0, ..limits }.numbers().processes, 1);
    }
}
