package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/internal/judgements"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// URD explains what the page is worth to one URD, what its owner was told of it, and if nothing, why. Say gets it line
// by line. [Page.LookAtParts] comes before.
func (p *Page) URD(ctx context.Context, u control.URD, say func(format string, args ...any)) error {
	told, err := p.Told(ctx, u)
	if err != nil {
		return err
	}
	for _, aci := range told {
		say("told of version %d at %s: relevance %d, %s", aci.Docbase.Version, wording.Moment(aci.UpdateTime), aci.Relevance, taken(aci))
		if aci.Summary != "" {
			say("  %s", wording.OneLine(aci.Summary))
		}
		if aci.Judgement != nil {
			say("  %s", wording.OneLine(aci.Judgement.String()))
		}
	}
	asked, how := p.Asks(u)
	switch {
	case asked:
	case len(told) == 0:
		how = "no alert: " + how
	case p.Stored != nil:
		if _, isTold := p.toldOfThisVersion(told); !isTold || u.Paused {
			how = "no further alert: " + how
		}
	}
	say("%s", how)
	switch {
	case p.Stored == nil && asked:
		say("no alert: it is not in the object cache")
		return nil
	case p.Stored == nil, !asked && !p.concerns(u):
		return nil
	}
	if why := p.standsIn(); asked && why != "" {
		say("no alert: %s", why)
		return nil
	}
	interest, err := annotate.NewInterest(u.URD)
	if err != nil {
		say("no alert: it cannot be matched: %v", err)
		return nil
	}
	return p.explainInterest(ctx, say, u, interest, asked, told)
}

// explainInterest explains what the page is worth to a URD that may be asked about it.
func (p *Page) explainInterest(ctx context.Context, say func(string, ...any), u control.URD, i *annotate.Interest, asked bool, told []control.ACI) error {
	text, whole, fault := p.part(ctx, i, say)
	if fault != "" {
		say("no alert: %s", fault)
		return ctx.Err()
	}
	why, alert := i.WorthOf(p.AsBody(), text)
	silence, err := p.unmet(ctx, i, say, told)
	if err != nil {
		return err
	}
	if asked && alert != nil {
		kept, err := p.keptBack(ctx, u, alert, told)
		if err != nil {
			return err
		}
		news, from, err := p.news(ctx, i)
		if err != nil {
			return err
		}
		for _, url := range from {
			say("what moved here from %s is not new", url)
		}
		switch this, isTold := p.toldOfThisVersion(told); {
		case !isTold:
			silence = cmp.Or(kept, silence, p.reason(u, told, news))
		case this.Docbase.Since > 0 && news.Reason == match.Alerts: // the owner was told of what is new
			why = news
		}
	}
	result := why.String()
	if silence != "" {
		say("%s", silence)
	}
	if !asked || silence != "" {
		result = whole + ", were it matched now: " + result
	}
	for line := range strings.Lines(result) {
		say("%s", strings.TrimSuffix(line, "\n"))
	}
	for _, warning := range i.Warnings {
		say("warning: %s", warning)
	}
	return nil
}

// unmet prints how the number on which a URD has a condition stands to it, and returns why there is no alert of the
// version at hand because of it; empty if that is not why.
func (p *Page) unmet(ctx context.Context, i *annotate.Interest, say func(string, ...any), told []control.ACI) (string, error) {
	when := i.Number()
	if when == nil {
		return "", nil
	}
	number, err := when.Number(ctx, p.Parts, p.Language, selection.NewBudget())
	if err != nil {
		return "no alert: its number cannot be looked at: " + err.Error(), ctx.Err()
	}
	var last *webrace.Told
	for _, s := range p.Statuses {
		if last = s.Visit.ToldTo(when.URD); last != nil {
			break
		}
	}
	say("%s", when.Explain(number, last))
	if _, isTold := p.toldOfThisVersion(told); isTold {
		return "", nil
	}
	switch tell, next, _ := when.Judge(number, last, selection.NewBudget()); {
	case tell:
		return "", nil
	case !number.Found:
		return "no alert: there is no number in what it selects", nil
	case next.Met:
		return "no further alert: the owner was told that number", nil
	}
	return "no alert: the number does not meet the condition", nil
}

// part returns the text of the part of the page that a URD looks at and what to call it, and prints how much of the
// page that is, and what is to be remarked on its rules. A fault, if there is one, tells why nothing is looked at.
func (p *Page) part(ctx context.Context, i *annotate.Interest, say func(string, ...any)) (text *webrace.Text, name, fault string) {
	if !i.Selects() {
		return p.Text, "the whole page", ""
	}
	part, known := p.looked[i.ID]
	if !known { // it is not asked, and takes nothing from the others
		part.Part, part.Err = i.Part(ctx, p.Parts, selection.NewBudget())
	}
	if part.Err != nil {
		return nil, "", "its part of the page cannot be looked at: " + part.Err.Error()
	}
	if i.AsksForData() {
		say("it looks at what the page says as RDF: %s", wording.Count(len(part.Text.Blocks), "block"))
	} else {
		say("it looks at part of the page: %d of %s", len(part.Text.Blocks), wording.Count(len(p.Text.Blocks), "block"))
	}
	for _, remark := range part.Remarks() {
		say("  %s", remark)
	}
	switch {
	case part.Text.Unmet:
		return nil, "", "nothing on the page is as it asks"
	case len(part.Text.Blocks) == 0:
		return nil, "", "what it selects is not on the page"
	}
	return part.Text, "all of that part", ""
}

func taken(aci control.ACI) string {
	if aci.Retrieved.IsZero() {
		return "waits to be taken"
	}
	return "taken at " + wording.Moment(aci.Retrieved)
}

// Told returns what the owner of a URD was told of the page.
func (p *Page) Told(ctx context.Context, u control.URD) (told []control.ACI, err error) {
	for aci, err := range p.control.ACIs(ctx, control.Filter{Owner: u.Owner, URD: u.ID, URL: p.URL}) {
		if err != nil {
			return nil, err
		}
		told = append(told, aci)
	}
	return told, nil
}

// toldOfThisVersion returns the annotation that is of the version at hand: of what was added with it, for example.
func (p *Page) toldOfThisVersion(told []control.ACI) (aci control.ACI, isTold bool) {
	i := slices.IndexFunc(told, func(a control.ACI) bool { return a.URI == p.URL && a.Docbase.Version == p.Version.Number })
	if i < 0 {
		return control.ACI{}, false
	}
	return told[i], true
}

// keptBack returns why an alert of the latest version that a pipeline has made is not among those that the owner was
// told; empty if it is, or none was made.
func (p *Page) keptBack(ctx context.Context, u control.URD, worth *match.Alert, told []control.ACI) (string, error) {
	if _, isTold := p.toldOfThisVersion(told); isTold {
		return "", nil
	}
	id := annotate.ACI(u.URD, *worth, p.Document(), 0).ID
	first, isMirror, err := p.control.MirrorOf(ctx, id)
	if err != nil {
		return "", err
	}
	if isMirror {
		return fmt.Sprintf("no alert of its own: the owner was told of the same text, or nearly the same, at %s, where this page is listed (aci-emit.mirrors)", first.URI), nil
	}
	if j, err := judgements.Find(p.states, id); err != nil || j != nil {
		if err != nil {
			return "", err
		}
		return "no alert: " + wording.OneLine(j.String()), nil
	}
	for aci, err := range p.control.Withheld(ctx, u.Owner) {
		switch {
		case err != nil:
			return "", err
		case aci.ID == id:
			return "no alert: it was withheld, because the owner had been sent what their budget allows a day", nil
		}
	}
	return "", nil
}

// news is what the latest version is worth to a URD that was shown those before it, as far as they are stored.
// It returns also where what moved to it came from.
func (p *Page) news(ctx context.Context, i *annotate.Interest) (why match.Explanation, from []string, err error) {
	versions, err := p.cache.History(p.Version.View())
	if err != nil {
		return why, nil, err
	}
	var seen annotate.Seen
	var last *objects.Version
	origins, placeholders := p.origins(), p.placeholders()
	for _, v := range versions[max(0, len(versions)-match.MostBaselineVersions-1):] {
		d, err := Read(ctx, p.cache, v)
		if err != nil {
			if err = unlessGone(err); err != nil {
				return why, nil, err
			}
			continue
		}
		if placeholders.next(d) {
			continue
		}
		part, err := i.Part(ctx, d.Parts, selection.NewBudget())
		if err != nil {
			continue // it looked at nothing
		}
		if last != nil && last.URL != p.URL && v.URL == p.URL {
			if err := p.unite(ctx, p.cache, i, &seen); err != nil {
				return why, nil, err
			}
		}
		moving := &moving{cache: p.cache, d: d, before: last, origins: origins, instead: p.instead()}
		seen.Moves = moving.to(ctx, i, &err)
		if why, _ = seen.Show(i, part, d.AsBody()); err != nil {
			return why, nil, err
		}
		last, from = &v, moving.from
	}
	return why, from, ctx.Err()
}

// reason returns why there is no alert, given what the latest version is worth as news.
func (p *Page) reason(u control.URD, told []control.ACI, news match.Explanation) string {
	shown, visited := p.shown(u)
	switch {
	case visited && shown.Revision < u.Interest:
		return "no alert yet: the URD was added or changed after the page was last matched; the next visit matches it anew"
	case visited && shown.Version < p.Version.Number:
		return "no alert yet: this version was stored for another crawl, and is matched at the next visit"
	case u.Change == xmlschema.ChangeFirst:
		return "no alert: the URD asks for pages when they are first seen"
	case len(told) > 0 && news.Reason != match.Alerts:
		return fmt.Sprintf("no further alert: %s", news.Reason)
	case !visited:
		return "no alert: no pipeline has visited the page, which was imported"
	case p.Version.Number == 1 && news.Reason != match.Alerts:
		return fmt.Sprintf("no alert: %s", news.Reason)
	case p.Version.Number > 1 && news.Reason != match.Alerts:
		return fmt.Sprintf("no alert: the page was seen before without one, and %s", news.Reason)
	}
	return "no alert is stored: it has been removed, or was lost (webrace-store dlq list shows what failed)"
}
