//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

var registered = regexp.MustCompile(`So far \[−(\d+)\] *«(\d+)»`)

// TestKilledWhileAModelIsAsked kills a crawl with SIGKILL, at random moments after it has begun to ask a model of what
// is new. In the end each alert that is answered yes was told once, with the answer to its own question, and none that
// is answered no; and no question was answered again, but for those that were under way at a kill.
func TestKilledWhileAModelIsAsked(t *testing.T) {
	t.Parallel()
	w, j, rng := newWorld(t), newJudge(t), rand.New(rand.NewPCG(6, uint64(*kills)))
	var left atomic.Int64
	reached := make(chan struct{}, 1)
	j.verdict = func(of string) string {
		if left.Add(-1) == 0 {
			reached <- struct{}{}
		}
		time.Sleep(5 * time.Millisecond) // some questions are under way when it is killed
		m := registered.FindStringSubmatch(of)
		if m == nil {
			return `{"reason":"at first","answer":"no"}`
		}
		return fmt.Sprintf(`{"reason":"now %s","answer":%q}`, m[2], map[bool]string{true: "yes", false: "no"}[isTold(m[2])])
	}
	run := asksModel(t, j.URL)
	urds := these(w.asks("ann", "/", depth(2), withQuestion("Do more register?")))
	w.calls(1)
	w.run(urds, run...)
	mustBe(t, "told at first", w.news())
	first, killed := j.count(), 0
	w.calls(2)
	for ended := false; !ended; {
		left.Store(1 + rng.Int64N(6))
		p := w.start(urds, run...)
		stop := make(chan struct{})
		go func() {
			select {
			case <-reached:
				_ = p.Process.Kill() // which may have ended meanwhile
			case <-stop:
			}
		}()
		if p.isKilled() {
			killed++
		} else {
			ended = true
		}
		close(stop)
		select { // of a run that ended meanwhile
		case <-reached:
		default:
		}
	}
	var told, want []string
	for _, a := range w.acis() {
		told = append(told, strings.TrimPrefix(a.URI, w.URL)+": "+a.Judgement.Answer+", "+a.Judgement.Reason)
	}
	for i := range calls {
		if n := fmt.Sprint(10*i + 2); isTold(n) {
			want = append(want, fmt.Sprintf("/call/%d: %s, now %s", i, xmlschema.AnswerYes, n))
		}
	}
	slices.Sort(told)
	slices.Sort(want)
	mustBe(t, "told", told, want...)
	again := j.count() - first - calls
	if again < 0 || again > killed*askingWorkers {
		t.Errorf("%d questions were asked again, more than were under way at %d kills", again, killed)
	}
	t.Logf("%d kills, %d told of %d; %d questions asked again", killed, len(told), calls, again)
	if killed == 0 {
		t.Error("it was never killed")
	}
}

// askingWorkers is how many questions a stage asks at once.
const askingWorkers = 2

// isTold reports whether the model answers yes for so many people: of every second call.
func isTold(people string) bool {
	n, err := strconv.Atoi(people)
	return err == nil && n/10%2 == 0
}
