"use strict";
// Brings the numbers of the page up to date, and does what its forms do without leaving it. All of what
// comes is text: nothing is ever made markup of.

const every = 1000; // milliseconds between two readings
const recent = 5; // seconds that a rate is made of

const link = document.getElementById("link");
const said = document.getElementById("said");
const sections = new Map([...document.querySelectorAll("[data-pipeline]")].map(s => [s.dataset.pipeline, s]));
const past = new Map(); // readings of a pipeline: [{ at, stages }]

const numbers = new Intl.NumberFormat("en");
const count = n => numbers.format(n);
const rate = r => r === 0 ? "0/s" : (r < 9.95 ? r.toFixed(1) : count(Math.round(r))) + "/s";

function milliseconds(ms) {
  if (ms === 0) return "–";
  if (ms < 1) return (ms * 1000).toFixed(0) + " µs";
  if (ms < 10) return ms.toFixed(1) + " ms";
  return ms < 10000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(1) + " s";
}

function duration(seconds) {
  const part = (n, unit) => Math.floor(n) + unit;
  if (seconds < 60) return part(seconds, "s");
  if (seconds < 3600) return part(seconds / 60, "m") + part(seconds % 60, "s");
  if (seconds < 86400) return part(seconds / 3600, "h") + part(seconds % 3600 / 60, "m") + part(seconds % 60, "s");
  return part(seconds / 86400, "d ") + part(seconds % 86400 / 3600, "h") + part(seconds % 3600 / 60, "m0s");
}

function write(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

// rateOf returns how many items came through a stage in a second, of late.
function rateOf(pipeline, stage, byOut) {
  const readings = past.get(pipeline), last = readings.at(-1), first = readings[0];
  const before = first.stages[stage], now = last.stages[stage];
  if (!before || last.at === first.at) return null;
  return Math.max(0, byOut ? now.out - before.out : now.in - before.in) / (last.at - first.at);
}

// flow says in a few words what went through a stage, or waits in it.
function flow(s, isSource, isQueue) {
  const out = count(s.out) + " out", queued = s.counters?.queued;
  if (isSource) return out;
  return (isQueue && queued !== undefined ? count(queued) + " queued" : count(s.in) + " in") + " · " + out;
}

function showStage(pipeline, element, name, s) {
  const isSource = "source" in element.dataset, isQueue = "queue" in element.dataset;
  const perSecond = rateOf(pipeline, name, isSource || isQueue);
  const texts = {
    in: isSource ? "–" : count(s.in), out: count(s.out), errors: count(s.errors),
    rate: perSecond === null ? null : rate(perSecond),
    waiting: isSource ? "–" : count(s.waiting) + " of " + count(s.capacity),
    busy: isSource ? "–" : count(s.busy) + " of " + count(s.workers),
    p50: milliseconds(s.p50_ms), p99: milliseconds(s.p99_ms),
    flow: flow(s, isSource, isQueue),
    failed: s.errors ? count(s.errors) + " failed" : "",
  };
  for (const e of element.querySelectorAll("[data-live]")) {
    const what = e.dataset.live;
    if (what === "fill") e.setAttribute("width", String(200 * Math.min(1, s.waiting / s.capacity)));
    else if (texts[what] !== null) write(e, texts[what]);
    if (what === "errors") e.classList.toggle("bad", s.errors > 0);
  }
  const counters = element.querySelector(".counters");
  if (counters && element.open) showCounters(counters, s.counters || {});
}

function showCounters(table, counters) {
  const names = Object.keys(counters).sort(), body = table.tBodies[0];
  table.hidden = names.length === 0;
  names.forEach((name, i) => {
    const row = body.rows[i] || body.insertRow();
    if (!row.cells.length) {
      const head = document.createElement("th");
      head.scope = "row";
      row.append(head, document.createElement("td"));
    }
    write(row.cells[0], name);
    write(row.cells[1], count(counters[name]));
  });
}

// reloads says how often the configuration was read again.
function reloads(p) {
  return p.reloads || p.failed_reloads ? "reloads: " + count(p.reloads) + " done, " + count(p.failed_reloads) + " failed" : "";
}

// refused says why the configuration as it is now is not what runs.
function refused(failure) {
  return failure && !failure.mended ? "The last reload failed, and everything goes on as before:\n" + failure.error : "";
}

function showPipeline(p) {
  const section = sections.get(p.name);
  const readings = past.get(p.name) || [];
  past.set(p.name, [...readings, { at: p.seconds, stages: p.stages }].slice(-recent - 1));
  for (const element of section.querySelectorAll("[data-stage]")) showStage(p.name, element, element.dataset.stage, p.stages[element.dataset.stage]);
  section.dataset.state = p.state;
  write(section.querySelector("[data-live=state]"), p.state);
  write(section.querySelector("[data-live=seconds]"), duration(p.seconds));
  write(section.querySelector("[data-live=reloads]"), reloads(p));
  write(section.querySelector("[data-live=refused]"), refused(p.last_failed_reload));
  const over = p.state === "ended" || p.state === "draining", verb = p.state === "paused" ? "Resume" : "Pause";
  const toggle = section.querySelector("[data-toggle]");
  toggle.action = "/pipelines/" + encodeURIComponent(p.name) + "/" + verb.toLowerCase();
  write(toggle.querySelector("button").firstChild, verb);
  for (const button of section.querySelectorAll(".action button")) button.disabled = over;
}

// isOther reports whether what runs is not what the page was made of: a reload may have changed anything.
function isOther(pipelines) {
  if (pipelines.length !== sections.size) return true;
  return pipelines.some(p => {
    const section = sections.get(p.name);
    if (section && section.dataset.reloads !== String(p.reloads)) return true;
    const shown = section && [...section.querySelectorAll("tr[data-stage]")].map(e => e.dataset.stage);
    return !shown || shown.length !== Object.keys(p.stages).length || shown.some(name => !(name in p.stages));
  });
}

async function read() {
  try {
    const answer = await fetch("/pipelines", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status === 401 ? "a token is needed again" : "status " + answer.status);
    const pipelines = await answer.json();
    if (isOther(pipelines)) return location.reload();
    pipelines.forEach(showPipeline);
    write(link, "live");
    link.classList.remove("lost");
  } catch (error) {
    write(link, "No answer: " + (error instanceof TypeError ? "the process has ended, or cannot be reached" : error.message));
    link.classList.add("lost");
  }
}

async function watch() {
  if (!document.hidden) await read();
  setTimeout(watch, every);
}

let silence;

// tell says what has come of an action, for a while.
function tell(text, wrong) {
  said.classList.toggle("wrong", Boolean(wrong));
  write(said, text);
  clearTimeout(silence);
  silence = setTimeout(() => write(said, ""), 8000);
}

document.addEventListener("submit", async event => {
  const form = event.target.closest("form.action");
  if (!form) return;
  event.preventDefault();
  const name = form.closest("[data-pipeline]")?.dataset.pipeline;
  const path = form.getAttribute("action") && new URL(form.action).pathname;
  try {
    const answer = await fetch(path, { method: "POST", headers: { Accept: "application/json" } });
    if (!answer.ok) return tell((await answer.text()).trim() || "status " + answer.status, true);
    const state = name && (await answer.json()).state;
    tell(name ? name + " is " + state + "." : form.querySelector("button").dataset.said);
  } catch {
    tell("The process does not answer.", true);
  }
  read();
});

// open shows a stage's options, wherever its link stands.
function open(id) {
  const place = document.getElementById(id);
  const details = place?.closest("details");
  if (!details) return;
  details.open = true;
  details.querySelector("summary").focus();
  details.scrollIntoView({ block: "nearest" });
}

// The one stage that is watched, as whoever watches has one pair of eyes: { source, place }.
let watched = null;
const mostShown = 50; // items that stay on the page

function stopWatching(why) {
  if (!watched) return;
  watched.source.close();
  watched.place.querySelector("[data-stop]").hidden = true;
  write(watched.place.querySelector("[role=status]"), why);
  watched = null;
}

// fields writes a value for people: a field a line.
function fields(value) {
  const plain = v => typeof v === "string" ? v : JSON.stringify(v);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return plain(value);
  return Object.entries(value).map(([name, v]) => name + ": " + plain(v)).join("\n");
}

// startWatching shows items as they pass where a link to them stands. The newest is at the top.
function startWatching(to) {
  stopWatching("Stopped.");
  const place = to.closest(".tap"), list = place.querySelector(".passing"), url = new URL(to.href);
  url.searchParams.delete("limit");
  url.searchParams.set("rate", "5");
  url.searchParams.set("body", "400");
  const source = new EventSource(url);
  watched = { source, place };
  list.replaceChildren();
  list.hidden = false;
  place.querySelector("[data-stop]").hidden = false;
  const status = text => write(place.querySelector("[role=status]"), text);
  status("Waiting for something to pass …");
  source.addEventListener("item", event => {
    status("Some of what passes, at most five a second.");
    const item = JSON.parse(event.data), line = document.createElement("li");
    const head = ["#" + count(item.number), new Date(item.time).toLocaleTimeString("en-GB"), item.port, item.kind].filter(Boolean).join("  ");
    const body = item.body ? "\n" + item.body.trim() : item.body_size ? "\n" + count(item.body_size) + " bytes" : "";
    line.textContent = head + "\n" + fields(item.value) + body;
    list.prepend(line);
    while (list.children.length > mostShown) list.lastChild.remove();
  });
  source.addEventListener("end", event => stopWatching("It has ended: " + JSON.parse(event.data).end + "."));
  source.addEventListener("error", () => stopWatching("It cannot be watched any more."));
}

document.addEventListener("click", event => {
  const tap = event.target.closest(".tap a");
  if (tap) {
    event.preventDefault();
    return startWatching(tap);
  }
  if (event.target.closest("[data-stop]")) return stopWatching("Stopped.");
  const to = event.target.closest("a[href^='#']");
  if (!to) return;
  event.preventDefault();
  open(to.getAttribute("href").slice(1));
});

watch();

// The nodes of a cluster.
const nodes = document.getElementById("nodes");

async function readNodes() {
  const answer = await fetch("/cluster");
  if (!answer.ok) return;
  for (const n of await answer.json()) {
    const row = nodes.querySelector(`[data-node="${n.node}"]`);
    if (!row) continue;
    const cell = what => row.querySelector(`[data-live="${what}"]`);
    write(cell("state"), n.state);
    cell("state").classList.toggle("bad", n.state === "down");
    write(cell("seen"), n.seen_s ? duration(n.seen_s) : "–");
    write(cell("waiting"), count(n.waiting));
    write(cell("config"), n.config + (n.differs ? ", which differs" : ""));
    cell("config").classList.toggle("bad", Boolean(n.differs));
  }
}

if (nodes) setInterval(() => readNodes().catch(() => {}), 3000);
