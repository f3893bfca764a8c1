//! The calls that make and forget a container, and give somebody a place for a while. Each block that is unsafe does one call and
//! says why it may; what an access list becomes is computed elsewhere.
#![allow(unsafe_code, reason = "Windows is asked with pointers, in the five files of calls and nowhere else")]

use crate::access::{Malformed, Sid};
use crate::calls::{aligned, bytes_of, failed_with, wide};
use crate::grants::{self, Grant};
use std::ffi::OsStr;
use std::io::{Error, ErrorKind, Result};
use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, ERROR_SUCCESS, FARPROC};
use windows_sys::Win32::Security::Authorization::{SE_FILE_OBJECT, SetNamedSecurityInfoW};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, FreeSid, GetFileSecurityW, GetLengthSid, LABEL_SECURITY_INFORMATION, PSID,
    SID_AND_ATTRIBUTES,
};
use windows_sys::Win32::System::LibraryLoader::{
    GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExW,
};

fn malformed(why: Malformed) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

/// A function of the library that has containers, which some systems lack.
fn of_userenv(name: &'static core::ffi::CStr) -> Result<unsafe extern "system" fn() -> isize> {
    let library = text("userenv.dll")?;
    // SAFETY: the text ends with a zero; the library comes with the system, and stays loaded.
    let library = unsafe { LoadLibraryExW(library.as_ptr(), null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
    if library.is_null() {
        return Err(Error::last_os_error());
    }
    // SAFETY: the library is loaded, and the name ends with a zero.
    let found: FARPROC = unsafe { GetProcAddress(library, name.as_ptr().cast()) };
    found.ok_or_else(|| Error::new(ErrorKind::Unsupported, "this system has no AppContainers"))
}

pub(crate) fn text(text: &str) -> Result<Vec<u16>> {
    let mut wide: Vec<u16> = OsStr::new(text).encode_wide().collect();
    if wide.contains(&0) {
        return Err(Error::new(ErrorKind::InvalidInput, "a name cannot hold a zero"));
    }
    wide.push(0);
    Ok(wide)
}

type Create = unsafe extern "system" fn(
    *const u16,
    *const u16,
    *const u16,
    *const SID_AND_ATTRIBUTES,
    u32,
    *mut PSID,
) -> i32;
type Derive = unsafe extern "system" fn(*const u16, *mut PSID) -> i32;
type Delete = unsafe extern "system" fn(*const u16) -> i32;

/// Makes a container without a capability, or takes the one of this name that is there; who stands for it.
///
/// # Errors
/// What the system says; that it has none is one of the reasons.
pub fn make_container(name: &str) -> Result<Sid> {
    const IS_THERE: i32 = 0x8007_00b7_u32.cast_signed();
    let (create, derive) = (
        of_userenv(c"CreateAppContainerProfile")?,
        of_userenv(c"DeriveAppContainerSidFromAppContainerName")?,
    );
    let named = text(name)?;
    let shown = text("A command that Hermit runs")?;
    let mut sid: PSID = null_mut();
    // SAFETY: under this name the library has a function of this form.
    let create = unsafe { core::mem::transmute::<unsafe extern "system" fn() -> isize, Create>(create) };
    // SAFETY: the texts end with a zero, there are no capabilities, and the place of the answer lives until the call returns.
    let said = unsafe { create(named.as_ptr(), shown.as_ptr(), shown.as_ptr(), null(), 0, &mut sid) };
    let said = if said == IS_THERE {
        // SAFETY: under this name the library has a function of this form.
        let derive = unsafe { core::mem::transmute::<unsafe extern "system" fn() -> isize, Derive>(derive) };
        // SAFETY: the text ends with a zero, and the place of the answer lives until the call returns.
        unsafe { derive(named.as_ptr(), &mut sid) }
    } else {
        said
    };
    if said < 0 || sid.is_null() {
        return Err(Error::from_raw_os_error(said));
    }
    // SAFETY: a call has just made it.
    let length = usize::try_from(unsafe { GetLengthSid(sid) }).unwrap_or_default();
    // SAFETY: it is as long as the call before has said, and nobody else has it.
    let bytes = unsafe { core::slice::from_raw_parts(sid.cast::<u8>(), length) }.to_vec();
    // SAFETY: it was made by a call that says to free it so, and is used no more.
    unsafe { FreeSid(sid) };
    Sid::read(&bytes).map_err(malformed)
}

/// Forgets a container with all that the system kept for it; one that never was is fine.
///
/// # Errors
/// What the system says.
pub fn forget_container(name: &str) -> Result<()> {
    let delete = of_userenv(c"DeleteAppContainerProfile")?;
    let named = text(name)?;
    // SAFETY: under this name the library has a function of this form.
    let delete = unsafe { core::mem::transmute::<unsafe extern "system" fn() -> isize, Delete>(delete) };
    // SAFETY: the text ends with a zero and lives until the call returns.
    let said = unsafe { delete(named.as_ptr()) };
    if said < 0 { Err(Error::from_raw_os_error(said)) } else { Ok(()) }
}

/// Whose turn it is to read a list and write it back changed: of two at once one would undo what the other did.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives somebody rights at a place, or takes them, until [`take_back`]. What is in a folder takes it on where the grant says so.
///
/// # Errors
/// What the file system says; a disk without access lists is one of the reasons.
pub fn give(path: &Path, who: &Sid, grant: Grant) -> Result<()> {
    let _turn = turn();
    let list = access_list(path)?;
    set(path, DACL_SECURITY_INFORMATION, &grants::with(&list, who, grant).map_err(malformed)?)
}

/// Takes everything back that [`give`] has given or taken at this place.
///
/// # Errors
/// What the file system says.
pub fn take_back(path: &Path, who: &Sid) -> Result<()> {
    let _turn = turn();
    let list = access_list(path)?;
    let without = grants::without(&list, who).map_err(malformed)?;
    if without == list { Ok(()) } else { set(path, DACL_SECURITY_INFORMATION, &without) }
}

/// Lets a process of low integrity write a file or folder, as far as its access list does; whether it had no label before.
///
/// # Errors
/// What the file system says.
pub fn set_low(path: &Path, is_folder: bool) -> Result<bool> {
    let before = grants::label_of(&security(path, LABEL_SECURITY_INFORMATION)?).map_err(malformed)?;
    if before.is_some_and(|list| !grants::is_empty(&list)) {
        return Ok(false);
    }
    set(path, LABEL_SECURITY_INFORMATION, &grants::low_label(is_folder).map_err(malformed)?)?;
    Ok(true)
}

/// Takes the label of [`set_low`] away.
///
/// # Errors
/// What the file system says.
pub fn clear_label(path: &Path) -> Result<()> {
    set(path, LABEL_SECURITY_INFORMATION, &grants::no_label())
}

fn access_list(path: &Path) -> Result<Vec<u8>> {
    let list = grants::access_of(&security(path, DACL_SECURITY_INFORMATION)?).map_err(malformed)?;
    list.ok_or_else(|| Error::new(ErrorKind::Unsupported, "it has no access list"))
}

/// A part of the descriptor of what is at a path.
fn security(path: &Path, what: u32) -> Result<Vec<u8>> {
    /// A list has at most 64 KiB.
    const BYTES_MAX: u32 = 128 * 1024;
    let path = wide(path)?;
    let mut size: u32 = 1024;
    loop {
        let mut numbers = vec![0u32; usize::try_from(size.div_ceil(4)).unwrap_or_default()];
        let mut needed = 0;
        // SAFETY: the path ends with a zero; there is room for as many bytes as it is told, at a place that is a multiple of four;
        // all of them live until the call returns.
        let said =
            unsafe { GetFileSecurityW(path.as_ptr(), what, numbers.as_mut_ptr().cast(), size, &mut needed) };
        if said != 0 {
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

/// Writes a list of access or a label, and has what lies in a folder take it on.
fn set(path: &Path, what: u32, list: &[u8]) -> Result<()> {
    let path = wide(path)?;
    let list = aligned(list);
    let list: *const u32 = list.as_ptr();
    let (access, label) =
        if what == DACL_SECURITY_INFORMATION { (list.cast(), null()) } else { (null(), list.cast()) };
    // SAFETY: the path ends with a zero, and the list is whole and at a place that is a multiple of four; both live until the call
    // returns, and it only reads them.
    let said = unsafe {
        SetNamedSecurityInfoW(path.as_ptr(), SE_FILE_OBJECT, what, null_mut(), null_mut(), access, label)
    };
    if said == ERROR_SUCCESS { Ok(()) } else { Err(Error::from_raw_os_error(said.cast_signed())) }
}
