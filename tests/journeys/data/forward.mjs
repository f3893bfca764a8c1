// Passes requests on to a host of Hermit with its token, for clients that cannot be given one: `forward.mjs ADDRESS TOKEN QUERY`.
// Says the port that it listens at. Names that mean this machine at that port mean the host; every other is passed on as it is.
import { createServer, request } from "node:http";

const [address, token, query] = process.argv.slice(2);
const [host, port] = address.split(":");
const server = createServer((asked, answer) => {
  const own = [`localhost:${server.address().port}`, `127.0.0.1:${server.address().port}`];
  const headers = { ...asked.headers, authorization: `Bearer ${token}` };
  if (own.includes(headers.host)) headers.host = address;
  if (own.map((name) => `http://${name}`).includes(headers.origin)) headers.origin = `http://${address}`;
  const passed = request({ host, port, method: asked.method, path: `${asked.url}?${query}`, headers }, (came) => {
    answer.writeHead(came.statusCode, came.headers);
    came.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  asked.pipe(passed);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
