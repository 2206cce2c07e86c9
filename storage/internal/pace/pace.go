// Package pace spaces what costs others more by how often it is done than by how much.
package pace

import "time"

// burst is how many times in a row something is done soon.
const burst = 10

// Pace is that of what a node asks of the database. A transaction takes more of a server than what is in it: who has
// little to say says it soon, so that a crawl spreads quickly, and who has something all the time gathers it.
type Pace struct {
	Soon, Later time.Duration // between two at first, and when there is one all the time
	done        time.Time     // when the last one was
	row         int           // how many there were without a rest
}

// Wait returns how long the next one is to be waited for; less than 0 if it was to be before.
func (p *Pace) Wait(now time.Time) time.Duration {
	since := now.Sub(p.done)
	if p.row < burst || since >= 2*p.Later {
		return p.Soon - since
	}
	return p.Later - since
}

// Next notes that there is one now, and reports whether it is one of those that are not gathered.
func (p *Pace) Next(now time.Time) (fresh bool) {
	if now.Sub(p.done) >= 2*p.Later {
		p.row = 0
	}
	p.done = now
	p.row = min(p.row+1, burst+1)
	return p.row <= burst
}

// Rest notes one that was done though there was nothing to be done.
func (p *Pace) Rest(now time.Time) { p.done, p.row = now, 0 }

// Since returns how long ago the last one was.
func (p *Pace) Since(now time.Time) time.Duration { return now.Sub(p.done) }
