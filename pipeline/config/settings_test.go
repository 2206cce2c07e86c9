package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/pipeline"
)

type rule struct {
	Host  string          `toml:"host" doc:"a host"`
	Token pipeline.Secret `toml:"token" doc:"a token"`
}

type settable struct {
	Wait  pipeline.Duration `toml:"wait" doc:"how long"`
	URL   string            `toml:"url" doc:"where"`
	Token pipeline.Secret   `toml:"token" doc:"what it knows"`
	Names []string          `toml:"names" doc:"who"`
	Retry struct {
		Max int `toml:"max" doc:"how often"`
	} `toml:"retry" doc:"again"`
	Rules  []rule                     `toml:"rule" doc:"rules"`
	Places map[string]rule            `toml:"place" doc:"places"`
	Header map[string]pipeline.Secret `toml:"header" doc:"fields"`
	Env    map[string]string          `toml:"env" doc:"variables"`
	Free   pipeline.Table             `toml:"free" doc:"whatever"`
}

func TestSettingsShowWhatAStageRunsWithAndNoSecrets(t *testing.T) {
	t.Parallel()
	registry := pipeline.NewRegistry()
	defaults := settable{Wait: pipeline.Duration(time.Second)}
	defaults.Retry.Max = 3
	pipeline.RegisterIn(registry, pipeline.Spec{Type: "settable", Summary: "has options"}, defaults, func(settable, *pipeline.Env) (any, error) { return nothing(nil) })
	options := settable{
		Wait: pipeline.Duration(time.Second), URL: "https://ann:hush@example.org/?q=a@b", Token: pipeline.NewSecret("hush"), Names: []string{"a", "ftp://u:hush@h/"},
		Rules:  []rule{{Host: "a.org", Token: pipeline.NewSecret("hush")}, {Host: "b.org"}},
		Places: map[string]rule{"the lake": {Host: "c.org"}, "a": {Host: "d.org"}},
		Header: map[string]pipeline.Secret{"From": pipeline.NewSecret("hush")},
		Env:    map[string]string{"API_KEY": "hush", "HOME": "/home", "GITHUB_TOKEN": "hush"},
		Free: pipeline.Table{"n": int64(1), "list": []any{"a", true, map[string]any{"password": "hush"}}, "auth": map[string]any{"user": "hush"},
			"inner": map[string]any{"client_secret": []any{"hush"}, "x": 0.5}},
	}
	options.Retry.Max = 4
	got := Settings(registry.NewGraph("g").Add("settable", options))
	want := []Setting{
		{"wait", `"1s"`, "how long", true},
		{"url", `"https://[redacted]@example.org/?q=a@b"`, "where", false},
		{"token", `"[redacted]"`, "what it knows", false},
		{"names", `["a", "ftp://[redacted]@h/"]`, "who", false},
		{"retry.max", "4", "how often", false},
		{"rule", `[{ host = "a.org", token = "[redacted]" }, { host = "b.org", token = "" }]`, "rules", false},
		{"place", `{ "the lake" = { host = "c.org", token = "" }, a = { host = "d.org", token = "" } }`, "places", false},
		{"header", `{ From = "[redacted]" }`, "fields", false},
		{"env", `{ API_KEY = "[redacted]", GITHUB_TOKEN = "[redacted]", HOME = "/home" }`, "variables", false},
		{"free", `{ auth = "[redacted]", inner = { client_secret = "[redacted]", x = 0.5 }, list = ["a", true, { password = "[redacted]" }], n = 1 }`, "whatever", false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, s := range got {
		if strings.Contains(s.Value, "hush") {
			t.Errorf("%s gives a secret away: %s", s.Name, s.Value)
		}
	}
}

func TestAStageThatIsRegisteredNowhereHasNoSettings(t *testing.T) {
	t.Parallel()
	g := pipeline.NewGraph("g")
	if got := Settings(g.AddStage("a", pipeline.Spec{Type: "a"}, nothing)); got != nil {
		t.Errorf("%v", got)
	}
}
