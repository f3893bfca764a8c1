// A double of a calendar of OpenTimestamps: it takes a digest and answers that it has it, and that no block does yet.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Marks an attestation that is pending, as the format spells it. */
const PENDING = Buffer.from("0083dfe30d2ef90c8e", "hex");

/** Bytes with their number before them; fewer than 128, so that the number is one byte. */
function counted(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** Its address, and what it was given. */
export async function calendar(): Promise<{ url: string; given: Buffer[]; end: () => Promise<void> }> {
  const given: Buffer[] = [];
  const server = createServer((request, answer) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (request.method !== "POST" || !(request.url ?? "").endsWith("/digest")) {
        answer.writeHead(404).end();
        return;
      }
      given.push(Buffer.concat(parts));
      answer.writeHead(200, { "content-type": "application/vnd.opentimestamps.v1" }).end(Buffer.concat([PENDING, counted(counted(Buffer.from(url)))]));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const end = () => new Promise<void>((done) => {
    server.closeAllConnections();
    server.close(() => done());
  });
  return { url, given, end };
}
