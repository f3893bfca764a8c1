//! A panel's side of the tray, over D-Bus: it takes items in, reads them, and presses in their menus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, Proxy};
use zbus::zvariant::{OwnedValue, Structure, Value};

/// One part of a menu as the protocol says it: number, properties, parts.
type Part = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

struct Watcher {
    items: Arc<Mutex<Vec<String>>>,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: &str) {
        self.items.lock().expect("no poison").push(service.to_owned());
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.items.lock().expect("no poison").clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

/// A panel.
pub struct Panel {
    connection: Connection,
    items: Arc<Mutex<Vec<String>>>,
}

impl Panel {
    /// Takes its place on the bus.
    pub fn begin(address: &str) -> Self {
        let items = Arc::default();
        let watcher = Watcher { items: Arc::clone(&items) };
        let connection = Builder::address(address)
            .and_then(|b| b.name("org.kde.StatusNotifierWatcher"))
            .and_then(|b| b.serve_at("/StatusNotifierWatcher", watcher))
            .and_then(Builder::build)
            .expect("a panel on the bus");
        Self { connection, items }
    }

    fn proxy(&self, path: &'static str, interface: &'static str) -> Option<Proxy<'static>> {
        let service = self.items.lock().expect("no poison").last()?.clone();
        Proxy::new(&self.connection, service, path, interface).ok()
    }

    /// What the panel shows beside the glyph; empty while there is no tray.
    pub fn title(&self) -> String {
        let item = self.proxy("/StatusNotifierItem", "org.kde.StatusNotifierItem");
        item.and_then(|item| item.get_property("Title").ok()).unwrap_or_default()
    }

    /// The glyph: the bytes of its picture.
    pub fn glyph(&self) -> Vec<u8> {
        let item = self.proxy("/StatusNotifierItem", "org.kde.StatusNotifierItem");
        let found = item.and_then(|item| item.get_property::<Vec<(i32, i32, Vec<u8>)>>("IconPixmap").ok());
        found.and_then(|all| all.into_iter().next()).map(|(_, _, bytes)| bytes).unwrap_or_default()
    }

    /// The lines of its menu with their numbers.
    pub fn menu(&self) -> Vec<(i32, String)> {
        let Some(menu) = self.proxy("/MenuBar", "com.canonical.dbusmenu") else { return Vec::new() };
        let asked = menu.call::<_, _, (u32, Part)>("GetLayout", &(0_i32, -1_i32, Vec::<String>::new()));
        asked.map(|(_, (_, _, parts))| parts.into_iter().filter_map(line).collect()).unwrap_or_default()
    }

    /// Presses the line that holds these words.
    pub fn press(&self, words: &str) {
        let menu = self.menu();
        let line = menu.iter().find(|(_, label)| label.contains(words));
        let (id, _) = line.unwrap_or_else(|| panic!("no `{words}` in {menu:?}"));
        let proxy = self.proxy("/MenuBar", "com.canonical.dbusmenu").expect("a menu");
        proxy.call::<_, _, ()>("Event", &(*id, "clicked", Value::from(0_i32), 0_u32)).expect("it is pressed");
    }
}

fn line(part: OwnedValue) -> Option<(i32, String)> {
    let part = Structure::try_from(part).ok()?;
    let id = i32::try_from(part.fields().first()?.try_clone().ok()?).ok()?;
    let properties: HashMap<String, OwnedValue> = part.fields().get(1)?.try_clone().ok()?.try_into().ok()?;
    let label = String::try_from(properties.get("label")?.try_clone().ok()?).ok()?;
    Some((id, label))
}
