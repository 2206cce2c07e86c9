//go:build unix

package control_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// crowdURD makes the nth of many URDs of one start, each of an owner of its own, with up to five rare keywords.
func crowdURD(n int) *xmlschema.URD {
	u := xmlschema.NewURD(fmt.Sprint("owner", n), "http://www.example/")
	u.ID, u.Depth, u.Change = fmt.Sprint("w", n), 5-n/2%5, []string{xmlschema.ChangeAdded, xmlschema.ChangePage}[n%2]
	for k := range 2 + n%4 {
		u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: fmt.Sprintf("%x", uint32(n*5+k)*0x9e3779b9), Weight: 1 + (n+k)%5})
	}
	u.Keywords.Match, u.Keywords.Threshold = xmlschema.MatchAny, xmlschema.DefaultThreshold
	return u
}

// BenchmarkPut stores URDs beside those that are there, and then the same again: the CPU time of each.
func BenchmarkPut(b *testing.B) {
	s, _ := largeStore(b)
	next, err := s.Revision(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for name, make := range map[string]func(n int) *xmlschema.URD{"a start each": benchURD, "one start": crowdURD} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/again=%v", name, again), func(b *testing.B) {
				b.ReportAllocs()
				urds, put, taken := []*xmlschema.URD{}, 0, time.Duration(0)
				for b.Loop() {
					for first := next; len(urds) < 1000; next++ {
						urds = append(urds, make(int(first)+len(urds)))
					}
					began := cpu()
					if _, err := s.Put(b.Context(), urds); err != nil {
						b.Fatal(err)
					}
					taken += cpu() - began
					if put += len(urds); !again {
						urds = urds[:0]
					}
				}
				b.ReportMetric(float64(taken.Microseconds())/float64(put), "cpu-µs/URD")
			})
		}
	}
}

// cpu is the CPU time that this process has used so far.
func cpu() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
