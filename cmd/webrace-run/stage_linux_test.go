package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// TestServedStagesThatAreKilledLoseNothing kills processes of a stage, by kill -9, while documents are on their way:
// each document comes through once, with the graph that it has in a pipeline.
func TestServedStagesThatAreKilledLoseNothing(t *testing.T) {
	t.Parallel()
	const documents, killEvery = 400, 80
	o := asProgram(t, "transform", nil)
	o.Processes, o.InFlight = 2, 4
	o.Env = map[string]pipeline.Secret{"WEBRACE_STAGE_OF": pipeline.NewSecret(t.Name())}
	there := servedStage(t, o)
	single, err := config.Single("transform", config.SingleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := single.Make(pipeline.NewEnv("p", "transform", nil))
	if err != nil {
		t.Fatal(err)
	}
	here := made.(pipeline.Processor)
	work := make(chan int)
	var mu sync.Mutex
	done, killed := 0, 0
	var workers sync.WaitGroup
	for range 6 {
		workers.Go(func() {
			for i := range work {
				page := &webrace.Document{
					URL: fmt.Sprintf("http://a.example/%d", i), Outcome: webrace.Fetched, MediaType: "text/turtle",
					Body: fmt.Appendf(nil, "<#a> <#n> %d ; <#b> [ <#c> 'd' ] .", i),
				}
				var want, got emittedItems
				if err := here.Process(t.Context(), &pipeline.Item{Value: page}, &want); err != nil {
					t.Error(err)
				}
				if err := there.Process(t.Context(), &pipeline.Item{Value: page}, &got); err != nil {
					t.Error(err)
				} else if diff := cmp.Diff(encoded(t, want.items[0].Value), encoded(t, got.items[0].Value)); len(got.items) != 1 || diff != "" {
					t.Errorf("document %d comes %d times, and differs:\n%s", i, len(got.items), diff)
				}
				mu.Lock()
				if done++; done%killEvery == 0 && done < documents {
					killed += killOne(t, "WEBRACE_STAGE_OF="+t.Name())
				}
				mu.Unlock()
			}
		})
	}
	for i := range documents {
		work <- i
	}
	close(work)
	workers.Wait()
	if killed < 2 {
		t.Errorf("%d processes were killed: the test tests nothing", killed)
	}
}

// killOne kills a process of webrace-run that has a variable, and returns how many it has killed.
func killOne(t *testing.T, variable string) int {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Error(err)
	}
	for _, path := range environments {
		if text, _ := os.ReadFile(path); !bytes.Contains(text, []byte(variable+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			return 1
		}
	}
	return 0
}
