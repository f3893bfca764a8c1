// Models are looked for when a person asks, and not before; a key never passes through the window.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Found } from "~/ipc/generated/models";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Models } from "./Models";

const address = "openai:http://127.0.0.1:11434/v1#qwen2.5-coder";
const found: Found = {
  servers: [
    { name: "Ollama", url: "http://127.0.0.1:11434/v1", models: [{ id: "qwen2.5-coder", address }], trouble: null },
    { name: "vLLM", url: "http://127.0.0.1:8000/v1", models: [], trouble: "it wants a key before it lists its models" },
  ],
  looked: [11434, 8080, 8000, 8081], standard: null, providers: [{ url: "https://models.example.org/v1", secret: "away", kept: false }],
};

function shown() {
  const host = scene({ "models.find": found, "models.standard": { standard: address } }, "window");
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Models /></QueryClientProvider></HostProvider>);
  return { host, user: userEvent.setup() };
}

test("nothing is looked for until a person asks; what is found can become the standard", async () => {
  const { host, user } = shown();
  expect(host.times("models.find")).toBe(0);
  await user.type(screen.getByLabelText("Also at these ports of this machine"), "8081, 99999");
  await user.click(screen.getByRole("button", { name: "Look for models" }));
  await screen.findByText("qwen2.5-coder");
  expect(host.asked.find((one) => one.name === "models.find")?.params).toEqual({ ports: [8081] });
  await screen.findByText("It wants a key before it lists its models.");
  await screen.findByText(/is missing/);
  await user.click(screen.getByRole("button", { name: "Use qwen2.5-coder as the standard" }));
  expect(host.asked.find((one) => one.name === "models.standard")?.params).toEqual({ address });
  expect(await seriousFindings()).toEqual([]);
});

test("where there is no window for keys, the way to the terminal is shown, and no field takes a key", () => {
  shown();
  screen.getByText("hermit models add https://api.openai.com/v1 --secret openai");
  expect(document.querySelector("input[type=password]")).toBeNull();
});
