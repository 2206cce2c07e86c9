package httpclient

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// A proxy that is dead is left, tried again when its wait is over, for twice as long after each time in vain, and used
// again when it can be connected to.
func TestProxiesThatAreDeadAreTriedAgain(t *testing.T) {
	t.Parallel()
	address := testutil.FreeAddress(t)
	guard, err := netguard.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := Config{Options: Defaults, ConnectTimeout: time.Minute, HeaderTimeout: time.Minute, Timeout: time.Minute, MaxHeader: 1 << 10}
	o.Proxies = []string{"http://" + address, "http://127.0.0.1:1"}
	c, err := New(o, guard, pipeline.NewEnv("p", "fetch", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ps := c.transports.proxies
	var mu sync.Mutex
	now := time.Now()
	ps.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	target := Target{Scheme: "http", Host: "a.example"}
	broken := &ProxyError{errors.New("broken"), true}

	for n := range proxyFailures {
		pass(time.Second)
		if again := ps.ended(&choice{ps.all[0], 0, ps.now()}, broken); !again {
			t.Fatalf("failure %d leaves no other proxy", n)
		}
		together := &choice{ps.all[0], 0, ps.now().Add(-time.Hour)}
		ps.ended(together, broken) // which began before the first ended
	}
	chosen := func() int {
		t.Helper()
		by, err := ps.of(target, 0)
		if err != nil {
			t.Fatal(err)
		}
		return by.number
	}
	wait := proxyWait
	for range 3 {
		if n := chosen(); n != 1 {
			t.Fatalf("proxy %d is chosen, which is dead", n)
		}
		pass(wait)
		chosen() // begins to try
		ps.trials.Wait()
		wait *= 2
		ps.mu.Lock()
		if k := ps.circuits[0]; !k.open || k.wait != wait || k.trying {
			t.Fatalf("after a trial in vain: %+v, want a wait of %v", k, wait)
		}
		ps.mu.Unlock()
	}
	dead, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	defer dead.Close()
	pass(wait)
	chosen()
	ps.trials.Wait()
	ps.ended(&choice{ps.all[1], 1, ps.now()}, broken)
	if by, err := ps.of(target, 1<<1); err != nil || by.number != 0 {
		t.Fatalf("the proxy that is back is not chosen: %v, %v", by, err)
	}
	if back := ps.env.Counter("proxies_back").Load(); back != 1 {
		t.Errorf("%d proxies are back", back)
	}
	pass(time.Second)
	ps.ended(&choice{ps.all[0], 0, ps.now()}, broken)
	if !ps.circuits[0].open || ps.circuits[0].wait != 2*wait {
		t.Errorf("after its next failure: %+v", ps.circuits[0])
	}
	ps.ended(&choice{ps.all[0], 0, ps.now()}, nil)
	if k := ps.circuits[0]; k.failures != 0 || k.wait != 0 {
		t.Errorf("after a success: %+v", k)
	}
	ps.tried(0, broken) // it came while the proxy was tried
	if k := ps.circuits[0]; !k.until.After(ps.now()) {
		t.Errorf("after a trial in vain behind a success: %+v", k)
	}
}
