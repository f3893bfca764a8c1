// The page that says that the computer is not reached is loaded anew where it is: with the place behind its `#`, or a link that was
// opened here meanwhile.
const again = () => location.reload();
addEventListener("hashchange", again);
document.querySelector("a").addEventListener("click", (event) => {
  event.preventDefault();
  again();
});
