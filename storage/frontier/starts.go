package frontier

import (
	"iter"

	"github.com/webrace/webrace"
)

// Start is the start of a crawl of the last run.
type Start struct {
	Crawl  webrace.Crawl
	Failed string // why it gave no answer; empty if it gave one, of whatever kind, or that is not known yet
}

// ranCrawl is a crawl of a run that has ended.
type ranCrawl struct {
	crawl   webrace.Crawl
	refused Reason // its start is, by a rule or a list
}

// ran returns the crawls of this run that begin here.
func (q *Queue) ran() (all []ranCrawl) {
	for _, cr := range q.crawls.all() {
		if p := cr.pass(); cr.active.Load() && q.beginsHere(p) {
			why, _ := q.opt.Gate.Admit(p.Start)
			all = append(all, ranCrawl{p.Crawl, reasonOf(why)})
		}
	}
	return all
}

// LastStarts yields the starts of the crawls that were started in the last run of a pipeline since the store was
// opened, in the order in which they were first started. The run has ended: its queue is closed. What came of a start
// is read when it is yielded, and an error is the last.
func (s *Store) LastStarts(pipeline string) iter.Seq2[Start, error] {
	s.mu.Lock()
	ran := s.ran[pipeline]
	s.mu.Unlock()
	return func(yield func(Start, error) bool) {
		for _, r := range ran {
			start := Start{Crawl: r.crawl}
			visit, err := s.LastVisit(pipeline, r.crawl.Secret, r.crawl.Start)
			switch {
			case err != nil:
			case r.refused != accepted:
				start.Failed = "refused by the frontier: " + r.refused.String()
			case visit != nil && unanswered(visit):
				start.Failed = visit.Error
			}
			if !yield(start, err) || err != nil {
				return
			}
		}
	}
}

// unanswered reports whether the last visit of a URL brought no answer: it was not asked for, or in vain.
func unanswered(v *webrace.Visit) bool { return v.Error != "" && v.Answer() < 400 }
