//! Asking a server.

pub use model::web::Fetch;
