//! Mail: what servers say and take.

use crate::doubles::{LONG, adapter, words};
use chat::{Adapter, Attachment, Fault, Incoming, OutFile, Outgoing, Service};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A mailbox, and what was sent.
#[derive(Default)]
struct Mails {
    validity: u32,
    mails: Vec<(u32, String)>,
    /// `INTERNALDATE` of every mail.
    came: String,
    said: Vec<String>,
    sent: Vec<String>,
    /// What the server for sending says behind a mail; nothing hangs up.
    taken: Option<&'static str>,
    /// The end of what is said about one mail.
    is_cut: bool,
}

type Shared = Arc<Mutex<Mails>>;

fn serve(shared: &Shared, talk: fn(&TcpStream, &Shared) -> Option<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || talk(&stream, &shared));
        }
    });
    port
}

fn line(lines: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|n| *n > 0)?;
    Some(line.trim_end().to_owned())
}

fn imap(stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut out = stream;
    let mut lines = BufReader::new(stream);
    out.write_all(b"* OK ready\r\n").ok()?;
    loop {
        let said = line(&mut lines)?;
        let (tag, command) = said.split_once(' ')?;
        let mut it = shared.lock().unwrap();
        it.said.push(command.to_owned());
        let next = it.mails.last().map_or(1, |(number, _)| number + 1);
        let mut answer = String::new();
        let mut end = "OK done";
        let wanted: Vec<&str> = command.split(' ').collect();
        match wanted.as_slice() {
            ["LOGIN", _, password] if *password != "\"SECRET pass\"" && *password != "pass\"" => {
                end = "NO [AUTHENTICATIONFAILED] wrong SECRET pass";
            }
            ["EXAMINE", ..] => {
                answer = format!(
                    "* {} EXISTS\r\n* OK [UIDVALIDITY {}] v\r\n* OK [UIDNEXT {next}] n\r\n",
                    it.mails.len(),
                    it.validity
                );
            }
            ["UID", "SEARCH", "UID", range] => {
                let from: u32 = range.trim_end_matches(":*").parse().unwrap();
                let mut found: Vec<u32> =
                    it.mails.iter().map(|(number, _)| *number).filter(|number| *number >= from).collect();
                // The last one belongs to a range that ends with `*`, wherever that begins.
                found.extend(it.mails.last().map(|(number, _)| *number));
                found.dedup();
                let found: Vec<String> = found.iter().map(u32::to_string).collect();
                answer = format!("* SEARCH {}\r\n", found.join(" "));
            }
            ["UID", "SEARCH", "SINCE", _] => {
                let found: Vec<String> = it.mails.iter().map(|(number, _)| number.to_string()).collect();
                answer = format!("* SEARCH {}\r\n", found.join(" "));
            }
            ["UID", "FETCH", set, ..] => {
                let set: Vec<u32> = set.split(',').map(|number| number.parse().unwrap()).collect();
                for (at, (number, raw)) in it.mails.iter().enumerate().filter(|(_, (n, _))| set.contains(n)) {
                    let what = match command.contains("BODY") {
                        true => format!("BODY[] {{{}}}\r\n{raw}", raw.len()),
                        false => format!("RFC822.SIZE {} INTERNALDATE \"{}\"", raw.len(), it.came),
                    };
                    answer.push_str(&format!("* {} FETCH (UID {number} {what})\r\n", at + 1));
                }
                if it.is_cut && command.contains("BODY") {
                    out.write_all(answer.get(..answer.len() / 2)?.as_bytes()).ok()?;
                    return None;
                }
            }
            _ => {}
        }
        drop(it);
        out.write_all(format!("{answer}{tag} {end}\r\n").as_bytes()).ok()?;
    }
}

fn smtp(stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut out = stream;
    let mut lines = BufReader::new(stream);
    out.write_all(b"220 ready\r\n").ok()?;
    loop {
        let said = line(&mut lines)?;
        let answer = match said.split([' ', ':']).next()? {
            "EHLO" => "250-here\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n",
            "AUTH" if said.ends_with("AGJvdEBleGFtcGxlLm9yZwBTRUNSRVQgcGFzcw==") => "235 yes\r\n",
            "AUTH" => "535 5.7.8 wrong SECRET pass\r\n",
            "RCPT" if said.contains("nobody@") => "550 no such user\r\n",
            "RCPT" if said.contains("later@") => "451 greylisted\r\n",
            "DATA" => {
                out.write_all(b"354 go on\r\n").ok()?;
                let mut mail = String::new();
                while !mail.ends_with("\r\n.\r\n") {
                    let mut byte = [0];
                    lines.read_exact(&mut byte).ok()?;
                    mail.push(char::from(byte[0]));
                }
                let mut it = shared.lock().unwrap();
                it.sent.push(mail);
                it.taken?
            }
            _ => "250 ok\r\n",
        };
        out.write_all(answer.as_bytes()).ok()?;
    }
}

fn mailbox(mails: Vec<(u32, String)>) -> Shared {
    Arc::new(Mutex::new(Mails {
        validity: 7,
        mails,
        came: "14-Nov-2023 22:13:20 +0000".to_owned(),
        taken: Some("250 taken\r\n"),
        ..Mails::default()
    }))
}

fn open(shared: &Shared, password: &str) -> Box<dyn Adapter> {
    let (imap, smtp) = (serve(shared, imap), serve(shared, smtp));
    let settings =
        [("smtp", format!("smtp://127.0.0.1:{smtp}")), ("authserv_id", "mx.example.org".to_owned())];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    adapter(Service::Mail, &format!("imap://127.0.0.1:{imap}"), password, &settings)
}

const PASS: &str = "SECRET pass";

/// A mail from Kim, for whom the server vouches.
fn mail(number: u32, head: &str, body: &str) -> (u32, String) {
    let raw = format!(
        "Authentication-Results: mx.example.org; dmarc=pass header.from=example.com\r\nFrom: Kim Lee <Kim@Example.com>\r\n\
         To: bot@example.org\r\nSubject: Goal {number}\r\nMessage-ID: <m{number}@example.com>\r\n{head}\r\n{body}\r\n"
    );
    (number, raw)
}

fn poll(it: &mut dyn Adapter, cursor: &str) -> Vec<Incoming> {
    it.poll(cursor, LONG).unwrap().incoming
}

#[test]
fn what_stands_there_is_not_new_and_what_comes_is_read_once() {
    let shared = mailbox((1..=3).map(|n| mail(n, "", "old")).collect());
    let mut it = open(&shared, PASS);
    let first = it.poll("", LONG).unwrap();
    assert_eq!(first.incoming.len(), 0);
    shared.lock().unwrap().mails.push(mail(4, "", "new words"));
    let second = it.poll(&first.cursor, LONG).unwrap();
    let one = &second.incoming[0];
    assert_eq!((second.incoming.len(), one.text.as_str()), (1, "Goal 4\n\nnew words"));
    assert_eq!(
        (one.message_id.as_str(), one.chat.as_str()),
        ("m4@example.com", "kim@example.com,m4@example.com")
    );
    assert_eq!((one.sender.as_str(), one.sender_name.as_str()), ("kim@example.com", "Kim Lee"));
    assert_eq!((one.sent_at, one.is_group, &one.reply_to), (1_700_000_000_000, false, &None));
    assert_eq!(poll(it.as_mut(), &first.cursor), second.incoming);
    // Nothing is marked as read or changed in any other way.
    let said = shared.lock().unwrap().said.join("\n");
    assert!(!said.contains("SELECT") && said.contains("BODY.PEEK[]"), "{said}");
}

#[test]
fn more_mails_than_a_poll_gives_come_in_several() {
    let shared = mailbox((1..=230).map(|n| mail(n, "", "words")).collect());
    let mut it = open(&shared, PASS);
    let (mut cursor, mut ids) = ("7:1:0".to_owned(), Vec::new());
    for expected in [100, 100, 30] {
        let polled = it.poll(&cursor, LONG).unwrap();
        assert_eq!(polled.incoming.len(), expected);
        ids.extend(polled.incoming.into_iter().map(|message| message.message_id));
        cursor = polled.cursor;
    }
    assert_eq!(ids, (1..=230).map(|n| format!("m{n}@example.com")).collect::<Vec<_>>());
    assert!(cursor.starts_with("7:231:"), "{cursor}");
}

#[test]
fn a_mailbox_that_was_numbered_anew_is_read_by_time() {
    let shared = mailbox((1..=3).map(|n| mail(n, "", "words")).collect());
    let mut it = open(&shared, PASS);
    let polled = it.poll("6:900:1700000000000", LONG).unwrap();
    assert_eq!((polled.incoming.len(), polled.cursor.starts_with("7:4:")), (3, true));
    assert!(shared.lock().unwrap().said.iter().any(|said| said == "UID SEARCH SINCE 13-Nov-2023"));
    assert_eq!(poll(it.as_mut(), "6:900:1700000000001").len(), 0);
    assert!(matches!(it.poll("s1", LONG), Err(Fault::Refused { .. })));
}

#[test]
fn a_sender_whom_the_server_does_not_vouch_for_is_marked() {
    let of = |head: &str| (1, format!("{head}\r\nMessage-ID: <x@y>\r\n\r\nhello\r\n"));
    for (head, sender) in [
        ("From: kim@example.com", Some("unverified:kim@example.com")),
        (
            "Authentication-Results: evil.org; dmarc=pass header.from=example.com\r\nFrom: kim@example.com",
            Some("unverified:kim@example.com"),
        ),
        (
            "Authentication-Results: mx.example.org; dkim=none\r\nAuthentication-Results: mx.example.org;\r\n dkim=pass \
          header.d=example.com\r\nFrom: kim@example.com",
            Some("unverified:kim@example.com"),
        ),
        (
            "Authentication-Results: mx.example.org;\r\n\tdkim=pass header.d=example.com\r\nFrom: kim@example.com",
            Some("kim@example.com"),
        ),
        ("From: kim@example.com, lee@example.com", None),
        ("From: kim@example.com\r\nFrom: lee@example.com", None),
        ("From: \"kim@example.com\" <mallory@evil.org>", Some("unverified:mallory@evil.org")),
        ("From: <\"kim@example.com,x\"@evil.org>", None),
        ("Subject: nobody", None),
    ] {
        let shared = mailbox(vec![of(head)]);
        let came = poll(open(&shared, PASS).as_mut(), "7:1:0");
        assert_eq!(came.first().map(|one| one.sender.as_str()), sender, "{head}");
    }
}

#[test]
fn what_a_program_sent_and_what_was_sent_here_is_no_message() {
    let heads = ["Auto-Submitted: auto-replied", "Precedence: bulk", "List-Id: <l.x>", "Return-Path: <>"];
    let mut mails: Vec<(u32, String)> =
        (1..).zip(heads).map(|(n, head)| mail(n, &format!("{head}\r\n"), "x")).collect();
    mails.push((5, "From: Bot@Example.org\r\n\r\nmine\r\n".to_owned()));
    mails.push((6, "\u{0}\u{1}garbage".to_owned()));
    mails.push(mail(7, "Auto-Submitted: no\r\n", "a person's"));
    assert_eq!(poll(open(&mailbox(mails), PASS).as_mut(), "7:1:0").len(), 1);
}

#[test]
fn words_are_plain_and_files_are_fetched_from_the_mailbox() {
    let parts = "MIME-Version: 1.0\r\nIn-Reply-To: <r2@x>\r\nReferences: <r1@x> <r2@x>\r\nCc: lee@example.com\r\n\
                 Content-Type: multipart/mixed; boundary=b\r\n";
    let body = "--b\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>you</b></p><script>x</script>\u{202E}\r\n--b\r\n\
                Content-Type: application/pdf; name=\"../a.pdf\"\r\nContent-Disposition: attachment\r\n\
                Content-Transfer-Encoding: base64\r\n\r\nQUJD\r\n--b--";
    let shared = mailbox(vec![mail(9, parts, body)]);
    let mut it = open(&shared, PASS);
    let came = poll(it.as_mut(), "7:9:0");
    let one = &came[0];
    assert!(one.text.starts_with("Hello you") && !one.text.contains(['<', '\u{202E}']), "{}", one.text);
    assert_eq!((one.chat.as_str(), one.reply_to.as_deref()), ("kim@example.com,r1@x", Some("r2@x")));
    assert!(one.is_group);
    let file = &one.attachments[0];
    assert_eq!((file.name.as_str(), file.media_type.as_str(), file.bytes), ("a.pdf", "application/pdf", 3));
    assert_eq!(it.fetch(file, 3).unwrap(), b"ABC");
    assert!(matches!(it.fetch(file, 2), Err(Fault::Refused { .. })));
    let other = Attachment { handle: "8:9:0".to_owned(), ..file.clone() };
    assert!(matches!(it.fetch(&other, 3), Err(Fault::Refused { .. })));
}

#[test]
fn a_mail_is_sent_in_its_thread_under_an_id_of_its_key() {
    let shared = mailbox(Vec::new());
    let mut it = open(&shared, PASS);
    let file =
        OutFile { name: "r.csv".to_owned(), media_type: "text/csv".to_owned(), bytes: b"a,b".to_vec() };
    let out =
        Outgoing { reply_to: Some("r2@x".to_owned()), ..words("kim@example.com,r1@x", "Héllo.\n.\nEnd.") };
    let first = it.send(&out).unwrap();
    assert_eq!(it.send(&out).unwrap(), first);
    it.send(&Outgoing { file: Some(file), ..words("kim@example.com,r1@x", "see") }).unwrap();
    let sent = shared.lock().unwrap().sent.clone();
    for head in [
        format!("Message-ID: <{first}>\r\n"),
        "To: kim@example.com\r\n".to_owned(),
        "In-Reply-To: <r2@x>\r\n".to_owned(),
        "References: <r1@x> <r2@x>\r\n".to_owned(),
        "Auto-Submitted: auto-replied\r\n".to_owned(),
    ] {
        assert!(sent[0].contains(&head) && sent[1].contains(&head), "{head}: {}", sent[0]);
    }
    assert!(sent[2].contains("filename=\"r.csv\"") && sent[2].contains("In-Reply-To: <r1@x>"), "{}", sent[2]);
    for chat in ["unverified:kim@example.com,r1@x", "kim@example.com", "kim@example.com,a b", "a@x\r\nb,c@d"]
    {
        assert!(matches!(it.send(&words(chat, "x")), Err(Fault::Refused { .. })), "{chat}");
    }
}

#[test]
fn what_servers_say_is_told_apart() {
    let shared = mailbox(vec![mail(1, "", "x")]);
    let mut wrong = open(&shared, "SECRET wrong");
    for fault in [wrong.who().unwrap_err(), wrong.send(&words("kim@example.com,a@b", "x")).unwrap_err()] {
        assert!(matches!(fault, Fault::Token { .. }), "{fault:?}");
        assert!(!format!("{fault:?}").contains("SECRET wrong"), "{fault:?}");
    }
    let mut it = open(&shared, PASS);
    assert_eq!(it.who().unwrap(), "bot@example.org");
    assert!(matches!(it.send(&words("nobody@example.com,a@b", "x")), Err(Fault::Refused { .. })));
    assert!(matches!(it.send(&words("later@example.com,a@b", "x")), Err(Fault::Away { .. })));
    shared.lock().unwrap().taken = None;
    assert!(matches!(it.send(&words("kim@example.com,a@b", "x")), Err(Fault::Unknown { .. })));
    shared.lock().unwrap().is_cut = true;
    assert!(matches!(it.poll("7:1:0", LONG), Err(Fault::Away { .. })));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let smtp = format!("smtp://{nobody}");
    let mut gone = adapter(Service::Mail, &format!("imap://{nobody}"), PASS, &[("smtp", &smtp)]);
    assert!(matches!(gone.poll("", LONG), Err(Fault::Away { .. })));
    assert!(matches!(gone.send(&words("kim@example.com,a@b", "x")), Err(Fault::Away { .. })));
}
