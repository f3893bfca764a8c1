// What a person says otherwise of a belief: in its place or against it, never without saying what holds and how they know it.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const open = async () => {
  const host = scene({ "knowledge.correct": { belief_id: "blf_1", task_id: DONE, by: "blf_2" } });
  show(host, "/knowledge");
  return { host, belief: await screen.findByRole("complementary", { name: "Belief" }) };
};

test("a belief is replaced, or contradicted, by what a person says holds", async () => {
  const { host, belief } = await open();
  const act = (name: string) => fireEvent.click(within(belief).getByRole("button", { name }));
  const said = () => host.asked.filter((one) => one.name === "knowledge.correct").map((one) => one.params);
  act("Replace the belief");
  fireEvent.change(within(belief).getByLabelText("What holds"), { target: { value: " It is 30 days " } });
  act("Keep both as a contradiction");
  expect(said()).toEqual([]);
  fireEvent.change(within(belief).getByLabelText("How you know it"), { target: { value: "I signed it" } });
  act("Replace the belief");
  await waitFor(() => expect(said()).toHaveLength(1));
  act("Keep both as a contradiction");
  const whole = { belief: "blf_1", reason: "I signed it", channel: "app" };
  await waitFor(() => expect(said()).toEqual([
    { ...whole, instead: "It is 30 days", against: null },
    { ...whole, instead: null, against: "It is 30 days" },
  ]));
  expect(await seriousFindings()).toEqual([]);
});
