// The window a yes is given in: one card, or keys. Nothing else is ever shown here.
import { useEffect, useState } from "react";
import type { Desk, Subject } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { Loading, Trouble } from "~/primitives/States";
import { Answering } from "./Answering";
import { KeepKey, MakeKeys, OpenKeys } from "./Keys";
import { Override } from "./Override";

export function ApprovalWindow({ desk }: { desk: Desk }) {
  const [subject, setSubject] = useState<Subject | null>(null);
  const [error, setError] = useState<Refused | null>(null);
  useEffect(() => {
    let here = true;
    desk.subject().then((found) => here && setSubject(found), (thrown) => here && setError(refusal(thrown)));
    return () => { here = false; };
  }, [desk]);
  if (error !== null) return <Trouble error={error} what="this window" />;
  if (subject === null) return <Loading what="what this window is for" />;
  switch (subject.kind) {
    case "approval":
      return <Answering id={subject.id} desk={desk} />;
    case "override":
      return <Override act={subject.act} desk={desk} />;
    case "keys":
      return <MakeKeys desk={desk} />;
    case "provider":
      return <KeepKey desk={desk} />;
    case "unlock":
      return <OpenKeys desk={desk} />;
    default:
      return subject satisfies never;
  }
}
