//! What an adopted change of Hermit makes of what: rules, words, the standard model, the program. Rules and words become others by
//! the events by which a person changes them otherwise; a model and a program are followed by the host, once this is on record.

use super::rules::check_rules;
use super::{skills, skins};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::writeup::{NewArtifact, Writeup};
use ::successor::{Change, Patch, WordsItem};
use model::adoption::{AdoptChange, AdoptedPiece, AdoptedProgram, PIECES_MAX, PatchKind};
use model::artifact::ArtifactKind;
use model::body::{PlaybookAdopted, PlaybookTurnedOff, PolicyRulesChanged, SkinUntrusted};
use model::identity::SOUL_BYTES_MAX;
use model::skin::{SkinFile, TrustSkin};
use model::{ActionRequestId, ArtifactId, Digest, Sensitive};
use reasoning::Playbook;

/// A person's own rules.
const RULES: &str = "rules";
/// SOUL.md.
const SOUL: &str = "soul";
/// A skin that a person trusts.
const SKIN: &str = "skin";
/// An adopted playbook.
const PLAYBOOK: &str = "playbook";
/// The standard model.
const MODEL: &str = "model";
/// The program that is Hermit.
const PROGRAM: &str = "program";
/// Why a piece is as it was before.
const BACK: &str = "a person went back from an adopted change";

impl Kernel {
    /// What a change makes of what, as things stand now.
    ///
    /// # Errors
    /// [`Error::Conflict`] for what cannot be adopted, and where nothing would change.
    pub(super) fn pieces_of(
        &self,
        patch: &Patch,
        program: Option<&AdoptedProgram>,
    ) -> Result<Vec<AdoptedPiece>, Error> {
        let wanted: Vec<(&str, String, Option<String>)> = match (&patch.change, program) {
            (Change::Policy { profile: Some(_), .. }, _) => {
                return Err(Error::Conflict(
                    "there is no standard profile that a change could set; leave `profile` out".to_owned(),
                ));
            }
            (Change::Policy { rules, profile: None }, _) => {
                check_rules(rules).map_err(|e| Error::Conflict(e.to_string()))?;
                vec![(RULES, "yours".to_owned(), (!rules.is_empty()).then(|| rules.clone()))]
            }
            (Change::Words { items }, _) => {
                let mut all = Vec::new();
                for item in items.iter().take(PIECES_MAX.saturating_add(1)) {
                    all.push(wanted_words(item).map_err(Error::Conflict)?);
                }
                all
            }
            (Change::Model { address, sha256 }, _) => {
                self.adopting()?.check_model(address, *sha256).map_err(Error::Conflict)?;
                vec![(MODEL, "standard".to_owned(), Some(address.clone()))]
            }
            (Change::Code { .. }, Some(program)) => {
                vec![(PROGRAM, "hermit".to_owned(), Some(program.sha256.to_string()))]
            }
            (Change::Code { .. }, None) => Vec::new(),
        };
        let mut pieces = Vec::new();
        for (what, name, text) in wanted {
            let was = self.piece_now(what, &name)?;
            // What is so already is no piece of it.
            if text != was {
                pieces.push(AdoptedPiece { what: what.to_owned(), name, text, was });
            }
        }
        let mut named: Vec<_> = pieces.iter().map(|one| (&one.what, &one.name)).collect();
        named.sort_unstable();
        if named.windows(2).any(|two| matches!(two, [one, next] if one == next)) {
            return Err(Error::Conflict("it changes one and the same twice".to_owned()));
        }
        match pieces.len() {
            0 => Err(Error::Conflict("all of it is so already".to_owned())),
            1..=PIECES_MAX => Ok(pieces),
            _ => Err(Error::Conflict(format!("a change has {PIECES_MAX} pieces at most"))),
        }
    }

    /// What going back from an adopted change makes of what, as things stand now. SOUL.md is never taken away.
    pub(super) fn pieces_back(&self, adopted: &AdoptChange) -> Result<Vec<AdoptedPiece>, Error> {
        let mut pieces = Vec::new();
        for one in &adopted.pieces {
            let now = self.piece_now(&one.what, &one.name)?;
            if now != one.was && !(one.what == SOUL && one.was.is_none()) {
                let (what, name, text) = (one.what.clone(), one.name.clone(), one.was.clone());
                pieces.push(AdoptedPiece { what, name, text, was: now });
            }
        }
        Ok(pieces)
    }

    /// A piece as it is now; none where there is none.
    fn piece_now(&self, what: &str, name: &str) -> Result<Option<String>, Error> {
        let kept = |sha256: &Digest| -> Result<String, Error> {
            let bytes = self.artifacts.read(sha256)?;
            String::from_utf8(bytes).map_err(|e| Error::Broken(format!("words that are no text: {e}")))
        };
        Ok(match what {
            RULES => Some(self.signed_rules()?).filter(|rules| !rules.is_empty()),
            SOUL => self.identity().latest().map(|latest| kept(&latest.soul.sha256)).transpose()?,
            SKIN => {
                let registry = self.skin_registry();
                registry.latest(name).map(|one| kept(&one.file.sha256)).transpose()?
            }
            PLAYBOOK => {
                let registry = self.playbook_registry();
                registry.in_use(name).map(|one| kept(&one.text.sha256)).transpose()?
            }
            MODEL => self.adopting()?.standard_model().map_err(Error::Conflict)?,
            PROGRAM => self.program_now()?.map(|sha256| sha256.to_string()),
            other => return Err(Error::Broken(format!("`{other}` is no piece of Hermit"))),
        })
    }

    /// The adopted program that is at work; none where it is the one that was installed.
    ///
    /// # Errors
    /// When the record of its adoption is gone.
    pub fn program_now(&self) -> Result<Option<Digest>, Error> {
        let registry = self.adoption_registry();
        let Some(record) = registry.in_force(Some(PatchKind::Code)) else { return Ok(None) };
        Ok(self.adopted_change(record)?.program.map(|program| program.sha256))
    }

    /// The events by which pieces become others; `returns`: as they were before.
    pub(super) fn push_pieces(
        &self,
        w: &mut Writeup<'_>,
        (pieces, patch): (&[AdoptedPiece], ArtifactId),
        returns: bool,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        for piece in pieces {
            match (piece.what.as_str(), &piece.text) {
                (RULES, text) => {
                    let new = NewArtifact::audit(ArtifactKind::PolicyRules).from([patch]);
                    let rules = w.artifact(text.as_deref().unwrap_or_default().as_bytes(), new)?;
                    w.push(PolicyRulesChanged { rules, action_request_id, changed_at: w.now });
                }
                (SOUL, Some(text)) => {
                    let newest = lock(&self.store).identity.latest().map_or(0, |latest| latest.version);
                    self.push_soul(w, (newest.saturating_add(1), text), action_request_id)?;
                }
                (SKIN, text) => {
                    self.push_skin(w, (&piece.name, text.as_deref()), returns, action_request_id)?
                }
                (PLAYBOOK, text) => {
                    self.push_playbook(w, (&piece.name, text.as_deref()), patch, action_request_id)?;
                }
                (MODEL | PROGRAM, _) => {}
                (other, _) => return Err(Error::Broken(format!("`{other}` is no piece of Hermit"))),
            }
        }
        Ok(())
    }

    /// A skin is trusted; on a way back the one that took its place is trusted no more.
    fn push_skin(
        &self,
        w: &mut Writeup<'_>,
        (name, text): (&str, Option<&str>),
        returns: bool,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let registry = self.skin_registry();
        if let Some(now) = registry.latest(name).filter(|_| returns) {
            let reason = Sensitive::from(BACK.to_owned());
            w.push(SkinUntrusted { name: name.to_owned(), skin_sha256: now.sha256, reason });
        }
        let Some(text) = text else { return Ok(()) };
        let file = SkinFile::read(text.as_bytes()).map_err(Error::Conflict)?;
        let sha256 = file.digest().map_err(Error::Conflict)?;
        let trust = TrustSkin { file, sha256, own_key: false, known_key: false, was: None };
        skins::push_trusted(w, &trust, action_request_id)
    }

    /// A playbook is adopted in its next version, or turned off.
    fn push_playbook(
        &self,
        w: &mut Writeup<'_>,
        (name, text): (&str, Option<&str>),
        patch: ArtifactId,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let registry = self.playbook_registry();
        let latest = registry.latest(name);
        let name = name.to_owned();
        let Some(text) = text else {
            if let Some(latest) = latest {
                let (playbook_sha256, reason) = (latest.sha256, Sensitive::from(BACK.to_owned()));
                w.push(PlaybookTurnedOff { name, playbook_sha256, reason });
            }
            return Ok(());
        };
        let version = latest.map_or(1, |latest| latest.version.saturating_add(1));
        let playbook_sha256 = w.keep(text.as_bytes())?;
        let new = NewArtifact::audit(ArtifactKind::Playbook).media("application/yaml").trust(skills::TRUSTED);
        let playbook = w.artifact_of(playbook_sha256, text.len() as u64, new.from([patch]));
        let adopted_at = w.now;
        w.push(PlaybookAdopted { name, version, playbook_sha256, playbook, action_request_id, adopted_at });
        Ok(())
    }
}

/// Words as they would be, where they can be adopted by themselves.
fn wanted_words(item: &WordsItem) -> Result<(&'static str, String, Option<String>), String> {
    let text = Some(item.text.clone());
    match item.what.as_str() {
        SOUL if item.text.trim().is_empty()
            || item.text.len() > SOUL_BYTES_MAX
            || item.text.contains('\0') =>
        {
            Err(format!("SOUL.md is text of 1 byte to {} KB", SOUL_BYTES_MAX / 1024))
        }
        SOUL => Ok((SOUL, "SOUL.md".to_owned(), text)),
        SKIN => {
            // One spelling alone, as it is kept.
            let bytes = skins::of_change(&item.name, &item.text)?.to_bytes()?;
            Ok((SKIN, item.name.clone(), String::from_utf8(bytes).ok()))
        }
        PLAYBOOK => {
            let read = Playbook::parse(&item.text).map_err(|e| e.to_string())?;
            // Under such a name the one that comes with Hermit runs, whatever is adopted.
            if Playbook::shipped().iter().any(|one| one.name() == item.name) {
                return Err(format!(
                    "the playbook `{}` comes with Hermit; give yours a name of its own",
                    item.name
                ));
            }
            match read.name() == item.name {
                true => Ok((PLAYBOOK, item.name.clone(), text)),
                false => Err(format!("the playbook calls itself `{}`, not `{}`", read.name(), item.name)),
            }
        }
        "skill" => Err(format!(
            "the skill `{}` lies in files of its own: put it there and say `hermit skills trust {}`",
            item.name, item.name
        )),
        other => Err(format!("`{other}` is nothing that is adopted by itself")),
    }
}
