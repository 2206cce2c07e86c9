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
//
// # Interfaces
//
// A stage implements one of these five:
//
//	Processor             processes items one by one
//	BatchProcessor        processes items in groups
//	Keeper                keeps items, and emits later what it makes of them
//	Source                produces items
//	Queue                 stores items before it hands them out again, as leases
//
// and whichever of these it needs, which the runtime finds by type assertion:
//
//	Opener                must do something before any item flows
//	Closer                must do something after the last item
//	Checker               can try what Open needs without changing anything, for Graph.Probe
//	Reconfigurer          can take new options in a reload; without it, the stage is replaced
//	OutdatedReporter      has read files that its options name: a reload replaces it when they have changed
//	Unreloadable          holds what it has acknowledged: a reload must leave it alone
//	LagReporter           follows a log: how many entries it is behind
//	NeededPartsProvider   knows only once it is open which parts of values it needs
//	EarlyReleaser         a keeper that can let go of what it keeps when a queue has nothing more to hand out
//	StarvationReporter    a queue that knows when it waits for nothing but its own leases
//
// The option struct of a stage, by value, where the [Spec] depends on options, or lint has to know of them:
//
//	Validator             options can be wrong in ways that their types do not exclude
//	PortsProvider         the output ports depend on options
//	InputKindsProvider    the kinds that the stage takes depend on options
//	NeededPartsProvider   the parts that the stage needs depend on options
//	NameChecker           options name fields of the values that come, as expressions do
//	FileOwner             the stage keeps a file that no other stage may have
//	Answerer              a source whose senders are told what became of their items
//	Holder                a keeper that waits for a number of items, or for a time
//	Lender                a queue that has no more than so many leases out
//	Sharer                a queue that several pipelines can share
//
// A [Lease] of a queue:
//
//	Releaser              occupies something that can be freed before the lease ends
//	NoteMatcher           a Releaser that knows, where several leases are held together, whether a note is about it
//
// A value that travels on an edge:
//
//	Partial               may come without some of its parts
//
// What a program provides to a run, by [Resources] or [RunOptions]: [States], [DeadLetters], [Tracer] with [Trace].
// Package expression makes the one [WorkersKey]. Interfaces had other names in releases before: deprecated.go.
package pipeline
