package dovecot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Inbox is the name of the mailbox that the server begins with.
const Inbox = "INBOX"

// Folder is the folder of a mailbox, with its cur, new and tmp.
func (s *Server) Folder(mailbox string) string {
	dir := filepath.Join(s.dir, "mail")
	if mailbox == Inbox {
		return dir
	}
	return filepath.Join(dir, "."+mailbox)
}

// Create makes a mailbox, of a name in ASCII.
func (s *Server) Create(t testing.TB, mailbox string) {
	t.Helper()
	for _, folder := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.Folder(mailbox), folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := giveAway(s.Folder(mailbox)); err != nil {
		t.Fatal(err)
	}
}

// Receive puts a message into a mailbox, as who delivers mail does, and returns the name of its file.
func (s *Server) Receive(t testing.TB, mailbox string, message []byte) (name string) {
	t.Helper()
	s.count++
	name = fmt.Sprintf("%d.M%dP1.tests", 1_700_000_000+s.count, s.count) // by which they are numbered
	written, folder := filepath.Join(s.Folder(mailbox), "tmp", name), s.Folder(mailbox)
	if err := os.WriteFile(written, message, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(written, filepath.Join(folder, "new", name)); err != nil {
		t.Fatal(err)
	}
	return name
}

// Move moves a message to another mailbox, where it has another UID.
func (s *Server) Move(t testing.TB, name, from, to string) {
	t.Helper()
	for _, file := range s.Files(t, from) {
		if base := filepath.Base(file); base == name || strings.HasPrefix(base, name+":") {
			if err := os.Rename(file, filepath.Join(s.Folder(to), "new", name)); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%s has no message %s", from, name)
}

// Renumber has the server give a mailbox a new UIDVALIDITY, and its messages new UIDs, as a server does that was
// restored from a backup.
func (s *Server) Renumber(t testing.TB, mailbox string) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.Folder(mailbox), "dovecot-uidlist")); err != nil && !os.IsNotExist(err) { // it was never opened
		t.Fatal(err)
	}
	indexes, err := filepath.Glob(filepath.Join(s.Folder(mailbox), "dovecot.index*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range indexes {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// Files are those of the messages of a mailbox, in the order in which they were received. A message that was never
// opened is in the folder new; the name of one with flags ends in them, behind ":2,".
func (s *Server) Files(t testing.TB, mailbox string) (files []string) {
	t.Helper()
	for _, folder := range []string{"new", "cur"} {
		found, err := filepath.Glob(filepath.Join(s.Folder(mailbox), folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return files
}
