//! What a terminal does with what is typed, and how large it is, as the system has it.

pub use system::{Modes, When, controlling, forget_typed, size, stdout_size};

#[cfg(unix)]
mod system {
    use rustix::fd::AsFd;
    use rustix::termios::{LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
    use std::fs::File;
    use std::io::Result;

    /// When modes take effect.
    pub type When = OptionalActions;

    /// Modes of a terminal.
    pub struct Modes(Termios);

    impl Modes {
        /// Those that it has.
        ///
        /// # Errors
        /// When it refuses, or is gone.
        pub fn of(terminal: &File) -> Result<Self> {
            Ok(Self(rustix::termios::tcgetattr(terminal)?))
        }

        /// Nothing of what is typed is shown, and Ctrl-C is not heard.
        pub fn silent(&self) -> Self {
            let mut silent = self.0.clone();
            silent.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
            Self(silent)
        }

        /// Every key by itself and none of them shown, none waited for.
        pub fn raw(&self) -> Self {
            let mut raw = self.0.clone();
            raw.make_raw();
            bytes_at_a_time(&mut raw, 0);
            Self(raw)
        }

        /// Every key by itself and none of them shown; one is waited for.
        pub fn by_key(&self) -> Self {
            let mut raw = self.0.clone();
            raw.local_modes
                .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
            bytes_at_a_time(&mut raw, 1);
            Self(raw)
        }

        /// Gives a terminal these.
        ///
        /// # Errors
        /// When it refuses.
        pub fn give_to(&self, terminal: &File, when: When) -> Result<()> {
            Ok(rustix::termios::tcsetattr(terminal, when, &self.0)?)
        }
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "rustix indexes its special codes by an enum; no index is out of bounds"
    )]
    fn bytes_at_a_time(raw: &mut Termios, least: u8) {
        raw.special_codes[SpecialCodeIndex::VMIN] = least;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    }

    /// The terminal that this process is controlled by.
    pub fn controlling() -> Option<File> {
        File::options().read(true).write(true).open("/dev/tty").ok()
    }

    /// Columns and rows of a terminal, where it says so.
    pub fn size(terminal: impl AsFd) -> Option<(u16, u16)> {
        rustix::termios::tcgetwinsize(terminal).ok().map(|size| (size.ws_col, size.ws_row))
    }

    /// Those of what this process prints to.
    pub fn stdout_size() -> Option<(u16, u16)> {
        size(std::io::stdout())
    }

    /// Throws away what was typed and not yet read.
    pub fn forget_typed(terminal: &File) {
        let _ = rustix::termios::tcflush(terminal, QueueSelector::IFlush);
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io::{Error, Result};

    fn refused() -> Error {
        disk::not_on_this_system("a question that a person answers at a terminal")
    }

    /// When modes take effect.
    #[derive(Debug, Clone, Copy)]
    pub enum When {
        /// At once.
        Now,
        /// When all is printed.
        Drain,
        /// When all is printed, and what was typed is thrown away.
        Flush,
    }

    /// None can be asked for here yet.
    pub struct Modes;

    impl Modes {
        /// Those that it has.
        ///
        /// # Errors
        /// They are not asked for on this system yet.
        pub fn of(_: &File) -> Result<Self> {
            Err(refused())
        }

        /// Nothing of what is typed is shown.
        pub fn silent(&self) -> Self {
            Self
        }

        /// Every key by itself, none waited for.
        pub fn raw(&self) -> Self {
            Self
        }

        /// Every key by itself; one is waited for.
        pub fn by_key(&self) -> Self {
            Self
        }

        /// Gives a terminal these.
        ///
        /// # Errors
        /// They are not set on this system yet.
        pub fn give_to(&self, _: &File, _: When) -> Result<()> {
            Err(refused())
        }
    }

    /// The console is no file that both is read and shows: questions are not asked there yet.
    pub fn controlling() -> Option<File> {
        None
    }

    /// A terminal that is a file is not asked here.
    pub fn size(_: &File) -> Option<(u16, u16)> {
        None
    }

    /// Columns and rows of what this process prints to.
    pub fn stdout_size() -> Option<(u16, u16)> {
        ratatui::crossterm::terminal::size().ok()
    }

    /// Nothing is read there.
    pub fn forget_typed(_: &File) {}
}
