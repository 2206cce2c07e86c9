package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/schedule"
)

// RevisitOptions determine when a page is worth another visit; the intervals, in a run that goes on and on.
type RevisitOptions struct {
	RevisitMin    pipeline.Duration `toml:"revisit_min" doc:"the shortest interval between two visits of a page that is no start; 0s: the timing of its crawl"`
	RevisitMax    pipeline.Duration `toml:"revisit_max" doc:"the longest; 0s: 32 times the timing. A start is visited by its timing, and at most eight times as often"`
	RevisitShrink float64           `toml:"revisit_shrink" doc:"what the interval is multiplied by after a visit that found a change, starts included: more than 0, at most 1"`
	RevisitGrow   float64           `toml:"revisit_grow" doc:"and after one that found none: 1 to 100"`

	HonorFreshness pipeline.Duration `toml:"honor_freshness" doc:"for how long at most a page is not asked for that its server calls fresh by Cache-Control or Expires; 0s: such words count for nothing. Starts are asked for all the same"`
	TrustLastmod   bool              `toml:"trust_lastmod" doc:"let the times of change in sitemaps and feeds say which pages are asked for early, and which not, as far as the host's have proved right"`
}

var defaultRevisits = RevisitOptions{RevisitShrink: 0.5, RevisitGrow: 1.5}

func (o RevisitOptions) bounds() schedule.Bounds {
	return schedule.Bounds{
		Min: time.Duration(o.RevisitMin), Max: time.Duration(o.RevisitMax), Shrink: o.RevisitShrink, Grow: o.RevisitGrow,
	}
}

func (o RevisitOptions) validate() error {
	fail := func(option string, err error) error { return &pipeline.OptionError{Option: option, Err: err} }
	switch {
	case o.RevisitMin < 0:
		return fail("revisit_min", errors.New("is negative"))
	case o.HonorFreshness < 0:
		return fail("honor_freshness", errors.New("is negative"))
	case o.RevisitMax < 0:
		return fail("revisit_max", errors.New("is negative"))
	case o.RevisitMax > 0 && o.RevisitMax < o.RevisitMin:
		return fail("revisit_max", fmt.Errorf("%v is shorter than revisit_min, %v", time.Duration(o.RevisitMax), time.Duration(o.RevisitMin)))
	case !(o.RevisitShrink > 0 && o.RevisitShrink <= 1):
		return fail("revisit_shrink", fmt.Errorf("%v is not more than 0 and at most 1", o.RevisitShrink))
	case !(o.RevisitGrow >= 1 && o.RevisitGrow <= 100):
		return fail("revisit_grow", fmt.Errorf("%v is not 1 to 100", o.RevisitGrow))
	}
	return nil
}
