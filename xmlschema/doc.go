// Package xmlschema is the XML vocabulary of webrace: standing requests ([URD]), annotations ([ACI]),
// the meta-information of stored documents ([Meta]) and the person with an account ([Profile]); how they are
// read, written, checked and queried.
//
// Reading goes through one front door, [NewDecoder], which understands the namespace urn:webrace:1 and,
// for documents without a namespace, the dialect of the WebRACE papers. It refuses what is malformed,
// oversized or not in the vocabulary, and reports every finding with its line, column and place in the
// document, all of them at once where the document is well-formed. Writing gives one canonical form, with
// the default namespace and no white space between elements; for a value that Validate accepts,
// decoding what was written gives the same value.
//
// Querying does not parse: [BuildTable] turns a canonical document into a flat table that a compiled
// [Query] walks. A query has a budget of steps and obeys its context, so that no expression, however
// costly, holds the process, and it never panics.
//
// The public contract is the XML Schema in [Schemas]; the decoder accepts what the schema accepts, except for the
// few rules that XML Schema 1.0 cannot express (the URI of an http request must be an http URL, times and durations
// must fit their types, a rule has one language and is written in it). The document type definitions of the papers
// are kept beside it as documentation.
//
// The papers are "A Distributed Middleware Infrastructure for Personalized Services" (here eRACE) and
// "High-Performance Crawling and Filtering in Java" (here WebRACE), and the slides of a talk on the latter.
// None of their listings is well-formed as printed: testdata/papers has each as it is, which is refused,
// and repaired, which is read.
package xmlschema

import "embed"

// Namespace is the XML namespace of the vocabulary. The number is its major version: documents of another
// one are refused, while additions keep it.
const Namespace = "urn:webrace:1"

// Schemas holds webrace.xsd, the contract for documents of [Namespace], and dtd/, the document type
// definitions of the papers in a form that is valid.
//
//go:embed webrace.xsd dtd
var Schemas embed.FS
