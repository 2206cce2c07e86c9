package quickstart

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// Once garbage has been collected, it is as often as without this package, or as the environment says.
func TestTheUsualComesBack(t *testing.T) {
	if want := os.Getenv("WEBRACE_TEST_PERCENT"); want != "" {
		becomes(t, want)
		return
	}
	for gogc, want := range map[string]string{"": "100", "50": "50", "400": "400", "900": "900", "off": "-1"} {
		c := exec.Command(os.Args[0], "-test.run=^TestTheUsualComesBack$")
		c.Env = append(os.Environ(), "GOGC="+gogc, "WEBRACE_TEST_PERCENT="+want)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("GOGC=%s: %v\n%s", gogc, err, out)
		}
	}
}

// becomes waits until the percentage is one.
func becomes(t *testing.T, want string) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // a cleanup runs after the collection
		runtime.GC()
		now := debug.SetGCPercent(first)
		debug.SetGCPercent(now)
		if strconv.Itoa(now) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is %d, want %s", now, want)
		}
	}
}
