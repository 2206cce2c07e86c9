package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/loadingcache"
)

// tdmRep is a host's tdmrep.json, or what stands for it where there is none.
type tdmRep struct {
	file   *robots.TDMRep
	origin netip.Addr
	at     time.Time // when it had been asked for; zero if it was not
	took   time.Duration
}

// reserve adds what the tdmrep.json of the target's host states of it. The host is left its pause behind that
// request, as behind the one for its robots.txt, which may forbid it.
func (s *stage) reserve(ctx context.Context, t httpclient.Target, known robotsRules, p *robotsPolicy) error {
	rep, err := s.tdmReps.Get(ctx, t.Origin(), func(ctx context.Context) (loadingcache.Loaded[tdmRep], error) {
		loaded := loadingcache.Loaded[tdmRep]{Value: tdmRep{file: &robots.TDMRep{}}, Keep: keepRobots, Cost: robotsEntrySpace}
		if mayBe, _ := known.allows(robots.TDMRepPath); !mayBe {
			return loaded, nil
		}
		began := time.Now()
		a, origin, err := s.robots.file(ctx, t, robots.TDMRepPath)
		switch {
		case ctx.Err() != nil:
			return loaded, ctx.Err()
		case err != nil: // whoever cannot serve it does not state anything by it, and is asked again soon
			loaded.Keep = keepNoRobots
		case a != nil:
			defer a.Release()
			if a.Status == http.StatusOK && a.Broken == nil {
				loaded.Value.file = robots.ParseTDMRep(a.Body)
				loaded.Cost += 2 * len(a.Body)
			}
		}
		if !origin.IsValid() {
			origin = known.origin
		}
		loaded.Value.origin, loaded.Value.at, loaded.Value.took = origin, time.Now(), time.Since(began)
		return loaded, nil
	})
	if err != nil {
		return err
	}
	p.usage = append(p.usage, statedIn(usage.InTDMRep, rep.file.Usage(t.Path))...)
	if pause := s.pause(rep.origin, rep.took, p.delay); pause > 0 && !rep.at.IsZero() {
		p.rest = rep.at.Add(pause)
	}
	return nil
}

// statedIn notes what a file of a host states, for the header of a document.
func statedIn(place usage.Place, lines []robots.Usage) (noted []string) {
	for _, u := range lines {
		noted = append(noted, usage.Recorded(place, u.Line, u.Text))
	}
	return noted
}
