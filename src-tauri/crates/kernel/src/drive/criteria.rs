//! What a person said must hold at the end, checked before a task ends as done (HK-8.2-5). No model is asked: files are
//! looked at, and a command counts by its receipt.

use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use model::body::CriteriaChecked;
use model::criterion::Criterion;
use model::receipt::{ItemOutcome, Receipt, ReceiptClass};
use model::task::{CheckedCriterion, CriterionOutcome};
use model::witness::Found;
use model::{ReceiptId, RelPath, ResourceId, Sensitive, Slot, WorkspaceId};

/// How often a model is sent back to what is not met, before its task ends as failed.
const SENT_BACK_MAX: u32 = 2;

/// What a check found.
struct Seen {
    outcome: CriterionOutcome,
    found: String,
    receipt_id: Option<ReceiptId>,
}

impl Kernel {
    /// Checks the criteria of a task that would end as done, and records what was found. What is not met comes back in
    /// words; nothing where all of it is met or only a person can judge it.
    pub(super) fn check_criteria(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Error> {
        let criteria = self.contract(tx)?.success_criteria;
        let is_last = tx.step_after(tx.step().map(|step| step.step_id)).is_none();
        let (false, true, Some(workspace)) = (criteria.is_empty(), is_last, tx.task.workspace_hint) else {
            return Ok(None);
        };
        let executors = self.executors(tx)?;
        let acts = self.acts_newest_first(tx, &criteria)?;
        let mut checked = Vec::with_capacity(criteria.len());
        let mut unmet = Vec::new();
        for criterion in criteria {
            let seen = match Criterion::parse(&criterion) {
                Ok(Criterion::Ran(command)) => ran(&acts, &command),
                Ok(of_files) => looked_at(&*executors, workspace, &of_files),
                Err(why) => Seen { outcome: CriterionOutcome::Unchecked, found: why, receipt_id: None },
            };
            if seen.outcome == CriterionOutcome::Unmet {
                unmet.push(format!("`{criterion}`: {}", seen.found));
            }
            checked.push(CheckedCriterion {
                criterion: Sensitive::from(criterion),
                outcome: seen.outcome,
                found: Sensitive::from(seen.found),
                receipt_id: seen.receipt_id,
            });
        }
        tx.push(CriteriaChecked { about_task_id: tx.task.task_id, checked });
        Ok((!unmet.is_empty()).then(|| unmet.join("; ")))
    }

    /// Whether a model is sent back to what is not met: it has been told less often than it may be.
    pub(super) fn is_sent_back(&self, tx: &Tx<'_>) -> Result<bool, Error> {
        let times = tx.attempt().map_or(0, |attempt| attempt.criteria_checks);
        Ok(self.proposer(tx)?.reads_context() && times <= SENT_BACK_MAX)
    }

    /// Receipts of the task's own acts, the newest first, where a criterion is about a command.
    fn acts_newest_first(&self, state: &TaskState, criteria: &[String]) -> Result<Vec<Receipt>, Error> {
        if !criteria.iter().any(|text| matches!(Criterion::parse(text), Ok(Criterion::Ran(_)))) {
            return Ok(Vec::new());
        }
        let acts =
            state.receipts.iter().rev().filter(|r| r.receipt_class != ReceiptClass::ApprovalResolution);
        acts.map(|record| Ok(self.receipt(record.receipt_id)?.1)).collect()
    }
}

/// What the folder says of a criterion about files.
fn looked_at(executors: &dyn Executors, workspace: WorkspaceId, criterion: &Criterion) -> Seen {
    let seen = |is_met: bool, found: String| Seen {
        outcome: if is_met { CriterionOutcome::Met } else { CriterionOutcome::Unmet },
        found,
        receipt_id: None,
    };
    let at = |path: &RelPath| {
        let prints = executors.observe(&[ResourceId::File(workspace, path.clone())]);
        prints.into_iter().next().map_or(Found::Absent, |print| print.state)
    };
    match criterion {
        Criterion::There(path) => {
            let found = at(path);
            let is_there = matches!(found, Found::File { .. } | Found::Folder { .. });
            seen(is_there, in_words(&found))
        }
        Criterion::Gone(path) => {
            let found = at(path);
            seen(found == Found::Absent, in_words(&found))
        }
        Criterion::Holds { path, words } => {
            let texts = executors.texts(std::slice::from_ref(path));
            match texts.into_values().next().map(String::from_utf8) {
                Some(Ok(text)) if text.contains(words.as_str()) => {
                    seen(true, "the words are in it".to_owned())
                }
                Some(Ok(_)) => seen(false, "the words are not in it".to_owned()),
                Some(Err(_)) => seen(false, "the file is not text in UTF-8".to_owned()),
                None => match at(path) {
                    Found::File { .. } => seen(false, "the file is too long to be searched".to_owned()),
                    other => seen(false, in_words(&other)),
                },
            }
        }
        Criterion::Ran(_) | Criterion::Words => Seen {
            outcome: CriterionOutcome::Unchecked,
            found: "a person judges it".to_owned(),
            receipt_id: None,
        },
    }
}

/// What is there, without its digest.
fn in_words(found: &Found) -> String {
    match found {
        Found::Absent => "nothing is there".to_owned(),
        Found::File { byte_size: 1, .. } => "a file of 1 byte is there".to_owned(),
        Found::File { byte_size, .. } => format!("a file of {byte_size} bytes is there"),
        other => format!("{} is there", governance::witness::in_words(other)),
    }
}

/// What the receipts say of a command: its last run counts, unless something was changed after it.
fn ran(acts: &[Receipt], command: &str) -> Seen {
    let seen = |outcome, found: &str, receipt_id| Seen { outcome, found: found.to_owned(), receipt_id };
    let mut is_changed_since = false;
    for receipt in acts {
        let run = match &receipt.ran {
            Slot::Value(ran) => ran.argv.as_ref().and_then(|argv| argv.shown()).zip(ran.exit_code),
            _ => None,
        };
        if let Some((_, code)) = run.filter(|(argv, _)| is_command(argv, command)) {
            let id = Some(receipt.receipt_id);
            return match (code, is_changed_since) {
                (0, false) => seen(CriterionOutcome::Met, "it ended with status 0", id),
                (0, true) => {
                    seen(CriterionOutcome::Unmet, "something was changed since it ran; run it again", id)
                }
                (code, _) => seen(CriterionOutcome::Unmet, &format!("it ended with status {code}"), id),
            };
        }
        is_changed_since |= receipt.changes.iter().any(|change| change.outcome == ItemOutcome::Done);
    }
    seen(CriterionOutcome::Unmet, "it did not run", None)
}

/// Shells, and how each is given its words.
const SHELLS: [(&str, &str); 5] =
    [("sh", "-c"), ("bash", "-c"), ("zsh", "-c"), ("cmd", "/C"), ("pwsh", "-Command")];

/// Whether this is the command a person named: word for word, or as the words of a shell. A program of the same name in another place
/// is another program.
fn is_command(argv: &[String], command: &str) -> bool {
    let by_shell = match argv {
        [shell, flag, line] => SHELLS.contains(&(shell.as_str(), flag.as_str())) && line.trim() == command,
        _ => false,
    };
    by_shell || command.split_whitespace().eq(argv.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::is_command;

    #[test]
    fn only_the_very_command_that_a_person_named_counts() {
        let runs = |argv: &[&str]| {
            is_command(&argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), "npm test")
        };
        assert!(
            runs(&["npm", "test"]) && runs(&["sh", "-c", "npm test"]) && runs(&["bash", "-c", " npm test "])
        );
        let others: [&[&str]; 7] = [
            &["echo", "-c", "npm test"],
            &["./sh", "-c", "npm test"],
            &["./npm", "test"],
            &["npm", "test", "--help"],
            &["sh", "-c", "npm test || true"],
            &["sh", "-n", "npm test"],
            &[],
        ];
        for other in others {
            assert!(!runs(other), "{other:?}");
        }
    }
}
