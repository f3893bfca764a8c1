#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Says how often it was asked. A request for `slow` says one word and waits until it is called off; one for `flood`
/// writes a line without an end, one for `talk` words without an end, and one for `grow` does so from processes that fill
/// memory.
const SIDECAR: &str = r#"#!/bin/sh
asked=0
grow() { s=aaaaaaaa; i=0; while [ $i -lt 20 ]; do s="$s$s"; i=$((i + 1)); done; }
talk() { while :; do printf '{"piece":{"id":%s,"text":"more"}}\n' "$1"; done; }
end() { printf '{"end":{"id":%s,"because":"%s","took":{"tokens_in":1,"tokens_cached":0,"tokens_out":1,"prompt_ms":1,"answer_ms":1}}}\n' "$1" "$2"; }
while IFS= read -r line; do
  case "$line" in
    '{"load":'*) printf '{"loaded":{"protocol":1,"context":8,"parameters":1,"ms":1}}\n' ;;
    '{"generate":'*)
      asked=$((asked + 1)); id=${line#*'"id":'}; id=${id%%,*}
      printf '{"piece":{"id":%s,"text":"asked %s"}}\n' "$id" "$asked"
      case "$line" in
        *slow*) ;;
        *talk*) talk "$id" ;;
        *grow*) for one in 1 2 3 4 5 6 7 8 9 10 11 12; do (grow; tail -f /dev/null; :) & done; talk "$id" ;;
        *flood*) while :; do printf '%s' "$line$line$line$line$line$line$line$line"; done ;;
        *) end "$id" ended ;;
      esac ;;
    '{"cancel":'*) id=${line#*'"id":'}; end "${id%%\}*}" cancelled ;;
  esac
done
"#;

struct Bench {
    _dir: TempDir,
    walls: Sandbox,
    load: Load,
    pool: Arc<Pool>,
}

impl Bench {
    fn new(idle: Duration) -> Self {
        let dir = TempDir::new().unwrap();
        let (program, weights) = (dir.path().join("sidecar"), dir.path().join("w.gguf"));
        std::fs::write(&program, SIDECAR).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&weights, "weights").unwrap();
        let walls = Sandbox::probe(&crate::executors::executor().unwrap());
        let sha256 = seal::Digest::of(b"weights").to_string();
        let load =
            Load { program, sha256, weights, bytes: 7, written: None, memory: 3 << 30, context: 8, idle };
        Self { _dir: dir, walls, load, pool: Arc::default() }
    }

    /// What came, until `goes_on` says no.
    fn ask(
        &self,
        words: &str,
        goes_on: &dyn Fn(&str) -> bool,
    ) -> (Result<HttpReply, ModelHttpError>, String) {
        self.ask_for(words, Duration::from_secs(30), goes_on)
    }

    fn ask_for(
        &self,
        words: &str,
        timeout: Duration,
        goes_on: &dyn Fn(&str) -> bool,
    ) -> (Result<HttpReply, ModelHttpError>, String) {
        let mut heard = Vec::new();
        let mut on_chunk = |bytes: &[u8]| {
            heard.extend_from_slice(bytes);
            goes_on(&String::from_utf8_lossy(&heard))
        };
        let request = format!("{{\"words\":\"{words}\"}}");
        let reply = self.pool.ask(&self.walls, &self.load, request.as_bytes(), timeout, &mut on_chunk);
        (reply, String::from_utf8(heard).unwrap())
    }

    fn running(&self) -> Vec<String> {
        let slots = lock(&self.pool.slots);
        let running = slots.iter().filter(|(_, slot)| lock(&slot.state).running.is_some());
        running.map(|(sha256, _)| sha256.clone()).collect()
    }

    /// The same with other weights beside them.
    fn turn_to(&mut self, weights: &str) {
        self.load.weights = self._dir.path().join(weights);
        std::fs::write(&self.load.weights, weights).unwrap();
        self.load.sha256 = seal::Digest::of(weights.as_bytes()).to_string();
    }
}

#[test]
fn one_sidecar_answers_one_after_the_other_and_a_call_that_is_cancelled_ends_nothing() {
    let bench = Bench::new(Duration::from_secs(60));
    let (reply, heard) = bench.ask("first", &|_| true);
    assert_eq!(reply.unwrap().status, 200);
    assert!(heard.contains("asked 1") && heard.ends_with("data: [DONE]\n\n"), "{heard}");
    let (reply, _) = bench.ask("slow", &|heard| !heard.contains("asked 2"));
    assert_eq!(reply, Err(ModelHttpError::Stopped));
    // Two at once: each has an answer of its own, of the same process.
    let both = std::thread::scope(|scope| {
        let asked = [1, 2].map(|_| scope.spawn(|| bench.ask("more", &|_| true).1));
        asked.map(|one| one.join().unwrap()).concat()
    });
    assert!(both.contains("asked 3") && both.contains("asked 4"), "{both}");
}

#[test]
fn whoever_waits_for_its_turn_can_be_cancelled_while_another_is_answered() {
    let bench = Bench::new(Duration::from_secs(60));
    let (taken, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            bench.ask("slow", &|heard| {
                taken.fetch_or(heard.contains("asked"), Ordering::SeqCst);
                !over.load(Ordering::SeqCst)
            })
        });
        while !taken.load(Ordering::SeqCst) && !first.is_finished() {
            std::thread::yield_now();
        }
        assert!(taken.load(Ordering::SeqCst), "it ended before it was asked");
        assert_eq!(bench.ask("second", &|_| false), (Err(ModelHttpError::Stopped), String::new()));
        over.store(true, Ordering::SeqCst);
        assert_eq!(first.join().unwrap().0, Err(ModelHttpError::Stopped));
    });
    assert!(bench.ask("third", &|_| true).1.contains("asked 2"), "nobody asked for the one that waited");
}

#[test]
fn a_sidecar_that_nobody_asks_is_ended_and_started_again() {
    let bench = Bench::new(Duration::from_millis(300));
    assert!(bench.ask("first", &|_| true).1.contains("asked 1"));
    let begun = Instant::now();
    while !bench.running().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is still there");
        std::thread::yield_now();
    }
    assert!(bench.ask("again", &|_| true).1.contains("asked 1"), "it is another one");
}

#[test]
fn a_sidecar_that_writes_without_an_end_is_ended() {
    let bench = Bench::new(Duration::from_secs(60));
    let (reply, _) = bench.ask("flood", &|_| true);
    assert!(matches!(&reply, Err(ModelHttpError::Cut(why)) if why.contains("a line of over")), "{reply:?}");
    assert!(bench.ask("again", &|_| true).1.contains("asked 1"), "it is another one");
}

/// As long as a test waits for what must end by itself.
fn patient() -> impl Fn(&str) -> bool {
    let begun = Instant::now();
    move |_| begun.elapsed() < Duration::from_secs(60)
}

#[test]
fn the_time_of_a_call_ends_while_words_come_too() {
    let bench = Bench::new(Duration::from_secs(60));
    let (reply, heard) = bench.ask_for("talk", Duration::from_secs(1), &patient());
    assert_eq!(reply, Err(ModelHttpError::TimedOut(1_000)));
    assert!(heard.contains("more"), "it said something all the time");
    assert!(bench.ask("again", &|_| true).1.contains("asked 1"), "it is another one");
}

#[test]
fn the_memory_that_it_may_fill_is_a_bound_while_words_come_too() {
    let mut bench = Bench::new(Duration::from_secs(60));
    bench.load.memory = 64 << 20;
    let (reply, _) = bench.ask_for("grow", Duration::from_secs(90), &patient());
    assert!(matches!(&reply, Err(ModelHttpError::Cut(why)) if why.contains("filled more than")), "{reply:?}");
}

#[test]
fn weights_that_are_damaged_are_not_loaded() {
    let mut bench = Bench::new(Duration::from_secs(60));
    std::fs::write(&bench.load.weights, "Weights").unwrap();
    let (reply, heard) = bench.ask("first", &|_| true);
    let reply = reply.unwrap();
    assert_eq!((reply.status, heard.as_str()), (404, ""));
    assert!(String::from_utf8_lossy(&reply.body).contains("damaged"), "{reply:?}");
    assert!(bench.running().is_empty());
    std::fs::write(&bench.load.weights, "weights").unwrap();
    assert!(bench.ask("first", &|_| true).1.contains("asked 1"));
    // What is written while it is loaded is read before the next answer.
    std::fs::write(&bench.load.weights, "Weights").unwrap();
    bench.load.written = Some(SystemTime::UNIX_EPOCH);
    assert_eq!(bench.ask("second", &|_| true).0.unwrap().status, 404);
}

#[test]
fn one_that_nobody_asks_gives_way_to_another_where_memory_is_short() {
    for (free, stays) in [(Some(0), false), (None, false), (Some(u64::MAX), true)] {
        let mut bench = Bench::new(Duration::from_secs(60));
        let free: fn() -> Option<u64> = match free {
            None => || None,
            Some(0) => || Some(0),
            Some(_) => || Some(u64::MAX),
        };
        bench.pool = Arc::new(Pool { free, ..Pool::default() });
        let first = bench.load.sha256.clone();
        assert_eq!(bench.ask("first", &|_| true).0.unwrap().status, 200);
        bench.turn_to("others");
        assert_eq!(bench.ask("second", &|_| true).0.unwrap().status, 200);
        let running = bench.running();
        assert!(running.contains(&bench.load.sha256));
        assert_eq!(running.contains(&first), stays, "{stays}");
    }
    assert!(super::free().is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn what_one_that_does_not_start_complains_of_is_told() {
    let bench = Bench::new(Duration::from_secs(60));
    let says = |code: u8| {
        let script = format!("#!/bin/sh\necho 'libgomp.so.1: no such file' >&2\nexit {code}\n");
        std::fs::write(&bench.load.program, script).unwrap();
        match bench.ask("first", &|_| true).0 {
            Err(ModelHttpError::Cut(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let never = says(127);
    assert!(
        never.contains("could not be started") && never.contains("libgomp.so.1: no such file"),
        "{never}"
    );
    let ended = says(3);
    assert!(ended.contains("ended by itself") && ended.contains("libgomp.so.1: no such file"), "{ended}");
}

#[test]
fn one_that_was_built_for_another_hermit_is_to_be_built_again() {
    let bench = Bench::new(Duration::from_secs(60));
    for says in [
        r#"{"loaded":{"context":8,"parameters":1,"ms":1}}"#,
        r#"{"loaded":{"protocol":2,"context":8,"parameters":1,"ms":1}}"#,
        r#"{"failed":{"id":null,"kind":"request","why":"unknown field `protocol`"}}"#,
    ] {
        let script = format!("#!/bin/sh\nread -r line\nprintf '%s\\n' '{says}'\nread -r line\n");
        std::fs::write(&bench.load.program, script).unwrap();
        let reply = bench.ask("first", &|_| true).0.unwrap();
        assert_eq!(reply.status, 501, "{says}");
        assert!(bench.running().is_empty());
    }
}
