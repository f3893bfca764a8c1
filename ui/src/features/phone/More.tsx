// The places that have no room in the bar of a phone.
import { Link } from "@tanstack/react-router";
import { Icon } from "~/primitives/Icon";
import { Screen } from "~/screen/Screen";
import { elsewhereOnPhones } from "~/screen/commands";
import styles from "./Phone.module.css";

export function More() {
  return (
    <Screen title="More">
      <ul className={styles.more} aria-label="More places">
        <li><Link to="/tasks/new"><Icon name="plus" />New task</Link></li>
        {elsewhereOnPhones().map((place) => <li key={place.path}><Link to={place.path}><Icon name={place.icon} />{place.label}</Link></li>)}
      </ul>
    </Screen>
  );
}
