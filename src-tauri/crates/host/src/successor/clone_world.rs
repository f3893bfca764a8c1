//! What a clone has in the place of a machine: a clock and chance that begin with the seed of its case, keys that live as long as it does,
//! one day, and nobody who listens.

use kernel::ports::{Day, Days, KeyRing, Notice, Observer};
use model::{Clock, Digest, Entropy, UnixMs};
use seal::schnorr::SchnorrKey;
use seal::{PublicKey, SeedSigner, Signer};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// When a clone's clock begins. What is named by it has these digits first.
const BEGINS_AT: i64 = 0x01A0_0000_0000;

/// A clock that goes on with every look: in hexadecimal, the last four digits count looks as decimal ones do.
#[derive(Default)]
pub(super) struct CloneClock(AtomicI64);

impl Clock for CloneClock {
    fn now(&self) -> UnixMs {
        const ROUND: i64 = 10_000;
        let looks = self.0.fetch_add(1, Ordering::SeqCst);
        let digits = i64::from_str_radix(&(looks % ROUND).to_string(), 16).unwrap_or_default();
        UnixMs(BEGINS_AT.saturating_add((looks / ROUND) << 16).saturating_add(digits))
    }
}

/// Chance from a seed and a count. Nothing that a clone signs is believed by anybody.
pub(super) struct CloneChance {
    seed: u64,
    drawn: AtomicU64,
}

impl CloneChance {
    /// Nothing is drawn yet.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: AtomicU64::new(0) }
    }
}

impl Entropy for CloneChance {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            let at = self.drawn.fetch_add(1, Ordering::SeqCst);
            let digest = Digest::of(format!("clone:{}:{at}", self.seed).as_bytes());
            for (to, from) in chunk.iter_mut().zip(digest.as_bytes()) {
                *to = ((from / 10 % 10) << 4) | (from % 10);
            }
        }
    }
}

pub(super) fn signer(entropy: &dyn Entropy) -> SeedSigner {
    let mut seed = [0; 32];
    entropy.fill(&mut seed);
    SeedSigner::from_seed(seed)
}

/// Keys of a clone, which live as long as it does.
pub(super) struct CloneKeys {
    pub(super) receipt: Arc<SeedSigner>,
    pub(super) log: Arc<SeedSigner>,
    pub(super) manifest: Arc<SeedSigner>,
    cosign: Arc<SeedSigner>,
}

impl CloneKeys {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let made = || Arc::new(signer(entropy));
        Self { receipt: made(), log: made(), manifest: made(), cosign: made() }
    }
}

impl KeyRing for CloneKeys {
    fn receipt(&self) -> Option<Arc<dyn Signer>> {
        Some(Arc::clone(&self.receipt) as _)
    }

    fn log(&self) -> Option<Arc<dyn Signer>> {
        Some(Arc::clone(&self.log) as _)
    }

    fn cosign(&self) -> Option<Arc<dyn Signer>> {
        Some(Arc::clone(&self.cosign) as _)
    }

    fn log_keys(&self) -> Vec<PublicKey> {
        vec![self.log.public()]
    }

    fn instance(&self, first_soul: &Digest) -> Option<SchnorrKey> {
        let secret = Digest::of(&[self.log.public().as_bytes().as_slice(), first_soul.as_bytes()].concat());
        SchnorrKey::from_secret(secret.0).ok()
    }

    fn former_instances(&self, _: &Digest) -> Vec<SchnorrKey> {
        Vec::new()
    }
}

/// Nobody listens.
pub(super) struct Nobody;

impl Observer for Nobody {
    fn notice(&self, _: Notice) {}
}

/// All of a clone's time is one day, in which nothing costs anything.
pub(super) struct OneDay;

impl Days for OneDay {
    fn day_of(&self, _: UnixMs) -> Result<Day, String> {
        Ok(Day {
            name: "the day of a clone".to_owned(),
            begins: UnixMs(0),
            ends: UnixMs(i64::MAX / 2),
            ends_in_words: "never".to_owned(),
            cost_micros_max: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ArtifactId;

    #[test]
    fn names_in_a_clone_cost_the_same_whatever_was_drawn_before() {
        let clock = CloneClock::default();
        let chance = CloneChance::new(7);
        let mut before = clock.now();
        for _ in 0..12_000 {
            let name = ArtifactId::fresh(&clock, &chance).to_string();
            let rest = name.strip_prefix("art_01a0").unwrap();
            // The one digit that says which kind of name it is may be a letter, which costs as much.
            assert!(rest.chars().filter(char::is_ascii_alphabetic).count() <= 1, "{name}");
            let now = clock.now();
            assert!(now > before, "it goes on");
            before = now;
        }
    }
}
