#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Says how often it was asked. A request for `slow` says one word and waits until it is called off; one for `flood`
/// writes a line without an end.
const SIDECAR: &str = r#"#!/bin/sh
asked=0
end() { printf '{"end":{"id":%s,"because":"%s","took":{"tokens_in":1,"tokens_cached":0,"tokens_out":1,"prompt_ms":1,"answer_ms":1}}}\n' "$1" "$2"; }
while IFS= read -r line; do
  case "$line" in
    '{"load":'*) printf '{"loaded":{"context":8,"parameters":1,"ms":1}}\n' ;;
    '{"generate":'*)
      asked=$((asked + 1)); id=${line#*'"id":'}; id=${id%%,*}
      printf '{"piece":{"id":%s,"text":"asked %s"}}\n' "$id" "$asked"
      case "$line" in
        *slow*) ;;
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
        let load = Load { program, sha256: "a".repeat(64), weights, context: 8, idle };
        Self { _dir: dir, walls, load, pool: Arc::default() }
    }

    /// What came, until `goes_on` says no.
    fn ask(
        &self,
        words: &str,
        goes_on: &dyn Fn(&str) -> bool,
    ) -> (Result<HttpReply, ModelHttpError>, String) {
        let mut heard = Vec::new();
        let mut on_chunk = |bytes: &[u8]| {
            heard.extend_from_slice(bytes);
            goes_on(&String::from_utf8_lossy(&heard))
        };
        let request = format!("{{\"words\":\"{words}\"}}");
        let timeout = Duration::from_secs(30);
        let reply = self.pool.ask(&self.walls, &self.load, request.as_bytes(), timeout, &mut on_chunk);
        (reply, String::from_utf8(heard).unwrap())
    }

    fn is_running(&self) -> bool {
        let slots = lock(&self.pool.slots);
        slots.values().any(|slot| lock(&slot.state).running.is_some())
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
        while !taken.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
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
    while bench.is_running() {
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
