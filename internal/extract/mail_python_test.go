package extract_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/testutil/mails"
)

// TestMailIsReadAsPythonReadsIt holds a thousand messages of all kinds to Python's package email: the subject, who it
// is from, the texts in their order, the names of files, the Message-ID and the date.
func TestMailIsReadAsPythonReadsIt(t *testing.T) {
	t.Parallel()
	g := mails.New(1, 3000, "ferry", "Fähre", "πλοίο")
	var files []string
	dir := t.TempDir()
	for i := range 1000 {
		file := filepath.Join(dir, fmt.Sprint(i))
		message := string(g.Message(fmt.Sprintf("%d.%d$x/y@a.example", i, i)))
		if i%2 == 0 {
			message = strings.ReplaceAll(message, "\n", "\r\n")
		}
		if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	mustReadAsPython(t, files, nil)
}

// otherwise are messages of Python's own tests that are read otherwise, and why.
var otherwise = map[string]string{
	"msg_17.txt": noParts, "msg_25.txt": noParts, "msg_31.txt": noParts, "msg_41.txt": noParts, "msg_42.txt": noParts,
}

const noParts = "a body of parts in which none is found is text"

// TestMailOfPythonsTestsIsReadAsPythonReadsIt holds the messages that Python's own tests have, many of which are
// broken.
func TestMailOfPythonsTestsIsReadAsPythonReadsIt(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("/usr/lib/python3*/test/test_email/data/msg_*.txt") // the pattern is well-formed
	if len(files) == 0 {
		t.Skip("Python's messages are missing (apt-get install libpython3.11-testsuite)")
	}
	mustReadAsPython(t, files, otherwise)
}

func mustReadAsPython(t *testing.T, files []string, otherwise map[string]string) {
	t.Helper()
	for i, want := range mails.Read(t, files) {
		message, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		differences := differencesOf(t, message, want)
		if why := otherwise[filepath.Base(files[i])]; (why != "") != (len(differences) > 0) {
			t.Errorf("%s: %s; known is %q", files[i], strings.Join(differences, "; "), why)
		}
	}
}

// differencesOf tells in what a message is read otherwise.
func differencesOf(t *testing.T, message []byte, want mails.Reading) (differences []string) {
	t.Helper()
	r := document(t, string(message), "message/rfc822", extract.Options{})
	differ := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			differences = append(differences, fmt.Sprintf("%s is %q, and %q by Python", what, got, want))
		}
	}
	m := extract.MessageOf(message)
	differ("the ID", m.ID, want.ID)
	differ("the title", r.Title, want.Title)
	got, by := make(map[string][]string), make(map[string][]string)
	fields := map[webrace.Field]string{webrace.FieldTitle: "title", webrace.FieldHeading: "heading", webrace.FieldBody: "body", webrace.FieldNavigation: "navigation"}
	var texts []string
	for _, b := range r.Text.Blocks {
		text := string(r.Text.Slice(b))
		texts = append(texts, text)
		got[fields[b.Field]] = append(got[fields[b.Field]], words(text)...)
	}
	for _, b := range want.Blocks {
		by[b[0]] = append(by[b[0]], words(b[1])...)
	}
	for _, field := range fields {
		same := 0
		for same < min(len(got[field]), len(by[field])) && got[field][same] == by[field][same] {
			same++
		}
		differ(fmt.Sprintf("%s behind %d words", field, same), got[field][same:], by[field][same:])
	}
	for _, name := range want.Names {
		if !slices.Contains(texts, name) {
			differences = append(differences, fmt.Sprintf("the name %q is missing", name))
		}
	}
	return differences
}

// words are the runs of letters and digits of a text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
