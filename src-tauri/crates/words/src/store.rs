//! Words for the store and the ways into it.

crate::names! {
    /// What a key signs; no key serves two purposes (proof.md 3).
    pub enum KeyPurpose ("key purpose") {
        /// Checkpoints.
        Log = "log",
        /// Receipts and statements.
        Receipt = "receipt",
        /// `SHA256SUMS` of a bundle.
        Manifest = "manifest",
        /// A person's decisions.
        Approval = "approval",
    }
}

crate::names! {
    /// What a project is told by.
    pub enum ProjectSource ("project source") {
        /// The address of a git remote.
        Remote = "remote",
        /// The folder itself.
        Folder = "folder",
    }
}

crate::names! {
    /// The surface a message came through.
    pub enum Channel ("source channel") {
        /// The command line.
        Cli = "cli",
        /// The desktop app.
        App = "app",
        /// The run API.
        RunApi = "run_api",
        /// MCP.
        Mcp = "mcp",
        /// A webhook.
        Webhook = "webhook",
        /// The scheduler.
        Scheduler = "scheduler",
        /// The kernel itself.
        System = "system",
    }
}
