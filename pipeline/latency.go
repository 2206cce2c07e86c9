package pipeline

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// buckets is how many a histogram has: one for each quarter of each power of two nanoseconds.
const buckets = 64 * 4

// histogram counts durations in buckets of a power of two nanoseconds, each cut in four, so that a
// quantile is off by at most an eighth.
type histogram [buckets]atomic.Int64

func (h *histogram) add(d time.Duration) { h[bucketOf(max(d, 0))].Add(1) }

// addAll adds what another has counted.
func (h *histogram) addAll(other *histogram) {
	for i := range h {
		h[i].Add(other[i].Load())
	}
}

func (h *histogram) read() *Latency {
	l := new(Latency)
	for i := range h {
		l.counts[i] = h[i].Load()
		l.total += l.counts[i]
	}
	return l
}

func bucketOf(d time.Duration) int {
	n := uint64(d)
	if n < 4 {
		return int(n)
	}
	exponent := bits.Len64(n) - 1
	return exponent*4 + int(n>>(exponent-2)&3)
}

// middle returns the middle of a bucket.
func middle(bucket int) time.Duration {
	if bucket < 4 {
		return time.Duration(bucket)
	}
	exponent, quarter := bucket/4, bucket%4
	width := uint64(1) << (exponent - 2)
	return time.Duration(uint64(4+quarter)*width + width/2)
}

// Latency says how long the calls of a stage took, up to the moment of a [Run.Snapshot]. Where calls take
// less than 5 µs, one in 32 is counted.
type Latency struct {
	counts [buckets]int64
	total  int64
}

// Count returns how many calls are counted.
func (l *Latency) Count() int64 { return l.total }

// Below returns how many calls took less than d. It is exact where d is a power of two nanoseconds, and
// counts none of the bucket that d is in otherwise.
func (l *Latency) Below(d time.Duration) (n int64) {
	for _, count := range l.counts[:bucketOf(max(d, 0))] {
		n += count
	}
	return n
}

// Sum returns how long all calls took together, off by at most an eighth.
func (l *Latency) Sum() (sum time.Duration) {
	for i, count := range l.counts {
		if count > 0 {
			sum += time.Duration(count) * middle(i)
		}
	}
	return sum
}

// Quantile returns the duration that a share q of the calls did not exceed, off by at most an eighth; 0 if
// there were none.
func (l *Latency) Quantile(q float64) time.Duration {
	rank := int64(q * float64(l.total))
	for i, count := range l.counts {
		if rank -= count; rank < 0 {
			return middle(i)
		}
	}
	return 0
}
