// A model behind a chat-completions server that speaks a piece at a time, when the test lets it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Call { tool: string; arguments: object }
/** What begins with this mark is reasoned and not said. */
export const THINKS = "~";
export interface Turn { says: string[]; call: Call }

/** A model behind a chat-completions server. Each piece of its words waits until it may be said. */
export class Model {
  readonly #server: Server;
  readonly #waiting: (() => void)[] = [];
  #free = 0;
  #turn = 0;
  /** Every request for an answer, as it came. */
  readonly asked: string[] = [];

  constructor(turns: Turn[]) {
    this.#server = createServer((request, answer) => {
      const json = (value: object) => answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      if (request.url === "/v1/models") return json({ object: "list", data: [{ id: "words", object: "model", owned_by: "llamacpp", meta: { n_ctx: 131072, n_params: 70e9 } }] });
      if (request.url === "/props") return json({ default_generation_settings: { n_ctx: 131072 } });
      if (request.url !== "/v1/chat/completions") return answer.writeHead(404).end();
      let asked = "";
      request.setEncoding("utf8").on("data", (piece: string) => { asked += piece; }).on("end", () => {
        this.asked.push(asked);
        const turn = turns[Math.min(this.#turn++, turns.length - 1)];
        if (turn === undefined) throw new Error("a model says something");
        answer.writeHead(200, { "content-type": "text/event-stream" });
        const send = (part: object) => answer.write(`data: ${JSON.stringify(part)}\n\n`);
        const say = async () => {
          for (const content of turn.says) {
            await this.#may();
            const thinks = content.startsWith(THINKS);
            send({ choices: [{ index: 0, delta: thinks ? { reasoning_content: content.slice(1) } : { content } }] });
          }
          const call = { index: 0, id: `call_${this.#turn}`, type: "function", function: { name: turn.call.tool, arguments: JSON.stringify(turn.call.arguments) } };
          send({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
          send({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage: { prompt_tokens: 1000, completion_tokens: 10 } });
          answer.end("data: [DONE]\n\n");
        };
        void say();
      });
    });
  }

  async begin(): Promise<string> {
    await new Promise<void>((done) => { this.#server.listen(0, "127.0.0.1", done); });
    return `openai:http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1#words`;
  }

  /** Lets it say that many pieces. */
  say(pieces: number): void {
    for (let at = 0; at < pieces; at += 1) {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  end(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #may(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((done) => { this.#waiting.push(done); });
  }
}
