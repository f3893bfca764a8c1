//! Tokens that are renewed by one at a time, in a vault that may fail, by a process that may end.

use super::*;
use keychain::{MemoryVault, VaultKind};
use testkit::{Answers, Authority, PlainWeb, Server, got};
use toolservers::login::Wanted;

/// A vault that may be told to take nothing.
#[derive(Default)]
struct Moody {
    inside: MemoryVault,
    full: AtomicBool,
}

impl Vault for Moody {
    fn kind(&self) -> VaultKind {
        self.inside.kind()
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), keychain::Error> {
        match self.full.load(Ordering::SeqCst)
            && !String::from_utf8_lossy(bytes).contains("\"renewing\":true")
        {
            true => Err(keychain::Error::Locked { why: "full".to_owned() }),
            false => self.inside.put(name, bytes),
        }
    }

    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, keychain::Error> {
        self.inside.get(name)
    }

    fn delete(&self, name: &str) -> Result<bool, keychain::Error> {
        self.inside.delete(name)
    }
}

struct Stage {
    authority: Authority,
    tools: Server,
    vault: Arc<Moody>,
    logins: Logins,
}

const HANDLE: &str = "login.far";
/// Long after any token was given.
const LATER: Seconds = || 4_000_000_000;

impl Stage {
    fn new() -> Self {
        let authority = Authority::begin();
        let guard = authority.clone();
        let tools = Server::begin(move |heard| {
            guard.guards(heard, || Answers::With(200, Vec::new(), "{}".to_owned()))
        });
        let vault = Arc::new(Moody::default());
        let logins = Self::host(&vault, seconds);
        Self { authority, tools, vault, logins }
    }

    /// A process that holds the store.
    fn host(vault: &Arc<Moody>, now: Seconds) -> Logins {
        let open = Arc::clone(vault);
        let open = Arc::new(move || Ok(Arc::clone(&open) as Arc<dyn Vault>));
        let logins = Logins::over(Arc::new(PlainWeb), open, SecretBook::default(), now);
        let terms = BTreeMap::from([(HANDLE.to_owned(), SecretTerms::at(&["far:1".to_owned()]))]);
        logins.book.learn(terms, Some(Arc::clone(vault) as Arc<dyn Vault>)).expect("it learns");
        logins
    }

    /// A person has logged in.
    fn logged_in() -> Self {
        let stage = Self::new();
        let url: WebUrl = stage.tools.url("/mcp").parse().expect("an address");
        let way = stage.logins.way(ASKING, None);
        let terms = login::discover(&way, &url, &Wanted::default()).expect("it is found");
        let begun = login::begin(&way, &terms, "http://127.0.0.1:9/callback", None).expect("it begins");
        let (head, _) = got(begun.address());
        let back = head.lines().find_map(|line| line.strip_prefix("Location: ")).expect("it leads back");
        let tokens = begun.finish(back).expect("it is given");
        let kept = Kept { terms, tokens, former: None, renewing: false, refused: None };
        stage.logins.write(HANDLE, &kept).expect("it is kept");
        stage
    }

    fn kept(&self) -> Kept {
        self.logins.read(&Gate::default(), HANDLE).expect("it is there")
    }
}

fn text(token: Zeroizing<Vec<u8>>) -> String {
    String::from_utf8(token.to_vec()).expect("text")
}

#[test]
fn ten_calls_at_once_renew_a_token_once() {
    let stage = Stage::logged_in();
    stage.authority.ends_tokens();
    let old = stage.kept().tokens.access.clone();
    // Time has passed since it was given, or nobody would be asked.
    let logins = Stage::host(&stage.vault, || seconds() + 60);
    let all: Vec<String> = std::thread::scope(|scope| {
        let ask = || text(logins.token(HANDLE, Some(old.as_bytes())).expect("a token"));
        let asked: Vec<_> = (0..10).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().expect("it ends")).collect()
    });
    assert_eq!(stage.authority.renewals(), 1);
    assert!(all.iter().all(|token| *token == all[0] && *token != old), "{all:?}");
    // The one before and what comes now are both taken out of every text.
    let said = format!("{old} {} {}", all[0], stage.kept().tokens.refresh.clone().expect("one"));
    let clean = logins.book.redactor().now().text(&said).rest.into_owned();
    assert!(!clean.contains("0123456789abcdef"), "{clean}");
}

#[test]
fn a_token_is_renewed_before_it_ends() {
    let stage = Stage::logged_in();
    let old = stage.kept().tokens.access.clone();
    assert_eq!(text(stage.logins.token(HANDLE, None).expect("a token")), old);
    let fresh = text(Stage::host(&stage.vault, LATER).token(HANDLE, None).expect("a token"));
    assert!(fresh != old && stage.kept().tokens.access == fresh && !stage.kept().renewing);
    // For how long it was given, how long ago, and whether it is taken as it is.
    for (all, ago, fresh) in [
        (Some(3_600), 3_500, true),
        (Some(3_600), 3_571, false),
        (Some(39), 20, true),
        (Some(39), 21, false),
        (Some(0), 0, false),
        (None, 9_999_999, true),
    ] {
        let mut kept = stage.kept();
        (kept.tokens.received_at, kept.tokens.expires_in) = (1_000, all);
        assert_eq!(kept.is_fresh(1_000 + ago), fresh, "{all:?} {ago}");
    }
}

#[test]
fn a_host_that_was_ended_between_answer_and_keeping_leaves_words_and_asks_once() {
    let stage = Stage::logged_in();
    let before = stage.kept();
    Stage::host(&stage.vault, LATER).token(HANDLE, None).expect("it is renewed");
    // As the vault would be, had the process ended before the answer was kept.
    let cut = Kept { renewing: true, ..before };
    stage.logins.write(HANDLE, &cut).expect("it is kept");
    let next = Stage::host(&stage.vault, LATER);
    let why = next.token(HANDLE, None).unwrap_err();
    assert!(why.contains("ended in the middle") && why.contains("hermit tools login far"), "{why}");
    let asked = || stage.authority.heard().iter().filter(|heard| heard.line == "POST /token").count();
    let before = asked();
    for _ in 0..3 {
        let again = next.token(HANDLE, None).unwrap_err();
        assert!(again.contains("hermit tools login far"), "{again}");
    }
    assert_eq!(asked(), before, "nobody is asked again for what was refused");
    assert!(next.stands("far").refused.is_some());
}

#[test]
fn who_gives_tokens_and_is_down_is_asked_again_later_and_nothing_is_lost() {
    let stage = Stage::logged_in();
    stage.authority.is("down");
    let host = Stage::host(&stage.vault, LATER);
    let why = host.token(HANDLE, None).unwrap_err();
    assert!(why.contains("could not be renewed") && why.contains("again"), "{why}");
    let asked = stage.authority.heard().len();
    host.token(HANDLE, None).unwrap_err();
    assert_eq!(stage.authority.heard().len(), asked, "not at once");
    stage.authority.is("good");
    Stage::host(&stage.vault, LATER).token(HANDLE, None).expect("it is renewed by the next");
}

#[test]
fn a_token_that_is_new_and_refused_is_not_renewed_over_and_over() {
    let stage = Stage::logged_in();
    let fresh = stage.kept().tokens.access.clone();
    let why = stage.logins.token(HANDLE, Some(fresh.as_bytes())).unwrap_err();
    assert!(why.contains("given just now"), "{why}");
    assert_eq!(stage.authority.renewals(), 0);
}

#[test]
fn a_renewed_token_that_the_vault_does_not_take_is_used_while_the_process_lives() {
    let stage = Stage::logged_in();
    stage.vault.full.store(true, Ordering::SeqCst);
    let host = Stage::host(&stage.vault, LATER);
    let first = text(host.token(HANDLE, None).expect("a token"));
    assert_ne!(first, stage.kept().tokens.access);
    assert!(!host.book.redactor().now().holds(first.as_bytes()).is_empty(), "and it is seen nowhere");
    stage.vault.full.store(false, Ordering::SeqCst);
    // It is still known what the next one is renewed with.
    let second = text(host.token(HANDLE, None).expect("a token"));
    assert!(second != first && stage.kept().tokens.access == second);
}

#[test]
fn a_token_is_lent_to_calls_of_its_server_alone() {
    use effects::Secrets as _;
    let stage = Stage::logged_in();
    let book = stage.logins.book.clone();
    let lent = crate::lent_secrets::LentSecrets::new(Arc::default(), book, Arc::new(stage.logins));
    let why = lent.value(HANDLE).unwrap_err();
    assert!(why.contains("nothing else"), "{why}");
    assert!(lent.login(HANDLE, None).is_ok());
    assert!(lent.login("login.other", None).unwrap_err().contains("not logged in"));
}

#[test]
fn a_renewed_token_that_cannot_be_kept_out_of_texts_is_not_taken_and_shuts_no_store() {
    let stage = Stage::logged_in();
    let before = stage.kept().tokens.access.clone();
    stage.authority.is("short");
    let why = Stage::host(&stage.vault, LATER).token(HANDLE, None).unwrap_err();
    assert!(why.contains("is over") && why.contains("hermit tools login far"), "{why}");
    assert_eq!(stage.kept().tokens.access, before, "the vault has what it had");
    // As a version before this one would have left it: the store opens all the same.
    let mut short = stage.kept();
    short.tokens.access = "abc".to_owned();
    let bytes = short.bytes().expect("bytes");
    Secrets::new(Arc::clone(&stage.vault) as Arc<dyn Vault>).put(HANDLE, &bytes).expect("it is put");
    Stage::host(&stage.vault, seconds);
}

#[test]
fn a_client_that_is_not_known_any_more_is_told_to_log_in_again() {
    let stage = Stage::logged_in();
    stage.authority.is("forgot the client");
    let why = Stage::host(&stage.vault, LATER).token(HANDLE, None).unwrap_err();
    assert!(why.contains("is over") && why.contains("hermit tools login far"), "{why}");
}

#[test]
fn what_was_set_under_such_a_name_before_there_were_log_ins_is_still_seen_nowhere() {
    let stage = Stage::new();
    let secrets = Secrets::new(Arc::clone(&stage.vault) as Arc<dyn Vault>);
    secrets.put(HANDLE, b"an-old-key-of-a-person").expect("it is put");
    let host = Stage::host(&stage.vault, seconds);
    assert!(!host.book.redactor().now().holds(b"an-old-key-of-a-person").is_empty());
}
