package cluster

import "time"

// burst is how many times in a row something is done at once that costs the database.
const burst = 10

// pace spaces what a node asks of the database. A transaction takes more of a server than what is in it: who has little
// to say says it at once, so that a crawl spreads quickly, and who has something all the time gathers it.
type pace struct {
	soon, later time.Duration // between two at first, and when there is one all the time
	done        time.Time     // when the last one was
	row         int           // how many there were without a rest
}

// wait returns how long the next one is to be waited for; less than 0 if it was to be before.
func (p *pace) wait(now time.Time) time.Duration {
	since := now.Sub(p.done)
	if p.row < burst || since >= 2*p.later {
		return p.soon - since
	}
	return p.later - since
}

// next notes that there is one now, and reports whether it is one of those that are not gathered.
func (p *pace) next(now time.Time) (fresh bool) {
	if now.Sub(p.done) >= 2*p.later {
		p.row = 0
	}
	p.done = now
	p.row = min(p.row+1, burst+1)
	return p.row <= burst
}

// rest notes one that was done though there was nothing to be done.
func (p *pace) rest(now time.Time) { p.done, p.row = now, 0 }
