// A machine with two others of its person, for tests of screens: one that is here, and one that is not heard.
import type { Alert, Mesh, Message, Node, Question, Receipt } from "~/ipc/generated/mesh";

const AT = Date.UTC(2026, 10, 22, 2, 0);
export const DESK = "d0".repeat(32);
export const LAPTOP = "1a".repeat(32);
const CONVERSATION = "cnv_01a20000000070008000000000000014";

export const MESH_OFF: Mesh = { on: false, name: null, node: null, cosign_key: null, relays: [], listen: null, folders: {}, model: null, public: false, ways: [], waiting: 0, alerts: [] };
export const MESH: Mesh = {
  on: true, name: "server", node: "5e".repeat(32), cosign_key: null, relays: ["wss://relay.example"], listen: "192.168.1.5:7447", folders: { notes: "/home/you/notes" }, model: null, public: false,
  ways: [
    { at: "wss://relay.example", is_direct: false, is_open: true, says: null },
    { at: "wss://other.example", is_direct: false, is_open: false, says: "it refuses events that are older than a day" },
    { at: "desk", is_direct: true, is_open: true, says: null },
  ],
  waiting: 3, alerts: [],
};

export function node(more: Partial<Node> = {}): Node {
  return {
    node: DESK, name: "desk", relays: ["wss://relay.example"], here_until: Date.now() + 500_000, tools: ["change", "command"], models: ["qwen2.5-7b"], folders: ["atlas", "photos"], load: 12,
    queued: 0, accepted: 0, approval_key: "SHA256:deskkey", is_approver: false, cosign_key: null, is_withdrawn: false, is_public: false, ...more,
  };
}
export const NOT_HEARD = node({ node: LAPTOP, name: "laptop", here_until: AT, load: null, queued: 3, accepted: 2, approval_key: null, folders: [] });

export function meshMessage(place: number, more: Partial<Message> = {}): Message {
  return {
    place, message: place.toString(16).padStart(64, "0"), at: AT, is_outgoing: true, node: DESK, name: "desk", conversation: CONVERSATION, text: "Sort the photos", state: "opened", accepted_by: "wss://relay.example",
    never: null, task_id: null, answer: "Seven photos were sorted.", answered_at: AT + 60_000, waits_since: null, ...more,
  };
}

export function meshReceipt(place: number, more: Partial<Receipt> = {}): Receipt {
  return { place, node: DESK, name: "desk", number: 40 + place, sha256: place.toString(16).padStart(64, "b"), at: AT, receipt_id: null, ...more };
}

export function meshQuestion(more: Partial<Question> = {}): Question {
  return {
    approval: "apr_01a20000000070008000000000000015", node: DESK, name: "desk", expires_at: Date.now() + 600_000, packet: btoa("{}"), packet_sha256: "9b".repeat(32), title: "delete 1 file",
    lines: ["high risk", "DELETE \"data/\u202etax.csv\""], word: "high", to_sign: "", ...more,
  };
}

export function meshAlert(more: Partial<Alert> = {}): Alert {
  return { kind: "rolled_back", node: DESK, name: "desk", says: "its head has 40 notes, and 52 were cosigned", at: AT, ...more };
}
