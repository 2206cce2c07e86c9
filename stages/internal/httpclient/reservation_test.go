package httpclient

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func TestTimeStandsWhileARequestWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gaveUp, slow atomic.Bool
		all := paces{options: PaceOptions{MinRate: 500, MinRateAfter: pipeline.Duration(10 * time.Second)}}
		w := newStopwatch(20*time.Second, func() { gaveUp.Store(true) })
		w.pace = all.watch(io.NopCloser(strings.NewReader("")), func() { slow.Store(true) })
		time.Sleep(5 * time.Second)
		if err := w.during(func() error { time.Sleep(time.Hour); return nil }); err != nil || gaveUp.Load() || slow.Load() {
			t.Fatalf("%v; given up: %v, as too slow: %v", err, gaveUp.Load(), slow.Load())
		}
		time.Sleep(4 * time.Second)
		if gaveUp.Load() || slow.Load() {
			t.Error("given up after 9 s of its time")
		}
		time.Sleep(3 * time.Second)
		if gaveUp.Load() || !slow.Load() {
			t.Error("not given up as too slow after 12 s of its time")
		}
		time.Sleep(10 * time.Second)
		if !gaveUp.Load() {
			t.Error("not given up after 22 s of its time")
		}
		w.pace.stop()
		w.stop()
	})
}
