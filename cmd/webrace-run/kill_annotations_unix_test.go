//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// A crawl of a site that changes from round to round is killed at random moments, while another writer keeps the disk
// busy. After each kill, every annotation names a version that is there, with the digest that it gives. When all
// rounds are through, the annotations are those of a crawl of the same rounds that nothing happened to.
func TestKilledAnnotations(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of processes on a busy disk: not in short mode")
	}
	rng := rand.New(rand.NewPCG(12, uint64(*kills)))
	site := newChangingSite(t)
	killed := &world{site: site.site, t: t, data: filepath.Join(t.TempDir(), "killed")}
	keepDiskBusy(t)
	absent := 0
	for done := 0; done < *kills; {
		site.edition.Add(1)
		for site.kill(killed, rng) {
			done++
			absent += len(absentVersions(killed))
		}
	}
	absent += len(absentVersions(killed))
	if absent > 0 {
		t.Errorf("%d times an annotation named a version that was not there", absent)
	}

	undisturbed := &world{site: site.site, t: t, data: filepath.Join(t.TempDir(), "undisturbed")}
	rounds := site.edition.Swap(0)
	for range rounds {
		site.edition.Add(1)
		undisturbed.run(site.urds, askAll...)
	}
	want, got := annotations(undisturbed), annotations(killed)
	if len(want) < int(rounds)*changingPages {
		t.Fatalf("the undisturbed crawl has only %d annotations of %d rounds", len(want), rounds)
	}
	lost, more := difference(want, got), difference(got, want)
	if len(lost)+len(more) > 0 {
		t.Errorf("%d annotations are lost, %d doubled or of something else:\nlost:\n%s\nmore:\n%s", len(lost), len(more),
			strings.Join(lost, "\n"), strings.Join(more, "\n"))
	}
	t.Logf("%d kills in %d rounds of %d pages: %d annotations, of absent versions %d, lost %d, more %d",
		*kills, rounds, changingPages, len(got), absent, len(lost), len(more))
}

const changingPages = 60

// changingSite is a site whose pages say something else in each edition: each of them another text about tea.
type changingSite struct {
	*site
	urds    []*xmlschema.URD
	edition atomic.Int64
	fatal   atomic.Pointer[func()] // called for every page that is asked for
}

func newChangingSite(t *testing.T) *changingSite {
	s := &changingSite{site: newSite(t)}
	var links []string
	for i := range changingPages {
		path := pathOf(i + 1)
		links = append(links, path)
		s.handle(path, func(w http.ResponseWriter, r *http.Request) {
			if f := s.fatal.Load(); f != nil {
				(*f)()
			}
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // so that pages come one after the other
			serveDocument(w, r, document(editionOf(i, s.edition.Load())))
		})
	}
	s.page("/", links...)
	s.urds = these(s.asks("ann", "/", depth(2), about("tea")), s.asks("bob", "/", depth(2), about("tea", "milk")))
	return s
}

// editionOf is a text that no other page and no other edition has anything in common with but the words that are asked
// for.
func editionOf(page int, edition int64) string {
	rng := rand.New(rand.NewPCG(uint64(page), uint64(edition)))
	words := []string{"tea", "milk"}
	for range 40 {
		word := make([]byte, 8)
		for i := range word {
			word[i] = byte('a' + rng.IntN(26))
		}
		words = append(words, string(word))
	}
	return strings.Join(words, " ")
}

// hasty lets pages come a few at a time, each annotated at once: so annotations would often be stored before their
// documents, if they did not wait for them.
var hasty = append([]string{"--set", "frontier.leases=8", "--set", "aci-emit.batch.period=1ms"}, askAll...)

// kill runs the crawl, and kills it a moment after the site was asked for some pages. It reports false if the crawl
// came to its end before.
func (s *changingSite) kill(w *world, rng *rand.Rand) bool {
	w.t.Helper()
	left := atomic.Int64{}
	left.Store(1 + rng.Int64N(changingPages/3))
	moment := time.Duration(rng.IntN(30_000)) * time.Microsecond
	reached := make(chan struct{})
	count := func() {
		if left.Add(-1) == 0 {
			close(reached)
		}
	}
	s.fatal.Store(&count)
	defer s.fatal.Store(nil)
	p := w.start(s.urds, hasty...)
	ended := make(chan struct{})
	var killing sync.WaitGroup
	killing.Go(func() {
		select {
		case <-reached:
		case <-ended:
			return
		}
		time.Sleep(moment) // any may be the one at which it dies
		p.Process.Kill()   // which may have ended meanwhile
	})
	defer killing.Wait()
	defer close(ended)
	return p.isKilled()
}

// keepDiskBusy writes and syncs beside the test, on the disk where its data is.
func keepDiskBusy(t *testing.T) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "busy"))
	if err != nil {
		t.Fatal(err)
	}
	enough := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		defer file.Close()
		chunk := make([]byte, 4<<20)
		for i := int64(0); ; i++ {
			select {
			case <-enough:
				return
			default:
			}
			if _, err := file.WriteAt(chunk, i%16*int64(len(chunk))); err != nil {
				t.Error(err)
				return
			}
			if err := file.Sync(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(func() { close(enough); writing.Wait() })
}

// absentVersions returns the annotations whose version is not there, or is another one, and reports each.
func absentVersions(w *world) (absent []string) {
	w.t.Helper()
	dir := w.open()
	defer dir.Close()
	annotations, err := dir.Control()
	if err != nil {
		w.t.Fatal(err)
	}
	documents, err := dir.Objects()
	if err != nil {
		w.t.Fatal(err)
	}
	for aci, err := range annotations.ACIs(w.t.Context(), control.Filter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		version, err := documents.Get(objects.View("", aci.URI), aci.Docbase.Version)
		if err != nil || version.Digest.String() != aci.Docbase.Digest {
			w.t.Logf("%s names version %d, %s; there is %s, %v", aci.URI, aci.Docbase.Version, aci.Docbase.Digest, version.Digest, err)
			absent = append(absent, aci.URI)
		}
	}
	return absent
}

// annotations returns whom they are for and what they speak of, sorted.
func annotations(w *world) (all []string) {
	w.t.Helper()
	for _, aci := range w.acis() {
		all = append(all, fmt.Sprintf("%s: version %d of %s, %s", aci.Owner, aci.Docbase.Version, aci.URI, aci.Docbase.Digest))
	}
	slices.Sort(all)
	return all
}

// difference returns what a has more often than b.
func difference(a, b []string) (more []string) {
	times := make(map[string]int)
	for _, s := range b {
		times[s]++
	}
	for _, s := range a {
		if times[s]--; times[s] < 0 {
			more = append(more, s)
		}
	}
	return more
}
