//! The other side of a drop: a program that holds files above a window and lets them fall, as a file manager does
//! (XDND, version 5).

use std::path::Path;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageData, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask,
    PropMode, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// A window that takes files at all has said so by then.
const PATIENCE: Duration = Duration::from_secs(60);
/// A time of the display, as far as it matters: none at all would mean that the hand was drawn back.
const AT: u32 = 1_000;
/// Between two moves of the hand.
const MOVE: Duration = Duration::from_millis(60);

struct Names {
    selection: u32,
    enter: u32,
    position: u32,
    status: u32,
    drop: u32,
    finished: u32,
    leave: u32,
    copy: u32,
    uris: u32,
}

/// A hand with files in it.
pub struct Hand {
    x: RustConnection,
    window: Window,
    names: Names,
    uris: Vec<u8>,
}

impl Hand {
    /// Takes these files.
    pub fn holding(display: &str, paths: &[&Path]) -> Self {
        let (x, screen) = x11rb::connect(Some(display)).expect("the display");
        let root = x.setup().roots[screen].root;
        let window = x.generate_id().expect("a number");
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let (kind, visual) = (WindowClass::INPUT_OUTPUT, x.setup().roots[screen].root_visual);
        x.create_window(0, window, root, 0, 0, 1, 1, 0, kind, visual, &look).expect("a window");
        let atom =
            |name: &str| x.intern_atom(false, name.as_bytes()).expect("asked").reply().expect("an atom").atom;
        let names = Names {
            selection: atom("XdndSelection"),
            enter: atom("XdndEnter"),
            position: atom("XdndPosition"),
            status: atom("XdndStatus"),
            drop: atom("XdndDrop"),
            finished: atom("XdndFinished"),
            leave: atom("XdndLeave"),
            copy: atom("XdndActionCopy"),
            uris: atom("text/uri-list"),
        };
        x.set_selection_owner(window, names.selection, 0_u32).expect("it is ours");
        x.flush().expect("said");
        let uris: String = paths.iter().map(|path| format!("file://{}\r\n", path.display())).collect();
        Self { x, window, names, uris: uris.into_bytes() }
    }

    fn say(&self, to: Window, name: u32, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, to, name, ClientMessageData::from(data));
        self.x.send_event(false, to, EventMask::NO_EVENT, event).expect("said");
        self.x.flush().expect("said");
    }

    /// Gives out what is held to whoever asks; what else was said.
    fn hear(&self) -> Option<ClientMessageEvent> {
        let until = Instant::now() + MOVE;
        while Instant::now() < until {
            match self.x.poll_for_event().expect("the display is there") {
                Some(Event::SelectionRequest(asked)) => self.give(&asked),
                Some(Event::ClientMessage(said)) => return Some(said),
                Some(_) => {}
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        None
    }

    fn give(&self, asked: &SelectionRequestEvent) {
        let known = asked.target == self.names.uris;
        if known {
            let (mode, kind) = (PropMode::REPLACE, asked.target);
            self.x.change_property8(mode, asked.requestor, asked.property, kind, &self.uris).expect("given");
        }
        let told = SelectionNotifyEvent {
            response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: if known { asked.property } else { AtomEnum::NONE.into() },
        };
        self.x.send_event(false, asked.requestor, EventMask::NO_EVENT, told).expect("said");
        self.x.flush().expect("said");
    }

    fn over(&self, target: Window, (x, y): (u32, u32)) {
        self.say(target, self.names.position, [self.window, 0, x << 16 | y, AT, self.names.copy]);
    }

    /// Comes over a window, at a place of the display; whether it would take what is held.
    pub fn enters(&self, target: Window, at: (u32, u32)) -> bool {
        self.say(target, self.names.enter, [self.window, 5 << 24, self.names.uris, 0, 0]);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            self.over(target, at);
            if self
                .hear()
                .is_some_and(|said| said.type_ == self.names.status && said.data.as_data32()[1] & 1 == 1)
            {
                return true;
            }
        }
        false
    }

    /// Stays above it a moment longer, moving as hands do.
    pub fn stays(&self, target: Window, (x, y): (u32, u32)) {
        self.over(target, (x + 1, y));
        let _ = self.hear();
    }

    /// Goes away again with everything.
    pub fn leaves(&self, target: Window) {
        self.say(target, self.names.leave, [self.window, 0, 0, 0, 0]);
    }

    /// Lets everything fall; whether it was taken.
    pub fn drops(&self, target: Window) -> bool {
        self.say(target, self.names.drop, [self.window, 0, AT, 0, 0]);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.hear().is_some_and(|said| said.type_ == self.names.finished) {
                return true;
            }
        }
        false
    }
}
