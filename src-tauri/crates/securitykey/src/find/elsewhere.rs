//! Where keys cannot be reached yet.

use super::Found;
use crate::{Device, Error};

pub(super) const fn plugged_in() -> Result<Vec<Found>, Error> {
    Err(Error::Unsupported)
}

pub(super) fn open(_: &Found) -> Result<Box<dyn Device>, Error> {
    Err(Error::Unsupported)
}
