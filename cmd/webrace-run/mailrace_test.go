package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// letter is a message with a text.
func letter(id, subject, text string) string {
	return fmt.Sprintf("From: Harbour <office@harbour.example>\r\nMessage-ID: <%s>\r\nSubject: %s\r\n\r\n%s\r\n", id, subject, text)
}

// mailbox is a URD of a mailbox of eleni's.
func mailbox(s *imapserver.Server, owner, name, keyword string) *xmlschema.URD {
	u := xmlschema.NewURD(owner, "imap://"+s.Address+"/"+name)
	u.ID, u.Protocol, u.Secret, u.Depth = owner+"-"+name, xmlschema.ProtocolIMAP, "mail", 1
	u.Keywords = xmlschema.Keywords{Threshold: 20, Keywords: []xmlschema.Keyword{{Key: keyword, Weight: 5}}}
	return u
}

// mailrace runs the pipeline mailrace for these URDs, and returns what was told by it: owners and documents.
func (w *world) mailrace(urds ...*xmlschema.URD) (told []string) {
	w.t.Helper()
	return tellings(w.mailraced(urds...))
}

// tellings are the owners, documents and titles of annotations, in order.
func tellings(acis []control.ACI) (all []string) {
	for _, a := range acis {
		all = append(all, fmt.Sprintf("%s %s %s", a.Owner, a.URI, a.Title))
	}
	slices.Sort(all)
	return all
}

func (w *world) mailraced(urds ...*xmlschema.URD) []control.ACI {
	w.t.Helper()
	return w.runs("mailrace", "imap", urds)
}

// runs runs a pipeline in which a stage reads sources, and returns what was told by it.
func (w *world) runs(pipeline, stage string, urds []*xmlschema.URD, more ...string) []control.ACI {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "urds.xml")
	writeFile(w.t, file, string(xmlschema.URDs(urds).Canonical()))
	args := append([]string{pipeline, "--urds", file, "--data", w.data, "--set", stage + ".allow_networks=loopback", "--set", "frontier.fresh=0s"}, more...)
	if out, complaints, err := webraceRun(args...); err != nil {
		w.t.Fatalf("%v: %v\n%s%s", args, err, out, complaints)
	}
	return w.acis()
}

// TestMailrace reads mailboxes for several owners. A message is told of once: not again when the mailbox is made
// anew, nor when the message is moved to another that is watched. A message whose text is another is told as such.
func TestMailrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := imapserver.New(t, imapserver.None, tls.Certificate{})
	s.Create(t, "Archive")
	w.secret("mail", imapserver.Password)
	ann, ben, archive := mailbox(s, "ann", "INBOX", "ferry"), mailbox(s, "ben", "INBOX", "office@harbour.example"), mailbox(s, "ann", "Archive", "ferry")
	ferry := letter("1@a.example", "No ferry", "Strike: no ferry.")
	s.Receive(t, "INBOX", ferry)
	s.Receive(t, "INBOX", letter("2@a.example", "Lunch", "Fish."))
	wants := func(when string, told []string, want ...string) {
		t.Helper()
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %q, want %q", when, told, want)
		}
	}
	wants("at first", w.mailrace(ann, ben, archive), "ann mid:1@a.example No ferry", "ben mid:1@a.example No ferry", "ben mid:2@a.example Lunch")
	wants("nothing is new", w.mailrace(ann, ben, archive))
	s.Receive(t, "INBOX", letter("3@a.example", "Ferry again", "The ferry sails."))
	wants("one more", w.mailrace(ann, ben, archive), "ann mid:3@a.example Ferry again", "ben mid:3@a.example Ferry again")
	s.Receive(t, "Archive", ferry)
	wants("moved to another that is watched", w.mailrace(ann, ben, archive))
	s.Remove(t, "INBOX")
	s.Create(t, "INBOX")
	s.Receive(t, "INBOX", ferry)
	s.Receive(t, "INBOX", letter("4@a.example", "Boats", "No word of it."))
	wants("made anew", w.mailrace(ann, ben, archive), "ben mid:4@a.example Boats")
	s.Receive(t, "INBOX", letter("1@a.example", "No ferry", "The strike is over: the ferry sails."))
	wants("of the same ID", w.mailrace(ann, ben, archive), "ann mid:1@a.example No ferry", "ben mid:1@a.example No ferry")
	if said, status := w.store("cache", "versions", "mid:1@a.example", "--secret", "mail"); status != 0 || strings.Count(said, "\n") != 2 {
		t.Errorf("versions: %d, %s", status, said)
	}
	for command, want := range map[string]string{
		"explain mid:1@a.example ann --secret mail": "ferry", "cache diff mid:1@a.example --secret mail": "-Strike: no ferry.", "cache cat mid:1@a.example --secret mail": "Message-ID",
		"cache meta mid:1@a.example --secret mail": "mid:1@a.example", "why imap://" + s.Address + "/INBOX": "", "fsck": "nothing is wrong",
	} {
		said, status := w.store(strings.Fields(command)...)
		if status > 1 || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s", command, status, said)
		}
		t.Logf("%s: %s", command, said)
	}
	w.mustHide(imapserver.Password)
}
