//! Where the key of an instance is paid to.

use crate::Error;
use bitcoin::key::TweakedPublicKey;
use bitcoin::{Address, KnownHrp, Network, ScriptBuf, XOnlyPublicKey};

/// The output script of a key: its 32 bytes as they stand are the output key of a Taproot output (BIP-341), which nothing but a
/// signature by it spends. No tweak: the chain shows the very key that the links of the identity name.
pub(crate) fn script_of(pubkey: &str) -> Result<ScriptBuf, Error> {
    Ok(ScriptBuf::new_p2tr_tweaked(output_key(pubkey)?))
}

fn output_key(pubkey: &str) -> Result<TweakedPublicKey, Error> {
    let bytes = hex::decode(pubkey).map_err(|e| Error::malformed("the key", e))?;
    let key = XOnlyPublicKey::from_slice(&bytes).map_err(|e| Error::malformed("the key", e))?;
    Ok(TweakedPublicKey::dangerous_assume_tweaked(key))
}

/// The output script of a key, in hex.
///
/// # Errors
/// [`Error::Malformed`] when it is no key.
pub fn script(pubkey: &str) -> Result<String, Error> {
    Ok(hex::encode(script_of(pubkey)?.as_bytes()))
}

/// The address of a key on a chain, which a node names in `getblockchaininfo`.
///
/// # Errors
/// [`Error::Malformed`] when it is no key, or no such chain is known.
pub fn address(pubkey: &str, chain: &str) -> Result<String, Error> {
    let network = Network::from_core_arg(chain).map_err(|e| Error::malformed("the chain", e))?;
    Ok(Address::p2tr_tweaked(output_key(pubkey)?, KnownHrp::from(network)).to_string())
}

/// Whether a chain of this name is known.
pub fn chain_known(chain: &str) -> bool {
    Network::from_core_arg(chain).is_ok()
}

/// The descriptor of a key's outputs, as `scantxoutset` takes it.
pub fn descriptor(pubkey: &str) -> String {
    format!("rawtr({pubkey})")
}
