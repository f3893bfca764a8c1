//! The skin of a conversation in the turns of its tasks: its words in the context, and fewer tools, never more (schedule.md 3).

use super::offered::Offered;
use crate::Error;
use crate::command::skins::TRUSTED;
use crate::kernel::Kernel;
use crate::state::TaskState;
use knowledge::{PackInput, SkinWords};
use model::proposal::ToolSpec;
use model::skin::Skin;

impl Kernel {
    /// Puts the skin of the conversation, as it is chosen now, into the input of a context.
    pub(super) fn with_skin(&self, state: &TaskState, input: &mut PackInput) -> Option<Skin> {
        let (skin, sha256) = self.skin_of(state.task.conversation_id)?;
        let (name, words) = (skin.name.clone(), skin.words());
        input.skin = Some(SkinWords { name, sha256, words, trust_tier: TRUSTED });
        Some(skin)
    }

    /// The tools that a model is told of in a turn.
    pub(super) fn tools_of_turn(
        &self,
        state: &TaskState,
        offered: Offered,
        has_skills: bool,
        skin: Option<&Skin>,
    ) -> Result<Vec<ToolSpec>, Error> {
        let mut tools = iteration::tools();
        if !self.may_delegate(state)? {
            tools.retain(|tool| tool.name != super::children::DELEGATE);
        }
        tools.retain(|tool| has_skills || tool.name != super::skills::USE_SKILL);
        if self.ports.executors.tries_changes().is_err() {
            tools.retain(|tool| tool.name != super::changes::TRY_CHANGE);
        }
        self.offer(state, &mut tools, offered);
        // What a task may use was chosen before; a skin only takes away from that.
        tools.retain(|tool| skin.is_none_or(|skin| skin.offers(&tool.name)));
        Ok(tools)
    }
}
