package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

// TestRealQuads crawls all, and again, and once more after one file was edited. Most of what there is are the 135 large
// files of one package, of which a fifth is enough unless -all-quads wants them.
func TestRealQuads(t *testing.T) {
	t.Parallel()
	site := startRDFSite(t, func(string) bool { return true })
	if !*allQuads {
		site.thin(t, "lsp-plugins.lv2/manifest.ttl")
	}
	all := site.walkByRapper(t)
	want := site.documents(all)
	data := t.TempDir()

	crawl, path := site.crawl(t, data), filepath.Join(t.TempDir(), "report.json")
	crawl.Args = append(crawl.Args, "--report", path)
	mustSucceed(t, crawl)
	asked := site.mustAsk(t, want, 0, "200")
	var report struct{ Pages, Links, Errors int }
	readJSON(t, path, &report)
	if report.Pages != len(want) || report.Links < len(want)-len(site.start) || report.Errors != 0 {
		t.Errorf("it reports %+v of %d documents, to which %d starts lead", report, len(want), len(site.start))
	}
	mustBeTurtle(t, data, all)
	exported := exportQuads(t, data)
	n := site.mustSayAsRapper(t, exported, all.said)
	t.Logf("%d manifests lead to %d documents: %d contexts, %d quads, %d documents are no RDF", len(site.start), len(want), len(all.said), n, len(all.silent))
	if len(all.silent) < 20 || len(want) < 400 {
		t.Errorf("that is not what the packages hold")
	}
	before := digests(t, exported)

	// It is asked for again and nothing has changed.
	revision := revisionOf(t, data)
	mustSucceed(t, site.crawl(t, data, "frontier.fresh=0s"))
	asked = site.mustAsk(t, want, asked, "304")
	if again := revisionOf(t, data); again != revision {
		t.Errorf("a crawl of what has not changed has written quads: revision %d became %d", revision, again)
	}

	// One file is edited.
	edited := slices.MaxFunc(slices.Collect(maps.Keys(all.said)), func(a, b string) int {
		return len(all.said[a]) - len(all.said[b])
	})
	site.edit(t, edited)
	seen := site.crawlBeside(t, data, edited)
	exported = exportQuads(t, data)
	after := digests(t, exported)
	if want := []uint64{before[edited], after[edited]}; !slices.Equal(seen.states, want) || want[0] == want[1] {
		t.Errorf("a reader beside sees %x, and not %x: before and after", seen.states, want)
	}
	said, _ := site.rapper(t, edited)
	site.mustSayAsRapper(t, statedBy(t, exported, edited), map[string][]byte{edited: said})
	delete(before, edited)
	delete(after, edited)
	if !maps.Equal(before, after) {
		t.Error("a context has changed whose document has not")
	}
	requests, _ := site.requests(t, asked)
	if len(requests["200"]) != 1 || requests["200"][site.path(edited)] != 1 || len(requests["304"]) != len(want)-1 {
		t.Errorf("%d documents were fetched anew and %d were confirmed, want 1 and %d", len(requests["200"]), len(requests["304"]), len(want)-1)
	}
	t.Logf("%s was edited; a reader beside looked %d times and saw %d states", site.path(edited), seen.reads, len(seen.states))
}

// mustAsk wants each document asked for once since some requests, and answered with a status. It returns how many
// requests there were.
func (s rdfSite) mustAsk(t *testing.T, want map[string]bool, since int, status string) (total int) {
	t.Helper()
	requests, total := s.requests(t, since)
	var wrong []string
	for path := range want {
		if n := requests[status][path]; n != 1 {
			wrong = append(wrong, fmt.Sprintf("%s was answered %s %d times, want once", path, status, n))
		}
	}
	for other, paths := range requests {
		for path := range paths {
			if other != status || !want[path] {
				wrong = append(wrong, fmt.Sprintf("%s was asked for and answered %s", path, other))
			}
		}
	}
	if len(wrong) > 0 {
		t.Fatalf("%d are wrong:\n%.2000s", len(wrong), strings.Join(wrong, "\n"))
	}
	return total
}

// mustBeTurtle wants all that states something to be known as Turtle, though no server said so.
func mustBeTurtle(t *testing.T, data string, all truth) {
	t.Helper()
	const query = "SELECT ?page ?format { GRAPH <" + quads.ProvenanceGraph + "> { ?page <http://purl.org/dc/terms/format> ?format } }"
	out, err := exec.Command("webrace-store", "quads", "query", query, "--data", data).Output()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for line := range strings.Lines(string(out)) {
		page, format, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if all.said[page] == nil {
			continue
		}
		if known++; format != string(rdf.Turtle) {
			t.Errorf("%s is Turtle, and taken for %s", page, format)
		}
	}
	if known != len(all.said) {
		t.Errorf("the format of %d documents is known, want %d", known, len(all.said))
	}
}

// exportQuads writes all quads of a data directory to a file.
func exportQuads(t *testing.T, data string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "quads.nq")
	mustSucceed(t, exec.Command("webrace-store", "quads", "export", "--data", data, "--output", path))
	return path
}

func revisionOf(t *testing.T, data string) (revision uint64) {
	t.Helper()
	var stats struct{ Revision uint64 }
	out, err := exec.Command("webrace-store", "quads", "stats", "--data", data, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &stats); err != nil {
		t.Fatal(err)
	}
	return stats.Revision
}

// statedBy writes what one URL states, by an export, to a file.
func statedBy(t *testing.T, export, url string) (path string) {
	t.Helper()
	all, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	var of bytes.Buffer
	for line := range bytes.Lines(all) {
		if bytes.HasSuffix(line, []byte(" <"+url+"> .\n")) {
			of.Write(line)
		}
	}
	path = filepath.Join(t.TempDir(), "stated.nq")
	writeFile(t, path, of.String())
	return path
}

// mustSayAsRapper wants each context of an export to state what rapper has read of its document, and none to state
// more. It returns how many quads they state.
func (s rdfSite) mustSayAsRapper(t *testing.T, export string, read map[string][]byte) (count int) {
	t.Helper()
	seen := 0
	for context, got := range contexts(t, export) {
		said, known := read[context]
		if !known {
			t.Errorf("%s says %d triples, and is no RDF", context, len(got))
			continue
		}
		seen++
		count += len(got)
		var want []rdf.Quad
		for q, err := range rdf.Parse(t.Context(), bytes.NewReader(said), rdf.NTriples, rdf.Options{KeepLabels: true}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, q)
		}
		if d := testutil.Isomorphic(want, got); d != "" {
			t.Errorf("%s does not say what rapper reads:\n%.2000s", context, d)
		}
	}
	if seen != len(read) {
		t.Errorf("%d contexts say something, want %d", seen, len(read))
	}
	return count
}

// contexts yields what each URL states, by an export.
func contexts(t *testing.T, path string) iter.Seq2[string, []rdf.Quad] {
	return func(yield func(string, []rdf.Quad) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var graph webrace.Term
		var says []rdf.Quad
		provenance := rdf.NewIRI(quads.ProvenanceGraph)
		for q, err := range rdf.Parse(t.Context(), file, rdf.NQuads, rdf.Options{KeepLabels: true, Limits: rdf.Limits{Triples: -1}}) {
			if err != nil {
				t.Fatal(err)
			}
			if q.Graph != graph {
				if len(says) > 0 && graph != provenance && !yield(rdf.Value(graph), says) {
					return
				}
				graph, says = q.Graph, nil
			}
			q.Graph = ""
			says = append(says, q)
		}
		if len(says) > 0 && graph != provenance {
			yield(rdf.Value(graph), says)
		}
	}
}

var digestSeed = maphash.MakeSeed()

// digests returns one of what each URL states, and of what is said of it, by an export. The order of the lines does not
// count.
func digests(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sums := map[string]uint64{}
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		line := strings.TrimSuffix(lines.Text(), " .")
		graph := line[strings.LastIndexByte(line, '<'):]
		if graph == "<"+quads.ProvenanceGraph+">" {
			graph, _, _ = strings.Cut(line, " ")
		}
		sums[strings.Trim(graph, "<>")] += maphash.String(digestSeed, line)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return sums
}

// edit changes thousands of statements of a document.
func (s rdfSite) edit(t *testing.T, address string) {
	t.Helper()
	path := filepath.Join(s.root, s.path(address))
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(body, []byte("lv2:default"), []byte("lv2:maximum"))
	if n := bytes.Count(body, []byte("lv2:default")); n < 500 {
		t.Fatalf("only %d statements of %s change", n, path)
	}
	if err := os.WriteFile(path, append(changed, "\n# edited\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sight is what a reader saw of a context.
type sight struct {
	reads  int
	states []uint64 // as in digests, each that differs from the one before
}

// crawlBeside crawls the site once more, in this process, and has a reader look at a context all the time.
func (s rdfSite) crawlBeside(t *testing.T, data, context string) (seen sight) {
	t.Helper()
	names := []string{"multicrawler"}
	globals := cli.Globals{Config: "../../pipelines.toml", Data: data}
	loaded, err := globals.Load(config.LoadOptions{Run: names, Set: s.settings(t, "frontier.fresh=0s")})
	if err != nil {
		t.Fatal(err)
	}
	out, err := newOutput(t.Output(), "text", "")
	if err != nil {
		t.Fatal(err)
	}
	stores, err := cli.Place{Data: data}.Open(storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stores.Close()
	dir := stores.Dir
	store, err := dir.Quads()
	if err != nil {
		t.Fatal(err)
	}
	seen.look(t, store, context)
	p := &process{sessions: []*session{{dir: dir}}, out: out, admin: admin.New()}
	runs, err := p.start(t.Context(), loaded, names)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitAll(runs)
	}()
	for running(ended) {
		seen.look(t, store, context)
	}
	seen.look(t, store, context)
	if _, err := p.results(runs, false); err != nil {
		t.Error(err)
	}
	return seen
}

// look reads one state of a context, with what is known of it.
func (s *sight) look(t *testing.T, store *quads.Store, address string) {
	t.Helper()
	now, err := store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	var sum uint64
	for _, graph := range []webrace.Term{rdf.NewIRI(address), rdf.NewIRI(quads.ProvenanceGraph)} {
		for q, err := range now.Quads(context.Background(), graph) {
			if err != nil {
				t.Fatal(err)
			}
			if q.Graph == rdf.NewIRI(address) || q.Subject == rdf.NewIRI(address) {
				sum += maphash.String(digestSeed, fmt.Sprintf("%s %s %s %s", q.Subject, q.Predicate, q.Object, q.Graph))
			}
		}
	}
	s.reads++
	if n := len(s.states); n == 0 || s.states[n-1] != sum {
		s.states = append(s.states, sum)
	}
}
