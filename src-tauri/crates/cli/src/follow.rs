//! Staying with a task: what it does is shown, what it asks is answered where a person is, and how it came out is
//! an exit code.

use crate::approve::Seat;
use crate::context::Context;
use crate::output::Tone;
use crate::text::{paragraph, plain};
use host::{Interrupts, Session, Stands};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::receipts::ReceiptRow;
use wire::task::{Pause, Show, Task};
use wire::{Code, Error, Notice, exit};

/// How often the task is looked at while it works.
const LOOK: Duration = Duration::from_millis(100);

/// How a task stands when there is nothing more to stay for.
pub struct Rest {
    /// The task.
    pub task: Task,
    /// Keys are locked, and receipts wait for them.
    pub key_locked: bool,
}

/// Stays with the task until it has ended or waits for what this process cannot give.
///
/// # Errors
/// When driving it broke off, or the store cannot be read.
pub fn stay(
    context: &Context,
    session: &Session,
    task: &str,
    mut seat: Option<Seat<'_>>,
    heard: Option<Receiver<Notice>>,
) -> Result<Rest, Error> {
    let interrupts = Interrupts::watch();
    let shown = Shown::new(context, heard);
    let mut paused = false;
    loop {
        let stands = session.stands(task, LOOK);
        shown.tell()?;
        if interrupts.pressed() && !paused {
            paused = true;
            context.out.note("pausing; press Ctrl-C again to leave at once (nothing is lost)");
            // It may have ended or come to rest in the same instant.
            let _ = session.call(&Pause { task: task.to_owned() });
        }
        match stands {
            Stands::AtWork => continue,
            Stands::Broke(error) => return Err(error),
            Stands::KeyLocked | Stands::Halted | Stands::AtRest => {}
        }
        let found = session.call(&Show { task: task.to_owned() })?;
        if stands == Stands::Halted && !is_over(&found) {
            return Err(
                Error::new(Code::Halted, "Hermit is halted and executes nothing").hint("run `hermit boot`")
            );
        }
        if stands == Stands::KeyLocked && !is_over(&found) {
            shown.clear();
            return Ok(Rest { task: found, key_locked: true });
        }
        let waits = found.waits_for.clone();
        match (waits, &mut seat) {
            (Some(waits), Some(seat)) if waits.kind == "approval" && !paused => {
                shown.clear();
                let Some(id) = waits.id else { return Ok(Rest { task: found, key_locked: false }) };
                match seat.decide(session, &id)? {
                    Some(decided) if !decided.accepted => {
                        context.out.note(format!(
                            "it was {} meanwhile; your answer changed nothing",
                            decided.status
                        ));
                    }
                    Some(_) => {}
                    None => return Ok(Rest { task: found, key_locked: false }),
                }
            }
            (None, _) if !is_over(&found) && found.row.status != "paused" => {
                // Another process drives it, or it is about to be.
                std::thread::sleep(LOOK);
            }
            _ => {
                shown.clear();
                return Ok(Rest { task: found, key_locked: false });
            }
        }
    }
}

/// Whether a task has ended.
pub fn is_over(task: &Task) -> bool {
    matches!(task.row.status.as_str(), "completed" | "failed" | "cancelled" | "rolled_back")
}

/// The exit code of a program that leaves a task like this.
pub fn exit_code(rest: &Rest) -> u8 {
    let refused = matches!(rest.task.termination.as_deref(), Some("approval_denied" | "gate_halted"));
    match rest.task.row.status.as_str() {
        _ if rest.key_locked => exit::WAITING,
        _ if refused => exit::REFUSED,
        "completed" | "rolled_back" => exit::DONE,
        "failed" | "cancelled" => exit::OTHER,
        _ => exit::WAITING,
    }
}

/// Says how the task stands, what it did, and what can be done next.
pub fn report(context: &Context, rest: &Rest, receipts: &[ReceiptRow]) {
    let out = &context.out;
    let task = &rest.task;
    let id = &task.row.task_id;
    let tone = match exit_code(rest) {
        exit::DONE => Tone::Good,
        exit::WAITING => Tone::Warn,
        _ => Tone::Bad,
    };
    let why = task
        .termination
        .as_deref()
        .filter(|why| *why != "done")
        .map(|why| format!(" ({why})"))
        .unwrap_or_default();
    out.say(tone, format!("{id}: {}{why}", task.row.status));
    if let Some(summary) = &task.summary {
        out.line(paragraph(&summary.to_string()));
    }
    for receipt in receipts {
        out.line(format!(
            "  {}  {}  {}",
            receipt.receipt_id,
            receipt.result,
            plain(&receipt.summary.to_string())
        ));
    }
    let undoable = |r: &&ReceiptRow| r.undone_by.is_none() && r.reversibility != "irreversible" && changes(r);
    if let Some(receipt) = receipts.iter().find(undoable) {
        out.say(Tone::Faint, format!("undo: hermit rollback {}", receipt.receipt_id));
    }
    if rest.key_locked {
        out.say(Tone::Warn, "the keys are locked: what was done is recorded, and its receipt waits for them");
        out.line("open them with HERMIT_PASSPHRASE_FILE or at a terminal, and run `hermit resume`");
    }
    for line in next_steps(task) {
        out.line(line);
    }
}

/// Whether a receipt is of an act that changed something.
pub fn changes(receipt: &ReceiptRow) -> bool {
    let looked = receipt.action_class.starts_with("read") || receipt.action_class.starts_with("observe");
    !looked && matches!(receipt.result.as_str(), "succeeded" | "partial")
}

fn next_steps(task: &Task) -> Vec<String> {
    let id = &task.row.task_id;
    let Some(waits) = &task.waits_for else { return Vec::new() };
    let about = waits.id.as_deref().unwrap_or(id);
    match waits.kind.as_str() {
        "approval" => vec![
            "it waits for your yes or no; at a terminal:".to_owned(),
            format!("  hermit approvals approve {about}"),
        ],
        "answer" => vec!["it asks:".to_owned(), format!("  hermit task answer {id} \"…\"")],
        "unknown_outcome" => vec![
            "nobody knows whether its last act happened; look, then:".to_owned(),
            format!("  hermit resolve {id} --as succeeded|failed|partial --note \"how you know\""),
        ],
        "resume" => vec![format!("it is paused; hermit task resume {id}")],
        _ => vec!["it waits for another task".to_owned()],
    }
}

/// Progress, on a terminal only; with `--json` every notice is a line of its own on standard error.
struct Shown {
    bar: Option<ProgressBar>,
    heard: Option<Receiver<Notice>>,
    json: bool,
}

impl Shown {
    fn new(context: &Context, heard: Option<Receiver<Notice>>) -> Self {
        let bar = context.terminal.as_ref().map(|_| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(ProgressStyle::default_spinner());
            bar
        });
        Self { bar, heard, json: context.out.is_json() }
    }

    fn tell(&self) -> Result<(), Error> {
        let Some(heard) = &self.heard else { return Ok(()) };
        for notice in heard.try_iter() {
            if self.json {
                let line =
                    serde_json::to_string(&notice).map_err(|e| Error::new(Code::Failed, e.to_string()))?;
                eprintln!("{line}");
                continue;
            }
            let Some(bar) = &self.bar else { continue };
            match notice {
                Notice::Event { event_type, .. } => bar.set_message(event_type),
                Notice::Progress { what, done, total, .. } => {
                    bar.set_message(format!("{what} {done}/{total}"))
                }
                Notice::Delta { text, .. } => bar.set_message(plain(&text)),
            }
            bar.tick();
        }
        Ok(())
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            bar.reset();
        }
    }
}
