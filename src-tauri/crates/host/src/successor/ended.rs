//! What a clone was ended for, where nobody saw it: a limit of the system may end it between two looks. It is told by how it ended and by
//! what it had used then, of which `hermit-exec`, which stays beside it, says a last line. That line comes through the clone's own
//! standard error: who forges one is called ended, and no end that was a good one is looked at.

use ::successor::Budget;
use std::io;
use words::successor::BudgetPart;

/// What the last line begins with.
const END: &str = "hermit-exec: end ";
/// Last bytes of standard error that are kept.
const LAST_BYTES: usize = 4 * 1024;
/// Last lines of what a program said in which it is looked for the reason of its end.
const LAST_LINES: usize = 8;
/// Room of a file system that counts as none: what is written in one piece may be larger than what is left.
const LEFT_BYTES: u64 = 64 * 1024;
/// What a file without a byte takes in memory, with its name.
const NAME_BYTES: u64 = 2 * 1024;
/// Statuses above it are signals.
pub(super) const SIGNALS: i32 = 128;
/// Signals by which programs end that are refused memory, or that the system ends for it: `ABRT`, `BUS`, `KILL`, `SEGV`.
const OF_MEMORY: [i32; 4] = [6, 7, KILL, 11];
/// The signal of the system's limit of processor time.
const KILL: i32 = 9;
/// The signals of its softer limit, and of that of one file.
const XCPU: i32 = 24;
const XFSZ: i32 = 25;
/// What programs say that are refused memory.
const REFUSED_MEMORY: [&str; 5] =
    [ALLOCATION, "Cannot allocate memory", "memory exhausted", "MemoryError", "out of memory"];
/// What Rust says, with the bytes that were asked for behind it.
const ALLOCATION: &str = "memory allocation of ";

/// The last bytes of what is written to it.
pub(super) struct Last(Vec<u8>);

impl Last {
    /// Those of these, to which more may come.
    pub(super) fn of(first: &[u8]) -> Self {
        let from = first.len().saturating_sub(LAST_BYTES);
        Self(first.get(from..).unwrap_or(&[]).to_vec())
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        Self::of(&self.0).0
    }
}

impl io::Write for Last {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() > 4 * LAST_BYTES {
            self.0.drain(..self.0.len() - LAST_BYTES);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was said without the last line of `hermit-exec`.
pub(super) fn without_end(said: &str) -> &str {
    said.rfind(END).and_then(|at| said.get(..at)).unwrap_or(said).trim_end_matches('\n')
}

/// A home in memory, as its file system tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) total: u64,
    pub(super) free: u64,
    /// Files in it.
    pub(super) names: u64,
}

impl Filled {
    /// Bytes that are taken of a home of this size, with what the system keeps of names; none where it is another file system.
    pub(super) fn taken(self, home_bytes: u64) -> Option<u64> {
        let is_it = self.total <= home_bytes.saturating_add(LEFT_BYTES);
        let names = self.names.saturating_mul(NAME_BYTES);
        is_it.then(|| self.total.saturating_sub(self.free).saturating_add(names))
    }

    /// Whether nothing fits any more.
    pub(super) fn is_full(self, home_bytes: u64) -> bool {
        self.taken(home_bytes).is_some_and(|taken| self.free < LEFT_BYTES || taken > home_bytes)
    }
}

/// What `hermit-exec` told of the end of what it had started; nothing where it told nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ToldEnd {
    /// Milliseconds of processors, of all that have ended.
    pub(super) cpu_ms: u64,
    /// Bytes that the largest of them had in memory, with pages of files.
    pub(super) memory_bytes: u64,
    /// Threads that were there still, without bubblewrap's own outside.
    threads: u64,
    /// Its home.
    pub(super) home: Option<Filled>,
}

impl ToldEnd {
    /// Reads the last such line of what was said; none where there is none.
    pub(super) fn read(said: &str) -> Option<Self> {
        let line = said.rsplit_once(END)?.1.lines().next()?;
        let number = |name: &str| {
            let mut words = line.split(' ').filter_map(|word| word.split_once('='));
            words.find(|(is, _)| *is == name)?.1.parse::<u64>().ok()
        };
        let home =
            || Some(Filled { total: number("total")?, free: number("free")?, names: number("names")? });
        Some(Self {
            cpu_ms: number("cpu_ms")?,
            memory_bytes: number("memory_kib")?.saturating_mul(1024),
            threads: number("threads")?,
            home: home(),
        })
    }
}

/// What was seen of a clone from outside, at the last look before it ended.
pub(super) struct Seen<'a> {
    /// Processes and threads at once, at most.
    pub(super) threads: u64,
    /// Bytes of memory of no file, all together, at most.
    pub(super) memory_bytes: u64,
    /// Milliseconds of processors, with those of the end.
    pub(super) cpu_ms: u64,
    /// Whether its home was full at its end.
    pub(super) is_full: bool,
    /// What it wrote, on each of its streams.
    pub(super) said: [&'a [u8]; 2],
}

impl Seen<'_> {
    /// The part of its budget for which it was ended, where it came to an end that is no good one; none where it ended by itself.
    pub(super) fn ended_for(
        &self,
        status: Option<i32>,
        told: &ToldEnd,
        budget: &Budget,
    ) -> Option<BudgetPart> {
        let signal = status.filter(|code| *code > SIGNALS).map(|code| code - SIGNALS);
        // Bubblewrap's own process outside is one of those that are counted.
        let threads = self.threads.max(told.threads.saturating_add(1));
        let is_over = self.cpu_ms >= budget.cpu_ms;
        if threads > u64::from(budget.processes) {
            return Some(BudgetPart::Processes);
        }
        if is_over && signal.is_some_and(|signal| [KILL, XCPU].contains(&signal)) {
            return Some(BudgetPart::CpuTime);
        }
        if self.is_refused_memory(signal, told, budget.memory_bytes) {
            return Some(BudgetPart::Memory);
        }
        if is_over {
            return Some(BudgetPart::CpuTime);
        }
        (self.is_full || signal == Some(XFSZ)).then_some(BudgetPart::Disk)
    }

    /// Whether it ended as one does that gets no more memory, and had as much as it may have, nearly that at the last look, or asked for
    /// as much in one piece.
    fn is_refused_memory(&self, signal: Option<i32>, told: &ToldEnd, most: u64) -> bool {
        let lines = || self.said.iter().flat_map(|said| last_lines(said));
        let says = lines().any(|line| REFUSED_MEMORY.iter().any(|words| line.contains(words)));
        let is_of_it = says || signal.is_some_and(|signal| OF_MEMORY.contains(&signal));
        let had = told.memory_bytes >= most || self.memory_bytes >= most.saturating_sub(most / 8);
        let asked = || lines().filter_map(|line| asked_bytes(&line)).any(|bytes| bytes >= most);
        is_of_it && (had || asked())
    }
}

/// The bytes that were asked for and refused, where a line says so.
fn asked_bytes(line: &str) -> Option<u64> {
    let (number, behind) = line.split_once(ALLOCATION)?.1.split_once(' ')?;
    behind.starts_with("bytes failed").then(|| number.parse().ok())?
}

/// The last lines of what was said.
fn last_lines(said: &[u8]) -> Vec<String> {
    let from = said.len().saturating_sub(LAST_BYTES);
    let text = String::from_utf8_lossy(said.get(from..).unwrap_or(&[]));
    let lines = without_end(&text).lines().rev().filter(|line| !line.trim().is_empty());
    lines.take(LAST_LINES).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::confined::CloneEnd;
    use super::*;
    use ::successor::Used;
    use std::io::Write as _;

    const BUDGET: Budget = Budget {
        wall_ms: 60_000,
        cpu_ms: 1_000,
        memory_bytes: 1 << 20,
        disk_bytes: 1 << 20,
        processes: 8,
        tokens: 0,
    };
    const CALM: Seen<'static> =
        Seen { threads: 3, memory_bytes: 1 << 10, cpu_ms: 10, is_full: false, said: [b"", b""] };

    fn told(cpu_ms: u64, memory_bytes: u64, threads: u64) -> ToldEnd {
        ToldEnd { cpu_ms, memory_bytes, threads, home: None }
    }

    #[test]
    fn the_last_line_of_its_kind_is_read_and_taken_from_what_was_said() {
        let line = "hermit-exec: end code=137 cpu_ms=3010 memory_kib=2 threads=4 total=100 free=7 names=3\n";
        let said = format!("hermit-exec: end code=0 cpu_ms=1 memory_kib=1 threads=1\nKilled\n{line}");
        let home = Some(Filled { total: 100, free: 7, names: 3 });
        assert_eq!(ToldEnd::read(&said), Some(ToldEnd { home, ..told(3010, 2048, 4) }));
        assert!(without_end(&said).ends_with("\nKilled") && without_end("Killed") == "Killed");
        for bad in
            ["", "hermit-exec: no", "hermit-exec: end", "hermit-exec: end cpu_ms=x memory_kib=1 threads=1"]
        {
            assert_eq!(ToldEnd::read(bad), None, "{bad}");
        }
        let mut last = Last::of(&[b'a'; 3 * LAST_BYTES]);
        for _ in 0..9 {
            last.write_all(&[b'b'; LAST_BYTES]).unwrap();
        }
        last.write_all(line.as_bytes()).unwrap();
        let last = last.bytes();
        assert!(last.len() == LAST_BYTES && last.ends_with(line.as_bytes()));
    }

    #[test]
    fn a_limit_of_the_system_is_named_by_how_the_clone_ended_and_by_what_it_had_used() {
        let ended = |seen: &Seen<'_>, status, told| seen.ended_for(Some(status), &told, &BUDGET);
        let spun = Seen { cpu_ms: 3_000, ..CALM };
        // Ended itself, by a shell around it, and by cargo around that.
        for status in [137, 152, 101, 1] {
            assert_eq!(ended(&spun, status, told(3_000, 0, 2)), Some(BudgetPart::CpuTime), "{status}");
        }
        let exhausted = Seen { said: [b"", b"tail: memory exhausted\n"], ..CALM };
        assert_eq!(ended(&exhausted, 1, told(5, 2 << 20, 2)), Some(BudgetPart::Memory));
        assert_eq!(ended(&CALM, 134, told(5, 2 << 20, 2)), Some(BudgetPart::Memory));
        let near = Seen { memory_bytes: (1 << 20) - (1 << 17), ..CALM };
        assert_eq!(ended(&near, 139, ToldEnd::default()), Some(BudgetPart::Memory), "by the last look");
        let at_once = Seen { said: [b"memory allocation of 9000000 bytes failed\nerror: no\n", b""], ..CALM };
        assert_eq!(ended(&at_once, 101, told(5, 0, 2)), Some(BudgetPart::Memory), "in one piece");
        assert_eq!(ended(&CALM, 2, told(5, 0, 8)), Some(BudgetPart::Processes));
        assert_eq!(ended(&Seen { is_full: true, ..CALM }, 1, told(5, 0, 2)), Some(BudgetPart::Disk));
        assert_eq!(ended(&CALM, 153, told(5, 0, 2)), Some(BudgetPart::Disk));
        let home = |free, names| Filled { total: 1 << 20, free, names };
        assert!(home(100, 1).is_full(1 << 20) && home(1 << 19, 300).is_full(1 << 20));
        assert!(!home(1 << 19, 20).is_full(1 << 20) && !home(100, 1).is_full(1 << 10), "another file system");
    }

    /// It was ended by nobody, whatever it looks like.
    #[test]
    fn what_ended_by_itself_is_not_called_ended() {
        let near = Seen { threads: 8, memory_bytes: (1 << 20) - 1, cpu_ms: 999, ..CALM };
        for status in [1, 3, 101, 143] {
            assert_eq!(near.ended_for(Some(status), &told(999, 4 << 20, 7), &BUDGET), None, "{status}");
        }
        for status in [Some(137), Some(134), Some(152), Some(1), None] {
            assert_eq!(CALM.ended_for(status, &told(10, 1 << 10, 2), &BUDGET), None, "{status:?}");
        }
        let says = Seen { said: [b"", b"out of memory\nmemory allocation of 12 bytes failed\n"], ..CALM };
        assert_eq!(says.ended_for(Some(1), &told(10, 1 << 10, 2), &BUDGET), None, "it had none to speak of");
    }

    #[test]
    fn how_a_clone_ended_is_told_by_none_of_its_own_words() {
        let how = |status, ended_for| {
            let used = Used { ended_for, ..Used::default() };
            CloneEnd { evidence: Vec::new(), complaint: "all is well".to_owned(), status, used }
        };
        for (status, says) in [
            (Some(137), "it ended with status 137, as by the signal 9; what it used is known only as far as"),
            (None, "it ended by a signal; what it used is known only as far as it was seen"),
            (Some(3), "it ended with status 3"),
            (Some(0), "it ended without an error, and left no evidence of this case"),
        ] {
            let end = how(status, None);
            assert!(end.how().starts_with(says) && !end.how().contains("all is well"), "{}", end.how());
            assert_eq!(end.in_words().contains("all is well"), status != Some(0), "{}", end.in_words());
        }
        let end = how(Some(137), Some(BudgetPart::Memory));
        assert_eq!(end.how(), "it was ended: its budget of memory is used up");
    }
}
