//! What comes from the list of tools.

use crate::Tool;
use model::action::ActionClass;
use model::proposal::ToolSpec;
use model::{ReceiptId, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Makes the [`Action`] from the list.
macro_rules! tools {
    ($($(#[$meta:meta])* $module:ident::$tool:ident = $tag:literal,)+) => {
        /// What a request asks to be done: a tool with its arguments. Stored with the tool's name as `tool` beside them.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "tool")]
        pub enum Action {
            $($(#[$meta])* #[serde(rename = $tag)] $tool(crate::$tool),)+
        }

        impl Action {
            /// Every tool's name, in the order of the list.
            pub const TOOLS: &'static [&'static str] = &[$($tag),+];

            /// The tool's name, as in the stored tag.
            pub const fn tool(&self) -> &'static str {
                match self { $(Self::$tool(_) => $tag,)+ }
            }

            /// The tools whose arguments a model gives as they are, as it reads them.
            pub fn offered() -> Vec<ToolSpec> {
                let offered = [$(<crate::$tool as Tool>::offered()),+];
                // A test reads each.
                offered.into_iter().flatten().filter_map(|text| serde_json::from_str(text).ok()).collect()
            }

            /// The act that a model calls for; none when the tool is not offered as it is.
            ///
            /// # Errors
            /// What is wrong with the arguments, told to the model.
            pub fn called(tool: &str, arguments: Value) -> Option<Result<Self, String>> {
                let act = match tool {
                    $($tag if <crate::$tool as Tool>::offered().is_some() => {
                        <crate::$tool as Tool>::from_call(arguments).map(Self::$tool)
                    })+
                    _ => return None,
                };
                let checked = |act: Self| act.as_tool().check().map(|()| act);
                Some(act.map_err(|e| e.to_string()).and_then(checked))
            }

            /// What is known of the act.
            pub const fn as_tool(&self) -> &dyn Tool {
                match self { $(Self::$tool(tool) => tool,)+ }
            }
        }
    };
}

crate::each_tool!(tools);

impl Action {
    /// Every class in the act, the gravest first, never empty (HK-16.4).
    pub fn classes(&self) -> Vec<ActionClass> {
        let mut classes: Vec<ActionClass> = self.as_tool().classes().into_iter().collect();
        gravest_first(&mut classes);
        classes
    }

    /// Everything the act touches by itself, sorted.
    pub fn resources(&self, workspace: WorkspaceId) -> Vec<ResourceId> {
        self.as_tool().resources(workspace).into_iter().collect()
    }

    /// The name of what carries it out, as events and receipts tell it.
    pub fn executor(&self) -> String {
        format!("hermit.{}", self.tool())
    }

    /// Every receipt that an undo is about, as [`crate::Rollback::receipts`]; none of any other act.
    pub fn undoes(&self) -> Vec<ReceiptId> {
        match self {
            Self::Rollback(undo) => undo.receipts(),
            _ => Vec::new(),
        }
    }
}

/// Sorts classes, the gravest first.
pub(crate) fn gravest_first(classes: &mut [ActionClass]) {
    classes.sort_by_key(|class| std::cmp::Reverse(class.gravity()));
}
