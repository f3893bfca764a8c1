//! Log-ins at servers of tools as the store's own stream tells them: what a person allowed, and whether they are logged in.

use model::UnixMs;
use model::body::Body;
use model::login::{LOGIN_OPEN, LoginTerms};
use std::collections::BTreeMap;

/// A log-in that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// What the token allows, as whoever gave it says.
    pub scopes: Vec<String>,
    /// When the first token ended; it is renewed.
    pub expires_at: Option<UnixMs>,
    /// Since when.
    pub since: UnixMs,
    /// What was allowed for it.
    pub terms: LoginTerms,
}

/// What is known of the log-in at one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginRecord {
    /// What a person allowed last.
    pub allowed: LoginTerms,
    /// When.
    pub allowed_at: UnixMs,
    /// Whether the yes was used.
    pub used: bool,
    /// Whether they are logged in.
    pub logged_in: Option<LoggedIn>,
}

impl LoginRecord {
    /// The terms with which a log-in may be begun now: a yes is for one of them, and not for long.
    pub fn open(&self, now: UnixMs) -> Option<&LoginTerms> {
        let until =
            self.allowed_at.0.saturating_add(i64::try_from(LOGIN_OPEN.as_millis()).unwrap_or(i64::MAX));
        (!self.used && now.0 <= until).then_some(&self.allowed)
    }
}

/// Log-ins by server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logins(pub BTreeMap<String, LoginRecord>);

impl Logins {
    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::ToolLoginAllowed(b) => {
                let logged_in = self.0.remove(&b.server).and_then(|record| record.logged_in);
                let (allowed, allowed_at) = (b.terms.clone(), b.allowed_at);
                self.0.insert(b.server.clone(), LoginRecord { allowed, allowed_at, used: false, logged_in });
            }
            Body::ToolLoggedIn(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    record.used = true;
                    record.logged_in = Some(LoggedIn {
                        scopes: b.scopes.clone(),
                        expires_at: b.expires_at,
                        since: b.logged_in_at,
                        terms: record.allowed.clone(),
                    });
                }
            }
            Body::ToolLoggedOut(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    (record.used, record.logged_in) = (true, None);
                }
            }
            _ => {}
        }
    }
}
