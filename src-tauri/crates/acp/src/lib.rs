//! The Agent Client Protocol: a guest is spoken to inside its sandbox, and an editor speaks to Hermit.
//!
//! # What this room is for
//!
//! It speaks ACP, version 1, in both directions. As a client, inside the sandbox of a guest: [`guest::work`] starts the
//! agent there, gives it one prompt, and answers what it asks for, with nothing but what the sandbox itself may touch. As
//! an agent, on standard input and output: [`editor::serve`] carries an editor's prompts to whoever does the work.
//!
//! # What it must never do
//!
//! Grant anything. What an agent asks permission for is allowed where it stays in its copy, and the sandbox around it is
//! what holds; an editor's answer is never a person's approval, and an editor is never asked for one.
//!
//! # Invariants
//!
//! 1. Whatever the other side sends is bounded: the bytes of a message, what is kept of a terminal, terminals at once,
//!    places that are told.
//! 2. A file outside the folder is neither read nor written for an agent, whatever links lead there.
//! 3. "Cancelled" and "refused" are different answers, and a permission of an unknown kind is a no.
//! 4. A message that is malformed is answered or told, and ends nothing.
//!
//! # Where to start reading
//!
//! `message.rs`, then [`guest::work`] and [`editor::serve`].
#![cfg_attr(not(unix), allow(dead_code, reason = "what a guest's side alone needs is of one system"))]

pub mod editor;
#[cfg(unix)]
#[allow(
    clippy::disallowed_methods,
    reason = "it starts the agent and what the agent has run, inside the sandbox alone, and limits how long it waits"
)]
pub mod guest;
mod message;
mod terms;

/// The version of the protocol that is spoken here.
pub const VERSION: u16 = 1;
