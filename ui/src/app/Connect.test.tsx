// What is seen before there is a host: why, and what brings one.
import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { type Host, Refused } from "~/host/host";
import { scene } from "~/test/scene";
import { Connect } from "./Connect";

test("a page without a session comes in by itself when another tab has one, and hears of none before and after", async () => {
  const host = scene();
  const open = vi.fn((): Promise<Host> => Promise.resolve(host));
  open.mockRejectedValueOnce(new Refused({ code: "unauthorised", message: "this browser has no session with the host" }));
  const hearing = new Set<() => void>();
  const hear = (again: () => void) => {
    hearing.add(again);
    return () => { hearing.delete(again); };
  };
  render(<Connect open={open} hear={hear} />);
  expect(hearing.size).toBe(0);
  await screen.findByText("This browser has no session with the host.");
  expect([open.mock.calls.length, hearing.size]).toEqual([1, 1]);
  act(() => { for (const again of [...hearing]) again(); });
  await screen.findByRole("navigation", { name: "Places" });
  expect([open.mock.calls.length, hearing.size]).toEqual([2, 0]);
});

test("a host that does not answer is asked again by a person alone", async () => {
  const hear = vi.fn(() => () => undefined);
  const open = () => Promise.reject(new Refused({ code: "unavailable", message: "the host does not answer" }));
  render(<Connect open={open} hear={hear} />);
  await screen.findByText("The host does not answer.");
  expect(hear).not.toHaveBeenCalled();
});
