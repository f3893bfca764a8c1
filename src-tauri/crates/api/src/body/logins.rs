//! Log-ins at servers of tools: a proposal to a person, then theirs to make in a browser.

use super::task::{channel, of_submitted};
use crate::caller::sender;
use crate::files::absolute;
use crate::{Host, Wire as _, fold, not_found};
use kernel::logins::LoginRecord;
use model::ingress::Channel;
use model::web::WebUrl;
use wire::task::Submitted;
use wire::tools::{
    LoggedOut, Login, LoginAt, LoginBegin, LoginCancel, LoginList, LoginStands, Logins, Logout,
};
use wire::{Caller, Code, Error};
use words::store::LoginState;

pub(crate) fn login(host: &dyn Host, p: Login) -> Result<Submitted, Error> {
    if host.caller() == Caller::Page && p.url.is_some() {
        let hint = format!("run `hermit tools login {} --url URL` at a terminal", p.server);
        return Err(Error::new(Code::Forbidden, "a page names no address of a server").hint(hint));
    }
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let kernel = host.kernel()?;
    let url = match &p.url {
        Some(url) => url.parse::<WebUrl>().wire()?,
        None => address_of(host, &p.server)?,
    };
    let before = kernel.logins().0.remove(&p.server).map(|record| record.allowed);
    let before = before.filter(|before| before.url == url);
    let mut scopes = p.scopes;
    if let Some(before) = before.as_ref().filter(|_| !scopes.is_empty()) {
        let more = before.scopes.iter().filter(|one| !scopes.contains(one)).cloned().collect::<Vec<_>>();
        scopes.extend(more);
    }
    // Who made a client there once means it the next time as well.
    let (client, secret) = match (&p.client_id, &before) {
        (None, Some(before)) => {
            (before.client_id.clone(), p.client_secret.or_else(|| before.client_secret.clone()))
        }
        _ => (p.client_id, p.client_secret),
    };
    let terms = live(host)?.find(&url, (&scopes, client.as_deref()), secret.as_deref())?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = kernel.propose_login(&p.server, terms, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

/// The address of a server that is registered, or at which a person has logged in before.
fn address_of(host: &dyn Host, server: &str) -> Result<WebUrl, Error> {
    let kernel = host.kernel()?;
    match kernel.server_address(server) {
        Ok(Some(url)) => Ok(url),
        Ok(None) => {
            Err(Error::new(Code::Usage, format!("the server `{server}` is a program; nobody logs in at it")))
        }
        Err(kernel::Error::NotFound { .. }) => {
            let before = kernel.logins().0.remove(server);
            before.map(|record| record.allowed.url).ok_or_else(|| {
                let hint = format!("say where it is: `hermit tools login {server} --url URL`");
                Error::new(Code::NotFound, format!("there is no server `{server}`")).hint(hint)
            })
        }
        Err(error) => Err(error).wire(),
    }
}

pub(crate) fn begin(host: &dyn Host, p: LoginBegin) -> Result<LoginAt, Error> {
    let record = record(host.kernel()?.logins().0.remove(&p.server), &p.server)?;
    let open = record.open(host.now());
    // What waits with terms of before is given up for what was allowed since.
    if open.is_some() || live(host)?.stands(&p.server).address.is_none() {
        let terms = open.ok_or_else(|| {
            Error::new(
                Code::Conflict,
                format!("nobody allowed a log-in at `{}` within the last minutes", p.server),
            )
            .hint(format!("ask for one with `hermit tools login {}`", p.server))
        })?;
        live(host)?.begin(&p.server, terms)?;
    }
    Ok(at(host, &p.server, &record))
}

pub(crate) fn cancel(host: &dyn Host, p: LoginCancel) -> Result<LoginAt, Error> {
    let record = record(host.kernel()?.logins().0.remove(&p.server), &p.server)?;
    live(host)?.cancel(&p.server);
    Ok(at(host, &p.server, &record))
}

pub(crate) fn stands(host: &dyn Host, p: LoginStands) -> Result<LoginAt, Error> {
    let record = record(host.kernel()?.logins().0.remove(&p.server), &p.server)?;
    Ok(at(host, &p.server, &record))
}

pub(crate) fn logout(host: &dyn Host, p: Logout) -> Result<LoggedOut, Error> {
    host.kernel()?;
    let not_revoked = live(host)?.forget(&p.server, sender(host, Channel::Cli))?;
    Ok(LoggedOut { server: p.server, not_revoked })
}

pub(crate) fn list(host: &dyn Host, _: LoginList) -> Result<Logins, Error> {
    let all = fold::store_state(&host.reader()?)?.logins;
    Ok(Logins { logins: all.0.iter().map(|(server, record)| at(host, server, record)).collect() })
}

fn live(host: &dyn Host) -> Result<&dyn crate::Logins, Error> {
    host.logins().ok_or_else(crate::no_host)
}

fn record(record: Option<LoginRecord>, server: &str) -> Result<LoginRecord, Error> {
    record.ok_or_else(|| not_found("log-in", server))
}

fn at(host: &dyn Host, server: &str, record: &LoginRecord) -> LoginAt {
    let stands = host.logins().map(|logins| logins.stands(server)).unwrap_or_default();
    let is_open = record.open(host.now()).is_some();
    let (state, why) = match (&record.logged_in, stands.refused) {
        _ if stands.address.is_some() => (LoginState::Waiting, None),
        // What was allowed a moment ago goes on, whatever there was before.
        _ if is_open => (LoginState::Allowed, stands.why),
        (Some(_), Some(why)) => (LoginState::Refused, Some(why)),
        (Some(_), None) => (LoginState::LoggedIn, stands.why),
        (None, _) => (LoginState::LoggedOut, stands.why),
    };
    let terms = record.logged_in.as_ref().map_or(&record.allowed, |logged_in| &logged_in.terms);
    LoginAt {
        server: server.to_owned(),
        url: terms.url.to_string(),
        issuer: terms.issuer.clone(),
        host: terms.authorization.server(),
        scopes: record
            .logged_in
            .as_ref()
            .map_or(&record.allowed.scopes, |logged_in| &logged_in.scopes)
            .clone(),
        state,
        why,
        address: stands.address,
        until: stands.until.map(|until| until.0),
        since: record.logged_in.as_ref().map(|logged_in| logged_in.since.0),
        expires_at: record.logged_in.as_ref().and_then(|logged_in| logged_in.expires_at).map(|at| at.0),
        next: host
            .kernel()
            .is_ok_and(|kernel| kernel.is_unsigned(server))
            .then(|| format!("hermit tools add {server} --url {}", terms.url)),
    }
}
