//! Log-ins of a store that this process holds, as commands ask for them.

use super::Local;
use crate::{Error, SystemClock};
use api::LoginStands;
use kernel::sender::Sender;
use model::Clock as _;
use model::login::LoginTerms;
use model::web::WebUrl;
use toolservers::login::Wanted;

impl api::Logins for Local {
    fn find(
        &self,
        url: &WebUrl,
        (scopes, client): (&[String], Option<&str>),
        client_secret: Option<&str>,
    ) -> Result<LoginTerms, wire::Error> {
        if self.keys.vault().is_none() {
            let why = format!("there is nowhere to keep a log-in: {}", self.keys.why_locked());
            return Err(wire::Error::new(wire::Code::KeyLocked, why));
        }
        let own = |text: Option<&str>| text.map(str::to_owned);
        let wanted =
            Wanted { scopes: scopes.to_vec(), client_id: own(client), client_secret: own(client_secret) };
        self.logins.discover(url, &wanted).map_err(failed)
    }

    fn begin(&self, server: &str, terms: &LoginTerms) -> Result<(), wire::Error> {
        let kernel = &self.owned()?.kernel;
        self.logins.begin(kernel, server, terms, SystemClock.now()).map_err(failed)
    }

    fn cancel(&self, server: &str) -> bool {
        self.logins.cancel(server)
    }

    fn forget(&self, server: &str, by: Sender) -> Result<Option<String>, wire::Error> {
        self.logins.forget(&self.owned()?.kernel, server, by).map_err(Error::to_wire)
    }

    fn stands(&self, server: &str) -> LoginStands {
        self.logins.stands(server)
    }
}

fn failed(why: String) -> wire::Error {
    wire::Error::new(wire::Code::Failed, why)
}
