// Verifies requests by RFC 9421 with the package http-message-signatures, which shares no code with webrace.
//
// Standard input: {"jwk": {…}, "requests": [{"method", "url", "headers"}, …]}. Output: a line for each, "true", or why not.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { httpbis } from "http-message-signatures";

const { jwk, requests } = JSON.parse(readFileSync(0, "utf8"));
const key = createPublicKey({ key: jwk, format: "jwk" });
const config = {
  requiredFields: ["@authority", "signature-agent"],
  requiredParams: ["created", "expires", "keyid", "nonce", "tag"],
  keyLookup: async ({ keyid }) =>
    keyid === jwk.kid ? { id: jwk.kid, algs: ["ed25519"], verify: async (data, signature) => verify(null, data, key, signature) } : null,
};
for (const request of requests) {
  try {
    console.log(String(await httpbis.verifyMessage(config, request)));
  } catch (error) {
    console.log(String(error));
  }
}
