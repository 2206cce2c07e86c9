package fetch

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/lru"
)

// addressTurns have the names that share an address share one host's part: so many requests in flight, and a pause
// after each. Nobody waits for a turn here, because a worker that did would be one less for other hosts: a host that
// cannot be asked yet is given a place in the line of its address, is told when that will be its turn, and goes back
// to the queue until then. It keeps its place when it comes too early, and loses it when it does not come.
type addressTurns struct {
	parallel int
	usual    time.Duration // what a turn is taken to last before one has ended

	mu        sync.Mutex
	addresses lru.Cache[netip.Addr] // of hosts: by which they answered last, or are known
	byAddress map[netip.Addr]*addressTurn
	enough    int // addresses before the next look for those that can be forgotten
}

type addressTurn struct {
	inFlight  int
	began     time.Time     // the last of these
	notBefore time.Time     // it rests until then
	lasts     time.Duration // what the last turn took, with the pause behind it

	line    []ticket           // in turn; those that had theirs are still in it behind one that had not
	waiting map[string]promise // by host
	next    int                // the number of the next place
	passed  int                // places of which the host had its turn, or did not come
}

// ticket is a place in the line of an address.
type ticket struct {
	host   string
	number int
}

// promise is the place of a host that waits, and when it was told to come.
type promise struct {
	number int
	due    time.Time
}

const (
	minTurn    = 10 * time.Millisecond // what a turn lasts at least
	lateTurns  = 4                     // so many turns after its own a host has lost its place
	sharedTurn = "its address is asked for pages of other names (fetch.per_address)"
)

func newAddressTurns(o PolitenessOptions) *addressTurns {
	return &addressTurns{
		parallel: o.PerHost, usual: max(time.Duration(o.Delay), minTurn), addresses: lru.New[netip.Addr](maxHosts, nil), byAddress: make(map[netip.Addr]*addressTurn),
	}
}

// note notes the address of a host.
func (a *addressTurns) note(host string, addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addresses.Add(host, addr)
}

// of returns the address of a host, if that is noted.
func (a *addressTurns) of(host string) (netip.Addr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.addresses.Get(host)
}

// take returns the address if a host may ask it now; otherwise nil, and when that host's turn will come.
func (a *addressTurns) take(addr netip.Addr, host string, now time.Time) (*addressTurn, time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.byAddress[addr]
	if t == nil {
		a.makeRoom(now)
		t = &addressTurn{lasts: a.usual, waiting: make(map[string]promise)}
		a.byAddress[addr] = t
	}
	t.passBy(now)
	mine, waits := t.waiting[host]
	if !waits {
		mine.number = t.next
	}
	ahead := max(mine.number-t.passed, 0)
	if ahead <= a.parallel && t.inFlight < a.parallel && !now.Before(t.notBefore) {
		if waits {
			t.leave(host)
		}
		t.inFlight++
		t.began = now
		return t, time.Time{}
	}
	if !waits {
		t.next++
		t.line = append(t.line, ticket{host, mine.number})
	}
	mine.due = t.free(a.parallel, now).Add(time.Duration(ahead) * t.lasts)
	t.waiting[host] = mine
	return nil, mine.due
}

// passBy takes those off the front of the line that had their turn, or did not come to it. So who comes after them
// need not wait for them.
func (t *addressTurn) passBy(now time.Time) {
	for len(t.line) > 0 {
		first := t.line[0]
		mine, waits := t.waiting[first.host]
		switch waits = waits && mine.number == first.number; {
		case waits && now.Sub(mine.due) <= lateTurns*max(t.lasts, time.Second):
			return
		case waits:
			t.leave(first.host)
		}
		t.line = t.line[1:]
	}
}

// leave takes a host off those who wait.
func (t *addressTurn) leave(host string) {
	delete(t.waiting, host)
	t.passed++
}

// free returns when the address may probably be asked again: after now, if it may not be now.
func (t *addressTurn) free(parallel int, now time.Time) time.Time {
	if t.inFlight < parallel {
		return later(t.notBefore, now.Add(minTurn))
	}
	return later(t.began.Add(t.lasts), now.Add(max(t.lasts/4, minTurn)))
}

// end gives a turn back that took so long; the address rests for a pause.
func (a *addressTurns) end(t *addressTurn, now time.Time, took, pause time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.inFlight--
	t.lasts = max(took+pause, minTurn)
	t.notBefore = later(t.notBefore, now.Add(pause))
}

// makeRoom forgets addresses that nobody asks or waits for. It wants the lock.
func (a *addressTurns) makeRoom(now time.Time) {
	if len(a.byAddress) < max(maxHosts, a.enough) {
		return
	}
	for addr, t := range a.byAddress {
		if t.passBy(now); t.inFlight == 0 && now.After(t.notBefore) && len(t.waiting) == 0 {
			delete(a.byAddress, addr)
		}
	}
	a.enough = 2 * len(a.byAddress) // so that many that rest are not looked through for each that comes
}

// takeTurn takes the host's turn at its address, if names share those. The error tells when it comes; what cannot go
// back to the queue alone waits here.
func (x *exchange) takeTurn(ctx context.Context) error {
	if x.turns == nil {
		return nil
	}
	var known bool
	if x.address, known = x.turns.of(x.target.Host); !known {
		if x.address = x.client.Address(ctx, x.target); !x.address.IsValid() {
			return nil // the request will say so
		}
		x.turns.note(x.target.Host, x.address)
	}
	if !x.rests(x.address) || x.guard.Check(x.address) != nil {
		return nil
	}
	for {
		began := time.Now()
		turn, due := x.turns.take(x.address, x.target.Host, began)
		if turn != nil {
			x.turn, x.turnBegan = turn, began
			return nil
		}
		x.count("addresses_shared")
		if x.it.ComesAgainAlone() {
			return &restingError{due, sharedTurn}
		}
		if err := sleepOr(ctx, due.Sub(began), nil); err != nil {
			return err
		}
	}
}

// endTurn gives the turn back, if there is one. What the host asks for beyond the usual pause is for its name alone.
func (x *exchange) endTurn(report webrace.HostReport) {
	if x.turn == nil {
		return
	}
	now, pause := time.Now(), time.Duration(0)
	took := now.Sub(x.turnBegan)
	if !report.NotBefore.IsZero() { // it was asked
		pause = x.pause(x.address, took, 0)
	}
	x.turns.end(x.turn, now, took, pause)
	x.turn = nil
}
