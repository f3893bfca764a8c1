// Models are looked for when a person asks, and not before; a key never passes through the window.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Asked, Found } from "~/ipc/generated/models";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Models } from "./Models";

const address = "openai:http://127.0.0.1:11434/v1#qwen2.5-coder";
const asked: Asked = { address, context: 32_768, output: 4096, from: "the server says so", temperature: "0", mode: "auto", tools: "all", price: null, without: ["seed"], sees: false };
const away: Asked = {
  ...asked, address: "openai:https://models.example.org/v1#big", price: { input: "2.5", output: "10", from: "its server says so" }, without: [],
};
const found: Found = {
  servers: [
    { name: "Ollama", url: "http://127.0.0.1:11434/v1", models: [{ id: "qwen2.5-coder", address, asked }], trouble: null },
    { name: "vLLM", url: "http://127.0.0.1:8000/v1", models: [], trouble: "it wants a key before it lists its models" },
  ],
  looked: [11434, 8080, 8000, 8081], standard: null, providers: [{ url: "https://models.example.org/v1", secret: "away", kept: false }], set: [away],
};

function shown(more: Parameters<typeof scene>[0] = {}) {
  const host = scene({ "models.find": found, "models.standard": { standard: address }, "models.set": asked, ...more }, "window");
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
  await user.click(screen.getByRole("button", { name: "Use qwen2.5-coder by default" }));
  expect(host.asked.find((one) => one.name === "models.standard")?.params).toEqual({ address });
  expect(await seriousFindings()).toEqual([]);
});

test("how a model is asked is changed in its fields, and only what was changed is sent", async () => {
  const { host, user } = shown();
  await user.click(screen.getByRole("button", { name: "Look for models" }));
  expect(await screen.findAllByText(/Context 32,768, output 4,096 \(the server says so\), temperature 0, all tools/)).toHaveLength(2);
  screen.getByText("openai:https://models.example.org/v1#big");
  await user.click(screen.getByRole("button", { name: `Change how ${address} is asked` }));
  screen.getByText(/Its server refuses: seed/);
  const output = screen.getByLabelText("Output, tokens");
  await user.clear(output);
  await user.type(output, "8k");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(host.times("models.set")).toBe(0);
  await user.clear(output);
  await user.type(output, "8192");
  await user.clear(screen.getByLabelText("Temperature"));
  await user.type(screen.getByLabelText("Temperature"), "own");
  await user.selectOptions(screen.getByLabelText("Tools"), "few");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.getAllByText(/Context 32,768/)).toHaveLength(2));
  expect(host.asked.find((one) => one.name === "models.set")?.params).toEqual({ address, output: 8192, temperature: "own", tools: "few" });
  expect(await seriousFindings()).toEqual([]);
});

test("a price is shown with where it is known from, and a person's own goes before it", async () => {
  const { host, user } = shown();
  await user.click(screen.getByRole("button", { name: "Look for models" }));
  await screen.findByText(/\$2\.5 in and \$10 out for a million tokens \(its server says so\)/);
  await user.click(screen.getByRole("button", { name: `Change how ${away.address} is asked` }));
  const input = screen.getByLabelText("Price of input, $");
  await user.clear(input);
  await user.type(input, "2,5");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(host.times("models.set")).toBe(0);
  await user.clear(input);
  await user.type(input, "1.75");
  await user.selectOptions(screen.getByLabelText("Pictures"), "yes");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(host.asked.find((one) => one.name === "models.set")?.params).toEqual({ address: away.address, sees: true, price_in: "1.75" });
});

test("a server is tested with a key of one's choice: its models are a choice, and what is wrong is said", async () => {
  const { host, user } = shown({
    "secrets.list": { secrets: [{ handle: "away", hosts: ["127.0.0.1:11434"], kept_in: "file", also_in: [], since: 0 }] },
    "models.test": ({ url, secret }) => ({
      name: "Ollama", url, models: secret === "away" ? [{ id: "qwen2.5-coder", address, asked }] : [],
      trouble: secret === "away" ? null : "it wants a key before it lists its models; give it one with `hermit models add`",
    }),
  });
  const form = within(screen.getByRole("form", { name: "Test a model server" }));
  await user.click(form.getByRole("button", { name: "Test" }));
  expect(host.times("models.test")).toBe(0);
  await user.type(form.getByLabelText("Address"), " http://127.0.0.1:11434/v1{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("It wants a key before it lists its models; give it one with hermit models add.");
  await user.selectOptions(form.getByLabelText("Key"), "away");
  await user.click(form.getByRole("button", { name: "Test" }));
  await screen.findByText("It answers and offers 1 model.");
  screen.getByText(/Context 32,768, output 4,096 \(the server says so\)/);
  expect(host.asked.filter((one) => one.name === "models.test").map((one) => one.params)).toEqual([
    { url: "http://127.0.0.1:11434/v1", api: "openai" }, { url: "http://127.0.0.1:11434/v1", api: "openai", secret: "away" },
  ]);
  await user.click(screen.getByRole("button", { name: "Use qwen2.5-coder by default" }));
  await screen.findByText("Default");
  expect(host.asked.find((one) => one.name === "models.standard")?.params).toEqual({ address });
  // The form of one model tests its server, and says whether it offers this one.
  await user.click(screen.getByRole("button", { name: `Change how ${address} is asked` }));
  const own = within(screen.getByRole("form", { name: `Settings of ${address}` }));
  await user.click(own.getByRole("button", { name: "Test" }));
  expect((await own.findByRole("alert")).textContent).toBe("It wants a key before it lists its models; give it one with hermit models add.");
  expect(await seriousFindings()).toEqual([]);
});

test("an embedding model is named and taken away, and what is wrong with it is said", async () => {
  let model: string | null = null;
  const state = () => ({ model, memories: 200, with_vectors: model === null ? 0 : 180, trouble: model === null ? null : "nobody answers: connection refused" });
  const { host, user } = shown({ "models.embedded": state, "models.embed": ({ address: wanted }) => { model = wanted ?? null; return state(); } });
  await screen.findByText("Memory is found by words. No embedding model is named.");
  const form = within(screen.getByRole("form", { name: "Name an embedding model" }));
  await user.click(form.getByRole("button", { name: "Use this model" }));
  expect(host.times("models.embed")).toBe(0);
  await user.type(form.getByLabelText("Address of an embedding model"), " openai:http://127.0.0.1:8080/v1#minilm{Enter}");
  expect((await screen.findByText(/by words and by meaning/)).textContent).toBe("Memory is found by words and by meaning, with openai:http://127.0.0.1:8080/v1#minilm: 180 of 200 memories have a vector.");
  expect((await screen.findByRole("alert")).textContent).toBe("By words alone at present: nobody answers: connection refused.");
  expect(await seriousFindings()).toEqual([]);
  await user.click(form.getByRole("button", { name: "Use words alone" }));
  await screen.findByText("Memory is found by words. No embedding model is named.");
  expect(host.asked.filter((one) => one.name === "models.embed").map((one) => one.params)).toEqual([{ address: "openai:http://127.0.0.1:8080/v1#minilm" }, { address: null }]);
});

test("where there is no window for keys, the way to the terminal is shown, and no field takes a key", () => {
  shown();
  screen.getByText("hermit models add anthropic");
  expect(document.querySelector("input[type=password]")).toBeNull();
});
