package archive

import (
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/storage/objects"
)

// Answers is what is known of URLs that gave no document.
type Answers struct {
	Starts []string // URLs where crawls begin that need no credentials
	// Last returns what was last answered for a URL, if that was a redirect, or that there is no document. The URL is
	// asked for with credentials of that name, or without any.
	Last func(secret, url string) (*objects.Answer, error)
}

// Write writes the answers that crawls begin with, and those that the links of versions lead to.
func (a *Answers) Write(store *objects.Store, export *objects.Export, versions iter.Seq2[objects.Version, error]) error {
	linked := a.of("", time.Time{})
	write := func(answer objects.Answer) error {
		_, err := export.WriteAnswer(answer)
		return err
	}
	err := linked.fromStarts(write)
	for v, wrong := range versions {
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		if err = linked.fromVersion(store, v, write); err != nil {
			return err
		}
	}
	return err
}

// answered finds the answers of one export, each once.
type answered struct {
	*Answers
	prefix string
	since  time.Time
	seen   map[uint64]bool // hashes of URLs
}

// of returns what finds them; nil answers have none.
func (a *Answers) of(prefix string, since time.Time) *answered {
	return &answered{a, prefix, since, make(map[uint64]bool)}
}

func (a *answered) fromStarts(write func(objects.Answer) error) error {
	if a.Answers == nil {
		return nil
	}
	for _, start := range a.Starts {
		if err := a.follow("", start, write); err != nil {
			return err
		}
	}
	return nil
}

// fromVersion writes the answers that the links of a document lead to.
func (a *answered) fromVersion(store *objects.Store, v objects.Version, write func(objects.Answer) error) error {
	if a.Answers == nil {
		return nil
	}
	links, err := store.Links(v)
	if err != nil {
		return err
	}
	for _, url := range links {
		if err := a.follow(v.Secret, url, write); err != nil {
			return err
		}
	}
	return nil
}

// follow writes the answers of a URL and of those that it was redirected to, until one was written before.
func (a *answered) follow(secret, url string, write func(objects.Answer) error) error {
	for url != "" {
		key := xxhash.Sum64String(secret + "\x00" + url)
		if a.seen[key] {
			return nil
		}
		a.seen[key] = true
		last, err := a.Last(secret, url)
		if last == nil || err != nil {
			return err
		}
		if strings.HasPrefix(url, a.prefix) && !last.At.Before(a.since) {
			if err := write(*last); err != nil {
				return err
			}
		}
		url = last.Location
	}
	return nil
}
