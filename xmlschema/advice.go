package xmlschema

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/webrace/webrace/internal/mediatype"
)

// Advice returns why the request, though valid, is probably not what its owner means: above all, why it can
// never alert. It is empty for most requests.
func (u *URD) Advice() []string {
	var messages []string
	for _, a := range advise(u) {
		messages = append(messages, a.Message)
	}
	return messages
}

func advise(u *URD) []Fault {
	var all []Fault
	add := func(about, format string, args ...any) {
		all = append(all, Fault{About: about, Message: fmt.Sprintf(format, args...), Warning: true})
	}
	switch {
	case u.Keywords.empty():
	case u.ProcessType == ProcessNonFilter:
		add("keywords", "the keywords are not looked at, because processtype is nonfilter")
	case u.Keywords.Ceiling() <= u.Keywords.Threshold:
		add("keywords", "this can never alert: the weights give a relevance of at most %d, which does not pass the threshold of %d",
			u.Keywords.Ceiling(), u.Keywords.Threshold)
	default:
		if words := stopWordsAlone(u.Keywords); words != "" {
			add("keywords", "this says nothing about a document: %s is in nearly all of them", words)
		}
	}
	if u.ProcessType != ProcessNonFilter {
		all = append(all, adviseNone(u.Keywords)...)
	}
	if fields := strings.Fields(u.At); len(fields) > 4 && fields[2][0] != '*' && fields[4][0] != '*' {
		add("uri/@at", "at names days of the month and days of the week: either is enough, as in cron; * for one of them leaves it to the other")
	}
	if u.Remember > 0 && u.Change == ChangeFirst {
		add("@remember", "remember is not looked at, because change is first: a document is told of when it is first seen")
	}
	_, watches := u.Prefix()
	switch {
	case u.Depth == 1:
	case watches:
		add("depth", "depth %d is never reached: a URI that ends in * starts no crawl", u.Depth)
	case u.Protocol == ProtocolPOP3 || u.Protocol == ProtocolIMAP || u.Protocol == ProtocolNNTP || u.Protocol == ProtocolDB:
		add("depth", "depth %d is never reached: no links are followed over %s", u.Depth, u.Protocol)
	}
	if parsed, err := url.Parse(u.URI); err == nil {
		if parsed.User != nil {
			add("uri", "the URI holds credentials in clear: keep them in the secret store and name them with secret")
		}
		adviseTextless(u, parsed.Path, add)
	}
	adviseRequest(u.Request, add)
	return all
}

// adviseTextless warns of who looks for something in one file that by its name has no text.
func adviseTextless(u *URD, path string, add func(about, format string, args ...any)) {
	what := "no rule"
	switch {
	case u.Depth != 1 || u.AnyChange() && len(u.Select) == 0:
		return
	case len(u.Select) == 0:
		what = "no keyword"
	}
	if kind, extension := mediatype.TextlessByName(path); kind != "" {
		add("uri", `the URI ends in .%s as %s do, which have no text: %s finds anything there; processtype="nonfilter" without select tells of any change`,
			extension, kind, what)
	}
}

// adviseNone finds the none groups that are one alternative of any: the other keywords are enough without them.
func adviseNone(k Keywords) (all []Fault) {
	positive := 0
	for range k.Positive() {
		positive++
	}
	if positive == 0 {
		return nil // which can never alert, and is said of all keywords
	}
	meant := `match="all" on <keywords>`
	if positive > 1 {
		meant += `, with the other keywords in a <group match="any">`
	}
	var look func(g Group, at string)
	look = func(g Group, at string) {
		if g.Match != "" && g.Match != MatchAny {
			return
		}
		for i, inner := range g.Groups {
			path := fmt.Sprintf("%s/group[%d]", at, i+1)
			if inner.Match == MatchNone {
				all = append(all, Fault{About: path, Warning: true, Message: "this group blocks nothing: it is one alternative of a match=\"any\", " +
					"and the others are enough without it; meant may be " + meant})
			} else {
				look(inner, path)
			}
		}
	}
	look(k.top(), "keywords")
	return all
}

// stopWordsAlone names the words when there is nothing but stop words to look for.
func stopWordsAlone(k Keywords) string {
	var words []string
	for w := range k.Positive() {
		if !stopWords[strings.ToLower(trim(w.Key))] {
			return ""
		}
		words = append(words, fmt.Sprintf("%q", w.Key))
	}
	return strings.Join(words, ", ")
}

// stopWords are the commonest words of English and Greek texts.
var stopWords = func() map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(`
		a about all an and are as at be but by for from had has have he her his i if in into is it its
		more no not of on or other our she so that the their there they this to up was we were what which
		who will with you your
		αν από για δεν είναι ένα ένας η θα και κατά με μετά μια να ο οι όπως ότι που προς σε στη στην στις
		στο στον στους τα τη την της τις το τον του τους των ως`) {
		m[word] = true
	}
	return m
}()
