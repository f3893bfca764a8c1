// A model that needs no server is fetched from the page: what has come is shown, a fetch is stopped and gone on with, and what is
// here can be used and removed.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { BoxModel } from "~/ipc/generated/models";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { ModelBox } from "./ModelBox";

const MODEL: BoxModel = {
  name: "qwen", address: "box:qwen", bytes: 1_117_000_000, sha256: "ab".repeat(32), license: "Apache-2.0", about: "small goals", state: "absent", bytes_here: 0, trouble: null,
};

function shown(first: Partial<BoxModel>, standard: string | null = null, trouble: string | null = null) {
  let model = { ...MODEL, ...first };
  const answer = () => ({ models: [model], trouble });
  const becomes = (more: Partial<BoxModel>) => () => { model = { ...model, ...more }; return answer(); };
  const host = scene({
    "models.in_box": answer,
    "models.get": becomes({ state: "fetching", bytes_here: 312_000_000 }),
    "models.stop_get": becomes({ state: "absent" }),
    "models.remove": becomes({ state: "absent", bytes_here: 0 }),
  });
  const choose = vi.fn();
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><ModelBox standard={standard} choose={choose} /></QueryClientProvider></HostProvider>);
  const sent = (name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);
  const row = async () => within(await screen.findByRole("listitem"));
  return { becomes, choose, row, sent, user: userEvent.setup() };
}

test("a fetch shows what has come, stops, and goes on from there until the model can be used", async () => {
  const { becomes, choose, row, sent, user } = shown({});
  await (await row()).findByText("1.1 GB · Apache-2.0");
  await user.click((await row()).getByRole("button", { name: "Get" }));
  const bar = await (await row()).findByRole("progressbar", { name: "Getting qwen" });
  expect(bar.getAttribute("value")).toBe("312000000");
  expect(bar.getAttribute("max")).toBe("1117000000");
  (await row()).getByText("312 MB of 1.1 GB");
  expect(await seriousFindings()).toEqual([]);
  await user.click((await row()).getByRole("button", { name: "Stop" }));
  await (await row()).findByText("312 MB of 1.1 GB are here");
  expect((await row()).queryByRole("progressbar")).toBeNull();
  await user.click((await row()).getByRole("button", { name: "Go on" }));
  await (await row()).findByRole("progressbar");
  expect([sent("models.get"), sent("models.stop_get")]).toEqual([[{ name: "qwen" }, { name: "qwen" }], [{ name: "qwen" }]]);
  // It is looked at again by itself.
  becomes({ state: "checking", bytes_here: MODEL.bytes })();
  await (await row()).findByText("Checking that every byte is right", {}, { timeout: 5_000 });
  becomes({ state: "here" })();
  await user.click(await (await row()).findByRole("button", { name: "Use it" }, { timeout: 5_000 }));
  expect(choose).toHaveBeenCalledWith("box:qwen");
});

test("why a fetch failed stands beside the model, and the default one is not offered again", async () => {
  const failed = shown({ bytes_here: 5, trouble: "the disk is full; make room" });
  await (await failed.row()).findByText("The disk is full; make room.");
  (await failed.row()).getByRole("button", { name: "Go on" });
});

test("the default model is named as such and can be removed", async () => {
  const { row, sent, user } = shown({ state: "here", bytes_here: MODEL.bytes }, "box:qwen");
  await (await row()).findByText("1.1 GB · Apache-2.0 · default");
  expect((await row()).queryByRole("button", { name: "Use it" })).toBeNull();
  await user.click((await row()).getByRole("button", { name: "Remove" }));
  await (await row()).findByRole("button", { name: "Get" });
  expect(sent("models.remove")).toEqual([{ name: "qwen" }]);
});

test("a build without its program gets no weights, and the button says why", async () => {
  const { row, sent, user } = shown({}, null, "this build of Hermit has no model of its own; use one by its address");
  const why = "This build of Hermit has no model of its own; use one by its address";
  await screen.findByText(`${why}.`);
  const get = (await row()).getByRole("button", { name: "Get" });
  expect([get.getAttribute("aria-disabled"), get.getAttribute("title")]).toEqual(["true", why]);
  await user.click(get);
  expect(sent("models.get")).toEqual([]);
  expect(await seriousFindings()).toEqual([]);
});
