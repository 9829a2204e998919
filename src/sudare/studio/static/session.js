// The session of this tab. A link's token becomes the session, which stays in this tab's storage: that belongs to one
// origin, port included, and no other program on this machine gets it from the browser. A further tab asks those that
// are open. A page without a session says so and goes no further.

import { answers, byId, make } from "./elements.js";
import { say } from "./words.js";

const KEY = "sudare-studio-session";
const PATIENCE = 3000; // milliseconds for another tab to answer
const tabs = new BroadcastChannel("sudare-studio-session");

/** What every request to the server carries. */
export const session = await begun();

sessionStorage.setItem(KEY, session);
tabs.addEventListener("message", ({ data }) => data.wanted && tabs.postMessage({ session }));

async function begun() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  // Out of the address at once: neither history nor bookmark shall keep it.
  if (token !== null) history.replaceState(null, "", location.pathname + location.search);
  const kept = sessionStorage.getItem(KEY);
  return (token && (await redeemed(token))) || (kept && (await works(kept)) && kept) || (await handedOver()) || closed();
}

async function redeemed(token) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/api/session", { method: "POST", headers, body: JSON.stringify({ token }) });
  return answer.ok ? (await answer.json()).session : null;
}

// A studio that was started again knows none of the sessions before.
async function works(given) {
  return (await fetch("/api/session", { headers: { Authorization: `Bearer ${given}` } })).ok;
}

function handedOver() {
  return new Promise((resolve) => {
    const end = (found) => {
      tabs.onmessage = null;
      resolve(found);
    };
    setTimeout(end, PATIENCE, null);
    tabs.onmessage = async ({ data }) => data.session && (await works(data.session)) && end(data.session);
    tabs.postMessage({ wanted: true });
  });
}

function closed() {
  sessionStorage.removeItem(KEY);
  byId("main").replaceChildren(make("p", { class: "box warning", role: "alert" }, say("live.closed")));
  document.body.classList.add("closed");
  answers("closed");
  return new Promise(() => undefined);
}
