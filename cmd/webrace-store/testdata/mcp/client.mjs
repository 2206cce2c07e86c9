// Speaks the Model Context Protocol as the SDK of its authors does, for a test: each line of its input is something to
// do, and each line of its output what became of it.
//
//	{"connect": {"command": "webrace-store", "args": ["mcp"]}}     or {"url": "http://…/mcp", "token": "…"}
//	{"list": true}
//	{"call": "read", "arguments": {…}, "progress": true, "abortAfter": 2}      aborted after so many notices of progress
//	{"close": true}
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

let client;

function transport({ command, args, url, token }) {
  if (command) return new StdioClientTransport({ command, args, env: process.env });
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} } });
}

async function act(asked) {
  if (asked.connect) {
    client = new Client({ name: "test", version: "1" });
    await client.connect(transport(asked.connect));
    return { server: client.getServerVersion(), instructions: client.getInstructions(), capabilities: client.getServerCapabilities() };
  }
  if (asked.list) return await client.listTools();
  if (asked.close) return await client.close();
  const progress = [];
  const abort = new AbortController();
  const options = { timeout: 60000, resetTimeoutOnProgress: true, signal: abort.signal };
  if (asked.progress) {
    options.onprogress = (p) => {
      progress.push(p);
      if (progress.length === asked.abortAfter) abort.abort("enough");
    };
  }
  try {
    const result = await client.callTool({ name: asked.call, arguments: asked.arguments }, undefined, options);
    return { result, progress };
  } catch (error) {
    return { error: String(error), progress };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = (await act(JSON.parse(line))) ?? {};
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
