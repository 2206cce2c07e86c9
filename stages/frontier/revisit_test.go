package frontier

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/schedule"
)

func TestRevisitsGoByTheOptions(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) {
		o.HonorFreshness, o.TrustLastmod = pipeline.Duration(time.Second), true
		o.RevisitMin, o.RevisitMax, o.RevisitShrink, o.RevisitGrow = pipeline.Duration(time.Minute), pipeline.Duration(time.Hour), 0.25, 2
	})
	q, _, err := o.queue(pipeline.NewEnv("p", "frontier", nil))
	if want := (schedule.Bounds{Min: time.Minute, Max: time.Hour, Shrink: 0.25, Grow: 2}); err != nil || q.Revisit != want || q.HonorFreshness != time.Second || !q.TrustLastmod {
		t.Errorf("%+v, %v", q, err)
	}
	for option, change := range map[string][]func(*Options){
		"honor_freshness": {func(o *Options) { o.HonorFreshness = -1 }},
		"revisit_min":     {func(o *Options) { o.RevisitMin = -1 }},
		"revisit_max":     {func(o *Options) { o.RevisitMax = -1 }, func(o *Options) { o.RevisitMin, o.RevisitMax = 2, 1 }},
		"revisit_shrink":  {func(o *Options) { o.RevisitShrink = 0 }, func(o *Options) { o.RevisitShrink = 1.1 }, func(o *Options) { o.RevisitShrink = math.NaN() }},
		"revisit_grow":    {func(o *Options) { o.RevisitGrow = 0.9 }, func(o *Options) { o.RevisitGrow = math.Inf(1) }, func(o *Options) { o.RevisitGrow = math.NaN() }},
	} {
		for _, c := range change {
			var fault *pipeline.OptionError
			if err := with(c).Validate(); !errors.As(err, &fault) || fault.Option != option {
				t.Errorf("%s: %v", option, err)
			}
		}
	}
}
