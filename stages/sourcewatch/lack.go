package sourcewatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

// found is the last visit of where a crawl begins, and under which key its document is stored.
type found struct {
	visit *webrace.Visit
	view  string
}

// part is what a URD looks for in a document: all that its rules leave, or what one of several selects.
type part struct {
	id    uint64           // in what visits remember
	rules []selection.Rule // of one of several, that one; none for all of the text
	one   bool             // of several
}

func (p *part) isWhole() bool { return !p.one }

// sought returns what a URD looks for: all of it first, and then, of several rules that select, what each does.
func sought(urd control.URD) []*part {
	rules := urd.Rules()
	all := []*part{{id: selection.ID(selection.Key(rules)), rules: rules}}
	if len(urd.Select) < 2 {
		return all
	}
	whole, err := selection.Compile(rules)
	if err != nil { // which no stage matches
		return all
	}
	for _, one := range whole.Parts() {
		selects := slices.DeleteFunc(one.Rules(), func(r selection.Rule) bool { return r.Ignore })
		all = append(all, &part{selection.ID(one.Key()), selects, true})
	}
	return all
}

// lack returns why there is nothing of what a URD looks for where its crawl begins; empty if there may be something.
// Where the document leads on, what the URD looks for may be on another page.
func (s *stage) lack(urd control.URD, p *part, f found) (string, error) {
	_, textless := f.visit.Lacks(selection.ID(""))
	_, absent := f.visit.Lacks(p.id)
	switch {
	case f.visit.IsPlaceholder() && !p.isWhole(): // which is said of all of it
		return "", nil
	case f.visit.IsPlaceholder():
		return s.instead(f)
	case !absent, f.visit.Refresh != "", len(p.rules) == 0 && urd.AnyChange():
		return "", nil
	case !textless && urd.Crawl.Levels == 1:
		return fmt.Sprintf("nothing in it is what the rules of the URD look for (%s): webrace-store explain says more", named(p.rules)), nil
	case !textless:
		return "", nil
	}
	version, err := s.objects.Get(f.view, f.visit.Version)
	if errors.Is(err, objects.ErrNotFound) { // it was removed as garbage
		version, err = objects.Version{}, nil
	}
	if err != nil || urd.Crawl.Levels == 1 {
		return withoutText(version.MediaType), err
	}
	links, err := s.objects.Links(version)
	if errors.Is(err, objects.ErrNotFound) || len(links) > 0 {
		return "", nil
	}
	return withoutText(version.MediaType), err
}

// instead returns what came in the place of a document.
func (s *stage) instead(f found) (string, error) {
	types := [2]string{"the document", "something else"}
	for i, number := range []int{f.visit.Placeholder.Whole, f.visit.Version} {
		version, err := s.objects.Get(f.view, number)
		switch {
		case errors.Is(err, objects.ErrNotFound):
		case err != nil:
			return "", err
		case version.Size == 0:
			types[i] = "nothing (0 bytes)"
		default:
			types[i] = version.MediaType
		}
	}
	if types[0] == types[1] {
		types[1] = "a page or an error, as that"
	}
	return fmt.Sprintf("in the place of %s comes %s: nobody is told of that, unless it stays so", types[0], types[1]), nil
}

// mostNamed is how many rules a notice names.
const mostNamed = 3

func named(rules []selection.Rule) string {
	var all []string
	for _, r := range rules[:min(len(rules), mostNamed)] {
		all = append(all, r.String())
	}
	if more := len(rules) - mostNamed; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// withoutText describes what a document without text is.
func withoutText(mediaType string) string {
	switch mediaType {
	case "":
		return "it has no text"
	case "text/html", "application/xhtml+xml":
		return "the page has no text; if scripts write it, have it rendered (stage render)"
	}
	return fmt.Sprintf("it is of the type %s, and has no text; process type nonfilter, without rules, tells of any change of it", mediaType)
}
