package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/dovecot"
	"github.com/webrace/webrace/internal/testutil/mails"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

const archiveBox = "Archive"

// mailReader is an owner who reads mailboxes of a server, and looks for words in them.
type mailReader struct {
	owner     string
	mailboxes []string
	threshold int
	weights   map[string]int
}

var readersOfMail = []mailReader{
	{"ann", []string{dovecot.Inbox, archiveBox}, 20, map[string]int{"ferry": 5, "strike": 3}},
	{"ben", []string{dovecot.Inbox}, 45, map[string]int{"Fähre": 4, "λιμεναρχείο": 5, "переправа": 5, "strike": 2}},
	{"cat", []string{archiveBox, dovecot.Inbox}, 10, map[string]int{"harbour": 1, "timetable": 2, "Fähre": 1}},
}

// wordsOfMail are all that are looked for.
var wordsOfMail = []string{"ferry", "strike", "Fähre", "λιμεναρχείο", "переправа", "harbour", "timetable"}

// urds are the reader's, one for each mailbox.
func (r mailReader) urds(s *dovecot.Server) (all []*xmlschema.URD) {
	for _, name := range r.mailboxes {
		u := xmlschema.NewURD(r.owner, "imaps://"+s.IMAPS+"/"+name)
		u.ID, u.Protocol, u.Secret, u.Depth, u.Keywords.Threshold = r.owner+"-"+name, xmlschema.ProtocolIMAP, "mail", 1, r.threshold
		for _, word := range wordsOfMail {
			if weight := r.weights[word]; weight > 0 {
				u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: word, Weight: weight})
			}
		}
		all = append(all, u)
	}
	return all
}

// mailWorld is a mail server, and the data directory of who reads it.
type mailWorld struct {
	*world
	*dovecot.Server
	urds    string                   // their file
	trusted string                   // the file with the certificate of who issued the server's
	read    map[string]mails.Reading // by the names of files, which a message keeps when it is moved
}

func newMailWorld(t *testing.T) *mailWorld {
	t.Helper()
	by, err := testutil.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	m := &mailWorld{world: &world{t: t, data: filepath.Join(t.TempDir(), "data")}, Server: dovecot.New(t, by), urds: filepath.Join(t.TempDir(), "urds.xml"), read: make(map[string]mails.Reading)}
	m.Create(t, archiveBox)
	if m.trusted, err = by.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	var all xmlschema.URDs
	for _, r := range readersOfMail {
		all = append(all, r.urds(m.Server)...)
	}
	writeFile(t, m.urds, string(all.Canonical()))
	secret, err := credentials.NewSecret(credentials.KindBasic, dovecot.User, dovecot.Password)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := credentials.NewBounds([]string{m.IMAPS}, false)
	if err != nil {
		t.Fatal(err)
	}
	store, closeDir := openControl(t, m.data)
	defer closeDir()
	if err := store.SetSecret(t.Context(), "mail", secret.Within(bounds)); err != nil {
		t.Fatal(err)
	}
	return m
}

// command is the pipeline mailrace in a process of its own, which reads all that is there.
func (m *mailWorld) command(more ...string) *command {
	args := []string{"mailrace", "--urds", m.urds, "--data", m.data, "--set", "imap.allow_networks=loopback", "--set", "imap.backlog=0", "--set", "frontier.fresh=0s"}
	p := newCommand(m.t, append(args, more...)...)
	p.Env = append(os.Environ(), "SSL_CERT_FILE="+m.trusted)
	return p
}

// told returns what was told since the last call.
func (m *mailWorld) told() (all []string) {
	m.t.Helper()
	for _, a := range m.acis() {
		all = append(all, tellingOf(m.t, a))
	}
	slices.Sort(all)
	return all
}

// tellingOf is an annotation as telling.String writes it.
func tellingOf(t *testing.T, a control.ACI) string {
	t.Helper()
	return telling{a.Owner, messageID(t, a.URI), a.Title, a.Relevance, ""}.String()
}

// messageID returns the Message-ID of the message that an address is of, or its digest if it has none.
func messageID(t *testing.T, address string) string {
	t.Helper()
	if digest, is := strings.CutPrefix(address, "ni:///sha-256;"); is {
		return digest
	}
	id, err := url.PathUnescape(strings.TrimPrefix(address, "mid:"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// telling is what an owner is to be told of, once: a message, by its Message-ID, or else its digest, and by its text.
type telling struct {
	owner, id, title string
	relevance        int
	text             string
}

func (k telling) String() string {
	return fmt.Sprintf("%s of %s: %q, %d", k.owner, k.id, k.title, k.relevance)
}

// tellings works out from the files of messages alone what owners are to be told of, as docs/annotation.md has it, by
// what Python reads in them.
func (m *mailWorld) tellings() map[telling]bool {
	m.t.Helper()
	all := make(map[telling]bool)
	for _, name := range []string{dovecot.Inbox, archiveBox} {
		for _, message := range m.readings(name) {
			for _, r := range readersOfMail {
				if relevance := r.relevance(message); relevance > r.threshold && slices.Contains(r.mailboxes, name) {
					all[telling{r.owner, message.ID, message.Title, relevance, fmt.Sprint(message.Blocks)}] = true
				}
			}
		}
	}
	return all
}

// readings are those of the messages in a mailbox; of one without an ID, its digest is that.
func (m *mailWorld) readings(mailbox string) (all []mails.Reading) {
	m.t.Helper()
	files := m.Files(m.t, mailbox)
	unread := slices.DeleteFunc(slices.Clone(files), func(file string) bool { _, known := m.read[filepath.Base(file)]; return known })
	for i, message := range mails.Read(m.t, unread) {
		if message.ID == "" {
			message.ID = digestAsSent(m.t, unread[i])
		}
		m.read[filepath.Base(unread[i])] = message
	}
	for _, file := range files {
		all = append(all, m.read[filepath.Base(file)])
	}
	return all
}

// digestAsSent is that of a message as servers send it, whose lines end in CR LF.
func digestAsSent(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// relevance is that of a message for the reader's words.
func (r mailReader) relevance(message mails.Reading) int {
	evidence, words := make(map[string]float64), 0
	for _, b := range message.Blocks {
		for _, word := range strings.FieldsFunc(folded(b[1]), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words++
			evidence[word] += map[string]float64{"title": 4, "heading": 2, "body": 1, "navigation": 0.25}[b[0]]
		}
	}
	length := min(max(float64(words)/800, 0.25), 4)
	rest := 1.0
	for word, weight := range r.weights {
		f := evidence[folded(word)]
		rest *= 1 - float64(weight)/5*min(f/(f+0.7+0.3*length), 0.98)
	}
	return int(math.Floor(100*(1-rest) + 0.5))
}

// folded is a text without case and accents.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(text)))
}

// unlike returns what of some is not among others, as telling.String writes it, sorted.
func unlike(some, others map[telling]bool) (all []string) {
	for k := range some {
		if !others[k] {
			all = append(all, k.String())
		}
	}
	slices.Sort(all)
	return all
}

func mustBeTold(t *testing.T, when string, told, want []string) {
	t.Helper()
	if lost, more := difference(want, told), difference(told, want); len(lost)+len(more) > 0 {
		t.Errorf("%s: told of %d, want %d; lost %d:\n%.2000s\nmore %d:\n%.2000s", when, len(told), len(want),
			len(lost), strings.Join(lost, "\n"), len(more), strings.Join(more, "\n"))
	}
}

// fiveWords is a message of five words, whose texts are all the same.
func fiveWords(id string) []byte { return []byte(letter(id, "No ferry", "Strike, no ferry.")) }

// TestMailraceOfAServer reads thousands of messages from dovecot, for three owners. They are told of what an oracle
// works out from the files; and of nothing twice: not when the server has given all messages new numbers, nor of those
// that were moved to another mailbox that is watched, however short. Of two messages of one Message-ID with other
// texts, each is told of.
func TestMailraceOfAServer(t *testing.T) {
	t.Parallel()
	messages := 5000
	if testing.Short() {
		messages = 500
	}
	m, g := newMailWorld(t), mails.New(7, 2700, wordsOfMail...)
	var names, ids []string
	var sent [][]byte
	size := 0
	receive := func(mailbox, id string, message []byte) {
		size += len(message)
		ids, sent, names = append(ids, id), append(sent, message), append(names, m.Receive(t, mailbox, message))
	}
	for i := range messages {
		switch id := fmt.Sprintf("%d.%d$a/b+c@a.example", i, i*i); {
		case i%50 == 7:
			receive(dovecot.Inbox, "", g.Message(""))
		case i%100 == 13:
			receive(dovecot.Inbox, id, fiveWords(id))
		case i%100 == 23: // of the ID of the last
			receive(dovecot.Inbox, ids[i-1], g.Message(ids[i-1]))
		default:
			receive(dovecot.Inbox, id, g.Message(id))
		}
	}
	given, _ := filepath.Glob("/usr/lib/python3*/test/test_email/data/msg_*.txt") // the pattern is well-formed
	for _, file := range given {
		receive(archiveBox, "", []byte(readFile(t, file)))
	}
	p := m.command()
	p.begin()
	first := m.tellings() // beside it
	p.mustExit(cli.OK)
	if len(first) < messages/2 {
		t.Fatalf("only %d are to be told", len(first))
	}
	mustBeTold(t, "at first", m.told(), unlike(first, nil))

	m.Renumber(t, dovecot.Inbox)
	for i := 3; i < messages; i += messages / 60 {
		m.Move(t, names[i], dovecot.Inbox, archiveBox)
	}
	for i := 13; i < messages; i += messages / 5 {
		m.Move(t, names[i], dovecot.Inbox, archiveBox)
	}
	again := 0
	for i := range 30 {
		id := fmt.Sprintf("new%d@a.example", i)
		receive([]string{dovecot.Inbox, archiveBox}[i%2], id, g.Message(id))
		if old := ids[i*messages/40]; old != "" {
			receive(dovecot.Inbox, old, g.Message(old))
			again++
		}
		receive(archiveBox, "s"+id, fiveWords("s"+id))
		receive(archiveBox, "", append([]byte("Received: from a list\n"), sent[5*i+1]...)) // by another way
	}
	m.run()
	second := m.tellings()
	want := unlike(second, first)
	if len(want) < 60 || again < 20 {
		t.Fatalf("only %d more are to be told", len(want))
	}
	mustBeTold(t, "with new numbers, some moved, some new", m.told(), want)
	m.run()
	mustBeTold(t, "nothing is new", m.told(), nil)
	for i := range 3 {
		id := ids[i*messages/40]
		if said, status := m.store("cache", "versions", "mid:"+url.PathEscape(id), "--secret", "mail"); status != cli.OK || strings.Count(said, "\n") != 2 {
			t.Errorf("versions of %s: %d, %s", id, status, said)
		}
	}
	if said, status := m.store("fsck"); status != cli.OK {
		t.Errorf("fsck: %d, %s", status, said)
	}
	if wrong := regexp.MustCompile(`(?i) (SELECT|STORE|EXPUNGE|APPEND|COPY|MOVE|CLOSE|DELETE) .*|.*\\Seen.*|.*BODY\[.*`).FindString(m.Said(t)); wrong != "" {
		t.Errorf("it said %s", wrong)
	}
	for _, name := range []string{dovecot.Inbox, archiveBox} {
		for _, file := range m.Files(t, name) {
			if filepath.Base(filepath.Dir(file)) != "new" || strings.Contains(filepath.Base(file), ":") {
				t.Errorf("%s was opened", file)
			}
		}
	}
	t.Logf("%d messages of %d bytes on average: %d told of, then %d more", len(names), size/len(names), len(first), len(want))
}

// run reads the mailboxes.
func (m *mailWorld) run() {
	m.t.Helper()
	p := m.command()
	p.begin()
	p.mustExit(cli.OK)
}
