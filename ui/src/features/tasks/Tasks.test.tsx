// The list of tasks: who began each, where no person did at the machine.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DONE, scene, taskRow, WAITS } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

test("a task that a chat began says who wrote and on which service, and one of another program says that", async () => {
  const rows = [
    taskRow({ task_id: WAITS, title: "What is new?", origin: "program", from_chat: { sender_name: "Ana \u202eB", service: "telegram", gateway: "family" } }),
    taskRow({ task_id: DONE, title: "Build it", origin: "program" }),
  ];
  for (const look of ["/tasks", "/tasks?look=board"]) {
    const { unmount } = show(scene({ "task.list": { rows } }), look);
    const [chat, other] = [await screen.findAllByText(/on Telegram: /), await screen.findAllByText(/Another program: /)];
    expect([chat.length > 0, other.length > 0]).toEqual([true, true]);
    expect(chat[0]?.closest("span")?.textContent).toMatch(/^.*Ana .*B on Telegram: /);
    expect(document.body.textContent).not.toContain("\u202e");
    expect(await seriousFindings()).toEqual([]);
    expect(within(document.body).queryByText(/Another program: .*Telegram/)).toBeNull();
    unmount();
  }
});
