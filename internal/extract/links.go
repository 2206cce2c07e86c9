package extract

import (
	"bytes"
	"errors"
	"hash/maphash"
	"strings"

	"github.com/webrace/webrace/internal/hashtable"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/urlnorm"
)

// outcome is what became of a reference.
type outcome uint8

const (
	linked outcome = iota // it is among the links now, or was before
	otherScheme
	invalid
	overLimit
)

// linking is the work on the references of a document.
type linking struct {
	byURL hashtable.Table // the numbers of the links
	url   []byte          // the last that was resolved
	last  int32           // the number of the link that it is

	// Most references of a page repeat one another, letter by letter: those cost a look-up.
	refs     [][]byte // that were seen on the page, without their fragments
	outcomes []outcome
	targets  []int32         // of those that are links, their numbers; only if anchors are wanted
	byRef    hashtable.Table // the numbers of refs
}

var seed = maphash.MakeSeed()

// reset forgets the document, and the memory that one with unusually many links took.
func (l *linking) reset() {
	if cap(l.refs) > keep/32 {
		*l = linking{}
		return
	}
	l.nextPage()
	l.byURL.Reset()
}

// nextPage forgets the references, which mean something else on another page.
func (l *linking) nextPage() {
	clear(l.refs) // they point into the page
	l.refs, l.outcomes, l.targets = l.refs[:0], l.outcomes[:0], l.targets[:0]
	l.byRef.Reset()
}

// follow adds the links of what was scanned.
func (x *extraction) follow(s *htmltext.Scanner) {
	if s.Base != nil {
		x.rebase(s.Base)
	}
	x.nextPage()
	for _, l := range s.Links {
		if (l.NoFollow || x.NoFollow) && !x.opts.IgnoreNoFollow {
			x.Candidates++
			if x.NoFollow {
				x.Refused.Page++
			} else {
				x.Refused.NoFollow++
			}
			continue
		}
		if n := x.linkOnce(l.URL); n >= 0 {
			if text := s.TextOf(l); text != nil {
				x.call(n, text)
			}
		}
	}
	x.Candidates += s.Skipped
	x.Refused.Limit += s.Skipped
}

// followRequested adds what scripts of the page asked for, as if it stood at its end.
func (x *extraction) followRequested() {
	for _, url := range x.opts.Requested {
		if x.NoFollow && !x.opts.IgnoreNoFollow {
			x.Candidates++
			x.Refused.Page++
			continue
		}
		x.link([]byte(url))
	}
}

// sendOn notes where the page sends its reader. That is refused for the reasons for which links are, and
// counts as one then.
func (x *extraction) sendOn(ref []byte) {
	if x.NoFollow && !x.opts.IgnoreNoFollow {
		x.Candidates++
		x.Refused.Page++
		return
	}
	u, err := x.base.Resolve(ref)
	if err != nil {
		x.linkOnce(ref)
		return
	}
	x.Refresh = x.opts.Rules.Apply(u)
}

// linkOnce is link for the references of one page, whose bytes stay as they are. If anchors are wanted it returns the
// number of the link; -1 if it is none.
func (x *extraction) linkOnce(ref []byte) (link int32) {
	n, had := number(&x.byRef, x.refs, cutFragment(ref))
	if had && x.outcomes[n] != overLimit { // what it stood for may be among the links by now
		x.count(x.outcomes[n], true)
	} else {
		if !had {
			x.refs, x.outcomes = append(x.refs, cutFragment(ref)), append(x.outcomes, overLimit)
			if x.opts.Anchors {
				x.targets = append(x.targets, 0)
			}
		}
		x.outcomes[n] = x.link(ref)
		if x.opts.Anchors {
			x.targets[n] = x.last
		}
	}
	if !x.opts.Anchors || x.outcomes[n] != linked {
		return -1
	}
	return x.targets[n]
}

// mostCalled is how many bytes of text are kept for a link: that of several anchors, or of one that was left open.
const mostCalled = 256

// call adds to what a link is called. What several anchors say of it is put together, each once.
func (x *extraction) call(link int32, text []byte) {
	for len(x.Anchors) <= int(link) {
		x.Anchors = append(x.Anchors, "")
	}
	called := x.Anchors[link]
	text = bytes.Join(bytes.Fields(text[:min(len(text), mostCalled)]), []byte(" "))
	switch room := mostCalled - len(called) - 1; {
	case called == "":
		x.Anchors[link] = valid(text)
	case len(text) <= room && !strings.Contains(called, string(text)):
		x.Anchors[link] = called + " " + valid(text)
	}
}

// valid returns a text without the character that it may end in the middle of.
func valid(text []byte) string { return strings.ToValidUTF8(string(text), "") }

// link resolves a reference and adds it to the links, or counts why not.
func (x *extraction) link(ref []byte) outcome {
	o, repeated := x.resolve(ref)
	x.count(o, repeated)
	return o
}

func (x *extraction) count(o outcome, repeated bool) {
	x.Candidates++
	switch {
	case o == linked && repeated:
		x.Repeated++
	case o == otherScheme:
		x.Refused.Scheme++
	case o == invalid:
		x.Refused.Invalid++
	case o == overLimit:
		x.Refused.Limit++
	}
}

// resolve makes a link of a reference, unless it is there already.
func (x *extraction) resolve(ref []byte) (o outcome, repeated bool) {
	var err error
	if x.url, err = x.base.Append(x.url[:0], ref); err != nil {
		if errors.Is(err, urlnorm.ErrScheme) {
			return otherScheme, false
		}
		if len(x.Failed) < mostFailures {
			x.Failed = append(x.Failed, Failure{string(ref[:min(len(ref), longestFailure)]), err})
		}
		return invalid, false
	}
	if x.opts.Rules.Concern(x.url) {
		x.url = append(x.url[:0], x.opts.Rules.Apply(string(x.url))...)
	}
	full := len(x.Links) >= x.opts.MaxLinks
	if full {
		x.last, repeated = find(&x.byURL, x.Links, x.url)
	} else {
		x.last, repeated = number(&x.byURL, x.Links, x.url)
	}
	switch {
	case repeated:
		return linked, true
	case full:
		return overLimit, false
	}
	x.Links = append(x.Links, string(x.url))
	return linked, false
}

// number returns the number of a key among those that are there, or gives it the next.
func number[T string | []byte](t *hashtable.Table, there []T, key []byte) (n int32, had bool) {
	for h := maphash.Bytes(seed, key); ; h++ { // two keys of one hash lie side by side
		if n, had = t.GetOrSet(h, int32(len(there))); !had || string(there[n]) == string(key) {
			return n, had
		}
	}
}

// find returns the number of a key among those that are there, if it is.
func find[T string | []byte](t *hashtable.Table, there []T, key []byte) (n int32, had bool) {
	for h := maphash.Bytes(seed, key); ; h++ {
		if n, had = t.Get(h); !had || string(there[n]) == string(key) {
			return n, had
		}
	}
}

// cutFragment returns a reference without its fragment, which names a place within a document. A space before
// it is part of the URL, and would not be at its end.
func cutFragment(ref []byte) []byte {
	if i := bytes.IndexByte(ref, '#'); i == 0 || i > 0 && ref[i-1] > ' ' {
		return ref[:i]
	}
	return ref
}
