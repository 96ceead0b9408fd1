// Asks again and again for what may have changed; the answer is empty (304) while nothing has.

const QUICK = 1000; // milliseconds between two looks while there is news
const SLOW = 4000; // the longest time between two looks
const GROWTH = 1.2; // how much longer each look waits that found nothing
const PATIENCE = 10000; // between two tries while the service cannot be reached

const state = document.getElementById("connection");

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function rest(milliseconds) {
  return new Promise((go) => setTimeout(go, milliseconds));
}

function seen() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((go) => document.addEventListener("visibilitychange", go, { once: true })).then(seen);
}

// Calls `take(response)` for each answer that is news, for as long as the page is open; nobody asks for a
// page that is not seen. `address` is a function; `take` may return the milliseconds to the next look.
export async function follow(address, take, accept = "application/json") {
  let tag = null;
  let last = null;
  let wait = QUICK;
  for (;;) {
    await seen();
    try {
      const url = address();
      const headers = { Accept: accept };
      if (tag && url === last) headers["If-None-Match"] = tag;
      const response = await fetch(url, { headers, cache: "no-store" });
      say("");
      if (response.status === 304) {
        wait = Math.min(SLOW, wait * GROWTH);
      } else if (response.ok) {
        wait = (await take(response)) ?? QUICK;
        tag = response.headers.get("etag");
        last = url;
      } else {
        say(response.status === 404 ? "This job is gone." : "The service cannot show this at present.");
        wait = PATIENCE;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      say("The service cannot be reached; this page tries again.");
      wait = PATIENCE;
    }
    await rest(wait);
  }
}
