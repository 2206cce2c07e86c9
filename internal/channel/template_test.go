package channel

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATemplateWritesWhatItIsToldTo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"as it is":                  "as it is",
		"{{.Subject}}, {{.Link}}":   "Gale <warning> & *storm* (and 4 more), https://race.levanda.org/",
		"{{.Count}} {{.More}}":      "5 3",
		"{{json .Subject}}":         `"Gale <warning> & *storm* (and 4 more)"`,
		"{{.Subject | cut 6}}":      "Gale …",
		"{{cut 6 .Subject | json}}": `"Gale …"`,
		"{{json (cut 6 .Subject)}}": `"Gale …"`,
		"{{line .Text | cut 20}}":   "Gale <warning> & *s…",
		`{{line "a\nb"}}{{"{{"}}`:   "a b{{",
		"{{range .Items}}{{.Title}} {{.URL}} {{.Relevance}}\n{{end}}":                             "Gale <warning> & *storm* https://weather.levanda.org/a?b=1&c=2|x 73\nhttps://x.org/ gives no document any more javascript:alert(1) 0\n",
		"{{range .Items}}{{if .Link}}{{.Link}}{{else if .Time}}{{.Time}}{{else}}-{{end}} {{end}}": "https://race.levanda.org/a/7 - ",
		"{{range .Items}}{{json .}}{{json .Keywords}}{{end}}": `{"title":"Gale <warning> & *storm*","url":"https://weather.levanda.org/a?b=1&c=2|x",` +
			`"summary":"Winds of 9 [bank](https://evil.org) <!channel> @everyone","link":"https://race.levanda.org/a/7","time":"2026-11-30T08:00:00Z","relevance":73,"urgency":3,` +
			`"keywords":["gale","wind"],"labels":["sea"]}["gale","wind"]{"title":"https://x.org/ gives no document any more","url":"javascript:alert(1)","summary":"404","relevance":0}null`,
		"{{/* no more */}}{{- if .Items -}} x {{- end}}": "x",
	} {
		tmpl, err := ParseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := tmpl.Execute(storm); err != nil || string(got) != want {
			t.Errorf("%s\nwrites %s, %v\nwant   %s", text, got, err, want)
		}
	}
	tmpl, err := ParseTemplate("{{range .Items}}{{.Title}}{{else}}{{.Count}} {{json .}}{{end}}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Execute(Message{More: 2}); err != nil || string(got) != `2 {"subject":"2 alerts","text":"2 more\n","items":null,"count":2,"more":2}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestATemplateMayDoNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n{{range 1000000000}}x{{end}}":                    "line 2: {{range 1000000000}} is not allowed",
		"{{range .Count}}x{{end}}":                           "line 1: {{range .Count}} is not allowed",
		"{{range $i, $item := .Items}}x{{end}}":              "line 1: {{range $i, $item := .Items}} is not allowed",
		"{{range .Items}}{{range .Items}}":                   "line 1: unexpected EOF",
		"{{range .Items}}{{range .Items}}x{{end}}{{end}}":    "line 1: {{range .Items}} is not allowed",
		"{{range .Items}}{{range .Keywords}}x{{end}}{{end}}": "line 1: {{range .Keywords}} is not allowed",
		"{{range .Items}}\n{{break}}{{end}}":                 "line 2: {{break}} is not allowed",
		"{{range .Items}}{{continue}}{{end}}":                "line 1: {{continue}} is not allowed",
		"{{range json .Items}}x{{end}}":                      "line 1: {{range json .Items}} is not allowed",
		"{{with .Link}}x{{end}}":                             "line 1: {{with .Link}} is not allowed",
		`{{template "x"}}`:                                   `line 1: {{template "x"}} is not allowed`,
		`{{define "x"}}y{{end}}`:                             "line 1: define and block are not allowed",
		`{{define "x"}}{{end}}`:                              "line 1: define and block are not allowed",
		`{{define "template"}}{{range 9}}x{{end}}{{end}}`:    "line 1: {{range 9}} is not allowed",
		"\n{{block \"x\" .}}y{{end}}":                        "line 2: define and block are not allowed",
		"{{$x := .Link}}":                                    "line 1: the variable $x is not allowed",
		"{{if $x := .Link}}y{{end}}":                         "line 1: the variable $x is not allowed",
		"{{$}}":                                              "line 1: $ is not allowed",
		"{{range .Items}}{{$.Link}}{{end}}":                  "line 1: $.Link is not allowed",
		"{{printf .Link}}":                                   `line 1: function "printf" not defined`,
		"\n\n{{len .Items}}":                                 `line 3: function "len" not defined`,
		"{{call .Link}}":                                     `line 1: function "call" not defined`,
		"{{if eq .Count 1}}x{{end}}":                         `line 1: function "eq" not defined`,
		"{{.Link .Text}}":                                    "line 1: .Link .Text calls no function",
		"{{.Link | .Text}}":                                  "line 1: .Text calls no function",
		"{{.}}":                                              "line 1: . is not allowed",
		"{{line .}}":                                         "line 1: . is not allowed",
		"{{1}}":                                              "line 1: 1 is not allowed",
		"{{true}}":                                           "line 1: true is not allowed",
		"{{nil}}":                                            "line 1: nil is not allowed",
		"{{json nil}}":                                       "line 1: nil is not allowed",
		"{{(.Link).Text}}":                                   "line 1: (.Link).Text is not allowed",
		"{{.Items.Title}}":                                   "line 1: .Items.Title is no field here; there are Subject, Text, Link, Items, Count, More",
		"{{.Titel}}":                                         "line 1: .Titel is no field here; there are Subject",
		"{{range .Items}}{{.Titel}}{{end}}":                  "line 1: .Titel is no field here (did you mean Title?); there are Title",
		"{{.Subjct}}":                                        "line 1: .Subjct is no field here (did you mean Subject?)",
		"{{json}}":                                           "line 1: json takes 1 value, and is given 0",
		"{{json .Link .Text}}":                               "line 1: json takes 1 value, and is given 2",
		"{{.Link | json .Text}}":                             "line 1: json takes 1 value, and is given 2",
		"{{cut .Link}}":                                      "line 1: cut takes 2 values, and is given 1",
		"{{cut .Link 80}}":                                   "line 1: cut takes first how many characters are left",
		"{{cut 0 .Link}}":                                    "line 1: cut takes first how many characters are left",
		"{{cut 1.5 .Link}}":                                  "line 1: cut takes first how many characters are left",
		"{{cut 99999999 .Link}}":                             "line 1: cut takes first how many characters are left",
		"{{.Link":                                            "line 1: unclosed action",
		"\n{{if .Link}}":                                     "line 2: unexpected EOF",
		"{{end}}":                                            "line 1: unexpected {{end}}",
		"\xff":                                               "the template is not in UTF-8",
		strings.Repeat("x", maxTemplate+1):                   "the template has 4097 bytes, and 4096 are allowed",
	} {
		_, err := ParseTemplate(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
			continue
		}
		if strings.Contains(want, "allowed") && strings.Contains(want, "line") && !strings.HasSuffix(err.Error(), allowedOnly) {
			t.Errorf("%.60q does not tell what is allowed: %v", text, err)
		}
	}
	if _, err := ParseTemplate(strings.Repeat("x", maxTemplate)); err != nil {
		t.Error(err)
	}
}

// long is a message of fifty entries with as much text as they have.
func long() Message {
	m := many(MaxShown)
	for i := range m.Entries {
		m.Entries[i].Title, m.Entries[i].Summary = strings.Repeat("\"", 400), strings.Repeat("я\\", 1000)
		m.Entries[i].Keywords, m.Entries[i].Labels = strings.Fields(strings.Repeat("gale ", 30)), []string{"sea"}
	}
	m.Link = "https://race.levanda.org/"
	return m
}

func TestABodyHasAsManyItemsAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	tmpl, err := ParseTemplate(`{"items":[{{range .Items}}{{json .}},{{end}}0],"more":{{.More}}}`)
	if err != nil {
		t.Fatal(err)
	}
	body, err := tmpl.Execute(long())
	var written struct {
		Items []any
		More  int
	}
	if err != nil || json.Unmarshal(body, &written) != nil || len(body) > maxBody || len(body) < maxBody*9/10 || len(written.Items)-1+written.More != MaxShown {
		t.Errorf("%d bytes, %d items and %d more, %v", len(body), len(written.Items)-1, written.More, err)
	}
}

func TestATemplateThatWritesTooMuchIsStopped(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"of one field":              strings.Repeat("{{.Subject}}", 300),
		"of what is not written":    strings.Repeat("{{if json .Subject}}{{end}}", 150),
		"of what is cut afterwards": strings.Repeat("{{json .Subject | cut 1}}", 160),
	} {
		tmpl, err := ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		m := Message{Entries: []Entry{{Title: "a"}}}
		if body, err := tmpl.Execute(m); err != nil {
			t.Errorf("%s: %s, %v", name, body, err)
		}
	}
	tmpl, err := ParseTemplate(strings.Repeat("{{json .}}", 400) + strings.Repeat(" ", 90))
	if err != nil {
		t.Fatal(err)
	}
	m := long()
	m.Link = "https://race.levanda.org/" + strings.Repeat("a", 900)
	if body, err := tmpl.Execute(m); err == nil || err.Error() != "the template writes more than 65536 bytes, even without items" {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	run := new(templateRun)
	if _, err := run.json(strings.Repeat("x", maxWork)); !errors.Is(err, errTooLong) {
		t.Errorf("a function looks at more than it may: %v", err)
	}
}

// worst are templates that do as much as they can.
var worst = map[string]string{
	"json of all":        strings.Repeat("{{json .}}", 400),
	"json that is lost":  strings.Repeat("{{if json .}}{{end}}", 200),
	"json of each, lost": "{{range .Items}}" + strings.Repeat("{{if json .}}{{end}}", 200) + "{{end}}",
	"conditions":         "{{range .Items}}" + strings.Repeat("{{if .URL}}{{end}}", 220) + "{{end}}",
	"the items as Go":    strings.Repeat("{{.Items}}", 400),
	"text in lines":      strings.Repeat("{{line .Text|cut 1}}", 200),
	"nested":             "{{" + strings.Repeat("(", 1500) + ".Link" + strings.Repeat(")", 1500) + "}}",
	"lines of lines":     "{{range .Items}}{{.Summary" + strings.Repeat("|line", 800) + "}}{{end}}",
}

// FuzzTemplate holds that a template which is admitted ends, with a body that is no longer than it may be, or an
// error.
func FuzzTemplate(f *testing.F) {
	for _, text := range worst {
		f.Add(text)
	}
	f.Add(`{"text": {{json .Text}}, "n": [{{range .Items}}{{cut 80 .Title | json}},{{else}}0{{end}}]}`)
	f.Add("{{range 1000000000}}x{{end}}")
	f.Add(`{{define "template"}}{{range 9}}x{{end}}{{end}}`)
	m := long()
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := ParseTemplate(text)
		if err != nil {
			if err.Error() == "" || !utf8.ValidString(err.Error()) {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		if body, err := tmpl.Execute(m); err == nil && len(body) > maxBody {
			t.Errorf("%q writes %d bytes", text, len(body))
		}
		if body, err := tmpl.Execute(Message{}); err == nil && len(body) > maxBody {
			t.Errorf("%q writes %d bytes of nothing", text, len(body))
		}
	})
}

func BenchmarkWorstTemplates(b *testing.B) {
	m := long()
	for name, text := range worst {
		b.Run(name, func(b *testing.B) {
			tmpl, err := ParseTemplate(text)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				_, _ = tmpl.Execute(m)
			}
		})
	}
}
