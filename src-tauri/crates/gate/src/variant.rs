//! What a variant asks on top of policy (KS-6.1 step 7). A variant can only refuse what policy has allowed.

use crate::request::{Code, KernelRequest};
use model::Digest;
use serde_json::Value;

model::names! {
    /// Bundles of requirements (governance.md 1; decided here, because KS names them nowhere).
    pub enum Variant ("gate variant") {
        /// The tool and its parameters are spelled out: no request that leaves open what would run.
        Strict = "strict",
        /// Nothing beyond policy; audit and explicit permission hold all the same.
        Permissive = "permissive",
        /// Every request carries evidence.
        EvidenceFirst = "evidence_first",
        /// What will run is said twice: in `tool_call`, and in `params` as `tool` (its name) and `params_sha256`
        /// (digest of the canonical bytes of its parameters, `{}` when it has none). Both must agree.
        DualChannel = "dual_channel",
    }
}

/// Whether a request that policy allowed also meets its variant.
///
/// # Errors
/// The code of what is missing.
pub fn requirements(variant: Variant, request: &KernelRequest) -> Result<(), Code> {
    match variant {
        Variant::Permissive => Ok(()),
        Variant::Strict => {
            let call = request.tool_call.as_ref().ok_or(Code::ToolRequired)?;
            call.params.as_ref().map(|_| ()).ok_or(Code::ParamsRequired)
        }
        Variant::EvidenceFirst => request.evidence.as_ref().map(|_| ()).ok_or(Code::EvidenceRequired),
        Variant::DualChannel => channels_agree(request),
    }
}

fn channels_agree(request: &KernelRequest) -> Result<(), Code> {
    let call = request.tool_call.as_ref().ok_or(Code::ToolRequired)?;
    let said = |name: &str| request.params.as_ref().and_then(|p| p.get(name)).and_then(Value::as_str);
    let (Some(tool), Some(params)) = (said("tool"), said("params_sha256")) else {
        return Err(Code::ChannelMissing);
    };
    let nothing = Value::Object(serde_json::Map::new());
    let bytes = seal::canon::canonical_value(call.params.as_ref().unwrap_or(&nothing))
        .map_err(|_| Code::ParamsUnsealable)?;
    let agree = tool == call.name && params == Digest::of(&bytes).to_string();
    if agree { Ok(()) } else { Err(Code::ChannelsDiffer) }
}
