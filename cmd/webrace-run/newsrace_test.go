package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/inn"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/xmlschema"
)

// The groups of the tests.
const boats, piers = "local.boats", "local.piers"

// article is one that was posted.
type article struct {
	id, text string
	groups   []string
}

func (a article) String() string {
	return fmt.Sprintf("From: Eleni <eleni@a.example>\r\nNewsgroups: %s\r\nDate: Fri, 2 Jan 2026 05:04:05 +0200\r\nMessage-ID: <%s>\r\nSubject: Post %s\r\n\r\n%s\r\n",
		strings.Join(a.groups, ","), a.id, a.id, a.text)
}

// articles makes articles of a few words each, in one of the groups or in both.
func articles(of string, n int, random *rand.Rand) (all []article) {
	words := strings.Fields("ferry harbour storm timetable lighthouse captain anchor island")
	for i := range n {
		a := article{id: fmt.Sprintf("%s/%d@a.example", of, i), groups: [][]string{{boats}, {piers}, {boats, piers}}[random.IntN(3)]}
		for range 3 {
			a.text += words[random.IntN(len(words))] + " number " + fmt.Sprint(random.IntN(1000)) + ". "
		}
		all = append(all, a)
	}
	return all
}

// newsgroup is a URD of a newsgroup.
func newsgroup(address, owner, group, keyword string) *xmlschema.URD {
	u := xmlschema.NewURD(owner, "nntp://"+address+"/"+group)
	u.ID, u.Protocol, u.Depth = owner+"-"+group, xmlschema.ProtocolNNTP, 1
	u.Keywords = xmlschema.Keywords{Threshold: 20, Keywords: []xmlschema.Keyword{{Key: keyword, Weight: 5}}}
	return u
}

// expected is what owners are to be told of articles, by a look at the articles themselves: of each that is in a group
// of theirs and has their word, once.
func expected(urds []*xmlschema.URD, all []article) (told []string) {
	for _, a := range all {
		for _, u := range urds {
			group := u.URI[strings.LastIndexByte(u.URI, '/')+1:]
			if slices.Contains(a.groups, group) && strings.Contains(a.text, u.Keywords.Keywords[0].Key) {
				told = append(told, fmt.Sprintf("%s news:%s Post %s", u.Owner, strings.ReplaceAll(a.id, "/", "%2F"), a.id))
			}
		}
	}
	slices.Sort(told)
	return slices.Compact(told)
}

// TestNewsrace reads newsgroups for several owners, of a server that the test scripts and of INN. An article is one
// document and is told of once to each owner whom it matters to, in however many groups it is, and however they are
// numbered; and nothing is posted.
func TestNewsrace(t *testing.T) {
	t.Parallel()
	t.Run("scripted", func(t *testing.T) {
		t.Parallel()
		s := newsserver.New(t, newsserver.Options{Security: newsserver.None})
		s.Create(t, boats)
		s.Create(t, piers)
		testNewsrace(t, s.Address, func(a article) { s.Receive(t, a.String()) }, func() { s.Create(t, boats) })
		if wrong := regexp.MustCompile(`(?m)^(POST|IHAVE|TAKETHIS)`).FindString(s.Said()); wrong != "" || !strings.Contains(s.Said(), "GROUP "+boats) {
			t.Errorf("said: %q", wrong)
		}
	})
	t.Run("INN", func(t *testing.T) {
		t.Parallel()
		s := inn.New(t, inn.Options{}, boats, piers)
		testNewsrace(t, s.Address, func(a article) { s.Receive(t, a.String()) }, func() { s.Remove(t, boats); s.Create(t, boats) })
		if said := s.Said(t); strings.Contains(said, "post") || !strings.Contains(said, "Tracking Enabled") {
			t.Errorf("said: %s", said)
		}
	})
}

func testNewsrace(t *testing.T, address string, receive func(article), renumber func()) {
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	urds := []*xmlschema.URD{
		newsgroup(address, "ann", boats, "ferry"), newsgroup(address, "ann", piers, "ferry"), newsgroup(address, "ben", boats, "storm"),
		newsgroup(address, "ben", piers, "storm"), newsgroup(address, "eve", piers, "harbour"),
	}
	wants := func(when string, all []article, least int) {
		t.Helper()
		want, told := expected(urds, all), tellings(w.runs("newsrace", "nntp", urds, "--set", "nntp.backlog=0"))
		if !slices.Equal(told, want) || len(want) < least {
			t.Errorf("%s: told %d, want %d:\n%q\n%q", when, len(told), len(want), told, want)
		}
	}
	first := articles("first", 200, random)
	for _, a := range first {
		receive(a)
	}
	wants("at first", first, 100)
	wants("nothing is new", nil, 0)
	second := articles("second", 50, random)
	for _, a := range second {
		receive(a)
	}
	wants("more", second, 25)
	renumber()
	third := articles("third", 30, random)
	for _, a := range third {
		receive(a)
	}
	wants("numbered anew", third, 15)
	both := first[slices.IndexFunc(first, func(a article) bool { return len(a.groups) == 2 && strings.Contains(a.text, "ferry") })]
	id := "news:" + both.id
	for command, want := range map[string]string{
		"explain " + id + " ann": "«ferry»", "cache cat " + id: "Message-ID: <" + both.id + ">", "cache meta " + id: "news:first%2F",
		"why nntp://" + address + "/" + boats: "nntp://" + address + "/" + boats, "fsck": "nothing is wrong",
	} {
		said, status := w.store(strings.Fields(command)...)
		if status > 1 || !strings.Contains(said, want) || strings.Count(said, "told of version") != strings.Count(command, "explain") {
			t.Errorf("%s: %d, %s", command, status, said)
		}
		t.Logf("%s: %s", command, said)
	}
	if said, status := w.store("cache", "versions", id); status != 0 || strings.Count(said, "\n") != 1 {
		t.Errorf("versions: %d, %s", status, said)
	}
	none := newsgroup(address, "ann", "local.none", "ferry")
	if told := tellings(w.runs("newsrace", "nntp", append(urds, none))); len(told) > 0 {
		t.Errorf("of no group: %q", told)
	}
	if said, _ := w.store("why", none.URI); !strings.Contains(said, "it has no such newsgroup") {
		t.Errorf("why: %s", said)
	}
}
