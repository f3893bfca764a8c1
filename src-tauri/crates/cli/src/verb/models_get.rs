//! `hermit models get`, and the models in the box in the other verbs about models.

use super::Came;
use crate::args::ModelsGet;
use crate::context::Context;
use crate::output::{Output, Tone, table};
use crate::text::plain;
use host::model_box::{Kept, Step, Wish};
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};
use wire::exit;
use wire::models::BoxModels;
use words::store::BoxState;

/// How often a line tells how far it is, where a line can be written over and where it cannot.
const TELL: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

/// Gets a model, or tells what can be had.
pub fn get(context: &Context, args: ModelsGet) -> Came {
    let Some(name) = args.name else { return can_be_had(context) };
    context.home.make().map_err(host::Error::to_wire)?;
    let config = host::Config::load(&context.home).map_err(host::Error::to_wire)?;
    let wish = Wish { name, from: args.from, sha256: args.sha256 };
    let mut line = Line::new();
    let got = host::model_box::get(&context.home, &config, &wish, &mut |step| line.tell(step));
    line.end();
    let got = got.map_err(host::Error::to_wire)?;
    context.out.answer(&got, |out, got| {
        out.line(format!("{} is here: {}, sha256 {}", plain(&got.name), size(got.bytes), got.sha256));
        out.say(
            Tone::Faint,
            format!("make it the default with `hermit models use box:{}`", plain(&got.name)),
        );
    })?;
    Ok(exit::DONE)
}

fn can_be_had(context: &Context) -> Came {
    let all = host::model_box::catalogue();
    let kept: Vec<Kept> = all
        .iter()
        .map(|entry| Kept {
            name: entry.name.clone(),
            sha256: entry.sha256.clone(),
            bytes: entry.bytes,
            license: Some(entry.license.clone()),
            about: Some(entry.about.clone()),
        })
        .collect();
    context.out.answer(&kept, |out, kept| {
        rows(out, kept);
        out.say(Tone::Faint, "get one with `hermit models get NAME`, or any GGUF file with `--from FILE`");
    })?;
    Ok(exit::DONE)
}

/// Whether words can name a model in the box, and neither a provider nor a server.
pub fn is_name(words: &str) -> bool {
    words.starts_with("box:") || !words.contains("://") && host::provider_url(words) == words
}

/// Takes a model away.
pub fn remove(context: &Context, name: &str) -> Came {
    let name = name.strip_prefix("box:").unwrap_or(name);
    let freed = host::model_box::forget(&context.home, name).map_err(host::Error::to_wire)?;
    context.out.answer(&serde_json::json!({ "name": name, "freed_bytes": freed }), |out, _| {
        let freed = if freed == 0 {
            "its weights stay, another name has them".to_owned()
        } else {
            format!("{} are free again", size(freed))
        };
        out.line(format!("{} is gone; {freed}", plain(name)));
    })?;
    Ok(exit::DONE)
}

/// What is here, above the servers.
pub fn listed(out: &Output, context: &Context) {
    let kept = host::model_box::kept(&context.home);
    if kept.is_empty() {
        out.say(Tone::Faint, "no model in the box; `hermit models get` shows what can be had");
    } else {
        rows(out, &kept);
    }
}

/// Weights that the process that has Hermit open fetches at this moment, such as for a page.
pub fn coming(out: &Output, boxed: &BoxModels) {
    for one in &boxed.models {
        let (name, of) = (plain(&one.name), size(one.bytes));
        match one.state {
            BoxState::Fetching => {
                out.line(format!("box:{name} is being fetched: {} of {of} are here", size(one.bytes_here)));
            }
            BoxState::Checking => out.line(format!("box:{name} is here, and its {of} are being checked")),
            BoxState::Absent | BoxState::Here => {}
        }
    }
}

/// Says so where an address names a model in the box whose weights are not here.
pub fn absent(out: &Output, context: &Context, address: &str) {
    let Some(name) = address.strip_prefix("box:").and_then(|rest| rest.split('@').next()) else { return };
    if host::model_box::kept(&context.home).iter().all(|kept| kept.name != name) {
        out.say(Tone::Warn, "its weights are not here; `hermit models get` shows what can be had");
    }
}

fn rows(out: &Output, kept: &[Kept]) {
    let row = |one: &Kept| {
        let digest = one.sha256.get(..16).unwrap_or_default();
        let text = |text: &Option<String>| text.as_deref().map(plain).unwrap_or_default();
        vec![
            format!("box:{}", plain(&one.name)),
            size(one.bytes),
            format!("{digest}…"),
            text(&one.license),
            text(&one.about),
        ]
    };
    table(
        out,
        &["model", "size", "sha256", "licence", "good for"],
        &kept.iter().map(row).collect::<Vec<_>>(),
    );
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// One line that is written over, or a line now and then.
struct Line {
    over: bool,
    begun: Option<(Instant, u64)>,
    told: Option<Instant>,
}

impl Line {
    fn new() -> Self {
        Self { over: std::io::stderr().is_terminal(), begun: None, told: None }
    }

    fn tell(&mut self, step: Step) {
        match step {
            Step::Resumed(bytes) => self.write(&format!("going on from {}", size(bytes)), true),
            Step::Checking => self.write("checking the digest", true),
            Step::Bytes(done, of) => {
                let (since, from) = *self.begun.get_or_insert_with(|| (Instant::now(), done));
                let every = if self.over { TELL[0] } else { TELL[1] };
                if self.told.is_some_and(|told| told.elapsed() < every) {
                    return;
                }
                self.told = Some(Instant::now());
                let speed = done.saturating_sub(from) as f64 / since.elapsed().as_secs_f64().max(0.001);
                let left = if speed > 1.0 {
                    format!(", {:.0} s left", of.saturating_sub(done) as f64 / speed)
                } else {
                    String::new()
                };
                let percent = done.saturating_mul(100) / of.max(1);
                self.write(
                    &format!("{percent} %, {} of {}, {:.1} MB/s{left}", size(done), size(of), speed / 1e6),
                    false,
                );
            }
        }
    }

    fn write(&self, text: &str, whole: bool) {
        let mut err = std::io::stderr();
        let written = match (self.over, whole) {
            (true, false) => write!(err, "\r\x1b[K{text}"),
            (true, true) => writeln!(err, "\r\x1b[K{text}"),
            (false, _) => writeln!(err, "{text}"),
        };
        let _ = written.and_then(|()| err.flush());
    }

    fn end(&self) {
        if self.over {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
