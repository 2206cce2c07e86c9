package main

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// crowdScale is how much work there is.
type crowdScale struct {
	sizes   []int // URDs of one start
	pages   int   // that concern nobody
	alerted int   // pages that alert many, for 1,000 URDs; fewer for more
	whole   int   // URDs of one start for the whole pipeline
	site    int   // pages of its site
	round   time.Duration
}

var (
	crowdFull  = crowdScale{sizes: []int{1_000, 100_000, 1_000_000}, pages: 40, alerted: 16, whole: 20_000, site: 6_000, round: 100 * time.Millisecond}
	crowdQuick = crowdScale{sizes: []int{1_000, 20_000}, pages: 20, alerted: 4, whole: 20_000, site: 1_200, round: 30 * time.Millisecond}
)

// What a page that concerns nobody may cost, as a multiple of what it costs for one URD: of 1,000,000, and of fewer.
const largestCrowdLimit, crowdLimit = 2, 1.5

// benchCrowd measures what a page costs when very many URDs have the same start.
func benchCrowd(b *bench) error {
	c := &crowdBench{bench: b, scale: crowdFull}
	if b.quick {
		c.scale = crowdQuick
	}
	var err error
	if c.corpus, err = smallPages(); err != nil {
		return err
	}
	for i, asks := range crowdWorkloads {
		if err := c.measure(&asks, i == 0); err != nil {
			return fmt.Errorf("workload %s: %w", asks.name, err)
		}
	}
	return c.pipeline()
}

type crowdBench struct {
	*bench
	scale  crowdScale
	corpus *corpus
}

// smallPages are generated pages of 600 words.
func smallPages() (*corpus, error) {
	c := &corpus{what: "generated pages"}
	const n = 200
	site := newGenerated(n, sizedWords)
	for i := range n {
		c.pages = append(c.pages, site.at(standInPath(i)))
		c.texts = append(c.texts, textOf(c.pages[i]))
	}
	if c.readWords(); len(c.rare) == 0 {
		return nil, errors.New("the pages have no rare words")
	}
	return c, nil
}

// crowdWorkloads: pages concern nobody, or some, or very many.
var crowdWorkloads = []workload{
	{name: "nobody", word: func(_ *corpus, r *rand.Rand) string { return inventName(r) }},
	{name: "rare", word: func(c *corpus, r *rand.Rand) string { return c.words[c.rare[r.IntN(len(c.rare))]] }},
	{name: "zipf", word: workloads[1].word},
}

// The ways to ask, each at a start of its own.
var crowdKinds = []string{"whole pages", "prefixes", "selective"}

// startOf is where the URDs of a kind start.
func startOf(kind string) string { return "http://" + kind[:5] + ".example/" }

// levelsOf a URD: five depths, the first two the deepest, so that these look at all pages.
func levelsOf(number int) int { return 5 - number/2%5 }

// urds makes so many URDs of a kind: half of them are told of what is added, half of the page when it changes.
func (c *crowdBench) urds(asks *workload, kind string, n int) iter.Seq[*xmlschema.URD] {
	return func(yield func(*xmlschema.URD) bool) {
		stop := errors.New("no more")
		_ = asks.interests(c.corpus, n, false, func(number int, i *interest) error { // its errors are ours
			u := xmlschema.NewURD(fmt.Sprint("owner", number), startOf(kind))
			u.ID, u.Depth = fmt.Sprintf("%s%d", kind[:1], number), levelsOf(number)
			u.Change = []string{xmlschema.ChangeAdded, xmlschema.ChangePage}[number%2]
			for _, k := range i.keywords {
				u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: k.key, Weight: k.weight})
			}
			if u.Keywords.Match = xmlschema.MatchAny; i.all {
				u.Keywords.Match = xmlschema.MatchAll
			}
			switch kind {
			case "prefixes":
				u.URI += "*"
			case "selective":
				u.Select = []xmlschema.Rule{{Language: "css", Text: []string{"p", "span"}[number%2]}}
			}
			if !yield(u) {
				return stop
			}
			return nil
		})
	}
}

// measure compares crowds with one URD, and two that watch a prefix or have rules, that ask in the same way.
func (c *crowdBench) measure(asks *workload, judged bool) error {
	pages := map[int]int{}
	for i, n := range c.scale.sizes {
		if pages[n] = c.scale.pages; !judged {
			pages[n] = max(2, c.scale.alerted>>(2*i))
		}
	}
	ones := map[int]crowdTimes{}
	err := c.stage(asks, 1, func(s *crowdStage) (err error) {
		for _, n := range pages {
			if ones[n], err = s.measure(n); err != nil {
				break
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range c.scale.sizes {
		err := c.stage(asks, n, func(s *crowdStage) error {
			if n == c.scale.sizes[0] {
				if err := s.consult(pages[n]); err != nil {
					return fmt.Errorf("nothing is timed, because the papers' loop disagrees: %w", err)
				}
			}
			times, err := s.measure(pages[n])
			if err == nil {
				c.rows(asks, n, times, ones[pages[n]], judged)
				c.table.value(fmt.Sprintf("%s, %s: memory of a URD", asks.name, grouped(n)), float64(s.bytes)/float64(s.all()), "B", nil)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *crowdBench) rows(asks *workload, n int, times, ones crowdTimes, judged bool) {
	var limit *goal
	if judged {
		limit = atMost(crowdLimit)
		if n == 1_000_000 {
			limit = atMost(largestCrowdLimit)
		}
	}
	for _, kind := range crowdKinds {
		for _, state := range crowdStates {
			at := crowdState{kind, state}
			c.table.tookAgainst(fmt.Sprintf("%s, %s, %s, a page %s", asks.name, grouped(n), kind, state), times[at].taken, times[at].alerts,
				"one URD", ones[at].taken, limit)
		}
	}
}

// pipeline lets the program crawl a site for many URDs of one start, and for one, who are told of nothing.
func (c *crowdBench) pipeline() error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	of := &crawlBench{dir: dir}
	if err := of.build(); err != nil {
		return err
	}
	perPage := map[int]float64{}
	for _, n := range []int{1, c.scale.whole} {
		var all [2]usage
		for i, pages := range []int{1, c.scale.site} {
			if all[i], err = of.sized(pages, c.crawlFor(n)); err != nil {
				return err
			}
		}
		perPage[n] = float64(all[1].CPU-all[0].CPU) / float64(time.Microsecond) / float64(c.scale.site-1)
		c.table.value(fmt.Sprintf("whole pipeline, %s, peak RSS", grouped(n)), float64(all[1].PeakRSS)/1e6, "MB", nil)
	}
	c.table.against(fmt.Sprintf("whole pipeline, %s, CPU a page beyond starting", grouped(c.scale.whole)), perPage[c.scale.whole], "µs",
		"one URD", perPage[1], atMost(crowdLimit))
	return nil
}

// crawlFor crawls for so many URDs, which are in the data directory before the program starts.
func (c *crowdBench) crawlFor(n int) func(*crawlBench, string) (usage, error) {
	return func(of *crawlBench, dir string) (usage, error) {
		err := fill(filepath.Join(dir, "data"), func(yield func(*xmlschema.URD) bool) {
			for u := range c.urds(&crowdWorkloads[0], crowdKinds[0], n) {
				u.URI, u.Depth = of.site.base+startPath, 0
				if !yield(u) {
					return
				}
			}
		})
		if err != nil {
			return usage{}, err
		}
		command, err := of.webrace(dir, "webrace", "--config", filepath.Join("..", "pipelines.toml"))
		if err != nil {
			return usage{}, err
		}
		return runProcess(command)
	}
}

// fill makes a data directory that has these URDs.
func fill(path string, all iter.Seq[*xmlschema.URD]) error {
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return err
	}
	store, err := dir.Control()
	if err == nil {
		err = putAll(store, all)
	}
	return errors.Join(err, dir.Close())
}

// crowdPage is a page in one of its versions.
func crowdPage(html []byte, version int) []byte {
	if version == 1 {
		return html
	}
	return append(html[:len(html):len(html)], "<p>what <span>was added</span> later, with asyncio in it"...)
}
