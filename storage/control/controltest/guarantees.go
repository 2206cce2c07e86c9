package controltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

var guarantees = []guarantee{
	{"what was put is there after reopening", putIsKept},
	{"putting is all or nothing", putIsWhole},
	{"one owner does not replace another's URD", ownersAreKeptApart},
	{"changes that are made at once are not lost", changesAreNotLost},
	{"what is added replaces nothing", addedReplacesNothing},
	{"revisions say what changed, once each", revisionsAreGivenOnce},
	{"queries select what their expression says", queriesSelect},
	{"an iterator may be left at any point, and sees one moment", iteratorsMayBeLeft},
	{"a context that has ended stops reading and writing", endedContextsStop},
	{"starts are found by host and crawl", startsAreFound},
	{"the times of a URD count since it was given them", timesAreKept},
	{"a paused URD starts no crawl, and is resumed as it was", pausedStartNothing},
	{"copies of the URD base are waited for", copiesAreAwaited},
	{"changes, checks and quotas wake", changesWake},
	{"a check that was asked for is kept", checksAreKept},
	{"an ACI is stored once", alertsAreNotRepeated},
	{"the versions of a document that were told are listed", versionsThatWereToldAreListed},
	{"the same text at other documents is listed where it was told first", mirrorsAreListed},
	{"what is shorter, or differs in what matched, is told for each document", onlyMirrorsAreListed},
	{"a text that comes back is told again, once for each version", returningTextIsToldAgain},
	{"an ACI is taken once", takenOnce},
	{"followers see every ACI in order", followersSeeAll},
	{"what is waited for is known", waitingIsKnown},
	{"old ACIs expire, are trimmed, and never come back", oldAlertsGo},
	{"an ACI is replaced in its place", replacedInPlace},
	{"quotas and usage are kept", usageIsKept},
	{"budgets are kept, and what is beyond them is withheld once", budgetsAreKept},
	{"secrets are kept through a rotation", secretsAreKept},
	{"sessions end with their secret", sessionsEndWithTheirSecret},
	{"a secret that comes from elsewhere is read there", secretsAreReadElsewhere},
	{"accounts are kept, and no two are the same", accountsAreKept},
	{"who takes a name does not inherit what is stored under it", namesAreNotInherited},
	{"a token is good once, for one purpose, until it expires", tokensAreUsedOnce},
	{"web sessions end with the password, and with the account", webSessionsEnd},
	{"who logs in changes their own account, and no other", ownAccountsAreChanged},
	{"who leaves has URDs that rest, and is logged in nowhere", leaversRest},
	{"channels are kept, and their addresses sealed", channelsAreKept},
	{"an owner has the secrets used that are theirs, or granted", secretsHaveOwners},
	{"a secret is not used for what its owner has not allowed, by a change", secretsStayOutOfChanges},
	{"an ACI is filed once, for its owner alone", annotationsAreFiledOnce},
	{"a message is composed once, of what is due, and sent until it is taken", messagesAreComposedOnce},
	{"a channel that refuses is stopped", refusingChannelsStop},
	{"what is urgent is composed first, and all in its turn", theUrgentIsComposedFirst},
	{"what is to be sent is not trimmed", whatIsToBeSentIsNotTrimmed},
	{"what is another's is as if it were not there", nobodySeesAnothers},
	{"of an owner who is erased nothing stays", ownersAreErased},
	{"cursors are kept", cursorsAreKept},
	{"dead letters are kept", lettersAreKept},
	{"a backup is the store as it was", backedUp},
	{"a check finds nothing wrong in what was written", checkFindsNothing},
}

func urd(id, owner, uri string) *xmlschema.URD {
	u := xmlschema.NewURD(owner, uri)
	u.ID, u.Keywords = id, xmlschema.NewKeywords(xmlschema.Keyword{Key: "ibm", Weight: 4})
	return u
}

func aci(n int, owner string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: fmt.Sprint("aci", n), URD: "u", Owner: owner, URI: fmt.Sprintf("http://a.example/%d", n), Title: "Title",
		Format: xmlschema.FormatHTML, Urgency: 1, UpdateTime: time.Unix(int64(1e9+n), 0).UTC(), Docbase: xmlschema.Docbase{Version: 1 + n},
	}
}

func (s *session) put(urds ...*xmlschema.URD) (effects []control.Effect) {
	changes, err := s.store.Put(s.ctx, urds)
	s.ok(err)
	for _, c := range changes {
		effects = append(effects, c.Effect)
	}
	return effects
}

func (s *session) putACIs(acis ...*xmlschema.ACI) int {
	stored, err := s.store.PutACIs(s.ctx, acis)
	s.ok(err)
	return stored.Added
}

func (s *session) now() control.Point {
	p, err := s.store.Now(s.ctx)
	s.ok(err)
	return p
}

func (s *session) revision() int64 {
	revision, err := s.store.Revision(s.ctx)
	s.ok(err)
	return revision
}

func ids(urds []control.URD) []string {
	names := make([]string, len(urds))
	for i, u := range urds {
		names[i] = u.ID
	}
	return names
}

func seqs(acis []control.ACI) []int64 {
	numbers := make([]int64, len(acis))
	for i, a := range acis {
		numbers[i] = a.Seq
	}
	return numbers
}

func putIsKept(s *session) {
	a := urd("a", "eleni", "http://a.example/x")
	a.Timing, a.Urgency, a.Depth, a.Secret = time.Hour, 3, 4, "bank"
	s.same("effects", s.put(a, urd("b", "costas", "http://b.example/"), urd("c", "eleni", "http://c.example/*")), "[added added added]")
	s.reopen()
	got, err := s.store.Get(s.ctx, "a")
	s.ok(err)
	s.same("canonical form", string(got.Canonical()), string(a.Canonical()))
	crawl, _, err := control.CrawlOf(a)
	s.ok(err)
	s.same("crawl", got.Crawl, crawl)
	s.same("all", ids(all(s, s.store.All(s.ctx))), "[a b c]")
	s.same("of eleni", ids(all(s, s.store.ByOwner(s.ctx, "eleni"))), "[a c]")
	s.same("of the crawl", ids(all(s, s.store.ByCrawl(s.ctx, crawl.ID))), "[a]")
	s.same("effects of a repeat", s.put(a), "[unchanged]")
	s.ok(s.store.Delete(s.ctx, "a"))
	_, err = s.store.Get(s.ctx, "a")
	s.must(errors.Is(err, control.ErrNotFound), "getting what was deleted: %v", err)
	s.must(errors.Is(s.store.Delete(s.ctx, "a"), control.ErrNotFound), "deleting twice is no error")
}

func putIsWhole(s *session) {
	_, err := s.store.Put(s.ctx, []*xmlschema.URD{urd("a", "eleni", "http://a.example/"), urd("b", "", "http://b.example/")})
	s.must(err != nil, "a URD without an owner is accepted")
	nobodys := aci(2, "")
	_, err = s.store.PutACIs(s.ctx, []*xmlschema.ACI{aci(1, "eleni"), nobodys})
	s.must(err != nil, "an ACI without an owner is accepted")
	s.reopen()
	s.same("URDs", len(all(s, s.store.All(s.ctx))), 0)
	s.same("ACIs", len(all(s, s.store.ACIs(s.ctx, control.Filter{}))), 0)
	s.same("point", s.now(), control.Point{})
}

func ownersAreKeptApart(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"))
	_, err := s.store.Put(s.ctx, []*xmlschema.URD{urd("a", "costas", "http://evil.example/")})
	s.must(err != nil, "costas replaced what eleni asked for")
	got, err := s.store.Get(s.ctx, "a")
	s.ok(err)
	s.same("owner", got.Owner, "eleni")
}

func revisionsAreGivenOnce(s *session) {
	a := urd("a", "eleni", "http://a.example/")
	s.same("revision of an empty base", s.revision(), 0)
	s.put(a, urd("b", "eleni", "http://b.example/"))
	before := s.revision()
	a.Urgency = 3
	s.put(a)
	s.ok(s.store.Delete(s.ctx, "b"))
	s.reopen()
	changed := all(s, s.store.Revised(s.ctx, before))
	s.must(len(changed) == 2 && changed[0].ID == "a" && changed[0].URD.Urgency == 3 && changed[1].ID == "b" && changed[1].URD == nil,
		"changes: %+v", changed)
	s.must(before < changed[0].Number && changed[0].Number < changed[1].Number && changed[1].Number == s.revision(), "numbers: %+v", changed)
	s.same("nothing since", len(all(s, s.store.Revised(s.ctx, s.revision()))), 0)
	s.same("revision at the point", s.now().Revision, s.revision())
}

func queriesSelect(s *session) {
	feed := urd("b", "eleni", "http://b.example/")
	feed.Protocol, feed.Urgency = xmlschema.ProtocolFeed, 2
	s.put(urd("a", "eleni", "http://a.example/"), feed, urd("c", "costas", "http://a.example/"))
	for expression, want := range map[string]string{
		"/urd[@id='b']": "[b]", "/urd[@owner='eleni' and uri='http://a.example/']": "[a]", "/urd[uri='http://a.example/']": "[a c]",
		"/urd[type/@protocol='feed']": "[b]", "/urd[urgency/@urgent='02']": "[]", "//keyword[@key='ibm' and @weight > 3]": "[a b c]",
		"/urd[not(@owner='eleni') or contains(uri, 'b.')]": "[b c]", "/urd[@id='none']": "[]",
	} {
		s.same(expression, ids(all(s, s.store.Query(s.ctx, expression))), want)
	}
	for _, err := range s.store.Query(s.ctx, "/urd[") {
		s.must(err != nil, "a bad expression is accepted")
	}
	s.putACIs(aci(1, "eleni"), aci(2, "costas"))
	s.same("ACIs", seqs(all(s, s.store.ACIs(s.ctx, control.Filter{XPath: "/aci[@owner='costas']"}))), "[2]")
}

func changesWake(s *session) {
	for _, step := range []func() error{
		func() error {
			_, err := s.store.Put(s.ctx, []*xmlschema.URD{urd("a", "eleni", "http://a.example/")})
			return err
		},
		func() error { return s.store.CheckNow(s.ctx, "a") },
		func() error { return s.store.SetQuota(s.ctx, "eleni", 5) },
		func() error { return s.store.Delete(s.ctx, "a") },
	} {
		before := s.now()
		woken := make(chan error, 1)
		go func() {
			after, err := s.store.NextChange(s.ctx, before)
			if err == nil && after == before {
				err = errors.New("woken for nothing")
			}
			woken <- err
		}()
		s.ok(step())
		s.ok(<-woken)
		s.must(s.now() != before, "nothing was counted")
	}
	at := s.now()
	s.putACIs(aci(1, "eleni"))
	s.ok(s.store.SetCursor(s.ctx, "x", 1))
	s.same("after what changes no URD", s.now(), at)
}

func checksAreKept(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"))
	s.ok(s.store.CheckNow(s.ctx, "b"))
	s.must(errors.Is(s.store.CheckNow(s.ctx, "none"), control.ErrNotFound), "a check of nothing is no error")
	s.reopen()
	s.same("asked", ids(all(s, s.store.Asked(s.ctx, 0))), "[b]")
	s.same("asked since", ids(all(s, s.store.Asked(s.ctx, s.now().Checks))), "[]")
	got, err := s.store.Get(s.ctx, "b")
	s.ok(err)
	s.must(!got.CheckAsked.IsZero(), "when it was asked for is not kept")
}

func alertsAreNotRepeated(s *session) {
	s.same("new", s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(1, "eleni")), 2)
	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.reopen()
	changed := aci(2, "eleni")
	changed.Summary = "something else"
	s.same("new when repeated", s.putACIs(aci(1, "eleni"), changed), 0)
	stored := all(s, s.store.ACIs(s.ctx, control.Filter{}))
	s.same("stored", seqs(stored), "[1 2]")
	s.same("what was told", stored[1].Summary, aci(2, "eleni").Summary)
	waiting, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.same("told again", seqs(waiting), "[]")
}

func versionsThatWereToldAreListed(s *session) {
	const page = "http://a.example/"
	for n, version := range []int{3, 1, 2, 5, 4} {
		a, another := aci(2*n, "eleni"), aci(2*n+1, "eleni")
		a.URD, a.URI, another.URI = fmt.Sprint("u", version%2), page, page+"other"
		a.Docbase.Version, another.Docbase.Version = version, version
		s.putACIs(a, another)
	}
	between := func(after, before int) string {
		return fmt.Sprint(all(s, s.store.VersionsTold(s.ctx, page, after, before)))
	}
	s.same("between the first and the last", between(1, 5), "[{2 u0} {3 u1} {4 u0}]")
	s.same("before the second", between(0, 2), "[{1 u1}]")
	s.same("after the last", between(5, 9), "[]")
	s.same("between two neighbours", between(3, 4), "[]")
}

// shown is an ACI of a URD that showed a text of these fingerprints, of a document in a version.
func shown(uri string, version int, text, matched, likeness uint64) *xmlschema.ACI {
	a := aci(1, "eleni")
	a.URD, a.URI = "u", uri
	a.Docbase = xmlschema.Docbase{Digest: a.Docbase.Digest, Version: version, Shown: text, Matched: matched, Likeness: likeness}
	a.ID = xmlschema.ACIID(a.URD, "", uri, a.Docbase)
	return a
}

const pageA, pageB, pageC = "http://a.example/", "http://b.example/", "http://c.example/"

func mirrorsAreListed(s *session) {
	s.same("new", s.putACIs(shown(pageA, 1, 10, 20, 0)), 1)
	s.reopen()
	var others []*xmlschema.ACI
	for i := range 25 {
		others = append(others, shown(fmt.Sprint(pageB, i), 3, 10, 21, 0))
	}
	stored, err := s.store.PutACIs(s.ctx, others)
	s.ok(err)
	s.same("mirrors", stored.Mirrors, 25)
	s.same("added", stored.Added, 0)
	s.same("new when repeated", s.putACIs(append(others, shown(pageA, 1, 10, 20, 0))...), 0)
	s.reopen()
	kept := all(s, s.store.ACIs(s.ctx, control.Filter{}))
	s.same("kept", seqs(kept), "[1]")
	s.same("count", kept[0].Also.Count, 25)
	s.same("named", len(kept[0].Also.Documents), xmlschema.MostMirrors)
	s.same("the first", kept[0].Also.Documents[0], xmlschema.Mirror{URI: pageB + "0", Version: 3})
	s.same("found by XPath", seqs(all(s, s.store.ACIs(s.ctx, control.Filter{XPath: "/aci[also/uri='" + pageB + "19']"}))), "[1]")
	of, known, err := s.store.MirrorOf(s.ctx, others[24].ID)
	s.ok(err)
	s.must(known && of.URI == pageA, "it is not said of what the last is a mirror")
	_, known, err = s.store.MirrorOf(s.ctx, kept[0].ID)
	s.must(err == nil && !known, "what is no mirror is said to be one")
	waits, err := s.store.Waiting(s.ctx, []control.VersionRef{{URL: pageB + "24", Version: 3}, {URL: pageB + "24", Version: 2}})
	s.ok(err)
	s.same("versions that are waited for", len(waits), 1)

	_, err = s.store.Take(s.ctx, "eleni")
	s.ok(err)
	_, err = s.store.Trim(s.ctx, time.Now().Add(time.Hour))
	s.ok(err)
	s.reopen()
	s.same("new when all was trimmed", s.putACIs(append(others, shown(pageA, 1, 10, 20, 0))...), 0)
}

func onlyMirrorsAreListed(s *session) {
	const text, nearly = 0xF0F0F0F0F0F0F0F0, 0xF0F0F0F0F0F0F0F3
	s.same("new", s.putACIs(shown(pageA, 1, 10, 20, text)), 1)
	s.same("new of another text", s.putACIs(shown(pageB, 1, 11, 20, ^uint64(text))), 1)
	s.same("new of a text that is too short", s.putACIs(shown(pageB, 2, 0, 20, 0), shown(pageC, 2, 0, 20, 0)), 2)
	s.same("new of nearly the same text, where something else matched", s.putACIs(shown(pageB, 3, 12, 21, nearly)), 1)
	s.same("new of nearly the same text", s.putACIs(shown(pageC, 3, 13, 20, nearly)), 0)
	private := shown(pageA, 1, 10, 20, text)
	private.Docbase.Secret = "bank"
	private.ID = xmlschema.ACIID(private.URD, "", private.URI, private.Docbase)
	s.same("new with credentials", s.putACIs(private), 0)
	stranger := shown(pageC, 4, 10, 20, text)
	stranger.URD, stranger.ID = "another", "x"
	s.same("new for another URD", s.putACIs(stranger), 1)
	each, err := s.store.PutEachACI(s.ctx, []*xmlschema.ACI{shown(pageC, 5, 10, 20, text)})
	s.ok(err)
	s.same("new where each is to be told", each.Added, 1)
}

func returningTextIsToldAgain(s *session) {
	const five, six = 10, 11
	s.same("the page and its mirror", s.putACIs(shown(pageA, 1, five, 20, 0), shown(pageB, 1, five, 20, 0)), 1)
	s.same("a change", s.putACIs(shown(pageA, 2, six, 21, 0), shown(pageB, 2, six, 21, 0)), 1)
	s.reopen()
	s.same("it returns, to the mirror first", s.putACIs(shown(pageB, 3, five, 20, 0), shown(pageA, 3, five, 20, 0)), 1)
	s.same("again", s.putACIs(shown(pageA, 4, six, 21, 0), shown(pageB, 4, six, 21, 0)), 1)
	s.same("at one alone", s.putACIs(shown(pageA, 5, five, 20, 0)), 1)
	s.same("all of it once more", s.putACIs(shown(pageA, 1, five, 20, 0), shown(pageB, 1, five, 20, 0), shown(pageA, 2, six, 21, 0),
		shown(pageB, 2, six, 21, 0), shown(pageB, 3, five, 20, 0), shown(pageA, 3, five, 20, 0), shown(pageA, 5, five, 20, 0)), 0)
}

func takenOnce(s *session) {
	s.putACIs(aci(1, "eleni"), aci(2, "costas"), aci(3, "eleni"))
	for _, want := range []string{"[1 3]", "[]"} {
		taken, err := s.store.Take(s.ctx, "eleni")
		s.ok(err)
		s.same("taken", seqs(taken), want)
		s.reopen()
	}
}

func followersSeeAll(s *session) {
	const count = 20
	followed := make(chan error, 1)
	go func() {
		for seen := int64(0); seen < count; {
			next, err := s.store.NextACIs(s.ctx, seen, 3)
			if err == nil && (len(next) == 0 || len(next) > 3) {
				err = fmt.Errorf("%d ACIs at once", len(next))
			}
			for _, a := range next {
				if seen++; a.Seq != seen && err == nil {
					err = fmt.Errorf("%d follows %d", a.Seq, seen-1)
				}
			}
			if err != nil {
				followed <- err
				return
			}
		}
		followed <- nil
	}()
	for n := range count {
		s.putACIs(aci(n, "eleni"))
	}
	s.ok(<-followed)
	last, err := s.store.LastACI(s.ctx)
	s.ok(err)
	s.same("last", last, count)
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err = s.store.NextACIs(ctx, count, 1)
	s.must(errors.Is(err, context.Canceled), "waiting after the end: %v", err)
}

func waitingIsKnown(s *session) {
	s.putACIs(aci(1, "eleni"), aci(2, "costas"))
	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	taken, waiting := control.VersionRef{URL: "http://a.example/1", Version: 2}, control.VersionRef{URL: "http://a.example/2", Version: 3}
	refs := []control.VersionRef{taken, waiting, {URL: taken.URL, Version: 9}}
	found, err := s.store.Waiting(s.ctx, refs)
	s.ok(err)
	s.must(len(found) == 1 && found[waiting], "waiting: %v", found)
	found, err = s.store.Referred(s.ctx, refs)
	s.ok(err)
	s.must(len(found) == 2 && found[waiting] && found[taken], "referred: %v", found)
}

func oldAlertsGo(s *session) {
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "eleni"))
	n, err := s.store.Expire(s.ctx, time.Unix(1e9+3, 0))
	s.ok(err)
	s.same("expired", n, 2)
	for i, a := range all(s, s.store.ACIs(s.ctx, control.Filter{})) {
		s.must(a.Expired == (i < 2) && a.Retrieved.IsZero() == (i == 2), "ACI %d: expired %v, retrieved %v", a.Seq, a.Expired, a.Retrieved)
	}
	n, err = s.store.Trim(s.ctx, time.Now().Add(time.Hour))
	s.ok(err)
	s.same("trimmed", n, 2)
	s.reopen()
	s.same("new after trimming", s.putACIs(aci(1, "eleni"), aci(2, "eleni")), 0)
	s.same("left", seqs(all(s, s.store.ACIs(s.ctx, control.Filter{}))), "[3]")
}

func usageIsKept(s *session) {
	s.put(urd("a", "eleni", "http://a.example/"))
	s.ok(s.store.SetQuota(s.ctx, "costas", 7))
	s.must(s.store.SetQuota(s.ctx, "costas", -1) != nil, "a negative quota is accepted")
	s.ok(s.store.AddUsage(s.ctx, "2026-11-21", map[string]float64{"eleni": 1.5}, nil))
	s.ok(s.store.AddUsage(s.ctx, "2026-11-21", map[string]float64{"eleni": 0.25, "costas": 1}, map[string]int64{"meter": 9}))
	s.reopen()
	s.same("owners", all(s, s.store.Owners(s.ctx)), []control.Owner{{Name: "costas", Quota: 7}, {Name: "eleni", URDs: 1}})
	quota, err := s.store.Quota(s.ctx, "costas")
	s.ok(err)
	s.same("quota", quota, 7)
	used, err := s.store.Usage(s.ctx, "2026-11-21")
	s.ok(err)
	s.same("usage", used, map[string]float64{"costas": 1, "eleni": 1.75})
	used, err = s.store.Usage(s.ctx, "2026-11-22")
	s.ok(err)
	s.same("usage of another day", len(used), 0)
	s.ok(s.store.AddUsage(s.ctx, "2026-11-22", map[string]float64{"eleni": 2, "maria": 3}, nil))
	some, err := s.store.UsageOf(s.ctx, []string{"eleni", "costas", "nobody"}, []string{"2026-11-20", "2026-11-21", "2026-11-22"})
	s.ok(err)
	s.same("usage of some", some, map[string]map[string]float64{"2026-11-21": {"costas": 1, "eleni": 1.75}, "2026-11-22": {"eleni": 2}})
	counted, err := s.store.Cursor(s.ctx, "meter")
	s.ok(err)
	s.same("counted up to", counted, 9)
}

func budgetsAreKept(s *session) {
	s.ok(s.store.SetBudget(s.ctx, "eleni", &control.Budget{Alerts: 2, URDs: 1, Keywords: 5}))
	s.must(s.store.SetBudget(s.ctx, "eleni", &control.Budget{URDs: -1}) != nil, "a negative budget is accepted")
	_, err := s.store.Put(s.ctx, []*xmlschema.URD{urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/")})
	var beyond *control.BudgetError
	s.must(errors.As(err, &beyond) && beyond.Owner == "eleni" && beyond.Would == 2, "two URDs where one is allowed: %v", err)
	s.same("URDs stored in part", len(all(s, s.store.All(s.ctx))), 0)
	s.same("sent", s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "eleni"), aci(4, "costas"), aci(1, "eleni")), 3)
	s.reopen()
	s.same("sent after a repeat", s.putACIs(aci(3, "eleni"), aci(2, "eleni"), aci(5, "eleni")), 0)
	s.same("withheld", len(all(s, s.store.Withheld(s.ctx, "eleni"))), 2)
	counts, err := s.store.WithheldOn(s.ctx, time.Now())
	s.ok(err)
	s.same("withheld today", counts, map[string]int{"eleni": 2})
	counts, err = s.store.WithheldOn(s.ctx, time.Now().AddDate(0, 0, -1))
	s.ok(err)
	s.same("withheld yesterday", len(counts), 0)
	notices, err := s.store.Notices(s.ctx, "eleni")
	s.ok(err)
	s.must(len(notices) == 1 && notices[0].Count == 2 && notices[0].Best.ACI != nil, "notices: %+v", notices)
	again, err := s.store.Notices(s.ctx, "eleni")
	s.ok(err)
	s.same("notices given twice", len(again), 0)
	b, err := s.store.Budget(s.ctx, "eleni")
	s.ok(err)
	s.same("budget", b, control.Budget{Alerts: 2, URDs: 1, Keywords: 5})
	s.ok(s.store.SetBudget(s.ctx, "eleni", nil))
	b, err = s.store.Budget(s.ctx, "eleni")
	s.ok(err)
	s.same("budget taken back", b, control.DefaultBudget)
}
