//! What a person or a surface may ask of the kernel. One file per command.

pub mod approve;
pub mod checkpoint;
pub mod clarify;
pub mod collect;
pub mod control;
pub mod cosign;
pub mod erase;
pub mod halt;
pub mod ingest;
pub mod ingress;
pub mod keys;
pub mod memory;
pub mod note;
pub mod overrule;
pub mod person;
pub mod pin;
pub mod plan;
pub mod reanchor;
pub mod resolve;
pub mod restored;
pub mod revoke;
pub mod rollback;
pub mod rotate;
pub mod secret;
pub mod standing;
pub mod submit;
