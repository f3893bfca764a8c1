//! Log-ins at servers of tools: allowed by a person on a card, made by them in a browser, on record without a secret
//! (tools.md 2).

use super::submit::Submitted;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::logins::Logins;
use crate::sender::Sender;
use acts::Register;
use model::body::{SecretRegistered, SecretRemoved, ToolLoggedIn, ToolLoggedOut};
use model::fault::Point;
use model::ingress::Channel;
use model::login::{LoginTerms, login_handle};
use model::principal::PrincipalType;
use model::tool_server::check_server_name;
use model::web::WebUrl;
use model::{Body, UnixMs};
use std::path::Path;

impl Kernel {
    /// Makes the task that asks a person whether to log in with these terms. Nothing is begun by this.
    ///
    /// # Errors
    /// [`Error::Input`] when the terms cannot be meant; [`Error::Conflict`] when the name is that of another server.
    pub fn propose_login(
        &self,
        server: &str,
        terms: LoginTerms,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        self.may_log_in(server, &terms)?;
        let was = self.logins().0.remove(server).map(|record| Box::new(record.allowed));
        let change = Register::Login { server: server.to_owned(), terms: Box::new(terms), was };
        let workspace_id = self.workspace(root)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Where a server is registered: its address, where it has one.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the server.
    pub fn server_address(&self, server: &str) -> Result<Option<WebUrl>, Error> {
        let url = self.registered(&self.server_record(server)?)?.launch.url.clone();
        url.map(|url| url.parse().map_err(Error::from)).transpose()
    }

    /// A log-in is for the server that has the name, or will have it, and for the secret of a client that there is.
    pub(super) fn may_log_in(&self, server: &str, terms: &LoginTerms) -> Result<(), Error> {
        check_server_name(server).map_err(Error::Input)?;
        match self.server_address(server) {
            Ok(Some(url)) if url == terms.url => {}
            Err(Error::NotFound { .. }) => {}
            Ok(Some(url)) => {
                return Err(Error::Conflict(format!(
                    "the server `{server}` is at `{url}`, not at `{}`",
                    terms.url
                )));
            }
            Ok(None) => {
                return Err(Error::Conflict(format!(
                    "the server `{server}` is a program; nobody logs in at it"
                )));
            }
            Err(error) => return Err(error),
        }
        let Some(handle) = &terms.client_secret else { return Ok(()) };
        match self.secrets().get(handle) {
            None => Err(Error::Input(format!(
                "there is no `secret:{handle}`; set it with `hermit secret set {handle} --host {}`",
                terms.token.server()
            ))),
            Some(known) if !known.hosts.contains(&terms.token.server()) => Err(Error::Input(format!(
                "`secret:{handle}` may not go to {}; set it with `hermit secret set {handle} --host {0}`",
                terms.token.server()
            ))),
            Some(_) => Ok(()),
        }
    }

    /// Records that a person has logged in: the handle of the tokens, where they may go, and what was said of them.
    ///
    /// # Errors
    /// [`Error::Conflict`] when nobody allowed it with these terms, and when the redactor does not know the tokens.
    pub fn logged_in(
        &self,
        server: &str,
        terms: &LoginTerms,
        scopes: Vec<String>,
        (expires_at, kept_in): (Option<UnixMs>, &str),
    ) -> Result<(), Error> {
        let record = self.logins().0.remove(server);
        let record =
            record.ok_or_else(|| Error::Conflict(format!("nobody allowed a log-in at `{server}`")))?;
        if record.used || record.allowed != *terms {
            return Err(Error::Conflict(format!("another log-in at `{server}` was allowed meanwhile")));
        }
        let handle = login_handle(server);
        if !self.ports.redactor.now().handles().contains(&handle) {
            return Err(Error::Conflict(format!("nobody here knows the tokens of `{server}`")));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, self.session.clone(), None)?;
        let hosts = vec![record.allowed.url.server()];
        w.push(SecretRegistered { handle, hosts, kept_in: kept_in.to_owned() });
        let logged_in_at = self.ports.clock.now();
        let (server, issuer) = (server.to_owned(), record.allowed.issuer);
        w.push(ToolLoggedIn { server, issuer, scopes, expires_at, logged_in_at });
        self.commit(w)?;
        Ok(())
    }

    /// Records that the tokens of a server are forgotten. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without a log-in.
    pub fn logged_out(&self, server: &str, by: impl Into<Sender>) -> Result<(), Error> {
        let record = self.logins().0.remove(server).filter(|record| record.logged_in.is_some());
        if record.is_none() {
            return Err(Error::NotFound { kind: "log-in", id: server.to_owned() });
        }
        let actor = self.principal_of(by.into())?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, format!("tools:{server}"), None)?;
        let handle = login_handle(server);
        if self.secrets().contains_key(&handle) {
            w.push(Body::from(SecretRemoved { handle }));
        }
        w.push(ToolLoggedOut { server: server.to_owned(), logged_out_at: self.ports.clock.now() });
        self.commit(w)?;
        Ok(())
    }

    /// Whether a person has logged in at a server whose calls are not signed with that: it was not added, or before.
    pub fn is_unsigned(&self, server: &str) -> bool {
        let launch =
            self.server_record(server).and_then(|record| Ok(self.registered(&record)?.launch.clone()));
        let is_in = self.logins().0.remove(server).is_some_and(|record| record.logged_in.is_some());
        let handle = login_handle(server);
        is_in && !launch.is_ok_and(|launch| launch.secrets.values().any(|named| *named == handle))
    }

    /// Log-ins as they are now.
    pub fn logins(&self) -> Logins {
        lock(&self.store).logins.clone()
    }

    /// The handle of the tokens with which a server at this address is called, where a person has logged in there.
    pub(super) fn login_at(&self, server: &str, url: &str) -> Option<String> {
        let record = self.logins().0.remove(server)?;
        (record.logged_in?.terms.url.to_string() == url).then(|| login_handle(server))
    }
}
