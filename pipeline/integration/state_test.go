package integration

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
)

const rememberedNumbers = 3000

// remembers runs a pipeline whose source remembers how far it has come, and whose processor what it has counted, and
// prints each number whose item has ended.
func remembers(dir string) error {
	data, err := storage.Open(dir, storage.Options{})
	if err != nil {
		return err
	}
	defer data.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return data.States() })
	g := pipeline.NewGraph("remembers")
	anything := pipeline.Kinds(pipeline.KindOf[any]())
	ports := []pipeline.Port{{Kind: pipeline.KindOf[int]()}}
	g.AddStage("numbers", pipeline.Spec{Type: "numbers", Out: ports}, func(env *pipeline.Env) (any, error) {
		position, err := env.State("position")
		return fromPosition{position}, err
	})
	g.AddStage("sums", pipeline.Spec{Type: "sums", In: anything, Out: ports}, func(env *pipeline.Env) (any, error) {
		sums, err := env.State("sums")
		return summing{sums}, err
	}).Common.Workers = 4
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: anything}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(ctx context.Context, v any) (any, error) {
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) // so that items end in another order
			return v, nil
		}), nil
	}).Common.Workers = 8
	g.Wire("numbers > sums > sink")
	_, err = g.Run(context.Background(), pipeline.RunOptions{Resources: resources})
	return err
}

type fromPosition struct{ position *pipeline.State }

func (s fromPosition) Run(ctx context.Context, out pipeline.Emitter) error {
	at, err := s.position.Get("at")
	if err != nil {
		return err
	}
	for n := numberIn(at) + 1; n <= rememberedNumbers; n++ {
		it := pipeline.NewItem(n, func(o pipeline.Outcome) {
			if o.Err == nil {
				fmt.Println(n)
			}
		})
		if err := s.position.Put(it, "at", strconv.AppendInt(nil, int64(n), 10)); err != nil {
			return err
		}
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

type summing struct{ sums *pipeline.State }

func (s summing) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	n := it.Value.(int)
	for key, add := range map[string]int{"sum": n, fmt.Sprint("of ", n%7): 1} {
		err := s.sums.Update(it, key, func(sum []byte) ([]byte, error) {
			return strconv.AppendInt(nil, int64(numberIn(sum)+add), 10), nil
		})
		if err != nil {
			return err
		}
	}
	return out.Emit(ctx, it)
}

// numberIn is 0 where there is none.
func numberIn(value []byte) int {
	n, _ := strconv.Atoi(string(value))
	return n
}

// TestStateAfterKillIsThatOfTheItemsThatHaveEnded kills a process that remembers, at random, and looks at what it has
// left: the sums of the numbers up to its position, and of no others, and no number beyond that which had ended.
func TestStateAfterKillIsThatOfTheItemsThatHaveEnded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	kills, last := 0, 0
	for over := false; !over; kills++ {
		ended := make(map[int]bool)
		over = killedAfter(t, dir, 50+rand.IntN(500), ended)
		position := mustRemember(t, dir)
		for n := range ended {
			if n > position {
				t.Errorf("the item of %d had ended, and what is remembered ends with %d", n, position)
			}
		}
		if position < last {
			t.Errorf("what is remembered goes back from %d to %d", last, position)
		}
		last = position
	}
	if last != rememberedNumbers || kills < 3 {
		t.Errorf("at the end, after %d kills, it has come to %d of %d", kills, last, rememberedNumbers)
	}
}

// killedAfter kills the process when so many items have ended, which it notes, and reports whether it ended by itself.
func killedAfter(t *testing.T, dir string, items int, ended map[int]bool) (over bool) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "WEBRACE_TEST_STATE="+dir)
	c.Stderr = os.Stderr
	said, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			continue // cut off by the kill
		}
		if ended[n] = true; len(ended) == items {
			_ = c.Process.Kill()
		}
	}
	return c.Wait() == nil
}

// mustRemember checks the data directory, and returns the position to which its sums fit.
func mustRemember(t *testing.T, dir string) (position int) {
	t.Helper()
	data, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if err := data.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	states, err := data.States()
	if err != nil {
		t.Fatal(err)
	}
	get := func(state, key string) int {
		value, err := states.Get("remembers/"+state, key)
		if err != nil {
			t.Fatal(err)
		}
		return numberIn(value)
	}
	position = get("numbers/position", "at")
	if sum := get("sums/sums", "sum"); sum != position*(position+1)/2 {
		t.Errorf("at position %d the sum is %d", position, sum)
	}
	for rest := range 7 {
		want := 0
		for n := 1; n <= position; n++ {
			if n%7 == rest {
				want++
			}
		}
		if got := get("sums/sums", fmt.Sprint("of ", rest)); got != want {
			t.Errorf("at position %d it has counted %d numbers of rest %d, not %d", position, got, rest, want)
		}
	}
	return position
}
