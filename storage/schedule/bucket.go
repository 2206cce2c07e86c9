package schedule

import (
	"math"
	"time"
)

// parts are those of a request: what an owner with a quota of one request a day earns in a microsecond. So
// balances are exact.
const parts = int64(24 * time.Hour / time.Microsecond)

// mostQuota and mostDebt are requests: more cannot be counted, and is not told apart from no limit.
const mostQuota, mostDebt = 10_000_000, 90_000_000

// bucket is what an owner may still spend. It fills by a quota in 24 hours, and holds no more than that.
// It may be overdrawn; debts are paid back. A bucket without a quota is never empty.
type bucket struct {
	quota   int64 // requests a day; 0 is no limit
	balance int64 // in parts
	at      int64 // when that was, in microseconds
}

func (b *bucket) limited() bool { return b.quota > 0 }

// fill adds what was earned since.
func (b *bucket) fill(now int64) {
	if !b.limited() || now <= b.at {
		return
	}
	if missing := b.quota*parts - b.balance; now-b.at >= missing/b.quota {
		b.balance += missing
	} else {
		b.balance += b.quota * (now - b.at)
	}
	b.at = now
}

func (b *bucket) solvent(now int64) bool {
	b.fill(now)
	return !b.limited() || b.balance > 0
}

// recovers is when the bucket of an owner who is not solvent has something in it again.
func (b *bucket) recovers() int64 { return b.at + (-b.balance+b.quota)/b.quota }

func (b *bucket) spend(amount, now int64) {
	if !b.limited() {
		return
	}
	b.fill(now)
	b.balance = max(b.balance-amount, -mostDebt*parts)
	b.balance = min(b.balance, b.quota*parts)
}

// set changes the quota. What was spent of the old one stays spent.
func (b *bucket) set(quota int, now int64) {
	b.fill(now)
	next := min(int64(max(quota, 0)), mostQuota)
	if !b.limited() {
		b.balance, b.at = next*parts, now
	} else {
		b.balance += (next - b.quota) * parts
	}
	b.quota = next
}

func inParts(requests float64) int64 {
	return int64(max(-mostDebt, min(requests, mostDebt)) * float64(parts))
}

// Left returns how much of a quota is left to an owner who used so much on the last days, the present one
// last, which has begun so long ago. It errs, by less than a day's quota, to the side of too little, as it
// does not know when on a day they did.
func Left(quota int, used []float64, begun time.Duration) float64 {
	left := float64(quota)
	for i, u := range used {
		share := 1.0
		if i == len(used)-1 {
			share = math.Min(float64(begun)/float64(24*time.Hour), 1)
		}
		left = math.Min(left+float64(quota)*share, float64(quota)) - u
	}
	return left
}
