// Keeps the parts of a page that are made on the server as they are there.

import { follow } from "/-/static/poll.js";

function isSelected(part) {
  const selection = document.getSelection();
  return !selection.isCollapsed && part.contains(selection.anchorNode);
}

// Puts a part's new contents in place; what is open stays open, and what has the focus keeps it.
function renew(part, fresh) {
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...part.querySelectorAll("details[open]")].map((each) => each.id);
  const scrolled = [...part.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
  part.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  part.querySelectorAll(".scroll").forEach((each, place) => (each.scrollLeft = scrolled[place] ?? 0));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

const before = new Map(); // each part's HTML as the server gave it last

function take(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh) continue;
    const html = fresh.innerHTML;
    if (before.get(part.id) === html || isSelected(part)) continue;
    before.set(part.id, html);
    renew(part, fresh);
  }
}

follow(
  () => location.pathname + location.search,
  async (response) => take(await response.text()),
  "text/html",
);
