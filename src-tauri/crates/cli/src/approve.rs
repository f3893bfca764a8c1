//! A person at the terminal reads a card and answers it.
//!
//! Order: the card, half a second, everything typed so far is thrown away, a typed word, at high and critical risk a
//! second one, the passphrase, the signature. At any point the person may leave; then nothing is decided.

use crate::always::choose;
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Terminal, Typed};
use crate::text::plain;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use host::{ApprovalSeat, Session};
use model::standing::StandingGrant;
use wire::approvals::{Approval, Decide, Decided, Deny, Show};
use wire::{Code, Error};

/// Wrong passphrases and unknown words before the person is let go.
const TRIES: u32 = 3;

/// Facts a card shows before it folds the rest: the way back, what policy says, by which rules.
const FACTS_SHOWN: usize = 3;

/// What the person said.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Allow,
    /// And the like of it from now on.
    Always(Box<StandingGrant>),
    Deny(Option<String>),
    Later,
}

/// The person's seat for as long as this process runs.
pub struct Seat<'c> {
    context: &'c Context,
    terminal: &'c Terminal,
    key: ApprovalSeat,
}

impl<'c> Seat<'c> {
    /// A seat, when a person is at the terminal.
    pub fn take(context: &'c Context) -> Option<Self> {
        let terminal = context.terminal.as_ref()?;
        Some(Self { context, terminal, key: ApprovalSeat::at_terminal(context.home.clone()) })
    }

    /// Shows the card and takes an answer; `None` when the person left it for later.
    ///
    /// # Errors
    /// When it was answered or lapsed meanwhile, or there is no approval key.
    pub fn decide(&mut self, session: &Session, approval: &str) -> Result<Option<Decided>, Error> {
        let approval = session.call(&Show { approval: approval.to_owned() })?;
        if approval.row.status != "pending" {
            return Err(not_waiting(&approval));
        }
        let packet =
            STANDARD.decode(&approval.packet).map_err(|e| Error::new(Code::Damaged, e.to_string()))?;
        card(&self.context.out, &approval, false);
        self.must_have_key()?;
        match self.answer(session, &approval)? {
            Said::Later => Ok(None),
            Said::Deny(feedback) => {
                let surface = Some("terminal".to_owned());
                session.call(&Deny { approval: approval.row.approval_id, feedback, surface }).map(Some)
            }
            Said::Allow => self.sign(session, approval, &packet, None),
            Said::Always(grant) => {
                // What lasts is never signed with a key that was left open.
                self.key.close();
                self.sign(session, approval, &packet, Some(&grant))
            }
        }
    }

    /// Opens the key and hands the signed answer in; `None` when the person left.
    fn sign(
        &mut self,
        session: &Session,
        approval: Approval,
        packet: &[u8],
        standing: Option<&StandingGrant>,
    ) -> Result<Option<Decided>, Error> {
        if !self.open(packet)? {
            return Ok(None);
        }
        let standing = standing.map(|grant| self.key.sign_standing(grant)).transpose();
        let standing = standing.map_err(host::Error::to_wire)?.map(|signed| STANDARD.encode(signed));
        let envelope =
            self.key.sign(packet, true, &approval.person_id, None).map_err(host::Error::to_wire)?;
        let envelope = STANDARD.encode(envelope);
        session.call(&Decide { approval: approval.row.approval_id, envelope, standing }).map(Some)
    }

    /// Signs a standing grant by itself, after a typed word and the passphrase; `None` when the person left.
    ///
    /// # Errors
    /// When there is no approval key, or such a grant cannot be given.
    pub fn sign_lasting(&mut self, grant: &StandingGrant, word: &str) -> Result<Option<Vec<u8>>, Error> {
        self.must_have_key()?;
        self.terminal.arm();
        match self.terminal.ask(&format!("Type `{word}` to sign it: "), Echo::Shown)? {
            Typed::Line(typed) if typed.trim() == word => {}
            _ => return Ok(None),
        }
        if !self.unlock()? {
            return Ok(None);
        }
        let signed = self.key.sign_standing(grant).map_err(host::Error::to_wire)?;
        self.key.close();
        Ok(Some(signed))
    }

    fn must_have_key(&self) -> Result<(), Error> {
        if self.key.has_key() {
            return Ok(());
        }
        Err(Error::new(Code::KeyLocked, "this store has no approval key, so nothing can be allowed")
            .hint("make it with `hermit keys init`; `hermit approvals deny` works without"))
    }

    /// The typed word.
    fn answer(&self, session: &Session, approval: &Approval) -> Result<Said, Error> {
        self.terminal.arm();
        for _ in 0..TRIES {
            let question =
                "Type `allow`, `always`, `deny` or `later` (`all` shows every value that would be signed): ";
            let Typed::Line(word) = self.terminal.ask(question, Echo::Shown)? else { return Ok(Said::Later) };
            match word.trim() {
                "allow" => return self.confirm(approval, Said::Allow),
                "always" => {
                    let (out, id) = (&self.context.out, &approval.row.approval_id);
                    if let Some(grant) = choose(out, self.terminal, session, id)? {
                        return self.confirm(approval, Said::Always(Box::new(grant)));
                    }
                }
                "deny" => {
                    let question = "Words for the model, or Enter for none: ";
                    let words = match self.terminal.ask(question, Echo::Shown)? {
                        Typed::Line(words) => words.trim().to_owned(),
                        Typed::Nothing => return Ok(Said::Later),
                    };
                    return Ok(Said::Deny((!words.is_empty()).then_some(words)));
                }
                "later" => return Ok(Said::Later),
                "all" => card(&self.context.out, approval, true),
                "" => self.terminal.print("Enter alone decides nothing.\r\n"),
                other => self.terminal.print(&format!("`{}` is none of them.\r\n", plain(other))),
            }
        }
        Ok(Said::Later)
    }

    /// At high and critical risk a second word, which says how grave it is.
    fn confirm(&self, approval: &Approval, said: Said) -> Result<Said, Error> {
        let risk = approval.row.risk.as_str();
        if !matches!(risk, "high" | "critical") {
            return Ok(said);
        }
        let question = format!("This is of {risk} risk. Type `{risk}` to allow it all the same: ");
        match self.terminal.ask(&question, Echo::Shown)? {
            Typed::Line(word) if word.trim() == risk => Ok(said),
            _ => {
                self.terminal.print("Not allowed; nothing was decided.\r\n");
                Ok(Said::Later)
            }
        }
    }

    /// Opens the approval key, unless it is open and may stay so; false when the person left.
    fn open(&mut self, packet: &[u8]) -> Result<bool, Error> {
        if !self.key.needs_passphrase(packet).map_err(host::Error::to_wire)? {
            return Ok(true);
        }
        self.unlock()
    }

    /// Asks for the passphrase; false when the person left.
    fn unlock(&mut self) -> Result<bool, Error> {
        for _ in 0..TRIES {
            let Typed::Line(words) = self.terminal.ask("Approval passphrase: ", Echo::Hidden)? else {
                return Ok(false);
            };
            if words.is_empty() {
                return Ok(false);
            }
            match self.key.unlock(words.as_bytes()).map_err(host::Error::to_wire) {
                Ok(()) => return Ok(true),
                Err(error) if error.code == Code::KeyLocked => {
                    self.terminal.print(&format!("{}\r\n", plain(&error.message)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Why an approval is not decided any more.
pub fn not_waiting(approval: &Approval) -> Error {
    Error::new(
        Code::Conflict,
        format!("approval `{}` is {} already", approval.row.approval_id, approval.row.status),
    )
    .hint("`hermit approvals list` shows what waits")
}

/// The refusal of whoever is no person at a terminal.
pub fn no_terminal() -> Error {
    Error::new(Code::Forbidden, "only a person at a terminal can allow something")
        .hint("run `hermit approvals approve` in a terminal of your own; from here it can be denied")
}

/// The whole card, the gravest first.
pub fn card(out: &Output, approval: &Approval, whole: bool) {
    let row = &approval.row;
    let risk_tone = match row.risk.as_str() {
        "high" | "critical" => Tone::Bad,
        "moderate" => Tone::Warn,
        _ => Tone::Good,
    };
    out.line("");
    out.say(Tone::Bold, plain(&approval.title));
    out.say(risk_tone, format!("{} risk, {}", row.risk, row.action_class));
    let mut facts = 0;
    for line in &approval.lines {
        // Effects are never folded; behind the first facts stand their details, which `all` unfolds.
        if line.kind == "fact" {
            facts += 1;
            if facts > FACTS_SHOWN && !whole {
                continue;
            }
        }
        let (tone, mark) = match line.kind.as_str() {
            "destructive" => (Tone::Bad, "-"),
            "unrecoverable" => (Tone::Bad, "!"),
            "effect" => (Tone::Plain, "+"),
            "risk" => (risk_tone, "*"),
            "quoted" => (Tone::Faint, ">"),
            _ => (Tone::Plain, " "),
        };
        out.say(tone, format!("  {mark} {}", plain(&line.text)));
    }
    if facts > FACTS_SHOWN && !whole {
        let more = facts - FACTS_SHOWN;
        out.say(
            Tone::Faint,
            format!("    {more} more facts: what was found at each place, who proposed it; `all` shows them"),
        );
    }
    if whole {
        approval.whole.iter().for_each(|line| out.line(format!("    {}", plain(line))));
    }
    out.say(Tone::Faint, format!("  {}  sha256 {}", row.approval_id, approval.packet_sha256));
    out.say(Tone::Faint, format!("  task {}, lapses {}", row.task_id, crate::text::time(row.expires_at)));
    out.line("");
}
