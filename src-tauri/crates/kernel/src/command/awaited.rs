//! What a schedule that is kept is to wait for: it is there to be waited for, and leads in no circle (schedule.md 1).

use super::seeing::Now;
use crate::Error;
use crate::kernel::Kernel;
use model::TaskId;
use model::schedule::{Schedule, SeenState, Trigger, Unseen};

impl Kernel {
    /// What a schedule waits for is there to be waited for, and it is not, by way of others, its own end.
    ///
    /// # Errors
    /// [`Error::Input`], which says what can be said.
    pub(super) fn check_trigger(&self, schedule: &Schedule) -> Result<(), Error> {
        let input = |why: String| Err(Error::Input(why));
        let Some(on) = &schedule.on else { return Ok(()) };
        on.check().map_err(Error::Input)?;
        if let Trigger::Files { globs, .. } = on {
            effects::check_globs(globs).map_err(|why| Error::Input(why.to_string()))?;
        }
        if let Trigger::After { of, .. } = on {
            self.check_after(&schedule.name, of)?;
        }
        if let Trigger::Resource { server, uri, .. } = on {
            return self.check_resource(server, uri);
        }
        if let Trigger::Machine { name, .. } = on {
            return self.check_machine(name);
        }
        if let Trigger::Events { .. } = on {
            // Relays are asked by a look, once a person said yes.
            return Ok(());
        }
        if let Trigger::Hook { name } = on {
            // One call begins one task, and who calls knows one secret.
            return match self.waits_for_hook(name) {
                Some(other) if other.name != schedule.name => {
                    input(format!("`{}` waits for the hook `{name}` already: name another one", other.name))
                }
                _ => Ok(()),
            };
        }
        match (on, self.seen_now(on, schedule, None)?) {
            (_, Ok(Now { state: SeenState::Ref { at: None }, .. })) => {
                input(format!("{}: there is no such branch or tag in {}", on.in_words(), schedule.folder))
            }
            (Trigger::After { of, .. }, Ok(Now { state: SeenState::Runs { open, ended }, .. }))
                if open.is_empty() && !ended.is_empty() && of.parse::<TaskId>().is_ok() =>
            {
                input(format!("the task `{of}` has ended already"))
            }
            (_, Err(unseen)) => input(format!("{}: {}", on.in_words(), why_unseen(unseen, &schedule.folder))),
            _ => Ok(()),
        }
    }

    /// Whoever is waited for is there, and waits for nobody that waits for this one.
    fn check_after(&self, name: &str, of: &str) -> Result<(), Error> {
        if let Ok(task) = of.parse::<TaskId>() {
            let known = self.query()?.task(task).map_err(crate::query::view)?;
            return known.map(drop).ok_or_else(|| Error::Input(format!("there is no task `{of}`")));
        }
        let (registry, mut way) = (self.schedule_registry(), vec![name.to_owned()]);
        let mut next = Some(of.to_owned());
        while let Some(at) = next {
            if way.contains(&at) {
                way.push(at);
                let way = way.join("`, which waits for `");
                return Err(Error::Input(format!("`{way}`: it would begin itself for ever")));
            }
            let Some(record) = registry.standing(&at) else {
                // One further on that was removed since closes no circle.
                if way.len() > 1 {
                    return Ok(());
                }
                return Err(Error::Input(format!(
                    "no schedule is named `{at}`: `hermit schedule list` names those that stand"
                )));
            };
            next = match self.trigger_of(record)? {
                Some(Trigger::After { of, .. }) if of.parse::<TaskId>().is_err() => Some(of),
                _ => None,
            };
            way.push(at);
        }
        Ok(())
    }
}

/// Why something cannot be seen, in words.
fn why_unseen(unseen: Unseen, folder: &str) -> String {
    match unseen {
        Unseen::FolderMissing => format!("the folder {folder} is not there"),
        Unseen::TooManyFiles => format!(
            "{folder} holds more than {} such files: name fewer kinds of them, or a folder inside",
            model::schedule::SEEN_FILES_MAX
        ),
        Unseen::NoRepository => format!("{folder} is no git repository whose branches can be read"),
        Unseen::ScheduleMissing => "there is no such schedule".to_owned(),
        Unseen::ServerMissing => "the server does not answer as it was registered".to_owned(),
        Unseen::RelayMissing => "no relay answers".to_owned(),
        Unseen::MachineMissing => "the machine is not paired, or the mesh does not run here".to_owned(),
        Unseen::Unreadable => format!("{folder} cannot be read"),
    }
}
