package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// situation is a scenario of testdata/news, whose README.md has the language.
type situation struct {
	name     string
	text     string // the whole file
	pending  string // why what it expects is not so yet
	counts   bool   // what is told depends on how many rounds there were, of which a kill makes more
	set      []string
	isMailed bool              // some round expects mails
	files    map[string]string // that URDs are imported from
	rounds   []newsRound
}

// newsRound is what holds from a round on, and what is expected of it.
type newsRound struct {
	urds     string
	pages    map[string]answer // by URL
	told     []string
	mails    []string // OWNER: SUBJECT | TEXT; nil if it does not matter
	commands []newsCommand
	isTold   bool
}

type newsCommand struct {
	line string
	says []string
}

// answer is what a page is.
type answer struct {
	status int
	header http.Header
	body   string
}

// homeHost is the host of pages and URDs that name none.
const homeHost = "http://site.example"

// newsHost is a host of a scenario: each has a server of its own.
var newsHost = regexp.MustCompile(`http://[a-z0-9-]+\.example\b`)

func readSituations(dir string) ([]*situation, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no scenarios in %s: %v", dir, err)
	}
	var all []*situation
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := readSituation(strings.TrimSuffix(filepath.Base(file), ".txtar"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func readSituation(name, text string) (*situation, error) {
	archive := txtar.Parse([]byte(text))
	s := &situation{name: name, text: text, files: make(map[string]string)}
	if err := s.readComment(string(archive.Comment)); err != nil {
		return nil, err
	}
	for _, f := range archive.Files {
		if err := s.readSection(f.Name, string(f.Data)); err != nil {
			return nil, fmt.Errorf("-- %s --: %w", f.Name, err)
		}
	}
	if len(s.rounds) == 0 || s.rounds[0].urds == "" {
		return nil, fmt.Errorf("it has no rounds, or nobody asks for anything: write a section urds, and sections such as 1 /, 1 told")
	}
	for i, r := range s.rounds {
		if !r.isTold {
			return nil, fmt.Errorf("round %d does not say who is told of what: write a section %d told, with the word nothing if nobody is", i+1, i+1)
		}
	}
	return s, nil
}

// readComment reads what stands in front of the sections: prose, and lines of pending:, rounds: and set:.
func (s *situation) readComment(comment string) error {
	for line := range strings.Lines(comment) {
		if reason, ok := strings.CutPrefix(line, "pending:"); ok {
			if s.pending = strings.TrimSpace(reason); s.pending == "" {
				return fmt.Errorf("pending: needs a reason")
			}
		}
		s.counts = s.counts || strings.HasPrefix(line, "rounds:")
		if option, ok := strings.CutPrefix(line, "set:"); ok {
			s.set = append(s.set, strings.TrimSpace(option))
		}
	}
	return nil
}

func (s *situation) readSection(name, data string) error {
	number, rest, _ := strings.Cut(name, " ")
	round, err := strconv.Atoi(number)
	switch {
	case name == "urds" || name == "urds.xml":
		s.round(1).urds = data
		return nil
	case err != nil:
		s.files[name] = data
		return nil
	case round < 1 || round > 30:
		return fmt.Errorf("round %d is not from 1 to 30", round)
	}
	r := s.round(round)
	switch {
	case rest == "told":
		r.isTold = true
		r.told, err = toldLines(data)
	case rest == "mails":
		if r.mails, err = toldLines(data); r.mails == nil {
			r.mails = []string{}
		}
		s.isMailed = true
	case rest == "urds":
		r.urds = data
	case strings.HasPrefix(rest, "$ "):
		r.commands = append(r.commands, newsCommand{line: rest[len("$ "):], says: linesOf(data)})
	case strings.HasPrefix(rest, "/") || newsHost.MatchString(rest):
		var url string
		if url, r.pages, err = readAnswer(rest, data, r.pages); err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
	default:
		return fmt.Errorf("after the round stands none of: told, mails, urds, a path, http://NAME.example and a path, $ and a command")
	}
	return err
}

func (s *situation) round(number int) *newsRound {
	for len(s.rounds) < number {
		s.rounds = append(s.rounds, newsRound{})
	}
	return &s.rounds[number-1]
}

func linesOf(data string) (all []string) {
	for line := range strings.Lines(data) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func toldLines(data string) ([]string, error) {
	all := linesOf(data)
	if len(all) == 0 {
		return nil, fmt.Errorf("write the word nothing if nobody is told")
	}
	if slices.Equal(all, []string{"nothing"}) {
		return nil, nil
	}
	return all, nil
}

// readAnswer reads PATH [STATUS [TARGET]] [TYPE] [| FIELD: VALUE]…, and adds the answer to the pages.
func readAnswer(name, body string, pages map[string]answer) (url string, _ map[string]answer, err error) {
	parts := strings.Split(name, " | ")
	words := strings.Fields(parts[0])
	url = words[0]
	if strings.HasPrefix(url, "/") {
		url = homeHost + url
	}
	a := answer{status: http.StatusOK, header: make(http.Header), body: body}
	a.header.Set("Content-Type", typeOfPath(url))
	for _, word := range words[1:] {
		status, err := strconv.Atoi(word)
		switch {
		case err == nil:
			a.status = status
		case a.status >= 300 && a.status < 400:
			a.header.Set("Location", word)
		case strings.Contains(word, "/"):
			a.header.Set("Content-Type", word)
		default:
			return url, nil, fmt.Errorf("%q is no status, no media type, and no target of a redirect", word)
		}
	}
	for _, field := range parts[1:] {
		key, value, ok := strings.Cut(field, ":")
		if !ok {
			return url, nil, fmt.Errorf("%q is no header field", field)
		}
		a.header.Set(key, strings.TrimSpace(value))
	}
	pages = maps.Clone(pages)
	if pages == nil {
		pages = make(map[string]answer)
	}
	pages[url] = a
	return url, pages, nil
}

// typeOfPath is the media type that a server would send for a file of this name.
func typeOfPath(url string) string {
	url, _, _ = strings.Cut(url, "?")
	types := map[string]string{
		".atom": "application/atom+xml", ".rss": "application/rss+xml", ".xml": "application/xml", ".json": "application/json",
		".txt": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".md": "text/markdown; charset=utf-8", ".ics": "text/calendar; charset=utf-8",
	}
	return cmp.Or(types[path.Ext(path.Base(url))], "text/html; charset=utf-8")
}

// hosts returns the hosts that a scenario names.
func (s *situation) hosts() []string {
	hosts := append(newsHost.FindAllString(s.text, -1), homeHost)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// fits reports whether what was said is what a line of a scenario expects, in which … stands for anything.
func fits(pattern, said string) bool {
	first, rest, more := strings.Cut(pattern, "…")
	said, ok := strings.CutPrefix(said, first)
	for ok && more {
		var part string
		part, rest, more = strings.Cut(rest, "…")
		if !more {
			return strings.HasSuffix(said, part)
		}
		_, said, ok = strings.Cut(said, part)
	}
	return ok && said == ""
}

// toldFits reports whether a line of what was told is the one that is expected: OWNER URL, or OWNER URL: TEXT.
func toldFits(expected, told string) bool {
	if !strings.Contains(expected, ": ") {
		expected += ": …"
	}
	return fits(expected, told)
}

// mailFits is toldFits for a mail: OWNER: SUBJECT, or OWNER: SUBJECT | TEXT.
func mailFits(expected, mailed string) bool {
	if !strings.Contains(expected, " | ") {
		expected += " | …"
	}
	return fits(expected, mailed)
}

// compareTold returns what was told besides what was expected, and what was not told.
func compareTold(expected, told []string, fit func(expected, told string) bool) (unexpected, missing []string) {
	unexpected = slices.Clone(told)
	for _, want := range expected {
		i := slices.IndexFunc(unexpected, func(line string) bool { return fit(want, line) })
		if i < 0 {
			missing = append(missing, want)
		} else {
			unexpected = slices.Delete(unexpected, i, i+1)
		}
	}
	return unexpected, missing
}

// What a scenario expects, and what a file of one may not be: otherwise one could pass that checks nothing.
func TestTheLanguageOfScenarios(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expected, told string
		fits           bool
	}{
		{"ann /", "ann /: The «ferry»", true},
		{"ann /: The «ferry»", "ann /: The «ferry»", true},
		{"ann /: The", "ann /: The «ferry»", false},
		{"ann /: …«ferry»…", "ann /: The «ferry» leaves", true},
		{"ann /: The … leaves", "ann /: The «ferry» leaves", true},
		{"ann /: … ferry …", "ann /: The «ferry» leaves", false},
		{"ann /: …a…a", "ann /: a", false},
		{"ann /", "ann /a: The «ferry»", false},
		{"ann /", "ann /, /a: The «ferry»", false},
		{"ann /, /a", "ann /, /a: The «ferry»", true},
	} {
		if is := toldFits(c.expected, c.told); is != c.fits {
			t.Errorf("%q for %q: %v, want %v", c.told, c.expected, is, c.fits)
		}
	}
	unexpected, missing := compareTold([]string{"ann /", "bob /"}, []string{"ann /: a", "ann /: b"}, toldFits)
	mustBe(t, "unexpected", unexpected, "ann /: b")
	mustBe(t, "missing", missing, "bob /")

	whole := "-- urds --\nann / --nonfilter\n-- 1 / --\na\n-- 1 told --\nann /\n"
	for name, text := range map[string]string{
		"whole":            whole,
		"nobody asks":      strings.TrimPrefix(whole, "-- urds --\nann / --nonfilter\n"),
		"nothing expected": whole + "-- 2 / --\nb\n",
		"nothing said":     whole + "-- 2 told --\n",
		"a typo":           whole + "-- 2 tell --\nnothing\n",
		"no reason":        "pending:\n" + whole,
		"no target":        whole + "-- 2 /a 301 next --\n-- 2 /b 200 next --\n-- 2 told --\nnothing\n",
	} {
		if _, err := readSituation(name, text); (err == nil) != (name == "whole") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
