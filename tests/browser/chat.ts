// A double of the Bot API of Telegram in a thread of its own: it keeps what is sent, and gives out what people write.
import { Worker } from "node:worker_threads";

const SERVER = `
const { createServer } = require("node:http");
const { parentPort, workerData: token } = require("node:worker_threads");
let updates = [], waiting = [], next = 100, sent = 1000;
const due = (offset) => updates.filter((one) => one.update_id >= offset);
const wake = () => { const all = waiting; waiting = []; for (const one of all) one(); };
parentPort.on("message", (update) => { updates.push({ update_id: next++, ...update }); wake(); });
const server = createServer((request, answer) => {
  let body = "";
  request.setEncoding("latin1").on("data", (part) => { body += part; }).on("end", () => {
    const json = (status, value) => answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const good = (result) => json(200, { ok: true, result });
    const method = request.url.startsWith("/bot" + token + "/") ? request.url.slice(token.length + 5) : null;
    if (method === null) return json(401, { ok: false, error_code: 401, description: "Unauthorized" });
    const given = (() => { try { return JSON.parse(Buffer.from(body, "latin1").toString("utf8")); } catch { return { body }; } })();
    if (method === "getMe") return good({ id: 1, is_bot: true, first_name: "Hermit", username: "hermit_bot" });
    if (method === "getUpdates") {
      // What was asked for is not asked for again: those before are forgotten.
      const offset = given.offset ?? 0;
      updates = updates.filter((one) => one.update_id >= offset);
      if (due(offset).length > 0) return good(due(offset));
      const timer = setTimeout(() => good([]), Math.min((given.timeout ?? 0) * 1000, 2000));
      waiting.push(() => { clearTimeout(timer); if (!answer.writableEnded) good(due(offset)); });
      return;
    }
    parentPort.postMessage({ method, given });
    good(method.startsWith("send") || method.startsWith("edit") ? { message_id: sent++, date: Math.floor(Date.now() / 1000), chat: { id: given.chat_id ?? 0, type: "private" } } : true);
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** What Hermit asked the service to do. */
export interface Sent { method: string; given: { chat_id?: number; text?: string; body?: string } }

/** Somebody who writes to the bot, in a direct chat with it. */
interface Writer { id: number; name: string }

/** Starts one that takes this token: its address, what was sent, and how people write. */
export async function telegram(token: string): Promise<{ url: string; port: number; sent: readonly Sent[]; write: (from: Writer, text: string) => void; end: () => Promise<number> }> {
  const worker = new Worker(SERVER, { eval: true, workerData: token });
  const port = await new Promise<number>((done, failed) => worker.once("message", done).once("error", failed));
  const sent: Sent[] = [];
  worker.on("message", (one: Sent) => sent.push(one));
  let at = 1;
  const write = ({ id, name }: Writer, text: string) => {
    worker.postMessage({ message: { message_id: at++, date: Math.floor(Date.now() / 1000), chat: { id, type: "private" }, from: { id, is_bot: false, first_name: name }, text } });
  };
  return { url: `http://127.0.0.1:${port}`, port, sent, write, end: () => worker.terminate() };
}
