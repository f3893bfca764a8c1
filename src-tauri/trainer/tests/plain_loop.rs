//! Candle's plain loop, which the bench measures ours beside: the same loss and the same gradient of the same lessons, so
//! that both do the same work, and what ours leaves out is no part of the gradient.

#[path = "../examples/plain/plain_loop.rs"]
mod plain;

use crate::tiny::Place;
use plain::Plain;
use std::collections::BTreeSet;
use trainer::session::Session;

#[test]
fn candles_own_operations_come_to_the_same_loss_and_the_same_gradient() {
    let place = Place::new();
    let session = Session::open(&place.spec, &mut |_| {}).unwrap();
    // Where the adapter adds nothing yet, half of its gradient is nothing.
    let mut numbers = session.adapter.numbers().unwrap();
    for (at, number) in numbers.values_mut().flatten().enumerate() {
        *number += 0.01 * (at % 7) as f32;
    }
    session.adapter.set(&numbers).unwrap();
    let lessons = session.lessons_of(0);
    let (loss, gradient) = session.gradient(&lessons, &numbers).unwrap();
    let form = session.base.form;
    let plain = Plain::open(&session.spec, &session.base.content, form, &numbers).unwrap();
    let batch: Vec<_> = lessons.iter().map(|at| &session.lessons[*at]).collect();
    let of_plain = plain.loss(&batch).unwrap();
    let by_plain = plain.gradient(&of_plain).unwrap();
    let of_plain = of_plain.to_scalar::<f32>().unwrap();
    assert!((loss - of_plain).abs() < 1e-4 * loss, "{loss} {of_plain}");
    let names: BTreeSet<&String> = gradient.keys().collect();
    assert_eq!(names, by_plain.keys().collect());
    for (name, own) in &gradient {
        let largest = own.iter().map(|one| one.abs()).fold(0.0, f32::max);
        let worst = own.iter().zip(&by_plain[name]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest > 0.0 && worst < 1e-3 * largest, "{name}: {worst} of {largest}");
    }
}
