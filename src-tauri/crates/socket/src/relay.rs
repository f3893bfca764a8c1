//! A relay of one's own: it keeps what machines say to each other in memory, and forgets the oldest.

mod bounds;
mod shelf;

use crate::talk::{GREETING, greet};
use crate::{FRAME_BYTES_MAX, Fault, lock};
use bounds::Bounded;
use nostr_relay_builder::builder::{
    PolicyResult, RateLimit, RelayBuilderNip42, RelayBuilderNip42Mode, WritePolicy,
};
use nostr_relay_builder::prelude::{BoxedFuture, Event};
use nostr_relay_builder::{LocalRelay, RelayBuilder};
use shelf::{EVENTS_MAX, Shelf};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Clients at once: in all, and from one address.
const CLIENTS_MAX: usize = 64;
const FROM_ONE_MAX: usize = 8;
/// Subscriptions of one client, and letters of the name of one.
const SUBSCRIPTIONS_MAX: usize = 8;
const NAME_LETTERS_MAX: usize = 64;
/// Events that one client writes in a minute: a large content goes in many.
const EVENTS_PER_MINUTE: u32 = 6_000;
/// The kinds that are taken: wraps, presences, pairings, proofs, and the relays at which somebody reads.
const KINDS: [u16; 5] = [1_059, 30_078, 24_179, 22_242, 10_050];
/// How long it is waited where the system has no more connections to give.
const NONE_LEFT: Duration = Duration::from_millis(200);

/// A relay that runs until it is dropped.
pub struct OwnRelay {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnRelay {
    /// Begins at an address.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn begin(at: SocketAddr) -> Result<Self, Fault> {
        Self::begin_as(at, false)
    }

    /// The same; it takes and gives nothing before whoever is there has proven a key (NIP-42).
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn begin_asking(at: SocketAddr) -> Result<Self, Fault> {
        Self::begin_as(at, true)
    }

    fn begin_as(at: SocketAddr, asks: bool) -> Result<Self, Fault> {
        let failed = |error: io::Error| Fault::new(format!("`{at}`: {}", error.kind()));
        let listener = TcpListener::bind(at).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut builder = Builder::new_current_thread();
        let builder = builder.enable_io().enable_time().max_blocking_threads(CLIENTS_MAX);
        let runtime = builder.build().map_err(failed)?;
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("relay".to_owned());
        let thread = thread.spawn(move || run(runtime, listener, (ended, asks))).map_err(failed)?;
        Ok(Self { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for OwnRelay {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(runtime: Runtime, listener: TcpListener, (ended, asks): (oneshot::Receiver<()>, bool)) {
    runtime.block_on(serve(listener, ended, asks));
    // Whoever is connected is let go, and whoever is just coming ends by itself.
    runtime.shutdown_background();
}

async fn serve(listener: TcpListener, mut ended: oneshot::Receiver<()>, asks: bool) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let relay = LocalRelay::new(rules(asks));
    let seats = Arc::new(Seats::default());
    loop {
        tokio::select! {
            _ = &mut ended => return,
            came = listener.accept() => match came {
                Ok((tcp, from)) => {
                    if let Some(seat) = Seat::take(&seats, from.ip()) {
                        tokio::spawn(serve_one(relay.clone(), tcp, from, seat));
                    }
                }
                Err(_) => tokio::time::sleep(NONE_LEFT).await,
            },
        }
    }
}

async fn serve_one(relay: LocalRelay, tcp: tokio::net::TcpStream, from: SocketAddr, seat: Seat) {
    let Ok(tcp) = tcp.into_std() else { return };
    let Ok(Some(tcp)) = tokio::task::spawn_blocking(move || meet(tcp)).await else { return };
    let Ok(tcp) = tokio::net::TcpStream::from_std(tcp) else { return };
    let _ = relay.take_connection(Bounded::new(tcp), from).await;
    drop(seat);
}

/// Agrees on a WebSocket, within a time and a number of bytes; the connection below it.
fn meet(tcp: TcpStream) -> Option<TcpStream> {
    let tcp = greet(tcp, FRAME_BYTES_MAX, Instant::now() + GREETING)?.into_inner().into_tcp()?;
    tcp.set_nonblocking(true).ok()?;
    Some(tcp)
}

fn rules(asks: bool) -> RelayBuilder {
    let rules = RelayBuilder::default()
        .database(Shelf::default())
        .rate_limit(RateLimit { max_reqs: SUBSCRIPTIONS_MAX, notes_per_minute: EVENTS_PER_MINUTE })
        .max_connections(CLIENTS_MAX)
        .max_subid_length(NAME_LETTERS_MAX)
        .max_filter_limit(EVENTS_MAX)
        .default_filter_limit(EVENTS_MAX)
        .write_policy(Kinds);
    match asks {
        true => rules.nip42(RelayBuilderNip42 { mode: RelayBuilderNip42Mode::Both }),
        false => rules,
    }
}

/// Takes events of a few kinds.
#[derive(Debug)]
struct Kinds;

impl WritePolicy for Kinds {
    fn admit_event<'a>(&'a self, event: &'a Event, _from: &'a SocketAddr) -> BoxedFuture<'a, PolicyResult> {
        let is_taken = KINDS.contains(&event.kind.as_u16());
        Box::pin(std::future::ready(match is_taken {
            true => PolicyResult::Accept,
            false => PolicyResult::Reject("this relay takes no events of this kind".to_owned()),
        }))
    }
}

/// How many clients there are from each address.
#[derive(Default)]
struct Seats(Mutex<BTreeMap<IpAddr, usize>>);

/// The place of one client.
struct Seat {
    seats: Arc<Seats>,
    from: IpAddr,
}

impl Seat {
    fn take(seats: &Arc<Seats>, from: IpAddr) -> Option<Self> {
        let from = crate::address::one_place(from);
        let mut taken = lock(&seats.0);
        let all: usize = taken.values().sum();
        let same = taken.get(&from).copied().unwrap_or(0);
        if all >= CLIENTS_MAX || same >= FROM_ONE_MAX {
            return None;
        }
        taken.insert(from, same + 1);
        Some(Self { seats: Arc::clone(seats), from })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.seats.0);
        if let Some(same) = taken.get_mut(&self.from) {
            *same = same.saturating_sub(1);
        }
        taken.retain(|_, same| *same > 0);
    }
}
