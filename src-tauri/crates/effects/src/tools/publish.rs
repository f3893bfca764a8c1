//! Publishing who this instance is at relays. An event is the same however often a relay is given it, so what was interrupted is
//! given to all of them again.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Output, Progress, Published, Settled, Undelivered};
use acts::{ActionRequest, Publish};
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;
use model::{RelPath, ResourceId};

impl Executor for Publish {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        outcome(act, self, published(act, self), None)
    }

    /// Which relays have it is not seen from here. It is the same bytes each time, so they may be given it again.
    fn settle(&self, _: &Executors, _: &ActionRequest, _: &StateWitness, settled: &mut Settled) {
        settled.repeats = true;
    }

    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        let said = "it was interrupted, and every relay was given the same events again";
        settled.repeats.then(|| outcome(act, self, published(act, self), Some(said)))
    }
}

/// Gives it to each relay that the grant names; and whether one that did not take all of it may have some.
fn published(act: &Execution<'_>, publish: &Publish) -> Result<(Published, bool), String> {
    acts::Tool::check(publish)?;
    let (mut came, mut may_have_some) = (Published::default(), false);
    for relay in &publish.relays {
        match given(act, publish, relay) {
            Ok(()) => came.took.push(relay.clone()),
            Err(Undelivered::NotSent(why)) => drop(came.refused.insert(relay.clone(), why)),
            Err(Undelivered::Unknown(why)) => {
                may_have_some = true;
                came.refused.insert(relay.clone(), format!("{why}; it may have some of it"));
            }
        }
    }
    Ok((came, may_have_some))
}

fn given(act: &Execution<'_>, publish: &Publish, relay: &str) -> Result<(), Undelivered> {
    let not_sent = |why: &str| Err(Undelivered::NotSent(why.to_owned()));
    if (act.cancelled)() {
        return not_sent("stopped before it was given anything");
    }
    let url = Publish::server_of(relay).map_err(Undelivered::NotSent)?;
    let host = ResourceId::Host(url.host().to_owned(), url.port());
    act.scope.covers(&host).map_err(|e| Undelivered::NotSent(e.to_string()))?;
    if !act.scope.hosts().contains(&url.server()) {
        return not_sent("the grant does not name this host");
    }
    let mut came = None;
    let sent = crate::change::step(act.executors, Point::CallSend, &RelPath::ROOT, || {
        came = Some(act.executors.relays.publish(relay, &publish.events));
        Ok(())
    });
    match (came, sent) {
        (Some(came), Ok(())) => came,
        (None, Err(error)) => not_sent(&error.to_string()),
        (Some(_), Err(error)) => Err(Undelivered::Unknown(error.to_string())),
        (None, Ok(())) => not_sent("nothing was sent"),
    }
}

fn outcome(
    act: &Execution<'_>,
    publish: &Publish,
    came: Result<(Published, bool), String>,
    note: Option<&str>,
) -> Outcome {
    let Execution { executors, request, started, .. } = act;
    let (mut outputs, mut observed) = (Vec::new(), Vec::new());
    let (result_code, error) = match came {
        Ok((came, may_have_some)) => {
            let shown = |relay: &String| acts::visible(relay);
            let refused: Vec<String> = came
                .refused
                .iter()
                .map(|(relay, why)| format!("{}: {}", shown(relay), acts::visible(why)))
                .collect();
            let took = came.took.iter().map(shown).collect::<Vec<_>>().join(" and ");
            outputs.extend(serde_json::to_vec(&came).ok().map(|bytes| Output {
                kind: ArtifactKind::ActionResult,
                media_type: "application/json".to_owned(),
                bytes,
                about: "which relays took it, and what the others said".to_owned(),
            }));
            if came.took.is_empty() {
                let (code, says) = match may_have_some {
                    true => (ResultCode::UnknownOutcome, "no relay said that it took all of it"),
                    false => (ResultCode::Failed, "no relay took it"),
                };
                observed.push(says.to_owned());
                (code, Some(refused.join("; ")))
            } else {
                observed.push(format!("{took} took it"));
                observed.extend(refused.into_iter().map(|refused| format!("not taken by {refused}")));
                (ResultCode::Succeeded, None)
            }
        }
        Err(why) => {
            observed.push("no relay was given it".to_owned());
            (ResultCode::Failed, Some(acts::visible(&why)))
        }
    };
    observed.extend(note.map(str::to_owned));
    observed.push(format!("the chain up to the link {}", publish.link_sha256));
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs,
        ran: executors.ran("hermit.publish", request, *started),
        sandbox_level: SandboxLevel::NotApplicable,
        observed,
        error,
        kept: Vec::new(),
    }
}
