// A model that needs no server, in Chromium against the built host: its weights are fetched from the page, stopped, gone on with
// where they stopped, and removed. A mirror of this machine sends their beginning; the whole is 1.1 GB.
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { soundPicture } from "./kept";
import { World } from "./world";

/** Bytes of the weights, and of what the mirror sends at a time. */
const WHOLE = 1_117_320_768;
const SENT = 30_000_000;

// Weights are fetched where there is a program that asks the model. This one is looked for and never started.
process.env["HERMIT_MODEL_BOX"] ??= process.execPath;
const world = new World();
/** Where each request wanted to begin. */
const asked: number[] = [];
let mirror: Server;
let hangsUp = false;

const list = () => world.page.getByRole("list", { name: "Models that need no server" });
const press = (name: string) => list().getByRole("button", { name, exact: true }).click();

beforeAll(async () => {
  mirror = createServer((request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    asked.push(from);
    if (hangsUp) return response.writeHead(503).end();
    const range = from > 0 ? { "Content-Range": `bytes ${from}-${WHOLE - 1}/${WHOLE}` } : {};
    response.writeHead(from > 0 ? 206 : 200, { "Content-Length": WHOLE - from, ...range });
    const piece = Buffer.alloc(SENT, 7);
    if (from === 0) piece.write("GGUF");
    return response.write(piece);
  });
  await new Promise<void>((done) => { mirror.listen(0, "127.0.0.1", done); });
  world.keys();
  await world.ui();
  const address = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`;
  writeFileSync(join(world.dir, "store/config.json"), JSON.stringify({ model_mirror: address }));
  await world.open(await world.serve());
});

afterAll(async () => {
  mirror.closeAllConnections();
  mirror.close();
  await world.close();
});

test("weights come from the page, stop when asked, and go on where they stopped", async () => {
  await world.go("/settings");
  await list().getByText(/1\.1 GB · Apache-2\.0/).waitFor();
  await soundPicture(world.page, "model-box-none");
  await press("Get");
  await list().getByText("30 MB of 1.1 GB").waitFor();
  await expect.poll(() => list().getByRole("progressbar").getAttribute("value")).toBe(String(SENT));
  await soundPicture(world.page, "model-box-comes");
  await press("Stop");
  await list().getByText("30 MB of 1.1 GB are here").waitFor();
  await press("Go on");
  await list().getByText("60 MB of 1.1 GB").waitFor();
  await expect.poll(() => list().getByRole("progressbar").getAttribute("value")).toBe(String(2 * SENT));
  expect(asked).toEqual([0, SENT]);
});

test("a mirror that fails is said with what helps, a host that ends keeps what has come, and removed is removed", async () => {
  hangsUp = true;
  await press("Stop");
  await press("Go on");
  await list().getByText(/503/).waitFor();
  await soundPicture(world.page, "model-box-failed");
  await world.end("SIGTERM");
  await world.reopen(await world.serve());
  await world.go("/settings");
  await list().getByText("60 MB of 1.1 GB are here").waitFor();
  await press("Remove");
  await list().getByRole("button", { name: "Get", exact: true }).waitFor();
  expect(await list().getByText(/are here/).count()).toBe(0);
  expect(world.complaints).toEqual([]);
});
