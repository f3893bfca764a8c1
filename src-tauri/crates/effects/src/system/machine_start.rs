//! When this machine was started.

pub(crate) use system::started_at;

#[cfg(unix)]
mod system {
    /// In milliseconds since 1970. Of these systems Linux alone tells it; where it is not known, everything is younger.
    pub(crate) fn started_at() -> i64 {
        let told = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let seconds = told.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<i64>().ok());
        seconds.map_or(i64::MIN, |seconds| seconds.saturating_mul(1000))
    }
}

#[cfg(windows)]
mod system {
    use std::time::{SystemTime, UNIX_EPOCH};

    /// In milliseconds since 1970, by the clock as it goes now.
    pub(crate) fn started_at() -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let now = now.and_then(|since| i64::try_from(since.as_millis()).ok());
        let runs = i64::try_from(win32::since_start_ms()).ok();
        now.zip(runs).map_or(i64::MIN, |(now, runs)| now.saturating_sub(runs))
    }
}
