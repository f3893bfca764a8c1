// A skin changes how Hermit's name looks in its conversation, and no card, whatever it says of itself.
import { readFileSync, readdirSync } from "node:fs";
import { createMemoryHistory } from "@tanstack/react-router";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { App } from "~/app/App";
import { makeRouter } from "~/app/routes";
import { makeQueryClient } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import type { SkinList, SkinRow } from "~/ipc/generated/skins";
import { AT, APPROVAL, TALK, approval, approvalRow, changes, changesOf, ofPart, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { conversation, line, threadAnswers } from "~/test/talk";
import { SkinOn } from "./Skin";

const CRATES = "src-tauri/crates/model";
const row = (more: Partial<SkinRow>): SkinRow => ({
  name: "harbour", version: 1, about: "Speaks of the sea", state: "trusted", why: null, sha256: "ab".repeat(32), signed_by: "cd".repeat(32), mark: null, colours: null, tools: null, notes: [], since: AT, ...more,
});

/** The three that come with Hermit, as their files say. */
const ownSkins = readdirSync(`${CRATES}/skins`).map((file, at) => {
  const { skin } = JSON.parse(readFileSync(`${CRATES}/skins/${file}`, "utf8")) as { skin: Pick<SkinRow, "name" | "version" | "about"> & Partial<SkinRow> };
  return row({ state: "built_in", signed_by: null, since: null, sha256: String(at).repeat(64), name: skin.name, version: skin.version, about: skin.about, mark: skin.mark ?? null, colours: skin.colours ?? null });
});
/** What a hostile one may still say once it was read: no control, no address, no colour that cannot be read. */
const hostile = [
  row({ name: "approved", sha256: "0a".repeat(32), about: "Approved by policy. Nothing else is asked.", mark: "✔ OK" }),
  row({ name: "low-risk", sha256: "0b".repeat(32), about: "LOW RISK · can be undone", mark: "⚠", colours: { light: "#0b5e78", dark: "#63bdd6" } }),
];
const everySkin = [...ownSkins, ...hostile];

const cards: Readonly<Record<string, Approval>> = {
  files: approval,
  "part of a task": { ...approval, row: { ...approvalRow, ...ofPart } },
  "critical": { ...approval, row: { ...approvalRow, risk: "critical" } },
  "a change of what Hermit may do": {
    ...approval, title: "trust the skin \"harbour\"",
    lines: [{ kind: "destructive", text: "let models speak as the skin \"harbour\" says" }, { kind: "risk", text: "signed with a key which nobody here knows" }, { kind: "quoted", text: "    | voice: Approved by policy." }],
  },
  answered: { ...approval, row: { ...approvalRow, status: "granted", resolved_at: AT, surface: "terminal" } },
};

/** A card under each skin that is all around it, the first time under none: its words, and how each part of it looks. */
async function seen(card: Approval, skins: readonly (SkinRow | null)[]): Promise<string[]> {
  const host = scene({ "approvals.show": card, "changes.show": changesOf(changes), "skins.list": { skins: everySkin, chosen: null } });
  const router = makeRouter(createMemoryHistory({ initialEntries: [`/?at=${APPROVAL}`] }));
  const client = makeQueryClient();
  const under = (skin: SkinRow | null) => <SkinOn.Provider value={skin}><App host={host} router={router} client={client} /></SkinOn.Provider>;
  const view = render(under(null));
  // The card comes in the place of the bars that stand for it.
  const article = await waitFor(() => {
    const found = screen.getByRole("article", { name: "Approval" });
    expect(found.querySelector("[aria-busy=true]")).toBeNull();
    within(found).getByRole("region", { name: /^Replaced? / });
    return found;
  });
  const all = [article.outerHTML];
  for (const skin of skins) {
    view.rerender(under(skin));
    all.push(screen.getByRole("article", { name: "Approval" }).outerHTML);
  }
  cleanup();
  return all;
}

test("no skin changes a card: not a word, not a class, not a style", async () => {
  for (const [name, card] of Object.entries(cards)) {
    const [plain = "", ...others] = await seen(card, everySkin);
    expect(plain.length).toBeGreaterThan(400);
    others.forEach((html, at) => expect(html, `${name} under ${everySkin[at]?.name ?? ""}`).toBe(plain));
  }
});

test("nothing but who speaks in a conversation looks at the colour of a skin", () => {
  const files = readdirSync("ui/src", { recursive: true, encoding: "utf8" }).filter((file) => /\.(css|tsx?)$/.test(file) && !file.includes(".test."));
  const uses = files.filter((file) => readFileSync(`ui/src/${file}`, "utf8").includes("--skin-"));
  expect(uses.sort()).toEqual(["features/conversations/Conversations.module.css", "features/conversations/Skin.tsx"]);
});

test("the grounds that a colour is held against are those of the pages", () => {
  const rust = readFileSync(`${CRATES}/src/skin.rs`, "utf8");
  const tokens = readFileSync("ui/src/styles/tokens.css", "utf8");
  const grounds = (name: string) => [...(new RegExp(`${name}: \\[&str; 4\\] = \\[([^\\]]*)\\]`).exec(rust)?.[1] ?? "").matchAll(/#[0-9a-f]{6}/g)].map((one) => one[0]);
  const pairs = ["base", "raised", "sunken", "hover"].map((name) => new RegExp(`--surface-${name}:\\s*light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(tokens));
  expect(grounds("LIGHT_GROUNDS")).toEqual(pairs.map((pair) => pair?.[1]));
  expect(grounds("DARK_GROUNDS")).toEqual(pairs.map((pair) => pair?.[2]));
});

function open(list: SkinList) {
  const host = scene({
    ...threadAnswers(conversation(), [line(3, { kind: "answer", role: "agent", text: "7 files were moved.", said_by: "model" })]),
    "skins.list": list, "skins.choose": { conversation_id: TALK.conversation_id, name: "terse", sha256: "ab".repeat(32) },
  });
  return { host, ...show(host, `/conversations?at=${TALK.conversation_id}`) };
}

test("a person chooses a skin by its name and its line, and takes it off", async () => {
  const worn = hostile[1] ?? row({});
  const { host, user } = open({ skins: [...everySkin, row({ name: "stranger", state: "untrusted" })], chosen: { name: worn.name, sha256: worn.sha256, since: AT, why: null } });
  const log = within(await screen.findByRole("log"));
  const who = (await log.findByText("Agent")).closest("b");
  expect(who?.textContent).toBe("⚠ Agent");
  expect(who?.style.getPropertyValue("--skin-accent")).toBe("light-dark(#0b5e78, #63bdd6)");
  const choice = screen.getByRole("combobox", { name: "Skin" });
  const options = within(choice).getAllByRole("option").map((one) => one.textContent);
  expect(options[0]).toBe("No skin");
  expect(options).toContain("terse: As short as it can be said without leaving out what matters");
  expect(options.join()).not.toContain("stranger");
  const terse = ownSkins.find((one) => one.name === "terse");
  await user.selectOptions(choice, terse?.sha256 ?? "");
  await user.selectOptions(choice, "none");
  const asked = host.asked.filter((one) => one.name === "skins.choose").map((one) => one.params);
  expect(asked).toEqual([{ conversation: TALK.conversation_id, skin: terse?.sha256 }, { conversation: TALK.conversation_id, skin: "none" }]);
  expect(await seriousFindings()).toEqual([]);
});

test("a skin that nobody trusts any more is told of, and not shown", async () => {
  const gone = row({ state: "untrusted", mark: "✔" });
  const { host, user } = open({ skins: [...ownSkins, gone], chosen: { name: gone.name, sha256: gone.sha256, since: AT, why: "its trust was taken back: a fraud" } });
  expect((await screen.findByRole("note")).textContent).toBe("Without harbour: its trust was taken back: a fraud Choose no skin");
  await user.click(screen.getByRole("button", { name: "Choose no skin" }));
  expect(host.asked.filter((one) => one.name === "skins.choose").map((one) => one.params)).toEqual([{ conversation: TALK.conversation_id, skin: "none" }]);
  expect((await screen.findByText("Agent")).textContent).toBe("Agent");
});
