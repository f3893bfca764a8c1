import { createMemoryHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import { App } from "~/app/App";
import { makeRouter } from "~/app/routes";
import type { FakeHost } from "~/host/fake";
import { makeQueryClient } from "~/ipc/client";

/** The whole app at an address, over a made-up host. */
export function show(host: FakeHost, at: string) {
  const client = makeQueryClient();
  const router = makeRouter(createMemoryHistory({ initialEntries: [at] }));
  const view = render(<App host={host} router={router} client={client} />);
  return { ...view, router, client, user: userEvent.setup() };
}

/** What axe finds that is serious or critical, in words. Colours are checked in the browser, where there are some. */
export async function seriousFindings(): Promise<string[]> {
  const found = await axe.run(document.body, { rules: { "color-contrast": { enabled: false } }, resultTypes: ["violations"] });
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.map((where) => `${one.id}: ${where.html.slice(0, 160)}`));
}
