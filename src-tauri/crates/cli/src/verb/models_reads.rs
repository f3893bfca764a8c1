//! `hermit models reads`.

use super::Came;
use crate::context::{Context, Signs};
use crate::output::Output;
use wire::models::{Reads, ReadsAtOnce, SetReads};
use wire::{Code, Error, exit};

/// How many reads of one answer run at the same time: told, or set.
pub fn reads(context: &Context, wanted: Option<&str>) -> Came {
    let Some(wanted) = wanted else {
        let told = context.reading()?.call(&Reads {})?;
        context.out.answer(&told, in_words)?;
        return Ok(exit::DONE);
    };
    let at_once = match wanted {
        "standard" => None,
        number => Some(number.parse().map_err(|_| {
            Error::new(Code::Usage, format!("`{number}` is no number of reads"))
                .hint("it is a number from 1 to 64, or `standard`")
        })?),
    };
    let session = context.writing(Signs::No)?;
    let set = session.call(&SetReads { at_once });
    session.close();
    context.out.answer(&set?, in_words)?;
    Ok(exit::DONE)
}

fn in_words(out: &Output, told: &ReadsAtOnce) {
    let reads = match told.at_once {
        1 => "reads of one answer run one after the other".to_owned(),
        many => format!("up to {many} reads of one answer run at the same time"),
    };
    let from =
        if told.is_set { format!("; without a setting it is {}", told.standard) } else { String::new() };
    out.line(format!("{reads}{from}"));
}
