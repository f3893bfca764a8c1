import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Hash } from "./Hash";

test("a digest that is not there is told as none, and nothing is offered to copy", () => {
  const { container } = render(<Hash of="" what="session" />);
  expect(container.textContent).toBe("None");
  expect(screen.queryByRole("button")).toBeNull();
});

test("a digest is short to read and copied whole", () => {
  render(<Hash of={"ab".repeat(32)} />);
  expect(screen.getByText("abababab…abab")).toBeTruthy();
  expect(screen.getByRole("button", { name: `Copy digest ${"ab".repeat(32)}` })).toBeTruthy();
});
