//! What commands about anchors ask of whoever runs them.

use kernel::command::anchors::AnchorTerms;
use wire::Error;
use wire::anchors::{ClockSettings, SetClocks, WalletState};

/// Which clocks are set, and a person's own wallet.
pub trait AnchorClocks: Send + Sync {
    /// Which clocks are set.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn settings(&self) -> Result<ClockSettings, Error>;

    /// Sets them; what is not said stays.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for what no clock can be.
    fn set(&self, wanted: &SetClocks) -> Result<ClockSettings, Error>;

    /// The same as the kernel takes them. `is_paid`: with what a transaction costs now, which the person's own node is asked for.
    ///
    /// # Errors
    /// As [`AnchorClocks::settings`]; [`wire::Code::Failed`] where a node does not tell what a transaction costs.
    fn terms(&self, is_paid: bool) -> Result<AnchorTerms, Error>;

    /// What the wallet of this instance holds, or why it cannot be told.
    fn wallet(&self) -> WalletState;
}
