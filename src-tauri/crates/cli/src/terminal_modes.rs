//! What a terminal does with what is typed, and how large it is, as the system has it.

pub use system::{Modes, Tty, When, controlling, forget_typed, size, stdout_size};

#[cfg(unix)]
mod system {
    use rustix::fd::AsFd;
    use rustix::termios::{LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
    use std::fs::File;
    use std::io::Result;

    /// A terminal: one file that is read and shows.
    pub type Tty = File;

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

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io::{IsTerminal, Read, Result, Write};
    use std::sync::{Mutex, PoisonError};

    /// Bits of the modes of keys: Ctrl-C is a signal; a line is read whole; keys are shown; each key is its escape sequence.
    const PROCESSED: u32 = 0x001;
    const BY_LINE: u32 = 0x002;
    const ECHO: u32 = 0x004;
    const SEQUENCES: u32 = 0x200;
    /// Bits of the modes of the screen: signs that move the cursor do, and escape sequences as well.
    const DRAWN: u32 = 0x001 | 0x004;

    /// A console: its keys and its screen are two files.
    pub struct Tty {
        keys: File,
        screen: File,
        /// Bytes of a sign that was typed, from the last one on.
        rest: Mutex<Vec<u8>>,
        /// Bytes of a sign that is not whole yet, to be shown.
        begun: Mutex<Vec<u8>>,
    }

    impl Tty {
        /// The same console once more.
        ///
        /// # Errors
        /// When no more files can be opened.
        pub fn try_clone(&self) -> Result<Self> {
            let (keys, screen) = (self.keys.try_clone()?, self.screen.try_clone()?);
            Ok(Self { keys, screen, rest: Mutex::default(), begun: Mutex::default() })
        }

        /// Whether it is a console indeed.
        pub fn is_terminal(&self) -> bool {
            self.keys.is_terminal() && self.screen.is_terminal()
        }

        /// The bytes of the next sign that is typed, the last one first; none where a read was broken off.
        fn sign(&self) -> Result<Vec<u8>> {
            let mut units = Vec::new();
            // A sign is one unit, or two of which the first says so.
            while units.len() < 2 {
                let Some(unit) = win32::read_key(&self.keys)? else { break };
                units.push(unit);
                if !(0xd800..0xdc00).contains(&unit) {
                    break;
                }
            }
            let mut bytes = String::from_utf16_lossy(&units).into_bytes();
            bytes.reverse();
            Ok(bytes)
        }
    }

    impl Read for &Tty {
        /// Waits for a key, but not where every key is a sequence: there a screen is drawn meanwhile.
        fn read(&mut self, to: &mut [u8]) -> Result<usize> {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            let waits = win32::console_mode(&self.keys)? & SEQUENCES == 0;
            let mut read = 0;
            for place in to {
                if rest.is_empty() && ((waits && read == 0) || (!waits && win32::has_key(&self.keys)?)) {
                    *rest = self.sign()?;
                }
                let Some(byte) = rest.pop() else { break };
                *place = byte;
                read += 1;
            }
            Ok(read)
        }
    }

    impl Read for Tty {
        fn read(&mut self, to: &mut [u8]) -> Result<usize> {
            (&*self).read(to)
        }
    }

    impl Write for &Tty {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun.extend_from_slice(bytes);
            let whole = match std::str::from_utf8(&begun) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => begun.len(),
            };
            let rest = begun.split_off(whole);
            let units: Vec<u16> = String::from_utf8_lossy(&begun).encode_utf16().collect();
            *begun = rest;
            let mut left = units.as_slice();
            while !left.is_empty() {
                let shown = win32::show(&self.screen, left)?;
                left = left.get(shown.max(1)..).unwrap_or_default();
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Write for Tty {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            (&*self).write(bytes)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// When modes take effect. What is printed is shown by then.
    #[derive(Debug, Clone, Copy)]
    pub enum When {
        /// At once.
        Now,
        /// When all is printed.
        Drain,
        /// When all is printed, and what was typed is thrown away.
        Flush,
    }

    /// Modes of a console: of its keys and of its screen.
    #[derive(Clone, Copy)]
    pub struct Modes {
        keys: u32,
        screen: u32,
    }

    impl Modes {
        /// Those that it has.
        ///
        /// # Errors
        /// When it refuses, or is gone.
        pub fn of(console: &Tty) -> Result<Self> {
            let (keys, screen) = (win32::console_mode(&console.keys)?, win32::console_mode(&console.screen)?);
            Ok(Self { keys, screen })
        }

        /// Nothing of what is typed is shown, and Ctrl-C is not heard.
        pub fn silent(&self) -> Self {
            Self { keys: self.keys & !(ECHO | PROCESSED), screen: self.screen }
        }

        /// Every key by itself and none of them shown, none waited for.
        pub fn raw(&self) -> Self {
            let by_key = self.by_key();
            Self { keys: by_key.keys | SEQUENCES, ..by_key }
        }

        /// Every key by itself and none of them shown; one is waited for.
        pub fn by_key(&self) -> Self {
            let keys = self.keys & !(BY_LINE | ECHO | PROCESSED | SEQUENCES);
            Self { keys, screen: self.screen | DRAWN }
        }

        /// Gives a console these.
        ///
        /// # Errors
        /// When it refuses.
        pub fn give_to(&self, console: &Tty, when: When) -> Result<()> {
            if matches!(when, When::Flush) {
                win32::forget_keys(&console.keys)?;
            }
            win32::set_console_mode(&console.keys, self.keys)?;
            win32::set_console_mode(&console.screen, self.screen)
        }
    }

    /// The console that this process has.
    pub fn controlling() -> Option<Tty> {
        let opened = |name: &str| File::options().read(true).write(true).open(name).ok();
        let (keys, screen) = (opened("CONIN$")?, opened("CONOUT$")?);
        Some(Tty { keys, screen, rest: Mutex::default(), begun: Mutex::default() })
    }

    /// Columns and rows of a console, where it says so.
    pub fn size(console: &Tty) -> Option<(u16, u16)> {
        win32::screen_size(&console.screen).ok()
    }

    /// Columns and rows of what this process prints to.
    pub fn stdout_size() -> Option<(u16, u16)> {
        ratatui::crossterm::terminal::size().ok()
    }

    /// Throws away what was typed and not yet read.
    pub fn forget_typed(console: &Tty) {
        console.rest.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let _ = win32::forget_keys(&console.keys);
    }
}
