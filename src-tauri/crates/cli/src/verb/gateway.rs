//! `hermit gateway`.

use super::Came;
use super::gateway_log::{messages, senders};
use super::keyring::approval_passphrase;
use super::run::take_up;
use crate::approve::TerminalApproval;
use crate::args::GatewayVerb;
use crate::context::{Context, Signs};
use crate::follow;
use crate::live::Live;
use crate::output::{Output, Tone, table};
use crate::text::{count, plain, time};
use host::Session;
use serde::Serialize;
use wire::gateways::{
    Gateway, Gateways, List, Pair, PairingCode, Pause, Remove, Resume, Senders, Show, Unpair,
};
use wire::{Command, Error, exit};
use words::chat::{GatewayState, SenderProfile, Service};

/// `hermit gateway`.
pub fn gateway(context: &Context, verb: GatewayVerb) -> Came {
    match verb {
        GatewayVerb::Add(args) => super::gateway_add::add(context, *args),
        GatewayVerb::List => {
            let of = |found: &Gateways| found.gateways.iter().find_map(of_service);
            context.out.answer(&context.told(&List {}, of)?, listed)?;
            Ok(exit::DONE)
        }
        GatewayVerb::Show { gateway } => {
            context.out.answer(&context.told(&Show { name: gateway }, of_service)?, shown)?;
            Ok(exit::DONE)
        }
        GatewayVerb::Pause { gateway, reason } => {
            let told =
                format!("{} is paused; what comes and goes waits until you resume it", plain(&gateway));
            changed(context, &Pause { name: gateway, reason }, &told)
        }
        GatewayVerb::Resume { gateway } => {
            let told = format!("{} is resumed", plain(&gateway));
            let resume = |session: &Session| match session.is_attached() {
                true => session.resume_gateway_by(gateway.clone(), &approval_passphrase(context, None)?),
                false => session.call(&Resume { name: gateway.clone(), signed: None }),
            };
            changed_by(context, resume, &told)
        }
        GatewayVerb::Rm { gateway, reason } => {
            let told =
                format!("{} is removed, and nobody is paired with it; its history stays", plain(&gateway));
            changed(context, &Remove { name: gateway, reason }, &told)
        }
        GatewayVerb::Pair { gateway, may } => pair(context, gateway, may.as_deref()),
        GatewayVerb::Senders { gateway } => {
            let found = context.reading()?.call(&Senders { name: gateway })?;
            context.out.answer(&found, senders)?;
            Ok(exit::DONE)
        }
        GatewayVerb::Unpair { gateway, sender, reason } => {
            let told = format!("{} is not paired with {} any more", plain(&sender), plain(&gateway));
            changed(context, &Unpair { name: gateway, sender, reason }, &told)
        }
        GatewayVerb::Messages { gateway, limit, before } => messages(context, gateway, limit, before),
    }
}

/// What only the process that listens knows of a gateway.
fn of_service(gateway: &Gateway) -> Option<&'static str> {
    (gateway.state == GatewayState::Active).then_some("Whether its service answers is not known")
}

/// Asks for a change that needs no yes, and tells it in a line.
fn changed<C: Command>(context: &Context, ask: &C, told: &str) -> Came {
    changed_by(context, |session| session.call(ask), told)
}

fn changed_by<T: Serialize>(
    context: &Context,
    ask: impl FnOnce(&Session) -> Result<T, Error>,
    told: &str,
) -> Came {
    let session = context.writing(Signs::No)?;
    let done = ask(&session);
    session.close();
    context.out.answer(&done?, |out, _| out.line(told))?;
    Ok(exit::DONE)
}

/// A code is told to whoever asked for it, here and nowhere else: also where the person's yes is still to come.
fn pair(context: &Context, gateway: String, may: Option<&str>) -> Came {
    let profile = may.map(str::parse::<SenderProfile>).transpose();
    let profile = profile.map_err(|e| Error::new(wire::Code::Usage, e.to_string()))?;
    let channel = Some("cli".to_owned());
    let session = context.writing(Signs::Yes)?;
    take_up(context, &session);
    let done = paired(context, &session, &Pair { name: gateway, profile, channel, idempotency_key: None });
    session.close();
    done
}

fn paired(context: &Context, session: &Session, ask: &Pair) -> Came {
    let service = session.call(&Show { name: ask.name.clone() })?.service;
    let heard = session.listen();
    let pairing = session.call(ask)?;
    if context.out.is_json() {
        // One document, which holds the code; how its task stands is the exit code.
        let live = Live::new(context, session, &pairing.task_id, heard)?;
        let rest = follow::stay(session, &pairing.task_id, TerminalApproval::take(context), live)?;
        context.out.answer(&pairing, |_, _| {})?;
        return Ok(follow::exit_code(&rest));
    }
    let (code, _) = super::run::stay_with(context, session, &pairing.task_id, heard)?;
    if matches!(code, exit::DONE | exit::WAITING) {
        code_in_words(&context.out, &pairing, service, code == exit::DONE);
    }
    Ok(code)
}

/// The code, what is done with it, for how long, and what it gives.
fn code_in_words(out: &Output, pairing: &PairingCode, service: Service, allowed: bool) {
    out.line("");
    out.whole(Tone::Bold, &format!("      {}", spaced(&plain(&pairing.code))));
    out.line("");
    out.line(how_to_send(service));
    let minutes = count(pairing.minutes as usize, "minute");
    match allowed {
        true => out.line(format!("Whoever sends it first, within {minutes}, is paired.")),
        false => out.say(
            Tone::Warn,
            format!("It counts once you have approved this, for {minutes} from then on. Whoever sends it first is paired."),
        ),
    }
    out.line(may(pairing.profile));
    out.say(Tone::Faint, "It is not shown again. Give it only to the person whom you want to pair.");
}

/// A code as it is read out: in groups of four, with room between its letters.
fn spaced(code: &str) -> String {
    let letters: Vec<char> =
        code.chars().filter(|letter| !letter.is_whitespace() && *letter != '-').collect();
    let group = |four: &[char]| four.iter().map(char::to_string).collect::<Vec<_>>().join(" ");
    letters.chunks(4).map(group).collect::<Vec<_>>().join("  -  ")
}

/// Where a code is sent.
fn how_to_send(service: Service) -> String {
    format!("Send this {}.", service.words().map_or("to Hermit", |words| words.send_to))
}

/// What a sender may do, as a sentence.
const fn may(profile: SenderProfile) -> &'static str {
    match profile {
        SenderProfile::Goals => {
            "They may give goals; what their tasks want to change is asked about as always, and here only. Nobody can approve \
             anything in a chat."
        }
        SenderProfile::Ask => {
            "They may ask; tasks of theirs look at files and change nothing. Nobody can approve anything in a chat."
        }
    }
}

/// How a gateway stands, in a table.
fn stands(one: &Gateway) -> String {
    match one.state {
        GatewayState::Active if one.away.is_some() => "away".to_owned(),
        GatewayState::Paused if one.by_itself => "paused itself".to_owned(),
        state => state.to_string(),
    }
}

fn listed(out: &Output, found: &Gateways) {
    if found.gateways.is_empty() {
        return out.say(
            Tone::Faint,
            "no gateways; `hermit gateway add telegram` lets you write to Hermit from a chat, in which nobody can approve \
             anything",
        );
    }
    let row = |one: &Gateway| {
        let queued = if one.queued == 0 { String::new() } else { one.queued.to_string() };
        vec![plain(&one.name), one.service.name().to_owned(), stands(one), one.senders.to_string(), queued]
    };
    let rows: Vec<Vec<String>> = found.gateways.iter().map(row).collect();
    table(out, &["gateway", "service", "state", "senders", "to be sent"], &rows);
    for one in &found.gateways {
        trouble(out, one, "");
        if one.senders == 0 && one.state == GatewayState::Active {
            let name = plain(&one.name);
            out.say(Tone::Faint, format!("nobody is paired with {name} yet: hermit gateway pair {name}"));
        }
    }
}

/// Why a gateway does not work just now, and what can be done about it.
fn trouble(out: &Output, one: &Gateway, indent: &str) {
    let name = plain(&one.name);
    if let Some(why) = &one.why {
        let stood = if one.by_itself { "paused itself".to_owned() } else { format!("is {}", one.state) };
        out.say(Tone::Warn, format!("{indent}{name} {stood}: {}", plain(why)));
    }
    if let Some(why) = &one.away {
        out.say(Tone::Warn, format!("{indent}{name} cannot reach its service: {}", plain(why)));
    }
    if one.by_itself {
        let again = format!("{indent}  hermit gateway resume {name}, or hermit gateway rm {name}");
        out.say(Tone::Faint, again);
    }
}

fn shown(out: &Output, one: &Gateway) {
    out.say(Tone::Bold, format!("{}, {}: {}", plain(&one.name), stands(one), one.service.name()));
    trouble(out, one, "  ");
    if let Some(address) = &one.address {
        out.line(format!("  at {}", plain(address)));
    }
    if let Some(user) = &one.user {
        out.line(format!("  as {}", plain(user)));
    }
    for (name, value) in &one.settings {
        out.line(format!("  {} is \"{}\"", plain(name), plain(value)));
    }
    out.line(format!("  speaks with {}, with `secret:{}`", plain(&one.hosts.join(", ")), plain(&one.secret)));
    if one.service == Service::Webhook {
        out.line(format!(
            "  takes messages at POST /v1/messages/{}, signed as Standard Webhooks has it: JSON with `sender` and `text`",
            plain(&one.name)
        ));
    }
    out.line(format!("  {} in {}", plain(&one.worker), plain(&one.folder)));
    out.line(format!(
        "  tasks of senders who may give goals have the profile {}; those of the others change nothing",
        one.profile
    ));
    out.line(format!(
        "  {} paired, {}",
        count(one.senders as usize, "sender"),
        match one.queued {
            0 => "nothing waits to be sent".to_owned(),
            1 => "1 message waits to be sent".to_owned(),
            more => format!("{more} messages wait to be sent"),
        }
    ));
    out.say(Tone::Faint, format!("  version {}, since {}", one.version, time(one.since)));
    if one.state == GatewayState::Paused && !one.by_itself {
        out.say(
            Tone::Faint,
            format!("hermit gateway resume {} lets it listen and send again", plain(&one.name)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_shown_in_letters_that_can_be_read_out_however_it_came() {
        assert_eq!(spaced("K7QM2XPD"), "K 7 Q M  -  2 X P D");
        assert_eq!(spaced("K7QM-2XPD"), spaced("K7QM 2XPD"));
        assert_eq!(spaced(""), "");
    }

    #[test]
    fn whoever_pairs_is_told_what_a_sender_may_do_and_that_nobody_approves_in_a_chat() {
        for profile in SenderProfile::ALL {
            assert!(may(*profile).contains("Nobody can approve anything in a chat"), "{profile}");
        }
        assert!(may(SenderProfile::Ask).contains("change nothing"));
        for service in Service::ALL {
            assert!(how_to_send(*service).starts_with("Send this to"), "{service}");
        }
    }
}
