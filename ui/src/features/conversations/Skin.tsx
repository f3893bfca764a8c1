// The skin of a conversation: how Hermit's name looks where it speaks, and where a person chooses another. It reaches no card.
import { type CSSProperties, createContext, useContext } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { SkinRow } from "~/ipc/generated/skins";
import { Button } from "~/primitives/Button";
import { Select } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Conversations.module.css";

/** The skin under which a conversation is shown; none where it has none, or may not have it any more. */
export const SkinOn = createContext<SkinRow | null>(null);

/** Hermit, or its agent, as the one who speaks. */
export function Speaker({ name }: { name: string }) {
  const skin = useContext(SkinOn);
  if (skin === null) return <b>{name}</b>;
  const { colours, mark } = skin;
  const style = colours === null ? undefined : ({ "--skin-accent": `light-dark(${colours.light}, ${colours.dark})` } as CSSProperties);
  return <b className={colours === null ? undefined : styles.skinned} style={style}>{mark !== null && <span aria-hidden><Words of={mark} /> </span>}{name}</b>;
}

/** The skins, and the one that a conversation has. */
export function useSkin(conversation: string) {
  const asked = useAsk("skins.list", { conversation });
  const skins = asked.data?.skins ?? [];
  const chosen = asked.data?.chosen ?? null;
  const worn = chosen === null || chosen.why !== null ? null : skins.find((one) => one.sha256 === chosen.sha256) ?? null;
  return { skins, chosen, worn };
}

export function SkinChoice({ conversation, of }: { conversation: string; of: ReturnType<typeof useSkin> }) {
  const choose = useAct("skins.choose");
  const { skins, chosen, worn } = of;
  const offered = skins.filter((one) => one.state !== "untrusted");
  if (offered.length === 0) return null;
  const options = [{ value: "none", label: "No skin" }, ...offered.map((one) => ({ value: one.sha256, label: `${one.name}: ${one.about}` }))];
  return (
    <div className={styles.skin}>
      <Select label="Skin" hideLabel title="How Hermit speaks here, from its next turn on" options={options} value={worn?.sha256 ?? "none"} disabled={choose.isPending} onChange={(event) => choose.mutate({ conversation, skin: event.target.value })} />
      {chosen !== null && chosen.why !== null && <small role="note">Without <Words of={chosen.name} />: <Words of={chosen.why} /> <Button look="link" disabled={choose.isPending} onClick={() => choose.mutate({ conversation, skin: "none" })}>Choose no skin</Button></small>}
      {choose.error !== null && <Failed error={choose.error} />}
    </div>
  );
}
