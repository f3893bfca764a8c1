//! Services behind TLS: their certificates are checked against the authorities that are set, and the token goes to none other.

use crate::doubles::{LONG, adapter};
use chat::{Adapter, Fault, Service};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// A server on this machine, its certificate, and what it was told.
struct Server {
    port: u16,
    pem: String,
    told: Arc<Mutex<String>>,
}

/// A server in TLS, which says the first text, and to each line what the function says, where it says something.
fn server(greeting: &'static str, answer: fn(&str) -> Option<&'static str>) -> Server {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let told: Arc<Mutex<String>> = Arc::default();
    let shared = Arc::clone(&told);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let inside = ServerConnection::new(Arc::clone(&config)).unwrap();
            let _ = talk(StreamOwned::new(inside, stream), greeting, answer, &shared);
        }
    });
    Server { port, pem: own.cert.pem(), told }
}

fn talk(
    mut stream: Tls,
    greeting: &str,
    answer: fn(&str) -> Option<&'static str>,
    told: &Mutex<String>,
) -> std::io::Result<()> {
    stream.write_all(greeting.as_bytes())?;
    stream.flush()?;
    let mut lines = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        told.lock().unwrap().push_str(&line);
        if let Some(answer) = answer(&line) {
            lines.get_mut().write_all(answer.as_bytes())?;
            lines.get_mut().flush()?;
        }
    }
}

fn imap_answer(line: &str) -> Option<&'static str> {
    line.contains(" LOGIN ").then_some("a1 NO [AUTHENTICATIONFAILED] no\r\n")
}

fn smtp_answer(line: &str) -> Option<&'static str> {
    Some(if line.starts_with("EHLO") { "250-here\r\n250 AUTH PLAIN\r\n" } else { "535 5.7.8 no\r\n" })
}

fn http_answer(line: &str) -> Option<&'static str> {
    (line == "\r\n").then_some("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// Mail at these two servers, believing these authorities.
fn mail(imap: &Server, smtp: &Server, ca_file: Option<&Path>) -> Box<dyn Adapter> {
    let smtp = format!("smtps://localhost:{}", smtp.port);
    let mut settings = vec![("smtp", smtp.as_str())];
    settings.extend(ca_file.map(|path| ("ca_file", path.to_str().unwrap())));
    adapter(Service::Mail, &format!("imaps://localhost:{}", imap.port), "SECRET", &settings)
}

#[test]
fn a_certificate_is_checked_against_the_authorities_that_are_set() {
    let (imap, smtp) = (server("* OK ready\r\n", imap_answer), server("220 ready\r\n", smtp_answer));
    let http = server("", http_answer);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, format!("{}{}{}", imap.pem, smtp.pem, http.pem)).unwrap();
    let out = crate::doubles::words("kim@example.com,a@b", "x");
    let mut it = mail(&imap, &smtp, Some(&file));
    assert!(matches!(it.poll("", LONG), Err(Fault::Token { .. })));
    assert!(matches!(it.send(&out), Err(Fault::Token { .. })));
    let address = format!("https://localhost:{}", http.port);
    let ca_file = [("ca_file", file.to_str().unwrap())];
    let mut bot = adapter(Service::Telegram, &address, "1:SECRET", &ca_file);
    assert!(matches!(bot.who(), Err(Fault::Token { .. })));
    for told in [&imap.told, &http.told] {
        assert!(told.lock().unwrap().contains("SECRET"));
        told.lock().unwrap().clear();
    }
    smtp.told.lock().unwrap().clear();
    // Of the authorities that come with Hermit, none knows these servers.
    let mut it = mail(&imap, &smtp, None);
    assert!(matches!(it.poll("", LONG), Err(Fault::Away { .. })));
    assert!(matches!(it.send(&out), Err(Fault::Away { .. })));
    let mut bot = adapter(Service::Telegram, &address, "1:SECRET", &[]);
    assert!(matches!(bot.who(), Err(Fault::Away { .. })));
    for told in [&imap.told, &smtp.told, &http.told] {
        assert_eq!(*told.lock().unwrap(), "");
    }
}

#[test]
fn a_file_of_authorities_with_none_in_it_is_no_leave_to_believe_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, "nothing").unwrap();
    let mut account = chat::Account {
        service: Service::Telegram,
        address: String::new(),
        user: String::new(),
        settings: [("ca_file".to_owned(), file.to_str().unwrap().to_owned())].into(),
    };
    let open = |account: &chat::Account| {
        chat::open(account, zeroize::Zeroizing::new("1:SECRET".to_owned())).map(|_| ())
    };
    assert!(open(&account).is_err());
    account.settings.insert("ca_file".to_owned(), folder.path().join("gone").to_str().unwrap().to_owned());
    assert!(open(&account).is_err());
    account.settings.clear();
    assert_eq!(open(&account), Ok(()));
}
