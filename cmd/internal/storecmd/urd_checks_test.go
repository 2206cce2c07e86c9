package storecmd

import (
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/cron"
)

// A crawl is due as the first of its URDs asks, and those that name the same times are one for it.
func TestACrawlIsDueByItsFirstURD(t *testing.T) {
	t.Parallel()
	k := &checks{asked: map[string][]asker{}, times: map[string]*cron.Expression{}, due: map[string]time.Time{}}
	at := func(hour int) time.Time { return time.Date(2026, 11, 23, hour, 0, 0, 0, time.UTC) }
	for i, line := range []string{"0 12 * * *", "0 8 * * *", "0 12 * * *", "0 8 * * *"} {
		urd := control.URD{URD: &xmlschema.URD{At: line}}
		urd.Crawl.ID = "c"
		k.ask(urd, at(10-i)) // times count from 10, 9, 8 and 7 o'clock on: only the last makes it due at 8
	}
	if n := len(k.asked["c"]); n != 2 {
		t.Errorf("the crawl is asked for in %d ways, want 2", n)
	}
	if due := k.next("c", frontier.CrawlStatus{}, k.options); !due.Equal(at(8)) {
		t.Errorf("it is due at %v, want %v", due, at(8))
	}
}
