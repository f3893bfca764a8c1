// Runs of models that speak a piece at a time, over the run API of the built host, and the page of each.
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { Model, type Turn } from "./speaker";
import type { World } from "./world";

/** An event of a run's journal. */
export interface RunEvent { seq: number; type: string; terminal: boolean; payload: Record<string, unknown> }

export class Runs {
  readonly #models: Model[] = [];
  #address = "";

  constructor(readonly world: World) {}

  /** Starts the host and opens its page. */
  async open(): Promise<void> {
    const link = await this.world.serve();
    this.#address = new URL(link).origin;
    await this.world.open(link);
  }

  async close(): Promise<void> {
    for (const model of this.#models) model.end();
    await this.world.close();
  }

  /** A host that was killed is followed by another, and the page is read anew there, at its first screen. */
  async again(): Promise<void> {
    await this.world.reopen(await this.world.serve());
    await this.world.go("/");
    await this.world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  }

  async api<T>(path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${this.world.token()}`, "content-type": "application/json" };
    const answer = await fetch(`${this.#address}${path}`, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json() as T;
  }

  /** A run of a model that takes these turns. */
  async start(title: string, turns: Turn[], more: object = {}): Promise<{ run: string; model: Model }> {
    const { model, name } = await this.model(turns);
    const asked = { message: `the goal of ${title}`, workspace: this.world.folder, model: name, metadata: { title }, ...more };
    return { run: (await this.api<{ run_id: string }>("/v1/runs", asked)).run_id, model };
  }

  /** Such a model alone, and its name for `--model`. */
  async model(turns: Turn[]): Promise<{ model: Model; name: string }> {
    const model = new Model(turns);
    this.#models.push(model);
    return { model, name: await model.begin() };
  }

  async journal(run: string): Promise<RunEvent[]> {
    return (await this.api<{ events: RunEvent[] }>(`/v1/runs/${run}/events?limit=500`)).events;
  }

  async of(run: string, type: string): Promise<RunEvent[]> {
    return (await this.journal(run)).filter((event) => event.type === type);
  }

  /** The first event of a family, as soon as it is there. */
  async told(run: string, type: string): Promise<Record<string, unknown>> {
    await expect.poll(async () => (await this.of(run, type)).length, { timeout: 90_000 }).toBeGreaterThan(0);
    return (await this.of(run, type))[0]?.payload ?? {};
  }

  readonly button = (name: string | RegExp): Locator => this.world.page.getByRole("button", { name, exact: true });
  readonly log = (): Locator => this.world.page.getByRole("log", { name: "What was said" });
  readonly at = (word: string): Locator => this.world.page.locator("main").getByText(word, { exact: true }).first();

  /** What a person sees of the run that is open: what was said, and what happened; how long it has been at it is left out. */
  async shown(): Promise<string> {
    const happened = this.world.page.getByRole("list", { name: "What happened" });
    return `${await this.log().innerText()}\n${await happened.innerText()}`.replaceAll(/^\d+ (s|min)$/gm, "").replaceAll(/\s+/g, " ");
  }

  /** The same as soon as it holds this. */
  async shownWith(part: string): Promise<string> {
    await expect.poll(() => this.shown(), { timeout: 90_000 }).toContain(part);
    return this.shown();
  }
}
