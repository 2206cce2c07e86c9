package exec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// script writes a shell script, and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// passed returns what the stage makes of texts, several at a time.
func passed(t *testing.T, s *stage, texts ...string) (out []string) {
	t.Helper()
	got := gathered{make(chan string, len(texts))}
	var items sync.WaitGroup
	for _, text := range texts {
		items.Go(func() {
			if err := s.Process(t.Context(), &pipeline.Item{Value: text}, got); err != nil {
				t.Error(err)
			}
		})
	}
	items.Wait()
	close(got.texts)
	for text := range got.texts {
		out = append(out, text)
	}
	return out
}

func askWhere(t *testing.T, s *stage, items int) map[string]int {
	t.Helper()
	texts := make([]string, items)
	for i := range texts {
		texts[i] = "say place"
	}
	of := make(map[string]int)
	for _, text := range passed(t, s, texts...) {
		of[text]++
	}
	return of
}

// TestPlacesShareTheLoad has two places at work. One of them dies, and cannot be started for a while: the other does
// all the work meanwhile, that which the first had included, and nothing fails.
func TestPlacesShareTheLoad(t *testing.T) {
	t.Parallel()
	down := filepath.Join(t.TempDir(), "down")
	b := script(t, "b", `test -e `+down+` && { echo "no route to b" >&2; exit 1; }; PLACE=b exec "$@"`)
	s := opened(t, options("work", func(o *Options) { o.On, o.InFlight = []string{"env PLACE=a", b}, 2 }))
	if of := askWhere(t, s, 20); of[`["a"]`] == 0 || of[`["b"]`] == 0 || of[`["a"]`]+of[`["b"]`] != 20 {
		t.Errorf("the work is shared as %v", of)
	}
	if err := os.WriteFile(down, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fatal := make([]string, 20)
	for i := range fatal {
		fatal[i] = "die b"
	}
	if out := passed(t, s, fatal...); len(out) != 20 {
		t.Errorf("%d of 20 items that are fatal at b came through", len(out))
	}
	for tries := 0; s.env.Counters()["restarts on "+b] < 3; tries++ { // each of them fails
		if of := askWhere(t, s, 4); of[`["a"]`] != 4 {
			t.Fatalf("while b is down, the work is shared as %v", of)
		}
	}
	if err := os.Remove(down); err != nil {
		t.Fatal(err)
	}
	for askWhere(t, s, 4)[`["b"]`] == 0 { // its next start is under way
	}
	if n := s.env.Counters()["restarts on env PLACE=a"]; n != 0 {
		t.Errorf("a was restarted %d times", n)
	}
}

func TestAnItemFailsOnlyIfNoPlaceWorks(t *testing.T) {
	t.Parallel()
	down := filepath.Join(t.TempDir(), "down")
	var on []string
	for _, name := range []string{"a", "b"} {
		on = append(on, script(t, name, `test -e `+down+` && { echo "no route to `+name+`" >&2; exit 1; }; PLACE=x exec "$@"`))
	}
	s := opened(t, options("work", func(o *Options) { o.On, o.InFlight = on, 1 }))
	if err := os.WriteFile(down, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Process(t.Context(), &pipeline.Item{Value: "die x"}, nowhere{}); err == nil { // at both, one after the other
		t.Error("an item that is fatal at each place has not failed")
	}
	err := s.Process(t.Context(), &pipeline.Item{Value: "harmless"}, nowhere{})
	for _, want := range []string{on[0], on[1], "no route to a", "no route to b"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

// TestOfSeveralPlacesOneMayBeDownAtTheStart holds that a run begins without a place that cannot be reached, but that a
// check finds it.
func TestOfSeveralPlacesOneMayBeDownAtTheStart(t *testing.T) {
	t.Parallel()
	down := script(t, "down", `echo "no route to host" >&2; exit 255`)
	s := opened(t, options("work", func(o *Options) { o.On = []string{"", down} }))
	if out := passed(t, s, "a", "b", "c"); len(out) != 3 {
		t.Errorf("%q came through", out)
	}
	check := options("work", func(o *Options) { o.On = []string{"", down} })
	impl, err := newStage(check, pipeline.NewEnv("p", "shout", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer impl.(*stage).Close()
	if err := impl.(*stage).Check(t.Context()); err == nil || !strings.HasPrefix(err.Error(), down+" ") || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("a check finds %v", err)
	}
	mustNotOpen(t, options("work", func(o *Options) { o.On = []string{down, down + " too"} }), down+" too")
	mustNotOpen(t, options("work", func(o *Options) { o.On = []string{"", "no-such-prefix"} }), `on: no-such-prefix`)
	mustNotOpen(t, options("drift", func(o *Options) { o.On = []string{"", "env X=1"} }), `set takes = ["aci"]`)
}

// TestSSHGivesTheWordsOfTheCommandAsTheyAre has a program in the place of ssh that does with its arguments what ssh
// does.
func TestSSHGivesTheWordsOfTheCommandAsTheyAre(t *testing.T) {
	t.Parallel()
	ssh := script(t, "ssh", `shift; exec /bin/sh -c "$*"`)
	words := []string{"two words", "it's", `$HOME "and" \n`, "*", "", "--set", "a=[1, 2]", "é"}
	o := options("work", func(o *Options) { o.Command, o.On = append(o.Command, words...), []string{ssh + " node2"} })
	if got, want := passed(t, opened(t, o), "say arguments")[0], string(jsonOf(t, words)); got != want {
		t.Errorf("the program has the arguments\n%s, not\n%s", got, want)
	}
}

func TestAPlaceStandsOnce(t *testing.T) {
	t.Parallel()
	for _, on := range [][]string{{"", " "}, {"ssh  b", "ssh a", "ssh b"}} {
		if err := options("work", func(o *Options) { o.On = on }).Validate(); err == nil || !strings.Contains(err.Error(), "stands twice") {
			t.Errorf("%q: %v", on, err)
		}
	}
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
