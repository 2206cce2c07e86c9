package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// newsViews holds what other commands tell of a round against its alerts: explain, of each page that changed, to each
// owner; try, of what was told of a page that nobody had seen; and in the end rematch.
type newsViews struct {
	*storage.Dir
	control *control.Store
}

// look opens the data directory once for all that is asked of it.
func (p *newsPlay) look(f func(newsViews) error) error {
	dir, err := storage.Open(p.data, storage.Options{})
	if err != nil {
		return err
	}
	defer dir.Close()
	store, err := dir.Control()
	if err != nil {
		return err
	}
	return f(newsViews{dir, store})
}

// command returns what a command of webrace-store prints.
func (v newsViews) command(args ...string) string {
	var out, complaints bytes.Buffer
	call := remote.Call{Request: remote.Request{Args: args}, Out: &out, Err: &complaints}
	if status := storecmd.Answer(v.Dir)(context.Background(), call); status != cli.OK {
		return fmt.Sprintf("%sexit status %d: %s", out.String(), status, complaints.String())
	}
	return out.String()
}

// compare notes in what the commands differ from what was told in a round, and rematch from all, in the last.
func (v newsViews) compare(stages []*newsStage, i int, played map[string][]heard) (err error) {
	for _, s := range stages {
		if i >= len(s.rounds) {
			continue
		}
		rounds := played[s.name]
		if rounds[i].views, err = v.wrong(s, i, rounds[i].alerts); err != nil {
			return err
		}
		if i == len(s.rounds)-1 {
			var told []toldOf
			for _, r := range rounds {
				told = append(told, r.alerts...)
			}
			rounds[i].views = append(rounds[i].views, v.rematched(s, told)...)
		}
	}
	return nil
}

// wrong returns in what the commands differ from what was told in a round.
func (v newsViews) wrong(s *newsStage, i int, told []toldOf) (all []string, err error) {
	for url, page := range s.rounds[i].pages {
		at := s.toServer.Replace(url)
		for _, owner := range s.owners() {
			var of []toldOf
			for _, t := range told {
				if t.Owner == owner+"@"+s.name && t.URI == at {
					of = append(of, t)
				}
			}
			said := v.command("explain", at, owner+"@"+s.name)
			for _, fault := range wrongIn(said, of) {
				all = append(all, fmt.Sprintf("explain %s %s: %s\n%s", url, owner, fault, s.asWritten(said)))
			}
			for _, t := range of {
				urd, err := v.control.Get(context.Background(), t.URD)
				if err != nil {
					return nil, err
				}
				fault, err := v.tries(s, page, urd.URD, t)
				if err != nil {
					return nil, err
				}
				if fault != "" {
					all = append(all, fmt.Sprintf("try %s as %s: %s", url, owner, fault))
				}
				for _, fault := range v.differs(urd.URD, t) {
					all = append(all, fmt.Sprintf("cache diff %s as %s is told: %s", url, owner, fault))
				}
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// wrongIn returns what is wrong with what explain prints of a page to an owner who was told this of it.
func wrongIn(said string, told []toldOf) (all []string) {
	about := make(map[string]string) // by the id of the URD
	for _, section := range strings.Split(said, "\nURD ")[1:] {
		id, _, _ := strings.Cut(section, ":")
		about[id] = section
		switch {
		case strings.Contains(section, "or was lost"):
			all = append(all, "it does not know why nothing was told")
		case !strings.Contains(section, "\n  alert: ") && !strings.Contains(section, "\n  no alert") && !strings.Contains(section, "\n  no further alert"):
			all = append(all, "it says neither that there is an alert, nor why there is none")
		}
	}
	for _, t := range told {
		for _, line := range []string{
			fmt.Sprintf("told of version %d at ", t.Docbase.Version), fmt.Sprintf(": relevance %d", t.Relevance), strings.Join(strings.Fields(t.Summary), " "),
		} {
			if !strings.Contains(about[t.URD], line) {
				all = append(all, fmt.Sprintf("it does not say %q", line))
			}
		}
	}
	return all
}

// tries returns in what try differs from an alert to an owner who had not seen the page.
func (v newsViews) tries(s *newsStage, page answer, urd *xmlschema.URD, t toldOf) (fault string, err error) {
	if t.Docbase.Since > 0 || page.status != 200 {
		return "", nil
	}
	d := &triedDocument{url: t.URI, body: []byte(s.toServer.Replace(page.body)), at: t.UpdateTime}
	if d.Result, err = extract.Document(d.body, page.header.Get("Content-Type"), t.URI, extract.Options{}); err != nil {
		return "", err
	}
	trial, err := newTrial(context.Background(), d, []*xmlschema.URD{urd})
	if err != nil {
		return "", err
	}
	if score := trial.Scores[0]; !score.Alerts() || score.Summary != t.Summary || score.Relevance != t.Relevance {
		fault = fmt.Sprintf("it says %s %d %q, and told is %d %q", score.Reason, score.Relevance, score.Summary, t.Relevance, t.Summary)
	}
	return fault, nil
}

// changes are what an alert marks: what came, and what went.
var changes = regexp.MustCompile(`«([^»]*)»|\[−([^\]]*)\]`)

// differs returns what an alert reports of how a whole page changed, and cache diff does not.
func (v newsViews) differs(urd *xmlschema.URD, t toldOf) (all []string) {
	if t.Docbase.Since == 0 || !urd.AnyChange() || len(urd.Rules()) > 0 {
		return nil
	}
	said := v.command("cache", "diff", t.URI, fmt.Sprint(t.Docbase.Since), fmt.Sprint(t.Docbase.Version), "--json")
	var diff struct {
		Changes []struct{ Removed, Added, Entries []string }
	}
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&diff); err != nil {
		return []string{said}
	}
	var came, went string
	for _, c := range diff.Changes {
		came += strings.Join(append(c.Added, c.Entries...), "\n") + "\n"
		went += strings.Join(append(c.Removed, c.Entries...), "\n") + "\n"
	}
	for _, m := range changes.FindAllStringSubmatch(t.Summary, -1) {
		for i, in := range []string{came, went} {
			for _, part := range strings.FieldsFunc(m[1+i], func(r rune) bool { return r == '·' || r == ';' }) {
				if part = strings.TrimSpace(strings.TrimSuffix(part, "…")); !strings.Contains(in, part) {
					all = append(all, fmt.Sprintf("%q is not in\n%s", part, said))
				}
			}
		}
	}
	return all
}

// rematched returns in what rematch differs from all that the owners of a scenario were told.
func (v newsViews) rematched(s *newsStage, told []toldOf) (all []string) {
	for _, owner := range s.owners() {
		if s.asksAgain(owner) {
			continue // what was told of the former interest, or not told of former versions
		}
		rest := slices.DeleteFunc(slices.Clone(told), func(t toldOf) bool { return t.Owner != owner+"@"+s.name })
		said := v.command("rematch", owner+"@"+s.name, "--all-versions", "--json")
		for found := range strings.Lines(said) {
			var r wouldBeTold
			if json.Unmarshal([]byte(found), &r) != nil {
				return append(all, said)
			}
			if i := slices.IndexFunc(rest, r.is); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			} else {
				all = append(all, "rematch tells besides: "+s.asWritten(found))
			}
		}
		for _, t := range rest {
			all = append(all, fmt.Sprintf("rematch does not tell of version %d: %s", t.Docbase.Version, s.alert(owner, t)))
		}
	}
	return all
}

// wouldBeTold is a line of rematch --json.
type wouldBeTold struct {
	URD, URL, Summary  string
	Relevance, Version int
}

// is reports whether it is an alert that was told: of the same document, or of one that is listed with it.
func (r wouldBeTold) is(t toldOf) bool {
	same, way := r.URL == t.URI && r.Version == t.Docbase.Version, r.URD == t.URD
	for _, also := range t.Also.Documents {
		same = same || r.URL == also.URI && r.Version == also.Version
		way = way || also.Version == 0 // another URD, to which the document came by this feed
	}
	return same && way && r.Summary == t.Summary && r.Relevance == t.Relevance
}

// asksAgain reports whether an owner's URDs are stored in more than one round, or after pages have changed.
func (s *newsStage) asksAgain(owner string) bool {
	times, changed := 0, false
	for i, r := range s.rounds {
		changed = changed || i > 0 && len(r.pages) > 0
		if alone := (&situation{rounds: []newsRound{{urds: r.urds}}}); slices.Contains(alone.owners(), owner) {
			if times++; changed {
				return true
			}
		}
	}
	return times > 1
}
