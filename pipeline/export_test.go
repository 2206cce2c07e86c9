package pipeline

// parsed makes the pipeline "p" of a text as package config does. The tests of this package cannot import that one, but
// those outside of it, which are linked with them.
var parsed func(r *Registry, text string) (*Graph, error)

// SetParsed sets how.
func SetParsed(parse func(r *Registry, text string) (*Graph, error)) { parsed = parse }
