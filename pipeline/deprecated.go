package pipeline

// What interfaces were called in releases before, for one release more.
type (
	// Deprecated: use [PortsProvider].
	Porter = PortsProvider
	// Deprecated: use [InputKindsProvider].
	Taker = InputKindsProvider
	// Deprecated: use [NeededPartsProvider].
	Needer = NeededPartsProvider
	// Deprecated: use [NameChecker].
	Namer = NameChecker
	// Deprecated: use [LagReporter].
	Lagger = LagReporter
	// Deprecated: use [StarvationReporter].
	Starver = StarvationReporter
	// Deprecated: use [OutdatedReporter].
	Rereader = OutdatedReporter
	// Deprecated: use [NoteMatcher].
	Concerner = NoteMatcher
	// Deprecated: use [EarlyReleaser].
	Hurrier = EarlyReleaser
	// Deprecated: use [Unreloadable], whose method has another name as well.
	Unleased = interface{ Unleased() (what string) }
)

// unreloadable returns what a stage is that a reload must leave alone, by its method of either name.
func unreloadable(stage any) (what string, is bool) {
	switch s := stage.(type) {
	case Unreloadable:
		return s.Unreloadable(), true
	case Unleased:
		return s.Unleased(), true
	}
	return "", false
}
