package control_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// told is an ACI of a name of its own.
func told(name string) *xmlschema.ACI {
	a := aci(0)
	a.ID, a.URI = name, "http://a.example/"+name
	return a
}

// lastName is that of what is written when all else was.
const lastName = "last"

// followed returns the ids of all ACIs that a follower by number sees, up to the last.
func followed(t *testing.T, s *control.Store, saw func(name string)) (names []string) {
	seen := int64(0)
	for !slices.Contains(names, lastName) {
		next, err := s.NextACIs(t.Context(), seen, 7)
		if err != nil {
			t.Error(err)
			return names
		}
		for _, a := range next {
			if a.Seq <= seen {
				t.Errorf("%s has number %d, after %d", a.ID, a.Seq, seen)
			}
			seen = a.Seq
			names = append(names, a.ID)
			saw(a.ID)
		}
	}
	return names
}

// revised returns the ids of all URDs that a follower by revision sees, up to the last.
func revised(t *testing.T, s *control.Store) (names []string) {
	var at control.Point
	for !slices.Contains(names, lastName) {
		next, err := s.NextChange(t.Context(), at)
		if err != nil {
			t.Error(err)
			return names
		}
		since := at.Revision
		for r, err := range s.Revised(t.Context(), since) {
			if err != nil || r.Number <= since {
				t.Errorf("%s has revision %d, after %d: %v", r.ID, r.Number, since, err)
				return names
			}
			since = r.Number
			names = append(names, r.ID)
		}
		at = next
		at.Revision = max(at.Revision, since)
	}
	return names
}

const (
	writersAtOnce  = 8
	batchesOfEach  = 20
	writtenAtOnce  = 3
	followersOfAll = 2
)

// writeBatches writes what a writer has to tell, and returns the names of it.
func writeBatches(t *testing.T, s *control.Store, writer int) (names []string) {
	for n := range batchesOfEach {
		var batch []*xmlschema.ACI
		var urds []*xmlschema.URD
		for i := range writtenAtOnce {
			name := fmt.Sprintf("w%d-%d-%d", writer, n, i)
			names = append(names, name)
			batch = append(batch, told(name))
			urds = append(urds, urd(name, "eleni", "http://a.example/", "ibm"))
		}
		stored, err := s.PutACIs(t.Context(), batch)
		if err != nil || stored.Added != len(batch) {
			t.Errorf("writer %d: %d of %d are new: %v", writer, stored.Added, len(batch), err)
		}
		if _, err := s.Put(t.Context(), urds); err != nil {
			t.Errorf("writer %d: %v", writer, err)
		}
	}
	return names
}

// Who follows by number has to see what got a lower one before, though it was written at the same time.
func TestFollowersMissNothing(t *testing.T) {
	t.Parallel()
	for name, empty := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := empty(t)
			first := b.store(t)
			next := func() *control.Store { return first }
			if b.shared {
				next = func() *control.Store { return b.store(t) }
			}
			var writing, following sync.WaitGroup
			var written, acis [writersAtOnce][]string
			var urds [followersOfAll][]string
			for i := range followersOfAll {
				s := next()
				following.Go(func() { acis[i] = followed(t, s, func(string) {}) })
				following.Go(func() { urds[i] = revised(t, s) })
			}
			for i := range writersAtOnce {
				s := next()
				writing.Go(func() { written[i] = writeBatches(t, s, i) })
			}
			writing.Wait()
			_, err := first.PutACIs(t.Context(), []*xmlschema.ACI{told(lastName)})
			ok(t, err)
			put(t, first, urd(lastName, "eleni", "http://a.example/"))
			following.Wait()
			want := append(slices.Concat(written[:]...), lastName)
			for i := range followersOfAll {
				mustBeAll(t, "ACIs", acis[i], want)
				mustBeAll(t, "URDs", urds[i], want)
			}
		})
	}
}

// mustBeAll compares what was seen with what was written, each of it once, in whatever order.
func mustBeAll(t *testing.T, what string, seen, want []string) {
	t.Helper()
	seen, want = slices.Sorted(slices.Values(seen)), slices.Sorted(slices.Values(want))
	if !slices.Equal(seen, want) {
		t.Errorf("%d %s were seen, want the %d that were written, each once", len(seen), what, len(want))
	}
}

// The test above would find a store whose writers are not kept apart: here one gets its numbers, and commits when a
// follower has seen higher ones.
func TestFollowersMissNothingIsMissedWithoutTheLock(t *testing.T) {
	t.Parallel()
	b := onPostgres(t, postgres.Database(t))
	slow, quick := b.store(t), b.store(t)
	ok(t, control.CountUnlocked(slow))
	sawHigher := make(chan struct{})
	seen := make(chan []string)
	go func() {
		seen <- followed(t, quick, func(name string) {
			if name == "higher" {
				close(sawHigher)
			}
		})
	}()
	put := func(s *control.Store, name string, beforeCommit func()) error {
		return control.PutUnlocked(t.Context(), s, []*xmlschema.ACI{told(name)}, beforeCommit)
	}
	ok(t, put(quick, "first", func() {})) // of the day, which is noted in rows that are locked by writing them
	ok(t, put(slow, "lower", func() {
		ok(t, put(quick, "higher", func() {}))
		<-sawHigher
	}))
	ok(t, put(quick, lastName, func() {}))
	if got := strings.Join(<-seen, " "); got != "first higher "+lastName {
		t.Errorf("without the lock the follower saw %s", got)
	}
}
