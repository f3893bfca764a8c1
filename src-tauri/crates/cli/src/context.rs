//! What every verb needs: the store's place, where words go, and the terminal, when there is one.

use crate::args::Args;
use crate::live::Show;
use crate::output::Output;
use crate::terminal::{Echo, Terminal, Typed};
use host::{Config, Home, Need, Session, ToldBy, Unlock};
use std::path::{Path, PathBuf};
use wire::{Code, Command, Error};
use zeroize::Zeroizing;

/// Passphrases may be mistyped this often.
const TRIES: u32 = 3;

/// Whether a verb signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// It does: at a terminal the vault's passphrase is asked for.
    Yes,
    /// It does not.
    No,
}

/// What every verb needs.
pub struct Context {
    /// The store's place.
    pub home: Home,
    /// Where words go.
    pub out: Output,
    /// The controlling terminal, when a person is there and `--json` or `--no-input` was not said.
    pub terminal: Option<Terminal>,
    /// What is shown while a task works.
    pub show: Show,
    /// Whether the terminal's bell rings when a person is waited for.
    pub bell: bool,
}

impl Context {
    /// From the command line.
    ///
    /// # Errors
    /// When no place for the store can be told.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let home = Home::find(args.home.as_deref()).map_err(host::Error::to_wire)?;
        let terminal = if args.json || args.no_input { None } else { Terminal::open() };
        let show = args.verb.show();
        if show == Show::Screen && !terminal.as_ref().is_some_and(crate::screen::can_draw) {
            return Err(Error::new(Code::Usage, "`--screen` needs a terminal that says how large it is")
                .hint("use `--log` here, which prints a line for each action"));
        }
        let out = Output::new(args.json);
        let config = Config::load(&home).unwrap_or_else(|error| {
            out.note(format!(
                "{}; the standard settings are in force",
                crate::text::plain(&error.to_string())
            ));
            Config::default()
        });
        Ok(Self { home, out, terminal, show, bell: config.bell.unwrap_or(true) })
    }

    /// The store, for reading.
    ///
    /// # Errors
    /// When there is none.
    pub fn reading(&self) -> Result<Session, Error> {
        if !self.home.has_store() {
            return Err(api::no_store(&self.home.dir().display().to_string()));
        }
        Session::open(&self.home, Need::Read, &Unlock::Environment)
    }

    /// An answer that only the process that holds the store gives whole, asked of it where one does. Where the store alone tells it,
    /// a note says what of it is therefore `unknown`, if that matters.
    ///
    /// # Errors
    /// As [`Self::reading`], and what the command says.
    pub fn told<C: Command>(
        &self,
        command: &C,
        unknown: impl FnOnce(&C::Answer) -> Option<&'static str>,
    ) -> Result<C::Answer, Error> {
        let (answer, by) = self.reading()?.told(command)?;
        if let Some(why) = why_not_by_owner(by)
            && let Some(unknown) = unknown(&answer)
        {
            self.out.note(format!("{unknown}: {why}."));
        }
        Ok(answer)
    }

    /// No store, or one that need not be there.
    ///
    /// # Errors
    /// When its settings cannot be read.
    pub fn free(&self) -> Result<Session, Error> {
        Session::open(&self.home, Need::Read, &Unlock::Environment)
    }

    /// The store, for writing: in this process, or through the one that owns it.
    ///
    /// # Errors
    /// When another process holds it and cannot be reached.
    pub fn writing(&self, signs: Signs) -> Result<Session, Error> {
        let session = self.owned_or_attached(signs)?;
        if signs == Signs::Yes {
            // It may be at work, or wait for a person, for long; others need not wait for it.
            session.serve();
        }
        Ok(session)
    }

    /// As [`Self::writing`], for what stops work or makes room: on a full disk the room goes that is held for it.
    ///
    /// # Errors
    /// As [`Self::writing`].
    pub fn writing_on_a_full_disk(&self, signs: Signs) -> Result<Session, Error> {
        match self.writing(signs) {
            Err(error) if error.code == wire::Code::DiskFull && host::make_room(&self.home) => {
                self.writing(signs)
            }
            session => session,
        }
    }

    /// As [`Self::writing`] with [`Signs::Yes`], for a verb that says itself how others attach.
    ///
    /// # Errors
    /// As [`Self::writing`].
    pub fn hosting(&self) -> Result<Session, Error> {
        self.owned_or_attached(Signs::Yes)
    }

    fn owned_or_attached(&self, signs: Signs) -> Result<Session, Error> {
        if signs == Signs::No {
            return self.open(&Unlock::Environment);
        }
        // Whoever owns the store has opened its keys; this process needs none.
        if let Some(session) = Session::attach(&self.home, &Unlock::Environment) {
            return Ok(session);
        }
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.asks()) else {
            return self.open(&Unlock::Environment);
        };
        let _silent = terminal.silence()?;
        for left in (0..TRIES).rev() {
            let words =
                match terminal.ask("Vault passphrase (Enter leaves the keys locked): ", Echo::Hidden)? {
                    Typed::Line(words) if !words.is_empty() => Zeroizing::new(words.as_bytes().to_vec()),
                    _ => return self.open(&Unlock::Environment),
                };
            match self.open(&Unlock::Words(words)) {
                Err(error) if error.code == Code::KeyLocked && left > 0 => {
                    terminal.print(&format!("{}\r\n", crate::text::plain(&error.message)));
                }
                other => return other,
            }
        }
        self.open(&Unlock::Environment)
    }

    /// What opens the vault: the environment, or words typed at the terminal where they are needed.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn unlock(&self, signs: Signs) -> Result<Unlock, Error> {
        let Some(terminal) = self.terminal.as_ref().filter(|_| signs == Signs::Yes && self.asks()) else {
            return Ok(Unlock::Environment);
        };
        match terminal.ask("Vault passphrase (Enter leaves the keys locked): ", Echo::Hidden)? {
            Typed::Line(words) if !words.is_empty() => {
                Ok(Unlock::Words(Zeroizing::new(words.as_bytes().to_vec())))
            }
            _ => Ok(Unlock::Environment),
        }
    }

    fn open(&self, unlock: &Unlock) -> Result<Session, Error> {
        Session::open(&self.home, Need::Write, unlock)
    }

    /// Whether the vault's passphrase has to be asked for.
    fn asks(&self) -> bool {
        let given = std::env::var_os("HERMIT_PASSPHRASE_FILE").is_some_and(|v| !v.is_empty());
        !given && self.home.needs_passphrase()
    }
}

/// Why the process that holds the store did not tell it; none where it did.
pub const fn why_not_by_owner(by: ToldBy) -> Option<&'static str> {
    match by {
        ToldBy::Owner => None,
        ToldBy::Store => Some("Hermit is not running"),
        ToldBy::Silent => Some("the process that has Hermit open did not answer"),
    }
}

/// A path as a person gives it, made absolute, because the host may run elsewhere.
///
/// # Errors
/// When the present folder is gone.
pub fn absolute(path: &Path) -> Result<String, Error> {
    let path: PathBuf = std::path::absolute(path)
        .map_err(|e| Error::new(Code::Usage, format!("cannot make `{}` a full path: {e}", path.display())))?;
    path.into_os_string().into_string().map_err(|path| {
        Error::new(Code::Usage, format!("the path `{}` is not UTF-8", path.to_string_lossy()))
            .hint("name the folder above it")
    })
}
