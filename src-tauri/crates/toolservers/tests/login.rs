//! A log-in from end to end, against a server that gives tokens and is strict, and against such ones as misbehave: each is a
//! clear sentence, and nothing is sent where it has no business.

#![allow(clippy::expect_used, reason = "a test that fails here says so")]

use model::login::LoginTerms;
use model::web::WebUrl;
use std::sync::Arc;
use std::time::Duration;
use testkit::{Answers, Authority, PlainWeb, Server, got};
use toolservers::Way;
use toolservers::login::{self, NotRenewed, Tokens, Wanted};

const BACK: &str = "http://127.0.0.1:9/callback";

struct Stage {
    authority: Authority,
    tools: Server,
    way: Way,
}

impl Stage {
    fn new() -> Self {
        let authority = Authority::begin();
        let guard = authority.clone();
        let tools = Server::begin(move |heard| {
            guard.guards(heard, || Answers::With(200, Vec::new(), "{}".to_owned()))
        });
        let way =
            Way { web: Arc::new(PlainWeb), stopped: Arc::new(|| false), within: Duration::from_secs(10) };
        Self { authority, tools, way }
    }

    fn url(&self) -> WebUrl {
        self.tools.url("/mcp").parse().expect("an address")
    }

    fn found(&self) -> Result<LoginTerms, String> {
        login::discover(&self.way, &self.url(), &Wanted::default())
    }

    /// Where the browser is led back to, whole.
    fn back(&self, terms: &LoginTerms) -> (login::Begun, String) {
        let begun = login::begin(&self.way, terms, BACK, None).expect("it begins");
        let (head, _) = got(begun.address());
        let callback = head.lines().find_map(|line| line.strip_prefix("Location: ")).expect("it leads back");
        (begun, callback.to_owned())
    }

    fn tokens(&self, terms: &LoginTerms) -> Result<Tokens, String> {
        let (begun, callback) = self.back(terms);
        assert!(begun.is_of(&callback));
        begun.finish(&callback)
    }
}

#[test]
fn a_log_in_is_found_allowed_made_renewed_and_taken_back() {
    let stage = Stage::new();
    let terms = stage.found().expect("it is found");
    assert_eq!(terms.issuer, stage.authority.issuer());
    assert_eq!(
        (terms.resource.as_str(), terms.scopes.as_slice()),
        (&*stage.tools.url("/mcp"), &["notes:read".to_owned()][..])
    );
    assert!(terms.names_issuer && terms.registration.is_some() && terms.revocation.is_some());
    let tokens = stage.tokens(&terms).expect("it is given");
    assert_eq!((tokens.expires_in, tokens.scopes.as_slice()), (Some(3600), &["notes:read".to_owned()][..]));
    assert_eq!(format!("{tokens:?}"), "Tokens");
    let renewed = login::renew(&stage.way, &terms, &tokens, None).expect("it is renewed");
    assert!(renewed.access != tokens.access && renewed.refresh != tokens.refresh);
    // What it is for is sent each time, word for word; what it was renewed with is sent once.
    let sent: Vec<String> = stage.authority.heard().into_iter().map(|heard| heard.body).collect();
    let named = |text: &str| sent.iter().filter(|body| body.contains(text)).count();
    assert_eq!(named("resource=http%3A%2F%2F127.0.0.1"), 2, "{sent:?}");
    // A second time it is refused, and the answer says that it stays so.
    let again = login::renew(&stage.way, &terms, &tokens, None);
    assert!(matches!(&again, Err(NotRenewed::Refused(why)) if why.contains("invalid_grant")), "{again:?}");
    login::revoke(&stage.way, &terms, &renewed, None).expect("it is taken back");
    assert!(stage.authority.heard().last().is_some_and(|heard| heard.line == "POST /revoke"));
}

#[test]
fn what_came_back_has_to_belong_to_the_log_in_and_to_name_who_sent_it() {
    let stage = Stage::new();
    let terms = stage.found().expect("it is found");
    let (begun, callback) = stage.back(&terms);
    assert!(!begun.is_of(&callback.replace("state=", "state=x")));
    assert!(!begun.is_of(BACK));
    let why = begun.finish(&callback.replace("&iss=", "&other=")).unwrap_err();
    assert!(why.contains("has to be named"), "{why}");
    stage.authority.is("another sender");
    let why = stage.tokens(&terms).unwrap_err();
    assert!(why.contains("another issuer") && why.contains("elsewhere.example"), "{why}");
    stage.authority.is("says no");
    let why = stage.tokens(&terms).unwrap_err();
    assert!(why.contains("refused there"), "{why}");
    let asked = stage.authority.heard().into_iter().filter(|heard| heard.line == "POST /token").count();
    assert_eq!(asked, 0, "no code was given away");
}

#[test]
fn who_gives_tokens_and_misbehaves_is_told_of_in_a_sentence() {
    for (mode, word) in [
        ("another issuer", "another issuer"),
        ("in the clear", "not encrypted"),
        ("no clients", "--client-id"),
        ("no proof", "S256"),
        ("in circles", "cannot be read"),
        ("floods", "more than"),
        ("silent", "does not answer"),
    ] {
        let mut stage = Stage::new();
        stage.authority.is(mode);
        stage.way.within = Duration::from_secs(2);
        let why = stage.found().expect_err(mode);
        assert!(why.contains(word), "{mode}: {why}");
    }
    for (mode, word) in [
        ("down", "no token was given"),
        ("hangs up", "does not answer"),
        ("moved", "not followed"),
        ("for another", "invalid_grant"),
        ("of another kind", "dpop"),
    ] {
        let stage = Stage::new();
        let terms = stage.found().expect("it is found");
        stage.authority.is(mode);
        let why = stage.tokens(&terms).expect_err(mode);
        assert!(why.contains(word), "{mode}: {why}");
    }
}

#[test]
fn a_token_without_an_end_and_a_client_of_ones_own_are_taken_as_they_are() {
    let stage = Stage::new();
    stage.authority.is("without an end");
    let wanted =
        Wanted { scopes: vec!["a".to_owned()], client_id: Some("mine".to_owned()), client_secret: None };
    let terms = login::discover(&stage.way, &stage.url(), &wanted).expect("it is found");
    assert_eq!((terms.registration.as_ref(), terms.scopes.as_slice()), (None, &["a".to_owned()][..]));
    let tokens = stage.tokens(&terms).expect("it is given");
    assert_eq!((tokens.expires_in, tokens.client_id.as_str()), (None, "mine"));
    assert!(!stage.authority.heard().iter().any(|heard| heard.line == "POST /register"));
}

#[test]
fn nobody_is_asked_but_whom_a_person_has_allowed() {
    let stage = Stage::new();
    let terms = stage.found().expect("it is found");
    let tokens = stage.tokens(&terms).expect("it is given");
    // Terms of which a place was changed after they were allowed: it is another host than the card had.
    let other = Authority::begin();
    let mut moved = terms.clone();
    moved.token = format!("{}/token", other.issuer()).parse().expect("an address");
    let came = login::renew(
        &stage.way,
        &LoginTerms { url: "https://far.example/mcp".parse().expect("an address"), ..moved },
        &tokens,
        None,
    );
    assert!(matches!(&came, Err(NotRenewed::Failed(why)) if why.contains("on this machine")), "{came:?}");
    assert!(other.heard().is_empty(), "a token stays on its way");
}

#[test]
fn a_server_that_says_nothing_of_tokens_is_told_of_as_such() {
    let stage = Stage::new();
    let silent = Server::begin(|_| Answers::With(404, Vec::new(), String::new()));
    let url: WebUrl = silent.url("/mcp").parse().expect("an address");
    let why = login::discover(&stage.way, &url, &Wanted::default()).unwrap_err();
    assert!(why.contains("does not say who gives tokens"), "{why}");
}
