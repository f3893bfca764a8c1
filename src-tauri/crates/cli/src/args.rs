//! The verbs, and the help that teaches them.

mod acp;
mod adoptions;
mod anchor;
mod artifacts;
mod gateway;
mod identity;
mod ledger;
mod logs;
mod mcp;
mod memory;
mod mesh;
mod models;
mod passkey;
mod passphrase;
mod playbooks;
mod policy;
mod rest;
mod schedule;
mod secret;
mod serve;
mod service;
mod skills;
mod skin;
mod source;
mod standing;
mod successor;
mod tools;
mod train;
mod update;
mod watch;
mod work;

pub use acp::{AcpArgs, AcpInstall, AcpUninstall, AcpVerb};
pub use adoptions::{SuccessorAdopt, SuccessorBack};
pub use anchor::{AnchorNow, AnchorVerb, ClocksSet, ClocksVerb};
pub use artifacts::{ArtifactsVerb, GcArgs};
pub use gateway::{GatewayAdd, GatewayVerb};
pub use identity::IdentityVerb;
pub use ledger::{LedgerVerb, Reanchor};
pub use logs::LogsArgs;
pub use mcp::{McpArgs, McpInstall, McpUninstall, McpVerb};
pub use memory::{BeliefCorrect, MemoryAdd, MemoryList, MemoryVerb};
pub use mesh::{MeshOn, MeshVerb, PersonArgs};
pub use models::{ModelsAdd, ModelsGet, ModelsSet, ModelsTest, ModelsVerb};
pub use passkey::PasskeyVerb;
pub use passphrase::KeysPassphrase;
pub use playbooks::PlaybooksVerb;
pub use policy::{ActArgs, BacktestArgs, PolicyVerb, TestArgs, TrialArgs};
pub use rest::{
    AskWitness, BackupArgs, CheckpointVerb, CompletionsArgs, DoctorArgs, EraseArgs, GateVerb, GrantsVerb,
    HaltArgs, KeysInit, KeysRevoke, KeysRotate, KeysTrust, KeysVerb, ProofExport, ProofVerb, ProofVerify,
    RestoreArgs, SearchArgs, StartArgs, Store, UnlockArgs, WitnessServe, WitnessVerb,
};
pub use schedule::{ScheduleAdd, ScheduleLimits, ScheduleVerb};
pub use secret::{SecretSet, SecretVerb};
pub use serve::{OpenArgs, ServeArgs};
pub use service::{ServiceInstall, ServiceVerb};
pub use skills::SkillsVerb;
pub use skin::SkinVerb;
pub use source::{IntrospectArgs, IntrospectTopic, LicencesArgs, SourceArgs};
pub use standing::GrantsAllow;
pub use successor::{SuccessorTry, SuccessorVerb};
pub use tools::{
    ToolsAdd, ToolsClassify, ToolsLogin, ToolsPassOn, ToolsPrompt, ToolsSampling, ToolsTry, ToolsVerb,
};
pub use train::{TrainJoin, TrainRun, TrainTogether, TrainVerb};
pub use update::{UpdateBack, UpdateRelease, UpdateVerb};
pub use watch::WatchArgs;
pub use work::{
    AgentsVerb, ApprovalsVerb, ApproveArgs, ContextArgs, ConversationVerb, ListArgs, ReceiptsVerb,
    ResolveArgs, RollbackArgs, RunArgs, TaskVerb, WorkspaceVerb,
};

use crate::live::Show;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Exit codes, told at the end of every help.
const EXITS: &str = "\
Exit codes:
  0 done   1 failed   2 wrong usage   3 denied by policy or by you   4 waiting for you
  5 not valid   6 not signed by a key you trust   7 something is missing

The store is in --home, else HERMIT_HOME, else the platform's folder for data.";

/// Lets agents do real work on this computer, asks you first, and proves what happened.
#[derive(Debug, Parser)]
#[command(name = "hermit", version, max_term_width = 110, after_help = EXITS, after_long_help = EXITS, propagate_version = true,
    long_about = "Lets agents do real work on this computer, asks you before anything important, and proves what happened.\n\n\
    First steps - keys, a task, its receipt, its proof:\n  \
      hermit start\n\
    Sort a folder; you see every move and allow it or not:\n  \
      hermit run --playbook tidy --workspace ~/Downloads\n\
    Give a model a goal:\n  \
      hermit run \"name these notes by date\" --workspace notes \\\n      \
          --model openai:http://127.0.0.1:8080/v1#qwen\n\
    See what waits for your approval:\n  \
      hermit approvals list\n\
    Undo a receipt, a task, or everything since a day (your time):\n  \
      hermit rollback RECEIPT | TASK | --since tuesday\n\
    Make a file that anybody can check without Hermit:\n  \
      hermit proof export TASK -o proof.zip")]
pub struct Args {
    /// Folder in which Hermit keeps its records.
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Print JSON: one document, or one object a line where something is followed.
    #[arg(long, global = true)]
    pub json: bool,
    /// Never ask questions at the terminal.
    #[arg(long, global = true)]
    pub no_input: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// First steps: keys, a first task, its receipt, how to undo it, its proof.
    Start(StartArgs),
    /// Starts a task from a goal or a playbook, and shows its work until it ends.
    Run(Box<RunArgs>),
    /// Runs Hermit without a window, for browsers and other programs.
    Serve(ServeArgs),
    /// Has your system run `hermit serve`, so that work goes on when a window or a terminal closes.
    #[command(subcommand)]
    Service(ServiceVerb),
    /// Opens Hermit in your browser, where `hermit serve` is running.
    Open(OpenArgs),
    /// Lets the agent of another program act through Hermit: Claude Code, Codex, Cursor and others.
    Mcp(McpArgs),
    /// Lets an editor that speaks the Agent Client Protocol use Hermit as its agent: Zed and others.
    Acp(AcpArgs),
    /// Tasks: list, look at, steer and stop them.
    #[command(subcommand)]
    Task(TaskVerb),
    /// Conversations: send a message, and say which task it is about.
    #[command(subcommand)]
    Conversation(ConversationVerb),
    /// Folders that were worked in, and the project of each.
    #[command(subcommand)]
    Workspace(WorkspaceVerb),
    /// What waits for your approval.
    #[command(subcommand)]
    Approvals(ApprovalsVerb),
    /// Receipts: signed records of what was done.
    #[command(subcommand)]
    Receipts(ReceiptsVerb),
    /// Undoes a receipt, a task, or everything since a time; shows its plan and asks you first.
    Rollback(RollbackArgs),
    /// Undoes the last change that can be undone; shows its plan and asks you first.
    Undo(WatchArgs),
    /// Stored files: what came in, what was made, how much room it takes.
    #[command(subcommand)]
    Artifacts(ArtifactsVerb),
    /// Proofs that anybody can check without Hermit.
    #[command(subcommand)]
    Proof(ProofVerb),
    /// The log of everything that happened: verify, rebuild, repair.
    #[command(subcommand)]
    Ledger(LedgerVerb),
    /// Back up and compare signed fingerprints of the log.
    #[command(subcommand)]
    Checkpoint(CheckpointVerb),
    /// Security gate: status and audit log.
    #[command(subcommand)]
    Gate(GateVerb),
    /// Keys: make them, list and rotate them, and say whose you trust.
    #[command(subcommand)]
    Keys(KeysVerb),
    /// Passkeys: approve in a browser with your fingerprint or a security key; list and revoke them.
    #[command(subcommand)]
    Passkey(PasskeyVerb),
    /// Opens the keys of the running host for a while, with the passphrase typed here.
    Unlock(UnlockArgs),
    /// Locks the keys of the running host.
    Lock,
    /// Models on this machine, and the servers elsewhere that have a key.
    #[command(subcommand)]
    Models(ModelsVerb),
    /// Training: a small model learns from your finished work, on this machine.
    #[command(subcommand)]
    Train(TrainVerb),
    /// Agents of other programs, which can work as guests on a copy of your folder.
    #[command(subcommand)]
    Agents(AgentsVerb),
    /// Playbooks, which need no model: lists them, or shows one; drafts of what recurs, which you try, adopt and turn off.
    #[command(args_conflicts_with_subcommands = true)]
    Playbooks {
        /// One of them.
        name: Option<String>,
        #[command(subcommand)]
        verb: Option<PlaybooksVerb>,
    },
    /// Schedules: tasks that begin by themselves, each morning or whenever you say.
    #[command(subcommand)]
    Schedule(ScheduleVerb),
    /// Gateways: write to Hermit from a chat, such as Telegram, Matrix or mail.
    #[command(subcommand)]
    Gateway(GatewayVerb),
    /// Skills: folders of instructions (SKILL.md) that models follow once you trust them.
    #[command(subcommand)]
    Skills(SkillsVerb),
    /// Skins: how Hermit speaks and looks in a conversation.
    #[command(subcommand)]
    Skin(SkinVerb),
    /// Who this instance is: SOUL.md, its key, and the chain of what it said of itself.
    #[command(subcommand)]
    Identity(IdentityVerb),
    /// Anchors: clocks elsewhere show when your log was there.
    #[command(subcommand)]
    Anchor(AnchorVerb),
    /// The mesh: your machines as one, over relays that you name, one network, or a file that you carry.
    #[command(subcommand)]
    Mesh(MeshVerb),
    /// Changes of Hermit itself, tried on your own past work before you adopt one.
    #[command(subcommand)]
    Successor(SuccessorVerb),
    /// Updates Hermit from a release that you have here; goes back where the new program does not come up.
    #[command(subcommand)]
    Update(UpdateVerb),
    /// Secrets by handle: what agents may use and never see.
    #[command(subcommand)]
    Secret(SecretVerb),
    /// Servers of tools (MCP): add one, see what it offers, say what each tool may do.
    #[command(subcommand)]
    Tools(ToolsVerb),
    /// Cosigns the logs of other machines, so that nothing is rewritten unnoticed.
    #[command(subcommand)]
    Witness(WitnessVerb),
    /// Copies the store into a new folder, also while it is in use.
    Backup(BackupArgs),
    /// Puts a copy back into an empty folder, and verifies it.
    Restore(RestoreArgs),
    /// Stops all work until `hermit boot`.
    Halt(HaltArgs),
    /// Resumes work after a halt.
    Boot,
    /// Resumes every interrupted task.
    Resume(WatchArgs),
    /// Records how an interrupted action ended, after you have looked.
    Resolve(ResolveArgs),
    /// Erases what was said, for good: values and the content that repeats them; every proof still holds.
    Erase(EraseArgs),
    /// Tells the chain behind a receipt, an artifact, a file or a line of it: from goal to change.
    Explain {
        /// The receipt or artifact, or the beginning or end of its identifier, or its short form on a page (`R-1a2b`);
        /// or a file, and `:LINE` behind it.
        subject: String,
        /// Show every link behind it with its identifier.
        #[arg(long)]
        ids: bool,
    },
    /// Lists everything that derives from a bad source, and drafts the plan to take it back. Runs nothing.
    Recall {
        /// An artifact, belief or memory record; or a file that was taken in, read or kept.
        source: String,
    },
    /// Shows exactly what was sent to the model, and what came back.
    Context(ContextArgs),
    /// Searches everything that was said and done.
    Search(SearchArgs),
    /// Memory: what agents remember, and the evidence for it.
    #[command(subcommand)]
    Memory(MemoryVerb),
    /// Policy: its rules, why it allowed or refused something, and what other rules would change.
    #[command(subcommand)]
    Policy(PolicyVerb),
    /// Standing approvals: list, give and revoke them.
    #[command(subcommand)]
    Grants(GrantsVerb),
    /// Shows where the log is, and its last lines.
    Logs(LogsArgs),
    /// The source that this program was made of: tells its digest, or unpacks it.
    Source(SourceArgs),
    /// What this version tells of itself: rooms, doors, commands, limits, requirements and their tests.
    Introspect(IntrospectArgs),
    /// Licences of what Hermit is built of, with their texts.
    Licences(LicencesArgs),
    /// Checks what works on this machine, and says how to fix the rest.
    Doctor(DoctorArgs),
    /// Prints the script by which your shell completes commands and what the store holds.
    Completions(CompletionsArgs),
}

impl Verb {
    /// What is shown while a task works, where this verb stays with one.
    pub fn show(&self) -> Show {
        let watch = match self {
            Self::Start(args) => args.watch,
            Self::Run(args) => args.watch,
            Self::Rollback(args) => args.watch,
            Self::Resolve(args) => args.watch,
            Self::Approvals(ApprovalsVerb::Approve(args)) => args.watch,
            Self::Undo(watch)
            | Self::Resume(watch)
            | Self::Task(
                TaskVerb::Resume { watch, .. }
                | TaskVerb::Retry { watch, .. }
                | TaskVerb::Answer { watch, .. },
            ) => *watch,
            _ => WatchArgs::default(),
        };
        watch.show()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, CommandFactory as _};

    #[test]
    fn no_line_of_any_help_ends_in_the_middle_of_a_narrow_terminal() {
        fn walk(command: &mut Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            for columns in [72, 100] {
                let help =
                    command.clone().term_width(columns).max_term_width(columns).render_help().to_string();
                let lines: Vec<&str> = help.lines().collect();
                for pair in lines.windows(2) {
                    let [one, next] = pair else { continue };
                    let prose =
                        |line: &str| !line.is_empty() && !line.starts_with([' ', '-']) && line.contains(' ');
                    let word = next.split(' ').next().unwrap_or_default();
                    let short = one.chars().count() + 1 + word.chars().count() <= columns;
                    // A sentence may end early; a line that stops in the middle of one was broken twice.
                    let ended = one.ends_with(['.', ':', ';', ')', ',']) || one.starts_with("Usage");
                    assert!(
                        !(prose(one) && prose(next) && short && !ended),
                        "{path}, {columns} columns:\n{one}\n{next}"
                    );
                }
            }
            command.get_subcommands_mut().for_each(|inner| walk(inner, &path));
        }
        let mut whole = Args::command();
        whole.build();
        walk(&mut whole, "");
    }
}
