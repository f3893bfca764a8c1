//! The calls that tell how the machine stands, and that close this process to other programs. Each block that is unsafe does one
//! call and says why it may; what the numbers mean is decided elsewhere.
#![allow(unsafe_code, reason = "Windows is asked with pointers, in the five files of calls and nowhere else")]

use crate::access::Sid;
use crate::calls::aligned;
use crate::own_process;
use core::ffi::c_void;
use std::io::{Error, Result};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_HOST_UNREACHABLE, ERROR_NETWORK_UNREACHABLE, ERROR_NOT_FOUND};
use windows_sys::Win32::NetworkManagement::IpHelper::GetBestInterfaceEx;
use windows_sys::Win32::Networking::WinSock::SOCKADDR;
use windows_sys::Win32::Security::{DACL_SECURITY_INFORMATION, SetKernelObjectSecurity};
use windows_sys::Win32::System::Com::{
    CLSCTX_ALL, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx, CoUninitialize,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode,
};
use windows_sys::Win32::System::Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS};
use windows_sys::Win32::System::RemoteDesktop::ProcessIdToSessionId;
use windows_sys::Win32::System::SystemInformation::GetTickCount;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, ProcessExtensionPointDisablePolicy, ProcessImageLoadPolicy, SetProcessMitigationPolicy,
};
use windows_sys::Win32::UI::Input::KeyboardAndMouse::{GetLastInputInfo, LASTINPUTINFO};
use windows_sys::core::{GUID, HRESULT, IUnknown_Vtbl};

/// What the system tells of its power, in its own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Power {
    /// 0 without mains power, 1 with it; anything else where nobody knows.
    pub mains: u8,
    /// Bits: 128 where there is no battery, all of them where nobody knows.
    pub battery: u8,
    /// Per cent of the battery; 255 where nobody knows.
    pub percent: u8,
}

/// What it runs on.
///
/// # Errors
/// What the system says.
pub fn power() -> Result<Power> {
    let mut told = SYSTEM_POWER_STATUS::default();
    // SAFETY: what is told has its place until the call returns.
    match unsafe { GetSystemPowerStatus(&mut told) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(Power {
            mains: told.ACLineStatus,
            battery: told.BatteryFlag,
            percent: told.BatteryLifePercent,
        }),
    }
}

/// Milliseconds since somebody touched a key or the mouse in the session of this process; none in the session of services, where
/// nobody sits.
///
/// # Errors
/// What the system says.
pub fn idle_ms() -> Result<Option<u32>> {
    let mut session = 0;
    // SAFETY: the number lives until the call returns.
    if unsafe { ProcessIdToSessionId(std::process::id(), &mut session) } == 0 {
        return Err(Error::last_os_error());
    }
    if session == 0 {
        return Ok(None);
    }
    let size = u32::try_from(size_of::<LASTINPUTINFO>()).unwrap_or_default();
    let mut told = LASTINPUTINFO { cbSize: size, dwTime: 0 };
    // SAFETY: what is told has its place, and says how large it is, until the call returns.
    if unsafe { GetLastInputInfo(&mut told) } == 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: it takes nothing.
    let now = unsafe { GetTickCount() };
    // Both begin again from zero after seven weeks.
    Ok(Some(now.wrapping_sub(told.dwTime)))
}

/// Whether there is a way out of this machine: one to an address at which nobody is, as documents have them. Nothing is sent. None
/// where the system does not tell.
#[must_use]
pub fn has_route() -> Option<bool> {
    const V4: [u8; 16] = [2, 0, 0, 0, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    const V6: [u8; 28] =
        [23, 0, 0, 0, 0, 0, 0, 0, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    match (leads_to(&V4), leads_to(&V6)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        // A machine without the newer protocol says nothing of it.
        (Some(false), _) => Some(false),
        (None, _) => None,
    }
}

/// Whether a way leads to an address, which is written as calls of sockets have it.
fn leads_to(address: &[u8]) -> Option<bool> {
    let address = aligned(address);
    let address: *const u32 = address.as_ptr();
    let mut interface = 0;
    // SAFETY: the address is whole and at a place that is a multiple of four; it and the number live until the call returns.
    let said = unsafe { GetBestInterfaceEx(address.cast::<SOCKADDR>(), &mut interface) };
    let none = [ERROR_NETWORK_UNREACHABLE, ERROR_HOST_UNREACHABLE, ERROR_NOT_FOUND];
    match said {
        0 => Some(true),
        said if none.contains(&said) => Some(false),
        _ => None,
    }
}

/// What the system has to tell of what a network costs: its functions, in their order.
#[repr(C)]
struct CostTable {
    base: IUnknown_Vtbl,
    get_cost: unsafe extern "system" fn(*mut c_void, *mut u32, *const c_void) -> HRESULT,
}

/// What the way out costs, in the system's own bits (`NLM_CONNECTION_COST`). It asks a service, so it may take long, and it is for a
/// thread that has not asked for anything of the kind before.
///
/// # Errors
/// What the system says.
pub fn network_cost() -> Result<u32> {
    let how = COINIT_MULTITHREADED.cast_unsigned();
    // SAFETY: it takes a number alone, and its end is below, on the same thread.
    told(unsafe { CoInitializeEx(null(), how) })?;
    let cost = cost();
    // SAFETY: it was begun above on this thread, and nothing of it is left.
    unsafe { CoUninitialize() };
    cost
}

fn cost() -> Result<u32> {
    const NETWORKS: GUID = GUID::from_u128(0xdcb0_0c01_570f_4a9b_8d69_199f_dba5_723b);
    const COSTS: GUID = GUID::from_u128(0xdcb0_0008_570f_4a9b_8d69_199f_dba5_723b);
    let mut costs: *mut c_void = null_mut();
    // SAFETY: both names and the place of the answer live until the call returns; there is nothing around it.
    told(unsafe { CoCreateInstance(&NETWORKS, null_mut(), CLSCTX_ALL, &COSTS, &mut costs) })?;
    if costs.is_null() {
        return Err(Error::other("the system has no list of networks"));
    }
    // SAFETY: what has just been made begins with a pointer to its functions, which are these for the name that was asked for, and
    // stand as long as it does.
    let table = unsafe { &**costs.cast::<*const CostTable>() };
    let mut cost = 0;
    // SAFETY: it is this one's function, the number lives until it returns, and no address means the way out.
    let said = told(unsafe { (table.get_cost)(costs, &mut cost, null()) });
    // SAFETY: it is this one's function, and it is used no more.
    unsafe { (table.base.Release)(costs) };
    said.map(|()| cost)
}

/// Whether a call that tells by a number below zero that it failed did not.
fn told(said: HRESULT) -> Result<()> {
    if said < 0 { Err(Error::from_raw_os_error(said)) } else { Ok(()) }
}

/// Closes the memory of this process to other programs of its user, and has a crash write nothing down. Threads that run already
/// keep the list that they have. Whoever administers the machine may open every process all the same.
///
/// # Errors
/// What the system says.
pub fn close_memory(user: &Sid) -> Result<()> {
    // SAFETY: it takes a number alone.
    unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
    let mut descriptor = aligned(&own_process::closed(user));
    // SAFETY: it takes nothing; what stands for this process needs no closing.
    let process = unsafe { GetCurrentProcess() };
    // SAFETY: the descriptor is whole and at a place that is a multiple of four; it lives until the call returns, which only reads it.
    let said = unsafe {
        SetKernelObjectSecurity(process, DACL_SECURITY_INFORMATION, descriptor.as_mut_ptr().cast())
    };
    if said == 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Has this process take in no code that others hand to it: none of the old ways by which the system puts libraries into programs,
/// and no library from a network or of low integrity. A program with a window would lose some keyboards by it.
///
/// # Errors
/// What the system says.
pub fn refuse_foreign_code() -> Result<()> {
    // All of the first; of the second no network, no low integrity, and the system's own folder first.
    for (policy, bits) in [(ProcessExtensionPointDisablePolicy, 1_u32), (ProcessImageLoadPolicy, 7)] {
        let at: *const u32 = &raw const bits;
        // SAFETY: the bits live until the call returns, which is told how many bytes they are and only reads them.
        let said = unsafe { SetProcessMitigationPolicy(policy, at.cast(), size_of::<u32>()) };
        if said == 0 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::calls::{Running, running, user};
    use windows_sys::Win32::Foundation::CloseHandle;
    use windows_sys::Win32::System::Threading::{
        OpenProcess, PROCESS_DUP_HANDLE, PROCESS_VM_READ, PROCESS_VM_WRITE,
    };

    /// Whether a program of this user may have these rights to this process.
    fn may(rights: u32) -> bool {
        // SAFETY: it takes numbers alone.
        let process = unsafe { OpenProcess(rights, 0, std::process::id()) };
        if process.is_null() {
            return false;
        }
        // SAFETY: it was just opened, and is used no more.
        unsafe { CloseHandle(process) };
        true
    }

    #[test]
    fn a_closed_process_is_not_read_and_still_seen_to_run() {
        close_memory(&user().expect("a user")).expect("it is closed");
        for rights in [PROCESS_VM_READ, PROCESS_VM_WRITE, PROCESS_DUP_HANDLE] {
            assert!(!may(rights), "{rights:x}");
        }
        assert!(matches!(running(std::process::id()), Running::Since(_)));
        refuse_foreign_code().expect("it takes the bits");
    }

    #[test]
    fn a_machine_tells_what_it_runs_on_and_whether_it_is_touched() {
        let power = power().expect("it tells");
        assert!(power.percent <= 100 || power.percent == 255, "{power:?}");
        assert!(idle_ms().is_ok());
        // Whatever it tells of what the network costs, it ends.
        drop(std::thread::spawn(network_cost).join().expect("it ends"));
    }
}
