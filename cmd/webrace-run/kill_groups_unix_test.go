//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/inn"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// mortalGroups are two newsgroups of a server, for three owners.
type mortalGroups struct {
	*world
	rng      *rand.Rand
	urds     []*xmlschema.URD
	file     string // with them
	all      []article
	receive  func(article)
	renumber func() // makes a group anew, without articles
	sessions func() int
}

// newMortalGroups are those of a server that the test scripts.
func newMortalGroups(t *testing.T) mortalSource {
	s := newsserver.New(t, newsserver.Options{Security: newsserver.None})
	s.Create(t, boats)
	s.Create(t, piers)
	return startMortalGroups(s.Address, &mortalGroups{
		world:    &world{t: t},
		receive:  func(a article) { s.Receive(t, a.String()) },
		renumber: func() { s.Create(t, boats) },
		sessions: func() int { return strings.Count(s.Said(), "MODE READER") },
	})
}

// newMortalGroupsOfINN are those of INN.
func newMortalGroupsOfINN(t *testing.T) mortalSource {
	s := inn.New(t, inn.Options{}, boats, piers)
	return startMortalGroups(s.Address, &mortalGroups{
		world:    &world{t: t},
		receive:  func(a article) { s.Receive(t, a.String()) },
		renumber: func() { s.Remove(t, boats); s.Create(t, boats) },
		sessions: func() int { return strings.Count(s.Said(t), "Tracking Enabled") },
	})
}

func startMortalGroups(address string, m *mortalGroups) mortalSource {
	dir := m.t.TempDir()
	m.data, m.file, m.rng = filepath.Join(dir, "data"), filepath.Join(dir, "urds.xml"), rand.New(rand.NewPCG(6, 1))
	m.urds = []*xmlschema.URD{
		newsgroup(address, "ann", boats, "ferry"), newsgroup(address, "ann", piers, "ferry"), newsgroup(address, "ben", boats, "storm"),
		newsgroup(address, "ben", piers, "storm"), newsgroup(address, "eve", piers, "harbour"),
	}
	writeFile(m.t, m.file, string(xmlschema.URDs(m.urds).Canonical()))
	return m
}

func (m *mortalGroups) reads() *command {
	return newCommand(m.t, "newsrace", "--urds", m.file, "--data", m.data, "--set", "nntp.allow_networks=loopback", "--set", "nntp.backlog=0", "--set", "frontier.fresh=0s")
}

func (m *mortalGroups) asked() int { return m.sessions() }

func (m *mortalGroups) dataDir() string { return m.data }

// grow has an article come, in one of the groups or in both.
func (m *mortalGroups) grow() {
	a := articles(fmt.Sprint(len(m.all)), 1, m.rng)[0]
	m.all = append(m.all, a)
	m.receive(a)
}

// upset has the articles of a group be numbered from 1 on again. What was there is gone then, and is read before.
func (m *mortalGroups) upset() {
	p := m.reads()
	p.begin()
	p.mustExit(cli.OK)
	m.renumber()
}

func (m *mortalGroups) wants() (documents, told []string) {
	for _, a := range m.all {
		documents = append(documents, "news:"+strings.ReplaceAll(a.id, "/", "%2F")+" "+a.text)
	}
	return documents, expected(m.urds, m.all)
}

func (m *mortalGroups) got() (documents, told []string) {
	m.eachVersion(func(v objects.Version, body []byte) {
		_, text, _ := strings.Cut(string(body), "\r\n\r\n")
		documents = append(documents, v.URL+" "+strings.TrimSuffix(text, "\r\n"))
	})
	slices.Sort(documents)
	return documents, tellings(m.acis())
}
