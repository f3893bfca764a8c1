//! AdamW over numbers in one order, so that what it keeps can be written down whole.

use crate::adapter::Numbers;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;
const DECAY: f64 = 0.01;

/// The longest gradient.
const NORM_MAX: f64 = 1.0;

/// Steps in which the rate grows to what was asked for.
const WARM_UP: f64 = 10.0;

/// What a run has learned, whole: a checkpoint is this.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Learned {
    /// Steps so far.
    pub step: u32,
    /// The adapter.
    pub numbers: Numbers,
    /// Means of its gradients.
    pub first: Numbers,
    /// Means of their squares.
    pub second: Numbers,
}

impl Learned {
    /// An adapter that learned nothing.
    #[must_use]
    pub fn new(numbers: Numbers) -> Self {
        let none: Numbers = numbers.iter().map(|(name, own)| (name.clone(), vec![0.0; own.len()])).collect();
        Self { step: 0, numbers, first: none.clone(), second: none }
    }

    /// Whether all its numbers are some.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let all = self.numbers.values().chain(self.first.values()).chain(self.second.values());
        all.flatten().all(|number| number.is_finite())
    }

    /// One step along a gradient.
    pub fn step(&mut self, gradient: &Numbers, rate: f64) {
        let squares = gradient.values().flatten().map(|one| f64::from(*one).powi(2));
        let norm = squares.sum::<f64>().sqrt();
        let shorter = if norm > NORM_MAX { NORM_MAX / norm } else { 1.0 };
        let rate = rate * (f64::from(self.step + 1) / WARM_UP).min(1.0);
        self.step += 1;
        let power = i32::try_from(self.step).unwrap_or(i32::MAX);
        let (of_first, of_second) = (1.0 - BETA_1.powi(power), 1.0 - BETA_2.powi(power));
        for (name, numbers) in &mut self.numbers {
            let (Some(gradient), Some(first), Some(second)) =
                (gradient.get(name), self.first.get_mut(name), self.second.get_mut(name))
            else {
                continue;
            };
            let kept = first.iter_mut().zip(second.iter_mut());
            for ((number, gradient), (first, second)) in numbers.iter_mut().zip(gradient).zip(kept) {
                let gradient = f64::from(*gradient) * shorter;
                let mean = BETA_1 * f64::from(*first) + (1.0 - BETA_1) * gradient;
                let square = BETA_2 * f64::from(*second) + (1.0 - BETA_2) * gradient * gradient;
                (*first, *second) = (mean as f32, square as f32);
                let way = (mean / of_first) / ((square / of_second).sqrt() + EPSILON);
                let own = f64::from(*number);
                *number = (own - rate * (way + DECAY * own)) as f32;
            }
        }
    }
}
