// Package httpsign signs requests, and verifies those that others have signed, by HTTP Message Signatures (RFC
// 9421) with Ed25519, as draft-ietf-webbotauth-httpsig-protocol has it: a crawler proves which key it has, and
// names the directory where its owner publishes the key.
//
// It guarantees: each signature has a time and a nonce of its own and holds for the host that it was made for, for no
// longer than [Lifetime]. No private key stands in an error, nor in what fmt prints of a [Key] or a [Signer]. A
// verifier accepts a request once, and refuses all others with an error that is one of those below (errors.Is);
// what it reads is bounded, whatever a client sends.
//
// The signature covers neither the method, the path nor the body: it tells who asks, not what for.
package httpsign

import "time"

// Tag is that of all signatures, as the draft has it, and Lifetime is for how long those of a [Signer] hold.
const (
	Tag      = "web-bot-auth"
	Lifetime = 5 * time.Minute
)

// What is served, at which path and as what, by the host that Signature-Agent names.
const (
	DirectoryPath = "/.well-known/http-message-signatures-directory"
	DirectoryType = "application/http-message-signatures-directory+json"
)

// Fields of a signed request.
const (
	inputField     = "Signature-Input"
	signatureField = "Signature"
	agentField     = "Signature-Agent"
)

const algorithm = "ed25519"
