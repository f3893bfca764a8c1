//! Pages on other devices, and under this machine's own name: links that a person gives from a page whose own link was
//! read at a terminal, and the list of pages that are open, each of which can be ended.

use crate::answer::{of, refusal};
use crate::guard::Who;
use crate::page_approval::{field, only, opened};
use crate::server::{Gateway, Lane};
use crate::sessions::{Given, Listed, Place};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use qrcode::{Color, EcLevel, QrCode};
use serde_json::{Value, json as value};
use std::sync::Arc;
use wire::{Code, Error};

/// Light squares around a code, without which no camera finds it.
const MARGIN: usize = 4;

/// A text as a square code for a camera: rows of squares, dark where true, with the margin around them. None for more
/// than fits.
pub fn squares(text: &str) -> Option<Vec<Vec<bool>>> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let blank = vec![false; width + 2 * MARGIN];
    let colors = code.to_colors();
    let rows = colors.chunks(width).map(|row| {
        let dark = row.iter().map(|color| *color == Color::Dark);
        let margin = std::iter::repeat_n(false, MARGIN);
        margin.clone().chain(dark).chain(margin).collect::<Vec<bool>>()
    });
    let margin = std::iter::repeat_n(blank, MARGIN);
    Some(margin.clone().chain(rows).chain(margin).collect())
}

/// Only a page that was opened with a link from a terminal, or that a passkey signed in.
fn by_person(who: Who) -> Result<(), Error> {
    who.by_person("sees and ends the others")
}

fn told(one: &Listed) -> Value {
    value!({
        "number": one.number,
        "own": one.own,
        "elsewhere": one.place == Place::Elsewhere,
        "at_terminal": one.given != Given::ToProgram,
        "by_passkey": one.given == Given::ByPasskey,
        "opened_at": one.opened_at,
        "used_at": one.used_at,
    })
}

fn all(gateway: &Gateway, session: &str) -> Value {
    let sessions = gateway.guard.sessions.list(session, gateway.now());
    value!({
        "origin": gateway.guard.outer.as_ref().map(crate::Origin::as_str),
        "sessions": sessions.iter().map(told).collect::<Vec<Value>>(),
    })
}

/// `POST /api/session/devices`: the pages that are open, and the origin for other devices.
pub(crate) async fn list(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = match by_person(who) {
        Ok(()) => opened(who, &headers, request, |given| only(given, &[])).await,
        Err(error) => Err(error),
    };
    of(given.map(|(session, ())| all(&gateway, &session)))
}

/// `POST /api/session/devices/link`: a link for another device, or for this one under its own name. A page elsewhere makes
/// none, and one that a passkey signed in neither, so that one device does not bring the next.
pub(crate) async fn link(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let here = match who {
        Who::Browser { place: Place::Here, .. } => who.at_terminal("makes links"),
        _ => Err(Error::new(Code::Forbidden, "only a page on this machine makes links for other devices")),
    };
    let read = |given: &Value| {
        only(given, &["to"])?;
        field(given, "to")
    };
    let given = match here {
        Ok(()) => opened(who, &headers, request, read).await,
        Err(error) => Err(error),
    };
    let made = given.and_then(|(_, to)| match to.as_str() {
        "elsewhere" => gateway.link_elsewhere(Given::AtTerminal),
        "localhost" => gateway.link_by_name(Given::AtTerminal),
        other => Err(Error::new(Code::Usage, format!("`{other}` is no place for a link"))
            .hint("it is `elsewhere` or `localhost`")),
    });
    of(made.map(|link| {
        let code = squares(&link.url).map(|rows| {
            let row =
                |row: Vec<bool>| row.into_iter().map(|dark| if dark { '1' } else { '0' }).collect::<String>();
            rows.into_iter().map(row).collect::<Vec<String>>()
        });
        value!({ "url": link.url, "expires_at": link.expires_at, "code": code })
    }))
}

/// `POST /api/session/devices/end`: one of the pages is shut out.
pub(crate) async fn end(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = |given: &Value| {
        only(given, &["number"])?;
        let number = given.get("number").and_then(Value::as_u64);
        number.ok_or_else(|| Error::new(Code::Usage, "`number` is missing, or no number"))
    };
    let given = match by_person(who) {
        Ok(()) => opened(who, &headers, request, read).await,
        Err(error) => Err(error),
    };
    let (session, number) = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let end = move |host: &dyn api::Host| {
        let ended = at.guard.sessions.end_listed(number, at.now());
        let ended = ended.ok_or_else(|| Error::new(Code::NotFound, "this page is not open any more"))?;
        at.files.end(ended.reveal());
        api::pushes::end_of_page(host, ended.reveal(), "its page was ended")?;
        Ok(all(&at, &session))
    };
    of(gateway.seated_at(Lane::Urgent, end).await)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_code_is_a_square_with_a_margin_and_its_three_corners() {
        let rows = squares("https://desk.example/#token=0123").expect("it fits");
        assert!(rows.iter().all(|row| row.len() == rows.len()));
        assert!(rows[MARGIN - 1].iter().all(|dark| !dark), "the margin is light");
        let last = rows.len() - MARGIN - 1;
        assert!(rows[MARGIN][MARGIN] && rows[MARGIN][last] && rows[last][MARGIN]);
        assert!(squares(&"x".repeat(8_000)).is_none());
    }
}
