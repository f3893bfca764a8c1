//! The events of the mesh, which stand behind the others in the registry (mesh.md 4). All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_mesh {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// This machine is a node of the mesh from now on, under this name. `node`: the public key that it speaks with.
        MeshJoined ("mesh.joined", 1, Mesh, |b| b.node) { node: Digest, name: Text, joined_at: UnixMs }
        /// This machine is no node any more; what waits is let go of.
        MeshLeft ("mesh.left", 1, Mesh, |b| b.node) { node: Digest, left_at: UnixMs }
        /// Facts of this node, and what other nodes bring here: each the canonical JSON of a fact or a delivery of the room `mesh`,
        /// in the order in which they hold. A step that does not fit into one event goes on in the next.
        MeshStepped ("mesh.stepped", 1, Mesh, |b| b.number) {
            number: u64, facts: Vec<Text>, deliver: Vec<Text>, stepped_at: UnixMs,
        }
        /// What a step brought here is done.
        MeshSettled ("mesh.settled", 1, Mesh, |b| b.number) { number: u64, settled_at: UnixMs }
        /// A message of another machine is a task here from now on, or words to one that is at work. `input`: by what all machines
        /// know the message.
        MeshTaken ("mesh.taken", 1, Mesh, |b| b.input) { input: Digest, about_task_id: TaskId, taken_at: UnixMs }
    } };
}
