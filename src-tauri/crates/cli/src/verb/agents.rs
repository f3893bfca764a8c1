//! `hermit agents`.

use super::Came;
use crate::args::AgentsVerb;
use crate::context::Context;
use crate::output::{Tone, table};
use crate::text::plain;
use wire::exit;
use wire::guests::{Agent, List};

/// Agents of other programs that can work as guests, and which of them are here.
pub fn agents(context: &Context, verb: &AgentsVerb) -> Came {
    let AgentsVerb::List = verb;
    let found = context.reading()?.call(&List {})?;
    context.out.answer(&found, |out, found| {
        let row = |one: &Agent| {
            let here = match &one.program {
                Some(program) => plain(program),
                None => format!("not here; install it with: {}", plain(&one.install)),
            };
            let key = if one.has_secret { "there" } else { "not set" };
            let name = if one.acp { format!("{0}, acp:{0}", plain(&one.name)) } else { plain(&one.name) };
            vec![name, plain(&one.title), format!("secret:{} ({key})", plain(&one.secret)), here]
        };
        table(out, &["agent", "", "key", "program"], &found.agents.iter().map(row).collect::<Vec<_>>());
        out.say(Tone::Faint, "hermit run --agent NAME \"what you want\" --workspace DIR; any other program by its command line");
    })?;
    Ok(exit::DONE)
}
