// Stands between the pages and the host. Whatever a page asks passes here first, in a frame that no page's code
// reaches. It knows the shape of what Hermit's own pages ask; anything else goes no further.
const NAME = /^[a-z][a-z_]{1,63}$/;

window.__TAURI_ISOLATION_HOOK__ = (asked) => {
  if (typeof asked !== "object" || asked === null) throw new Error("this is no request");
  // Plugins are never asked from a page: what they do is done in Rust.
  const fetchesChannel = asked.cmd === "plugin:__TAURI_CHANNEL__|fetch";
  if (fetchesChannel || NAME.test(asked.cmd)) return asked;
  // Under a name that stands in no list it is refused in words; thrown away, it would be waited for.
  return { ...asked, cmd: "no_page_may_ask" };
};
