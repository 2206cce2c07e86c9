package exec

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// keyed writes the key of each item that it is given into a file, dies at each tenth the first time that it comes, and
// gives the key.
const keyed = `
import os
from webrace_stage import key_of, new, stage

@stage(takes="record", gives="text", options={"log": ""})
def keyed(item, options):
    died = os.path.join(options.log, str(item.n))
    if item.n % 10 == 9 and not os.path.exists(died):
        open(died, "w").close()
        os._exit(1)
    yield new("text", body=" ".join([str(item.n), item.key, key_of(item)]))

keyed.run()
`

// TestExactKeys: a program is given the key that a stage in Go has by KeyOf, of equal items too, when the item is
// repeated because its process died, and when it comes from its source once more. A field of that name is another
// thing.
func TestExactKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("another program computes: not in short mode")
	}
	t.Parallel()
	o := python(t, keyed)
	o.Takes, o.Gives, o.Options = []string{"record"}, []Output{{Kind: "text"}}, pipeline.Table{"log": filepath.ToSlash(t.TempDir())}
	s := opened(t, o)
	want, got := make(map[string]bool), gathered{make(chan string, 200)}
	for range 2 { // runs of the source
		var items sync.WaitGroup
		for n := range 100 {
			it := pipeline.NewItem(map[string]any{"n": int64(n % 50), "key": "of the record"}, nil).From("a file", uint64(n))
			items.Go(func() {
				if err := s.Process(t.Context(), it, got); err != nil {
					t.Error(err)
				}
			})
			want[fmt.Sprint(n%50, " of the record ", pipeline.KeyOf(it))] = true
		}
		items.Wait()
	}
	close(got.texts)
	came := 0
	for text := range got.texts {
		if came++; !want[text] {
			t.Errorf("%q, and no item is that", text)
		}
	}
	if len(want) != 100 || came != 200 || s.env.Counters()["repeated"] == 0 {
		t.Errorf("%d keys, %d items, %v", len(want), came, s.env.Counters())
	}
}

// TestExactKeysOfServedStages: a stage that another process serves has the key of the item by KeyOf.
func TestExactKeysOfServedStages(t *testing.T) {
	t.Parallel()
	key := pipeline.KeyOf(pipeline.NewItem("key", nil).From("a file", 7))
	item := string(appendItem(nil, 1, "text", []byte(`{}`), []byte(`{"key":"meta"}`), key))
	answers, err := served(t, greetingOfTests, item, "key")
	if all := strings.Join(answers, "|"); err != nil || !strings.Contains(all, `"body":true}`+key+"|") {
		t.Errorf("%v: %s, want %s", err, all, key)
	}
}
