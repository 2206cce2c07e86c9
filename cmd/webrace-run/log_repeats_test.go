package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stage that fails on every document reports that once, with the first URL, and then how often.
func TestTerminalSumsUpWhatFailsAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		out, err := newOutput(&screen, "text", "")
		if err != nil {
			t.Fatal(err)
		}
		out.logger = slog.New(repeatHandler{Handler: terminalHandler{w: &screen, level: slog.LevelInfo}, all: out.repeats})
		says := func(want ...string) {
			t.Helper()
			if got := screen.String(); got != strings.Join(want, "") {
				t.Errorf("it says\n%swant\n%s", got, strings.Join(want, ""))
			}
			screen.Reset()
		}
		normalize := out.logger.With("pipeline", "crawl").With("stage", "normalize")
		fails := func(n int) {
			url := fmt.Sprintf("http://a.example/%d", n)
			normalize.Warn("item kept as a dead letter", "url", url, "error", fmt.Errorf("read %s: no such charset", url), "attempts", 1)
		}
		for n := range 40 {
			fails(n)
		}
		out.logger.With("stage", "cache").Warn("item kept as a dead letter", "error", errors.New("no such charset"))
		normalize.Info("nothing wrong", "error", "none")
		normalize.Info("nothing wrong", "error", "none")
		says("warning: stage normalize: http://a.example/0: item kept as a dead letter: read http://a.example/0: no such charset (attempts 1)\n",
			"warning: stage cache: item kept as a dead letter: no such charset\n",
			"info: stage normalize: nothing wrong: none\n", "info: stage normalize: nothing wrong: none\n")
		out.progress(nil, false)
		screen.Reset() // nothing is told again so soon
		time.Sleep(out.repeats.every)
		fails(40)
		says("warning: stage normalize: item kept as a dead letter, again: read …: no such charset (times 40)\n")
		fails(41)
		out.end()
		says("warning: stage normalize: item kept as a dead letter, again: read …: no such charset (times 1)\n")
		out.end()
		says("")
		for _, given := range []string{"tea", "milk", "salt", "bread", "wine"} {
			normalize.Warn("item skipped", "error", "no number: "+given)
		}
		out.end()
		says("warning: stage normalize: item skipped: no number: tea\n", "warning: stage normalize: item skipped: no number: milk\n",
			"warning: stage normalize: item skipped: no number: salt\n", "warning: stage normalize: item skipped, again: no number: wine (times 2)\n")
		for n := range mostRepeated + 5 {
			normalize.Error(strings.Repeat("x", n), "error", "failed")
		}
		if n := len(out.repeats.seen); n > mostRepeated {
			t.Errorf("%d errors are kept", n)
		}
	})
}
