package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/nlnwa/gowarc"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

var powerLosses = flag.Int("powerlosses", 12, "how often TestPowerLossLosesNothing cuts the power")

// The pipeline crawls a site, and power is lost again and again: of the stores on pebble, what was not
// synced is gone, in whole or in part; of the control store's log, what follows the last transaction that
// was acknowledged is torn off anywhere. What was accepted is fetched, what was done is not fetched again,
// and each owner is told the same as if nothing had happened. Each life compresses documents in another way than the
// one before.
func TestPowerLossLosesNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, uint64(*powerLosses)))
	site := newFleetingSite(t, 150)
	undisturbed := newMachine(t, site)
	undisturbed.live(0, rng)
	wanted := undisturbed.alerts()
	if len(wanted) == 0 {
		t.Fatal("no owner is told of anything")
	}
	lost, repeats := 0, 0
	for lost < *powerLosses {
		m := newMachine(t, site)
		for m.live(1+rng.IntN(len(site.pages)/4), rng) {
			lost++
		}
		if got := m.alerts(); !slices.Equal(got, wanted) {
			t.Errorf("%d alerts, want the same %d as without a loss", len(got), len(wanted))
		}
		m.mustHoldEveryPage()
		m.mustHoldStrictWARC()
		repeats += m.mustHaveRepeatedOnlyWhatWasInFlight()
	}
	t.Logf("%d losses of power, %d pages each time, %d fetched again, %d alerts", lost, len(site.pages), repeats, len(wanted))
}

// fleetingSite is a site whose crawlers die: it counts what it served to the one that lives alone.
type fleetingSite struct {
	*httptest.Server
	pages map[string][]byte

	mu     sync.Mutex
	life   string // the crawler that counts, by its name
	served map[string]int
	onEach func()
}

// newFleetingSite makes a site of n pages; every third is about tea.
func newFleetingSite(t *testing.T, n int) *fleetingSite {
	s := &fleetingSite{pages: make(map[string][]byte)}
	for i := range n {
		text := []string{fmt.Sprintf("page %d of %d", i, n)}
		if i%3 == 0 {
			text = append(text, fmt.Sprintf("tea number %d is served", i))
		}
		for _, next := range []int{2*i + 1, 2*i + 2, i / 2} {
			if next < n {
				text = append(text, pathOf(next))
			}
		}
		s.pages[pathOf(i)] = document(text...)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func pathOf(page int) string { return fmt.Sprintf("/%d", page) }

func (s *fleetingSite) serve(w http.ResponseWriter, r *http.Request) {
	body, known := s.pages[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	if strings.HasPrefix(r.UserAgent(), s.life) {
		s.served[r.URL.Path]++
		if s.onEach != nil {
			s.onEach()
		}
	}
	s.mu.Unlock()
	serveDocument(w, r, body)
}

// begin makes the crawler of this name the one that counts, and calls back, once, when it was served so
// many pages.
func (s *fleetingSite) begin(life string, served map[string]int, pages int, reached func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life, s.served = life, served
	s.onEach = func() {
		if pages--; pages == 0 {
			reached()
		}
	}
}

// end stops counting requests, and returns once none is being counted any more.
func (s *fleetingSite) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = "none"
}

// machine is a data directory on disks that lose power.
type machine struct {
	t      *testing.T
	site   *fleetingSite
	path   string     // of the data directory, which is on a disk as far as SQLite and the lock go
	disk   *vfs.MemFS // of the stores on pebble
	lives  int
	served map[string]int    // how often each page was
	done   map[string]doneAt // the pages that were done when power was lost
}

// doneAt records how often a page had been served when it was done, and at which distance the crawl had come
// to it.
type doneAt struct{ served, distance int }

const machineLeases = 8

func newMachine(t *testing.T, site *fleetingSite) *machine {
	m := &machine{t: t, site: site, path: t.TempDir(), disk: vfs.NewCrashableMem(), served: make(map[string]int), done: make(map[string]doneAt)}
	store, closeDir := openControl(t, m.path)
	defer closeDir()
	var urds []*xmlschema.URD
	for _, owner := range []string{"ann", "bob"} {
		u := xmlschema.NewURD(owner, site.URL+pathOf(0))
		u.ID, u.Depth = owner, 0
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "tea", Weight: 5})
		urds = append(urds, u)
	}
	if _, err := store.Put(t.Context(), urds); err != nil {
		t.Fatal(err)
	}
	return m
}

// live runs the pipeline until it was served so many pages, and cuts the power a moment later. It reports
// false when the run came to its end instead; with 0 pages it always does.
func (m *machine) live(pages int, rng *rand.Rand) (lost bool) {
	m.t.Helper()
	if m.lives++; m.lives > len(m.site.pages) {
		m.t.Fatalf("after %d losses of power the crawl is not done: what it does does not last", m.lives)
	}
	log := new(walWatch)
	quiet := slog.New(slog.DiscardHandler)
	dir, err := storage.Open(m.path, storage.Options{
		Frontier: frontier.Options{FS: m.disk, Logger: quiet}, Objects: objects.Options{FS: m.disk, Logger: quiet},
		Control: control.Options{Retry: log.transaction},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	defer dir.Close()
	if m.mustNotForget(dir) == len(m.site.pages) {
		return false // power was lost after the last page was done: another run would be another round
	}
	reached := make(chan struct{})
	name := fmt.Sprintf("life-%d-%s", m.lives, filepath.Base(m.path))
	m.site.begin(name, m.served, pages, func() { close(reached) })
	run := m.start(dir, name)
	select {
	case <-run.Done():
		if _, err := run.Wait(); err != nil {
			m.t.Fatal(err)
		}
		return false
	case <-reached:
	}
	time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond) // any moment will do
	select {
	case <-run.Done():
		return false
	default:
	}
	wreck := m.cut(log, rng)
	run.Cancel()
	<-run.Done()
	dir.Close() // what it reports is of no interest: power is lost
	m.wake(wreck)
	return true
}

func (m *machine) start(dir *storage.Dir, name string) *pipeline.Run {
	m.t.Helper()
	loaded, err := config.Parse("shipped", webrace.Pipelines, config.LoadOptions{Run: []string{"webrace"}, Set: []string{
		"fetch.allow_networks=loopback", "fetch.user_agent=" + name, "frontier.fresh=0s", fmt.Sprintf("frontier.leases=%d", machineLeases),
		"cache.archive=" + []string{"gzip", "zstd"}[m.lives%2],
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	graph, err := loaded.Graph("webrace")
	if err != nil {
		m.t.Fatal(err)
	}
	store, err := dir.Control()
	if err != nil {
		m.t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	run, err := graph.Start(context.Background(), pipeline.RunOptions{Resources: resources, DeadLetters: deadLetters{store: store}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		m.t.Fatal(err)
	}
	return run
}

// walWatch keeps the control store's transactions and the loss of power apart, so that what is left of the
// log is known to hold every transaction that was acknowledged.
type walWatch struct{ mu sync.RWMutex }

func (w *walWatch) transaction(_ context.Context, f func() error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return f()
}

// wreck is what the disks held when power was lost.
type wreck struct {
	disk  *vfs.MemFS
	files map[string][]byte // of the control store
}

// The count of commits is as it was then, too: the process lives on for a moment after the loss, and commits.
var controlFiles = []string{"control.db", "control.db-wal", "control.db-generation"}

// cut takes what the disks hold at this moment.
func (m *machine) cut(log *walWatch, rng *rand.Rand) wreck {
	m.t.Helper()
	log.mu.Lock()
	defer log.mu.Unlock()
	m.site.end()
	w := wreck{files: make(map[string][]byte)}
	w.disk = m.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 30, 100}[rng.IntN(3)], RNG: rng})
	for _, name := range controlFiles {
		content, err := os.ReadFile(filepath.Join(m.path, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			m.t.Fatal(err)
		}
		w.files[name] = content
	}
	w.files["control.db-wal"] = tornTail(w.files["control.db-wal"], rng)
	return w
}

// tornTail puts the beginning of a transaction that was never finished behind a log of SQLite: frames as
// there were before, the last one torn.
func tornTail(wal []byte, rng *rand.Rand) []byte {
	const header, frame = 32, 24 + 4096
	frames := (len(wal) - header) / frame
	if frames < 1 {
		return wal
	}
	from := header + rng.IntN(frames)*frame
	return append(wal, wal[from:min(len(wal), from+1+rng.IntN(3*frame))]...)
}

// wake gives the machine back what was left when power was lost.
func (m *machine) wake(w wreck) {
	m.t.Helper()
	m.disk = w.disk
	if err := os.Remove(filepath.Join(m.path, "control.db-shm")); err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
	for name, content := range w.files {
		if err := os.WriteFile(filepath.Join(m.path, name), content, 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// open opens the machine's directory as it is now.
func (m *machine) open() *storage.Dir {
	m.t.Helper()
	dir, err := storage.Open(m.path, storage.Options{Frontier: frontier.Options{FS: m.disk}, Objects: objects.Options{FS: m.disk}})
	if err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// mustNotForget notes which pages are done, and wants none of them to have been fetched since they were. It
// returns how many there are.
func (m *machine) mustNotForget(dir *storage.Dir) (completed int) {
	m.t.Helper()
	store, err := dir.Frontier()
	if err != nil {
		m.t.Fatal(err)
	}
	queue, err := store.Queue("webrace", frontier.QueueOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	defer queue.Close()
	for path := range m.site.pages {
		explanations, err := queue.Why(m.site.URL + path)
		if err != nil {
			m.t.Fatal(err)
		}
		was, before := m.done[path]
		if len(explanations) != 1 || len(explanations[0].Reached) != 1 {
			if before {
				m.t.Errorf("%s was done when power was lost: now all that is known of it is %+v", path, explanations)
			}
			continue
		}
		x, distance := explanations[0], explanations[0].Reached[0].Distance
		// A page to which the crawl comes nearer is handed out again, and answered from what is stored.
		if before && (x.State != frontier.Completed && distance >= was.distance || m.served[path] != was.served) {
			m.t.Errorf("%s was done when power was lost, at distance %d: now it is %s, at %d, and it was served %d times, then %d",
				path, was.distance, x.State, distance, m.served[path], was.served)
		}
		if x.State == frontier.Completed {
			m.done[path] = doneAt{m.served[path], distance}
			completed++
		}
	}
	return completed
}

// alerts returns the ids of all annotations, sorted, each as often as a follower is told of it.
func (m *machine) alerts() (ids []string) {
	m.t.Helper()
	dir := m.open()
	defer dir.Close()
	store, err := dir.Control()
	if err != nil {
		m.t.Fatal(err)
	}
	for aci, err := range store.ACIs(m.t.Context(), control.Filter{}) {
		if err != nil {
			m.t.Fatal(err)
		}
		ids = append(ids, aci.Owner+" "+aci.URI)
	}
	slices.Sort(ids)
	return ids
}

// mustHoldEveryPage wants one version of each page, with its body.
func (m *machine) mustHoldEveryPage() {
	m.t.Helper()
	dir := m.open()
	defer dir.Close()
	store, err := dir.Objects()
	if err != nil {
		m.t.Fatal(err)
	}
	for path, want := range m.site.pages {
		versions, err := store.Versions(m.site.URL + path)
		if err != nil || len(versions) != 1 {
			m.t.Errorf("%s has %d versions, want one: %v", path, len(versions), err)
			continue
		}
		if body, _, err := store.Body(versions[0]); err != nil || string(body) != string(want) {
			m.t.Errorf("%s is stored as %q, %v", path, body, err)
		}
	}
}

// mustHoldStrictWARC wants each segment to be what a strict reader accepts.
func (m *machine) mustHoldStrictWARC() {
	m.t.Helper()
	names, err := m.disk.List(filepath.Join(m.path, "objects"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".warc.gz") {
			continue
		}
		onDisk := filepath.Join(m.t.TempDir(), name)
		if ok, err := vfs.Clone(m.disk, vfs.Default, filepath.Join(m.path, "objects", name), onDisk); err != nil || !ok {
			m.t.Fatalf("copy %s: %v, %v", name, ok, err)
		}
		mustBeStrictWARC(m.t, onDisk)
	}
}

// mustHaveRepeatedOnlyWhatWasInFlight returns how many pages were fetched again.
func (m *machine) mustHaveRepeatedOnlyWhatWasInFlight() (repeats int) {
	m.t.Helper()
	for path := range m.site.pages {
		if m.served[path] == 0 {
			m.t.Errorf("%s was lost", path)
		}
		repeats += max(m.served[path]-1, 0)
	}
	if bound := (m.lives - 1) * machineLeases; repeats > bound {
		m.t.Errorf("%d pages were fetched again, more than the %d that can have been in flight", repeats, bound)
	}
	return repeats
}

// mustBeStrictWARC reads a segment to its end as strictly as an independent reader can.
func mustBeStrictWARC(t *testing.T, path string) {
	t.Helper()
	reader, err := gowarc.NewWarcFileReader(path, 0, gowarc.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for records := 0; ; records++ {
		record, at, validation, err := reader.Next()
		if errors.Is(err, io.EOF) && records > 0 {
			return
		}
		if err != nil || !validation.Valid() {
			t.Fatalf("%s at %d: %v, %v", path, at, err, validation)
		}
		if err := record.Close(); err != nil {
			t.Fatalf("%s at %d: %v", path, at, err)
		}
	}
}
