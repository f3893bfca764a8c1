//! The same api over loopback HTTP, for whoever attaches to the process that holds the store.
//!
//! **What this room is for.** One way in for programs and browsers of the same user: the commands of the wire's table,
//! a stream of notices, the run API, the built UI's files; and [`Client`], the other end of it.
//!
//! **What it must never do.** Listen anywhere but on loopback; answer without token or session; answer a page of
//! another origin, whatever name it gave this machine; redirect; run a command of class `owner`; grant to a program, or
//! to anybody without the approval passphrase in that very request.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A request without the exact token or a session is answered 401, one of a foreign host or origin 403, and nothing
//!    else happens.
//! 2. A body over [`BODY_BYTES_MAX`] is answered 413 and not kept in memory.
//! 3. Every answer that is no success is the wire's error shape, with the status its code says.
//! 4. The token is compared in constant time, is readable for its owner only, and is in no message and no log.
//! 5. The client sends the token to loopback addresses only and follows no redirect.
//! 6. A link for a browser works once, at one name, and for ten minutes; one for another device for five. Its session is carried by its page alone, in a header that no
//!    other origin sends; no cookie is set, so no other server on this machine is sent it.
//! 7. A yes comes from a browser's session, for a card that this session was shown a moment before, byte for byte, with
//!    the approval passphrase or signed by a passkey that was asked for exactly this; no token, cookie or ticket stands for
//!    it. Wrong ones make everybody wait, passphrases and passkeys each for themselves.
//! 8. A session names no place of this machine but a folder to work in; it sends the bytes of files and is sent those of
//!    what is made. It boots, settles and vouches for nothing, and what it says is not recorded as a person's.
//! 9. Keys are made and opened by a page whose link a person read at a terminal, and by no other; wrong passphrases make
//!    everybody wait.
//! 10. Strangers hold no more than 64 connections, each for ten seconds of a head and a body of 1 KiB, that of a call of a
//!     hook 64 KiB, and of a sign-in 16 KiB, within ten seconds more; what a person waits for has seats of its own.
//! 11. Passkeys are added by such a page as well, at the name that they then belong to, with the approval passphrase.
//! 12. Beside its own names the gateway answers to one origin that a person named, and to none unasked. What comes by that
//!     name carries that origin, has a link and a session of its own, and is never a program.
//! 13. A page may run the files beside it and ask this host, and nothing else ([`POLICY`]).
//! 14. A call of a hook comes in without token or session, by `POST` at that one path, and gains neither. It is refused in the same
//!     words whether nobody waits for the hook or it is not signed with its secret; what it says is data. A message for a gateway
//!     comes in the same way, and is on record before it is answered.
//! 15. A passkey signs a page in for what was drawn at its origin, once and within five minutes; such a session ends with the passkey, and so
//!     does what it listens to. It makes and opens no keys, adds no passkey, makes no link and resumes nothing without the passphrase. Who
//!     has shown nothing is not told which passkeys there are.
//! 16. A device is notified only where a page of a person asked for it, and until that page is ended or it is turned off.
//!
//! # The HTTP shape
//!
//! **Who comes in.** `Host` is `127.0.0.1:PORT` or `localhost:PORT`, or that of the [`Origin`] that was named, for pages
//! alone; the `Origin` header, when sent, is its own; a browser's `Sec-Fetch-Site` is `same-origin` or `none`; else 403. Then `Authorization: Bearer TOKEN` with the 64 digits of
//! [`TOKEN_FILE`], or `x-hermit-session: HEX` of a page, whose changes must carry their `Origin`; else 401. Files need
//! neither.
//!
//! | method and path | body | answer |
//! |---|---|---|
//! | `POST /api/session` | `{"token"}` from the fragment of the link `/#token=HEX` | `{"kind":"browser","session","expires_at"}`; 401 when it was used or lapsed |
//! | `GET /api/session` | | `{"kind":"browser"\|"program","expires_at"}`, or 401 |
//! | `DELETE /api/session` | | 204 |
//! | `POST /api/session/link` | programs only | `{"token","url","expires_at"}` |
//! | `POST /api/session/card` | browsers only: `{"approval"}`, when its card is shown | `{"ticket","approval","packet_sha256","armed_at","arms_in","word"?}` |
//! | `POST /api/session/offers` | browsers only: `{"approval","scope"?,"days"?,"uses"?}` | what could be allowed from now on at this card, `[{"words","days","uses","rehearsed"}]` |
//! | `POST /api/session/prepare_override` | browsers only: `{"act","reason","hours"?,"uses"?}`, about a denial | `{"ticket","words","denied","word","armed_at","arms_in"}` |
//! | `POST /api/session/allow_override` | browsers only: `{"ticket","words","passphrase","word"}` | `{"grant_id","task_id"}`; refusals as of `allow` |
//! | `POST /api/session/allow` | browsers only: `{"ticket","packet_sha256","passphrase","word"?,"lasting"?}`; `word` is the risk, at high and critical; `lasting` is `{"scope"?,"number","days","uses","words"}` of an offer | `{"approval_id","task_id","accepted","status"}`; 403 to programs, 409 too early, stale, answered or wrong passphrase, 429 with `details.retry_at` after three of those |
//! | `POST /api/session/passkey/options` | pages of a terminal's link only, not at an address of numbers | what a browser makes a passkey with, for five minutes |
//! | `POST /api/session/passkey/enrol` | likewise: `{"name","attested","passphrase"}` | the passkey; refusals as of `allow` |
//! | `POST /api/session/passkey/ask` | browsers only: `{"ticket","packet_sha256"}` | what a passkey has to sign, `{"decision","challenge","credentials","rp_id"}`; then `allow` takes `passkey` in place of `passphrase`, and nothing `lasting` |
//! | `POST /api/session/passkey/sign_in_options` | `{}`; needs no session, at a name only | what a passkey has to sign, `{"challenge","rp_id"}` |
//! | `POST /api/session/passkey/sign_in` | `{"challenge","credential_id","client_data_json","authenticator_data","signature"}`; needs no session | as of `POST /api/session`; 409 for a challenge that is used or too old, 429 with `details.retry_at` |
//! | `POST /api/session/push` | pages of a terminal's link, or that a passkey signed in | the devices that are notified, `{"devices":[{"subscription","name","service","origin","outcomes","since","own","page"?}]}`; `page` is a number of `devices` |
//! | `POST /api/session/push/key` | likewise, at a name | `{"key"}`, which the browser takes messages from |
//! | `POST /api/session/push/subscribe` | likewise: `{"name","outcomes","subscription":{"endpoint","p256dh","auth"}}` | as of `push` |
//! | `POST /api/session/push/end` | likewise, anywhere: `{"subscription"}` | as of `push` |
//! | `POST /api/session/devices` | pages of a terminal's link only | the pages that are open, `{"origin"?,"sessions":[{"number","own","elsewhere","at_terminal","by_passkey","opened_at","used_at"}]}` |
//! | `POST /api/session/devices/link` | likewise, on this machine: `{"to"}`, `elsewhere` or `localhost` | `{"url","expires_at","code"?}`; the code's squares row by row |
//! | `POST /api/session/devices/end` | likewise, anywhere: `{"number"}` | as of `devices` |
//! | `POST /api/session/boot` | browsers only: `{"passphrase"}` | the gate's state; refusals as of `allow` |
//! | `POST /api/session/settle` | browsers only: `{"task","result","note","passphrase"}` | `{"task_id","status"}`; refusals as of `allow` |
//! | `POST /api/session/resume` | browsers only: `{"of","name","passphrase"}`, `of` is `schedule` or `gateway` | `null`; refusals as of `allow` |
//! | `POST /api/session/mesh` | browsers only: `{"command","params","passphrase"}`, a command of the mesh that a person gives | its answer; refusals as of `allow` |
//! | `POST /api/session/keys` | browsers only | `{"at_terminal","made","approval","open","vault"?,"no_keychain"?,"chars_min"}` |
//! | `POST /api/session/keys/make` | pages of a terminal's link only: `{"keychain","vault_passphrase"?,"approval_passphrase"}` | as of `keys`; refusals as of `allow` |
//! | `POST /api/session/keys/unlock` | likewise: `{"passphrase"?}`, none for the system's keychain | as of `keys`; open for eight hours |
//! | `POST /api/session/keys/passphrase` | likewise: `{"approval","old","new"}` | as of `keys`; the keys stay what they are; 429 also where the other passphrase was wrong too often, which each change counts for |
//! | `POST /api/session/keys/lock` | browsers only | as of `keys` |
//! | `POST /api/session/shows` | browsers only: `{"listener","conversation"?}`, the number of `hello` | `null`; the page is told the words of that conversation as they come, and of no other |
//! | `POST /api/session/upload?name=NAME` | browsers only: the bytes of a file, 256 MiB at most | `{"upload","byte_size"}`; `upload` stands for its path in a command's parameters, for ten minutes |
//! | `POST /api/session/download` | browsers only: `{"command","name","params"?}` of `proof.export`, `gate.export`, `changes.export`, `store.backup`, `identity.export` or `mesh.export`, without the place | the bytes, a folder as a zip; the command's answer as JSON in `x-hermit-answer` |
//! | `POST /v1/hooks/{name}` | whatever its sender signs, with `webhook-id`, `webhook-timestamp` and `webhook-signature` as Standard Webhooks has them, or `x-github-delivery` and `x-hub-signature-256` | `{"duplicate"}`, 202 when it was taken, 200 when it had been; 403 for what is refused, 413 beyond 64 KiB, 429 when too many come; needs no token |
//! | `POST /v1/messages/{gateway}` | `{"sender", "text", "name"?, "chat"?, "is_group"?, "reply_to"?}`, signed with the secret of a gateway of the service `webhook` as Standard Webhooks has it | `{"duplicate"}`, 202 when it was heard, 200 when it had been; 403 for what is not signed and, with the reason, for who is not heard, 413 beyond 128 KiB, 429 for what is not signed when many such calls were refused; needs no token |
//! | `GET /api/commands` | | `{"commands":[{"name","about","reads","topics"}]}` |
//! | `POST /api/{noun.verb}` | the command's parameters as an object, or nothing | its answer |
//! | `GET /api/notices` | | server-sent events, below |
//! | anything else, `GET` | | a file of the built UI; a path without a dot is its `index.html` |
//!
//! A passphrase is text, or the list of its bytes where JSON would escape a character of it.
//!
//! **Errors** are `{"code","message","hint"?,"details"?}` with the status of [`wire::Code::http_status`]; an unknown
//! parameter is 422 with `details.field`, too many streams and downloads at once are 429.
//!
//! **Notices.** First `event: hello` with `{"store_id"}`, for a page with `listener` too, its number: whatever is shown is asked for again,
//! after every reconnect too. A model's words on their way (`delta`, `reasoning`) go to a page only of the conversation that it shows. Then `event: event | delta | reasoning | output | progress | keys`, each `data:` a [`wire::Notice`] in one line, and `: alive` every ten
//! seconds of silence. They are never truth and never replayed; a listener that falls too far behind is cut off.
//!
//! **Runs** (`/v1`, run-api.md): `POST /v1/runs`, `GET /v1/runs/{id}`, `GET /v1/runs/{id}/events` (a page, or with
//! `Accept: text/event-stream` a replay that goes on live; `?cursor=`, `?after_seq=`, `Last-Event-ID`), `POST
//! /v1/runs/{id}/cancel | approval | messages`, `POST /v1/runs/{id}/clarifications/{clarify_id}/respond`, `POST
//! /v1/sessions/{id}/goal`, `GET /v1/sessions/{id}/runs`, `GET | POST /v1/tools`, `GET | DELETE /v1/tools/{server}`, `GET
//! /v1/capabilities`. Shapes are [`wire::runs`]. Each event has `id:` its name and `event:` its family; before them `event: resumed` with `{"resumed"}` says whether
//! everything comes again (`foreign`, `malformed`, `ahead`). The stream ends behind the event that ends the run; who
//! asks once more then is answered 204, which tells an `EventSource` to stay away.
//!
//! **Agents** (`/mcp`, Streamable HTTP of the Model Context Protocol): `POST /mcp?workspace=FOLDER` takes one message and answers
//! with one, `DELETE` ends a conversation, and there is no stream. Only programs come in.
//!
//! **Where to start reading.** [`serve`], then `guard` and `sessions`, then [`Client`].

mod agents;
mod answer;
mod client;
mod commands;
mod connections;
mod devices;
mod files;
mod guard;
mod hooks;
mod messages;
mod notices;
mod origin;
mod page_approval;
mod page_keys;
mod pages;
mod passkeys;
mod person_commands;
mod pushes;
mod runs;
mod seats;
mod server;
mod sessions;
mod shown;
mod sign_in;
mod sse;
mod standing_grants;
mod token;

pub use answer::BODY_BYTES_MAX;
pub use client::Client;
pub use devices::squares;
pub use origin::Origin;
pub use page_keys::{Keeper, KeyState, NewKeys, NewPassphrase};
pub use pages::POLICY;
pub use server::{Link, Options, Server, serve};
pub use token::{TOKEN_FILE, Token};

/// Draws 32 random bytes.
pub type Draw = std::sync::Arc<dyn Fn() -> [u8; 32] + Send + Sync>;

/// Why a gateway cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener is reachable from elsewhere.
    #[error("`{0}` is no loopback address; the gateway listens on this machine only")]
    NotLoopback(String),
    /// What was named as the address for other devices cannot be it.
    #[error("`{origin}` cannot be the address for other devices: {why}")]
    Origin {
        /// As it was written.
        origin: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The token's file says no.
    #[error("the token file `{path}` cannot be {act}: {why}")]
    Token {
        /// `read` or `written`.
        act: &'static str,
        /// Where.
        path: String,
        /// What was said.
        why: String,
    },
    /// The system says no.
    #[error("the gateway cannot {act}: {why}")]
    Io {
        /// What was being done.
        act: &'static str,
        /// What was said.
        why: String,
    },
    /// Whoever is attached to does not answer as a host should.
    #[error("{}", .0.message)]
    Answer(wire::Error),
}
