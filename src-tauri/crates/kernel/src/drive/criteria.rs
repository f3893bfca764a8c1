//! What a person said must hold at the end, checked before a task ends as done (HK-8.2-5). No model is asked: files are
//! looked at, and a command counts by its receipt.

use crate::Error;
use crate::command::plan::own_criteria;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{Action, ActionRequest};
use model::artifact::{ArtifactClass, ArtifactKind};
use model::body::CriteriaChecked;
use model::criterion::Criterion;
use model::receipt::{ItemOutcome, ReceiptClass};
use model::task::{CheckedCriterion, CriterionOutcome};
use model::witness::Found;
use model::{ReceiptId, RelPath, ResourceId, Sensitive, UnixMs, WorkspaceId};
use serde_json::json;

/// How often a model is sent back to what is not met, before its task ends as failed.
const SENT_BACK_MAX: u32 = 2;

/// What a check found.
struct Seen {
    outcome: CriterionOutcome,
    found: String,
    receipt_id: Option<ReceiptId>,
}

impl Kernel {
    /// Checks the criteria of a step that would end as done, and with its last one those of the task, and records what was
    /// found. What is not met comes back in words; nothing where all of it is met or only a person can judge it.
    pub(super) fn check_criteria(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Error> {
        let mut criteria = match tx.step().map(|step| step.contract_ref) {
            Some(contract) => own_criteria(self.read_object(tx, contract)?),
            None => Vec::new(),
        };
        if tx.step_after(tx.step().map(|step| step.step_id)).is_none() {
            let of_task = self.contract(tx)?.success_criteria;
            criteria.extend(of_task.into_iter().filter(|text| !criteria.contains(text)).collect::<Vec<_>>());
        }
        let (false, Some(workspace)) = (criteria.is_empty(), tx.task.workspace_hint) else {
            return Ok(None);
        };
        let executors = self.executors(tx)?;
        let deeds = self.deeds_newest_first(tx, &criteria)?;
        let of_commands = |text: &String| match Criterion::parse(text) {
            Ok(Criterion::Ran(command)) => Some(command),
            _ => None,
        };
        let commands: Vec<String> = criteria.iter().filter_map(of_commands).collect();
        let mut checked = Vec::with_capacity(criteria.len());
        let (mut unmet, mut report) = (Vec::new(), Vec::with_capacity(criteria.len()));
        for criterion in criteria {
            let seen = match Criterion::parse(&criterion) {
                Ok(Criterion::Ran(command)) => ran(&deeds, &command, &commands),
                Ok(of_files) => looked_at(&*executors, workspace, &of_files),
                Err(why) => Seen { outcome: CriterionOutcome::Unchecked, found: why, receipt_id: None },
            };
            if seen.outcome == CriterionOutcome::Unmet {
                unmet.push(format!("`{criterion}`: {}", seen.found));
            }
            report.push(json!({
                "criterion": criterion,
                "outcome": seen.outcome.as_str(),
                "found": seen.found,
                "receipt_id": seen.receipt_id,
            }));
            checked.push(CheckedCriterion {
                criterion: Sensitive::from(criterion),
                outcome: seen.outcome,
                found: Sensitive::from(seen.found),
                receipt_id: seen.receipt_id,
            });
        }
        tx.object(&report, NewArtifact::audit(ArtifactKind::TestReport).class(ArtifactClass::Evidence))?;
        tx.push(CriteriaChecked { about_task_id: tx.task.task_id, checked });
        Ok((!unmet.is_empty()).then(|| unmet.join("; ")))
    }

    /// Whether a model is sent back to what is not met: it has been told less often than it may be.
    pub(super) fn is_sent_back(&self, tx: &Tx<'_>) -> Result<bool, Error> {
        let times = tx.attempt().map_or(0, |attempt| attempt.criteria_checks);
        Ok(self.proposer(tx)?.reads_context() && times <= SENT_BACK_MAX)
    }

    /// What the task and its parts did, the newest first, where a criterion is about a command.
    fn deeds_newest_first(&self, state: &TaskState, criteria: &[String]) -> Result<Vec<Deed>, Error> {
        let mut deeds = Vec::new();
        if !criteria.iter().any(|text| matches!(Criterion::parse(text), Ok(Criterion::Ran(_)))) {
            return Ok(deeds);
        }
        self.add_deeds(state, &mut deeds)?;
        for part in self.tasks_below(state)? {
            self.add_deeds(&part, &mut deeds)?;
        }
        deeds.sort_by_key(|deed| std::cmp::Reverse(deed.at));
        Ok(deeds)
    }

    /// What one task did, the newest first: acts of one millisecond keep their order.
    fn add_deeds(&self, state: &TaskState, deeds: &mut Vec<Deed>) -> Result<(), Error> {
        let acts =
            state.receipts.iter().rev().filter(|r| r.receipt_class != ReceiptClass::ApprovalResolution);
        for record in acts {
            let (_, receipt) = self.receipt(record.receipt_id)?;
            let ran = receipt.ran.value();
            let argv = ran.and_then(|ran| ran.argv.as_ref()).and_then(|argv| argv.shown()).cloned();
            let in_root = match (&argv, receipt.action_request_ref.value()) {
                (Some(_), Some(request)) => {
                    match self.read_object::<ActionRequest>(state, request.artifact_id) {
                        Ok(request) => matches!(&request.action, Action::Command(c) if c.cwd.is_root()),
                        // Where it ran was erased.
                        Err(Error::Artifacts(_) | Error::NotFound { .. }) => false,
                        Err(error) => return Err(error),
                    }
                }
                _ => false,
            };
            deeds.push(Deed {
                receipt_id: receipt.receipt_id,
                argv: argv.filter(|_| in_root),
                exit_code: ran.and_then(|ran| ran.exit_code),
                is_change: receipt.changes.iter().any(|change| change.outcome == ItemOutcome::Done),
                at: receipt.created_at,
            });
        }
        Ok(())
    }
}

/// An act by its receipt, as far as criteria ask.
struct Deed {
    receipt_id: ReceiptId,
    /// The command, where it ran in the folder itself.
    argv: Option<Vec<String>>,
    exit_code: Option<i32>,
    is_change: bool,
    at: UnixMs,
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

/// What the receipts say of a command: its last run counts, unless something was changed after it, other than by the
/// commands of the criteria themselves, which may all leave something behind.
fn ran(deeds: &[Deed], command: &str, commands: &[String]) -> Seen {
    let seen = |outcome, found: &str, receipt_id| Seen { outcome, found: found.to_owned(), receipt_id };
    let mut is_changed_since = false;
    for deed in deeds {
        let argv = deed.argv.as_deref().unwrap_or_default();
        if is_command(argv, command) {
            let id = Some(deed.receipt_id);
            return match (deed.exit_code, is_changed_since) {
                (Some(0), false) => seen(CriterionOutcome::Met, "it ended with status 0", id),
                (Some(0), true) => {
                    seen(CriterionOutcome::Unmet, "something was changed since it ran; run it again", id)
                }
                (Some(code), _) => seen(CriterionOutcome::Unmet, &format!("it ended with status {code}"), id),
                (None, _) => seen(CriterionOutcome::Unmet, "it ended without a status; run it again", id),
            };
        }
        is_changed_since |= deed.is_change && !commands.iter().any(|other| is_command(argv, other));
    }
    seen(CriterionOutcome::Unmet, "it did not run in the folder itself", None)
}

/// Shells, and how each is given its words.
const SHELLS: [(&str, &str); 5] =
    [("sh", "-c"), ("bash", "-c"), ("zsh", "-c"), ("cmd", "/C"), ("pwsh", "-Command")];

/// What only a shell reads as more than a word.
const SHELL_SIGNS: &str = "|&;<>()$`\\\"'*?[]{}~#!";

/// Whether this is the command a person named: word for word, or as the words of a shell. A program of the same name in another
/// place is another program, and what only a shell understands runs only in one.
fn is_command(argv: &[String], command: &str) -> bool {
    let by_shell = match argv {
        [shell, flag, line] => SHELLS.contains(&(shell.as_str(), flag.as_str())) && line.trim() == command,
        _ => false,
    };
    let is_plain = !command.contains(|sign| SHELL_SIGNS.contains(sign));
    by_shell || is_plain && command.split_whitespace().eq(argv.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::{CriterionOutcome, Deed, is_command, ran};
    use model::UnixMs;

    fn words(argv: &[&str]) -> Vec<String> {
        argv.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn only_the_very_command_that_a_person_named_counts() {
        let runs = |argv: &[&str]| is_command(&words(argv), "npm test");
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
        let both = "npm test && npm run lint";
        assert!(is_command(&words(&["sh", "-c", both]), both));
        assert!(!is_command(&words(&["npm", "test", "&&", "npm", "run", "lint"]), both), "npm alone ran");
    }

    #[test]
    fn the_last_run_counts_and_what_the_criteria_themselves_leave_behind_is_no_change() {
        let deed = |argv: &[&str], exit_code, is_change| Deed {
            receipt_id: "rcp_0190a1b2c3d47e8f9a0b1c2d00000001".parse().expect("an identifier"),
            argv: (!argv.is_empty()).then(|| words(argv)),
            exit_code,
            is_change,
            at: UnixMs(1),
        };
        let commands = words(&["npm test", "npm run build"]);
        let outcome = |deeds: &[Deed]| ran(deeds, "npm test", &commands).outcome;
        use CriterionOutcome::{Met, Unmet};
        let test = |code| deed(&["npm", "test"], code, true);
        assert_eq!(outcome(&[deed(&["npm", "run", "build"], Some(0), true), test(Some(0))]), Met);
        assert_eq!(outcome(&[deed(&[], None, true), test(Some(0))]), Unmet, "something else was written");
        assert_eq!(outcome(&[test(None), test(Some(0))]), Unmet, "the last run was killed");
        assert_eq!(outcome(&[test(Some(1)), test(Some(0))]), Unmet);
        assert_eq!(outcome(&[deed(&["ls"], Some(0), false), test(Some(0)), test(Some(1))]), Met);
        assert_eq!(outcome(&[]), Unmet);
    }
}
