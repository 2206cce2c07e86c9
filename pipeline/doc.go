// Package pipeline is a dataflow framework: stages connected by channels, declared in pipelines.toml or
// built in Go, and run until their sources are exhausted. It knows nothing of the web.
//
// The life of a pipeline:
//
//  1. Stage types are made known by [Register], each with its options as a struct.
//  2. Package config reads pipelines.toml, reports everything wrong with it at once, with file, line and column, and
//     gives each pipeline as a [Graph]; [NewGraph] begins one without a file. [Graph.Check] finds what is wrong.
//  3. [Graph.Start] makes the stages, opens them in the order of the flow, and starts them. In front
//     of every stage is room for some items: a slow stage holds back the ones before it.
//  4. Sources end; queues are sealed; every stage ends when all that feeds it has ended.
//  5. Stages are closed, and [Run.Wait] returns the [Report].
//
// Delivery is at least once. Each item belongs to a lease (a request at a [Queue], a position of a
// [Source]) that ends once everything made from it has been dealt with; only then is the queue told, and
// what it is told is the first failure, if there was one. A stage whose effect is durable and idempotent
// before it acknowledges has therefore effects that happen once, whenever the process dies.
//
// A graph may have cycles, as long as each passes a Queue: its Put never waits for its own consumer, so
// the loop cannot fill up and stop.
package pipeline
