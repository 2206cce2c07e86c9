// Signs requests as crawlers do, with the package web-bot-auth, which shares no code with webrace.
//
// Standard input: {"url", "host", "jwk" (private), "other" (another one)}. It posts to the URL, in the name of the host,
// and prints a line for each case: its name and the status of the answer.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { jwkToKeyID, helpers, signatureHeaders } from "web-bot-auth";
import { signerFromJWK } from "web-bot-auth/crypto";

const { url, jwk, other } = JSON.parse(readFileSync(0, "utf8"));

async function signed(target, key, { agent, age = 0 } = {}) {
  const kid = await jwkToKeyID(key, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE);
  const created = new Date(Date.now() - age);
  const headers = agent ? { "Signature-Agent": agent } : {};
  const signature = await signatureHeaders(
    new Request(target, { method: "POST", headers }),
    await signerFromJWK({ ...key, kid }),
    { created, expires: new Date(created.getTime() + 300_000) },
  );
  return { ...headers, Signature: signature.Signature, "Signature-Input": signature["Signature-Input"] };
}

function post(headers) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { ...headers, "Content-Type": "application/json" } }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    });
    sent.on("error", reject);
    sent.end('{"a":1}');
  });
}

const good = await signed(url, jwk, { agent: '"https://sender.example"' });
const cases = {
  "with its agent": good,
  "the same again": good,
  "without an agent": await signed(url, jwk),
  "an agent of another": { ...(await signed(url, jwk, { agent: '"https://sender.example"' })), "Signature-Agent": '"https://other.example"' },
  "for another host": await signed("http://other.example/", jwk, { agent: '"https://sender.example"' }),
  "by another key": await signed(url, other, { agent: '"https://sender.example"' }),
  "too old": await signed(url, jwk, { agent: '"https://sender.example"', age: 400_000 }),
};
for (const [name, headers] of Object.entries(cases)) console.log(`${name}: ${await post(headers)}`);
