//! `hermit acp`: an editor's agent on standard input and output. What an editor says becomes a task; what a person is
//! asked is asked where a person is, and never over this line.

use super::{Came, acp_install};
use crate::args::{AcpArgs, AcpVerb};
use crate::context::{Context, Signs};
use crate::follow::{Rest, is_over};
use crate::output::Tone;
use crate::progress::{APPROVED, DENIED, Progress, Results, Told as Heard};
use crate::question::Asking;
use crate::report;
use crate::text::{paragraph, plain, short};
use acp::editor::{Prompt, Stop, Told, Works};
use host::{Session, Stands};
use model::task::TaskStatus;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::conversations::{Said, Say};
use wire::task::{Cancel, Reasoner, Show, Submit, Task};
use wire::{Code, Error, exit};
use words::act::ActionClass;
use words::slash::{SlashCommand, Written, written};
use words::task::WaitsFor;

/// How long a task is waited for before what came is told.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is looked at whether a person has answered.
const WAITS: Duration = Duration::from_millis(200);
/// Letters of what an act printed that an editor is told.
const PRINTED: usize = 8_000;
/// Parts of a task that are told one by one.
const PARTS: usize = 16;
/// How deep a part of a part is looked for.
const PARTS_DEEP: usize = 4;
/// Receipts that are told one by one.
const RECEIPTS: usize = 20;

/// `hermit acp`.
pub fn acp(context: &Context, args: AcpArgs) -> Came {
    match args.verb {
        None => serve(context, args),
        Some(AcpVerb::Install(install)) => acp_install::install(context, &install),
        Some(AcpVerb::Uninstall(uninstall)) => acp_install::uninstall(context, &uninstall),
    }
}

fn serve(context: &Context, args: AcpArgs) -> Came {
    // Nobody is asked at this terminal: it belongs to the editor that started this.
    let session = context.writing(Signs::No)?;
    session.serve();
    let works =
        Arc::new(Editor { session, model: args.model, profile: args.profile, acts: AtomicU64::new(0) });
    let (stdin, stdout) = (std::io::stdin().lock(), std::io::stdout());
    let served = acp::editor::serve(Arc::clone(&works) as _, env!("CARGO_PKG_VERSION"), stdin, stdout);
    works.session.close();
    served.map(|()| exit::DONE).map_err(|e| {
        Error::new(Code::Failed, format!("standard input cannot be read: {e}"))
            .hint("an editor starts `hermit acp`; `hermit acp install` puts it into its settings")
    })
}

/// Tasks of the store, for an editor.
struct Editor {
    session: Session,
    model: Option<String>,
    profile: Option<String>,
    /// Acts that were told of: each has a name of its own in every session.
    acts: AtomicU64,
}

impl Works for Editor {
    fn folder(&self, folder: &Path) -> Result<PathBuf, String> {
        let wrong = |why: String| format!("Hermit cannot work in `{}`: {why}", folder.display());
        let real = std::fs::canonicalize(folder).map_err(|e| wrong(e.to_string()))?;
        if real.is_dir() { Ok(real) } else { Err(wrong("it is no folder".to_owned())) }
    }

    fn work(
        &self,
        prompt: &Prompt<'_>,
        tell: &mut dyn FnMut(Told<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Stop, String> {
        let heard = self.session.listen();
        let task = match self.begin(prompt).map_err(|e| in_words(&e))? {
            Begun::Task(task) => task,
            Begun::Told(lines) => {
                tell(Told::Says(&format!("{}\n", lines.join("\n"))));
                return Ok(Stop::Ended);
            }
        };
        tell(Told::Task(&task));
        let acts =
            Acts { progress: Progress::new(Results::Told), began: 0, printed: String::new(), open: false };
        let (told, parts) = (BTreeSet::new(), Vec::new());
        let mut turn =
            Turn { editor: self, task: &task, tell, acts, told, parts, key_locked: false, called_off: false };
        turn.stay(heard.as_ref(), cancelled).map_err(|e| in_words(&e))
    }
}

impl Editor {
    /// A task of its own, or more about the one that the session is about.
    fn begin(&self, prompt: &Prompt<'_>) -> Result<Begun, Error> {
        let channel = Some("acp".to_owned());
        if let Some(task) = prompt.task {
            let (text, task) = (prompt.text.to_owned(), Some(task.to_owned()));
            let said = self.session.call(&Say { text, task, channel, ..Say::default() })?;
            let branched = matches!(written(prompt.text), Ok(Written::Command(SlashCommand::Branch, _)));
            return began(said, branched);
        }
        let goal = match written(prompt.text) {
            Ok(Written::Words(words)) => words.to_owned(),
            Ok(Written::Command(SlashCommand::Help, _)) => {
                let lines = SlashCommand::ALL.iter().map(|one| format!("- `/{one}` {}", one.about()));
                return Ok(Begun::Told(lines.collect()));
            }
            Ok(Written::Command(command, _)) => {
                let why = format!("`/{command}` is about a task, and this session has none yet");
                return Err(Error::new(Code::Usage, why).hint("say first what should be done"));
            }
            Err(unknown) => {
                return Err(Error::new(Code::Usage, unknown.to_string())
                    .hint("begin with `//` to say words that begin with a slash"));
            }
        };
        let workspace = prompt.folder.to_str().map(str::to_owned);
        let workspace =
            workspace.ok_or_else(|| Error::new(Code::Usage, "the name of the folder is not UTF-8"))?;
        let reasoner = match &self.model {
            Some(address) => Reasoner::Address { address: address.clone() },
            None => Reasoner::Standard,
        };
        let profile = self.profile.clone();
        let submit = Submit { goal, workspace, reasoner, profile, channel, ..Submit::default() };
        Ok(Begun::Task(self.session.call(&submit)?.task_id))
    }
}

/// What a prompt began: a task that is stayed with, or nothing but an answer.
enum Begun {
    Task(String),
    Told(Vec<String>),
}

/// What was said about the session's task. A command that only tells ends the prompt, and so does one that begins work in
/// another conversation: the session stays with its own.
fn began(said: Said, branched: bool) -> Result<Begun, Error> {
    let task = said.task_id.ok_or_else(|| Error::new(Code::Failed, plain(&said.rationale)))?;
    if branched {
        let line = format!("Task {} has begun, in a conversation of its own.", short(&task));
        return Ok(Begun::Told(vec![line]));
    }
    if said.told.is_empty() {
        return Ok(Begun::Task(task));
    }
    Ok(Begun::Told(said.told.iter().map(|line| format!("- {}", plain(line))).collect()))
}

fn in_words(error: &Error) -> String {
    match error.hint.is_empty() {
        true => plain(&error.message),
        false => format!("{}; {}", plain(&error.message), plain(&error.hint)),
    }
}

/// The protocol's word for a class of acts.
const fn kind_of(class: Option<ActionClass>) -> &'static str {
    match class {
        Some(ActionClass::ReadLocal) => "read",
        Some(ActionClass::WriteLocal | ActionClass::Rollback) => "edit",
        Some(ActionClass::DeleteLocal) => "delete",
        Some(ActionClass::ExecuteCommand | ActionClass::VcsMutation) => "execute",
        Some(ActionClass::NetworkRead | ActionClass::NetworkWrite | ActionClass::CredentialedApiCall) => {
            "fetch"
        }
        _ => "other",
    }
}

/// Acts of a task, as an editor is told of them.
struct Acts {
    progress: Progress,
    began: u64,
    /// What the act in hand has printed and how it stands.
    printed: String,
    open: bool,
}

/// A prompt at work.
struct Turn<'t> {
    editor: &'t Editor,
    task: &'t str,
    tell: &'t mut dyn FnMut(Told<'_>),
    acts: Acts,
    /// Approvals and hindrances that were told of.
    told: BTreeSet<String>,
    /// Parts that its agent gave away, as they were told last.
    parts: Vec<(String, &'static str)>,
    key_locked: bool,
    called_off: bool,
}

impl Turn<'_> {
    /// Stays until it has ended, or a person has to say more in the editor.
    fn stay(
        &mut self,
        heard: Option<&Receiver<wire::Notice>>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Stop, Error> {
        let session = &self.editor.session;
        loop {
            let stands = session.stands(self.task, LOOK);
            heard.into_iter().flat_map(Receiver::try_iter).for_each(|notice| self.hear(&notice));
            if cancelled() && !self.called_off {
                self.called_off = true;
                let reason = Some("cancelled in the editor".to_owned());
                match session.call(&Cancel { task: self.task.to_owned(), reason }) {
                    // It may have ended in the same instant.
                    Ok(_) => continue,
                    Err(error) if error.code == Code::Conflict => {}
                    Err(error) => return Err(error),
                }
            }
            match stands {
                Stands::AtWork => {
                    let task = self.look()?;
                    self.parts(&task)?;
                    // A tool that is at work may ask.
                    if self.asks(&task)? {
                        return Ok(Stop::Ended);
                    }
                    continue;
                }
                Stands::Broke(error) => return Err(error),
                Stands::Halted => {
                    self.once("halted", "Hermit is halted and does nothing. To resume work, run `hermit boot` at a terminal.\n");
                }
                Stands::KeyLocked => {
                    self.key_locked = true;
                    self.once("keys", "Your keys are locked, so its receipts wait. To open them, run `hermit unlock` at a terminal.\n");
                }
                Stands::AtRest => self.key_locked = false,
            }
            let task = self.look()?;
            self.parts(&task)?;
            if is_over(&task) {
                return self.over(task);
            }
            if self.rests(&task)? {
                return Ok(Stop::Ended);
            }
            std::thread::sleep(WAITS);
        }
    }

    fn look(&self) -> Result<Task, Error> {
        self.editor.session.call(&Show { task: self.task.to_owned() })
    }

    /// Parts that its agent gave away are its plan.
    fn parts(&mut self, task: &Task) -> Result<(), Error> {
        let mut parts = Vec::new();
        for child in task.children.iter().take(PARTS) {
            let row = self.editor.session.call(&Show { task: child.clone() })?.row;
            let status = match row.status {
                status if status.is_terminal() => "completed",
                TaskStatus::Created | TaskStatus::Ready => "pending",
                _ => "in_progress",
            };
            parts.push((plain(&row.title.to_string()), status));
        }
        if parts != self.parts {
            (self.tell)(Told::Plan(&parts));
            self.parts = parts;
        }
        Ok(())
    }

    fn once(&mut self, what: &str, words: &str) {
        if self.told.insert(what.to_owned()) {
            self.says(words);
        }
    }

    fn says(&mut self, words: &str) {
        (self.tell)(Told::Says(words));
    }

    /// What it waits for is told; whether it waits for what is said in the editor.
    fn rests(&mut self, task: &Task) -> Result<bool, Error> {
        let Some(waits) = &task.waits_for else { return Ok(false) };
        let (id, about) = (short(&task.row.task_id), waits.id.clone().unwrap_or_default());
        match waits.kind {
            WaitsFor::Approval => {
                let words = format!(
                    "\nThis waits for your approval. Only you can allow it, and not from here: in the window or the tray of \
                     Hermit, on its page, or at a terminal with `hermit approvals approve {}`. It goes on by itself then.\n",
                    short(&about)
                );
                self.once(&about, &words);
                Ok(false)
            }
            WaitsFor::Answer => self.asks(task),
            WaitsFor::UnknownOutcome => {
                self.says(&format!(
                    "\nHermit was interrupted during its last action and does not know how it ended. Look, then: \
                     `hermit resolve {id} --as succeeded|failed|partial --note \"how you know\"`\n"
                ));
                Ok(true)
            }
            WaitsFor::Resume => {
                self.says(&format!("\nIt is paused. To continue: `hermit task resume {id}`\n"));
                Ok(true)
            }
            WaitsFor::Dependency => {
                self.part_rests(&about);
                Ok(false)
            }
            WaitsFor::Agent => Ok(false),
        }
    }

    /// What a part of the task waits for; what is said in the editor goes to the task itself. A part that cannot be looked
    /// at now is looked at again.
    fn part_rests(&mut self, part: &str) {
        for_part(&self.editor.session, part, PARTS_DEEP, &mut |what, words| self.once(what, words));
    }

    /// A question is told, and the next prompt answers it.
    fn asks(&mut self, task: &Task) -> Result<bool, Error> {
        let Some(question) = Asking::of(&self.editor.session, task)?.question else { return Ok(false) };
        let mut words = format!("\n{}\n", paragraph(&question.question.to_string()));
        for choice in &question.choices {
            words.push_str(&format!("- {}\n", plain(&choice.to_string())));
        }
        words.push_str("Your next message is the answer.\n");
        self.says(&words);
        Ok(true)
    }

    fn hear(&mut self, notice: &wire::Notice) {
        for told in self.acts.progress.hear(&self.editor.session, self.task, notice) {
            self.heard(told);
        }
    }

    fn heard(&mut self, told: Heard) {
        match told {
            Heard::Said(line) => self.says(&format!("{line}\n")),
            Heard::Doing { kept: true } => {
                self.close("completed");
                self.acts.began = self.editor.acts.fetch_add(1, Ordering::Relaxed);
                (self.acts.open, self.acts.printed) = (true, String::new());
                let (id, kind) = (self.act(), kind_of(self.acts.progress.class()));
                (self.tell)(Told::Begins { id: &id, title: self.acts.progress.doing(), kind });
            }
            Heard::Came((tone, words)) => {
                let words = words.trim();
                if self.acts.printed.len() < PRINTED {
                    self.acts.printed.push_str(words);
                    self.acts.printed.push('\n');
                }
                match tone {
                    Tone::Good if words != APPROVED => self.close("completed"),
                    Tone::Bad => self.close("failed"),
                    Tone::Warn if words.starts_with(DENIED) => self.close("failed"),
                    _ if self.acts.open => self.stands("in_progress"),
                    _ => {}
                }
            }
            Heard::Doing { kept: false } | Heard::More => {}
        }
    }

    fn act(&self) -> String {
        format!("{}-{}", self.task, self.acts.began)
    }

    fn stands(&mut self, status: &str) {
        let id = self.act();
        (self.tell)(Told::Stands { id: &id, status, words: self.acts.printed.trim_end() });
    }

    fn close(&mut self, status: &str) {
        if std::mem::take(&mut self.acts.open) {
            self.stands(status);
        }
    }

    fn over(&mut self, task: Task) -> Result<Stop, Error> {
        if let Some(told) = self.acts.progress.flush() {
            self.heard(told);
        }
        let status = task.row.status;
        self.close(if status == TaskStatus::Completed { "completed" } else { "failed" });
        let receipts = super::run::effects(&self.editor.session, self.task)?;
        let rest = Rest { task, key_locked: self.key_locked, stopped: false };
        let mut words = format!("\n{}\n", report::in_a_sentence(&rest, &receipts));
        if let Some(said) = &rest.task.summary {
            words.push_str(&format!("\n{}\n", paragraph(&said.to_string())));
        }
        for receipt in receipts.iter().take(RECEIPTS) {
            words.push_str(&format!(
                "- {} (receipt {})\n",
                plain(&receipt.summary.to_string()),
                short(&receipt.receipt_id)
            ));
        }
        self.says(&words);
        Ok(match status {
            TaskStatus::Cancelled => Stop::Cancelled,
            _ => Stop::Ended,
        })
    }
}

/// Tells what a part, or the part of it that it waits for, waits for of a person.
fn for_part(session: &Session, part: &str, deep: usize, tell: &mut dyn FnMut(&str, &str)) {
    let Ok(task) = session.call(&Show { task: part.to_owned() }) else { return };
    let Some(waits) = &task.waits_for else { return };
    let (id, about) = (short(&task.row.task_id), waits.id.clone().unwrap_or_default());
    match waits.kind {
        WaitsFor::Dependency if deep > 0 => for_part(session, &about, deep - 1, tell),
        WaitsFor::Approval => tell(
            &about,
            &format!(
                "\nA part of it waits for your approval. Only you can allow it, and not from here: in the window or the tray \
                 of Hermit, on its page, or at a terminal with `hermit approvals approve {}`. It goes on by itself then.\n",
                short(&about)
            ),
        ),
        WaitsFor::Answer => {
            tell(
                &about,
                &format!(
                    "\nA part of it asks you something: `hermit task show {id}` shows it, `hermit task answer {id} \"…\"` answers.\n"
                ),
            );
        }
        WaitsFor::UnknownOutcome | WaitsFor::Resume => {
            tell(
                &task.row.task_id,
                &format!("\nA part of it waits for you: `hermit task show {id}` says for what.\n"),
            );
        }
        WaitsFor::Agent | WaitsFor::Dependency => {}
    }
}
