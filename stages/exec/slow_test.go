package exec

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

var (
	itemTakes = flag.Duration("slow.item", 100*time.Millisecond, "what each of the 40 items of TestSlow takes")
	itemLimit = flag.Duration("slow.limit", 3*time.Second, "how long an item of TestSlow may take")
)

// slowly takes its time over each text, and counts that it has done so.
const slowly = `
import time
from webrace_stage import stage

@stage(takes="text", gives="text", options={"takes_s": 1.0})
def slowly(item, options):
    time.sleep(options.takes_s)
    slowly.count("done " + item.body.decode())
    yield item.keep()

slowly.run()
`

// TestSlow has a program in Python work, one after the other, on 40 items that take longer together than one may, as
// items of 2.5 s do under a limit of 3 s (-slow.item 2500ms -slow.limit 3s). Each is done, and done once.
func TestSlow(t *testing.T) {
	t.Parallel()
	o := python(t, slowly)
	o.Takes, o.Gives = []string{"text"}, []Output{{Kind: "text"}}
	o.Options, o.Timeout = pipeline.Table{"takes_s": itemTakes.Seconds()}, pipeline.Duration(*itemLimit)
	s := opened(t, o)
	texts, want := numbered(40), make(map[string]int64)
	for _, text := range texts {
		want["done "+text] = 1
	}
	if out := passed(t, s, texts...); !slices.Equal(sorted(out), sorted(texts)) {
		t.Errorf("of 40 items these came through: %q", sorted(out))
	}
	done := s.env.Counters()
	delete(done, "stderr_lines_left_out")
	if !maps.Equal(done, want) {
		t.Errorf("it counts %v", done)
	}
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("item ", i)
	}
	return texts
}

// TestSlowOrDyingProgramsCostNoItemThatIsGood has programs die at items that are not to blame for it, and be too slow
// for the time of one item because they begin with another. None of the items fails, but for those that are fatal by
// themselves.
func TestSlowOrDyingProgramsCostNoItemThatIsGood(t *testing.T) {
	for mode, each := range map[string]int{"dies at its tenth": 10, "dies at each tenth of all": 10, "dies at its second": 2, "works on the newest first": 40} {
		for _, c := range []struct{ processes, inFlight int }{{1, 1}, {1, 8}, {1, 32}, {3, 1}, {3, 8}} {
			if mode == "dies at each tenth of all" && c.processes > 1 {
				continue // by chance an item may be the tenth each time that it is repeated
			}
			t.Run(fmt.Sprintf("%s, %d processes, %d in flight", mode, c.processes, c.inFlight), func(t *testing.T) {
				t.Parallel()
				s := opened(t, options(mode, func(o *Options) {
					quick(o)
					if mode == "works on the newest first" { // as long as all take: the time of the oldest ends while it is the last
						o.Timeout = pipeline.Duration(2 * time.Second)
					}
					o.Processes, o.InFlight = c.processes, c.inFlight
					o.Env["COUNT"] = pipeline.NewSecret(filepath.Join(t.TempDir(), "count"))
				}))
				texts := numbered(min(40, 8*each))
				if out := passed(t, s, texts...); !slices.Equal(sorted(out), sorted(texts)) {
					t.Errorf("of %d items these came through: %q", len(texts), sorted(out))
				}
				if n := int(s.env.Counters()["restarts"]); n < len(texts)/each/c.processes-1 {
					t.Errorf("the program has died %d times only", n)
				}
				if err := s.Process(t.Context(), &pipeline.Item{Value: "crash"}, nowhere{}); err == nil {
					t.Error("an item that is fatal by itself has not failed")
				}
			})
		}
	}
}

// TestSlowOrFatalItemsHoldUpNoOtherProcess has one process hold an item until all others have come through, and
// another die of one, which is repeated there: the third goes on.
func TestSlowOrFatalItemsHoldUpNoOtherProcess(t *testing.T) {
	t.Parallel()
	const others = 60
	s := opened(t, options("work", func(o *Options) {
		o.On, o.InFlight = []string{"env PLACE=a", "env PLACE=b", "env PLACE=c"}, 1
	}))
	told := filepath.Join(t.TempDir(), "told")
	out, failed := gathered{make(chan string, others+1)}, make(chan error, others+2)
	process := func(text string) { failed <- s.Process(t.Context(), &pipeline.Item{Value: text}, out) }
	go process("hold " + told)
	go process("crash")
	for _, text := range numbered(others) {
		go process(text)
	}
	var failures []error
	for range others + 1 { // all but the one that is held
		if err := <-failed; err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) != 1 || !strings.Contains(failures[0].Error(), "segmentation fault") {
		t.Errorf("failures %v", failures)
	}
	var died []string
	for name := range s.env.Counters() {
		if strings.HasPrefix(name, "restarts on ") {
			died = append(died, name)
		}
	}
	if len(died) != 1 {
		t.Errorf("an item that is fatal has taken more processes with it than its own: %q", died)
	}
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Errorf("the item that was held: %v", err)
	}
}
