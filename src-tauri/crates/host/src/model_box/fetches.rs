//! Weights that come while a person does something else: begun and stopped from a page, which is told how far they are.

use super::fetch::{Step, Wish, forget, get_while};
use super::files::{Files, catalogue};
use super::{part, sidecar};
use crate::{Config, Error, Home};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use wire::Code;
use wire::models::{BoxModel, BoxModels};
use words::store::BoxState;

/// The fetches of one host, by the model's name. Dropped, they stop; what has come stays.
pub(crate) struct Fetches {
    home: Home,
    all: Mutex<BTreeMap<String, Fetching>>,
}

struct Fetching {
    goes_on: Arc<AtomicBool>,
    came: Arc<Mutex<Came>>,
    thread: JoinHandle<()>,
}

/// How far a fetch has come.
#[derive(Clone, Default)]
struct Came {
    step: Option<Step>,
    /// Why it ended before its end, in one sentence and what helps.
    trouble: Option<String>,
}

impl Fetching {
    fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    fn came(&self) -> Came {
        lock(&self.came).clone()
    }

    fn end(self) {
        self.goes_on.store(false, Ordering::SeqCst);
        // One that broke off has nobody left to tell.
        let _ = self.thread.join();
    }
}

impl Fetches {
    pub(crate) fn of(home: &Home) -> Self {
        Self { home: home.clone(), all: Mutex::default() }
    }

    /// Begins to fetch what is wished; one that is under way already goes on.
    fn begin(&self, config: Config, wish: Wish) -> Result<(), Error> {
        if wish.from.is_none() && !catalogue().iter().any(|entry| entry.name == wish.name) {
            return Err(super::fetch::unknown(&wish.name));
        }
        let mut all = lock(&self.all);
        if all.get(&wish.name).is_some_and(|one| !one.is_over()) {
            return Ok(());
        }
        let (goes_on, came) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Came::default())));
        let (name, home, wanted, tells) =
            (wish.name.clone(), self.home.clone(), Arc::clone(&goes_on), Arc::clone(&came));
        let work = move || {
            let mut told = |step| lock(&tells).step = Some(step);
            let got = get_while(&home, &config, &wish, &mut told, &|| wanted.load(Ordering::SeqCst));
            // Whoever stopped it knows.
            if let Err(error) = got.map_err(Error::to_wire)
                && wanted.load(Ordering::SeqCst)
            {
                let parts = [error.message, error.hint].into_iter().filter(|part| !part.is_empty());
                lock(&tells).trouble = Some(parts.collect::<Vec<_>>().join("; "));
            }
        };
        let thread = std::thread::Builder::new().name("weights".to_owned()).spawn(work);
        let thread = thread.map_err(|e| Error::io("start", std::path::Path::new("the fetch"), &e))?;
        all.insert(name, Fetching { goes_on, came, thread });
        Ok(())
    }
}

impl api::ModelBox for Fetches {
    fn get(&self, name: &str) -> Result<(), wire::Error> {
        let config = Config::load(&self.home).map_err(Error::to_wire)?;
        let wish = Wish { name: name.to_owned(), ..Wish::default() };
        self.begin(config, wish).map_err(Error::to_wire)
    }

    fn stop(&self, name: &str) -> Result<(), wire::Error> {
        let one = lock(&self.all).remove(name).filter(|one| !one.is_over());
        let none = || {
            let message = format!("the weights of `{name}` are not being fetched");
            wire::Error::new(Code::NotFound, message).hint("`models.in_box` lists those that are")
        };
        one.ok_or_else(none)?.end();
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), wire::Error> {
        if let Some(one) = lock(&self.all).remove(name) {
            one.end();
        }
        forget(&self.home, name).map(|_| ()).map_err(Error::to_wire)
    }

    fn listed(&self) -> BoxModels {
        let (files, all) = (Files::of(&self.home), lock(&self.all));
        let kept = files.all();
        let known: BTreeMap<String, _> =
            catalogue().into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut names: Vec<&String> = kept.iter().map(|one| &one.name).chain(known.keys()).collect();
        names.sort();
        names.dedup();
        let model = |name: &String| {
            let (here, entry) = (kept.iter().find(|one| one.name == *name), known.get(name));
            let sha256 =
                here.map(|one| &one.sha256).or(entry.map(|entry| &entry.sha256)).cloned().unwrap_or_default();
            let bytes = here.map(|one| one.bytes).or(entry.map(|entry| entry.bytes)).unwrap_or_default();
            let fetch = all.get(name).filter(|_| here.is_none());
            let came = fetch.map(Fetching::came).unwrap_or_default();
            let state = match (here, fetch.filter(|one| !one.is_over()), came.step) {
                (Some(_), ..) => BoxState::Here,
                (None, Some(_), Some(Step::Checking)) => BoxState::Checking,
                (None, Some(_), _) => BoxState::Fetching,
                (None, None, _) => BoxState::Absent,
            };
            let bytes_here = if here.is_some() { bytes } else { part::length(&files, &sha256) };
            BoxModel {
                address: format!("{}{name}", reasoning::model_box::URL),
                name: name.clone(),
                bytes,
                sha256,
                license: here.and_then(|one| one.license.clone()).or_else(|| Some(entry?.license.clone())),
                about: here.and_then(|one| one.about.clone()).or_else(|| Some(entry?.about.clone())),
                state,
                bytes_here,
                trouble: came.trouble,
            }
        };
        BoxModels { models: names.into_iter().map(model).collect(), trouble: sidecar().err() }
    }
}

impl Drop for Fetches {
    fn drop(&mut self) {
        std::mem::take(&mut *lock(&self.all)).into_values().for_each(Fetching::end);
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::super::fetch::tests::begins_at;
    use super::*;
    use api::ModelBox as _;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    /// Bytes that the mirror sends before it sends nothing more.
    const SENT: usize = 300_000;

    /// Sends the beginning of weights from where it is asked, and keeps the connection; where each request began.
    fn mirror(bytes: u64) -> (String, Arc<Mutex<Vec<u64>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<u64>>> = Arc::default();
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                std::thread::spawn(move || answer(stream, bytes, &told));
            }
        });
        (url, asked)
    }

    fn answer(mut stream: TcpStream, bytes: u64, told: &Mutex<Vec<u64>>) -> Option<()> {
        let from = begins_at(&stream)?;
        told.lock().unwrap().push(from);
        let left = bytes - from;
        let range = format!("Content-Range: bytes {from}-{}/{bytes}\r\n", bytes - 1);
        let status =
            if from > 0 { format!("206 Partial Content\r\n{range}") } else { "200 OK\r\n".to_owned() };
        write!(stream, "HTTP/1.1 {status}Content-Length: {left}\r\n\r\n").ok()?;
        let mut sent = vec![7; SENT];
        if from == 0 {
            sent[..4].copy_from_slice(b"GGUF");
        }
        stream.write_all(&sent).ok()?;
        std::thread::sleep(Duration::from_secs(600));
        Some(())
    }

    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < end, "it never came that {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn at_mirror(home: &Home, url: &str) {
        Config::change(home, |config| {
            config.model_mirror = Some(url.to_owned());
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn weights_come_beside_other_work_stop_when_asked_and_go_on_where_they_stopped() {
        let dir = tempfile::TempDir::new().unwrap();
        let home = Home::find(Some(dir.path())).unwrap();
        let entry = catalogue().remove(0);
        let (url, asked) = mirror(entry.bytes);
        at_mirror(&home, &url);
        let fetches = Fetches::of(&home);
        let first = || fetches.listed().models.into_iter().find(|one| one.name == entry.name).unwrap();
        assert_eq!((first().state, first().bytes, first().bytes_here), (BoxState::Absent, entry.bytes, 0));

        fetches.get(&entry.name).unwrap();
        until("all that was sent is here", || first().bytes_here == SENT as u64);
        assert_eq!(first().state, BoxState::Fetching);
        fetches.get(&entry.name).unwrap();
        let begun = Instant::now();
        fetches.stop(&entry.name).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "a mirror that sends nothing is not waited for");
        assert_eq!(
            (first().state, first().bytes_here, first().trouble),
            (BoxState::Absent, SENT as u64, None)
        );
        assert_eq!(fetches.stop(&entry.name).unwrap_err().code, Code::NotFound);

        fetches.get(&entry.name).unwrap();
        until("it goes on", || first().bytes_here == 2 * SENT as u64);
        assert_eq!(
            *asked.lock().unwrap(),
            [0, SENT as u64],
            "one fetch at a time, and none from the beginning"
        );

        // Taken away while it comes: nothing of it is left, and nothing comes after it.
        fetches.remove(&entry.name).unwrap();
        assert_eq!((first().state, first().bytes_here), (BoxState::Absent, 0));
        assert_eq!(fetches.remove(&entry.name).unwrap_err().code, Code::NotFound);
        assert_eq!(fetches.get("no-such-model").unwrap_err().code, Code::Usage);
    }

    #[test]
    fn a_fetch_that_failed_says_why_until_it_begins_again() {
        let dir = tempfile::TempDir::new().unwrap();
        let home = Home::find(Some(dir.path())).unwrap();
        let entry = catalogue().remove(0);
        let (url, _) = mirror(entry.bytes + 1);
        at_mirror(&home, &url);
        let fetches = Fetches::of(&home);
        let first = || fetches.listed().models.into_iter().find(|one| one.name == entry.name).unwrap();
        fetches.get(&entry.name).unwrap();
        until("it has failed", || first().state == BoxState::Absent && first().trouble.is_some());
        assert!(first().trouble.unwrap().contains("another file"), "what helps is said, too");
        let (url, _) = mirror(entry.bytes);
        at_mirror(&home, &url);
        fetches.get(&entry.name).unwrap();
        until("it comes", || first().bytes_here > 0);
        assert_eq!(first().trouble, None);
    }
}
