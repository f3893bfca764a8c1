//! A person at the terminal reads a card and answers it.
//!
//! Order: the card, half a second, everything typed so far is thrown away, a typed answer, at high and critical risk
//! its name, the passphrase, the signature. A slip asks again. At any point the person may leave; then nothing is
//! decided.

use crate::card::{Card, Extent};
use crate::card_screen::{Front, Plain};
use crate::context::Context;
use crate::security_key;
use crate::standing_offer::choose;
use crate::terminal::{Echo, Typed};
use crate::text::short;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use host::control_socket::{Order, order};
use host::security_key::{Pin, Watch};
use host::{ApprovalSession, Session};
use model::approval::ApprovalStatus;
use model::policy::RiskBand;
use model::standing::StandingGrant;
use std::time::Duration;
use wire::approvals::{Approval, Decide, Decided, Deny, Part};
use wire::{Code, Error};

/// Wrong passphrases before the question is asked again.
const TRIES: u32 = 3;
/// Keys that are opened at a card stay open so long, as with `hermit unlock`.
const OPEN: Duration = Duration::from_secs(8 * 60 * 60);

/// Answers to a card.
const ANSWERS: &[&str] = &[
    "y", "yes", "allow", "approve", "k", "key", "n", "no", "deny", "stop", "part", "always", "later", "q",
    "details", "d", "all",
];
const QUESTION: &str = "Approve? (y)es, (n)o, stop, part, always, later, details: ";
/// Where a security key may say yes, too.
const QUESTION_WITH_KEY: &str = "Approve? (y)es, security (k)ey, (n)o, stop, part, always, later, details: ";
const NOTHING: &str = "Nothing was decided.";
/// Answers to the second question at high risk.
const HIGH: &[&str] = &["high", "no", "n"];
const CRITICAL: &[&str] = &["critical", "no", "n"];

/// What is said to the first of two yeses.
pub const ONE_OF_TWO: &str = "1 of 2: your yes is on record. It waits for another key to allow it, too.";

/// What the person said.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Allow,
    /// With a security key in the place of the passphrase.
    AllowByKey,
    /// And similar acts from now on.
    Always(Box<StandingGrant>),
    Deny {
        feedback: Option<String>,
        /// The task ends, too.
        stop: bool,
    },
    /// Of these files alone; the rest is denied.
    Part {
        only: Vec<String>,
        feedback: Option<String>,
    },
    Later,
}

/// What a person at the terminal approves with, for as long as this process runs.
pub struct TerminalApproval {
    key: ApprovalSession,
    /// The person denied an act and stopped its task.
    stopped: bool,
}

impl TerminalApproval {
    /// It, when a person is at the terminal.
    pub fn take(context: &Context) -> Option<Self> {
        context.terminal.as_ref()?;
        Some(Self { key: ApprovalSession::at_terminal(context.home.clone()), stopped: false })
    }

    /// It, and the lines of the terminal.
    pub fn at_terminal(context: &Context) -> Option<(Self, Plain<'_>)> {
        let terminal = context.terminal.as_ref()?;
        Some((Self::take(context)?, Plain::new(context.out, terminal)))
    }

    /// Whether the person denied an act and stopped its task.
    pub const fn stopped(&self) -> bool {
        self.stopped
    }

    /// Shows the card and takes an answer; `None` when the person left it for later.
    ///
    /// # Errors
    /// When it was answered or expired meanwhile, or there is no approval key.
    pub fn decide(
        &mut self,
        front: &mut dyn Front,
        session: &Session,
        approval: &str,
    ) -> Result<Option<Decided>, Error> {
        let decided = self.answered(front, session, approval);
        front.put_away();
        decided
    }

    fn answered(
        &mut self,
        front: &mut dyn Front,
        session: &Session,
        approval: &str,
    ) -> Result<Option<Decided>, Error> {
        let mut card = Card::read(session, approval)?;
        if card.approval.row.status != ApprovalStatus::Pending {
            return Err(not_waiting(&card.approval));
        }
        let extent = front.extent();
        front.card(card.rows(extent), extent);
        self.must_have_key()?;
        let question = match host::security_key::enrolled(session) {
            Ok(enrolled) if !enrolled.is_empty() => QUESTION_WITH_KEY,
            _ => QUESTION,
        };
        front.arm();
        loop {
            let decided = match answer(front, session, &mut card, question)? {
                Said::Later => return Ok(None),
                Said::Deny { feedback, stop } => {
                    return self.refuse(session, &card.approval, feedback, stop).map(Some);
                }
                Said::Part { only, feedback } => match choose_part(session, &card.approval, only, feedback) {
                    // What cannot be chosen is said, and the question stands.
                    Err(error) if error.code == Code::Usage => {
                        front.remark(&error.message);
                        continue;
                    }
                    chosen => return chosen.map(Some),
                },
                Said::Allow => self.sign(front, session, &card, None)?,
                Said::AllowByKey => self.sign_by_key(front, session, &card)?,
                Said::Always(grant) => {
                    // What lasts is never signed with a key that was left open.
                    self.key.close();
                    self.sign(front, session, &card, Some(&grant))?
                }
            };
            if decided.is_some() {
                return Ok(decided);
            }
            front.remark(NOTHING);
        }
    }

    fn refuse(
        &mut self,
        session: &Session,
        approval: &Approval,
        feedback: Option<String>,
        stop: bool,
    ) -> Result<Decided, Error> {
        let (approval, surface) = (approval.row.approval_id.clone(), Some("terminal".to_owned()));
        let decided = session.call(&Deny { approval, feedback, surface, stop })?;
        self.stopped |= stop && decided.accepted;
        Ok(decided)
    }

    /// Opens the key and hands the signed answer in; `None` when the person left.
    fn sign(
        &mut self,
        front: &mut dyn Front,
        session: &Session,
        card: &Card,
        standing: Option<&StandingGrant>,
    ) -> Result<Option<Decided>, Error> {
        let (approval, packet) = (&card.approval, card.bytes());
        if !self.open(front, packet)? {
            return Ok(None);
        }
        let standing = standing.map(|grant| self.key.sign_standing(grant)).transpose();
        let standing = standing.map_err(host::Error::to_wire)?.map(|signed| STANDARD.encode(signed));
        let envelope =
            self.key.sign(packet, true, &approval.person_id, None).map_err(host::Error::to_wire)?;
        let envelope = STANDARD.encode(envelope);
        let approval = approval.row.approval_id.clone();
        hand_in(front, session, &Decide { approval, envelope, standing }).map(Some)
    }

    /// Has a security key sign the answer, and hands it in; `None` when the person left, or the key did not sign.
    fn sign_by_key(
        &self,
        front: &mut dyn Front,
        session: &Session,
        card: &Card,
    ) -> Result<Option<Decided>, Error> {
        let Some(found) = security_key::chosen(front)? else { return Ok(None) };
        let (of, packet) = (&card.approval, card.bytes());
        let asked = |pin: &Pin, watch: Watch<'_>| {
            host::security_key::yes(session, &self.key, (packet, &of.person_id), (&found, pin), watch)
        };
        let Some(signed) = security_key::used(front, &found, asked)? else { return Ok(None) };
        let approval = of.row.approval_id.clone();
        let envelope = STANDARD.encode(signed);
        hand_in(front, session, &Decide { approval, envelope, standing: None }).map(Some)
    }

    /// Has a security key make a passkey, and signs that it may say yes; `None` when the person left, or the key made none.
    ///
    /// # Errors
    /// When there is no approval key, or the store cannot be read.
    pub fn sign_security_key(
        &mut self,
        front: &mut dyn Front,
        session: &Session,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.must_have_key()?;
        let Some(found) = security_key::chosen(front)? else { return Ok(None) };
        if !self.unlock(front)? {
            return Ok(None);
        }
        let asked =
            |pin: &Pin, watch: Watch<'_>| host::security_key::made(session, &self.key, (&found, pin), watch);
        let made = security_key::used(front, &found, asked)?;
        let signed = made.map(|draft| self.key.sign_passkey(&draft)).transpose();
        self.key.close();
        signed.map_err(host::Error::to_wire)
    }

    /// Signs a standing grant by itself, after a typed word and the passphrase; `None` when the person left.
    ///
    /// # Errors
    /// When there is no approval key, or such a grant cannot be given.
    pub fn sign_lasting(
        &mut self,
        front: &mut dyn Front,
        grant: &StandingGrant,
        word: &'static [&'static str],
    ) -> Result<Option<Vec<u8>>, Error> {
        self.must_have_key()?;
        front.arm();
        let question = format!("Type `{}` to sign it: ", word.first().copied().unwrap_or_default());
        match front.ask(None, &question, Echo::Words(word))? {
            Typed::Line(typed) if word.contains(&typed.trim()) => {}
            _ => return Ok(None),
        }
        if !self.unlock(front)? {
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
        Err(Error::new(Code::KeyLocked, "this store has no approval key, so nothing can be approved")
            .hint("make one with `hermit keys init`; `hermit approvals deny` works without it"))
    }

    /// Opens the approval key, unless it is open and may stay so; false when the person left.
    fn open(&mut self, front: &mut dyn Front, packet: &[u8]) -> Result<bool, Error> {
        if !self.key.needs_passphrase(packet).map_err(host::Error::to_wire)? {
            return Ok(true);
        }
        self.unlock(front)
    }

    /// Asks for the passphrase; false when the person left.
    fn unlock(&mut self, front: &mut dyn Front) -> Result<bool, Error> {
        let _silent = front.silence()?;
        for _ in 0..TRIES {
            let Typed::Line(words) = front.ask(None, "Approval passphrase: ", Echo::Hidden)? else {
                return Ok(false);
            };
            if words.is_empty() {
                return Ok(false);
            }
            match self.key.unlock(words.as_bytes()).map_err(host::Error::to_wire) {
                Ok(()) => return Ok(true),
                Err(error) if error.code == Code::KeyLocked => {
                    front.remark(&error.message);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Hands a signed answer in. Where the keys of the host are locked, nothing was decided: it is opened, and hears the same
/// answer.
fn hand_in(front: &mut dyn Front, session: &Session, signed: &Decide) -> Result<Decided, Error> {
    match session.call(signed) {
        Err(error) if error.code == Code::KeyLocked => match open_host_keys(front, session)? {
            true => session.call(signed),
            false => Err(error),
        },
        decided => decided,
    }
}

/// The typed answer; the counts of what is at stake stand directly above it.
fn answer(front: &mut dyn Front, session: &Session, card: &mut Card, question: &str) -> Result<Said, Error> {
    let stakes = card.stakes();
    loop {
        let Typed::Line(word) = front.ask(Some(&stakes), question, Echo::Words(ANSWERS))? else {
            return Ok(Said::Later);
        };
        match word.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" | "allow" | "approve" if confirmed(front, card)? => return Ok(Said::Allow),
            "k" | "key" if question == QUESTION => {
                front.remark(&host::security_key::none_enrolled().message);
            }
            "k" | "key" if confirmed(front, card)? => return Ok(Said::AllowByKey),
            "always" => {
                if let Some(grant) = choose(front, session, &card.approval.row.approval_id)?
                    && confirmed(front, card)?
                {
                    return Ok(Said::Always(Box::new(grant)));
                }
            }
            "n" | "no" | "deny" => {
                if let Some(feedback) = reason(front)? {
                    return Ok(Said::Deny { feedback, stop: false });
                }
            }
            "part" => {
                if let Some(only) = files(front)?
                    && let Some(feedback) = reason(front)?
                {
                    return Ok(Said::Part { only, feedback });
                }
            }
            "stop" => return Ok(Said::Deny { feedback: None, stop: true }),
            "later" | "q" => return Ok(Said::Later),
            "d" | "details" | "all" => {
                card.complete(session)?;
                front.card(card.rows(Extent::Whole), Extent::Whole);
            }
            "" => front.remark("Enter alone decides nothing. Type y or n."),
            // The question above was answered with no; it is asked again.
            "y" | "yes" | "allow" | "approve" | "k" | "key" => {}
            // What was typed is not repeated: it may be a passphrase.
            _ => front.remark("That is not one of the answers; nothing was decided."),
        }
    }
}

/// The files to approve, one a line; `None` when the person goes back.
fn files(front: &mut dyn Front) -> Result<Option<Vec<String>>, Error> {
    let mut only: Vec<String> = Vec::new();
    loop {
        let question = match only.len() {
            0 => "A file or folder to approve, or hunks as file#1,3 (Ctrl-C goes back): ",
            _ => "Another one, or Enter when that is all: ",
        };
        match front.ask(None, question, Echo::Shown)? {
            Typed::Line(name) if name.trim().is_empty() && !only.is_empty() => return Ok(Some(only)),
            Typed::Line(name) if name.trim().is_empty() => {}
            Typed::Line(name) => only.push(name.trim().to_owned()),
            Typed::Nothing => return Ok(None),
        }
    }
}

/// Words for whoever proposed it; `None` when the person does not deny after all.
fn reason(front: &mut dyn Front) -> Result<Option<Option<String>>, Error> {
    let question = "Reason (optional, the agent reads it; Ctrl-C goes back): ";
    Ok(match front.ask(None, question, Echo::Shown)? {
        Typed::Line(words) => {
            let words = words.trim().to_owned();
            Some((!words.is_empty()).then_some(words))
        }
        Typed::Nothing => None,
    })
}

/// What may be typed as the second word, which says how grave it is; none below high risk.
pub const fn second_words(risk: RiskBand) -> Option<&'static [&'static str]> {
    match risk {
        RiskBand::High => Some(HIGH),
        RiskBand::Critical => Some(CRITICAL),
        RiskBand::Low | RiskBand::Moderate => None,
    }
}

/// At high and critical risk a second word, which says how grave it is.
fn confirmed(front: &mut dyn Front, card: &Card) -> Result<bool, Error> {
    let risk = card.approval.row.risk.as_str();
    let Some(words) = second_words(card.approval.row.risk) else { return Ok(true) };
    let question = format!("{} risk. Type `{risk}` to confirm, or `no`: ", crate::text::capital(risk));
    loop {
        match front.ask(None, &question, Echo::Words(words))? {
            Typed::Line(word) if word.trim().eq_ignore_ascii_case(risk) => return Ok(true),
            Typed::Line(word) if matches!(word.trim(), "n" | "no") => {}
            Typed::Line(_) => continue,
            Typed::Nothing => {}
        }
        front.remark(NOTHING);
        return Ok(false);
    }
}

/// A part: the person is asked about it as soon as it is judged.
fn choose_part(
    session: &Session,
    approval: &Approval,
    only: Vec<String>,
    feedback: Option<String>,
) -> Result<Decided, Error> {
    let (approval, surface) = (approval.row.approval_id.clone(), Some("terminal".to_owned()));
    session.call(&Part { approval, only, rows: Vec::new(), hunks: Vec::new(), feedback, surface })
}

/// Asks for the vault's passphrase and opens the keys of the host that runs; false when the person left.
fn open_host_keys(front: &mut dyn Front, session: &Session) -> Result<bool, Error> {
    let home = session.home();
    if !home.has_keys() || !home.needs_passphrase() {
        return Ok(false);
    }
    front.remark("Hermit's own keys are locked, so it cannot sign a receipt. Unlock them to go on.");
    let _silent = front.silence()?;
    for _ in 0..TRIES {
        let Typed::Line(words) = front.ask(None, "Vault passphrase: ", Echo::Hidden)? else {
            return Ok(false);
        };
        if words.is_empty() {
            return Ok(false);
        }
        match order(home, &Order::Unlock(Some(words.as_bytes()), OPEN)) {
            Ok(()) => return Ok(true),
            Err(error) if error.code == Code::KeyLocked => front.remark(&error.message),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Why an approval is not decided any more.
pub fn not_waiting(approval: &Approval) -> Error {
    let row = &approval.row;
    Error::new(Code::Conflict, format!("approval {} is {} already", short(&row.approval_id), row.status))
        .hint("`hermit approvals list` shows what waits for you")
}

/// The refusal of whoever is no person at a terminal.
pub fn no_terminal() -> Error {
    Error::new(Code::Forbidden, "only a person at a terminal can approve something")
        .hint("run `hermit approvals approve` in a terminal of your own; you can deny it from here")
}
