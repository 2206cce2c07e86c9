// A vector store that is told which pieces of pages are new, gone and the same:
//
//	node vectorstore.mjs STATE LINES SITE OPTIONS PATH…
//
// It applies the lines of JSON that were added since it ran last, asks the site itself what its pages are by now, and
// prints a line for each fault: where the store has not what the pages have. OPTIONS are words with commas between
// them: "same" (pieces that stay are told, too, with their position) and "again" (the program was killed: pieces may be
// told again).
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const [, , stateFile, linesFile, site, options, ...paths] = process.argv;
const overlap = 15; // as the pipeline has it
const tellsSame = options.includes("same"), again = options.includes("again");
const state = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile)) : { read: 0, store: {} };
const before = structuredClone(state.store), store = state.store;
const fault = (...what) => console.log(what.join(" "));
const counts = { new: 0, gone: 0, same: 0 };

const lines = existsSync(linesFile) ? readFileSync(linesFile, "utf8").split("\n") : [""];
if (lines.pop() !== "") fault("the last line is not whole");
for (const line of lines.slice(state.read)) {
  let piece;
  try {
    piece = JSON.parse(line);
  } catch {
    if (!again) fault("no JSON:", line); // a kill may leave half a line, which comes again
    continue;
  }
  const { id, change } = piece, had = store[id];
  counts[change]++;
  if (change === "gone") {
    if (!had && !again) fault(id, "of", piece.url, "is gone, and was not there");
    if (had && had.url !== piece.url) fault(id, "is of", had.url, "and not of", piece.url);
    delete store[id];
    continue;
  }
  if (change === "new" && had && !again) fault(id, "of", piece.url, "is new, and is there");
  if (change === "same" && !had) fault(id, "of", piece.url, "is the same, and is not there");
  if (had && had.text !== piece.text) fault(id, "of", piece.url, "has another text");
  store[id] = { url: piece.url, heading: piece.heading.join(" / "), position: piece.position, text: piece.text };
}
state.read = lines.length;

const words = (text) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const of = (url, all) => Object.entries(all).filter(([, p]) => p.url === url).sort(([, a], [, b]) => a.position - b.position);
const expected = new Set();
for (const path of paths) {
  const url = site + path, answer = await fetch(url, { redirect: "manual" });
  const body = await answer.text(), all = body + (answer.headers.get("x-robots-tag") ?? "");
  if ([404, 410, 301, 308].includes(answer.status) || answer.headers.has("x-gone") || /no(ai|index)\b/.test(all)) continue;
  expected.add(url);
  const main = words((body.match(/<article>(.*)<\/article>/s)?.[1] ?? "").replace(/<[^>]*>/g, " "));
  const pieces = of(url, store);
  if (answer.status !== 200 || main.length === 0) { // of the moment: nothing has changed
    if (JSON.stringify(pieces.map(([id]) => id)) !== JSON.stringify(of(url, before).map(([id]) => id))) fault(url, "has other pieces, though it has no text");
    continue;
  }
  if (tellsSame) inOrder(url, main, pieces);
  else covers(url, main, pieces);
}
for (const [id, piece] of Object.entries(store)) if (!expected.has(piece.url)) fault(id, "is of", piece.url, "which is gone:", piece.text.slice(0, 60));

// Pieces whose text stays have the id that they had.
function named(all) {
  const groups = new Map();
  for (const [id, p] of Object.entries(all)) {
    const key = [p.url, p.heading, p.text].join("\n");
    groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  return groups;
}
const had = named(before);
for (const [key, now] of named(store)) {
  const lost = (had.get(key) ?? []).filter((id) => !now.includes(id));
  if (lost.length > 0 && had.get(key).length <= now.length) fault("the piece", lost[0], "has another id, and the same text:", key);
}

writeFileSync(stateFile, JSON.stringify(state));
console.error(JSON.stringify({ pieces: Object.keys(store).length, ...counts }));

// inOrder wants pieces, by their positions, to have all words of the page in order, but for what two of them share.
function inOrder(url, main, pieces) {
  let have = [];
  pieces.forEach(([, piece], i) => {
    if (piece.position !== i + 1) fault(url, "has position", piece.position, "in the place of", i + 1);
    const text = words(piece.text);
    let shared = Math.min(have.length, overlap);
    while (shared > 0 && have.slice(-shared).join(" ") !== text.slice(0, shared).join(" ")) shared--;
    have = have.concat(text.slice(shared));
  });
  if (have.join(" ") !== main.join(" ")) fault(url, "has the words", main.join(" "), "and its pieces", have.join(" "));
}

// covers wants each piece to be words of the page in a row, and all words to be in pieces: positions of those that stay
// are not told.
function covers(url, main, pieces) {
  const covered = new Set();
  for (const [id, piece] of pieces) {
    const text = words(piece.text);
    let at = -1, found = false;
    while ((at = main.indexOf(text[0], at + 1)) >= 0) {
      if (main.slice(at, at + text.length).join(" ") !== text.join(" ")) continue;
      found = true;
      for (let i = 0; i < text.length; i++) covered.add(at + i);
    }
    if (!found) fault(id, "is no part of", url + ":", piece.text);
  }
  if (covered.size !== main.length) fault(url, "has", main.length, "words, and its pieces", covered.size);
}
