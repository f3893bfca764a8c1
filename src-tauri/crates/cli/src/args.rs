//! The verbs, and the help that teaches them.

mod artifacts;
mod ledger;
mod models;
mod policy;
mod rest;
mod secret;
mod standing;
mod work;

pub use artifacts::{ArtifactsVerb, GcArgs};
pub use ledger::{LedgerVerb, Reanchor};
pub use models::{ModelsAdd, ModelsVerb};
pub use policy::{ActArgs, BacktestArgs, PolicyVerb, TestArgs, TrialArgs};
pub use rest::{
    AskWitness, BackupArgs, CheckpointVerb, CompletionsArgs, DoctorArgs, EraseArgs, GateVerb, GrantsVerb,
    HaltArgs, KeysInit, KeysRevoke, KeysRotate, KeysTrust, KeysVerb, MemoryVerb, ProofExport, ProofVerb,
    ProofVerify, RestoreArgs, SearchArgs, ServeArgs, StartArgs, Store, WitnessServe, WitnessVerb,
};
pub use secret::{SecretSet, SecretVerb};
pub use standing::GrantsAllow;
pub use work::{
    ApprovalsVerb, ContextArgs, ConversationVerb, ListArgs, ReceiptsVerb, ResolveArgs, RollbackArgs, RunArgs,
    TaskVerb,
};

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Exit codes, told at the end of every help.
const EXITS: &str = "\
Exit codes:
  0 done   1 failed   2 wrong usage   3 refused by policy or a person   4 a person is waited for
  5 not valid   6 signed by nobody you trust   7 something is missing

The store is in --home, else HERMIT_HOME, else the platform's folder for data.";

/// Lets agents do real work on this computer, asks before anything consequential, and proves what happened.
#[derive(Debug, Parser)]
#[command(name = "hermit", version, max_term_width = 110, after_help = EXITS, after_long_help = EXITS, propagate_version = true,
    long_about = "Lets agents do real work on this computer, asks before anything consequential, and proves what happened.\n\n\
    First steps - keys, a task, its receipt, its proof:\n  \
      hermit start\n\
    Sort a folder; you see every move and allow it or not:\n  \
      hermit run --playbook tidy --workspace ~/Downloads\n\
    Give a model a goal:\n  \
      hermit run --goal \"name these notes by date\" --workspace notes \\\n      \
          --model openai:http://127.0.0.1:8080/v1#qwen\n\
    See what waits for your yes or no:\n  \
      hermit approvals list\n\
    Undo a receipt, a task, or everything since a day:\n  \
      hermit rollback RECEIPT | TASK | --since tuesday\n\
    Make a file that anybody can check without Hermit:\n  \
      hermit proof export TASK -o proof.zip")]
pub struct Args {
    /// Folder of the store.
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Print JSON: one document, or one object a line where something is followed.
    #[arg(long, global = true)]
    pub json: bool,
    /// Never ask at the terminal.
    #[arg(long, global = true)]
    pub no_input: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// First steps: keys, a first task with your yes, its receipt, how to undo it, its proof.
    Start(StartArgs),
    /// Gives a goal or a playbook to work on, and stays with it to its end.
    Run(RunArgs),
    /// Hosts the store without a screen: does the work, and lets other programs and browsers attach.
    Serve(ServeArgs),
    /// Tasks: look at them, steer them.
    #[command(subcommand)]
    Task(TaskVerb),
    /// Conversations: say something, and say what it is about.
    #[command(subcommand)]
    Conversation(ConversationVerb),
    /// What waits for a yes or no.
    #[command(subcommand)]
    Approvals(ApprovalsVerb),
    /// What was done, as proven.
    #[command(subcommand)]
    Receipts(ReceiptsVerb),
    /// Undoes a receipt, a task, or everything since a time, as a task of its own that asks you first.
    Rollback(RollbackArgs),
    /// Files that came in, were made, or were left behind.
    #[command(subcommand)]
    Artifacts(ArtifactsVerb),
    /// Proofs that anybody can check without Hermit.
    #[command(subcommand)]
    Proof(ProofVerb),
    /// The log that everything rests on.
    #[command(subcommand)]
    Ledger(LedgerVerb),
    /// Signed heads of the log: kept elsewhere, compared, cosigned.
    #[command(subcommand)]
    Checkpoint(CheckpointVerb),
    /// The reference monitor: its state and its evidence.
    #[command(subcommand)]
    Gate(GateVerb),
    /// Keys: make them, list and rotate them, and say whose you trust.
    #[command(subcommand)]
    Keys(KeysVerb),
    /// Models on this machine, and the servers elsewhere that have a key.
    #[command(subcommand)]
    Models(ModelsVerb),
    /// Secrets by handle: what agents may use and never see.
    #[command(subcommand)]
    Secret(SecretVerb),
    /// A second machine that cosigns heads of logs, so that nothing can be rewritten unseen.
    #[command(subcommand)]
    Witness(WitnessVerb),
    /// Copies the store into a new folder, also while it is in use.
    Backup(BackupArgs),
    /// Puts a copy back into an empty folder, and verifies it.
    Restore(RestoreArgs),
    /// Stops everything, durably, until `hermit boot`.
    Halt(HaltArgs),
    /// Lets Hermit work again after a halt.
    Boot,
    /// Goes on with everything that was interrupted and can go on.
    Resume,
    /// Settles an outcome that nobody knows, after you have looked.
    Resolve(ResolveArgs),
    /// Erases what was said, for good: values and the content that repeats them; every proof still holds.
    Erase(EraseArgs),
    /// Tells the chain behind a receipt, an artifact, a file or a line of it: from goal to change.
    Explain {
        /// The receipt or artifact, or the beginning or end of its identifier; or a file, and `:LINE` behind it.
        subject: String,
    },
    /// Lists everything that derives from a bad source, and drafts the plan to take it back. Runs nothing.
    Recall {
        /// An artifact, belief or memory record; or a file that was taken in or kept.
        source: String,
    },
    /// Shows exactly what was sent to a model, and what came back.
    Context(ContextArgs),
    /// Searches everything that was said and done.
    Search(SearchArgs),
    /// What was kept in memory, and on what it rests.
    #[command(subcommand)]
    Memory(MemoryVerb),
    /// Policy: its rules, why it said what it said, and what other rules would have said.
    #[command(subcommand)]
    Policy(PolicyVerb),
    /// Authority that was given.
    #[command(subcommand)]
    Grants(GrantsVerb),
    /// Tells what works here and what to do about the rest.
    Doctor(DoctorArgs),
    /// Prints completions for a shell.
    Completions(CompletionsArgs),
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
