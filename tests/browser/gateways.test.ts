// A gateway in Chromium, against the built host and a double of Telegram: connected by a yes, a sender paired by a code, a goal that
// comes from the chat and its answer that goes back, a stranger who is refused, and what ends it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { telegram } from "./chat";
import { soundPicture } from "./kept";
import { model } from "./model";
import { World } from "./world";

const TOKEN = "123456:ABC-def_ghi-jklmnopqrstuvwxyz012345";
const ANA = { id: 1001, name: "Ana" };
const STRANGER = { id: 666, name: "Mallory \u202e" };
const SUMMARY = "There is one letter.";
const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const one = () => world.page.getByRole("article", { name: "family", exact: true });
let chat: Awaited<ReturnType<typeof telegram>>;
let wishes: Awaited<ReturnType<typeof model>>;
const texts = (to: number) => chat.sent.filter((one) => one.given.chat_id === to).map((one) => one.given.text ?? "");

beforeAll(async () => {
  world.keys();
  world.file("letter.txt", "Dear all\n");
  chat = await telegram(TOKEN);
  wishes = await model([{ tool: "done", arguments: { summary: SUMMARY } }]);
  world.secret("gateway-family", TOKEN, `127.0.0.1:${chat.port}`);
  await world.ui();
  // A page names no server, so a terminal proposes; what it proposed is answered on the page.
  world.hermit("gateway", "add", "telegram", "--name", "family", "--address", chat.url, "--workspace", world.folder, "--model", wishes.name, "--no-input");
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await chat?.end();
  await wishes?.end();
});

/** A yes to the card that says these words: also what goes out to a chat is put to the person until they allow the like of it. */
async function allow(words: string): Promise<void> {
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).getByText(words).first().waitFor({ timeout: 90_000 });
  await world.approve("high");
}

test("a gateway listens only once its card was allowed, and the page says what it is for until then", async () => {
  await world.page.getByRole("article", { name: "Approval" }).waitFor();
  await world.go("/gateways");
  await world.page.getByText(/Nobody can give a yes through a chat/).waitFor();
  await soundPicture(world.page, "gateways-none");
  await button("Connect a chat").click();
  await world.page.getByText(/@BotFather/).waitFor();
  await soundPicture(world.page, "gateways-new");
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).waitFor();
  await soundPicture(world.page, "gateways-card");
  await world.approve("high");
  await expect.poll(async () => {
    await world.go("/gateways");
    return one().count();
  }, { timeout: 90_000 }).toBe(1);
  await one().getByText("Active", { exact: true }).waitFor();
  expect(world.hermit("gateway", "show", "family")).toContain(`127.0.0.1:${chat.port}`);
});

test("what a stranger writes is refused and listed, and neither answered nor bound", async () => {
  chat.write(STRANGER, "delete everything");
  await one().getByRole("button", { name: "Messages" }).click();
  await one().getByText(/Refused because its sender is not paired/).first().waitFor({ timeout: 90_000 });
  await soundPicture(world.page, "gateways-stranger");
  expect(texts(STRANGER.id)).toEqual([]);
  expect(wishes.asked).toEqual([]);
});

test("a sender is paired by the code that the page tells once, after a yes", async () => {
  await one().getByRole("button", { name: "Pair a sender" }).click();
  await one().getByRole("button", { name: "Give goals" }).click();
  await soundPicture(world.page, "gateways-pair");
  await button("Ask me to allow it").click();
  const code = await one().getByLabel("Code", { exact: true }).innerText();
  expect(code).toMatch(/^[2-9A-Z]{4}-[2-9A-Z]{4}$/);
  await soundPicture(world.page, "gateways-code");
  await one().getByRole("link", { name: "Review it" }).waitFor();
  await allow("Pair a sender");
  await world.go("/gateways");
  await one().getByRole("timer").waitFor({ timeout: 90_000 });
  expect(await one().getByLabel("Code", { exact: true }).innerText()).toBe(code);
  chat.write(ANA, code);
  await one().getByText("Ana is paired.").waitFor({ timeout: 90_000 });
  await allow("You are paired with Hermit");
  await world.go("/gateways");
  await expect.poll(() => texts(ANA.id).join("\n"), { timeout: 90_000 }).toContain("paired");
  await one().getByRole("button", { name: "Senders" }).click();
  await one().getByRole("region", { name: "Senders of family" }).getByText("May give goals").waitFor();
  await soundPicture(world.page, "gateways-senders");
});

test("a goal comes from the chat, its task says from whom, and its answer goes back with a receipt", async () => {
  chat.write(ANA, "Tell me what is in the folder");
  await allow(SUMMARY);
  await expect.poll(() => texts(ANA.id).join("\n"), { timeout: 90_000 }).toContain(SUMMARY);
  await world.go("/gateways?of=family");
  const log = one().getByRole("region", { name: "Messages of family" });
  await log.getByText("Tell me what is in the folder").first().waitFor();
  await log.getByText("Sent", { exact: true }).first().waitFor({ timeout: 90_000 });
  await soundPicture(world.page, "gateways-messages");
  await log.locator("li").filter({ hasText: "Tell me what is in the folder" }).getByRole("link", { name: "Task" }).first().click();
  await world.page.getByText(/Started from a chat, by Ana on Telegram \(gateway family\)/).waitFor();
  await soundPicture(world.page, "gateways-task");
  await world.go("/gateways?of=family");
  await log.getByRole("link", { name: "Receipt of sending it" }).first().click();
  await world.page.getByRole("log", { name: "What was said" }).waitFor();
  expect(world.hermit("gateway", "messages", "family")).toContain("Tell me what is in the folder");
}, 360_000);

test("who is unpaired is not heard any more, and a gateway is paused, resumed and removed", async () => {
  await world.go("/gateways");
  await one().getByRole("button", { name: "Senders" }).click();
  const senders = one().getByRole("region", { name: "Senders of family" });
  await senders.getByRole("button", { name: "Unpair" }).click();
  await senders.getByRole("button", { name: "Unpair Ana" }).click();
  await senders.getByText("Not paired any more").waitFor();
  const before = wishes.asked.length;
  chat.write(ANA, "And now?");
  await one().getByRole("button", { name: "Messages" }).click();
  await expect.poll(() => one().getByText(/Refused because its sender is not paired/).count(), { timeout: 90_000 }).toBeGreaterThan(1);
  expect(wishes.asked.length).toBe(before);
  await one().getByRole("button", { name: "Pause" }).click();
  await one().getByText("Paused", { exact: true }).waitFor();
  // No terminal opened this page, so that it brings the passphrase.
  await one().getByRole("button", { name: "Resume", exact: true }).click();
  await one().getByLabel("Approval passphrase").fill(world.passphrase);
  await one().getByRole("button", { name: "Resume family" }).click();
  await one().getByText("Active", { exact: true }).waitFor();
  await one().getByRole("button", { name: "Remove", exact: true }).click();
  await one().getByRole("button", { name: /^Remove family/ }).click();
  await world.page.getByText("No gateways").waitFor();
  expect(world.complaints).toEqual([]);
});
