package quads

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/diskspace"
)

// bulky is a graph of literals that hardly compress, of a megabyte in all.
func bulky(seed int) *webrace.Graph {
	rng := rand.New(rand.NewPCG(uint64(seed), 11))
	g := &webrace.Graph{Whole: true}
	for n := range 16 {
		var text strings.Builder
		for text.Len() < 64<<10 {
			fmt.Fprintf(&text, "%x", rng.Uint64())
		}
		g.Triples = append(g.Triples, webrace.Triple{
			Subject: rdf.NewIRI(fmt.Sprint("http://s.example/", n)), Predicate: rdf.NewIRI("http://p.example/"), Object: rdf.NewString(text.String()),
		})
	}
	return g
}

func bulkyContext(n int) Context {
	return Context{URL: fmt.Sprint("http://example.org/", n), Version: 1, At: someTime}
}

// On a disk that is full, what is indexed waits until there is room, and nothing is lost.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes megabytes of text: not in short mode")
	}
	t.Parallel()
	disk := testutil.NewDisk(t, 20)
	paused := make(chan struct{}, 1) // also when the pause is over at once, as files that were done with go
	watch := diskspace.New(diskspace.Options{
		Dir: disk.Path, Reserve: 2 << 20, Poll: 5 * time.Millisecond,
		Notify: func(s diskspace.State) {
			if s.Paused {
				select {
				case paused <- struct{}{}:
				default:
				}
			}
		},
	})
	defer watch.Close()
	dir := filepath.Join(disk.Path, "quads")
	s, err := Open(dir, Options{FS: watch.FS(vfs.Default)})
	must(t, err)
	const contexts = 24
	done, m := make(chan error, contexts), model{}
	go func() {
		for n := range contexts {
			if _, err := s.Replace(bulkyContext(n), bulky(n), func(err error) { done <- err }); err != nil {
				done <- err
			}
		}
	}()
	<-paused
	disk.Resize(200)
	for n := range contexts {
		must(t, <-done)
		m.replace(bulkyContext(n), bulky(n))
	}
	must(t, s.Close())
	s, err = Open(dir, Options{})
	must(t, err)
	matches(t, s, m)
	sound(t, s)
	must(t, s.Close())
}
