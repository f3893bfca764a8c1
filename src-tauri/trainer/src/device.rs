//! Where the arithmetic of a run is done: one place for all of it, so that another device is chosen here and nowhere else, and what a run
//! says of it.

use candle_core::Device;
use training::{RanOn, RunSpec};

/// Where every tensor of a run lies. Other devices need crates that are not built into this program.
pub const OWN: Device = Device::Cpu;

/// Letters of the name of a processor that are told.
const NAME_MAX: usize = 120;

/// What a run says of where it is done.
#[must_use]
pub fn ran_on(spec: &RunSpec) -> RanOn {
    RanOn { device: name().to_owned(), threads: spec.threads, machine: machine() }
}

/// The device by its name.
fn name() -> &'static str {
    if OWN.is_cuda() {
        "cuda"
    } else if OWN.is_metal() {
        "metal"
    } else {
        "cpu"
    }
}

/// The kind of the machine: architecture, system, and its processor where the system tells.
fn machine() -> String {
    let kind = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
    match processor() {
        Some(name) => format!("{kind}, {name}"),
        None => kind,
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, name) = info.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then(|| name.chars().take(NAME_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seal::Digest;
    use training::{Base, DatasetFile};

    #[test]
    fn a_run_says_the_device_its_threads_and_the_kind_of_the_machine() {
        let base =
            Base { path: "base.gguf".to_owned(), sha256: Digest::ZERO, licence: "Apache-2.0".to_owned() };
        let dataset = DatasetFile { path: "dataset.jsonl".to_owned(), sha256: Digest::ZERO };
        let spec = RunSpec { threads: 3, ..RunSpec::small(base, dataset, "run".to_owned()) };
        let on = ran_on(&spec);
        assert_eq!((on.device.as_str(), on.threads), ("cpu", 3));
        assert!(on.machine.starts_with(std::env::consts::ARCH), "{on:?}");
        assert!(on.in_words().starts_with("cpu, 3 threads, "), "{}", on.in_words());
    }
}
