//! A server on loopback that does as a test says and remembers everything it was sent; and the simplest way to it.

use effects::{Call, NoReply, Reply, Web};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// `POST /path`.
    pub line: String,
    /// The head, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// The same where it is no text.
    pub bytes: Vec<u8>,
}

impl Heard {
    /// What a header said.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a server does with a request.
#[derive(Debug, Clone)]
pub enum Answers {
    /// Status, lines of the head, body.
    With(u16, Vec<(&'static str, String)>, String),
    /// Status, and a body that is no text.
    Bytes(u16, Vec<u8>),
    /// Hangs up without a word, after it has read everything.
    HangsUp,
    /// Says nothing, and keeps the connection until the other side has hung up.
    Never,
    /// Success with these lines of the head and the beginning of a body; what is received then is the rest of it.
    Begins(Vec<(&'static str, String)>, String, Arc<Mutex<Receiver<String>>>),
}

impl Answers {
    fn send(self, stream: &mut TcpStream) -> std::io::Result<()> {
        let head = |lines: Vec<(&'static str, String)>| -> String {
            lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
        };
        match self {
            Self::With(status, headers, body) => {
                let (lines, length) = (head(headers), body.len());
                let text = format!(
                    "HTTP/1.1 {status} As Told\r\n{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(text.as_bytes())
            }
            Self::Bytes(status, body) => {
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {status} As Told\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                stream.write_all(text.as_bytes())?;
                stream.write_all(&body)
            }
            Self::HangsUp => Ok(()),
            Self::Never => {
                let mut stream = stream.try_clone()?;
                std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
                Ok(())
            }
            Self::Begins(headers, body, rest) => {
                let text =
                    format!("HTTP/1.1 200 As Told\r\n{}Connection: close\r\n\r\n{body}", head(headers));
                stream.write_all(text.as_bytes())?;
                let rest = rest.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap_or_default();
                stream.write_all(rest.as_bytes())
            }
        }
    }
}

/// A server; it ends with the process.
#[derive(Debug, Clone)]
pub struct Server {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Server {
    /// Begins to serve.
    pub fn begin(answer: impl Fn(&Heard) -> Answers + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(asked) = read(&mut stream) else { continue };
                let said = answer(&asked);
                all.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
                // Whoever has hung up needs no answer. One that goes on later does not keep others waiting.
                match said {
                    Answers::Begins(..) => drop(std::thread::spawn(move || said.send(&mut stream))),
                    said => drop(said.send(&mut stream)),
                }
            }
        });
        Self { address, heard }
    }

    /// A server that says yes to everything.
    pub fn agreeing() -> Self {
        Self::begin(|_| {
            Answers::With(200, vec![("Content-Type", "text/plain".to_owned())], "well received".to_owned())
        })
    }

    /// An address of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// `127.0.0.1:port`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Everything it was sent so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn read(stream: &mut TcpStream) -> Option<Heard> {
    let (head, mut rest) = head(stream)?;
    let mut lines = head.lines();
    let line = lines.next()?.rsplit_once(' ')?.0.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, v)| v.parse().ok());
    let missing = length.unwrap_or(0_usize).saturating_sub(rest.len());
    stream.take(missing as u64).read_to_end(&mut rest).ok()?;
    Some(Heard { line, headers, body: String::from_utf8_lossy(&rest).into_owned(), bytes: rest })
}

/// A head as text, and what came behind it in the same piece.
fn head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(buffer.get(..n)?);
        if let Some(at) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Some((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
    }
}

/// Plain HTTP to an address that was checked, and nothing more: programs go through ureq, which the host lends them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainWeb;

impl Web for PlainWeb {
    fn call(&self, call: &Call<'_>, _: &dyn Fn() -> bool) -> Result<Reply, NoReply> {
        let not_sent = |e: std::io::Error| NoReply::NotSent(e.to_string());
        let lost = |e: std::io::Error| NoReply::Lost(e.to_string());
        let mut stream = TcpStream::connect_timeout(&call.at, call.timeout).map_err(not_sent)?;
        stream.set_read_timeout(Some(call.timeout)).map_err(not_sent)?;
        let url = call.url.to_string();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let mut out = format!(
            "{} /{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            call.method,
            call.url.server()
        );
        for (name, value) in call.headers {
            out.push_str(&format!("{name}: {}\r\n", String::from_utf8_lossy(value)));
        }
        out.push_str(&format!("Content-Length: {}\r\n\r\n", call.body.map_or(0, <[u8]>::len)));
        stream
            .write_all(out.as_bytes())
            .and_then(|()| stream.write_all(call.body.unwrap_or_default()))
            .map_err(lost)?;
        let mut all = Vec::new();
        stream.take(call.bytes_max + 64 * 1024).read_to_end(&mut all).map_err(lost)?;
        let end = all.windows(4).position(|part| part == b"\r\n\r\n");
        let end = end.ok_or_else(|| NoReply::Lost("it hung up".to_owned()))?;
        let mut body = all.split_off(end + 4);
        let head = String::from_utf8_lossy(&all).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| NoReply::Lost("that was no HTTP".to_owned()))?;
        let line =
            |line: &str| line.split_once(':').map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned()));
        let headers = head.lines().skip(1).filter_map(line).collect();
        let cut = body.len() as u64 > call.bytes_max;
        body.truncate(usize::try_from(call.bytes_max).unwrap_or(usize::MAX));
        let left_out =
            cut.then(|| format!("only the first {} bytes of the answer were read", call.bytes_max));
        Ok(Reply { status, headers, body, left_out })
    }
}
