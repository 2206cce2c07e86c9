package match

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func everyone(x *Index, blocks ...string) (ids []string) {
	return alerted(x.View(), blocks...)
}

func alerted(v *View, blocks ...string) (ids []string) {
	for a := range v.Match(textOf(blocks...), Options{Everyone: true}) {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestChangesAreVisibleWhenTheyReturn(t *testing.T) {
	t.Parallel()
	var x Index
	if got := everyone(&x, "java"); got != nil || x.Len() != 0 || x.Profile("a") != nil {
		t.Errorf("an empty index knows %q", got)
	}
	x.Remove("a")
	x.Add(compile(t, Profile{ID: "a", Group: keys(Any, "java")}), compile(t, Profile{ID: "b", Group: keys(Any, "java", "ibm")}))
	if got := everyone(&x, "java"); !slices.Equal(got, []string{"a", "b"}) || x.Len() != 2 {
		t.Errorf("after adding a and b: %q", got)
	}
	x.Add(compile(t, Profile{ID: "a", Group: keys(Any, "xml")}))
	if got := everyone(&x, "java"); !slices.Equal(got, []string{"b"}) || x.Len() != 2 {
		t.Errorf("after replacing a: %q", got)
	}
	if got := everyone(&x, "xml ibm"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("after replacing a: %q", got)
	}
	x.Remove("b", "c", "b")
	if got := everyone(&x, "java xml ibm"); !slices.Equal(got, []string{"a"}) || x.Len() != 1 || x.Profile("b") != nil {
		t.Errorf("after removing b: %q", got)
	}
	x.Remove("a")
	x.Settle()
	if v := x.View(); x.Len() != 0 || v.names.Len() != 0 || len(v.segments) > 1 || len(everyone(&x, "java xml ibm")) != 0 {
		t.Errorf("an emptied index keeps %+v", v)
	}
}

func TestAViewStaysAsItWas(t *testing.T) {
	t.Parallel()
	var x Index
	for i := range 3 {
		x.Add(compile(t, Profile{ID: idOf(i), Group: keys(Any, "java")}))
	}
	x.Remove(idOf(0))
	before := x.View()
	x.Add(compile(t, Profile{ID: idOf(3), Group: keys(Any, "java")}), compile(t, Profile{ID: idOf(4), Group: keys(Any, "java")}))
	x.Remove(idOf(1))
	if got := alerted(before, "java"); !slices.Equal(got, []string{idOf(1), idOf(2)}) || before.Len() != 2 {
		t.Errorf("the view has %q", got)
	}
	if got := everyone(&x, "java"); !slices.Equal(got, []string{idOf(2), idOf(3), idOf(4)}) {
		t.Errorf("the index has %q", got)
	}
}

func TestOfProfilesWithOneIDTheLastIsAdded(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add(compile(t, Profile{ID: "a", Group: keys(Any, "java")}), compile(t, Profile{ID: "b", Group: keys(Any, "java")}), compile(t, Profile{ID: "a", Group: keys(Any, "ibm")}))
	if got := everyone(&x, "java"); !slices.Equal(got, []string{"b"}) || x.Len() != 2 {
		t.Errorf("%q of %d", got, x.Len())
	}
	if got := everyone(&x, "ibm"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q", got)
	}
}

// TestAnyHistoryLeavesTheSameIndex changes an index at random and compares it with a new one that holds
// what should be left.
func TestAnyHistoryLeavesTheSameIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"java", "ibm", "xml", "comput*", "near:3 big blue", "C++", "title:news"}
	page := []string{"title: news", "computers by the big blue ibm, C++ in them"}
	var x Index
	left := map[string]*Compiled{}
	for range orInShort(8000, 1500) {
		id := fmt.Sprint(random.IntN(700))
		if random.IntN(3) == 0 {
			x.Remove(id)
			delete(left, id)
			continue
		}
		g := keys(Mode(random.IntN(2)), words[random.IntN(len(words))], words[random.IntN(len(words))])
		g.Keywords[0].Substring = random.IntN(4) == 0
		c, _, err := Compile(Profile{ID: id, Group: g})
		if err != nil {
			continue // C++ is too short to be looked for inside words
		}
		x.Add(c)
		left[id] = c
		if random.IntN(60) > 0 {
			continue
		}
		var fresh Index
		fresh.Add(slices.Collect(maps.Values(left))...)
		if got, want := everyone(&x, page...), everyone(&fresh, page...); !slices.Equal(got, want) || x.Len() != fresh.Len() {
			t.Fatalf("%d profiles, alerts %q; want %d, %q", x.Len(), got, fresh.Len(), want)
		}
	}
}

// TestAMatchSeesOneState replaces a set of profiles as a whole, again and again, while others match: they
// must find one set or the other, never a mixture, and what stays is never missed.
func TestAMatchSeesOneState(t *testing.T) {
	t.Parallel()
	const size = 20
	set := func(word string) (all []*Compiled) {
		for i := range size {
			all = append(all, compile(t, Profile{ID: fmt.Sprint(i), Group: keys(Any, word)}))
		}
		return all
	}
	sets := [][]*Compiled{set("java"), set("ibm"), set("comput*")}
	var x Index
	x.Add(compile(t, Profile{ID: "stays", Group: keys(Any, "xml")}))
	x.Add(sets[0]...)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				if got := everyone(&x, "java ibm xml computers"); len(got) != size+1 {
					t.Errorf("a match sees %d profiles, want %d", len(got), size+1)
					return
				}
				if got := everyone(&x, "java xml"); len(got) != size+1 && len(got) != 1 {
					t.Errorf("a match sees %d profiles, want all or none", len(got))
					return
				}
			}
		})
	}
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range 300 {
				x.Add(sets[(i+w)%len(sets)]...)
				x.Add(compile(t, Profile{ID: "passes", Group: keys(Any, "other")}))
				x.Remove("passes")
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
