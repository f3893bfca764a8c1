//! What a person has to know of the mesh, in words.

use super::MeshRegistry;
use mesh::{Delivered, NodeId};
use model::mesh::MeshAlert;

/// What a delivery says that a person has to know, about which machine, if it says such a thing.
pub(super) fn of(registry: &MeshRegistry, delivered: &Delivered) -> Option<(MeshAlert, NodeId, String)> {
    of_what_was_told(registry, delivered).or_else(|| of_work(registry, delivered))
}

/// How a machine is called in a sentence that it begins.
fn named(registry: &MeshRegistry, node: NodeId) -> String {
    match registry.node == Some(node) {
        true => "This machine".to_owned(),
        false => format!("`{}`", registry.name_of(node)),
    }
}

/// Of logs, notices and messages.
fn of_what_was_told(registry: &MeshRegistry, delivered: &Delivered) -> Option<(MeshAlert, NodeId, String)> {
    let named = |node: &NodeId| named(registry, *node);
    Some(match delivered {
        Delivered::RolledBack { from, origin, seen, told } => (
            MeshAlert::RolledBack,
            *from,
            format!(
                "{} says that its log {origin} has {told} entries, and showed {seen} before, or others: it was put back to an \
                 earlier state, or somebody changed it",
                named(from)
            ),
        ),
        Delivered::Forked { from, number } => (
            MeshAlert::Forked,
            *from,
            format!(
                "{} told two things under the number {number}: it was put back to an earlier state, or lies",
                named(from)
            ),
        ),
        Delivered::PutBack { by } => (
            MeshAlert::PutBack,
            *by,
            format!(
                "This machine was put back to an earlier state: {} knows messages of it in the place of those that wait here. \
                 These go behind them",
                named(by)
            ),
        ),
        Delivered::LettersMissed { from, first, last } => (
            MeshAlert::LettersMissed,
            *from,
            format!(
                "The messages {first} to {last} of {} were opened here once, before this machine was put back to an earlier \
                 state; they are not to be had any more",
                named(from)
            ),
        ),
        Delivered::NoticesMissed { from, first, last } => (
            MeshAlert::NoticesMissed,
            *from,
            format!(
                "This machine was away for longer than notices are kept: {first} to {last} of {} are gone. What of them still \
                 counts is told anew",
                named(from)
            ),
        ),
        _ => return None,
    })
}

/// Of conversations and schedules.
fn of_work(registry: &MeshRegistry, delivered: &Delivered) -> Option<(MeshAlert, NodeId, String)> {
    let named = |node: &NodeId| named(registry, *node);
    Some(match delivered {
        Delivered::TooManyHandOvers { from, most } => (
            MeshAlert::HandOvers,
            *from,
            format!(
                "{} passed more than {most} conversations to this machine within a minute: it took that many, and the others stay \
                 with nobody until they are taken",
                named(from)
            ),
        ),
        Delivered::Displaced { conversation, by, .. } => (
            MeshAlert::Displaced,
            *by,
            format!(
                "The conversation {conversation} is with {} by now: what this machine wrote to it since is kept aside, and it \
                 takes nothing new here",
                named(by)
            ),
        ),
        Delivered::NotCounted { schedule, by, .. } => (
            MeshAlert::NotCounted,
            *by,
            format!(
                "A run of the schedule `{schedule}` began here and at {}, whose run of that time counts",
                named(by)
            ),
        ),
        _ => return None,
    })
}
