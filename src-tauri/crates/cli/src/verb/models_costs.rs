//! `hermit models costs` and `hermit models ceiling`.

use super::Came;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use acts::money;
use wire::exit;
use wire::models::{Ceiling, Costs, CostsBy, DayCosts, ModelCosts};

/// What models have cost.
pub fn costs(context: &Context, days: u32) -> Came {
    let told = context.reading()?.call(&Costs { days: Some(days) })?;
    context.out.answer(&told, told_of)?;
    Ok(exit::DONE)
}

fn told_of(out: &Output, told: &CostsBy) {
    let aside = match told.aside_micros {
        0 => String::new(),
        aside => format!(", {} set aside for calls under way", money(aside)),
    };
    out.line(match told.ceiling_micros {
        Some(ceiling) => format!(
            "today {} of {}{aside}; the day ends at {}",
            money(told.spent_micros),
            money(ceiling),
            time(told.ends_at)
        ),
        None => format!("today {}{aside}; no ceiling is set", money(told.spent_micros)),
    });
    if told.ceiling_micros.is_none() {
        out.say(Tone::Faint, "set one with `hermit models ceiling DOLLARS`");
    }
    if told.models.is_empty() {
        return out.line("no model has been asked in these days");
    }
    let of_day = |day: &DayCosts| vec![day.day.clone(), day.tokens.to_string(), money(day.cost_micros)];
    table(out, &["day", "tokens", "cost"], &told.days.iter().map(of_day).collect::<Vec<_>>());
    let of_model = |on: &ModelCosts| {
        vec![plain(&on.model), plain(&on.provider), on.tokens.to_string(), money(on.cost_micros)]
    };
    out.line("");
    table(
        out,
        &["model", "provider", "tokens", "cost"],
        &told.models.iter().map(of_model).collect::<Vec<_>>(),
    );
}

/// Sets what models may cost in a day.
pub fn ceiling(context: &Context, dollars: String) -> Came {
    let dollars = (dollars != "none").then_some(dollars);
    let session = context.writing(Signs::No)?;
    let set = session.call(&Ceiling { dollars });
    session.close();
    context.out.answer(&set?, |out, set| match set.ceiling_micros {
        Some(ceiling) => out.line(format!("models may cost {} in a day", money(ceiling))),
        None => out.line("models may cost what they cost: no ceiling is set"),
    })?;
    Ok(exit::DONE)
}
