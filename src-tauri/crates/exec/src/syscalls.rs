//! Seccomp: system calls that no honest command needs and that walls fall by.

use crate::Error;
use crate::walls::Walls;
use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS,
    CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, ENOSYS, EPERM, SOCK_RAW, c_long,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;

/// Refused whatever their arguments. `io_uring` is among them: its operations pass no filter.
const REFUSED: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Flags that make a namespace, by which a process would be root over something.
const NAMESPACES: &[i32] =
    &[CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP];

/// Terminal requests that type into somebody else's terminal: `TIOCSTI`, `TIOCLINUX`.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// Puts the filters over this process and all that come from it.
pub(crate) fn filter(walls: &Walls) -> Result<(), Error> {
    let refused =
        rules(walls).and_then(|rules| compile(rules, EPERM)).map_err(|e| Error::wall("seccomp", e))?;
    // Its flags lie in memory, where no filter looks; without it programs use `clone`, whose flags are seen.
    let unseen = compile(BTreeMap::from([(libc::SYS_clone3, vec![])]), ENOSYS)
        .map_err(|e| Error::wall("seccomp", e))?;
    for program in [refused, unseen] {
        seccompiler::apply_filter(&without_second_table(program)).map_err(|e| Error::wall("seccomp", e))?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(walls: &Walls) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|number| (*number, Vec::new())).collect();
    if walls.one_group {
        rules.extend([libc::SYS_setsid, libc::SYS_setpgid].map(|number| (number, Vec::new())));
    }
    for number in [libc::SYS_clone, libc::SYS_unshare] {
        let made: Result<Vec<_>, _> = NAMESPACES.iter().map(|flag| has_flag(0, *flag)).collect();
        rules.insert(number, made?);
    }
    let typing: Result<Vec<_>, _> = TYPING.iter().map(|request| all(vec![is(1, *request)?])).collect();
    rules.insert(libc::SYS_ioctl, typing?);
    rules.insert(libc::SYS_socket, sockets(walls.network)?);
    Ok(rules)
}

/// Families that are not open, and raw sockets of those that are.
fn sockets(network: bool) -> Result<Vec<SeccompRule>, BackendError> {
    let open: &[i32] = if network { &[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] } else { &[AF_UNIX] };
    let other: Result<Vec<_>, _> =
        open.iter().map(|family| compare(0, SeccompCmpOp::Ne, number(*family))).collect();
    let mut rules = vec![all(other?)?];
    for family in [AF_INET, AF_INET6].into_iter().filter(|_| network) {
        let raw = compare(1, SeccompCmpOp::MaskedEq(0xf), number(SOCK_RAW))?;
        rules.push(all(vec![is(0, number(family))?, raw])?);
    }
    Ok(rules)
}

fn number(value: i32) -> u64 {
    u64::from(value.unsigned_abs())
}

fn all(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    compare(argument, SeccompCmpOp::Eq, value)
}

fn has_flag(argument: u8, flag: i32) -> Result<SeccompRule, BackendError> {
    let flag = u64::from(flag.cast_unsigned());
    all(vec![compare(argument, SeccompCmpOp::MaskedEq(flag), flag)?])
}

fn compare(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}

fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, refusal, std::env::consts::ARCH.try_into()?)?;
    filter.try_into()
}

/// On x86-64 the same calls have second numbers, with bit 30 set, that a filter by number would miss.
#[cfg(target_arch = "x86_64")]
fn without_second_table(program: BpfProgram) -> BpfProgram {
    use seccompiler::sock_filter;
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let if_second = sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 };
    let refuse = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | ENOSYS.unsigned_abs() };
    [load_number, if_second, refuse].into_iter().chain(program).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn without_second_table(program: BpfProgram) -> BpfProgram {
    program
}
