//! Events out of a byte stream, however it is cut: server-sent ones, or lines of JSON.

use crate::Error;

/// Bytes of one line: a whole answer sent as one event still fits.
const LINE_BYTES_MAX: usize = 2 * model::limits::MODEL_ANSWER_BYTES_MAX;

/// Splits a stream into the data of its events. Only `data` fields matter to these protocols; comments, ids, event
/// names and retry hints are passed over. Lines end with `\n`, `\r\n` or `\r`.
///
/// Where the protocol has it so, each line is an event of its own.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    data: Option<String>,
    after_cr: bool,
    seen: bool,
    lines: bool,
}

impl Events {
    /// Events that are lines of JSON.
    pub fn of_lines() -> Self {
        Self { lines: true, ..Self::default() }
    }

    /// Whether any event was seen: if not, the body is no event stream.
    pub const fn seen(&self) -> bool {
        self.seen
    }

    /// Takes the next bytes; `on_event` gets the data of every event that they complete, in order.
    ///
    /// # Errors
    /// [`Error::Garbage`] for a `data` line that is not UTF-8, [`Error::TooLong`] for one without end, and
    /// whatever `on_event` returns.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        on_event: &mut dyn FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for byte in bytes {
            let follows_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match byte {
                b'\n' if follows_cr => {}
                b'\n' | b'\r' => self.end_line(on_event)?,
                other if self.line.len() < LINE_BYTES_MAX => self.line.push(*other),
                _ => return Err(Error::TooLong { bytes_max: LINE_BYTES_MAX }),
            }
        }
        Ok(())
    }

    /// The stream has ended: a last line without its end, and an event without its empty line, still count.
    ///
    /// # Errors
    /// As [`Events::feed`].
    pub fn finish(&mut self, on_event: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
        if !self.line.is_empty() {
            self.end_line(on_event)?;
        }
        self.dispatch(on_event)
    }

    fn end_line(&mut self, on_event: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        if self.lines {
            self.seen = true;
            return on_event(utf8(&line)?);
        }
        let Some(value) = line.strip_prefix(b"data:") else { return Ok(()) };
        let text = utf8(value.strip_prefix(b" ").unwrap_or(value))?;
        self.seen = true;
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(text);
            }
            None => self.data = Some(text.to_owned()),
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
        match self.data.take() {
            Some(data) => on_event(&data),
            None => Ok(()),
        }
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::Garbage {
        why: "a piece of the stream is not UTF-8".to_owned(),
        advice: "look at the server's log; an update of the server may help".to_owned(),
    })
}
