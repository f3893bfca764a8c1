//! Models at hand: looked for by the host on its own machine, on demand.

use crate::error::Wire as _;
use crate::{Host, ModelBox, dollars, usage};
use model::ingress::Channel;
use model::limits::{PARALLEL_READS, PARALLEL_READS_MOST};
use model::task::{ModelChoice, Origin};
use projections::Ask;
use projections::query::{SpentOn, TaskFilter};
use std::collections::BTreeSet;
use wire::Error;
use wire::models::{
    Asked, BoxModels, Ceiling, CeilingSet, Chosen, Costs, CostsBy, DayCosts, Embed, Embedded, Embeddings,
    Find, Found, Get, InBox, ModelCosts, Reads, ReadsAtOnce, Remove, Server, Set, SetReads, Standard,
    StopGet, Test,
};

/// Further ports of one look.
const PORTS_MAX: usize = 16;

/// Newest tasks that are looked at for the models that were used.
const TASKS_LOOKED: u32 = 100;

/// Models that were used, of which is told.
const USED_MAX: usize = 5;

pub(crate) fn find(host: &dyn Host, p: Find) -> Result<Found, Error> {
    if p.ports.len() > PORTS_MAX || p.ports.contains(&0) {
        return Err(usage(format!("name at most {PORTS_MAX} further ports, each from 1 to 65535")));
    }
    let mut found = host.models(&p.ports)?;
    found.used = used(host, &found)?;
    Ok(found)
}

/// Addresses of models that were named in the newest tasks of a person or of a page, the newest first, where nothing else
/// lists them.
fn used(host: &dyn Host, found: &Found) -> Result<Vec<String>, Error> {
    // Where the lists cannot be read yet, what answers on this machine is still told.
    let Ok(query) = host.query() else { return Ok(Vec::new()) };
    let listed = found.servers.iter().flat_map(|server| &server.models).map(|model| &model.address);
    let mut known: BTreeSet<String> =
        listed.chain(found.set.iter().map(|asked| &asked.address)).cloned().collect();
    let newest = Ask { limit: TASKS_LOOKED, ..Ask::default() };
    let mut used = Vec::new();
    for row in query.tasks(&TaskFilter::default(), newest).wire()?.rows {
        if used.len() == USED_MAX {
            break;
        }
        // A page in a browser counts as a program; what others named is no choice of a person.
        if !matches!((row.origin, row.channel), (Origin::Person, _) | (Origin::Program, Channel::App)) {
            continue;
        }
        let Some(contract) = super::task_show::contract(host, &row)? else { continue };
        let ModelChoice::Openai { base_url, .. } = &contract.model else { continue };
        let address = crate::runs::model_name(&contract.model);
        if is_told_again(base_url) && known.insert(address.clone()) {
            used.push(address);
        }
    }
    Ok(used)
}

/// Whether a server is told beside the task that named it. A model in the box is listed as long as its weights are here, and behind a `?`
/// a key may stand.
fn is_told_again(base_url: &str) -> bool {
    base_url != crate::runs::IN_BOX && !base_url.contains('?')
}

pub(crate) fn standard(host: &dyn Host, p: Standard) -> Result<Chosen, Error> {
    host.kernel()?;
    if let Some(address) = &p.address {
        super::training::may_be_standard(host, address)?;
    }
    host.set_standard_model(p.address.as_deref())?;
    Ok(Chosen { standard: p.address })
}

pub(crate) fn embedded(host: &dyn Host, _: Embedded) -> Result<Embeddings, Error> {
    host.embeddings()
}

pub(crate) fn embed(host: &dyn Host, p: Embed) -> Result<Embeddings, Error> {
    host.kernel()?;
    host.set_embeddings(p.address.as_deref())
}

pub(crate) fn set(host: &dyn Host, p: Set) -> Result<Asked, Error> {
    host.kernel()?;
    host.set_model(&p)
}

pub(crate) fn in_box(host: &dyn Host, _: InBox) -> Result<BoxModels, Error> {
    let none = BoxModels { models: Vec::new(), trouble: None };
    Ok(host.model_box().map_or(none, ModelBox::listed))
}

pub(crate) fn get(host: &dyn Host, p: Get) -> Result<BoxModels, Error> {
    let models = in_the_box(host)?;
    models.get(&p.name)?;
    Ok(models.listed())
}

pub(crate) fn stop_get(host: &dyn Host, p: StopGet) -> Result<BoxModels, Error> {
    let models = in_the_box(host)?;
    models.stop(&p.name)?;
    Ok(models.listed())
}

pub(crate) fn remove(host: &dyn Host, p: Remove) -> Result<BoxModels, Error> {
    let models = in_the_box(host)?;
    models.remove(&p.name)?;
    Ok(models.listed())
}

/// Weights come and go in the process that holds the store.
fn in_the_box(host: &dyn Host) -> Result<&dyn ModelBox, Error> {
    host.kernel()?;
    host.model_box().ok_or_else(crate::no_host)
}

/// Most days that are told at once.
const DAYS_MAX: u32 = 366;

/// Days that are told where nobody says how many.
const DAYS: u32 = 7;

pub(crate) fn costs(host: &dyn Host, p: Costs) -> Result<CostsBy, Error> {
    let wanted = p.days.unwrap_or(DAYS);
    if wanted == 0 || wanted > DAYS_MAX {
        return Err(usage(format!("ask for 1 to {DAYS_MAX} days")));
    }
    let query = host.query()?;
    let today = host.day_of(host.now())?;
    let (mut days, mut all) = (Vec::new(), Vec::new());
    let mut day = today.clone();
    for n in 0..wanted {
        let spent = query.spent(day.begins, day.ends).wire()?;
        all.extend(spent.iter().cloned());
        if n == 0 || !spent.is_empty() {
            days.push(of_day(&day.name, spent));
        }
        day = host.day_of(day.begins.plus_ms(-1))?;
    }
    let aside = query.set_aside().wire()?.iter().map(|(_, cost)| *cost).fold(0, u64::saturating_add);
    Ok(CostsBy {
        today: today.name,
        ends_at: today.ends.0,
        ceiling_micros: today.cost_micros_max,
        spent_micros: days.first().map_or(0, |first| first.cost_micros),
        aside_micros: aside,
        days,
        models: of_day("", summed(all)).models,
    })
}

fn of_day(day: &str, spent: Vec<SpentOn>) -> DayCosts {
    let sum = |of: fn(&SpentOn) -> u64| spent.iter().map(of).fold(0, u64::saturating_add);
    let (tokens, cost_micros) = (sum(|on| on.tokens), sum(|on| on.cost_micros));
    let models = spent.into_iter().map(|SpentOn { provider, model, tokens, cost_micros }| ModelCosts {
        provider,
        model,
        tokens,
        cost_micros,
    });
    DayCosts { day: day.to_owned(), tokens, cost_micros, models: models.collect() }
}

/// The same models together, the dearest first.
fn summed(all: Vec<SpentOn>) -> Vec<SpentOn> {
    let mut sums: Vec<SpentOn> = Vec::new();
    for on in all {
        match sums.iter_mut().find(|sum| sum.provider == on.provider && sum.model == on.model) {
            Some(sum) => {
                sum.tokens = sum.tokens.saturating_add(on.tokens);
                sum.cost_micros = sum.cost_micros.saturating_add(on.cost_micros);
            }
            None => sums.push(on),
        }
    }
    sums.sort_by_key(|on| std::cmp::Reverse((on.cost_micros, on.tokens)));
    sums
}

pub(crate) fn ceiling(host: &dyn Host, p: Ceiling) -> Result<CeilingSet, Error> {
    host.kernel()?;
    let ceiling_micros = p.dollars.as_deref().map(dollars).transpose().map_err(usage)?;
    host.set_ceiling(ceiling_micros)?;
    Ok(CeilingSet { ceiling_micros })
}

pub(crate) fn reads(host: &dyn Host, _: Reads) -> Result<ReadsAtOnce, Error> {
    let set = host.parallel_reads()?;
    let narrow = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    Ok(ReadsAtOnce {
        at_once: narrow(set.unwrap_or(PARALLEL_READS)),
        is_set: set.is_some(),
        standard: narrow(PARALLEL_READS),
        most: narrow(PARALLEL_READS_MOST),
    })
}

pub(crate) fn set_reads(host: &dyn Host, p: SetReads) -> Result<ReadsAtOnce, Error> {
    host.kernel()?;
    let at_once = p.at_once.map(|wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
    if let Some(wanted) = at_once.filter(|wanted| !(1..=PARALLEL_READS_MOST).contains(wanted)) {
        let say = format!(
            "{wanted} reads at the same time cannot be; it is a number from 1 to {PARALLEL_READS_MOST}"
        );
        return Err(usage(say));
    }
    host.set_parallel_reads(at_once)?;
    reads(host, Reads {})
}

/// The process that holds the store asks, because it has the keys.
pub(crate) fn test(host: &dyn Host, p: Test) -> Result<Server, Error> {
    host.kernel()?;
    host.test_models(&p)
}

#[cfg(test)]
mod tests {
    use super::is_told_again;

    #[test]
    fn a_server_whose_address_may_hold_a_key_is_told_by_its_task_alone() {
        assert!(is_told_again("http://127.0.0.1:8080/v1"));
        for server in
            ["https://example.org/v1?key=kestrel", "https://example.org?kestrel", crate::runs::IN_BOX]
        {
            assert!(!is_told_again(server), "{server}");
        }
    }
}
