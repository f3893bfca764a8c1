//! A program of the person's own: it brings what is written in signed calls, and is told what the bot says.

use super::super::doubles::{Asked, Double};
use super::{Line, Peer, Written, empty, lock, taken};
use api::messages::Call;
use model::gateway::Service;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The Base64 of 24 bytes, behind the letters by which secrets of Standard Webhooks begin.
const SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The call that brings a message, signed at that time.
pub fn call(one: &Written, secret: &str, now: i64) -> Call {
    let (id, timestamp) = (format!("msg_{}", one.id), (now / 1000).to_string());
    let body = json!({ "sender": one.who, "name": "Kim", "text": one.text }).to_string().into_bytes();
    let signatures = seal::webhook::sign(secret.as_bytes(), &id, &timestamp, &body);
    Call { id, timestamp, signatures, body }
}

pub fn webhook() -> Peer {
    let room = empty();
    let of = Arc::clone(&room);
    let double = Double::new(move |asked: &Asked| {
        let key = asked.headers.get("webhook-id").cloned();
        let text = asked.json()["text"].as_str().unwrap_or_default().to_owned();
        taken(lock(&of).takes(key, text, false), |number| json!({ "number": number }))
    });
    let line = Line::to(double.port);
    Peer {
        service: Service::Webhook,
        address: line.url("http"),
        settings: BTreeMap::new(),
        token: SECRET,
        names: |who| (who.to_owned(), who.to_owned()),
        knows_repeats: false,
        calls: true,
        room,
        lines: vec![line],
    }
}
