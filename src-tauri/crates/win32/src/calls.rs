//! The calls. Each block that is unsafe does one call and says why it may; what comes back is judged elsewhere.
#![allow(unsafe_code, reason = "Windows is asked with pointers, in the five files of calls and nowhere else")]

use crate::access::{LIST_AT, Sid, owner_only};
use crate::path::verbatim;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsHandle, AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{
    ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION,
    ERROR_SUCCESS, FILETIME, GENERIC_READ, GENERIC_WRITE, HANDLE, INVALID_HANDLE_VALUE, WAIT_OBJECT_0,
    WIN32_ERROR,
};
use windows_sys::Win32::Security::Authorization::{SE_FILE_OBJECT, SetNamedSecurityInfoW};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, GetTokenInformation, OWNER_SECURITY_INFORMATION,
    PROTECTED_DACL_SECURITY_INFORMATION, SECURITY_ATTRIBUTES, SetFileSecurityW, TOKEN_QUERY, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_ATTRIBUTE_NORMAL, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, GetDiskFreeSpaceExW, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, ReOpenFile,
};
use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, FlushConsoleInputBuffer, GetConsoleMode, GetConsoleScreenBufferInfo,
    INPUT_RECORD, KEY_EVENT, PeekConsoleInputW, ReadConsoleInputW, ReadConsoleW, SetConsoleMode,
    WriteConsoleW,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RRF_SUBKEY_WOW6464KEY, RegGetValueW,
};
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessTimes, OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

/// What others may do with a file that is open here, as Rust's own library has it: all.
const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// The error of the last call, where it is this one.
pub(crate) fn failed_with(error: &Error, code: WIN32_ERROR) -> bool {
    error.raw_os_error().map(i32::cast_unsigned) == Some(code)
}

/// A path as the calls take it: absolute, and with a zero at its end.
pub(crate) fn wide(path: &Path) -> Result<Vec<u16>> {
    let absolute: Vec<u16> = std::path::absolute(path)?.as_os_str().encode_wide().collect();
    if absolute.contains(&0) {
        return Err(Error::new(ErrorKind::InvalidInput, "a path cannot hold a zero"));
    }
    let mut path = verbatim(&absolute);
    path.push(0);
    Ok(path)
}

/// Bytes at a place that is a multiple of four, as Windows wants its lists.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u32> {
    let number = |chunk: &[u8]| {
        let mut four = [0; 4];
        for (to, from) in four.iter_mut().zip(chunk) {
            *to = *from;
        }
        u32::from_ne_bytes(four)
    };
    bytes.chunks(4).map(number).collect()
}

pub(crate) fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// What a file is made with; it points to the descriptor, which has to live as long.
pub(crate) fn attributes(descriptor: &mut [u32]) -> SECURITY_ATTRIBUTES {
    SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or_default(),
        lpSecurityDescriptor: descriptor.as_mut_ptr().cast(),
        bInheritHandle: 0,
    }
}

/// Takes a handle that a call has made; whatever it says of a failure is told.
pub(crate) fn owned(handle: HANDLE) -> Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(Error::last_os_error());
    }
    // SAFETY: the caller hands in what a call has just made and has no copy, so this alone closes it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Makes a file that is not there yet, to read and write, which this user and the system alone may reach from its first moment.
///
/// # Errors
/// What the file system says.
pub fn create_new(path: &Path, user: &Sid) -> Result<File> {
    let path = wide(path)?;
    let mut descriptor = aligned(&owner_only(user, false));
    let attributes = attributes(&mut descriptor);
    let access = GENERIC_READ | GENERIC_WRITE;
    // SAFETY: the path ends with a zero; it, the attributes and the descriptor live until the call returns, and it only reads them.
    let handle = unsafe {
        CreateFileW(path.as_ptr(), access, SHARED, &attributes, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, null_mut())
    };
    owned(handle).map(File::from)
}

/// Makes a folder that is not there yet, below one that is; this user and the system alone may reach it and what is made in it.
///
/// # Errors
/// What the file system says.
pub fn create_folder(path: &Path, user: &Sid) -> Result<()> {
    let path = wide(path)?;
    let mut descriptor = aligned(&owner_only(user, true));
    let attributes = attributes(&mut descriptor);
    // SAFETY: the path ends with a zero; it, the attributes and the descriptor live until the call returns, and it only reads them.
    match unsafe { CreateDirectoryW(path.as_ptr(), &attributes) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Gives a file or folder that is there to this user and the system alone. What is in a folder and took its list from there
/// takes the new one.
///
/// # Errors
/// What the file system says; a disk without access lists is one of the reasons.
pub fn close_to_others(path: &Path, user: &Sid, is_folder: bool) -> Result<()> {
    let path = wide(path)?;
    let mut descriptor = aligned(&owner_only(user, is_folder));
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    if is_folder {
        let list = aligned(owner_only(user, is_folder).get(LIST_AT..).unwrap_or_default());
        let list: *const u32 = list.as_ptr();
        // SAFETY: the path ends with a zero, and the list is whole and at a place that is a multiple of four; both live until the
        // call returns, and it only reads them.
        let said = unsafe {
            SetNamedSecurityInfoW(
                path.as_ptr(),
                SE_FILE_OBJECT,
                what,
                null_mut(),
                null_mut(),
                list.cast(),
                null(),
            )
        };
        if said != ERROR_SUCCESS {
            return Err(Error::from_raw_os_error(said.cast_signed()));
        }
    }
    // This one sets what it is given and nothing else; the one above hands it on, and wine's adds what the folder above has.
    // SAFETY: the path ends with a zero, and the descriptor is whole and at a place that is a multiple of four; both live until the
    // call returns, and it only reads them.
    match unsafe { SetFileSecurityW(path.as_ptr(), what, descriptor.as_mut_ptr().cast()) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The owner and the access list of a file that is open for reading or writing, as [`crate::access::AccessList::read`] takes
/// them. There may be zeros behind.
///
/// # Errors
/// What the file system says, and that it says far too much.
pub fn descriptor(file: &File) -> Result<Vec<u8>> {
    parts_of_descriptor(file, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION)
}

/// These parts of it alone.
pub(crate) fn parts_of_descriptor(file: &File, what: u32) -> Result<Vec<u8>> {
    /// A list has at most 64 KiB.
    const BYTES_MAX: u32 = 128 * 1024;
    let mut size: u32 = 1024;
    loop {
        let mut numbers = vec![0u32; usize::try_from(size.div_ceil(4)).unwrap_or_default()];
        let mut needed = 0;
        // SAFETY: there is room for as many bytes as it is told, at a place that is a multiple of four; it and the number live
        // until the call returns.
        let done = unsafe {
            let handle = file.as_raw_handle();
            GetKernelObjectSecurity(handle, what, numbers.as_mut_ptr().cast(), size, &mut needed)
        };
        if done != 0 {
            return Ok(bytes_of(&numbers));
        }
        let error = Error::last_os_error();
        // It grows each time, so this ends.
        if !failed_with(&error, ERROR_INSUFFICIENT_BUFFER) || needed <= size || needed > BYTES_MAX {
            return Err(error);
        }
        size = needed;
    }
}

/// The user that this process runs as.
///
/// # Errors
/// What the system says.
pub fn user() -> Result<Sid> {
    let mut token: HANDLE = null_mut();
    // SAFETY: what stands for this process needs no closing; the token's handle is written to a place that lives.
    let done = unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) };
    if done == 0 {
        return Err(Error::last_os_error());
    }
    let token = owned(token)?;
    // A pointer, a number and the longest user there is are 84 bytes.
    let mut told = [0usize; 32];
    let size = u32::try_from(size_of_val(&told)).unwrap_or_default();
    let mut needed = 0;
    // SAFETY: there is room for as many bytes as it is told, at a place for pointers; it and the number live until the call returns.
    let done = unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenUser, told.as_mut_ptr().cast(), size, &mut needed)
    };
    if done == 0 {
        return Err(Error::last_os_error());
    }
    // It begins with where the user stands, which is behind it.
    let [stands_at, ..] = told;
    let bytes: Vec<u8> = told.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let at = stands_at.checked_sub(told.as_ptr().addr());
    let found = at.and_then(|at| bytes.get(at..)).unwrap_or_default();
    Sid::read(found).map_err(|why| Error::new(ErrorKind::InvalidData, why))
}

/// The room of the disk that a folder lies on, in bytes: all of it, what is free, and what of that this user may take.
///
/// # Errors
/// What the file system says.
pub fn room(folder: &Path) -> Result<(u64, u64, u64)> {
    let folder = wide(folder)?;
    let (mut total, mut free, mut available) = (0, 0, 0);
    // SAFETY: the path ends with a zero; it and the three numbers live until the call returns.
    match unsafe { GetDiskFreeSpaceExW(folder.as_ptr(), &mut available, &mut total, &mut free) } {
        0 => Err(Error::last_os_error()),
        _ => Ok((total, free, available)),
    }
}

/// Opens a folder again, so that it can be flushed; one that was opened to walk in cannot.
///
/// # Errors
/// What the file system says.
pub fn reopen_folder(folder: &impl AsHandle) -> Result<File> {
    let folder = folder.as_handle();
    // SAFETY: the handle is borrowed, so it stays open until the call returns.
    let handle =
        unsafe { ReOpenFile(folder.as_raw_handle(), GENERIC_WRITE, SHARED, FILE_FLAG_BACKUP_SEMANTICS) };
    owned(handle).map(File::from)
}

/// Takes the lock of a file for as long as it is open, or says that somebody has it. Unlike a lock of the whole file it lets
/// others read, because it is of one byte where no file has any.
///
/// # Errors
/// What the file system says.
pub fn try_lock(file: &File) -> Result<bool> {
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    let mut place = OVERLAPPED {
        Anonymous: OVERLAPPED_0 { Anonymous: OVERLAPPED_0_0 { Offset: 0, OffsetHigh: 0x4000_0000 } },
        ..OVERLAPPED::default()
    };
    // SAFETY: the file is open, and not for calls that end later, so the place is not written to when the call has returned.
    let done = unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &mut place) };
    if done != 0 {
        return Ok(true);
    }
    let error = Error::last_os_error();
    match [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING].into_iter().any(|code| failed_with(&error, code)) {
        true => Ok(false),
        false => Err(error),
    }
}

/// The name that the machine got when Windows was installed on it, which outlives its boots.
///
/// # Errors
/// What the registry says, and that it holds no text of that length.
pub fn machine() -> Result<String> {
    let text = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
    let (key, name) = (text(r"SOFTWARE\Microsoft\Cryptography"), text("MachineGuid"));
    let mut told = [0u16; 128];
    let mut size = u32::try_from(size_of_val(&told)).unwrap_or_default();
    let what = RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY;
    // SAFETY: both names end with a zero; there is room for as many bytes as it is told; all of it lives until the call returns.
    let said = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            what,
            null_mut(),
            told.as_mut_ptr().cast(),
            &mut size,
        )
    };
    if said != ERROR_SUCCESS {
        return Err(Error::from_raw_os_error(said.cast_signed()));
    }
    let units: Vec<u16> = told.into_iter().take_while(|unit| *unit != 0).collect();
    String::from_utf16(&units)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "the machine's name is no text"))
}

/// What the system says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// No process has the number.
    Gone,
    /// It has ended, and somebody still asks about it.
    Ended,
    /// It runs, since so many tenths of a microsecond after 1601.
    Since(u64),
    /// The system does not tell.
    Unknown,
}

/// Whether a process runs.
#[must_use]
pub fn running(pid: u32) -> Running {
    let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
    // SAFETY: it takes numbers alone.
    let process = match owned(unsafe { OpenProcess(access, 0, pid) }) {
        Ok(process) => process,
        Err(error) if failed_with(&error, ERROR_INVALID_PARAMETER) => return Running::Gone,
        Err(_) => return Running::Unknown,
    };
    // SAFETY: the process is open until this returns.
    if unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } == WAIT_OBJECT_0 {
        return Running::Ended;
    }
    let mut times = [FILETIME::default(); 4];
    let [began, ended, kernel, own] = &mut times;
    // SAFETY: the process is open, and the four moments live, until the call returns.
    match unsafe { GetProcessTimes(process.as_raw_handle(), began, ended, kernel, own) } {
        0 => Running::Unknown,
        _ => Running::Since((u64::from(began.dwHighDateTime) << 32) | u64::from(began.dwLowDateTime)),
    }
}

/// The modes of a console: of its keys, or of its screen, by which of both is open.
///
/// # Errors
/// It is no console, or gone.
pub fn console_mode(console: &File) -> Result<u32> {
    let mut mode = 0;
    // SAFETY: the file is open, and the number lives, until the call returns.
    match unsafe { GetConsoleMode(console.as_raw_handle(), &mut mode) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(mode),
    }
}

/// Gives a console these modes.
///
/// # Errors
/// It does not take them, or is gone.
pub fn set_console_mode(console: &File, mode: u32) -> Result<()> {
    // SAFETY: the file is open until the call returns.
    match unsafe { SetConsoleMode(console.as_raw_handle(), mode) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Throws away keys that were pressed and not yet read.
///
/// # Errors
/// It is no console, or gone.
pub fn forget_keys(console: &File) -> Result<()> {
    // SAFETY: the file is open until the call returns.
    match unsafe { FlushConsoleInputBuffer(console.as_raw_handle()) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Whether a key with a sign waits to be read. Whatever else waits before it is thrown away: keys that are let go, the mouse, a
/// window that got another size.
///
/// # Errors
/// It is no console, or gone.
pub fn has_key(console: &File) -> Result<bool> {
    loop {
        let (mut record, mut records) = (INPUT_RECORD::default(), 0);
        // SAFETY: the file is open, and one record and the number live, until the call returns.
        let done = unsafe { PeekConsoleInputW(console.as_raw_handle(), &mut record, 1, &mut records) };
        if done == 0 {
            return Err(Error::last_os_error());
        }
        if records == 0 {
            return Ok(false);
        }
        if u32::from(record.EventType) == KEY_EVENT {
            // SAFETY: the record says that it is of a key, and both views of its sign are plain numbers.
            let (is_down, sign) =
                unsafe { (record.Event.KeyEvent.bKeyDown, record.Event.KeyEvent.uChar.UnicodeChar) };
            if is_down != 0 && sign != 0 {
                return Ok(true);
            }
        }
        // SAFETY: the file is open, and one record and the number live, until the call returns.
        let done = unsafe { ReadConsoleInputW(console.as_raw_handle(), &mut record, 1, &mut records) };
        if done == 0 {
            return Err(Error::last_os_error());
        }
    }
}

/// Waits for one unit of UTF-16 that is typed; none where a read was broken off.
///
/// # Errors
/// It is no console, or gone.
pub fn read_key(console: &File) -> Result<Option<u16>> {
    let (mut unit, mut units) = ([0u16; 1], 0);
    // SAFETY: there is room for the one unit that is asked for; it and the number live until the call returns.
    let done =
        unsafe { ReadConsoleW(console.as_raw_handle(), unit.as_mut_ptr().cast(), 1, &mut units, null()) };
    let [unit] = unit;
    match done {
        0 => Err(Error::last_os_error()),
        _ => Ok(Some(unit).filter(|_| units == 1)),
    }
}

/// Shows text on a console's screen; how many units of UTF-16 it took.
///
/// # Errors
/// It is no console, or gone.
pub fn show(console: &File, units: &[u16]) -> Result<usize> {
    /// More at once some consoles refuse.
    const UNITS_MAX: usize = 8_192;
    let length = u32::try_from(units.len().min(UNITS_MAX)).unwrap_or_default();
    let mut shown = 0;
    // SAFETY: there are as many units as it is told, which it only reads; they and the number live until the call returns.
    match unsafe { WriteConsoleW(console.as_raw_handle(), units.as_ptr(), length, &mut shown, null()) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(usize::try_from(shown).unwrap_or_default()),
    }
}

/// Columns and rows of a console's screen, as far as they are seen.
///
/// # Errors
/// It is no console's screen, or gone.
pub fn screen_size(console: &File) -> Result<(u16, u16)> {
    let mut told = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the file is open, and what is told has its place, until the call returns.
    if unsafe { GetConsoleScreenBufferInfo(console.as_raw_handle(), &mut told) } == 0 {
        return Err(Error::last_os_error());
    }
    let seen = told.srWindow;
    let length = |from: i16, to: i16| u16::try_from(i32::from(to) - i32::from(from) + 1).unwrap_or_default();
    Ok((length(seen.Left, seen.Right), length(seen.Top, seen.Bottom)))
}

/// Milliseconds since this machine was started, as exact as its clock ticks: to about sixteen of them.
pub fn since_start_ms() -> u64 {
    // SAFETY: the call takes nothing, cannot fail, and returns a number.
    unsafe { GetTickCount64() }
}
