//! The redactor in force, for all who need it: secrets come and go while a host lives.

use crate::Redactor;
use std::sync::{Arc, PoisonError, RwLock};

/// A place where the redactor in force is found. Clones are the same place.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<RwLock<Arc<Redactor>>>);

impl Shared {
    /// The redactor in force.
    pub fn now(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another one in force.
    pub fn put(&self, redactor: Redactor) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(redactor);
    }
}
