// A server of tools that wants a log-in, and who gives it (OAuth 2.1), on one address and a thread of its own: the test waits for
// programs that wait for it. It checks what a server would: code, client, address and verifier, each once.
import { Worker } from "node:worker_threads";

const SERVER = `
const { createServer } = require("node:http");
const { createHash, randomUUID } = require("node:crypto");
const { parentPort } = require("node:worker_threads");
const clients = new Set(), codes = new Map(), tokens = new Set();
const TOOLS = [{ name: "echo", description: "Says it again.", inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } } }];
const server = createServer((request, answer) => {
  const at = "http://" + request.headers.host;
  const { pathname, searchParams } = new URL(request.url, at);
  const json = (value, status = 200, more = {}) => answer.writeHead(status, { "content-type": "application/json", ...more }).end(JSON.stringify(value));
  const no = (error) => json({ error }, 400);
  let sent = "";
  request.setEncoding("utf8").on("data", (part) => { sent += part; }).on("end", () => {
    const form = new URLSearchParams(sent);
    if (pathname.startsWith("/.well-known/oauth-protected-resource")) return json({ resource: at + "/mcp", authorization_servers: [at], scopes_supported: ["notes:read"] });
    if (pathname === "/.well-known/oauth-authorization-server") return json({ issuer: at, authorization_endpoint: at + "/authorize", token_endpoint: at + "/token", registration_endpoint: at + "/register", revocation_endpoint: at + "/revoke", code_challenge_methods_supported: ["S256"], response_types_supported: ["code"], authorization_response_iss_parameter_supported: true });
    if (pathname === "/register") { const client = randomUUID(); clients.add(client); return json({ client_id: client, redirect_uris: JSON.parse(sent).redirect_uris }, 201); }
    if (pathname === "/authorize") {
      const asked = Object.fromEntries(searchParams);
      if (!clients.has(asked.client_id) || asked.code_challenge_method !== "S256" || !asked.redirect_uri.startsWith("http://127.0.0.1:")) return no("invalid_request");
      const code = randomUUID();
      codes.set(code, asked);
      const back = asked.redirect_uri + "?" + new URLSearchParams({ code, state: asked.state, iss: at });
      return answer.writeHead(200, { "content-type": "text/html" }).end("<title>Notes</title><h1>Let Hermit read your notes?</h1><a href='" + back.replaceAll("&", "&amp;") + "'>Allow</a>");
    }
    if (pathname === "/token") {
      const asked = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const proof = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      if (asked === undefined || asked.client_id !== form.get("client_id") || asked.redirect_uri !== form.get("redirect_uri") || asked.code_challenge !== proof) return no("invalid_grant");
      const token = randomUUID();
      tokens.add(token);
      return json({ access_token: token, token_type: "Bearer", expires_in: 3600, scope: asked.scope });
    }
    if (pathname === "/revoke") { tokens.delete(form.get("token")); parentPort.postMessage("revoked"); return json({}); }
    if (!tokens.has((request.headers.authorization ?? "").replace("Bearer ", ""))) return json({}, 401, { "www-authenticate": 'Bearer resource_metadata="' + at + '/.well-known/oauth-protected-resource/mcp", scope="notes:read"' });
    const asked = sent === "" ? {} : JSON.parse(sent);
    const say = (result) => json({ jsonrpc: "2.0", id: asked.id, result });
    if (asked.method === "initialize") return say({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } });
    if (asked.method === "tools/list") return say({ tools: TOOLS });
    if (asked.method === "tools/call") return say({ content: [{ type: "text", text: asked.params.arguments.text }] });
    if (asked.id === undefined) return answer.writeHead(202).end();
    return json({ jsonrpc: "2.0", id: asked.id, error: { code: -32601, message: "no such method" } });
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** Starts one: where its tools are, how often a token was taken back, and how it ends. */
export async function authority(): Promise<{ url: string; revoked: () => number; end: () => Promise<number> }> {
  const worker = new Worker(SERVER, { eval: true });
  const port = await new Promise<number>((done, failed) => worker.once("message", done).once("error", failed));
  let revoked = 0;
  worker.on("message", () => { revoked += 1; });
  return { url: `http://127.0.0.1:${port}/mcp`, revoked: () => revoked, end: () => worker.terminate() };
}
