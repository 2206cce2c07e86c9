package main

import "fmt"

// readingSubjects are the parts of reading, each measured in a file of its own.
var readingSubjects = []struct {
	name    string
	measure benchmark
}{
	{"articles", benchArticles},
	{"markdown", benchMarkdown},
	{"signing", benchSigning},
	{"output", benchOutput},
}

// benchReading measures what it costs to tell what a page has to say, and how well that is told.
func benchReading(b *bench) error {
	for _, s := range readingSubjects {
		if !b.wants(s.name) {
			continue
		}
		if err := s.measure(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
