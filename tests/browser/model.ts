// A model behind a chat-completions server of its own thread: the test waits for programs that wait for it.
import { Worker } from "node:worker_threads";

const SERVER = `
const { createServer } = require("node:http");
const { parentPort, workerData } = require("node:worker_threads");
let turn = 0;
const server = createServer((request, answer) => {
  const json = (value) => answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (request.url === "/v1/models") return json({ object: "list", data: [{ id: "words", object: "model", owned_by: "llamacpp", meta: { n_ctx: 131072, n_params: 70e9 } }] });
  if (request.url === "/props") return json({ default_generation_settings: { n_ctx: 131072 } });
  if (request.url !== "/v1/chat/completions") return answer.writeHead(404).end();
  let asked = "";
  request.setEncoding("utf8").on("data", (part) => { asked += part; }).on("end", () => {
    parentPort.postMessage(asked);
    const { tool, arguments: given } = workerData[Math.min(turn++, workerData.length - 1)];
    const call = { index: 0, id: "call_0", type: "function", function: { name: tool, arguments: JSON.stringify(given) } };
    const words = { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 100, completion_tokens: 10 } };
    answer.writeHead(200, { "content-type": "text/event-stream" }).end([words, end].map((part) => "data: " + JSON.stringify(part) + "\\n\\n").join("") + "data: [DONE]\\n\\n");
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** What a model asks for: one call a turn, the last of them from then on. */
export interface Call { tool: string; arguments: object }

/** Starts one that makes these calls; its name for `--model`, every request that it was sent, and how it ends. */
export async function model(calls: Call[]): Promise<{ name: string; asked: readonly string[]; end: () => Promise<number> }> {
  const worker = new Worker(SERVER, { eval: true, workerData: calls });
  const port = await new Promise<number>((done, failed) => worker.once("message", done).once("error", failed));
  const asked: string[] = [];
  worker.on("message", (request: string) => asked.push(request));
  return { asked, name: `openai:http://127.0.0.1:${port}/v1#words`, end: () => worker.terminate() };
}
