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
	{"revisions say what changed, once each", revisionsAreGivenOnce},
	{"queries select what their expression says", queriesSelect},
	{"changes, checks and quotas wake", changesWake},
	{"a check that was asked for is kept", checksAreKept},
	{"an ACI is stored once", alertsAreNotRepeated},
	{"a text that comes back to its page is told again, once for each version", returningTextIsToldAgain},
	{"nearly the same text is told once from all pages but its own", alikeTextIsToldOnce},
	{"an ACI is taken once", takenOnce},
	{"followers see every ACI in order", followersSeeAll},
	{"what is waited for is known", waitingIsKnown},
	{"old ACIs expire, are trimmed, and never come back", oldAlertsGo},
	{"quotas and usage are kept", usageIsKept},
	{"budgets are kept, and what is beyond them is withheld once", budgetsAreKept},
	{"secrets are kept through a rotation", secretsAreKept},
	{"cursors and dead letters are kept", lettersAreKept},
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
	s.put(a, urd("b", "eleni", "http://b.example/"))
	before := s.now().Revision
	a.Urgency = 3
	s.put(a)
	s.ok(s.store.Delete(s.ctx, "b"))
	s.reopen()
	changed := all(s, s.store.Revised(s.ctx, before))
	s.must(len(changed) == 2 && changed[0].ID == "a" && changed[0].URD.Urgency == 3 && changed[1].ID == "b" && changed[1].URD == nil,
		"changes: %+v", changed)
	s.must(before < changed[0].Number && changed[0].Number < changed[1].Number && changed[1].Number == s.now().Revision, "numbers: %+v", changed)
	s.same("nothing since", len(all(s, s.store.Revised(s.ctx, s.now().Revision))), 0)
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
	mirror := aci(2, "eleni")
	mirror.URI = "http://mirror.example/"
	s.same("new when repeated", s.putACIs(aci(1, "eleni"), mirror), 0)
	stored := all(s, s.store.ACIs(s.ctx, control.Filter{}))
	s.same("stored", seqs(stored), "[1 2]")
	s.same("where", stored[1].URI, aci(2, "eleni").URI)
	waiting, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	s.same("told again", seqs(waiting), "[]")
}

func returningTextIsToldAgain(s *session) {
	at := func(version, since int, uri string) *xmlschema.ACI {
		a := aci(1, "eleni")
		a.URI, a.Docbase.Version, a.Docbase.Since = uri, version, since
		return a
	}
	const page, mirror = "http://a.example/", "http://mirror.example/"
	s.same("new", s.putACIs(at(2, 1, page)), 1)
	s.reopen()
	s.same("new when the request is repeated", s.putACIs(at(2, 1, page)), 0)
	s.same("new when a mirror has it", s.putACIs(at(3, 2, mirror), at(9, 8, mirror)), 0)
	s.same("new when it comes back", s.putACIs(at(9, 8, page), at(9, 8, page)), 1)
	s.same("new when that is repeated", s.putACIs(at(9, 8, page)), 0)
	s.same("new when it comes back once more", s.putACIs(at(20, 19, page)), 1)
	ids := map[string]bool{}
	for _, a := range all(s, s.store.ACIs(s.ctx, control.Filter{URL: page})) {
		ids[a.ID] = true
	}
	s.same("ids", len(ids), 3)

	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	_, err = s.store.Trim(s.ctx, time.Now().Add(time.Hour))
	s.ok(err)
	s.reopen()
	s.same("new when all was trimmed", s.putACIs(at(2, 1, page), at(9, 8, page), at(20, 19, page), at(30, 29, mirror)), 0)
	s.same("new when it comes back after that", s.putACIs(at(31, 30, page)), 1)
}

func alikeTextIsToldOnce(s *session) {
	with := func(n int, uri string, likeness uint64) *xmlschema.ACI {
		a := aci(n, "eleni")
		a.URD, a.URI, a.Docbase.Likeness = "u", uri, likeness
		return a
	}
	const page, other = "http://a.example/", "http://b.example/"
	const text, nearly = 0xF0F0F0F0F0F0F0F0, 0xF0F0F0F0F0F0F0F3
	s.same("new", s.putACIs(with(1, page, text)), 1)
	s.reopen()
	stored, err := s.store.PutACIs(s.ctx, []*xmlschema.ACI{with(2, other, nearly), with(3, other, ^uint64(text)), with(4, other, 0)})
	s.ok(err)
	s.same("from another page", stored, control.Stored{Added: 2, Alike: 1})
	s.same("new when the page itself changes a little", s.putACIs(with(5, page, nearly)), 1)
	s.same("new when repeated", s.putACIs(with(1, page, text), with(5, page, nearly)), 0)
	stranger := with(6, other, nearly)
	stranger.URD = "another"
	s.same("new for another URD", s.putACIs(stranger), 1)
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

func secretsAreKept(s *session) {
	user := urd("a", "eleni", "http://a.example/")
	user.Secret = "bank"
	s.put(user)
	secret, err := control.NewSecret(control.KindBasic, "eleni", "hush")
	s.ok(err)
	s.ok(s.store.SetSecret(s.ctx, "bank", secret))
	n, err := s.store.RotateKey(s.ctx)
	s.ok(err)
	s.same("rotated", n, 1)
	s.reopen()
	got, err := s.store.Secret(s.ctx, "bank")
	s.ok(err)
	name, value := got.Reveal()
	s.must(got.Kind() == control.KindBasic && name == "eleni" && value == "hush", "the secret is another")
	infos := all(s, s.store.Secrets(s.ctx))
	s.must(len(infos) == 1 && infos[0].Name == "bank" && !infos[0].Created.IsZero(), "infos: %+v", infos)
	var used *control.SecretInUseError
	s.must(errors.As(s.store.DeleteSecret(s.ctx, "bank", false), &used) && len(used.URDs) == 1, "a secret in use is deleted")
	s.ok(s.store.DeleteSecret(s.ctx, "bank", true))
	_, err = s.store.Secret(s.ctx, "bank")
	s.must(errors.Is(err, control.ErrNotFound), "reading what was deleted: %v", err)
}

func lettersAreKept(s *session) {
	s.ok(s.store.SetCursor(s.ctx, "mail", 41))
	s.ok(s.store.SetCursor(s.ctx, "mail", 42))
	for _, l := range []control.DeadLetter{{ID: "a", Pipeline: "p", Stage: "s", Item: []byte("{}")}, {ID: "b", Pipeline: "p", Item: []byte("{}")}} {
		_, err := s.store.PutDeadLetter(s.ctx, l)
		s.ok(err)
	}
	s.must(errors.Is(s.store.MarkReplay(s.ctx, "a", "none"), control.ErrNotFound), "marking what is not there is no error")
	s.same("replays after a failure", len(all(s, s.store.Replays(s.ctx, "p"))), 0)
	s.ok(s.store.MarkReplay(s.ctx, "b"))
	s.reopen()
	position, err := s.store.Cursor(s.ctx, "mail")
	s.ok(err)
	s.same("cursor", position, 42)
	s.same("letters", len(all(s, s.store.DeadLetters(s.ctx))), 2)
	replays := all(s, s.store.Replays(s.ctx, "p"))
	s.must(len(replays) == 1 && replays[0].ID == "b", "replays: %+v", replays)
	s.ok(s.store.DeleteDeadLetter(s.ctx, "b"))
	s.same("letters left", len(all(s, s.store.DeadLetters(s.ctx))), 1)
}
