//! WebKit's driver over its own protocol: a few requests on loopback.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// The name of an element in the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Between two looks at where an element stands.
const STILL: Duration = Duration::from_millis(30);
/// How often that is looked at before it is pressed all the same.
const STILL_LOOKS: u32 = 20;

/// A session with the app.
pub struct Driver {
    port: u16,
    session: String,
}

impl Driver {
    /// Starts the app and waits until the driver has it.
    pub fn begin(port: u16, app: &Path) -> Result<Self, String> {
        let options = json!({ "webkitgtk:browserOptions": { "binary": app, "args": [] } });
        let asked = json!({ "capabilities": { "alwaysMatch": options } });
        let answer = ask(port, "POST", "/session", &asked)?;
        let session = answer["sessionId"].as_str().ok_or("the driver gave no session")?.to_owned();
        let driver = Self { port, session };
        driver.post("timeouts", &json!({ "script": 30_000, "pageLoad": 30_000, "implicit": 0 }))?;
        Ok(driver)
    }

    fn path(&self, rest: &str) -> String {
        format!("/session/{}/{rest}", self.session)
    }

    fn get(&self, rest: &str) -> Result<Value, String> {
        ask(self.port, "GET", &self.path(rest), &Value::Null)
    }

    fn post(&self, rest: &str, body: &Value) -> Result<Value, String> {
        ask(self.port, "POST", &self.path(rest), body)
    }

    /// Every window's handle.
    pub fn windows(&self) -> Vec<String> {
        let found = self.get("window/handles").unwrap_or_default();
        found.as_array().into_iter().flatten().filter_map(|h| h.as_str().map(str::to_owned)).collect()
    }

    /// Turns to the window that shows this page; whether there is one.
    pub fn turn_to(&self, page: &str) -> bool {
        let here = |driver: &Self| driver.run("return location.pathname").is_ok_and(|at| at == page);
        here(self)
            || self
                .windows()
                .iter()
                .any(|handle| self.post("window", &json!({ "handle": handle })).is_ok() && here(self))
    }

    /// Runs a script in the page and answers what it returns.
    pub fn run(&self, script: &str) -> Result<Value, String> {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until what stands in the page has been drawn and nothing in it moves: two frames, or two seconds where a
    /// window in the background draws none.
    pub fn drawn(&self) {
        let script = "const done = arguments[0]; setTimeout(done, 2000);\
            const frames = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));\
            Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(frames);";
        let _ = self.post("execute/async", &json!({ "script": script, "args": [] }));
    }

    /// Asks the app as the page would: the answer, or what it was refused with.
    pub fn invoke(&self, command: &str, params: &Value) -> Result<Value, String> {
        let script = "const [command, params, done] = arguments;\
            window.__TAURI_INTERNALS__.invoke(command, params)\
            .then((answer) => done({ answer: answer ?? null }), (why) => done({ why: typeof why === 'string' ? why : JSON.stringify(why) }));";
        let said = self.post("execute/async", &json!({ "script": script, "args": [command, params] }))?;
        match said["why"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(said["answer"].clone()),
        }
    }

    fn element(&self, selector: &str) -> Result<String, String> {
        let found = self.post("element", &json!({ "using": "xpath", "value": selector }))?;
        found[ELEMENT].as_str().map(str::to_owned).ok_or_else(|| format!("no `{selector}`"))
    }

    /// Whether an element is there.
    pub fn has(&self, selector: &str) -> bool {
        self.element(selector).is_ok()
    }

    /// Presses an element, once it stands still: what moves under the pointer is missed, or another is hit.
    pub fn click(&self, selector: &str) -> Result<(), String> {
        let place = || {
            let element = self.element(selector)?;
            let stands = self.get(&format!("element/{element}/rect"))?;
            Ok::<_, String>((element, stands))
        };
        let (mut element, mut stood) = place()?;
        for _ in 0..STILL_LOOKS {
            std::thread::sleep(STILL);
            let (found, stands) = place()?;
            let is_still = (&found, &stands) == (&element, &stood);
            (element, stood) = (found, stands);
            if is_still {
                break;
            }
        }
        self.post(&format!("element/{element}/click"), &json!({})).map(drop)
    }

    /// Types into an element.
    pub fn write(&self, selector: &str, text: &str) -> Result<(), String> {
        let element = self.element(selector)?;
        self.post(&format!("element/{element}/value"), &json!({ "text": text })).map(drop)
    }

    /// The words of the page.
    pub fn words(&self) -> String {
        self.run("return document.body.innerText")
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Where the middle of an element is, from the corner of the page, in pixels of the page; none while there is none.
    pub fn middle(&self, selector: &str) -> Option<(i64, i64)> {
        let script = format!(
            "const e = document.evaluate({}, document, null, 9, null).singleNodeValue; e.scrollIntoView();\
             const r = e.getBoundingClientRect(); return [Math.round(r.x + r.width / 2), Math.round(r.y + r.height / 2)];",
            json!(selector)
        );
        let at = self.run(&script).ok()?;
        Some((at[0].as_i64()?, at[1].as_i64()?))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = ask(self.port, "DELETE", &format!("/session/{}", self.session), &Value::Null);
    }
}

/// One request to the driver; the value of its answer, or what it complains of.
fn ask(port: u16, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let value = exchange(port, "", (method, path), body)?;
    match value["value"]["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", value["value"]["message"].as_str().unwrap_or_default())),
        None => Ok(value["value"].clone()),
    }
}

/// One request on loopback with more `lines` in its head, and its answer.
pub fn exchange(port: u16, lines: &str, (method, path): (&str, &str), body: &Value) -> Result<Value, String> {
    let failed = |e: std::io::Error| format!("nobody answers there: {e}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(failed)?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{lines}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).map_err(failed)?;
        answer.extend_from_slice(&buffer[..read]);
        if read == 0 || is_whole(&answer) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).map_err(|e| format!("that is no JSON ({e}): {text}"))
}

/// Whether the answer holds as much as it said it would.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    length.is_some_and(|length: usize| answer.len() >= head.len() + 4 + length)
}
