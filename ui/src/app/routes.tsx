// Every address and its screen; the only place that joins features.
import { createHashHistory, createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { Conversations } from "~/features/conversations/Conversations";
import { Inbox } from "~/features/inbox/Inbox";
import { Tasks } from "~/features/tasks/Tasks";
import { NewTask } from "~/features/tasks/NewTask";
import { TaskScreen } from "~/features/task/TaskScreen";
import { LineageScreen } from "~/features/lineage/Lineage";
import { Knowledge } from "~/features/knowledge/Knowledge";
import { Policy } from "~/features/policy/Policy";
import { Proof } from "~/features/proof/Proof";
import { Settings } from "~/features/settings/Settings";
import { Successor } from "~/features/successor/Successor";
import { Identity } from "~/features/identity/Identity";
import { Anchors } from "~/features/anchors/Anchors";
import { Machines } from "~/features/mesh/Mesh";
import { Training } from "~/features/training/Training";
import { Gateways } from "~/features/gateways/Gateways";
import { Schedules } from "~/features/schedules/Schedules";
import { Tools } from "~/features/tools/Tools";
import { AtWork } from "~/features/phone/AtWork";
import { More } from "~/features/phone/More";
import { FirstRun } from "~/features/first/FirstRun";
import { usePhone } from "~/screen/phone";
import { Layout } from "./Layout";
import { Broken, Missing } from "./Missing";
import { Root } from "./Root";

const root = createRootRoute({ component: Root, notFoundComponent: Missing });
const frame = createRoute({ getParentRoute: () => root, id: "frame", component: Layout, notFoundComponent: Missing });

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const inbox = createRoute({
  getParentRoute: () => frame, path: "/", component: () => <Inbox chosen={inbox.useSearch().at} after={usePhone() && <AtWork />} />,
  validateSearch: (search: Record<string, unknown>): { at?: string } => ({ at: text(search["at"]) }),
});
const conversations = createRoute({
  getParentRoute: () => frame, path: "/conversations", component: () => <Conversations chosen={conversations.useSearch().at} />,
  validateSearch: (search: Record<string, unknown>): { at?: string } => ({ at: text(search["at"]) }),
});
const tasks = createRoute({
  getParentRoute: () => frame, path: "/tasks", component: () => <Tasks of={tasks.useSearch().project} look={tasks.useSearch().look} />,
  validateSearch: (search: Record<string, unknown>): { project?: string; look?: string } => ({ project: text(search["project"]), look: text(search["look"]) }),
});
const newTask = createRoute({
  getParentRoute: () => frame, path: "/tasks/new", component: () => { const given = newTask.useSearch(); return <NewTask key={JSON.stringify(given)} {...given} />; },
  validateSearch: (search: Record<string, unknown>): { folder?: string; goal?: string; like?: string; message?: string } => ({ folder: text(search["folder"]), goal: text(search["goal"]), like: text(search["like"]), message: text(search["message"]) }),
});
const task = createRoute({
  getParentRoute: () => frame, path: "/task/$id", component: () => {
    const { id } = task.useParams();
    return <TaskScreen key={id} id={id} chosen={task.useSearch().see} />;
  },
  validateSearch: (search: Record<string, unknown>): { see?: string } => ({ see: text(search["see"]) }),
});
const lineage = createRoute({
  getParentRoute: () => frame, path: "/lineage", component: () => <LineageScreen of={lineage.useSearch().of} />,
  validateSearch: (search: Record<string, unknown>): { of?: string } => ({ of: text(search["of"]) }),
});
const knowledge = createRoute({ getParentRoute: () => frame, path: "/knowledge", component: Knowledge });
const policy = createRoute({
  getParentRoute: () => frame, path: "/policy", component: () => <Policy at={policy.useSearch().tab} />,
  validateSearch: (search: Record<string, unknown>): { tab?: string } => ({ tab: text(search["tab"]) }),
});
const tools = createRoute({
  getParentRoute: () => frame, path: "/tools", component: () => <Tools of={tools.useSearch().of} at={tools.useSearch().tab} />,
  validateSearch: (search: Record<string, unknown>): { of?: string; tab?: string } => ({ of: text(search["of"]), tab: text(search["tab"]) }),
});
const schedules = createRoute({
  getParentRoute: () => frame, path: "/schedules", component: () => <Schedules of={schedules.useSearch().of} />,
  validateSearch: (search: Record<string, unknown>): { of?: string } => ({ of: text(search["of"]) }),
});
const gateways = createRoute({
  getParentRoute: () => frame, path: "/gateways", component: () => <Gateways of={gateways.useSearch().of} />,
  validateSearch: (search: Record<string, unknown>): { of?: string } => ({ of: text(search["of"]) }),
});
const proof = createRoute({
  getParentRoute: () => frame, path: "/proof", component: () => <Proof task={proof.useSearch().task} />,
  validateSearch: (search: Record<string, unknown>): { task?: string } => ({ task: text(search["task"]) }),
});
const anchors = createRoute({ getParentRoute: () => frame, path: "/anchors", component: Anchors });
const machines = createRoute({ getParentRoute: () => frame, path: "/machines", component: Machines });
const successor = createRoute({
  getParentRoute: () => frame, path: "/successor", component: () => <Successor of={successor.useSearch().of} />,
  validateSearch: (search: Record<string, unknown>): { of?: string } => ({ of: text(search["of"]) }),
});
const training = createRoute({ getParentRoute: () => frame, path: "/training", component: Training });
const identity = createRoute({ getParentRoute: () => frame, path: "/identity", component: Identity });
const more = createRoute({ getParentRoute: () => frame, path: "/more", component: More });
const settings = createRoute({ getParentRoute: () => frame, path: "/settings", component: Settings });
const first = createRoute({
  getParentRoute: () => root, path: "/first", component: () => <FirstRun dropped={first.useSearch().folder} />,
  validateSearch: (search: Record<string, unknown>): { folder?: string } => ({ folder: text(search["folder"]) }),
});
// Any other address: said within the frame, so that the rail leads on.
const elsewhere = createRoute({ getParentRoute: () => frame, path: "$", component: Missing });

const tree = root.addChildren([
  frame.addChildren([inbox, conversations, tasks, newTask, task, schedules, gateways, lineage, knowledge, policy, tools, proof, anchors, machines, successor, training, identity, settings, more, elsewhere]),
  first,
]);

export function makeRouter(history = createHashHistory()) {
  return createRouter({ routeTree: tree, history, defaultPreload: false, defaultErrorComponent: Broken });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
