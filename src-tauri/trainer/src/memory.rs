//! The most memory that the process has had.

/// Bytes, where the system tells; 0 where it does not.
#[must_use]
pub fn peak() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kibibytes.unwrap_or_default().saturating_mul(1024)
}
