// Tests the server of one model, and says whether it offers this one.
import type { ReactNode } from "react";
import { useAct } from "~/ipc/client";
import type { Server, Test } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { many } from "~/primitives/number";
import { Failed, Said, sentence } from "~/primitives/States";

/** Protocol and base URL of the server behind a model's address. */
function serverOf(address: string): Test {
  const [, api = "openai", url = ""] = /^([a-z]+):(.*)#/.exec(address) ?? [];
  return { api, url };
}

export function ModelTest({ address }: { address: string }) {
  const test = useAct("models.test");
  return (
    <>
      <Button because={test.isPending ? "Testing" : null} onClick={() => test.mutate(serverOf(address))}>{test.isPending ? "Testing" : "Test"}</Button>
      <div aria-live="polite">{test.data !== undefined && !test.isPending && <Said tone={offers(test.data, address) ? "done" : "failed"}>{inWords(test.data, address)}</Said>}</div>
      {test.error !== null && <Failed error={test.error} />}
    </>
  );
}

const offers = (server: Server, address: string) => server.models.some((model) => model.address === address);

function inWords(server: Server, address: string): ReactNode {
  if (server.trouble !== null) return sentence(server.trouble);
  const model = server.models.find((one) => one.address === address);
  if (model === undefined) return `It answers, but does not offer this model. It offers ${server.models.map(({ id }) => id).slice(0, 8).join(", ")}${server.models.length > 8 ? " and others" : ""}.`;
  const asked = model.asked;
  return `It answers and offers this model${asked === null ? "" : `: context ${many(asked.context)} tokens (${asked.from})`}.`;
}
