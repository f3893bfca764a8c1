//! Seccomp: system calls that no honest command needs and that walls fall by.

use crate::Error;
use crate::walls::Walls;
use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS,
    CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, ENOSYS, EPERM, MAP_ANONYMOUS, MAP_SHARED, PRIO_USER,
    SO_SNDBUF, SO_SNDBUFFORCE, SOCK_DGRAM, SOCK_RAW, SOL_SOCKET, c_long,
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

/// Refused to a command that shares the machine's processes and memory: by these it reaches those of others.
const SHARED: &[c_long] = &[
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Refused to one whose memory is counted in sum: what these make is kept by the system and filled by no process that shows it.
const HELD: &[c_long] = &[
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_vmsplice,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
];

/// Calls whose first argument names a process: such a command may name none but itself, which is 0.
const OF_A_PROCESS: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_get_robust_list,
];

/// The same with the second argument, where the first says whether it is a process, a group, or a user; and what a user is.
const OF_MANY: &[(c_long, u32)] = &[(libc::SYS_setpriority, PRIO_USER), (libc::SYS_ioprio_set, 3)];

/// The highest number of a system call that was looked at for these lists, `removexattrat`. A later one is unknown to the
/// command, which then takes another way; numbers are the same on every architecture by now.
const LAST_KNOWN: u32 = 466;

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
        seccompiler::apply_filter(&without_later_calls(program)).map_err(|e| Error::wall("seccomp", e))?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(walls: &Walls) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|number| (*number, Vec::new())).collect();
    if walls.shared {
        rules.extend(SHARED.iter().map(|number| (*number, Vec::new())));
        for number in OF_A_PROCESS {
            rules.insert(*number, vec![all(vec![compare(0, SeccompCmpOp::Ne, 0)?])?]);
        }
        for (number, user) in OF_MANY {
            let of_a_user = all(vec![is(0, u64::from(*user))?])?;
            rules.insert(*number, vec![of_a_user, all(vec![compare(1, SeccompCmpOp::Ne, 0)?])?]);
        }
    }
    if walls.no_held_memory {
        rules.extend(HELD.iter().map(|number| (*number, Vec::new())));
        // Pages that are shared and of no file stay once their process has let go of them.
        rules.insert(libc::SYS_mmap, vec![has_flag(3, MAP_SHARED | MAP_ANONYMOUS)?]);
        // A socket holds what the system lets each hold, and no more.
        let raises = |option: i32| all(vec![is(1, number(SOL_SOCKET))?, is(2, number(option))?]);
        rules.insert(libc::SYS_setsockopt, vec![raises(SO_SNDBUF)?, raises(SO_SNDBUFFORCE)?]);
    }
    for number in [libc::SYS_clone, libc::SYS_unshare] {
        let made: Result<Vec<_>, _> = NAMESPACES.iter().map(|flag| has_flag(0, *flag)).collect();
        rules.insert(number, made?);
    }
    let typing: Result<Vec<_>, _> = TYPING.iter().map(|request| all(vec![is(1, *request)?])).collect();
    rules.insert(libc::SYS_ioctl, typing?);
    rules.insert(libc::SYS_socket, sockets(walls)?);
    if walls.no_local_sockets {
        rules.insert(libc::SYS_socketpair, pairs()?);
    }
    Ok(rules)
}

/// Pairs of datagram sockets: either end can send to any other socket of the machine by its path.
fn pairs() -> Result<Vec<SeccompRule>, BackendError> {
    let of = |kind: i32| all(vec![compare(1, SeccompCmpOp::MaskedEq(0xf), number(kind))?]);
    Ok(vec![of(SOCK_DGRAM)?, of(SOCK_RAW)?])
}

/// Families that are not open, and raw sockets of those that are.
fn sockets(walls: &Walls) -> Result<Vec<SeccompRule>, BackendError> {
    let of_the_network = [AF_INET, AF_INET6, AF_NETLINK].into_iter().filter(|_| walls.network);
    let open = std::iter::once(AF_UNIX).filter(|_| !walls.no_local_sockets).chain(of_the_network);
    let other: Result<Vec<_>, _> = open.map(|family| compare(0, SeccompCmpOp::Ne, number(family))).collect();
    let other = other?;
    if other.is_empty() {
        // No condition: every call is refused.
        return Ok(Vec::new());
    }
    let mut rules = vec![all(other)?];
    for family in [AF_INET, AF_INET6].into_iter().filter(|_| walls.network) {
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

/// Later numbers are unknown, those of the second table of x86-64 among them: they have bit 30 set, and a filter by number
/// would miss them.
fn without_later_calls(program: BpfProgram) -> BpfProgram {
    use seccompiler::sock_filter;
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let if_later = sock_filter { code: 0x25, jt: 0, jf: 1, k: LAST_KNOWN };
    let refuse = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | ENOSYS.unsigned_abs() };
    [load_number, if_later, refuse].into_iter().chain(program).collect()
}
