//! A clone at work: started in its sandbox, measured from outside, ended with its namespace at the first part of its budget that is
//! used up, and read as a stranger is.

use super::ended::{Filled, Last, SIGNALS, Seen, ToldEnd, without_end};
use super::live_model::LiveModel;
use crate::chance::Deadline;
use ::successor::{Budget, Used};
use effects::{CloneHome, CloneView, FamilyLooks, FamilyUse, Sandbox};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use words::successor::BudgetPart;

/// Bytes of evidence that are read.
pub const EVIDENCE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of complaints that are kept.
const COMPLAINT_BYTES_MAX: u64 = 16 * 1024;
/// How often it is asked whether it has ended, has filled its disk, and may have come to another bound.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// How often a folder is weighed, which takes longer.
const WEIGH: Duration = Duration::from_millis(500);
/// What looking takes of the time, at most one part in so many: a build has thousands of files, and a busy machine as many processes.
const ONE_PART_IN: u32 = 20;
/// How long the pipes of an ended clone are waited for.
const DRAIN: Duration = Duration::from_secs(5);
/// Room that is left to everything else on the disk that a folder is on.
pub(super) const DISK_LEFT_BYTES: u64 = 256 * 1024 * 1024;
/// The system's own limit of processes is no lower: older systems count all of a person's against it.
const PROCESSES_MIN: u64 = 1024;
/// How many times the budget of memory and processor time one process may use before the system ends it or refuses it more. For its own
/// limit the system counts time by ticks, of which a busy machine gives a process more than it ran: a limit right above the budget would end
/// one that has not used it up.
const SYSTEM_TIMES: u64 = 2;
/// The smallest home: a store needs as much before anything is in it.
const HOME_BYTES_MIN: u64 = 1024 * 1024;

/// A program that becomes a clone.
#[derive(Debug, Clone)]
pub struct CloneProgram {
    /// Where it is.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Places that it may read beside the system's.
    pub reads: Vec<PathBuf>,
    /// A folder of this machine as its home, where memory would be too small.
    pub home: Option<PathBuf>,
    /// Where it begins, below its home.
    pub folder: Option<PathBuf>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
}

impl CloneProgram {
    /// A program with these arguments and nothing else.
    pub fn of(program: &Path, arguments: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            reads: Vec::new(),
            home: None,
            folder: None,
            environment: Vec::new(),
        }
    }
}

/// How a clone ended.
#[derive(Debug, Clone)]
pub struct CloneEnd {
    /// What it wrote on standard output, to the bound.
    pub evidence: Vec<u8>,
    /// The beginning of what it complained of.
    pub complaint: String,
    /// Its exit status; none where a signal ended it.
    pub status: Option<i32>,
    /// What it used, measured from outside.
    pub used: Used,
}

impl CloneEnd {
    /// Whether it came to its own end, and a good one.
    pub fn is_whole(&self) -> bool {
        self.status == Some(0) && self.used.ended_for.is_none()
    }

    /// How it came to leave no evidence, in words of which none is its own. Whoever stays beside it may have been ended by it, and what
    /// its processes used may be hidden from that one.
    pub fn how(&self) -> String {
        let seen = "what it used is known only as far as it was seen";
        match (self.used.ended_for, self.status) {
            (Some(part), _) => format!("it was ended: its budget of {} is used up", part.in_words()),
            (None, Some(0)) => "it ended without an error, and left no evidence of this case".to_owned(),
            (None, Some(code)) if code > SIGNALS => {
                format!("it ended with status {code}, as by the signal {}; {seen}", code - SIGNALS)
            }
            (None, Some(code)) => format!("it ended with status {code}"),
            (None, None) => format!("it ended by a signal; {seen}"),
        }
    }

    /// The same, with what it complained of.
    pub fn in_words(&self) -> String {
        match (self.used.ended_for, self.status) {
            (Some(_), _) | (None, Some(0)) => self.how(),
            (None, _) => format!("{}: {}", self.how(), self.complaint.trim()),
        }
    }
}

/// Runs a clone to its end, or to the end of its budget. It dies with the thread that calls this.
///
/// # Errors
/// In words, when no sandbox can hold it here, it cannot be started, or `stopped` says that it is to end.
pub fn run_confined(
    sandbox: &Sandbox,
    clone: &CloneProgram,
    input: Vec<u8>,
    budget: &Budget,
    stopped: &dyn Fn() -> bool,
) -> Result<CloneEnd, String> {
    run_answered(sandbox, clone, (input, None), budget, stopped)
}

/// The same for a clone that may ask a model, through this process, while it runs.
pub(super) fn run_answered(
    sandbox: &Sandbox,
    clone: &CloneProgram,
    (input, model): (Vec<u8>, Option<&Arc<LiveModel>>),
    budget: &Budget,
    stopped: &dyn Fn() -> bool,
) -> Result<CloneEnd, String> {
    let home_bytes = budget.disk_bytes.max(HOME_BYTES_MIN);
    let view = CloneView {
        program: &clone.program,
        arguments: &clone.arguments,
        home: clone.home.as_deref().map_or(CloneHome::Sized(home_bytes), CloneHome::Folder),
        reads: &clone.reads,
        folder: clone.folder.as_deref(),
        environment: &clone.environment,
        // The system's own limits lie above what is measured, so that whoever reaches for more is seen and named.
        memory_bytes: budget.memory_bytes.saturating_mul(SYSTEM_TIMES),
        file_bytes: home_bytes,
        cpu_seconds: (budget.cpu_ms.saturating_mul(SYSTEM_TIMES) / 1000).saturating_add(2),
        processes: u64::from(budget.processes).saturating_mul(2).max(PROCESSES_MIN),
    };
    let no_sandbox = || format!("no clone can be confined on this machine: {}", sandbox.why());
    let mut command = sandbox.clone_command(&view).ok_or_else(no_sandbox)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().map_err(|e| format!("the clone cannot be started: {e}"))?;
    let most = FamilyUse {
        threads: u64::from(budget.processes),
        bytes: budget.memory_bytes,
        cpu_ms: budget.cpu_ms,
        child: None,
    };
    let looks = FamilyLooks::of(child.id(), most);
    Running::new((child, looks), (input, model), home_bytes, clone.home.clone()).to_end(budget, stopped)
}

/// What a reading thread tells.
enum Piped {
    /// All of standard output, and whether there was more.
    Evidence(Vec<u8>, bool),
    /// The beginning of standard error, and its last bytes.
    Complaint(Vec<u8>, Vec<u8>),
}

/// A clone that runs. However this is left, the clone has ended then.
struct Running {
    child: Child,
    looks: FamilyLooks,
    heard: Receiver<Piped>,
    model: Option<Arc<LiveModel>>,
    began: Instant,
    home_bytes: u64,
    folder: Option<PathBuf>,
    /// When it is looked at next, and its folder weighed.
    look_at: Instant,
    weigh_at: Instant,
    /// Processes and threads at once, at most.
    crowd: u64,
    used: Used,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_all();
    }
}

impl Running {
    fn new(
        (mut child, looks): (Child, FamilyLooks),
        (input, model): (Vec<u8>, Option<&Arc<LiveModel>>),
        home_bytes: u64,
        folder: Option<PathBuf>,
    ) -> Self {
        let (send, heard) = channel();
        let model = model.cloned();
        let asks = match (model.clone(), child.stdin.take()) {
            (Some(model), Some(stdin)) => Some((model, stdin, input)),
            (None, Some(mut stdin)) => {
                // One that does not read it finds out by itself; the pipe closes with it.
                std::thread::spawn(move || drop(stdin.write_all(&input)));
                None
            }
            (_, None) => None,
        };
        if let Some(stdout) = child.stdout.take() {
            let send = send.clone();
            std::thread::spawn(move || {
                let (bytes, more) = match asks {
                    Some((model, stdin, input)) => model.converse(&input, stdin, stdout),
                    None => read_evidence(stdout),
                };
                let _ = send.send(Piped::Evidence(bytes, more));
            });
        }
        if let Some(mut stderr) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut kept = Vec::new();
                let _ = stderr.by_ref().take(COMPLAINT_BYTES_MAX).read_to_end(&mut kept);
                let mut last = Last::of(&kept);
                let _ = std::io::copy(&mut stderr, &mut last);
                let _ = send.send(Piped::Complaint(kept, last.bytes()));
            });
        }
        let (began, used) = (Instant::now(), Used::default());
        let (look_at, weigh_at) = (began, began);
        Self { child, looks, heard, model, began, home_bytes, folder, look_at, weigh_at, crowd: 0, used }
    }

    /// Ends its group, and its namespace with it.
    fn end_all(&mut self) {
        if let Some(model) = &self.model {
            model.end();
        }
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let (Some(group), Ok(None)) = (group, self.child.try_wait()) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn to_end(mut self, budget: &Budget, stopped: &dyn Fn() -> bool) -> Result<CloneEnd, String> {
        let (mut evidence, mut complaint) = (None, None);
        let wall = Deadline::after(Duration::from_millis(budget.wall_ms));
        let status = loop {
            match self.heard.recv_timeout(LOOK) {
                Ok(Piped::Evidence(_, true)) => {
                    self.end_all();
                    return Err(format!("the clone wrote more than {EVIDENCE_BYTES_MAX} bytes of evidence"));
                }
                Ok(Piped::Evidence(bytes, false)) => evidence = Some(bytes),
                Ok(Piped::Complaint(first, last)) => complaint = Some((first, last)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            }
            if stopped() {
                self.end_all();
                return Err("the trial was stopped".to_owned());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                break status;
            }
            if wall.left().is_zero() {
                self.used.ended_for = Some(BudgetPart::WallTime);
            }
            if let Err(why) = self.measure(budget) {
                self.end_all();
                return Err(why);
            }
            if self.used.ended_for.is_some() {
                self.end_all();
                break self.child.wait().map_err(|e| format!("the clone cannot be waited for: {e}"))?;
            }
        };
        self.used.wall_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        // With the first process its namespace is over, and so is everything that held the pipes.
        let end = Instant::now() + DRAIN;
        while evidence.is_none() || complaint.is_none() {
            match self.heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Piped::Evidence(bytes, false)) => evidence = Some(bytes),
                Ok(Piped::Evidence(_, true)) => {
                    return Err(format!("the clone wrote more than {EVIDENCE_BYTES_MAX} bytes of evidence"));
                }
                Ok(Piped::Complaint(first, last)) => complaint = Some((first, last)),
                Err(_) => break,
            }
        }
        let (evidence, (first, last)) = (evidence.unwrap_or_default(), complaint.unwrap_or_default());
        self.name_end(budget, status.code(), &evidence, &String::from_utf8_lossy(&last));
        Ok(CloneEnd {
            evidence,
            complaint: without_end(&String::from_utf8_lossy(&first)).to_owned(),
            status: status.code(),
            used: self.used,
        })
    }

    /// What it uses now, and which part of its budget that is more than.
    ///
    /// # Errors
    /// In words, where the system does not list its processes: nothing holds it to its budget then.
    fn measure(&mut self, budget: &Budget) -> Result<(), String> {
        let begun = Instant::now();
        if begun < self.look_at {
            return Ok(());
        }
        let family = self.looks.now();
        self.look_at = again(begun, Duration::ZERO);
        let family = family.ok_or("the system did not list the clone's processes, so it was ended")?;
        self.used.cpu_ms = self.used.cpu_ms.max(family.cpu_ms);
        self.used.memory_bytes = self.used.memory_bytes.max(family.bytes);
        self.crowd = self.crowd.max(family.threads);
        let mut over = None;
        if family.threads > u64::from(budget.processes) {
            over = Some(BudgetPart::Processes);
        } else if family.bytes > budget.memory_bytes {
            over = Some(BudgetPart::Memory);
        } else if self.used.cpu_ms > budget.cpu_ms {
            over = Some(BudgetPart::CpuTime);
        } else if self.is_full(family.child) {
            over = Some(BudgetPart::Disk);
        }
        self.used.ended_for = self.used.ended_for.or(over);
        Ok(())
    }

    /// Whether its home is full.
    fn is_full(&mut self, first_inside: Option<u32>) -> bool {
        if let Some(folder) = &self.folder {
            let begun = Instant::now();
            if begun >= self.weigh_at {
                self.used.disk_bytes = weight(folder, self.home_bytes);
                self.weigh_at = again(begun, WEIGH);
                // What is open and has no name any more is weighed by nobody, and takes room all the same.
                if disk::space(folder).is_ok_and(|space| space.available < DISK_LEFT_BYTES) {
                    return true;
                }
            }
            return self.used.disk_bytes > self.home_bytes;
        }
        // The root of its namespace, as its parent may see it.
        let Some(pid) = first_inside else { return false };
        let home = format!("/proc/{pid}/root{}", effects::CLONE_HOME);
        let Ok(at) = disk::space(Path::new(&home)) else { return false };
        self.is_filled(Filled { total: at.total, free: at.free, names: names(Path::new(&home)) })
    }

    /// Whether a home in memory is full by what its file system says.
    fn is_filled(&mut self, home: Filled) -> bool {
        // Before its namespace stands, the machine's own file system is seen there.
        let Some(taken) = home.taken(self.home_bytes) else { return false };
        // Much more than fits may be told by the clone alone.
        self.used.disk_bytes =
            self.used.disk_bytes.max(taken.min(self.home_bytes.saturating_mul(SYSTEM_TIMES)));
        home.is_full(self.home_bytes)
    }

    /// A limit of the system may have ended it between two looks: by how it ended and by what it had used then it is told for what.
    /// What comes to a good end was ended by nobody.
    fn name_end(&mut self, budget: &Budget, status: Option<i32>, evidence: &[u8], said_last: &str) {
        let told = ToldEnd::read(said_last).unwrap_or_default();
        self.used.cpu_ms = self.used.cpu_ms.max(told.cpu_ms.min(most_cpu_ms(self.used.wall_ms)));
        if self.used.ended_for.is_some() || status == Some(0) {
            return;
        }
        let is_full = match self.folder.as_deref().map(|folder| weight(folder, self.home_bytes)) {
            Some(bytes) => {
                self.used.disk_bytes = bytes;
                bytes > self.home_bytes
            }
            None => told.home.is_some_and(|home| self.is_filled(home)),
        };
        let seen = Seen {
            threads: self.crowd,
            memory_bytes: self.used.memory_bytes,
            cpu_ms: self.used.cpu_ms,
            is_full,
            said: [evidence, said_last.as_bytes()],
        };
        self.used.ended_for = seen.ended_for(status, &told, budget);
        if self.used.ended_for == Some(BudgetPart::Memory) {
            let most = budget.memory_bytes.saturating_mul(SYSTEM_TIMES);
            self.used.memory_bytes = self.used.memory_bytes.max(told.memory_bytes.min(most));
        }
    }
}

/// When it is looked again after a look that began then: not before this time has passed, nor so soon that looking takes more than its
/// part.
fn again(begun: Instant, least: Duration) -> Instant {
    let took = begun.elapsed();
    begun + took.saturating_mul(ONE_PART_IN).max(least)
}

/// The most that processes can have used in this time: what a clone told of itself is not believed beyond that.
fn most_cpu_ms(wall_ms: u64) -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processors = u64::try_from(processors).unwrap_or(u64::MAX).saturating_add(1);
    wall_ms.saturating_add(1).saturating_mul(processors)
}

/// Files of a file system.
fn names(home: &Path) -> u64 {
    rustix::fs::statvfs(home).map_or(0, |at| at.f_files.saturating_sub(at.f_ffree))
}

/// All of standard output to the bound, and whether there was more.
fn read_evidence(mut stdout: ChildStdout) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let _ = stdout.by_ref().take(EVIDENCE_BYTES_MAX + 1).read_to_end(&mut bytes);
    let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX) > EVIDENCE_BYTES_MAX;
    (bytes, more)
}

/// Bytes on the disk below a folder, counted until they are more than `most`. Links are not followed, and what cannot be looked into
/// is more than that.
pub(super) fn weight(folder: &Path, most: u64) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    // It went between two looks.
    let is_gone = |e: &io::Error| matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let (mut sum, mut open) = (0_u64, vec![folder.to_owned()]);
    while let Some(at) = open.pop() {
        let entries = match std::fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) if is_gone(&error) => continue,
            Err(_) => return most.saturating_add(1),
        };
        for entry in entries.flatten() {
            let about = match entry.metadata() {
                Ok(about) => about,
                Err(error) if is_gone(&error) => continue,
                Err(_) => return most.saturating_add(1),
            };
            sum = sum.saturating_add(about.blocks().saturating_mul(512));
            if sum > most {
                return sum;
            }
            if about.is_dir() {
                open.push(entry.path());
            }
        }
    }
    sum
}

/// Takes a folder away with all that is in it, also where what ran in it has closed folders of its own.
///
/// # Errors
/// What the disk says.
pub(super) fn clear(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let gone = |done: io::Result<()>| match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    };
    if gone(std::fs::remove_dir_all(folder)).is_ok() {
        return Ok(());
    }
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        // Nothing runs there any more that could put a link in its place.
        if !at.symlink_metadata().is_ok_and(|about| about.is_dir()) {
            continue;
        }
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o700))?;
        open.extend(std::fs::read_dir(&at)?.flatten().map(|entry| entry.path()));
    }
    gone(std::fs::remove_dir_all(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_that_was_closed_is_full_and_goes_all_the_same() {
        let folder = tempfile::TempDir::new().unwrap();
        let (build, closed) = (folder.path().join("build"), folder.path().join("build/closed"));
        std::fs::create_dir_all(&closed).unwrap();
        std::fs::write(closed.join("large"), [1; 8192]).unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0)).unwrap();
        // To the one whom nothing is closed to it has its weight.
        let is_open = std::fs::read_dir(&closed).is_ok();
        assert_eq!(weight(&build, 1 << 20) > 1 << 20, !is_open);
        clear(&build).unwrap();
        assert!(!build.exists());
        clear(&build).unwrap();
    }
}
