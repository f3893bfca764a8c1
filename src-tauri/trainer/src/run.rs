//! A run: step by step to its end, its budget or a word, with checkpoints on the way.

use crate::adamw::Learned;
use crate::session::Session;
use crate::{Done, Problem, checkpoint, device, memory};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};
use training::{Control, RunSpec, Said};

/// Time that was worked; pauses are left out.
struct Clock {
    begun: Instant,
    paused: Duration,
}

impl Clock {
    fn worked(&self) -> Duration {
        self.begun.elapsed().saturating_sub(self.paused)
    }
}

/// What a word of whoever started the run says is to be done. It waits while the run is paused.
fn obey(
    words: &Receiver<Control>,
    clock: &mut Clock,
    step: u32,
    say: &mut dyn FnMut(&Said),
) -> Option<String> {
    let stopped = || Some("it was stopped".to_owned());
    loop {
        match words.try_recv() {
            Ok(Control::Stop) | Err(TryRecvError::Disconnected) => return stopped(),
            Ok(Control::Resume) => {}
            Err(TryRecvError::Empty) => return None,
            Ok(Control::Pause) => {
                let since = Instant::now();
                say(&Said::Paused { step });
                loop {
                    match words.recv() {
                        Ok(Control::Pause) => {}
                        Ok(Control::Stop) | Err(_) => return stopped(),
                        Ok(Control::Resume) => break,
                    }
                }
                clock.paused += since.elapsed();
                say(&Said::Resumed { step });
            }
        }
    }
}

/// Why a run has to end before its steps are done.
fn over(spec: &RunSpec, clock: &Clock) -> Option<String> {
    let used = memory::peak();
    if clock.worked() >= Duration::from_secs(spec.budget.seconds) {
        Some(format!("its {} seconds are used up", spec.budget.seconds))
    } else if used > spec.budget.memory_bytes {
        Some(format!("it used {used} bytes of memory, and may use {}", spec.budget.memory_bytes))
    } else {
        None
    }
}

/// Does a run, from its newest checkpoint where there is one.
///
/// # Errors
/// It cannot be begun, a loss is no number, or the disk fails; in words.
pub fn run(spec: &RunSpec, words: &Receiver<Control>, say: &mut dyn FnMut(&Said)) -> Done<()> {
    let mut clock = Clock { begun: Instant::now(), paused: Duration::ZERO };
    let session = Session::open(spec, say)?;
    say(&Said::RunsOn { on: device::ran_on(spec) });
    let (folder, of) = (session.folder(), spec.lineage());
    let first = session.adapter.numbers()?;
    let mut learned = Learned::new(first.clone());
    let mut kept = None;
    if let Some((_, found)) = checkpoint::newest(&folder, of, &first, say) {
        learned = found;
        kept = Some(learned.step);
        say(&Said::Resumed { step: learned.step });
    }
    session.adapter.set(&learned.numbers)?;
    let mut why = None;
    while learned.step < spec.steps {
        why = obey(words, &mut clock, learned.step, say).or_else(|| over(spec, &clock));
        if why.is_some() {
            break;
        }
        let begun = Instant::now();
        let loss = step(&session, &mut learned)?;
        let seconds = begun.elapsed().as_secs_f32().max(f32::EPSILON);
        say(&Said::Progress {
            step: learned.step,
            loss,
            examples_per_s: spec.batch as f32 / seconds,
            memory: memory::peak(),
        });
        if learned.step.is_multiple_of(spec.checkpoint_every) {
            keep(&folder, of, &learned, say)?;
            kept = Some(learned.step);
        }
    }
    if kept != Some(learned.step) {
        keep(&folder, of, &learned, say)?;
    }
    say(&Said::Ended { step: learned.step, words: why });
    Ok(())
}

/// One step; its mean loss.
///
/// # Errors
/// A number that is none.
pub fn step(session: &Session, learned: &mut Learned) -> Done<f32> {
    let lessons = session.lessons_of(learned.step);
    let (loss, gradient) = session.gradient(&lessons, &learned.numbers)?;
    if !loss.is_finite() || !gradient.values().flatten().all(|one| one.is_finite()) {
        return Err(Problem::new(format!(
            "the loss of step {} is no number; a smaller learning rate may help",
            learned.step + 1
        )));
    }
    learned.step(&gradient, session.spec.learning_rate);
    session.adapter.set(&learned.numbers)?;
    Ok(loss)
}

fn keep(folder: &Path, of: seal::Digest, learned: &Learned, say: &mut dyn FnMut(&Said)) -> Done<()> {
    let (path, sha256) = checkpoint::write(folder, of, learned)?;
    say(&Said::Checkpoint { step: learned.step, file: path.to_string_lossy().into_owned(), sha256 });
    Ok(())
}

/// Opens a run with what it has learned so far.
///
/// # Errors
/// It cannot be opened, or has no whole checkpoint.
pub fn learned(spec: &RunSpec, say: &mut dyn FnMut(&Said)) -> Done<(Session, u32)> {
    let session = Session::open(spec, say)?;
    let first = session.adapter.numbers()?;
    let found = checkpoint::newest(&session.folder(), spec.lineage(), &first, say);
    let (_, learned) = found.ok_or_else(|| Problem::new("the run has no whole checkpoint"))?;
    session.adapter.set(&learned.numbers)?;
    Ok((session, learned.step))
}
