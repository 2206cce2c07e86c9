package explain

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

// Reach is what the stores know of who is asked about a URL, as it is shown to who asks with some credentials
// or with none: that is for those who gave them.
type Reach struct {
	URL      string
	Secret   string // the name of the credentials
	Source   string // at which it was found first, if that is no page; empty if that is not known
	Statuses []Status
	united   []string // other pages that have moved there for good, which were shown until then
}

// ReachOf finds the reach of a URL.
func (q Queues) ReachOf(secret, url string) (*Reach, error) {
	all, err := q.StatusesOf(secret, url)
	if err != nil {
		return nil, err
	}
	r := &Reach{URL: url, Secret: secret, Statuses: all}
	for _, origin := range r.origins() {
		there, err := q.StatusesOf(secret, origin)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(there, func(s Status) bool { return s.Moved == url && s.hasMovedForGood() }) {
			r.united = append(r.united, origin)
		}
	}
	return r, nil
}

// concerns reports whether the URL lies where the URD looks.
func (r *Reach) concerns(u control.URD) bool {
	if prefix, watches := u.Prefix(); watches {
		return urlnorm.HasPrefix(r.URL, prefix)
	}
	if u.Crawl.ID == "" {
		return false
	}
	if _, _, came := cameTo(r.Statuses, u.Crawl.ID); came {
		return true
	}
	return inScope(u.Crawl, r.URL)
}

func inScope(crawl webrace.Crawl, url string) bool {
	bounds, err := scope.New(crawl.Start, crawl.Scope)
	return err == nil && bounds.Match(url)
}

// Asks reports whether the URD is asked about the URL when that is fetched, and why.
func (r *Reach) Asks(u control.URD) (bool, string) {
	private := "it was fetched with credentials, and is for those who gave them"
	if r.Secret == "" {
		private = "it was asked for by a request of a URD's own, and is for those who make it"
	}
	isPrivate := r.Secret != "" || urlnorm.IsMarked(r.URL)
	prefix, watches := u.Prefix()
	at, came, ok := cameTo(r.Statuses, u.Crawl.ID)
	switch {
	case u.Paused:
		return false, "the URD is paused, and is asked about nothing: webrace-store urd resume " + u.ID
	case watches && !urlnorm.HasPrefix(r.URL, prefix):
		return false, "it does not lie under what the URD watches"
	case watches && isPrivate:
		return false, "it lies under what the URD watches, but " + private
	case watches:
		return true, "it lies under what the URD watches"
	case ok && at.Unmatched:
		return false, fmt.Sprintf("its crawl came to it on level %d in pipeline %s, which has no stage keyword-filter", Level(came.Distance), at.Pipeline)
	case ok && came.Waiting && !at.shownTo(u.Crawl.ID) && within(came.Distance, u.Crawl.Levels):
		return false, fmt.Sprintf("its crawl came to it on level %d, and it %s (pipeline %s)", Level(came.Distance), at.Because(), at.Pipeline)
	case ok && within(came.Distance, u.Crawl.Levels):
		return true, fmt.Sprintf("its crawl came to it on level %d", Level(came.Distance))
	case r.Source != "" && r.Source == u.Crawl.Start && r.Secret == u.Crawl.Secret:
		return true, "it was found at the URD's source"
	}
	if everyone, found := r.everyone(); found && !isPrivate {
		return true, fmt.Sprintf("pipeline %s asks everyone (keyword-filter.audience)", everyone.Pipeline)
	}
	switch {
	case ok:
		return false, fmt.Sprintf("it lies on level %d of the crawl, and the URD asks for %d (depth)", Level(came.Distance), u.Crawl.Levels)
	case u.Crawl.ID == "":
		return false, "the URD starts no crawl"
	case !u.OfTheWeb() && r.Source != "":
		return false, fmt.Sprintf("it was found first at %s, which is another source than the URD's", r.Source)
	case !u.OfTheWeb():
		return false, fmt.Sprintf("it did not come by a source of protocol %s", u.Protocol)
	case !r.concerns(u):
		return false, fmt.Sprintf("it lies outside the scope %s of %s", u.Crawl.Scope, u.Crawl.Start)
	case u.Crawl.Secret != r.Secret:
		return false, OthersSee(u.Crawl.Secret)
	}
	return false, r.notReached(u)
}

// OthersSee returns the remark that a crawl does not see what is looked at, but what these credentials show.
func OthersSee(secret string) string {
	if secret == "" {
		return "its crawl asks without credentials, and sees what those see who have none (leave out --secret)"
	}
	return fmt.Sprintf("its crawl asks with the credentials %s, and sees what these show (--secret %[1]s)", secret)
}

// shownTo reports whether a crawl was shown the URL in an earlier round.
func (s Status) shownTo(crawl string) bool {
	if s.Visit == nil {
		return false
	}
	_, shown := s.Visit.ShownTo(crawl)
	return shown
}

// everyone returns where the URL was fetched for everyone.
func (r *Reach) everyone() (Status, bool) {
	i := slices.IndexFunc(r.Statuses, func(s Status) bool { return s.Everyone && s.Visit != nil })
	if i < 0 {
		return Status{}, false
	}
	return r.Statuses[i], true
}

// notReached returns why the crawl of a URD did not come to a page within its scope.
func (r *Reach) notReached(u control.URD) string {
	for _, s := range r.Statuses {
		if s.State == frontier.Unseen && s.Refused == frontier.Rule {
			return fmt.Sprintf("its crawl does not come to it: the rule %q of pipeline %s denies it", s.Gate.Rule.Text(), s.Pipeline)
		}
	}
	reason := "no page of it leads here"
	switch n := u.Crawl.Levels; {
	case n == 1:
		return "its crawl does not come to it: it fetches the start page alone (depth 1)"
	case n == 2:
		reason = "its start page does not lead here"
	case n > 2:
		reason = fmt.Sprintf("no page on its first %d levels leads here", n-1)
	}
	return "its crawl did not come to it: it has not run since the URD was added, or " + reason
}

// shown returns what the URD was last shown of the URL: the version, and as of which revision of the URDs
// that was matched; false where the URL was never visited for it.
func (r *Reach) shown(u control.URD) (shown webrace.Shown, visited bool) {
	if at, _, ok := cameTo(r.Statuses, u.Crawl.ID); ok {
		if at.Visit == nil {
			return webrace.Shown{}, false
		}
		for i, one := range webrace.ShownOf(at.Visit.Shown, u.Crawl.ID) {
			if i == 0 || within(one.Distance, u.Crawl.Levels) {
				shown = one
			}
		}
		return shown, true
	}
	var last *webrace.Visit
	for _, s := range r.Statuses {
		if s.Visit != nil && (last == nil || s.Visit.At.After(last.At)) {
			last = s.Visit
		}
	}
	if last == nil {
		return webrace.Shown{}, false
	}
	return webrace.Shown{Version: last.Version, Revision: last.Revision}, true
}
