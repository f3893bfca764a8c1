//! The program that trains: started behind walls with a folder of its own and no network, heard line by line, and told words.

use super::plan::Plan;
use effects::{Lone, Pipes, Sandbox, ServerSessions};
use model::lasting;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use training::{Control, Said};

/// Bytes of a line that it says.
const SAID_BYTES_MAX: u64 = 1024 * 1024;
/// How often it is looked whether it is to be told something.
const TICK: Duration = Duration::from_millis(100);
/// How long one that closed its output may take to end, and one that is stopped to write a checkpoint.
const ENDING: Duration = Duration::from_secs(5);
const STOPPING: Duration = Duration::from_secs(120);
/// Bytes beside those of the budget before it is ended from outside: it ends by itself at the budget.
const MEMORY_BESIDE: u64 = 1 << 30;
/// Seconds beside those of the budget, of time and of each thread's processor: loading, measuring and writing.
const BESIDE_S: u64 = 24 * 3600;
/// Bytes that it may have on the disk: checkpoints and a model; and how many files.
const DISK_BYTES_MAX: u64 = 16 << 30;
const FILES_MAX: u64 = 10_000;
/// How often they are counted.
const COUNT: Duration = Duration::from_secs(5);
/// Things left out that it is heard to say.
const SKIPPED_MAX: u32 = 100;

/// What is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It learns.
    Run,
    /// It measures.
    Prove,
    /// It writes the model.
    Export,
    /// It learns alone for a round of training together, and sends so many places of a hundred.
    Round { steps: u32, percent: u32 },
    /// It ends a round with what is counted.
    Count,
}

impl Phase {
    /// What the program is told with its arguments.
    fn arguments(self, plan: &Plan) -> Vec<String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let spec = text(plan.spec_file());
        let own = |word: &str| word.to_owned();
        match self {
            Self::Run => vec![own("run"), spec],
            Self::Prove => vec![own("prove"), spec],
            Self::Export => vec![own("export"), spec],
            Self::Round { steps, percent } => {
                vec![own("peer"), spec, own("learn"), steps.to_string(), percent.to_string()]
            }
            Self::Count => vec![own("peer"), spec, own("end"), text(plan.counted())],
        }
    }
}

/// Runs a phase to its end. `hear` is told what it says; `word` says what it is told, each word once.
///
/// # Errors
/// In words: it could not be started, refused, or broke off.
pub(super) fn run(
    (walls, sessions): (&Sandbox, &ServerSessions),
    program: &Path,
    (plan, phase): (&Plan, Phase),
    hear: &mut dyn FnMut(&Said),
    word: &mut dyn FnMut() -> Option<Control>,
) -> Result<(), String> {
    let spec = &plan.spec;
    let arguments = phase.arguments(plan);
    let reads = [PathBuf::from(&spec.base.path)];
    let memory = spec.budget.memory_bytes.saturating_add(MEMORY_BESIDE);
    let cpu = spec.budget.seconds.saturating_mul(u64::from(spec.threads)).saturating_add(BESIDE_S);
    let folder = plan.folder();
    let mut lone = Lone::start_in(
        walls,
        sessions,
        (program, arguments.as_slice()),
        (folder.as_path(), reads.as_slice()),
        (memory, cpu),
    )?;
    let Pipes { mut stdin, stdout, folder: _ } =
        lone.pipes().ok_or_else(|| "the program that trains has no standard streams".to_owned())?;
    let lines = heard(stdout)?;
    let (mut refused, mut is_over) = (None, None::<Instant>);
    let mut bounds = Bounds::of(folder, spec.budget.seconds);
    loop {
        match lines.recv_timeout(TICK) {
            Ok(Ok(said)) => {
                if let Said::Refused { words } = &said {
                    refused = Some(words.clone());
                }
                if bounds.is_heard(&said) {
                    hear(&said);
                }
            }
            Ok(Err(why)) => return Err(why),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(why) = lone.too_large().or_else(|| bounds.over()) {
            return Err(why);
        }
        if let Some(word) = word() {
            bounds.rests = word == Control::Pause;
            // One that reads no more words ends soon, and says why.
            let _ = writeln!(stdin, "{}", word.word()).and_then(|()| stdin.flush());
            if word == Control::Stop {
                if phase != Phase::Run {
                    // It hears no words then, and has nothing to keep.
                    return Ok(());
                }
                is_over.get_or_insert_with(Instant::now);
            }
        }
        if is_over.is_some_and(|since| since.elapsed() > STOPPING) {
            return Err("it was stopped and did not end".to_owned());
        }
    }
    match refused {
        Some(words) => Err(words),
        None => ended(&mut lone),
    }
}

/// What is held from outside beside memory and processor time.
struct Bounds {
    folder: PathBuf,
    longest: Duration,
    worked: Duration,
    looked: Instant,
    counted: Instant,
    skipped: u32,
    /// Whether it was told to rest: such time is not counted.
    rests: bool,
}

impl Bounds {
    fn of(folder: PathBuf, seconds: u64) -> Self {
        let (longest, now) = (Duration::from_secs(seconds.saturating_add(BESIDE_S)), Instant::now());
        let (worked, skipped) = (Duration::ZERO, 0);
        Self { folder, longest, worked, looked: now, counted: now, skipped, rests: false }
    }

    /// Whether what it says is taken up: a flood of warnings is not.
    fn is_heard(&mut self, said: &Said) -> bool {
        if matches!(said, Said::Skipped { .. }) {
            self.skipped = self.skipped.saturating_add(1);
        }
        self.skipped <= SKIPPED_MAX || !matches!(said, Said::Skipped { .. })
    }

    /// Why it has to be ended.
    fn over(&mut self) -> Option<String> {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.looked);
        self.looked = now;
        if !self.rests {
            self.worked = self.worked.saturating_add(since);
        }
        if self.worked > self.longest {
            return Some(format!("it worked for more than {}, and was ended", lasting(self.longest)));
        }
        if now.saturating_duration_since(self.counted) < COUNT {
            return None;
        }
        self.counted = now;
        let (files, bytes) = on_disk(&self.folder);
        (files > FILES_MAX || bytes > DISK_BYTES_MAX)
            .then(|| format!("it wrote more than {DISK_BYTES_MAX} bytes or {FILES_MAX} files, and was ended"))
    }
}

/// Files below a folder, and their bytes; counting ends where there are too many.
fn on_disk(folder: &Path) -> (u64, u64) {
    let (mut files, mut bytes, mut folders) = (0_u64, 0_u64, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            files = files.saturating_add(1);
            if files > FILES_MAX {
                return (files, bytes);
            }
            // Of a link this is the link.
            match entry.metadata() {
                Ok(there) if there.is_dir() => folders.push(entry.path()),
                Ok(there) => bytes = bytes.saturating_add(there.len()),
                Err(_) => {}
            }
        }
    }
    (files, bytes)
}

/// Waits until one that closed its output has ended. How it ended is told by what it said.
fn ended(lone: &mut Lone) -> Result<(), String> {
    let until = Instant::now() + ENDING;
    while lone.over().is_none() {
        if Instant::now() > until {
            return Err("it closed its output and did not end".to_owned());
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

fn heard(stdout: ChildStdout) -> Result<Receiver<Result<Said, String>>, String> {
    let (tell, lines) = sync_channel(256);
    std::thread::Builder::new()
        .name("training lines".to_owned())
        .spawn(move || hear_all(stdout, &tell))
        .map_err(|e| e.to_string())?;
    Ok(lines)
}

/// Reads its lines for as long as it lives. One that is too long, or is none of the protocol, is the last.
fn hear_all(stdout: ChildStdout, tell: &SyncSender<Result<Said, String>>) {
    let mut from = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let said = match from.by_ref().take(SAID_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => std::str::from_utf8(&line).ok().and_then(Said::parse).ok_or_else(|| {
                "the program that trains said what this Hermit does not understand".to_owned()
            }),
            Err(error) => Err(error.to_string()),
        };
        let last = said.is_err();
        if tell.send(said).is_err() || last {
            return;
        }
    }
}
