package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// watch shows progress until everything has ended, and obeys signals. It reports whether a second one
// cut the drain short.
func (p *process) watch(runs []*pipeline.Run, signals <-chan os.Signal, ended <-chan struct{}, cancel func()) (interrupted bool) {
	tick := time.NewTicker(p.out.every)
	defer tick.Stop()
	draining := false
	var limit <-chan time.Time
	drain := func(why string) {
		draining = true
		if p.drainLimit > 0 {
			limit = time.After(p.drainLimit)
		}
		p.out.note("%s%s%s; again to stop at once", why, inBrackets(holding(runs)), p.condition())
		for _, run := range runs {
			run.Drain()
		}
	}
	failed := p.firstToFail(runs)
	for {
		select {
		case <-ended:
			return interrupted
		case <-tick.C:
			p.out.progress(runs, draining)
		case <-limit:
			interrupted = true
			p.stop(fmt.Sprintf("stopping after %v (--drain-limit), with items in %s", p.drainLimit, cmp.Or(holding(runs), "the stores")), cancel)
		case <-signals:
			if draining {
				interrupted = true
				p.stop("stopping at once", cancel)
				continue
			}
			drain("finishing what is in flight")
		case name := <-failed:
			if !draining {
				drain(name + " has failed, and no other node has its part: finishing what is in flight")
			}
		}
	}
}

// firstToFail returns a channel of which partition of a pipeline fails first, if one does: all of the cluster would
// wait for it. Elsewhere pipelines that do not fail go on.
func (p *process) firstToFail(runs []*pipeline.Run) <-chan string {
	failed := make(chan string, len(runs))
	for _, s := range p.sessions {
		if s.here == nil {
			continue
		}
		for _, run := range s.runs {
			go func() {
				if _, err := run.Wait(); err != nil {
					failed <- s.nameOf(run.Graph().Name)
				}
			}()
		}
	}
	return failed
}

// stop ends what is in flight.
func (p *process) stop(why string, cancel func()) {
	p.out.note("%s; what is in flight will be repeated, where its source waits for its end", why)
	p.room.Close()
	cancel()
}

// condition returns what else has to come for a drain to end.
func (p *process) condition() string {
	if p.room.State().Paused {
		return " once there is room on the disk"
	}
	return ""
}

// holding names the stages that still have items; empty if none has, and what is left is on its way to the disk.
func holding(runs []*pipeline.Run) string {
	var names []string
	for _, run := range runs {
		for _, name := range run.Holding() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
