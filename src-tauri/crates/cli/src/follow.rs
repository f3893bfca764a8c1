//! Staying with a task: what it does is shown, what it asks is answered where a person is, and how it came out is
//! an exit code.

use crate::approve::{ONE_OF_TWO, TerminalApproval};
use crate::live::Live;
use crate::question;
use crate::text::{plain, short};
use host::{Session, Stands};
use model::approval::ApprovalStatus;
use model::attempt::TerminationReason;
use model::task::TaskStatus;
use std::time::{Duration, Instant};
use wire::task::{Pause, Show, Task};
use wire::{Code, Error, exit};
use words::task::WaitsFor;

/// How often a task is looked at that another process drives.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is asked whether a tool that is at work waits for the person.
const ASKED: Duration = Duration::from_millis(500);

/// How a task stands when there is nothing more to stay for.
pub struct Rest {
    /// The task.
    pub task: Task,
    /// Keys are locked, and receipts wait for them.
    pub key_locked: bool,
    /// The person denied an act and stopped the task.
    pub stopped: bool,
}

/// Stays with the task until it has ended or waits for what this process cannot give.
///
/// # Errors
/// When driving it broke off, or the store cannot be read.
pub fn stay(
    session: &Session,
    task: &str,
    mut person: Option<TerminalApproval>,
    mut live: Live<'_>,
) -> Result<Rest, Error> {
    let interrupts = live.interrupts();
    let mut paused = false;
    let mut asks = AtWork { looked: Instant::now(), later: None };
    let rest = |task: Task, key_locked: bool, person: &Option<TerminalApproval>| Rest {
        task,
        key_locked,
        stopped: person.as_ref().is_some_and(TerminalApproval::stopped),
    };
    loop {
        let stands = session.stands(task, live.look());
        if live.tell(session, task)? {
            interrupts.press();
        }
        if interrupts.pressed() && !paused {
            paused = true;
            live.note("Pausing. Nothing is lost. Press Ctrl-C again to leave at once.");
            match session.call(&Pause { task: task.to_owned() }) {
                // It may have ended or come to rest in the same instant.
                Ok(_) => {}
                Err(error) if error.code == Code::Conflict => {}
                Err(error) => live.note(&format!("It could not be paused: {}", error.message)),
            }
        }
        match stands {
            Stands::AtWork => match asks.look(&mut live, session, task, (person.is_some(), paused))? {
                Some(found) => return Ok(rest(found, false, &person)),
                None => continue,
            },
            Stands::Broke(error) => return Err(error),
            Stands::KeyLocked | Stands::Halted | Stands::AtRest => {}
        }
        let found = session.call(&Show { task: task.to_owned() })?;
        if stands == Stands::Halted && !is_over(&found) {
            return Err(halted());
        }
        if stands == Stands::KeyLocked && !is_over(&found) {
            return Ok(rest(found, true, &person));
        }
        match (&found.waits_for, &mut person) {
            (Some(waits), Some(at))
                if !paused && matches!(waits.kind, WaitsFor::Approval | WaitsFor::Answer) =>
            {
                let answered = match &waits.id {
                    Some(id) if waits.kind == WaitsFor::Approval => decided(&mut live, at, session, id)?,
                    Some(_) => asked(&mut live, session, &found)?,
                    None => false,
                };
                if !answered {
                    return Ok(rest(found, false, &person));
                }
            }
            (Some(waits), _) if !paused && waits.kind == WaitsFor::Dependency => {
                if !answered_for_child(&mut live, &mut person, session, waits.id.as_deref())? {
                    return Ok(rest(found, false, &person));
                }
            }
            (None, _) if !is_over(&found) && found.row.status != TaskStatus::Paused => {
                // Another process drives it, or it is about to be.
                std::thread::sleep(LOOK);
            }
            _ => return Ok(rest(found, false, &person)),
        }
    }
}

/// A child task is at work, or what it asks was put before the person; false when it waits for what this process cannot
/// give.
fn answered_for_child(
    live: &mut Live<'_>,
    person: &mut Option<TerminalApproval>,
    session: &Session,
    child: Option<&str>,
) -> Result<bool, Error> {
    let Some(child) = child else { return Ok(false) };
    let found = session.call(&Show { task: child.to_owned() })?;
    let Some(waits) = &found.waits_for else {
        std::thread::sleep(LOOK);
        return Ok(true);
    };
    let title = format!("A part that was given away asks: {}", plain(&found.row.title.to_string()));
    match (waits.kind, person, &waits.id) {
        (WaitsFor::Approval, Some(at), Some(approval)) => {
            live.note(&title);
            decided(live, at, session, approval)
        }
        (WaitsFor::Answer, Some(_), Some(_)) => {
            live.note(&title);
            asked(live, session, &found)
        }
        (WaitsFor::Dependency, person, id) => answered_for_child(live, person, session, id.as_deref()),
        _ => Ok(false),
    }
}

/// Puts the card before the person; whether it was answered.
fn decided(
    live: &mut Live<'_>,
    person: &mut TerminalApproval,
    session: &Session,
    approval: &str,
) -> Result<bool, Error> {
    let Some(front) = live.front() else { return Ok(false) };
    let Some(decided) = person.decide(front, session, approval)? else { return Ok(false) };
    if !decided.accepted {
        live.note(&format!("It was {} meanwhile; your answer changed nothing.", decided.status));
    }
    // The first of two yeses: whoever has the other key is waited for elsewhere.
    if decided.accepted && decided.status == ApprovalStatus::Pending {
        live.note(ONE_OF_TWO);
        return Ok(false);
    }
    Ok(true)
}

/// A task at work, of which a tool may wait for the person.
struct AtWork {
    looked: Instant,
    /// The question that the person was shown last.
    later: Option<String>,
}

impl AtWork {
    /// Puts the question of a server whose tool is at work before the person, unless they left it for later; the task, where
    /// something is asked, nobody is here to answer, and another process has the tool at work.
    fn look(
        &mut self,
        live: &mut Live<'_>,
        session: &Session,
        task: &str,
        (is_here, is_paused): (bool, bool),
    ) -> Result<Option<Task>, Error> {
        if is_paused || self.looked.elapsed() < ASKED {
            return Ok(None);
        }
        self.looked = Instant::now();
        let found = session.call(&Show { task: task.to_owned() })?;
        let waits = found.waits_for.as_ref().filter(|waits| waits.kind == WaitsFor::Answer);
        let Some(id) = waits.and_then(|waits| waits.id.clone()) else { return Ok(None) };
        if !is_here && session.is_attached() {
            return Ok(Some(found));
        }
        if self.later.as_ref() != Some(&id) && !(is_here && asked(live, session, &found)?) {
            let task = short(&found.row.task_id);
            live.note(&format!("A server of tools asks you something: hermit task answer {task} \"…\""));
            self.later = Some(id);
        }
        Ok(None)
    }
}

/// Puts the question before the person; whether it was answered.
fn asked(live: &mut Live<'_>, session: &Session, task: &Task) -> Result<bool, Error> {
    live.front().map_or(Ok(false), |front| question::answer(front, session, task))
}

fn halted() -> Error {
    Error::new(Code::Halted, "Hermit is halted and does nothing").hint("run `hermit boot` to resume work")
}

/// Whether a task has ended.
pub fn is_over(task: &Task) -> bool {
    task.row.status.is_terminal()
}

/// The exit code of a program that leaves a task like this.
pub fn exit_code(rest: &Rest) -> u8 {
    let refused = matches!(
        rest.task.termination,
        Some(TerminationReason::ApprovalDenied | TerminationReason::GateHalted)
    );
    match rest.task.row.status {
        _ if rest.key_locked => exit::WAITING,
        _ if refused || rest.stopped => exit::REFUSED,
        TaskStatus::Completed | TaskStatus::RolledBack => exit::DONE,
        // The agent of another program goes on when it wants to; nobody waits for a person.
        TaskStatus::Running
            if rest.task.waits_for.as_ref().is_some_and(|waits| waits.kind == WaitsFor::Agent) =>
        {
            exit::DONE
        }
        TaskStatus::Failed | TaskStatus::Cancelled => exit::OTHER,
        TaskStatus::Created
        | TaskStatus::Ready
        | TaskStatus::Running
        | TaskStatus::Blocked
        | TaskStatus::Paused => exit::WAITING,
    }
}

/// What a person can do next about a task that waits.
pub fn next_steps(task: &Task) -> Vec<String> {
    let id = short(&task.row.task_id);
    let Some(waits) = &task.waits_for else { return Vec::new() };
    let about = waits.id.as_deref().map_or(id, short);
    match waits.kind {
        WaitsFor::Approval => vec![
            "Waiting for your approval. At a terminal:".to_owned(),
            format!("  hermit approvals approve {about}"),
        ],
        WaitsFor::Answer => vec!["Answer it:".to_owned(), format!("  hermit task answer {id} \"…\"")],
        WaitsFor::UnknownOutcome => vec![
            "Hermit was interrupted during its last action and does not know how it ended. Look, then:"
                .to_owned(),
            format!("  hermit resolve {id} --as succeeded|failed|partial --note \"how you know\""),
        ],
        WaitsFor::Resume => vec![format!("Paused. To continue: hermit task resume {id}")],
        WaitsFor::Agent => {
            vec!["Waiting for the next call of its agent. Nothing is asked of you.".to_owned()]
        }
        WaitsFor::Dependency => {
            vec![
                "Waiting for a part that its agent gave away:".to_owned(),
                format!("  hermit task show {about}"),
            ]
        }
    }
}
