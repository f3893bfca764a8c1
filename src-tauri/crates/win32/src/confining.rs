//! The calls that run a command in a container or under a restricted token, in a job. Each block that is unsafe does one call and
//! says why it may; what is asked of the system is computed elsewhere.
#![allow(unsafe_code, reason = "Windows is asked with pointers, in the five files of calls and nowhere else")]

use crate::access::Sid;
use crate::calls::{aligned, failed_with, owned, user, wide};
use crate::grants;
use crate::tokens::{KEPT_FROM_DESKTOP, Limits, Token, groups, to_disable, to_restrict};
use std::io::{Error, ErrorKind, Result};
use std::os::windows::io::{AsRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{
    ERROR_INSUFFICIENT_BUFFER, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation, WAIT_OBJECT_0,
};
use windows_sys::Win32::Security::{
    CreateRestrictedToken, DISABLE_MAX_PRIVILEGE, GetTokenInformation, SECURITY_CAPABILITIES,
    SID_AND_ATTRIBUTES, SetTokenInformation, TOKEN_ADJUST_DEFAULT, TOKEN_ASSIGN_PRIMARY, TOKEN_DEFAULT_DACL,
    TOKEN_DUPLICATE, TOKEN_MANDATORY_LABEL, TOKEN_QUERY, TokenDefaultDacl, TokenGroups, TokenIntegrityLevel,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_LIMIT_PROCESS_TIME,
    JOBOBJECT_BASIC_LIMIT_INFORMATION, JOBOBJECT_BASIC_UI_RESTRICTIONS, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicUIRestrictions, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, CreateProcessAsUserW, CreateProcessW, DeleteProcThreadAttributeList,
    EXTENDED_STARTUPINFO_PRESENT, GetCurrentProcess, GetExitCodeProcess, INFINITE,
    InitializeProcThreadAttributeList, OpenProcess, OpenProcessToken, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
    PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES, PROCESS_INFORMATION, PROCESS_SYNCHRONIZE, ResumeThread,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, TerminateProcess, UpdateProcThreadAttribute,
    WaitForMultipleObjects,
};

/// Why a command did not run to its end behind its walls.
#[derive(Debug)]
pub enum Failed {
    /// A wall does not stand, and nothing has run.
    Wall(&'static str, Error),
    /// The program cannot be started.
    Start(Error),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wall(wall, error) => write!(f, "{wall} cannot be put up here: {error}"),
            Self::Start(error) => write!(f, "it could not be started: {error}"),
        }
    }
}

impl std::error::Error for Failed {}

/// A failure of one wall.
fn wall(what: &'static str) -> impl Fn(Error) -> Failed {
    move |error| Failed::Wall(what, error)
}

/// The number of bytes of something, as calls take it.
fn size_in_bytes<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or_default()
}

/// Whether a call that tells by a number of zero that it failed did not.
fn done(told: i32) -> Result<()> {
    if told == 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Runs a program with this line behind these walls, with the standard streams, the environment and the folder of this process,
/// and tells with which number it ended. It has no window. All that it has started ends with it, with this process, and with
/// the process `host`.
///
/// # Errors
/// What does not stand, before the program's first instruction.
pub fn run(
    token: &Token,
    limits: Limits,
    host: u32,
    program: &Path,
    line: &[u16],
) -> std::result::Result<u32, Failed> {
    // SAFETY: it takes numbers alone.
    let host = owned(unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, host) });
    let host = host.map_err(wall("the wait for the end of Hermit"))?;
    let job = job(token, limits).map_err(wall("the job object"))?;
    let streams = streams().map_err(wall("the streams of its output"))?;
    let lesser = match token {
        Token::Restricted(own) => Some(restricted(own).map_err(wall("the restricted token"))?),
        Token::Container(_) | Token::Own => None,
    };
    let (process, thread) = begin(token, lesser.as_ref(), streams, program, line)?;
    // SAFETY: both handles are open until the call returns.
    let put = unsafe { AssignProcessToJobObject(job.as_raw_handle(), process.as_raw_handle()) };
    if let Err(error) = done(put) {
        // SAFETY: the handle is open; the process has not begun.
        unsafe { TerminateProcess(process.as_raw_handle(), 1) };
        return Err(Failed::Wall("the job object", error));
    }
    // SAFETY: the handle is open until the call returns.
    if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX {
        return Err(Failed::Start(Error::last_os_error()));
    }
    let both = [process.as_raw_handle(), host.as_raw_handle()];
    // SAFETY: the two handles are open, and the array lives, until the call returns.
    let first = unsafe { WaitForMultipleObjects(2, both.as_ptr(), 0, INFINITE) };
    let mut code = 1;
    // SAFETY: the handle is open, and the number lives, until the call returns.
    let told = unsafe { GetExitCodeProcess(process.as_raw_handle(), &mut code) };
    // SAFETY: the handle is open until the call returns.
    unsafe { TerminateJobObject(job.as_raw_handle(), 1) };
    // Where Hermit went first, nobody asks for the number any more.
    Ok(if told != 0 && first == WAIT_OBJECT_0 { code } else { 1 })
}

/// A job that ends all its processes with its handle, which nobody can leave.
fn job(token: &Token, limits: Limits) -> Result<OwnedHandle> {
    // SAFETY: it takes no attributes and no name.
    let job = owned(unsafe { CreateJobObjectW(null(), null()) })?;
    let numbers = limits.numbers();
    let told = JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
        BasicLimitInformation: JOBOBJECT_BASIC_LIMIT_INFORMATION {
            PerProcessUserTimeLimit: numbers.cpu,
            LimitFlags: JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
                | JOB_OBJECT_LIMIT_ACTIVE_PROCESS
                | JOB_OBJECT_LIMIT_PROCESS_MEMORY
                | JOB_OBJECT_LIMIT_JOB_MEMORY
                | JOB_OBJECT_LIMIT_PROCESS_TIME
                | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
            ActiveProcessLimit: numbers.processes,
            ..JOBOBJECT_BASIC_LIMIT_INFORMATION::default()
        },
        ProcessMemoryLimit: numbers.memory_bytes,
        JobMemoryLimit: numbers.memory_bytes,
        ..JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default()
    };
    let size = size_in_bytes::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>();
    // SAFETY: the handle is open, and the limits live and are as long as it is told, until the call returns.
    done(unsafe {
        let handle = job.as_raw_handle();
        SetInformationJobObject(handle, JobObjectExtendedLimitInformation, (&raw const told).cast(), size)
    })?;
    if *token == Token::Own {
        return Ok(job);
    }
    let told = JOBOBJECT_BASIC_UI_RESTRICTIONS { UIRestrictionsClass: KEPT_FROM_DESKTOP };
    let size = size_in_bytes::<JOBOBJECT_BASIC_UI_RESTRICTIONS>();
    // SAFETY: as above.
    done(unsafe {
        let handle = job.as_raw_handle();
        SetInformationJobObject(handle, JobObjectBasicUIRestrictions, (&raw const told).cast(), size)
    })?;
    Ok(job)
}

/// The three standard streams of this process, which a program that it starts may take over.
fn streams() -> Result<[HANDLE; 3]> {
    let streams = [
        std::io::stdin().as_raw_handle(),
        std::io::stdout().as_raw_handle(),
        std::io::stderr().as_raw_handle(),
    ];
    for stream in streams {
        if stream.is_null() {
            return Err(Error::new(ErrorKind::NotFound, "a standard stream is closed"));
        }
        // SAFETY: it is a number of this process; one that is none is told as an error.
        done(unsafe { SetHandleInformation(stream, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) })?;
    }
    Ok(streams)
}

/// Starts the program without letting it run: its process and its first thread.
fn begin(
    token: &Token,
    lesser: Option<&OwnedHandle>,
    streams: [HANDLE; 3],
    program: &Path,
    line: &[u16],
) -> std::result::Result<(OwnedHandle, OwnedHandle), Failed> {
    // Each once: the system refuses a list that names one twice.
    let mut inherited: Vec<HANDLE> = Vec::new();
    for stream in streams {
        if !inherited.contains(&stream) {
            inherited.push(stream);
        }
    }
    let mut container = match token {
        Token::Container(sid) => aligned(&sid.bytes()),
        Token::Restricted(_) | Token::Own => Vec::new(),
    };
    let capabilities = SECURITY_CAPABILITIES {
        AppContainerSid: container.as_mut_ptr().cast(),
        ..SECURITY_CAPABILITIES::default()
    };
    let mut list = AttributeList::of(2).map_err(wall("the list of what it takes over"))?;
    list.add(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited.as_ptr().cast(), size_of_val(inherited.as_slice()))
        .map_err(wall("the list of what it takes over"))?;
    if !container.is_empty() {
        let size = size_of::<SECURITY_CAPABILITIES>();
        list.add(PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES, (&raw const capabilities).cast(), size)
            .map_err(wall("the AppContainer"))?;
    }
    let startup = startup(&mut list, streams);
    let program = wide(program).map_err(Failed::Start)?;
    let mut line = line.to_vec();
    let flags = CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT;
    let mut made = PROCESS_INFORMATION::default();
    let (name, words) = (program.as_ptr(), line.as_mut_ptr());
    let startup = (&raw const startup).cast();
    let told = match lesser {
        // SAFETY: both texts end with a zero and the line may be written to; they, the list, what it points to and the place of
        // the answer live until the call returns, and the size that is told is that of the longer structure, as the flag says.
        None => unsafe {
            CreateProcessW(name, words, null(), null(), 1, flags, null(), null(), startup, &mut made)
        },
        // SAFETY: as above, and the token is open.
        Some(token) => unsafe {
            let token = token.as_raw_handle();
            CreateProcessAsUserW(
                token,
                name,
                words,
                null(),
                null(),
                1,
                flags,
                null(),
                null(),
                startup,
                &mut made,
            )
        },
    };
    done(told).map_err(Failed::Start)?;
    let process = owned(made.hProcess).map_err(Failed::Start)?;
    let thread = owned(made.hThread).map_err(Failed::Start)?;
    Ok((process, thread))
}

/// Who it speaks to, and what else it is started with.
fn startup(list: &mut AttributeList, [input, output, complaints]: [HANDLE; 3]) -> STARTUPINFOEXW {
    let mut startup = STARTUPINFOEXW { lpAttributeList: list.place(), ..STARTUPINFOEXW::default() };
    startup.StartupInfo.cb = size_in_bytes::<STARTUPINFOEXW>();
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    startup.StartupInfo.hStdInput = input;
    startup.StartupInfo.hStdOutput = output;
    startup.StartupInfo.hStdError = complaints;
    startup
}

/// What a process is started with beside the usual. What is added has to live as long as the list.
struct AttributeList(Vec<usize>);

impl AttributeList {
    fn of(count: u32) -> Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a place it only tells how many bytes are needed, in a number that lives.
        unsafe { InitializeProcThreadAttributeList(null_mut(), count, 0, &mut bytes) };
        let mut place = vec![0usize; bytes.div_ceil(size_of::<usize>()).max(1)];
        // SAFETY: there is room for as many bytes as it has asked for, at a place for pointers.
        done(unsafe { InitializeProcThreadAttributeList(place.as_mut_ptr().cast(), count, 0, &mut bytes) })?;
        Ok(Self(place))
    }

    fn place(&mut self) -> *mut core::ffi::c_void {
        self.0.as_mut_ptr().cast()
    }

    fn add(&mut self, which: u32, value: *const core::ffi::c_void, size: usize) -> Result<()> {
        let which = usize::try_from(which).unwrap_or_default();
        // SAFETY: the list was made; the value is kept by pointer, and the one function that adds keeps it as long as the list.
        done(unsafe { UpdateProcThreadAttribute(self.place(), 0, which, value, size, null_mut(), null()) })
    }
}

impl Drop for AttributeList {
    fn drop(&mut self) {
        // SAFETY: the list was made, and nothing uses it any more.
        unsafe { DeleteProcThreadAttributeList(self.place()) };
    }
}

/// The token of this process without its groups and privileges, at low integrity, which is looked at a second time in the name
/// of `own`.
fn restricted(own: &Sid) -> Result<OwnedHandle> {
    let access = TOKEN_QUERY | TOKEN_DUPLICATE | TOKEN_ASSIGN_PRIMARY | TOKEN_ADJUST_DEFAULT;
    let mut token: HANDLE = null_mut();
    // SAFETY: what stands for this process needs no closing; the token's handle is written to a place that lives.
    done(unsafe { OpenProcessToken(GetCurrentProcess(), access, &mut token) })?;
    let token = owned(token)?;
    let groups = groups_of(&token)?;
    let places = |sids: &mut [Vec<u32>]| -> Vec<SID_AND_ATTRIBUTES> {
        let one = |sid: &mut Vec<u32>| SID_AND_ATTRIBUTES { Sid: sid.as_mut_ptr().cast(), Attributes: 0 };
        sids.iter_mut().map(one).collect()
    };
    let as_numbers = |sids: Vec<Sid>| sids.iter().map(|sid| aligned(&sid.bytes())).collect::<Vec<_>>();
    let mut disabled = as_numbers(to_disable(&groups));
    let mut names = as_numbers(to_restrict(&groups, own));
    let (disabled, names) = (places(&mut disabled), places(&mut names));
    let count = |of: &[SID_AND_ATTRIBUTES]| u32::try_from(of.len()).unwrap_or_default();
    let mut lesser: HANDLE = null_mut();
    // SAFETY: the token is open; the two lists have as many members as it is told, each points to a whole SID, and all of them
    // and the place of the answer live until the call returns.
    done(unsafe {
        let handle = token.as_raw_handle();
        let (off, on) = (disabled.as_ptr(), names.as_ptr());
        let (offs, ons) = (count(&disabled), count(&names));
        CreateRestrictedToken(handle, DISABLE_MAX_PRIVILEGE, offs, off, 0, null(), ons, on, &mut lesser)
    })?;
    let lesser = owned(lesser)?;
    make_low(&lesser)?;
    give_to(&lesser, &[user()?, Sid::system(), own.clone()])?;
    Ok(lesser)
}

fn groups_of(token: &OwnedHandle) -> Result<Vec<(Sid, u32)>> {
    /// A token has at most 1,024 groups of at most 68 bytes.
    const BYTES_MAX: u32 = 128 * 1024;
    let mut size: u32 = 4096;
    loop {
        let words = usize::try_from(size).unwrap_or_default().div_ceil(size_of::<usize>());
        let mut told = vec![0usize; words];
        let mut needed = 0;
        // SAFETY: there is room for as many bytes as it is told, at a place for pointers; it and the number live until the call
        // returns.
        let said = unsafe {
            let handle = token.as_raw_handle();
            GetTokenInformation(handle, TokenGroups, told.as_mut_ptr().cast(), size, &mut needed)
        };
        if said != 0 {
            return Ok(groups(&told, told.as_ptr().addr()));
        }
        let error = Error::last_os_error();
        // It grows each time, so this ends.
        if !failed_with(&error, ERROR_INSUFFICIENT_BUFFER) || needed <= size || needed > BYTES_MAX {
            return Err(error);
        }
        size = needed;
    }
}

fn make_low(token: &OwnedHandle) -> Result<()> {
    /// It says which integrity the token has.
    const IS_INTEGRITY: u32 = 0x20;
    let mut sid = aligned(&Sid::low_integrity().bytes());
    let length = u32::try_from(size_of_val(sid.as_slice())).unwrap_or_default();
    let label = TOKEN_MANDATORY_LABEL {
        Label: SID_AND_ATTRIBUTES { Sid: sid.as_mut_ptr().cast(), Attributes: IS_INTEGRITY },
    };
    let size = size_in_bytes::<TOKEN_MANDATORY_LABEL>().saturating_add(length);
    // SAFETY: the token is open; the label and the SID that it points to live until the call returns.
    done(unsafe {
        SetTokenInformation(token.as_raw_handle(), TokenIntegrityLevel, (&raw const label).cast(), size)
    })
}

/// What is made with this token is for these, where nothing else is said.
fn give_to(token: &OwnedHandle, users: &[Sid]) -> Result<()> {
    let mut list =
        aligned(&grants::all_rights_for(users).map_err(|why| Error::new(ErrorKind::InvalidData, why))?);
    let told = TOKEN_DEFAULT_DACL { DefaultDacl: list.as_mut_ptr().cast() };
    let size = size_in_bytes::<TOKEN_DEFAULT_DACL>();
    // SAFETY: the token is open; the list is whole and at a place that is a multiple of four, and lives until the call returns.
    done(unsafe {
        SetTokenInformation(token.as_raw_handle(), TokenDefaultDacl, (&raw const told).cast(), size)
    })
}
