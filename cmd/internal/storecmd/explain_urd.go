package storecmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

// explainURD says what a page is worth to one URD, what its owner was told of it, and if nothing, why.
func (p *page) explainURD(ctx context.Context, w io.Writer, u control.URD) error {
	fmt.Fprintf(w, "\nURD %s: %s, %s\n", u.ID, u.URI, cli.Interest(u.URD))
	say := func(format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }
	told, err := p.told(ctx, u)
	if err != nil {
		return err
	}
	for _, aci := range told {
		say("told of version %d at %s: relevance %d, %s", aci.Docbase.Version, moment(aci.UpdateTime), aci.Relevance, taken(aci))
	}
	shown, how := p.shown(u)
	if !shown && len(told) == 0 {
		how = "no alert: " + how
	}
	say("%s", how)
	switch {
	case p.text == nil && shown:
		say("no alert: it is not in the object cache")
		return nil
	case p.text == nil, !shown && !p.concerns(u):
		return nil
	}
	profile, _, err := match.Compile(annotate.Profile(u.URD))
	if err != nil {
		say("no alert: its keywords cannot be looked for: %v", err)
		return nil
	}
	text, err := p.part(ctx, u, say)
	if err != nil {
		say("no alert: its part of the page cannot be looked at: %v", err)
		return nil
	}
	if text != p.text && len(text.Blocks) == 0 {
		say("no alert: what it selects is not on the page")
		return nil
	}
	everything := match.Options{Recipients: []match.Recipient{{ID: u.ID}}}
	silence := ""
	if shown {
		if silence, err = p.silence(ctx, u, worthOf(profile, text, everything), told); err != nil {
			return err
		}
	}
	result := match.Explain(profile, text, everything).String()
	if silence != "" {
		say("%s", silence)
	}
	if !shown || silence != "" {
		whole := "the whole page"
		if text != p.text {
			whole = "all of that part"
		}
		result = whole + ", were it matched now: " + result
	}
	for line := range strings.Lines(result) {
		say("%s", strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// worthOf returns the alert that a page gives one profile; none when it is not worth one.
func worthOf(profile *match.Compiled, text *webrace.Text, o match.Options) []match.Alert {
	var index match.Index
	index.Add(profile)
	return slices.Collect(index.Match(text, o))
}

func taken(aci control.ACI) string {
	if aci.Retrieved.IsZero() {
		return "waits to be taken"
	}
	return "taken at " + moment(aci.Retrieved)
}

// told returns what the owner of a URD was told of the page.
func (p *page) told(ctx context.Context, u control.URD) (told []control.ACI, err error) {
	for aci, err := range p.control.ACIs(ctx, control.Filter{URD: u.ID, URL: p.url}) {
		if err != nil {
			return nil, err
		}
		told = append(told, aci)
	}
	return told, nil
}

// concerns reports whether the page lies where the URD looks.
func (p *page) concerns(u control.URD) bool {
	if prefix, watches := u.Prefix(); watches {
		return strings.HasPrefix(p.url, prefix)
	}
	if u.Crawl.ID == "" {
		return false
	}
	if _, _, came := cameTo(p.standings, u.Crawl.ID); came {
		return true
	}
	bounds, err := scope.New(u.Crawl.Start, u.Crawl.Scope)
	return err == nil && bounds.Match(p.url)
}

// shown reports whether the page is matched with the URD when it is fetched, and says why.
func (p *page) shown(u control.URD) (bool, string) {
	prefix, watches := u.Prefix()
	switch {
	case watches && strings.HasPrefix(p.url, prefix):
		return true, "it lies under what the URD watches"
	case watches:
		return false, "it does not lie under what the URD watches"
	case u.Crawl.ID == "":
		return false, "the URD starts no crawl"
	}
	at, came, ok := cameTo(p.standings, u.Crawl.ID)
	switch {
	case !ok && !p.concerns(u):
		return false, fmt.Sprintf("it lies outside the scope %s of %s", u.Crawl.Scope, u.Crawl.Start)
	case !ok:
		return false, p.notReached(u)
	case !within(came.Distance, u.Crawl.Levels):
		return false, fmt.Sprintf("it lies on level %d of the crawl, and the URD asks for %d (depth)", level(came.Distance), u.Crawl.Levels)
	case came.Waiting:
		return false, fmt.Sprintf("its crawl came to it on level %d, and it %s (pipeline %s)", level(came.Distance), at.state(), at.pipeline)
	}
	return true, fmt.Sprintf("its crawl came to it on level %d", level(came.Distance))
}

// notReached says why the crawl of a URD did not come to a page within its scope.
func (p *page) notReached(u control.URD) string {
	for _, s := range p.standings {
		if s.State == frontier.Unseen && s.Refused == frontier.Rule {
			return fmt.Sprintf("its crawl does not come to it: the rule %q of pipeline %s denies it", s.Rule, s.pipeline)
		}
	}
	nobody := "no page of it leads here"
	switch n := u.Crawl.Levels; {
	case n == 1:
		return "its crawl does not come to it: it fetches the start page alone (depth 1)"
	case n == 2:
		nobody = "its start page does not lead here"
	case n > 2:
		nobody = fmt.Sprintf("no page on its first %d levels leads here", n-1)
	}
	return "its crawl did not come to it: it has not run since the URD was added, or " + nobody
}

// toldOfThisVersion reports whether one of the annotations is of the version at hand: of what was added
// with it, for example.
func (p *page) toldOfThisVersion(told []control.ACI) bool {
	return slices.ContainsFunc(told, func(a control.ACI) bool { return a.URI == p.url && a.Docbase.Version == p.version.Number })
}

// silence says why a page that is worth an alert to a URD has none under the id that its present text
// gives; empty when it has, and when it is worth none.
func (p *page) silence(ctx context.Context, u control.URD, worth []match.Alert, told []control.ACI) (string, error) {
	if len(worth) == 0 || p.toldOfThisVersion(told) {
		return "", nil
	}
	id := xmlschema.ACIID(u.ID, u.InterestHash(), worth[0].Matched)
	for aci, err := range p.control.ACIs(ctx, control.Filter{URD: u.ID}) {
		switch {
		case err != nil:
			return "", err
		case aci.ID != id:
		case aci.URI == p.url:
			return "", nil
		default:
			return "no alert: the owner was told of the same text at " + aci.URI, nil
		}
	}
	at, _, ok := cameTo(p.standings, u.Crawl.ID)
	shown := webrace.Shown{}
	if ok && at.Visit != nil {
		shown, _ = at.Visit.ShownTo(u.Crawl.ID)
	}
	switch {
	case ok && at.Visit != nil && shown.Revision < u.Interest:
		return "no alert yet: the URD was added or changed after the page was last matched; the next visit matches it anew", nil
	case ok && at.Visit != nil && shown.Version < p.version.Number:
		return "no alert yet: this version was stored for another crawl, and is matched at the next visit", nil
	case len(told) > 0 && u.Change == xmlschema.ChangeAdded:
		return "no further alert: what was added since the owner was told is not relevant by itself", nil
	case u.Change == xmlschema.ChangeFirst:
		return "no alert: the URD asks for pages when they are first seen", nil
	case u.Change == xmlschema.ChangeAdded:
		return "no alert: the page was seen before without one, and what was added since is not relevant by itself", nil
	}
	return "no alert is stored: webrace-store dlq list shows whether one got lost", nil
}
