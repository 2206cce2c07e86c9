package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/webrace/webrace/storage/fulltext"
)

// What indexing a page is to cost, in microseconds of CPU time and as a multiple of what bleve takes for its text; how
// much memory; and what a crawl is to keep of its pace beside it.
const (
	indexLimit   = 1300
	indexRatio   = 0.5
	indexPeak    = 350e6
	besideLimit  = 1 / 0.8 // of the time that the crawl alone takes
	searchRounds = 3
)

// benchSearch makes the pages of a crawl searchable: the pipeline search as a process of its own over what is stored,
// beside rivals that are given the texts of the same pages; and both pipelines in one process.
func benchSearch(b *bench) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startSite(dir, docSites[:2], b.note)
	if err != nil {
		return err
	}
	defer s.stop()
	c := &searchBench{crawlBench: crawlBench{site: s, dir: dir, known: filepath.Join(dir, "known")}, rounds: searchRounds}
	if b.quick {
		c.rounds = 1
	}
	if err := c.setUp(b); err != nil {
		return err
	}
	if err := c.beside(b); err != nil {
		return err
	}
	return c.index(b)
}

type searchBench struct {
	crawlBench
	rounds int
	stored string // a data directory with all pages, none of them indexed
}

// beside lets both pipelines run in one process, and compares how long the crawl took with what it took alone.
func (c *searchBench) beside(b *bench) error {
	shortest := map[string]time.Duration{}
	var whole usage
	for range c.rounds {
		for _, way := range []crawler{{name: wholeName, command: c.whole}, {name: searchName, command: c.searching}} {
			dir, err := c.empty()
			if err != nil {
				return err
			}
			command, err := way.command(dir)
			if err != nil {
				return err
			}
			used, err := runProcess(command)
			if err != nil {
				return err
			}
			took, err := crawlTook(dir)
			if err != nil {
				return err
			}
			if least, ok := shortest[way.name]; !ok || took < least {
				shortest[way.name] = took
			}
			if way.name == searchName {
				whole = used
				if err := c.allFound(dir); err != nil {
					return err
				}
			} else {
				c.stored = dir
			}
		}
	}
	b.table.against("crawl and search in one process, the crawl's time", shortest[searchName].Seconds(), "s", "the crawl alone", shortest[wholeName].Seconds(), atMost(besideLimit))
	b.table.value("crawl and search in one process, in all", whole.Wall.Seconds(), "s", nil)
	b.table.value("crawl and search in one process, peak RSS", float64(whole.PeakRSS)/1e6, "MB", nil)
	return nil
}

// crawlTook reads from a report how long the pipeline webrace ran.
func crawlTook(dir string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return 0, err
	}
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("{")) { // of one pipeline
		text = append(append([]byte("["), text...), ']')
	}
	var reports []struct {
		Pipeline string
		Seconds  float64 `json:"duration_s"`
	}
	if err := json.Unmarshal(text, &reports); err != nil {
		return 0, fmt.Errorf("read the report: %w", err)
	}
	for _, r := range reports {
		if r.Pipeline == "webrace" && r.Seconds > 0 {
			return time.Duration(r.Seconds * float64(time.Second)), nil
		}
	}
	return 0, fmt.Errorf("no duration of the crawl in %s", text)
}

// allFound checks that every page is in the index.
func (c *searchBench) allFound(dir string) error {
	store, err := fulltext.Open(filepath.Join(dir, "data", "fulltext"), fulltext.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	n, err := store.Count()
	if err == nil && int(n) < len(c.paths) {
		err = fmt.Errorf("%d documents are indexed, of %d", n, len(c.paths))
	}
	return errors.Join(err, store.Close())
}

// index races who makes the pages searchable.
func (c *searchBench) index(b *bench) error {
	texts := filepath.Join(c.dir, "texts.json")
	bytes, err := c.writeTexts(texts)
	if err != nil {
		return err
	}
	b.note("search: %d pages of %s, %.1f KB of text each", len(c.paths), c.site.what, float64(bytes)/1000/float64(len(c.paths)))
	least, peak := map[string]float64{}, map[string]int64{}
	indexers := append([]indexer{{"webrace search", c.search}, {"bleve, English", c.bleve(texts)}}, c.others(b, texts)...)
	for range c.rounds {
		for _, way := range indexers {
			dir, err := c.empty()
			if err != nil {
				return err
			}
			used, err := way.run(dir)
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			os.RemoveAll(dir)
			page := float64(used.CPU.Microseconds()) / float64(len(c.paths))
			if before, ok := least[way.name]; !ok || page < before {
				least[way.name] = page
			}
			peak[way.name] = max(peak[way.name], used.PeakRSS)
		}
	}
	own, rival := indexers[0].name, indexers[1].name
	b.table.value(own+", CPU a page, min", least[own], "µs", atMost(indexLimit))
	b.table.against(own+", CPU a page, min", least[own], "µs", rival, least[rival], atMost(indexRatio))
	b.table.value(own+", peak RSS", float64(peak[own])/1e6, "MB", atMost(indexPeak/1e6))
	for _, way := range indexers[1:] {
		b.table.value(way.name+", CPU a page, min", least[way.name], "µs", nil)
		b.table.value(way.name+", peak RSS", float64(peak[way.name])/1e6, "MB", nil)
	}
	return nil
}

// indexer is one contestant; it indexes everything once, in an empty directory of its own.
type indexer struct {
	name string
	run  func(dir string) (usage, error)
}

// search runs the pipeline over a copy of what was stored.
func (c *searchBench) search(dir string) (usage, error) {
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(c.stored, "data"))); err != nil {
		return usage{}, err
	}
	command := exec.Command(c.program, "search", "--data", filepath.Join(dir, "data"), "--config", filepath.Join("..", "pipelines.toml"))
	used, err := runProcess(command)
	if err != nil {
		return usage{}, err
	}
	return used, c.allFound(dir)
}

// others are the search engines that are installed, for comparison: they are in C, and SQLite's words have no stems in
// other languages.
func (c *searchBench) others(b *bench, texts string) (list []indexer) {
	if path, err := exec.LookPath("omindex"); err == nil {
		list = append(list, indexer{"Xapian omega", func(dir string) (usage, error) {
			return runProcess(exec.Command(path, "--db", filepath.Join(dir, "db"), "--url", "/", "--follow", filepath.Join(c.dir, "site")))
		}})
	} else {
		b.note("search: omindex (xapian-omega) is not installed")
	}
	if path, err := exec.LookPath("sqlite3"); err == nil {
		list = append(list, indexer{"SQLite FTS5", func(dir string) (usage, error) {
			return runProcess(exec.Command(path, filepath.Join(dir, "db"), fmt.Sprintf("CREATE VIRTUAL TABLE page USING fts5(url UNINDEXED, title, body, tokenize='porter');"+
				"INSERT INTO page SELECT value->>'URL', value->>'Title', value->>'Body' FROM json_each(readfile('%s'));", texts)))
		}})
	} else {
		b.note("search: sqlite3 is not installed")
	}
	return list
}
