package main

import "fmt"

// storageSubjects are the parts of the storage, each measured in a file of its own.
var storageSubjects = []struct {
	name    string
	measure benchmark
}{
	{"frontier", benchFrontier},
	{"archive", benchArchive},
	{"interests", benchXPath},
}

// benchStorage measures what it costs to lose nothing.
func benchStorage(b *bench) error {
	for _, s := range storageSubjects {
		if err := s.measure(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
