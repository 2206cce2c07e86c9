package frontier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// notDocuments are extensions of what no stage reads: what has no text, and what browsers make pages of.
var notDocuments = func() (all []string) {
	for _, kind := range mediatype.Textless {
		all = append(all, kind.Extensions...)
	}
	return append(all, "svg", "css", "js", "mjs", "map")
}()

// traps returns the limits of traps.
func (o Options) traps() scope.Traps {
	return scope.Traps{
		Length: o.URLLength, Depth: o.PathDepth, Repeats: o.PathRepeats, Parameters: o.QueryParameters,
		Queries: o.PathQueries, Dates: o.DatedPages, FarDates: o.FarDates,
	}
}

// gate returns what every URL is held against by these options, but for the lists of what is blocked.
func (o Options) gate() (*scope.Gate, error) {
	rules, err := scope.ParseRules(o.Rules)
	if err != nil {
		return nil, &pipeline.OptionError{Option: "rules", Err: err}
	}
	gate := scope.NewGate(rules)
	if gate.Ignore, err = scope.ParseExtensions(o.IgnoreTypes); err != nil {
		return nil, &pipeline.OptionError{Option: "ignore_types", Err: err}
	}
	gate.Traps = o.traps()
	return gate, nil
}

// validateGate refuses what the gate cannot be made of.
func (o Options) validateGate() error {
	for option, n := range map[string]int{
		"url_length": o.URLLength, "path_depth": o.PathDepth, "path_repeats": o.PathRepeats, "query_parameters": o.QueryParameters,
		"path_queries": o.PathQueries, "dated_pages": o.DatedPages, "far_dates": o.FarDates, "host_urls": o.HostURLs, "crawl_urls": o.CrawlURLs,
	} {
		if n < 0 {
			return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%d is negative", n)}
		}
	}
	if o.PathRepeats == 1 {
		return &pipeline.OptionError{Option: "path_repeats", Err: errors.New("1 refuses every path: a segment that stands there once is no repetition")}
	}
	_, err := o.gate()
	return err
}

// lists keeps the files of what is blocked in the gate of a queue.
type lists struct {
	gate    *scope.Gate
	env     *pipeline.Env
	domains blockFile
	urls    blockFile
}

// refreshEvery is how often the files are looked at.
const refreshEvery = 2 * time.Second

// blockFile is a file with a list, as it was read last.
type blockFile struct {
	option, path string
	counter      string
	read         func(*os.File) (*scope.Blocklist, error)
	list         *scope.Blocklist
	at           time.Time // when the file was changed
	size         int64
	failed       string // what went wrong last, so that it is told once
}

// newLists returns what keeps the lists of what is blocked up to date; load it first.
func newLists(o Options, gate *scope.Gate, env *pipeline.Env) *lists {
	return &lists{gate: gate, env: env,
		domains: blockFile{option: "blocked_domains_file", path: o.BlockedDomainsFile, counter: "blocked_domains",
			read: func(f *os.File) (*scope.Blocklist, error) { return scope.ReadBlockedDomains(f) }},
		urls: blockFile{option: "blocked_urls_file", path: o.BlockedURLsFile, counter: "blocked_urls",
			read: func(f *os.File) (*scope.Blocklist, error) { return scope.ReadBlockedURLs(f) }},
	}
}

// load reads the files for the first time. One that cannot be read is an error: a run must not ask for what
// the operator has blocked.
func (l *lists) load() error {
	for _, f := range []*blockFile{&l.domains, &l.urls} {
		if _, err := f.refresh(); err != nil {
			return &pipeline.OptionError{Option: f.option, Err: err}
		}
		l.report(f)
	}
	l.gate.Block(l.domains.list, l.urls.list)
	return nil
}

// watch reads files again that have changed, until the context ends. One that cannot be read leaves what
// it held before.
func (l *lists) watch(ctx context.Context) {
	if l.domains.path == "" && l.urls.path == "" {
		return
	}
	ticks := time.NewTicker(refreshEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			l.refresh()
		case <-ctx.Done():
			return
		}
	}
}

func (l *lists) refresh() {
	for _, f := range []*blockFile{&l.domains, &l.urls} {
		changed, err := f.refresh()
		switch {
		case err != nil && err.Error() != f.failed:
			f.failed = err.Error()
			l.env.Logger.Error("a list of what is blocked cannot be read; the one before holds", "option", f.option, "error", err)
		case changed:
			f.failed = ""
			l.report(f)
			l.gate.Block(l.domains.list, l.urls.list)
		}
	}
}

// report counts what a list holds, and warns of lines that block nothing.
func (l *lists) report(f *blockFile) {
	if f.path == "" {
		return
	}
	l.env.Level(f.counter).Store(int64(f.list.Len()))
	if f.list.Skipped > 0 {
		l.env.Logger.Warn("lines of a list block nothing", "file", f.path, "lines", f.list.Skipped, "first", f.list.First)
	}
}

// largestList is how large a list may be.
const largestList = 1 << 30

// refresh reads the file if it was never read, or has changed since.
func (f *blockFile) refresh() (changed bool, err error) {
	if f.path == "" {
		return false, nil
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return false, err
	}
	if f.list != nil && info.ModTime().Equal(f.at) && info.Size() == f.size {
		return false, nil
	}
	if info.Size() > largestList {
		return false, fmt.Errorf("%s: %d bytes, where %d are the most", f.path, info.Size(), largestList)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	list, err := f.read(file)
	if err != nil {
		return false, fmt.Errorf("%s: %w", f.path, err)
	}
	f.list, f.at, f.size = list, info.ModTime(), info.Size()
	return true, nil
}
