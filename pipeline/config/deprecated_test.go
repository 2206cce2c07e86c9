package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// former is a configuration in which everything is written by the name that it had; $x stands for it.
const former = "version = 1 # the\tfirst line\r\n" +
	"[defaults.fetch]\n" +
	"  'max_size'=\"1KB\"   # a size, \"max_size\"\n" +
	"mode = '''fetch'''\n\n\n" +
	"[pipeline.a]   # fetch é\n" +
	"flow = [\"urds > fetch > print\", 'fetch.redirects > print']\n" +
	"stage.fetch = { limit = 3, retry = { \"tries\" = 7 }, mode = \"fetch\" } # limit = 3\n" +
	"[pipeline.b]\n" +
	"flow = \"urds > fetch > print\"\n" +
	"[pipeline.b.stage.fetch]\n" +
	"retry.tries = 0x5\n" +
	"exception = [{ host = \"fetch\" }]\n" +
	"mode = \"f\\u0065tch\"\n" // no new line before the end, nor an edit: it is written in another way

func TestWhatIsDeprecatedWorksAsBeforeAndCanBeRewritten(t *testing.T) {
	t.Parallel()
	load := func(source string) *Config {
		t.Helper()
		c, err := Parse("x.toml", []byte(source), LoadOptions{Registry: configRegistry()})
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		return c
	}
	c := load(former)
	fetch := optionsOf(t, c, "a")
	if fetch.MaxBody != 3 || fetch.Retry.Max != 7 || fetch.Mode != "get" {
		t.Errorf("pipeline a has the options %+v", fetch)
	}
	if fetch := optionsOf(t, c, "b"); fetch.MaxBody != 1000 || fetch.Retry.Max != 5 || fetch.Mode != "get" || len(fetch.Rules) != 1 {
		t.Errorf("pipeline b has the options %+v", fetch)
	}
	want := []string{
		`x.toml:3:3: warning: option "max_size" is deprecated: it is called "max_body" now`,
		`x.toml:4:8: warning: "fetch" of option "mode" is deprecated: it is called "get" now`,
		`x.toml:9:17: warning: option "limit" is deprecated: it is called "max_body" now`,
		`x.toml:9:38: warning: option "retry.tries" is deprecated: it is called "retry.max" now`,
		`x.toml:9:60: warning: "fetch" of option "mode" is deprecated: it is called "get" now`,
		`x.toml:13:7: warning: option "retry.tries" is deprecated: it is called "retry.max" now`,
		`x.toml:14:1: warning: option "exception" is deprecated: it is called "rule" now`,
		`x.toml:15:8: warning: "fetch" of option "mode" is deprecated: it is called "get" now`,
	}
	if got := strings.Split(c.Warnings.Error(), "\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range c.Warnings {
		if f.Code != finding.CodeDeprecated || f.SourceLine == "" || f.Path == "" {
			t.Errorf("warning %+v", f)
		}
	}

	edited, made := c.Warnings.Apply("x.toml", []byte(former))
	now := former
	for _, change := range [][2]string{ // each once
		{"'max_size'=", "'max_body'="}, {"'''fetch'''", "'''get'''"}, {"{ limit", "{ max_body"}, {`"tries"`, `"max"`},
		{`mode = "fetch"`, `mode = "get"`}, {"retry.tries", "retry.max"},
	} {
		if strings.Count(now, change[0]) != 1 {
			t.Fatalf("%q is not there once", change[0])
		}
		now = strings.Replace(now, change[0], change[1], 1)
	}
	if string(edited) != now || len(made) != 6 {
		t.Errorf("%d edits:\n%s\nwant:\n%s", len(made), edited, now)
	}
	again := load(string(edited))
	if len(again.Warnings) != 2 || hasEdits(again.Warnings) { // the list of tables, and the word with an escape
		t.Errorf("after the edits there are the warnings\n%v", again.Warnings)
	}
	for _, name := range []string{"a", "b"} {
		if before, after := optionsOf(t, c, name), optionsOf(t, again, name); !reflect.DeepEqual(before, after) {
			t.Errorf("the options of %s were %+v, and are %+v", name, before, after)
		}
	}
	if edited, made := c.Warnings.Apply("y.toml", []byte(former)); string(edited) != former || made != nil {
		t.Error("another file is edited")
	}
	if _, made := c.Warnings.Apply("x.toml", []byte("\n"+former)); made != nil {
		t.Errorf("a file that is another by now is edited: %v", made)
	}
}

func optionsOf(t *testing.T, c *Config, name string) fetchOptions {
	t.Helper()
	g, err := c.Graph(name)
	if err != nil {
		t.Fatal(err)
	}
	return stageOf(g, "fetch").Options.(fetchOptions)
}

func hasEdits(found finding.List) bool {
	for _, f := range found {
		if f.Edit != (finding.Edit{}) {
			return true
		}
	}
	return false
}

func TestDeprecatedNamesInSettingsAndBesideTheirSuccessors(t *testing.T) {
	t.Parallel()
	const head = "version = 1\npipeline.a.flow = 'urds > fetch > print'\npipeline.a.stage.fetch."
	for _, tt := range []struct{ source, set, want string }{
		{"port = 1", "fetch.limit=3", `--set fetch.limit=3: warning: option "limit" is deprecated: it is called "max_body" now`},
		{"port = 1", "fetch.retry.tries=3", `--set fetch.retry.tries=3: warning: option "retry.tries" is deprecated: it is called "retry.max" now`},
		{"port = 1", "fetch.mode=fetch", `--set fetch.mode=fetch: warning: "fetch" of option "mode" is deprecated: it is called "get" now`},
		{"mode = '${MODE:-fetch}'", "", `x.toml:3:31: warning: "fetch" of option "mode" is deprecated: it is called "get" now`},
		{"mode = 'body'", "", `x.toml:3:31: option "mode" cannot be "body", only get or head (did you mean get?)`},
		{"limit = 1\npipeline.a.stage.fetch.max_body = 2", "", `x.toml:3:24: option "limit" is called "max_body" now, which is set as well`},
		{"limit = 1\npipeline.a.stage.fetch.port = -1", "", "x.toml:4:31: option \"port\" cannot be -1\nx.toml:3:24: warning: option \"limit\" is deprecated: it is called \"max_body\" now"},
		{"retry.tries = 11", "", "x.toml:3:38: stage \"fetch\": retry.max: more than 10 is rude\nx.toml:3:30: warning: option \"retry.tries\" is deprecated: it is called \"retry.max\" now"},
	} {
		o := LoadOptions{Registry: configRegistry(), Env: func(string) (string, bool) { return "", false }}
		if tt.set != "" {
			o.Set = []string{tt.set}
		}
		c, err := Parse("x.toml", []byte(head+tt.source+"\n"), o)
		var found finding.List
		if err == nil {
			found = c.Warnings
		} else if !errors.As(err, &found) {
			t.Fatal(err)
		}
		if found.Error() != tt.want {
			t.Errorf("%s %s:\n%v\nwant\n%s", tt.source, tt.set, found, tt.want)
		}
		if tt.set != "" && hasEdits(found) {
			t.Errorf("%s would be edited", tt.set)
		}
	}
}

// mustMend applies the edits that a configuration is warned with, and wants what is wrong with it to be the same, and
// no such warning any more.
func mustMend(t *testing.T, r *pipeline.Registry, env func(string) (string, bool), source string) {
	t.Helper()
	wrong := func(source string) (errs, warnings finding.List) {
		c, err := Parse("x.toml", []byte(source), LoadOptions{Registry: r, Env: env})
		var all finding.List
		if errors.As(err, &all); err == nil {
			all = c.Warnings
		}
		for _, f := range all {
			if f.Warning {
				warnings = append(warnings, f)
			} else {
				errs = append(errs, f)
			}
		}
		return errs, warnings
	}
	errs, warnings := wrong(source)
	if !hasEdits(warnings) {
		return
	}
	edited, made := warnings.Apply("x.toml", []byte(source))
	after, left := wrong(string(edited))
	if len(after) != len(errs) || hasEdits(left) || len(left)+len(made) > len(warnings) {
		t.Fatalf("%d edits of\n%s\nmake\n%s\nwith which there is wrong\n%v\nand before there was\n%v", len(made), source, edited, fmt.Sprint(after, left), errs)
	}
}
