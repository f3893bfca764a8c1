//! Weights come here over HTTPS or out of a file: what was begun goes on where it stopped, and nothing has a name before
//! its digest is right.

use super::files::{Files, Kept, catalogue, removed};
use super::header;
use super::part::{self, Part};
use crate::{Config, Error, Home};
use model::lasting;
use reasoning::model_box;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use ureq::tls::{RootCerts, TlsConfig};
use wire::Code;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);
/// How long a source may send nothing.
const SILENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether a fetch is wanted still.
const LOOK: Duration = Duration::from_millis(200);
/// How often a source that broke off is asked on, as long as something came each time.
const TRIES: u32 = 20;
/// Bytes read at a time.
pub(super) const CHUNK: usize = 256 * 1024;
/// Bytes of weights; beyond it no machine that asks for this could use them.
const BYTES_MAX: u64 = 512 << 30;
/// Where the catalogue's weights are, unless a person names a mirror.
const ORIGIN: &str = "https://huggingface.co";
/// Bytes that stay free for everything else.
const ROOM: u64 = 512 << 20;
/// Answers of a source that lead elsewhere.
const REDIRECTS: u32 = 5;

/// What is wished.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// A name of the catalogue, or a name to give.
    pub name: String,
    /// A file, or an address in place of the catalogue's.
    pub from: Option<String>,
    /// The digest that it must have; the catalogue's when not given.
    pub sha256: Option<String>,
}

/// How far a fetch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It went on from so many bytes that were here.
    Resumed(u64),
    /// So many bytes are here, of so many.
    Bytes(u64, u64),
    /// All bytes are here, and their digest is looked at.
    Checking,
}

/// What is to come.
struct Wanted {
    name: String,
    sha256: Option<String>,
    bytes: Option<u64>,
}

/// A fetch into a folder.
pub(super) struct Fetch<'a> {
    files: &'a Files,
    told: &'a mut dyn FnMut(Step),
    /// Asked again and again; a fetch that is not wanted any more leaves what has come.
    goes_on: &'a dyn Fn() -> bool,
    silence: Duration,
    /// Bytes that are free on the disk of a folder, where it is known.
    free: &'a dyn Fn(&Path) -> Option<u64>,
}

pub(super) fn said(message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::Said(wire::Error::new(Code::Failed, message).hint(hint))
}

fn usage(message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::Said(wire::Error::new(Code::Usage, message).hint(hint))
}

const NOTHING: &str =
    "look at the network; where there is none, bring the file and name it with `--from FILE`";
pub(super) const AGAIN: &str = "get it again: it goes on where it stopped";

/// Gets a model, or takes its name for weights that are here.
///
/// # Errors
/// [`Error::Said`] with what to do; nothing counts that is not whole.
pub fn get(home: &Home, config: &Config, wish: &Wish, told: &mut dyn FnMut(Step)) -> Result<Kept, Error> {
    get_while(home, config, wish, told, &|| true)
}

/// The same, as long as it is wanted.
pub(super) fn get_while(
    home: &Home,
    config: &Config,
    wish: &Wish,
    told: &mut dyn FnMut(Step),
    goes_on: &dyn Fn() -> bool,
) -> Result<Kept, Error> {
    let files = Files::of(home);
    Fetch { files: &files, told, goes_on, silence: SILENCE, free: &part::free }.get(config, wish)
}

/// Takes a model away, with what was begun of it; the bytes that are free again.
///
/// # Errors
/// [`Error::Said`] when nothing of it is here.
pub fn forget(home: &Home, name: &str) -> Result<u64, Error> {
    let files = Files::of(home);
    let known = catalogue().into_iter().find(|entry| entry.name == name).map(|entry| entry.sha256);
    let digest = files.card_of(name).map(|kept| kept.sha256).or(known);
    let begun = digest.map_or(Ok(0), |digest| part::forget(&files, &digest))?;
    match files.forget(name) {
        Ok(freed) => Ok(freed.saturating_add(begun)),
        Err(_) if begun > 0 && files.card_of(name).is_none() => Ok(begun),
        Err(error) => Err(error),
    }
}

/// All models whose weights are here.
pub fn kept(home: &Home) -> Vec<Kept> {
    Files::of(home).all()
}

impl Fetch<'_> {
    fn get(&mut self, config: &Config, wish: &Wish) -> Result<Kept, Error> {
        let known = catalogue().into_iter().find(|entry| entry.name == wish.name);
        let digest = wish.sha256.clone().or_else(|| known.as_ref().map(|entry| entry.sha256.clone()));
        if let Some(digest) = &digest {
            let whole = model_box::pinned(&wish.name, digest);
            model_box::named(&whole).map_err(|why| usage(why, "such a name is `qwen2.5-coder-1.5b`"))?;
            self.files.may_name(&wish.name, digest)?;
        } else if !model_box::is_name(&wish.name) {
            return Err(usage(
                format!("`{}` is no name of a model in the box", wish.name),
                "use a-z, 0-9, `-`, `_` and `.`",
            ));
        }
        std::fs::create_dir_all(self.files.folder())
            .map_err(|e| Error::io("make", self.files.folder(), &e))?;
        let same = known.as_ref().filter(|entry| Some(&entry.sha256) == digest.as_ref());
        let wanted =
            Wanted { name: wish.name.clone(), sha256: digest.clone(), bytes: same.map(|entry| entry.bytes) };
        let here = match digest {
            Some(digest) => self.is_whole(&digest)?.then_some(digest),
            None => None,
        };
        let sha256 = match (here, &wish.from, &known) {
            (Some(digest), ..) => digest,
            (None, Some(from), _) if is_address(from) => self.fetch_from(config, from, &wanted)?,
            (None, Some(from), _) => self.copy_from(Path::new(from), &wanted)?,
            (None, None, Some(entry)) => {
                self.fetch_from(config, &mirrored(config, &entry.address), &wanted)?
            }
            (None, None, None) => return Err(unknown(&wish.name)),
        };
        let path = self.files.weights(&sha256);
        let bytes = std::fs::metadata(&path).map_err(|e| Error::io("read", &path, &e))?.len();
        let license = same.map(|entry| entry.license.clone()).or_else(|| header::read(&path).ok()?.license);
        let about = same.map(|entry| entry.about.clone());
        let kept = Kept { name: wish.name.clone(), sha256, bytes, license, about };
        self.files.name(&kept)?;
        Ok(kept)
    }

    /// Whether weights are here as their digest says. What else is in their place is removed: it is of no use.
    fn is_whole(&mut self, digest: &str) -> Result<bool, Error> {
        let path = self.files.weights(digest);
        let Ok(there) = std::fs::symlink_metadata(&path) else { return Ok(false) };
        if there.is_file() {
            (self.told)(Step::Checking);
            if part::is_of(&path, digest).map_err(|e| Error::io("read", &path, &e))? {
                return Ok(true);
            }
        }
        removed(&path)?;
        Ok(false)
    }

    /// Copies a file; it is read once, and its digest is that of what was written.
    fn copy_from(&mut self, from: &Path, wanted: &Wanted) -> Result<String, Error> {
        let mut source = File::open(from).map_err(|e| Error::io("read", from, &e))?;
        let bytes = source.metadata().map_err(|e| Error::io("read", from, &e))?.len();
        header::of(&source, from)
            .map_err(|why| said(why, "name the file of the weights; its name ends in `.gguf`"))?;
        source.rewind().map_err(|e| Error::io("read", from, &e))?;
        let mut part = Part::anew(self.files, "file")?;
        if let Err(error) = self.copy(&mut source, (from, bytes), &mut part) {
            part.drop_it()?;
            return Err(error);
        }
        self.whole(part, wanted)
    }

    fn copy(&mut self, source: &mut File, (from, bytes): (&Path, u64), part: &mut Part) -> Result<(), Error> {
        self.room(bytes)?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = source.read(&mut buffer).map_err(|e| Error::io("read", from, &e))?;
            if read == 0 {
                return Ok(());
            }
            part.take(buffer.get(..read).unwrap_or_default())?;
            (self.told)(Step::Bytes(part.length, bytes));
        }
    }

    fn fetch_from(&mut self, config: &Config, url: &str, wanted: &Wanted) -> Result<String, Error> {
        let Some(digest) = wanted.sha256.clone() else {
            return Err(usage(
                "weights from an address need the digest that they must have",
                "give it with `--sha256 DIGEST`; whoever publishes them says it",
            ));
        };
        let mut part = Part::open(self.files, &digest)?;
        if part.length > 0 {
            (self.told)(Step::Resumed(part.length));
        }
        let mut tries = 0;
        loop {
            let before = part.length;
            let Err(error) = self.once(config, url, &mut part, wanted) else { break };
            let Broke::Off(why) = error else { return Err(error.into_error()) };
            tries += 1;
            if part.length == 0 {
                return Err(said(format!("`{url}` sends nothing: {why}"), NOTHING));
            }
            if part.length <= before || tries > TRIES {
                return Err(said(format!("`{url}` broke off: {why}"), AGAIN));
            }
        }
        self.whole(part, wanted)
    }

    /// Asks once, from where it stopped.
    fn once(&mut self, config: &Config, url: &str, part: &mut Part, wanted: &Wanted) -> Result<(), Broke> {
        let (send, receive) = sync_channel::<Piece>(8);
        let (agent, from, at) = (agent(config, url)?, part.length, url.to_owned());
        // A source that hangs is left alone; the thread ends with it.
        std::thread::Builder::new()
            .name("weights".to_owned())
            .spawn(move || talk(&agent, &at, from, &|piece| send.send(piece).is_ok()))
            .map_err(|e| Broke::Off(e.to_string()))?;
        let (mut total, mut is_anew) = (None, false);
        let mut heard = Instant::now();
        loop {
            if !(self.goes_on)() {
                return Err(Broke::Because(said("it was stopped", AGAIN)));
            }
            let piece = receive.recv_timeout(LOOK.min(self.silence));
            if piece.is_ok() {
                heard = Instant::now();
            }
            match piece {
                Ok(Piece::Head { begins, bytes }) => {
                    total = Some(self.begin(part, begins, bytes, wanted)?);
                    is_anew = begins == 0;
                }
                Ok(Piece::Bytes(bytes)) => {
                    let total = total.unwrap_or_default();
                    if std::mem::take(&mut is_anew) {
                        // It does not go on in the middle of a file: what is here gives way to weights, and not to a page.
                        part::begins(&bytes).and_then(|()| part.begin_anew()).map_err(Broke::Because)?;
                    }
                    if part.length.saturating_add(bytes.len() as u64) > total {
                        part.begin_anew().map_err(Broke::Because)?;
                        return Err(Broke::Because(said(
                            format!("`{url}` sends more than the {total} bytes that it said"),
                            "it is another file than the one that is wanted; give its address with `--from URL`",
                        )));
                    }
                    part.take(&bytes).map_err(Broke::Because)?;
                    (self.told)(Step::Bytes(part.length, total));
                }
                Ok(Piece::End) if total.is_some_and(|total| part.length < total) => {
                    return Err(Broke::Off("the connection was closed before the end".to_owned()));
                }
                Ok(Piece::End) => return Ok(()),
                Ok(Piece::Failed(broke)) => return Err(broke),
                Err(RecvTimeoutError::Timeout) if heard.elapsed() < self.silence => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Broke::Off(format!("nothing came for {}", lasting(self.silence))));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Broke::Off("it ended".to_owned())),
            }
        }
    }

    /// Where what comes belongs, and how many bytes the whole has.
    fn begin(&self, part: &Part, begins: u64, total: u64, wanted: &Wanted) -> Result<u64, Broke> {
        if let Some(bytes) = wanted.bytes.filter(|bytes| *bytes != total) {
            return Err(Broke::Because(said(
                format!("it has {total} bytes there, and {bytes} are wanted"),
                "it is another file; give the address of the right one with `--from URL`",
            )));
        }
        if total > BYTES_MAX {
            return Err(Broke::Because(said(
                format!("{total} bytes are no model for this machine"),
                "choose a smaller one",
            )));
        }
        if begins != 0 && begins != part.length {
            return Err(Broke::Because(said(
                format!("it sends from byte {begins}, and was asked from byte {}", part.length),
                "try another address with `--from URL`",
            )));
        }
        self.room(total.saturating_sub(part.length)).map_err(Broke::Because)?;
        Ok(total)
    }

    /// Whether there is room for so many more bytes.
    fn room(&self, bytes: u64) -> Result<(), Error> {
        let Some(free) = (self.free)(self.files.folder()) else { return Ok(()) };
        let needed = bytes.saturating_add(ROOM);
        if free >= needed {
            return Ok(());
        }
        Err(said(
            format!("there is no room: {} MB are needed and {} MB are free", needed >> 20, free >> 20),
            format!(
                "make room on the disk of `{}`, or `hermit models rm` another model",
                self.files.folder().display()
            ),
        ))
    }

    /// All bytes are here: they count when their digest is right.
    fn whole(&mut self, part: Part, wanted: &Wanted) -> Result<String, Error> {
        (self.told)(Step::Checking);
        let digest = part.digest();
        if let Some(right) = wanted.sha256.as_ref().filter(|right| **right != digest) {
            part.drop_it()?;
            return Err(said(
                format!("its SHA-256 is {digest}, and {right} is wanted: it is damaged, or another file"),
                "nothing of it was kept; get it again, or from elsewhere with `--from`",
            ));
        }
        if let Err(why) = part.header() {
            part.drop_it()?;
            return Err(said(why, "name the file of the weights; its name ends in `.gguf`"));
        }
        if let Err(error) = self.files.may_name(&wanted.name, &digest) {
            part.drop_it()?;
            return Err(error);
        }
        part.becomes(&self.files.weights(&digest))?;
        Ok(digest)
    }
}

/// What comes from the thread that talks.
enum Piece {
    Head { begins: u64, bytes: u64 },
    Bytes(Vec<u8>),
    End,
    Failed(Broke),
}

/// Why a source sends no more.
enum Broke {
    /// It may go on when it is asked again.
    Off(String),
    /// It will not.
    Because(Error),
}

impl Broke {
    fn into_error(self) -> Error {
        match self {
            Self::Off(why) => said(why, AGAIN),
            Self::Because(error) => error,
        }
    }
}

/// Where weights of the catalogue are: at the mirror, where a person named one.
fn mirrored(config: &Config, address: &str) -> String {
    match (&config.model_mirror, address.strip_prefix(ORIGIN)) {
        (Some(mirror), Some(path)) => format!("{}{path}", mirror.trim_end_matches('/')),
        _ => address.to_owned(),
    }
}

fn is_address(from: &str) -> bool {
    from.starts_with("https://") || from.starts_with("http://")
}

pub(super) fn unknown(name: &str) -> Error {
    let names: Vec<String> = catalogue().into_iter().map(|entry| entry.name).collect();
    usage(
        format!("`{name}` is not in the catalogue"),
        format!("there is {}; any other GGUF file comes with `--from FILE`", names.join(", ")),
    )
}

fn agent(config: &Config, url: &str) -> Result<ureq::Agent, Broke> {
    let address: Result<reasoning::Address, _> =
        format!("openai:{}#m", url.split('?').next().unwrap_or(url)).parse();
    let is_here = address.is_ok_and(|address| !address.is_remote());
    if !is_here && !url.starts_with("https://") {
        return Err(Broke::Because(usage(
            format!("`{url}` is not safe on the way"),
            "write it with `https://`",
        )));
    }
    let mut made = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .https_only(!is_here)
        .max_redirects(REDIRECTS)
        .timeout_connect(Some(CONNECT))
        .user_agent(concat!("hermit/", env!("CARGO_PKG_VERSION")))
        .proxy(if is_here { None } else { ureq::Proxy::try_from_env() });
    if let Some(path) = config.authorities() {
        let roots = crate::model_http::certificates(&path)
            .map_err(|e| Broke::Because(usage(e.to_string(), "correct `ca_file` in `config.json`")))?;
        made = made.tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build());
    }
    Ok(made.build().into())
}

fn talk(agent: &ureq::Agent, url: &str, from: u64, tell: &dyn Fn(Piece) -> bool) {
    let mut request = agent.get(url).header("Accept-Encoding", "identity");
    if from > 0 {
        request = request.header("Range", format!("bytes={from}-"));
    }
    let mut reply = match request.call() {
        Ok(reply) => reply,
        Err(error) => {
            tell(Piece::Failed(Broke::Off(error.to_string())));
            return;
        }
    };
    let head = head(&reply, url, from);
    let goes_on = head.is_ok();
    if !tell(head.unwrap_or_else(Piece::Failed)) || !goes_on {
        return;
    }
    let mut stream = reply.body_mut().as_reader();
    let mut buffer = vec![0; CHUNK];
    loop {
        let piece = match stream.read(&mut buffer) {
            Ok(0) => Piece::End,
            Ok(read) => Piece::Bytes(buffer.get(..read).unwrap_or_default().to_vec()),
            Err(error) => Piece::Failed(Broke::Off(error.to_string())),
        };
        let last = !matches!(piece, Piece::Bytes(_));
        if !tell(piece) || last {
            return;
        }
    }
}

/// From where it sends, and how much there is.
fn head(reply: &ureq::http::Response<ureq::Body>, url: &str, from: u64) -> Result<Piece, Broke> {
    let text =
        |name: &str| reply.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let number = |text: Option<String>| text.and_then(|text| text.trim().parse::<u64>().ok());
    let no_size = || {
        Broke::Because(said(
            format!("`{url}` does not say how large it is"),
            "fetch the file with something else, and name it with `--from FILE`",
        ))
    };
    match reply.status().as_u16() {
        200 => Ok(Piece::Head { begins: 0, bytes: number(text("content-length")).ok_or_else(no_size)? }),
        206 => {
            // `bytes 200-1000/67589`
            let range = text("content-range").unwrap_or_default();
            let (span, total) =
                range.trim_start_matches("bytes").trim().split_once('/').ok_or_else(no_size)?;
            let begins = number(span.split('-').next().map(str::to_owned)).ok_or_else(no_size)?;
            Ok(Piece::Head { begins, bytes: number(Some(total.to_owned())).ok_or_else(no_size)? })
        }
        // What is here may be whole already: its digest says.
        416 => Ok(Piece::Head { begins: from, bytes: from }),
        status @ (408 | 429 | 500..=599) => Err(Broke::Off(format!("it answers with status {status}"))),
        status => Err(Broke::Because(said(
            format!("`{url}` answers with status {status}"),
            "give another address with `--from URL`, or a file with `--from FILE`",
        ))),
    }
}

#[cfg(test)]
pub(super) mod tests;
