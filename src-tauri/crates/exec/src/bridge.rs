//! The bridge: programs speak to a proxy over TCP, and the way out is a unix socket. It listens on the loopback of the
//! command's own network, where nobody else is, and copies bytes; it decides nothing. A guest that starts `hermit-exec
//! --mcp` inside the walls is carried to Hermit's tools in the same way.

use crate::Error;
use crate::walls::Walls;
use rustix::fd::OwnedFd;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

/// Where the proxy's socket is inside.
const SOCKET: &str = "/run/hermit/proxy";
/// Where Hermit's tools are for a guest, inside.
const TOOLS: &str = "/run/hermit/mcp";
/// Where programs look for it.
const PORT: u16 = 3128;

fn failed(error: io::Error) -> Error {
    Error::wall("the bridge to the proxy", error)
}

/// Listens, and leaves the listening to a process of its own.
///
/// # Errors
/// [`Error::Wall`] when one of the two cannot be had.
pub fn begin() -> Result<(), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).map_err(failed)?;
    // Through a process that ends at once, so that the command does not find a child it never made.
    let status =
        own("--bridge", OwnedFd::from(listener)).and_then(|mut child| child.wait()).map_err(failed)?;
    if status.success() { Ok(()) } else { Err(failed(io::Error::other("it ended"))) }
}

fn own(word: &str, listener: OwnedFd) -> io::Result<std::process::Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(word).stdin(Stdio::from(listener)).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Does what the first argument says, when it is the bridge's.
///
/// # Errors
/// [`Error::Wall`] when it cannot.
pub fn asked(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<ExitCode>, Error> {
    let word = arguments.next();
    let listener = || rustix::io::dup(rustix::stdio::stdin()).map_err(|e| failed(e.into()));
    match word.as_ref().and_then(|word| word.to_str()) {
        Some("--bridge") => {
            own("--bridging", listener()?).map_err(failed)?;
            Ok(Some(ExitCode::SUCCESS))
        }
        Some("--bridging") => {
            let listener = TcpListener::from(listener()?);
            Walls { network: true, ..Walls::default() }.raise()?;
            for stream in listener.incoming().flatten() {
                // A connection that cannot be served ends; the command sees that.
                let _ = std::thread::Builder::new().spawn(move || carry(&stream));
            }
            Ok(Some(ExitCode::SUCCESS))
        }
        Some("--mcp") => {
            tools().map_err(failed)?;
            Ok(Some(ExitCode::SUCCESS))
        }
        _ => Ok(None),
    }
}

/// Carries Hermit's tools to a guest that speaks to them over standard input and output.
fn tools() -> io::Result<()> {
    let outside = UnixStream::connect(TOOLS)?;
    let to = outside.try_clone()?;
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut &to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let mut out = io::stdout().lock();
    let (mut from, mut piece) = (&outside, [0_u8; 16 * 1024]);
    loop {
        let read = io::Read::read(&mut from, &mut piece)?;
        if read == 0 {
            return Ok(());
        }
        io::Write::write_all(&mut out, piece.get(..read).unwrap_or(&[]))?;
        io::Write::flush(&mut out)?;
    }
}

fn carry(inside: &TcpStream) {
    let Ok(outside) = UnixStream::connect(SOCKET) else { return };
    let (inside, outside) = (inside, &outside);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut from, mut to) = (inside, outside);
            let _ = io::copy(&mut from, &mut to);
            let _ = outside.shutdown(Shutdown::Write);
        });
        let (mut from, mut to) = (outside, inside);
        let _ = io::copy(&mut from, &mut to);
        // The answer is over; whoever still sends is not waited for.
        let _ = inside.shutdown(Shutdown::Both);
        let _ = outside.shutdown(Shutdown::Both);
    });
}
