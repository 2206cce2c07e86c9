// Package score is the stage that tells a frontier whose order is best-first how promising links are. So a crawl
// that cannot take all of a site comes early to what it is for.
//
// It goes by keywords: in the text of a link, in its URL, and in the page that it stands on, as focused crawlers do
// (Cho, Garcia-Molina and Page, "Efficient Crawling Through URL Ordering", WWW 1998; Hersovici et al., "The
// Shark-Search Algorithm", WWW 1998). And it goes by importance, which pages pass on to those they link to: see cash.
//
// It leaves out no link, and changes nothing about which pages a crawl comes to in the end.
package score

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	Keywords map[string]int `toml:"keywords" doc:"what makes a link promising: words and phrases, as in a URD, each with a weight of 1 (not important) to 5"`
	Anchor   int            `toml:"anchor" doc:"how much it counts that keywords stand in the text of a link, compared with url and page; 0: not at all. What is not known of a link does not count against it"`
	URL      int            `toml:"url" doc:"how much it counts that they are words of its URL"`
	Page     int            `toml:"page" doc:"how much it counts that they stand in the page that has the link: how relevant that is"`
	OPIC     bool           `toml:"opic" doc:"among links that are about as promising by keywords, or among all without keywords, the more important come first: those to which many pages link, important ones, and such as have few links"`
	OPICURLs int            `toml:"opic_urls" doc:"of how many URLs at most memory keeps how important they are (40 bytes each); beyond it, those are forgotten to which no page has linked for longest"`
}

var defaults = Options{Anchor: 4, URL: 2, Page: 1, OPICURLs: 1_000_000}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "score",
		Single:  true,
		Summary: "says how promising links are, by keywords and importance, to a frontier with order = \"best-first\"",
		Doc: "It stands between whatever finds links and `frontier`. Each link gets a score of 1 to 255; sitemaps that a robots.txt names keep " +
			"that which the frontier gives them. Of links whose page was not read (redirects, sitemaps, the links of pages that did not change) keywords see the URL alone.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Links]()),
		Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartAnchors, webrace.PartText},
		Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Links](), Doc: "the same links, with scores"}},
	}, defaults, newStage)
}

// mostWeight is how much a place may count.
const mostWeight = 100

// Validate refuses to go by nothing, and keywords and weights that cannot be.
func (o Options) Validate() error {
	if len(o.Keywords) == 0 && !o.OPIC {
		return &pipeline.OptionError{Option: "keywords", Err: errors.New(`are not set, nor is opic: say what makes a link promising, such as { storm = 5, "ferry timetable" = 3 }`)}
	}
	for _, w := range []struct {
		option string
		weight int
	}{{"anchor", o.Anchor}, {"url", o.URL}, {"page", o.Page}} {
		if w.weight < 0 || w.weight > mostWeight {
			return &pipeline.OptionError{Option: w.option, Err: fmt.Errorf("%d is not between 0 and %d", w.weight, mostWeight)}
		}
	}
	if o.Anchor+o.URL+o.Page == 0 {
		return &pipeline.OptionError{Option: "anchor", Err: errors.New("counts as little as url and page: nothing. Let one of them count")}
	}
	if o.OPICURLs < 1 {
		return &pipeline.OptionError{Option: "opic_urls", Err: fmt.Errorf("%d is less than 1", o.OPICURLs)}
	}
	_, _, err := newInterest(o)
	return err
}

type stage struct {
	env      *pipeline.Env
	interest *interest // nil without keywords
	cash     *cash     // nil without opic
}

var _ pipeline.Processor = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	interest, warnings, err := newInterest(o)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		env.Logger.Warn("keyword of the stage score has a fault", "warning", w.String())
	}
	s := &stage{env: env, interest: interest}
	if o.OPIC {
		s.cash = newCash(o.OPICURLs)
	}
	return s, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	l, err := pipeline.ValueOf[*webrace.Links](it)
	if err != nil {
		return err
	}
	if l.Via == webrace.ViaRobots {
		return out.Emit(ctx, it)
	}
	scored := *l
	scored.Scores, scored.Anchors, scored.Text = s.scores(l), nil, nil // which are not needed any more
	return out.Emit(ctx, it.With(&scored))
}

// scores returns a score for each URL.
func (s *stage) scores(l *webrace.Links) []uint8 {
	var promise, importance []float64
	if s.interest != nil {
		promise = s.interest.promises(l)
	}
	if s.cash != nil {
		importance = s.cash.pass(l)
		for i := range importance {
			importance[i] = importanceOf(importance[i])
		}
	}
	scores, promising := make([]uint8, len(l.URLs)), int64(0)
	for i := range scores {
		switch {
		case promise == nil:
			scores[i] = fine(importance[i])
			continue
		case importance == nil:
			scores[i] = coarse(promise[i], 0)
		default:
			scores[i] = coarse(promise[i], importance[i])
		}
		if promise[i] > 0 {
			promising++
		}
	}
	s.env.Counter("scored").Add(int64(len(scores)))
	s.env.Counter("promising").Add(promising)
	return scores
}

// levels is how many are told apart of promise, and within each of importance.
const levels = 16

// coarse returns the score of a link: its promise decides, and among links of a level of it, their importance. Links
// of one score come in the order of discovery. 0 would leave the score to the frontier.
func coarse(promise, importance float64) uint8 {
	return uint8(max(1, levels*levelOf(promise)+levelOf(importance)))
}

// fine returns the score of a link by its importance alone.
func fine(importance float64) uint8 { return uint8(1 + math.Round((math.MaxUint8-1)*importance)) }

// levelOf returns the level of a number from 0 to 1: 0 is for those that are nearly nothing.
func levelOf(x float64) int { return int(math.Round((levels - 1) * x)) }
