package httpclient

import (
	"testing"
	"time"
)

func TestWarningsAreGivenOnce(t *testing.T) {
	t.Parallel()
	o := NewWarnOnce()
	if !o.First("a") || o.First("a") || !o.First("b") {
		t.Error("not once each")
	}
	for i := range 3 * maxHosts {
		o.First(time.Duration(i).String())
		if o.seen.Len() > maxHosts {
			t.Fatalf("%d remembered", o.seen.Len())
		}
	}
}
