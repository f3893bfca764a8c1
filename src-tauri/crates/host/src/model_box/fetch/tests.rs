#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::*;
use crate::model_box::header::tests::weights;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// How a source behaves.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// As it should.
    Well,
    /// Sends so many bytes more each time, and closes.
    Cuts(usize),
    /// Sends so many bytes at the first time, and nothing after them.
    Hangs(usize),
    /// Sends everything from the beginning, whatever it is asked for.
    Whole,
    /// Sends from elsewhere than it was asked for.
    Elsewhere,
    /// Answers with this status.
    Says(u16),
}

struct Source {
    url: String,
    asked: Arc<Mutex<Vec<u64>>>,
}

impl Source {
    fn new(bytes: Vec<u8>, way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/w.gguf", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (bytes, told) = (bytes.clone(), Arc::clone(&told));
                std::thread::spawn(move || answer(stream, &bytes, way, &told));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

/// Reads a request to its end; the byte from which it wants to have what it asks for.
pub(in crate::model_box) fn begins_at(stream: &TcpStream) -> Option<u64> {
    let mut from = 0;
    for line in BufReader::new(stream).lines() {
        let line = line.ok()?.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    Some(from)
}

fn answer(mut stream: TcpStream, bytes: &[u8], way: Way, told: &Mutex<Vec<u64>>) -> Option<()> {
    let from = begins_at(&stream)?;
    told.lock().ok()?.push(from);
    let begin = usize::try_from(from).ok()?;
    let (status, begin) = match way {
        Way::Says(status) => (status, 0),
        Way::Whole => (200, 0),
        Way::Elsewhere if from > 0 => (206, begin / 2),
        _ if from >= bytes.len() as u64 => (416, bytes.len()),
        _ if from > 0 => (206, begin),
        _ => (200, 0),
    };
    let length = bytes.len() - begin;
    let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n");
    if status == 206 {
        head += &format!("content-range: bytes {begin}-{}/{}\r\n", bytes.len() - 1, bytes.len());
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    let body = &bytes[begin..];
    match way {
        Way::Cuts(some) => stream.write_all(&body[..some.min(body.len())]).ok()?,
        Way::Hangs(some) => {
            stream.write_all(&body[..if from == 0 { some } else { 0 }]).ok()?;
            std::thread::park();
        }
        _ => stream.write_all(body).ok()?,
    }
    Some(())
}

struct Bench {
    dir: TempDir,
    bytes: Vec<u8>,
    digest: String,
    /// Bytes of the disk, where they are few.
    disk: Option<u64>,
}

impl Bench {
    fn new() -> Self {
        let mut bytes = weights();
        bytes.extend((0..100_000_u32).flat_map(u32::to_le_bytes));
        let digest = seal::Digest::of(&bytes).to_string();
        Self { dir: TempDir::new().unwrap(), bytes, digest, disk: None }
    }

    fn home(&self) -> Home {
        Home::find(Some(self.dir.path())).unwrap()
    }

    fn files(&self) -> Files {
        Files::of(&self.home())
    }

    fn get(&self, from: &str, digest: Option<&str>) -> Result<(Kept, Vec<Step>), wire::Error> {
        let mut steps = Vec::new();
        let wish =
            Wish { name: "tiny".to_owned(), from: Some(from.to_owned()), sha256: digest.map(str::to_owned) };
        let files = self.files();
        let mut told = |step| steps.push(step);
        let free = |folder: &Path| {
            let there = std::fs::read_dir(folder).unwrap().flatten().map(|one| one.metadata().unwrap().len());
            self.disk.map(|disk| disk.saturating_sub(there.sum()))
        };
        let silence = Duration::from_millis(300);
        let mut fetch = Fetch { files: &files, told: &mut told, goes_on: &|| true, silence, free: &free };
        let got = fetch.get(&Config::default(), &wish).map_err(Error::to_wire)?;
        Ok((got, steps))
    }

    fn from(&self, source: &Source) -> Result<(Kept, Vec<Step>), wire::Error> {
        self.get(&source.url, Some(&self.digest))
    }

    fn part(&self) -> u64 {
        let part = self.files().folder().join(format!("{}.part", self.digest));
        std::fs::metadata(part).map_or(0, |found| found.len())
    }

    /// Nothing is here under a name, and nothing under its digest.
    fn has_none(&self) {
        assert_eq!(self.files().all(), []);
        assert!(!self.files().weights(&self.digest).exists());
    }
}

#[test]
fn weights_count_when_their_digest_is_right_and_are_known_by_name_and_digest() {
    let bench = Bench::new();
    let source = Source::new(bench.bytes.clone(), Way::Well);
    let (kept, steps) = bench.from(&source).unwrap();
    assert_eq!((kept.sha256.as_str(), kept.bytes), (bench.digest.as_str(), bench.bytes.len() as u64));
    assert!(matches!(steps.as_slice(), [.., Step::Bytes(all, of), Step::Checking] if all == of), "{steps:?}");
    assert_eq!(std::fs::read(bench.files().weights(&bench.digest)).unwrap(), bench.bytes);
    assert_eq!(bench.files().pin("tiny", None).unwrap(), format!("tiny@sha256:{}", bench.digest));
    assert_eq!(bench.files().context(&kept), 8_192);
    assert_eq!(bench.part(), 0);
    // What is here is not fetched again.
    bench.from(&source).unwrap();
    assert_eq!(source.asked(), [0]);
    assert_eq!(bench.files().forget("tiny").unwrap(), kept.bytes);
    bench.has_none();
    assert!(bench.files().pin("tiny", Some(&bench.digest)).is_err());
}

#[test]
fn a_file_is_copied_under_its_digest_and_the_wrong_one_is_not_kept() {
    let bench = Bench::new();
    let path = bench.dir.path().join("w.gguf");
    std::fs::write(&path, &bench.bytes).unwrap();
    let from = path.to_str().unwrap();
    let wrong = bench.get(from, Some(&"0".repeat(64))).unwrap_err();
    assert!(
        wrong.message.contains(&bench.digest) && wrong.hint.contains("nothing of it was kept"),
        "{wrong:?}"
    );
    bench.has_none();
    assert_eq!(bench.get(from, None).unwrap().0.sha256, bench.digest);
    std::fs::write(&path, "<html>").unwrap();
    let other = bench.get(from, None).unwrap_err();
    assert!(other.message.contains("no GGUF file"), "{other:?}");
    assert_eq!(bench.files().all().len(), 1, "what was there stays");
    let none = bench.get("no-such-file", None).unwrap_err();
    assert!(none.message.contains("no-such-file"), "{none:?}");
}

#[test]
fn a_source_that_breaks_off_is_asked_on_from_where_it_stopped() {
    let bench = Bench::new();
    let source = Source::new(bench.bytes.clone(), Way::Cuts(150_000));
    bench.from(&source).unwrap();
    assert_eq!(source.asked(), [0, 150_000, 300_000]);
    assert_eq!(std::fs::read(bench.files().weights(&bench.digest)).unwrap(), bench.bytes);
}

#[test]
fn what_an_ended_process_left_is_gone_on_with() {
    let bench = Bench::new();
    let hangs = Source::new(bench.bytes.clone(), Way::Hangs(70_000));
    let error = bench.from(&hangs).unwrap_err();
    assert!(
        error.message.contains("broke off") && error.hint.contains("goes on where it stopped"),
        "{error:?}"
    );
    bench.has_none();
    assert_eq!(bench.part(), 70_000);
    let well = Source::new(bench.bytes.clone(), Way::Well);
    let (_, steps) = bench.from(&well).unwrap();
    assert_eq!(well.asked(), [70_000]);
    assert!(steps.contains(&Step::Resumed(70_000)), "{steps:?}");
}

#[test]
fn a_source_that_knows_no_ranges_begins_anew_and_one_that_sends_from_elsewhere_is_refused() {
    let begun = || {
        let bench = Bench::new();
        std::fs::create_dir_all(bench.files().folder()).unwrap();
        let part = bench.files().folder().join(format!("{}.part", bench.digest));
        std::fs::write(part, &bench.bytes[..1_000]).unwrap();
        bench
    };
    let bench = begun();
    let whole = Source::new(bench.bytes.clone(), Way::Whole);
    bench.from(&whole).unwrap();
    assert_eq!(whole.asked(), [1_000]);
    let bench = begun();
    let error = bench.from(&Source::new(bench.bytes.clone(), Way::Elsewhere)).unwrap_err();
    assert!(error.message.contains("from byte 500"), "{error:?}");
    bench.has_none();
    // All of it may be here already: its digest says.
    let bench = begun();
    let part = bench.files().folder().join(format!("{}.part", bench.digest));
    std::fs::write(part, &bench.bytes).unwrap();
    bench.from(&Source::new(bench.bytes.clone(), Way::Well)).unwrap();
}

#[test]
fn another_file_than_the_one_that_is_wanted_is_told_and_nothing_of_it_is_kept() {
    let bench = Bench::new();
    let mut other = bench.bytes.clone();
    other[1_000] ^= 1;
    let wrong = bench.from(&Source::new(other, Way::Well)).unwrap_err();
    assert!(wrong.message.contains("is wanted"), "{wrong:?}");
    assert_eq!(bench.part(), 0);
    let page = bench.from(&Source::new(b"<html>no such model</html>".to_vec(), Way::Well)).unwrap_err();
    assert!(page.message.contains("no GGUF file"), "{page:?}");
    let files = bench.files();
    let fetch =
        Fetch { files: &files, told: &mut |_| {}, goes_on: &|| true, silence: SILENCE, free: &part::free };
    let wanted = Wanted { name: "tiny".to_owned(), sha256: None, bytes: Some(5) };
    let part = Part::open(&files, "other").unwrap();
    let size = fetch.begin(&part, 0, 6, &wanted).map_err(|broke| broke.into_error().to_wire()).unwrap_err();
    assert!(size.message.contains("6 bytes there, and 5 are wanted"), "{size:?}");
    let gone = bench.from(&Source::new(Vec::new(), Way::Says(404))).unwrap_err();
    assert!(gone.message.contains("status 404") && gone.hint.contains("--from"), "{gone:?}");
    let busy = bench.from(&Source::new(Vec::new(), Way::Says(503))).unwrap_err();
    assert!(busy.message.contains("status 503") && busy.hint.contains("--from FILE"), "{busy:?}");
    bench.has_none();
}

#[test]
fn an_address_needs_a_digest_and_a_safe_way() {
    let bench = Bench::new();
    let without = bench.get("https://models.example.org/w.gguf", None).unwrap_err();
    assert!(without.hint.contains("--sha256"), "{without:?}");
    let plain = bench.get("http://models.example.org/w.gguf", Some(&bench.digest)).unwrap_err();
    assert!(plain.hint.contains("https"), "{plain:?}");
    let odd = bench.get("http://127.0.0.1:1/w", Some("12")).unwrap_err();
    assert!(odd.message.contains("64 digits"), "{odd:?}");
    let unknown = get(
        &bench.home(),
        &Config::default(),
        &Wish { name: "x".to_owned(), ..Wish::default() },
        &mut |_| {},
    );
    assert!(unknown.map_err(Error::to_wire).unwrap_err().hint.contains("qwen2.5-coder-1.5b"));
}

#[test]
fn room_on_the_disk_is_asked_for_before_anything_is_written() {
    let mut bench = Bench::new();
    let path = bench.dir.path().join("w.gguf");
    std::fs::write(&path, &bench.bytes).unwrap();
    let from = path.to_str().unwrap().to_owned();
    let source = Source::new(bench.bytes.clone(), Way::Well);
    let half = bench.files().folder().join("file.part");
    bench.disk = Some(ROOM + bench.bytes.len() as u64 - 1);
    for got in [bench.get(&from, None), bench.from(&source)] {
        let error = got.unwrap_err();
        assert!(error.message.contains("there is no room") && error.hint.contains("models rm"), "{error:?}");
        bench.has_none();
        assert!(!half.exists() && bench.part() == 0, "nothing stays");
    }
    // What a copy that was killed left is no room that is missing.
    bench.disk = Some(ROOM + bench.bytes.len() as u64);
    std::fs::write(&half, &bench.bytes[..1_000]).unwrap();
    bench.get(&from, None).unwrap();
    assert!(!half.exists());
    // What was begun of weights goes with their name.
    let part = bench.files().folder().join(format!("{}.part", bench.digest));
    std::fs::write(&part, &bench.bytes[..1_000]).unwrap();
    assert_eq!(forget(&bench.home(), "tiny").unwrap(), bench.bytes.len() as u64 + 1_000);
    assert!(!part.exists());
}

#[test]
fn damaged_weights_are_got_anew_and_can_be_taken_away() {
    let bench = Bench::new();
    let source = Source::new(bench.bytes.clone(), Way::Well);
    bench.from(&source).unwrap();
    let weights = bench.files().weights(&bench.digest);
    let mut damaged = bench.bytes.clone();
    damaged[90_000] ^= 1;
    std::fs::write(&weights, &damaged).unwrap();
    let (kept, _) = bench.from(&source).unwrap();
    assert_eq!((source.asked().len(), kept.bytes), (2, bench.bytes.len() as u64));
    assert_eq!(std::fs::read(&weights).unwrap(), bench.bytes);
    // Some of it, and a link to it.
    std::fs::write(&weights, &bench.bytes[..1_000]).unwrap();
    let cut = bench.files().pin("tiny", None).map_err(Error::to_wire).unwrap_err();
    assert!(cut.message.contains("1000 bytes") && cut.hint.contains("models get tiny"), "{cut:?}");
    let elsewhere = bench.dir.path().join("elsewhere");
    std::fs::write(&elsewhere, &bench.bytes).unwrap();
    std::fs::remove_file(&weights).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &weights).unwrap();
    let link = bench.files().pin("tiny", None).map_err(Error::to_wire).unwrap_err();
    assert!(link.message.contains("a link"), "{link:?}");
    bench.from(&source).unwrap();
    assert!(std::fs::symlink_metadata(&weights).unwrap().is_file() && elsewhere.exists());
    std::fs::write(&weights, &bench.bytes[..1_000]).unwrap();
    assert_eq!(forget(&bench.home(), "tiny").unwrap(), 1_000);
    assert!(!weights.exists() && bench.files().card_of("tiny").is_none());
}

#[test]
fn a_name_keeps_its_weights_until_it_is_taken_away() {
    let bench = Bench::new();
    let path = bench.dir.path().join("w.gguf");
    let from = path.to_str().unwrap();
    std::fs::write(&path, &bench.bytes).unwrap();
    bench.get(from, None).unwrap();
    let others = [bench.bytes.as_slice(), b"more"].concat();
    let other = seal::Digest::of(&others).to_string();
    std::fs::write(&path, &others).unwrap();
    for digest in [None, Some(other.as_str())] {
        let error = bench.get(from, digest).unwrap_err();
        assert!(error.message.contains("other weights") && error.hint.contains("rm tiny"), "{error:?}");
        assert!(!bench.files().weights(&other).exists(), "no weights without a name");
        assert!(bench.files().pin("tiny", Some(&bench.digest)).is_ok());
    }
    // Weights that the name never meant are not asked under it.
    let files = bench.files();
    std::fs::write(files.weights(&other), &others).unwrap();
    assert!(files.pin("tiny", Some(&other)).is_err());
    // Weights that cannot be removed now keep the name by which they are removed later.
    std::fs::remove_file(files.weights(&bench.digest)).unwrap();
    std::fs::create_dir(files.weights(&bench.digest)).unwrap();
    assert!(forget(&bench.home(), "tiny").is_err());
    assert!(files.card_of("tiny").is_some());
}

#[test]
fn a_page_in_place_of_weights_leaves_what_was_begun() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.files().folder()).unwrap();
    let part = bench.files().folder().join(format!("{}.part", bench.digest));
    std::fs::write(part, &bench.bytes[..1_000]).unwrap();
    let page = Source::new(b"<html>log in to this network</html>".to_vec(), Way::Whole);
    let error = bench.from(&page).unwrap_err();
    assert!(error.message.contains("no GGUF file"), "{error:?}");
    assert_eq!(bench.part(), 1_000);
    bench.from(&Source::new(bench.bytes.clone(), Way::Well)).unwrap();
}

#[test]
fn two_fetches_of_the_same_weights_do_not_write_into_one_file() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.files().folder()).unwrap();
    let _first = Part::open(&bench.files(), &bench.digest).unwrap();
    let error = bench.from(&Source::new(bench.bytes.clone(), Way::Well)).unwrap_err();
    assert!(error.message.contains("another"), "{error:?}");
}
