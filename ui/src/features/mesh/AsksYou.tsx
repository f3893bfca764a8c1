// In the inbox: that other machines ask, and the way to where they are answered.
import { Link } from "@tanstack/react-router";
import { useAsk } from "~/ipc/client";
import { Mark } from "~/primitives/Icon";
import { capital, count } from "~/screen/words";
import styles from "./Mesh.module.css";

export function AsksYou() {
  const asked = useAsk("mesh.questions", {});
  const questions = asked.data?.questions.length ?? 0;
  if (questions === 0) return null;
  return (
    <p className={styles.asks} role="status">
      <Mark name="waiting" size={13} /> {capital(count(questions, "question"))} of your other machines {questions === 1 ? "waits" : "wait"} for you. <Link to="/machines">Answer</Link>
    </p>
  );
}
