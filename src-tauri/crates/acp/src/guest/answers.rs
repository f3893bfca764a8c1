//! What a guest asks of its client, and what it is answered.

use super::permission::{self, Verdict};
use super::teller::short;
use super::{Driver, Stop, clip, files};
use crate::message::{FAILED, Fault, Message, NO_METHOD, NOT_FOUND, PARAMS};
use crate::terms::{PermissionOption, ToolCall};
use serde_json::{Value, json};

impl Driver<'_> {
    /// Does what it asks for; nothing when it is answered later.
    pub(super) fn serve(
        &mut self,
        method: &str,
        params: &Value,
        id: &Value,
    ) -> Result<Option<Result<Value, Fault>>, Stop> {
        let root = self.turn.root.clone();
        let wrong = |why: String| Fault::new(PARAMS, why);
        let with = match method {
            "fs/read_text_file" => match files::read(&root, params) {
                Ok(content) => {
                    self.teller.line(&format!("reads {}", short(path_of(params), &root)));
                    Ok(json!({ "content": content }))
                }
                Err(why) => Err(self.refuses("read a file", why)),
            },
            "fs/write_text_file" => match files::write(&root, params) {
                Ok((path, bytes)) => {
                    self.teller.line(&format!("writes {} ({bytes} bytes)", short(&path, &root)));
                    self.teller.changed(&path, Some(bytes), false, &root);
                    Ok(json!({}))
                }
                Err(why) => Err(self.refuses("write a file", why)),
            },
            "terminal/create" => match self.terminals.create(&root, params, &self.hear) {
                Ok((terminal, words)) => {
                    self.teller.line(&format!("runs {words}"));
                    Ok(json!({ "terminalId": terminal }))
                }
                Err(why) => Err(self.refuses("run a program", why)),
            },
            "terminal/output" => self.terminals.output(params).map_err(wrong),
            "terminal/wait_for_exit" => match self.terminals.wait(params, id) {
                Ok(None) => return Ok(None),
                Ok(Some(exit)) => Ok(exit),
                Err(why) => Err(wrong(why)),
            },
            "terminal/kill" => self.terminals.kill(params).map(|()| json!({})).map_err(wrong),
            "terminal/release" => match self.terminals.release(params) {
                Ok(waiting) => {
                    for id in waiting {
                        let fault = Fault::new(NOT_FOUND, "the terminal was released");
                        self.send(&Message::Answers { id, with: Err(fault) })?;
                    }
                    Ok(json!({}))
                }
                Err(why) => Err(wrong(why)),
            },
            "session/request_permission" => self.permission(params),
            other => Err(Fault::new(NO_METHOD, format!("Hermit does not do `{}`", clip(other)))),
        };
        Ok(Some(with))
    }

    fn refuses(&mut self, what: &str, why: String) -> Fault {
        self.teller.line(&format!("asked to {what}, and was refused: {why}"));
        Fault::new(PARAMS, why)
    }

    fn permission(&mut self, params: &Value) -> Result<Value, Fault> {
        if self.called_off.is_some() {
            return Ok(json!({ "outcome": { "outcome": "cancelled" } }));
        }
        let member = |name: &str| params.get(name).cloned().unwrap_or_default();
        let update: ToolCall = serde_json::from_value(member("toolCall"))
            .map_err(|e| Fault::new(PARAMS, format!("`toolCall` cannot be read: {e}")))?;
        let options: Vec<PermissionOption> = serde_json::from_value(member("options"))
            .map_err(|e| Fault::new(PARAMS, format!("`options` cannot be read: {e}")))?;
        let known = self.teller.call(&update.tool_call_id).cloned().unwrap_or_default();
        let call = known.with(update);
        let selected = |id: String| Ok(json!({ "outcome": { "outcome": "selected", "optionId": id } }));
        match permission::judge(&call, &options, &self.turn.root) {
            Verdict::Allowed(id) => {
                self.teller.line(&format!(
                    "asked: may it do this: {}? allowed once, it stays in the copy",
                    call.name()
                ));
                selected(id)
            }
            Verdict::Refused(id, why) => {
                self.teller.line(&format!("asked: may it do this: {}? refused: {why}", call.name()));
                id.map_or_else(|| Err(Fault::new(FAILED, format!("refused: {why}"))), selected)
            }
        }
    }
}

fn path_of(params: &Value) -> &str {
    params.get("path").and_then(Value::as_str).unwrap_or_default()
}
