//! A mail server.

use super::{FORGER, KIM, Line, Peer, Shared, Written, empty, lock, server};
use model::gateway::Service;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

fn mail_names(who: &str) -> (String, String) {
    // The forger writes from the address of who is paired, and no server vouches for them.
    let sender = if who == FORGER { format!("unverified:{KIM}") } else { who.to_owned() };
    (format!("{sender}@example.com"), format!("{sender}@example.com,root-{who}@example.com"))
}

fn mail_of(one: &Written) -> String {
    let Written { id, who, text, .. } = one;
    let (verdict, address) = if *who == FORGER { ("fail", KIM) } else { ("pass", *who) };
    format!(
        "Authentication-Results: mx.example.org; dmarc={verdict} header.from=example.com\r\nFrom: Kim <{address}@example.com>\r\n\
         To: bot@example.org\r\nSubject: Re: Hermit\r\nMessage-ID: <m{id}-{who}@example.com>\r\n\
         References: <root-{who}@example.com>\r\nIn-Reply-To: <root-{who}@example.com>\r\n\r\n{text}\r\n"
    )
}

fn imap(stream: &TcpStream, room: &Shared) -> Option<()> {
    let (mut out, mut lines) = (stream, BufReader::new(stream));
    out.write_all(b"* OK ready\r\n").ok()?;
    loop {
        let mut said = String::new();
        lines.read_line(&mut said).ok().filter(|read| *read > 0)?;
        let (tag, command) = said.trim_end().split_once(' ')?;
        let all = lock(room).written.clone();
        let words: Vec<&str> = command.split(' ').collect();
        let answer = match words.as_slice() {
            ["EXAMINE", ..] => format!(
                "* {} EXISTS\r\n* OK [UIDVALIDITY 7] v\r\n* OK [UIDNEXT {}] n\r\n",
                all.len(),
                all.len() + 1
            ),
            ["UID", "SEARCH", "UID", range] => {
                let from: usize = range.trim_end_matches(":*").parse().ok()?;
                let found: Vec<String> = (from..=all.len()).map(|number| number.to_string()).collect();
                format!("* SEARCH {}\r\n", found.join(" "))
            }
            ["UID", "FETCH", set, ..] => {
                let numbers = set.split(',').filter_map(|number| number.parse::<usize>().ok());
                let told = numbers.filter_map(|number| {
                    let one = all.get(number.checked_sub(1)?)?;
                    let raw = mail_of(one);
                    let came = jiff::Timestamp::from_millisecond(one.at).ok()?;
                    let came = came.strftime("%d-%b-%Y %H:%M:%S +0000");
                    let what = match command.contains("BODY") {
                        true => format!("BODY[] {{{}}}\r\n{raw}", raw.len()),
                        false => format!("RFC822.SIZE {} INTERNALDATE \"{came}\"", raw.len()),
                    };
                    Some(format!("* {number} FETCH (UID {number} {what})\r\n"))
                });
                told.collect()
            }
            _ => String::new(),
        };
        out.write_all(format!("{answer}{tag} OK done\r\n").as_bytes()).ok()?;
    }
}

fn smtp(stream: &TcpStream, room: &Shared) -> Option<()> {
    let (mut out, mut lines) = (stream, BufReader::new(stream));
    out.write_all(b"220 ready\r\n").ok()?;
    loop {
        let mut said = String::new();
        lines.read_line(&mut said).ok().filter(|read| *read > 0)?;
        let answer = match said.trim_end().split([' ', ':']).next()? {
            "EHLO" => "250-here\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n",
            "AUTH" => "235 yes\r\n",
            "DATA" => {
                out.write_all(b"354 go on\r\n").ok()?;
                let mut mail = Vec::new();
                while !mail.ends_with(b"\r\n.\r\n") {
                    let mut byte = [0];
                    lines.read_exact(&mut byte).ok()?;
                    mail.extend(byte);
                }
                let mail = String::from_utf8_lossy(&mail).into_owned();
                let (head, body) = mail.split_once("\r\n\r\n")?;
                let key = head.lines().find(|line| line.starts_with("Message-ID:")).map(str::to_owned);
                lock(room).takes(key, body.to_owned(), false)?;
                "250 taken\r\n"
            }
            _ => "250 ok\r\n",
        };
        out.write_all(answer.as_bytes()).ok()?;
    }
}

pub fn mail() -> Peer {
    let room = empty();
    let (inbox, outbox) = (Arc::clone(&room), Arc::clone(&room));
    let inbox = Line::to(server(move |stream| imap(&stream, &inbox)));
    let outbox = Line::to(server(move |stream| smtp(&stream, &outbox)));
    let settings = [("smtp", outbox.url("smtp")), ("authserv_id", "mx.example.org".to_owned())];
    Peer {
        service: Service::Mail,
        address: inbox.url("imap"),
        settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
        token: "SECRET password",
        names: mail_names,
        knows_repeats: false,
        calls: false,
        room,
        lines: vec![inbox, outbox],
    }
}
