// The form of this machine while its settings change elsewhere.
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { MESH } from "~/test/mesh";
import { scene } from "~/test/scene";
import { show } from "~/test/show";

test("what is typed of this machine stays when its settings are changed elsewhere", async () => {
  let now = MESH;
  const host = scene({ "mesh.show": () => now });
  const { user: person } = show(host, "/machines");
  const form = () => within(screen.getByRole("form", { name: "This machine" }));
  await screen.findByRole("form", { name: "This machine" });
  const name = form().getByLabelText("Name") as HTMLInputElement;
  await person.clear(name);
  await person.type(name, "lighthouse");
  now = { ...MESH, public: true };
  act(() => host.link("live"));
  await screen.findByText(/changed elsewhere meanwhile/);
  expect([name.isConnected, name.value]).toEqual([true, "lighthouse"]);
  await person.click(screen.getByRole("button", { name: "Show the new settings instead" }));
  await waitFor(() => expect((form().getByLabelText("Name") as HTMLInputElement).value).toBe(MESH.name));
});
