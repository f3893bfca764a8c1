//! Why the mesh did not do something, as surfaces show it.

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The node refuses; nothing happened.
    #[error(transparent)]
    Node(#[from] mesh::Error),
    /// It is not on record.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The keychain does not keep a secret.
    #[error(transparent)]
    Keys(#[from] keychain::Error),
    /// There is no node now.
    #[error("the mesh is stopped on this machine: {0}")]
    Still(String),
}

impl Fault {
    /// As surfaces show it.
    pub fn into_wire(self) -> wire::Error {
        let message = self.to_string();
        match self {
            Self::Kernel(error) => api::of_kernel(error),
            Self::Keys(error) => crate::Error::Keys(error).to_wire(),
            Self::Node(mesh::Error::NotPaired(_)) => wire::Error::new(wire::Code::NotFound, message)
                .hint("`hermit mesh nodes` lists the machines that are paired"),
            Self::Node(mesh::Error::TooLarge) => wire::Error::new(wire::Code::TooLarge, message)
                .hint("put the text into a file on the other machine, and name the file"),
            Self::Node(mesh::Error::NotHeard(_)) => wire::Error::new(wire::Code::Unavailable, message)
                .hint("it is heard once it is on and connected; `hermit mesh nodes` shows when it was"),
            Self::Node(_) => wire::Error::new(wire::Code::Conflict, message),
            // Whoever can wait tries it again: nothing stands against it but the moment.
            Self::Still(_) => wire::Error::new(wire::Code::Unavailable, message)
                .hint("it begins again by itself once that is over; `hermit mesh show` tells how it stands"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_that_stands_still_is_one_to_come_back_to_and_no_conflict() {
        let node = mesh::NodeId(seal::Digest::of(b"a machine"));
        for fault in [Fault::Still("it is made anew".to_owned()), Fault::Node(mesh::Error::NotHeard(node))] {
            let error = fault.into_wire();
            assert_eq!(error.code, wire::Code::Unavailable);
            assert!(error.hint.contains("hermit mesh"), "{}", error.hint);
        }
        let refused = Fault::Node(mesh::Error::Refused("too many messages wait for this machine"));
        assert_eq!(refused.into_wire().code, wire::Code::Conflict);
    }
}
