// How many reads run at the same time is shown with where it is from; a page sends a number within its bounds, and nothing else.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { ReadsAtOnce } from "~/ipc/generated/models";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Reads } from "./Reads";

function shown(told: ReadsAtOnce) {
  const host = scene({ "models.reads": told, "models.set_reads": told });
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Reads /></QueryClientProvider></HostProvider>);
  const sent = () => host.asked.filter((one) => one.name === "models.set_reads").map((one) => one.params);
  return { sent, user: userEvent.setup() };
}

test("a number within the bounds is sent, and no other", async () => {
  const { sent, user } = shown({ at_once: 10, is_set: false, standard: 10, most: 64 });
  await screen.findByText("10, the standard");
  expect(screen.queryByRole("button", { name: "Use the standard" })).toBeNull();
  const field = screen.getByLabelText("Number, 1 to 64");
  for (const wrong of ["0", "65", "1.5", "many"]) {
    await user.clear(field);
    await user.type(field, wrong);
    await user.click(screen.getByRole("button", { name: "Set" }));
  }
  expect(sent()).toEqual([]);
  await user.clear(field);
  await user.type(field, "4");
  await user.click(screen.getByRole("button", { name: "Set" }));
  expect(sent()).toEqual([{ at_once: 4 }]);
  expect(await seriousFindings()).toEqual([]);
});

test("what a person set is taken back with one press", async () => {
  const { sent, user } = shown({ at_once: 3, is_set: true, standard: 10, most: 64 });
  await screen.findByText("3, set by you");
  await user.click(screen.getByRole("button", { name: "Use the standard" }));
  expect(sent()).toEqual([{ at_once: null }]);
});
