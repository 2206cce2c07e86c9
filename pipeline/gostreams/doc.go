// Package gostreams lets pipelines and programs of [go-streams] stand in each other.
//
// Three ways lead from go-streams into a pipeline:
//
//   - Connectors, and operators over values: [FromSource], [FromFlow], [FromSink]. They carry no leases: an item is
//     acknowledged where it enters one.
//   - Operators over items, whose leases are kept: [Map], [FlatMap], [Filter] and [Reduce] call a function
//     with each item; [Batch], [Throttle], [Tumbling], [Sliding], [Session], and [Items] for an operator of one's own,
//     hold items and give them out later, alone or as a list. What is filtered out ends its lease, and a list has the
//     leases of its items, so that a crash loses none of them: they come again.
//   - [Register] makes any of these a stage type with options, for pipelines.toml.
//
// The other way, [Flow] makes a whole pipeline an operator of a go-streams program.
//
// [go-streams]: https://github.com/reugn/go-streams
package gostreams
