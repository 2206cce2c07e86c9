//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// A program that is killed when its owner was told of a number, before that is remembered with the visit, or when the
// owner was not told yet: they are told of it once, and of what comes then by the number that they were told last.
func TestNumbersAreToldOnceThroughAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("several processes: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	var deadly atomic.Pointer[string] // the webhook that kills who sends to it
	victims := make(chan *os.Process, 1)
	for _, hook := range []string{"/told", "/alert"} {
		w.handle(hook, func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the sender is gone
			if *deadly.Load() == hook {
				(<-victims).Kill()
				<-r.Context().Done()
			}
		})
	}
	config := filepath.Join(t.TempDir(), "pipelines.toml")
	writeFile(t, config, strings.ReplaceAll(`version = 1
[pipeline.webrace]
flow = [
  "urds > frontier > fetch > normalize > cache > keyword-filter > aci-emit",
  "normalize.links, cache.links, fetch.redirects > frontier",
  "keyword-filter > alert", # comes while the annotation is on its way
  "aci-emit.new > told", # comes when it is stored, and its visit is not
]
[pipeline.webrace.stage]
alert = { type = "http-out", url = "SITE/alert", allow_networks = ["loopback"] }
told = { type = "http-out", url = "SITE/told", allow_networks = ["loopback"] }
`, "SITE", w.URL))
	urds := these(w.asks("ann", "/", func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price", When: "change < -0.05"}}
	}))
	visit := func(price int, killedBy string) []string {
		w.file("/", "text/html; charset=utf-8", fmt.Appendf(nil, "<title>Boat</title><p>It costs <b id=price>%d €</b>", price))
		deadly.Store(&killedBy)
		p := w.start(urds, append([]string{"--config", config}, askAll...)...)
		if killedBy != "" {
			victims <- p.Process
		}
		if killed := p.isKilled(); killed != (killedBy != "") {
			t.Fatalf("at %d €: killed is %t:\n%s", price, killed, p.said())
		}
		return w.told()
	}

	mustBe(t, "told at first", visit(100, ""))
	mustBe(t, "told when it falls", visit(90, "/told"), "ann / 2: [\u2212100] «90» €")
	mustBe(t, "told again after the kill", visit(90, ""))
	mustBe(t, "told of a twentieth less than at first, and not than what was told", visit(88, ""))
	mustBe(t, "told when it falls further, and after the kill", append(visit(80, "/alert"), visit(80, "")...), "ann / 4: [\u221288] «80» €")
	mustBe(t, "told of hardly less than that", visit(79, ""))
}
