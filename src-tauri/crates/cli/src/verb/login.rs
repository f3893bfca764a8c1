//! `hermit tools login`, `logout` and `logins`: a person's log-ins at servers of tools.

use super::Came;
use super::run::{stay_with, take_up};
use super::tools::absolute;
use crate::args::ToolsLogin;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::plain;
use host::{Interrupts, Session};
use std::time::Duration;
use wire::tools::{
    LoggedOut, Login, LoginAt, LoginBegin, LoginCancel, LoginList, LoginStands, Logins, Logout,
};
use wire::{Code, Error, exit};
use words::store::LoginState;

/// How often it is looked whether the person came back from their browser.
const TICK: Duration = Duration::from_millis(250);

/// `hermit tools login`.
pub(super) fn login(context: &Context, args: ToolsLogin) -> Came {
    let session = context.writing(Signs::Yes)?;
    let done = logged_in(context, &session, args);
    session.close();
    done
}

fn logged_in(context: &Context, session: &Session, args: ToolsLogin) -> Came {
    take_up(context, session);
    let server = args.server.clone();
    // A yes of a moment ago is used; other words are another log-in.
    let says_more = args.url.is_some() || !args.scope.is_empty() || args.client_id.is_some();
    let found = find(session, &server)?;
    let is_allowed =
        found.as_ref().is_some_and(|at| matches!(at.state, LoginState::Allowed | LoginState::Waiting));
    if says_more || !is_allowed {
        let heard = session.listen();
        let login = Login {
            server: args.server,
            url: args.url,
            scopes: args.scope.iter().flat_map(|all| all.split_whitespace()).map(str::to_owned).collect(),
            client_id: args.client_id,
            client_secret: args.client_secret,
            workspace: absolute(&args.workspace)?,
            channel: Some("cli".to_owned()),
            idempotency_key: None,
        };
        let submitted = session.call(&login)?;
        let (code, _) = stay_with(context, session, &submitted.task_id, heard)?;
        if code != exit::DONE {
            return Ok(code);
        }
    }
    let began = session.call(&LoginBegin { server: server.clone() })?;
    told(context, &began)?;
    let came = waited_for(session, &server)?;
    context.out.stream(&came)?;
    context
        .out
        .say(Tone::Plain, format!("You are logged in at {}, for: {}.", plain(&came.server), scopes(&came)));
    if let Some(next) = &came.next {
        context.out.line(format!("Next: {}", plain(next)));
    }
    Ok(exit::DONE)
}

/// Says where the person goes, and goes there where `hermit open` would.
fn told(context: &Context, began: &LoginAt) -> Result<(), Error> {
    context.out.stream(began)?;
    let Some(address) = &began.address else { return Ok(()) };
    context
        .out
        .line(format!("Open this in a browser on this machine, and log in at {}:", plain(&began.host)));
    context.out.whole(Tone::Plain, &plain(address));
    context.out.say(Tone::Faint, "Hermit waits for ten minutes. Ctrl-C gives up.");
    super::serve::browse(context, address);
    Ok(())
}

fn waited_for(session: &Session, server: &str) -> Result<LoginAt, Error> {
    let interrupts = Interrupts::watch();
    loop {
        let at = session.call(&LoginStands { server: server.to_owned() })?;
        match at.state {
            LoginState::Waiting if interrupts.pressed() => {
                session.call(&LoginCancel { server: server.to_owned() })?;
                return Err(again(server, "it was cancelled"));
            }
            LoginState::Waiting => std::thread::park_timeout(TICK),
            LoginState::LoggedIn if at.why.is_none() => return Ok(at),
            _ => return Err(again(server, at.why.as_deref().unwrap_or("it was ended"))),
        }
    }
}

fn again(server: &str, why: &str) -> Error {
    Error::new(Code::Failed, format!("you are not logged in at `{server}`: {why}"))
        .hint(format!("try again with `hermit tools login {server}`"))
}

fn find(session: &Session, server: &str) -> Result<Option<LoginAt>, Error> {
    Ok(session.call(&LoginList {})?.logins.into_iter().find(|at| at.server == server))
}

fn scopes(at: &LoginAt) -> String {
    if at.scopes.is_empty() { "whatever it decides".to_owned() } else { plain(&at.scopes.join(", ")) }
}

/// `hermit tools logout`.
pub(super) fn logout(context: &Context, server: String) -> Came {
    let session = context.writing(Signs::No)?;
    let left = session.call(&Logout { server });
    session.close();
    context.out.answer(&left?, |out, left: &LoggedOut| {
        out.line(format!("You are logged out of {}; its token is forgotten here.", plain(&left.server)));
        match &left.not_revoked {
            None => out.line("It was taken back where it came from, too."),
            Some(why) => out.say(
                Tone::Warn,
                format!(
                    "It was not taken back where it came from, and is valid there until it ends: {}",
                    plain(why)
                ),
            ),
        }
    })?;
    Ok(exit::DONE)
}

/// `hermit tools logins`.
pub(super) fn list(context: &Context) -> Came {
    let of = |listed: &Logins| {
        let is_in = |at: &LoginAt| at.state == LoginState::LoggedIn;
        listed.logins.iter().any(is_in).then_some("Whether a token is still renewed is not known")
    };
    let listed = context.told(&LoginList {}, of)?;
    context.out.answer(&listed, |out: &Output, listed: &Logins| {
        if listed.logins.is_empty() {
            out.say(Tone::Faint, "no log-ins; `hermit tools login NAME --url URL` makes one");
        }
        for at in &listed.logins {
            let state = at.state.to_string().replace('_', " ");
            out.line(format!(
                "{}: {state}, at {} with {}",
                plain(&at.server),
                plain(&at.url),
                plain(&at.host)
            ));
            out.line(format!("  for: {}", scopes(at)));
            if let Some(why) = &at.why {
                out.say(
                    Tone::Warn,
                    format!("  {}; type `hermit tools login {}`", plain(why), plain(&at.server)),
                );
            }
        }
    })?;
    Ok(exit::DONE)
}
