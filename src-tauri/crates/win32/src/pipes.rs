//! The calls of pipes with a name, and of the console of whoever comes to one. Each block that is unsafe does one call and says why
//! it may; what is heard is judged elsewhere.
#![allow(unsafe_code, reason = "Windows is asked with pointers, in the five files of calls and nowhere else")]

use crate::access::{AccessList, Malformed, Sid, owner_only_named};
use crate::calls::{aligned, attributes, console_mode, descriptor, failed_with, owned, parts_of_descriptor};
use crate::grants;
use crate::lending::text;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsRawHandle as _, OwnedHandle};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{
    ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_BUSY, ERROR_PIPE_CONNECTED, ERROR_PIPE_NOT_CONNECTED,
};
use windows_sys::Win32::Security::LABEL_SECURITY_INFORMATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_ACCESS_DUPLEX, SECURITY_IDENTIFICATION,
};
use windows_sys::Win32::System::Console::{AttachConsole, FreeConsole, GetConsoleWindow};
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, DisconnectNamedPipe, GetNamedPipeClientProcessId, PIPE_NOWAIT,
    PIPE_REJECT_REMOTE_CLIENTS, PIPE_WAIT, PeekNamedPipe,
};

/// Where the system has pipes.
const PIPES: &str = r"\\.\pipe\";

/// A pipe with a name, of which one only wants to know whether somebody has opened it.
#[derive(Debug)]
pub struct WatchedPipe(OwnedHandle);

impl WatchedPipe {
    /// Makes it, for programs of this machine.
    ///
    /// # Errors
    /// What the system says; that there is one of this name is one of the reasons.
    pub fn new(name: &str) -> Result<Self> {
        let name = text(&format!("{PIPES}{name}"))?;
        let open = PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE;
        let mode = PIPE_NOWAIT | PIPE_REJECT_REMOTE_CLIENTS;
        // SAFETY: the name ends with a zero and lives until the call returns; there are no attributes.
        owned(unsafe { CreateNamedPipeW(name.as_ptr(), open, mode, 1, 512, 512, 0, null()) }).map(Self)
    }

    /// Whether somebody has opened it, who may be gone again.
    #[must_use]
    pub fn was_opened(&self) -> bool {
        // SAFETY: the handle is open, and was not made for calls that end later.
        let said = unsafe { ConnectNamedPipe(self.0.as_raw_handle(), null_mut()) };
        let error = Error::last_os_error();
        said == 0 && [ERROR_PIPE_CONNECTED, ERROR_NO_DATA].into_iter().any(|code| failed_with(&error, code))
    }
}

/// The hearing side of a pipe that one program of this user after another may come to.
#[derive(Debug)]
pub struct OrderPipe(File);

impl OrderPipe {
    /// Makes it: this user and the system alone may open it, from this machine. What is said and not yet heard may be so many bytes.
    ///
    /// # Errors
    /// What the system says; that there is one of this name is one of the reasons.
    pub fn new(name: &str, user: &Sid, bytes: u32) -> Result<Self> {
        let name = text(&format!("{PIPES}{name}"))?;
        let mut descriptor = aligned(&owner_only_named(user));
        let attributes = attributes(&mut descriptor);
        let open = PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE;
        let mode = PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS;
        // SAFETY: the name ends with a zero; it, the attributes and the descriptor live until the call returns, and it only reads
        // them.
        let handle = unsafe { CreateNamedPipeW(name.as_ptr(), open, mode, 1, bytes, bytes, 0, &attributes) };
        owned(handle).map(|handle| Self(File::from(handle)))
    }

    /// Waits until somebody has opened it, who may be gone again.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the handle is open, and was not made for calls that end later.
        if unsafe { ConnectNamedPipe(self.0.as_raw_handle(), null_mut()) } != 0 {
            return Ok(());
        }
        let error = Error::last_os_error();
        match [ERROR_PIPE_CONNECTED, ERROR_NO_DATA].into_iter().any(|code| failed_with(&error, code)) {
            true => Ok(()),
            false => Err(error),
        }
    }

    /// The process that has opened it.
    ///
    /// # Errors
    /// What the system says; that nobody has it open is one of the reasons.
    pub fn who(&self) -> Result<u32> {
        let mut process = 0;
        // SAFETY: the handle is open, and the number lives, until the call returns.
        match unsafe { GetNamedPipeClientProcessId(self.0.as_raw_handle(), &mut process) } {
            0 => Err(Error::last_os_error()),
            _ => Ok(process),
        }
    }

    /// What is said and heard.
    #[must_use]
    pub fn stream(&self) -> &File {
        &self.0
    }

    /// Lets go of whoever has it open; what they have not read is lost.
    ///
    /// # Errors
    /// What the system says.
    pub fn hang_up(&self) -> Result<()> {
        // SAFETY: the handle is open until the call returns.
        match unsafe { DisconnectNamedPipe(self.0.as_raw_handle()) } {
            0 => Err(Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

/// Opens the pipe of this name to speak to whoever made it, who sees by it no more of this process than who it is; none while
/// somebody else has it open.
///
/// # Errors
/// What the system says, and that it is not this user's alone, or of a program with less integrity than people's have, such as a
/// command of an agent: then somebody else may hear what is said.
pub fn open_order_pipe(name: &str, user: &Sid) -> Result<Option<File>> {
    let mut how = OpenOptions::new();
    how.read(true).write(true).security_qos_flags(SECURITY_IDENTIFICATION);
    let pipe = match how.open(format!("{PIPES}{name}")) {
        Ok(pipe) => pipe,
        Err(error) if failed_with(&error, ERROR_PIPE_BUSY) => return Ok(None),
        Err(error) => return Err(error),
    };
    let malformed = |why: Malformed| Error::new(ErrorKind::InvalidData, why);
    let mut others = AccessList::read(&descriptor(&pipe)?).map_err(malformed)?.others(user);
    let label = parts_of_descriptor(&pipe, LABEL_SECURITY_INFORMATION)?;
    if grants::label_of(&label).and_then(|label| grants::is_low(label.as_deref())).map_err(malformed)? {
        others.push("programs of low integrity".to_owned());
    }
    match others.as_slice() {
        [] => Ok(Some(pipe)),
        others => Err(Error::new(
            ErrorKind::PermissionDenied,
            format!("the pipe is open to {}, so nothing is said to it", others.join(", ")),
        )),
    }
}

/// How many bytes wait to be read, without waiting for any; none where the other side is gone and has left nothing.
///
/// # Errors
/// It is no pipe, and what the system says.
pub fn waiting(pipe: &File) -> Result<Option<usize>> {
    let mut bytes = 0;
    // SAFETY: the handle is open, and the number lives, until the call returns; nothing is to be written elsewhere.
    let said =
        unsafe { PeekNamedPipe(pipe.as_raw_handle(), null_mut(), 0, null_mut(), &mut bytes, null_mut()) };
    if said != 0 {
        return Ok(Some(usize::try_from(bytes).unwrap_or_default()));
    }
    let error = Error::last_os_error();
    let gone = [ERROR_BROKEN_PIPE, ERROR_PIPE_NOT_CONNECTED, ERROR_NO_DATA];
    match gone.into_iter().any(|code| failed_with(&error, code)) {
        true => Ok(None),
        false => Err(error),
    }
}

/// Whether a process has a console with keys and a window, at which somebody may sit. This process gives up its own console for
/// that, so only a program that is there for this asks.
#[must_use]
pub fn is_at_console(process: u32) -> bool {
    // SAFETY: it takes nothing; what it lets go of is used no more in this program.
    unsafe { FreeConsole() };
    // SAFETY: it takes a number alone.
    if unsafe { AttachConsole(process) } == 0 {
        return false;
    }
    // SAFETY: it takes nothing, and what comes back is only looked at.
    let window = unsafe { GetConsoleWindow() };
    let keys = OpenOptions::new().read(true).write(true).open("CONIN$");
    !window.is_null() && keys.is_ok_and(|keys| console_mode(&keys).is_ok())
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::calls::user;
    use std::io::{Read as _, Write as _};
    use std::time::{Duration, Instant};

    /// How long anything of a test may take.
    const LONG: Duration = Duration::from_secs(60);

    fn name(of: &str) -> String {
        format!("hermit.tested.{of}.{}", std::process::id())
    }

    /// Reads so many bytes, once they wait.
    fn read(pipe: &File, many: usize) -> Vec<u8> {
        let by = Instant::now() + LONG;
        let mut bytes = Vec::new();
        while bytes.len() < many {
            assert!(Instant::now() < by, "only {bytes:?} came");
            match waiting(pipe).expect("a pipe").expect("somebody is there") {
                0 => std::thread::sleep(Duration::from_millis(5)),
                some => {
                    let mut piece = vec![0; some.min(many - bytes.len())];
                    let mut from = pipe;
                    from.read_exact(&mut piece).expect("it waits");
                    bytes.extend(piece);
                }
            }
        }
        bytes
    }

    #[test]
    fn invariant_6_an_order_is_heard_with_who_says_it_and_one_comes_after_another() {
        let (name, me) = (name("order"), user().expect("a user"));
        let pipe = OrderPipe::new(&name, &me, 4096).expect("a pipe");
        assert!(OrderPipe::new(&name, &me, 4096).is_err(), "nobody else has one of this name");
        let hears = std::thread::spawn(move || {
            for _ in 0..2 {
                pipe.wait().expect("somebody comes");
                assert_eq!(pipe.who().expect("a process"), std::process::id());
                let said = read(pipe.stream(), 5);
                let mut says = pipe.stream();
                says.write_all(&said).expect("it fits");
                let by = Instant::now() + LONG;
                while waiting(pipe.stream()).expect("a pipe").is_some() {
                    assert!(Instant::now() < by, "whoever came does not go");
                    std::thread::sleep(Duration::from_millis(5));
                }
                pipe.hang_up().expect("it lets go");
            }
        });
        for word in [b"first", b"other"] {
            let by = Instant::now() + LONG;
            let came = loop {
                assert!(Instant::now() < by, "it is never free");
                match open_order_pipe(&name, &me).expect("a pipe of this user") {
                    Some(came) => break came,
                    None => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            assert!(matches!(open_order_pipe(&name, &me), Ok(None)), "it hears one at a time");
            let mut says = &came;
            says.write_all(word).expect("it fits");
            assert_eq!(read(&came, 5), word);
        }
        hears.join().expect("it heard both");
        assert!(open_order_pipe(&name, &me).is_err(), "it is gone");
    }

    #[test]
    fn invariant_6_nothing_is_said_to_a_pipe_of_somebody_else() {
        let name = name("others");
        let me = user().expect("a user");
        let other: Sid = "S-1-5-21-1-2-3-1001".parse().expect("a user");
        let _pipe = OrderPipe::new(&name, &me, 4096).expect("a pipe");
        let refused = open_order_pipe(&name, &other);
        assert!(refused.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied));
    }
}
