package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What a stage adds to an annotation is in every form of it.
func TestWhatStagesAddToAnAnnotationIsInEachOfItsForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea & cake")
	config := filepath.Join(t.TempDir(), "pipelines.toml")
	writeFile(t, config, `version = 1
[pipeline.webrace]
flow = [
  "urds > frontier > fetch > normalize > cache > keyword-filter > map > aci-emit",
  "normalize.links, cache.links, fetch.redirects, fetch.sitemaps > frontier",
]
[pipeline.webrace.stage.map]
set.values = '{"topic": "tea & more", "words": string(len(split(summary, " ")))}'
`)
	w.run(these(w.asks("ann", "/", about("tea"))), "--config", config)
	for _, c := range []struct{ command, want string }{
		{"aci list --json", `"values":{"topic":"tea & more","words":"3"}`},
		{"aci list --xml", `<values><value name="topic">tea &amp; more</value><value name="words">3</value></values>`},
		{"aci query /aci[values/value[@name='topic']='tea_&_more']", `owner="ann"`},
		{"aci list --select /aci/values/value[@name='words']", "3\n"},
	} {
		args := strings.Fields(c.command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		if said, status := w.store(args...); status != 0 || !strings.Contains(said, c.want) {
			t.Errorf("%s: status %d, %s, want %s", c.command, status, said, c.want)
		}
	}
}
