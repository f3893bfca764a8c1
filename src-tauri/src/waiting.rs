//! What waits for a person now, as tray and notifications tell it.

use host::Session;
use std::sync::{Mutex, PoisonError};
use wire::approvals::{ApprovalRow, List};
use wire::host::Status;
use wire::task::Questions;
use wire::{Error, PartOf, Text};

/// Lines of a menu that a person still reads.
const LINES_MAX: u32 = 12;
/// Characters of such a line.
const CHARS_MAX: usize = 72;

/// What the tray shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Glyph {
    /// Nothing runs, nothing waits.
    #[default]
    Idle,
    /// Something runs.
    Working,
    /// Something waits for the person.
    Waiting,
    /// Nothing runs until a person boots.
    Halted,
}

/// One thing that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Of the approval, or of the question's task.
    pub id: String,
    /// What it is about, safe to show anywhere.
    pub words: String,
    /// `low` to `critical`; empty for a question.
    pub risk: String,
    /// Hermit itself began the task: it waits to be looked at, and interrupts nobody.
    pub is_quiet: bool,
    /// In which folder, who asks, and of which whole, a line each; safe to show anywhere.
    pub who: Vec<String>,
}

/// Everything that waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Whether a halt is in force.
    pub halted: bool,
    /// Tasks at work.
    pub running: u64,
    /// All that waits for the person, also what no line is for.
    pub count: u64,
    /// Approvals, the newest first.
    pub approvals: Vec<Asked>,
    /// Questions.
    pub questions: Vec<Asked>,
    /// Schedules that paused themselves, each by its name.
    pub schedules: Vec<Asked>,
    /// Gateways that paused themselves, each by its name.
    pub gateways: Vec<Asked>,
}

impl Waiting {
    /// Looks.
    pub fn look(session: &Session) -> Result<Self, Error> {
        let status = session.call(&Status {})?;
        let (limit, pending) = (Some(LINES_MAX), Some("pending".to_owned()));
        let approvals = session.call(&List { limit, ..List::default() })?;
        let questions = session.call(&Questions { status: pending, limit, ..Questions::default() })?;
        let waiting = &status.waiting;
        let schedules = match waiting.paused_schedules {
            0 => Vec::new(),
            _ => session.call(&wire::schedules::List {})?.schedules,
        };
        let gateways = match waiting.paused_gateways {
            0 => Vec::new(),
            _ => session.call(&wire::gateways::List {})?.gateways,
        };
        let paused = |what: &str, name: String| Asked {
            words: plain(&format!("The {what} {name} paused itself"), CHARS_MAX),
            id: name,
            risk: String::new(),
            is_quiet: false,
            who: Vec::new(),
        };
        let schedules = schedules.into_iter().filter(|one| one.by_itself);
        let schedules = schedules.map(|one| paused("schedule", one.name));
        let gateways = gateways.into_iter().filter(|one| one.by_itself);
        let gateways = gateways.map(|one| paused("gateway", one.name));
        let approvals = approvals.rows.into_iter().map(|row| Asked {
            who: where_and_who(&row),
            words: shown(&row.summary),
            id: row.approval_id,
            risk: row.risk.to_string(),
            is_quiet: row.origin.is_background(),
        });
        let questions = questions.rows.into_iter().map(|row| Asked {
            who: who(row.part_of.as_ref(), row.agent.as_deref()),
            words: shown(&row.question),
            id: row.task_id,
            risk: String::new(),
            is_quiet: true,
        });
        Ok(Self {
            halted: status.halted,
            running: waiting.running,
            count: waiting.approvals
                + waiting.questions
                + waiting.unknown_effects
                + waiting.undecided_messages
                + waiting.paused_schedules
                + waiting.paused_gateways,
            approvals: approvals.collect(),
            questions: questions.collect(),
            schedules: schedules.take(LINES_MAX as usize).collect(),
            gateways: gateways.take(LINES_MAX as usize).collect(),
        })
    }

    /// The state at a glance.
    pub const fn glyph(&self) -> Glyph {
        if self.halted {
            Glyph::Halted
        } else if self.count > 0 {
            Glyph::Waiting
        } else if self.running > 0 {
            Glyph::Working
        } else {
            Glyph::Idle
        }
    }

    /// The same in words.
    pub fn words(&self) -> String {
        match self.glyph() {
            Glyph::Halted => "Halted: nothing runs until you boot".to_owned(),
            Glyph::Waiting if self.count == 1 => "1 thing waits for you".to_owned(),
            Glyph::Waiting => format!("{} things wait for you", self.count),
            Glyph::Working if self.running == 1 => "Working on 1 task".to_owned(),
            Glyph::Working => format!("Working on {} tasks", self.running),
            Glyph::Idle => "Nothing runs, nothing waits".to_owned(),
        }
    }
}

/// In which folder it is asked, and who asks.
fn where_and_who(row: &ApprovalRow) -> Vec<String> {
    let folder = wire::in_folder(row.workspace.as_ref()).map(|line| plain(&line, CHARS_MAX));
    folder.into_iter().chain(who(row.part_of.as_ref(), row.agent.as_deref())).collect()
}

fn who(part_of: Option<&PartOf>, agent: Option<&str>) -> Vec<String> {
    wire::who_asks(part_of, agent).iter().map(|line| plain(line, CHARS_MAX)).collect()
}

fn shown(text: &Text) -> String {
    plain(text.shown().unwrap_or("its words were erased"), CHARS_MAX)
}

/// Words of a model or a file's name where they cannot be marked: on one line, no longer than `chars`, and what
/// would not be seen, or would turn the line around, by its number.
pub fn plain(text: &str, chars: usize) -> String {
    let mut out = String::new();
    let mut left = chars;
    for c in text.chars() {
        if left == 0 {
            out.push('…');
            break;
        }
        left -= 1;
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_unseen(c) => out.push_str(&format!("[U+{:04X}]", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
            | 0xE0000..=0xE007F | 0x3164 | 0x115F | 0x1160)
}

/// What was known when it was last looked.
#[derive(Default)]
pub struct Known(Mutex<Option<Waiting>>);

impl Known {
    /// Keeps what is so now; what was before, when it differs.
    pub fn learn(&self, now: &Waiting) -> Option<Waiting> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref() == Some(now) {
            return None;
        }
        Some(known.replace(now.clone()).unwrap_or_default())
    }

    /// What is known.
    pub fn now(&self) -> Waiting {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_goes_before_what_works_and_a_halt_before_both() {
        let with = |halted, count, running| Waiting { halted, count, running, ..Waiting::default() }.glyph();
        assert_eq!(with(false, 0, 0), Glyph::Idle);
        assert_eq!(with(false, 0, 2), Glyph::Working);
        assert_eq!(with(false, 1, 2), Glyph::Waiting);
        assert_eq!(with(true, 1, 2), Glyph::Halted);
    }

    #[test]
    fn a_line_shows_what_would_not_be_seen_and_stays_one_line() {
        assert_eq!(plain("a\u{202E}b\nc\u{200B}", 40), "a[U+202E]b c[U+200B]");
        assert_eq!(plain("abcdef", 3), "abc…");
        assert_eq!(plain("abc", 3), "abc");
    }

    #[test]
    fn who_asks_is_shown_like_any_words_of_others() {
        let goal = Text::Shown(format!("tidy\u{202E} {}", "x".repeat(100)));
        let whole = PartOf { task_id: "task_1".to_owned(), goal };
        let lines = who(Some(&whole), Some("gpt\n9"));
        assert_eq!(lines.last().map(String::as_str), Some("Asked by: gpt 9"));
        assert!(
            lines.first().is_some_and(|l| l.starts_with("Part of: tidy[U+202E] x") && l.ends_with('…')),
            "{lines:?}"
        );
        assert!(who(None, None).is_empty());
    }

    #[test]
    fn an_approval_names_its_folder_first_like_any_words_of_others() {
        let row = |workspace: &str| {
            serde_json::from_value::<ApprovalRow>(serde_json::json!({
                "approval_id": "apr_1", "task_id": "task_1", "action_class": "write_local", "risk": "moderate",
                "summary": "move 13 files", "status": "pending", "requested_at": 1, "expires_at": 2, "resolved_at": null,
                "surface": null, "feedback": null, "reason": "", "origin": "person", "agent": "gpt-9", "workspace": workspace,
            }))
            .unwrap()
        };
        let told = where_and_who(&row("/home/me/Downloads"));
        assert_eq!(told, ["In the folder: Downloads", "Asked by: gpt-9"]);
        let long = where_and_who(&row(&format!("/tmp/a\u{202E}b\n{}", "x".repeat(200))));
        let first = long.first().unwrap();
        assert!(first.starts_with("In the folder: a[U+202E]b x") && first.ends_with('…'), "{first}");
    }

    #[test]
    fn only_a_change_is_told() {
        let (known, one) = (Known::default(), Waiting { count: 1, ..Waiting::default() });
        assert_eq!(known.learn(&one), Some(Waiting::default()));
        assert_eq!(known.learn(&one), None);
        assert_eq!(known.learn(&Waiting::default()), Some(one));
    }
}
