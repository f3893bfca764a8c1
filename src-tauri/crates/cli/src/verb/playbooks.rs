//! `hermit playbooks`.

use super::Came;
use crate::context::Context;
use crate::output::{Output, Tone, table};
use crate::text::{paragraph, plain};
use wire::playbooks::{List, Playbook};
use wire::{Code, Error, exit};

/// Lists the playbooks that come with Hermit, or shows one with its parameters.
pub fn playbooks(context: &Context, name: Option<&str>) -> Came {
    let found = context.free()?.call(&List {})?;
    let Some(name) = name else {
        context.out.answer(&found, |out, found| {
            let row = |one: &Playbook| vec![plain(&one.name), plain(&one.about)];
            table(out, &["playbook", ""], &found.playbooks.iter().map(row).collect::<Vec<_>>());
            out.say(Tone::Faint, "hermit playbooks NAME shows what one does and its parameters");
        })?;
        return Ok(exit::DONE);
    };
    let names: Vec<&str> = found.playbooks.iter().map(|one| one.name.as_str()).collect();
    let one = found.playbooks.iter().find(|one| one.name == name).ok_or_else(|| {
        Error::new(Code::NotFound, format!("there is no playbook `{name}`"))
            .hint(format!("Hermit comes with {}", names.join(", ")))
    })?;
    context.out.answer(one, shown)?;
    Ok(exit::DONE)
}

fn shown(out: &Output, one: &Playbook) {
    out.say(Tone::Bold, format!("{}: {}", plain(&one.name), plain(&one.about)));
    out.line(paragraph(&one.description));
    for parameter in &one.parameters {
        let standard = match parameter.standard.as_deref() {
            None | Some("") => String::new(),
            Some(standard) => format!(" (standard: {})", plain(standard)),
        };
        out.line(format!("  {:<12} {}{standard}", plain(&parameter.name), plain(&parameter.about)));
    }
    out.say(
        Tone::Faint,
        format!("hermit run --playbook {} --workspace DIR --param NAME=VALUE", plain(&one.name)),
    );
}
