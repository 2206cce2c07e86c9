package mails

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// Reading is how Python's package email reads a message.
type Reading struct {
	ID     string // without angle brackets; empty if it has none
	Title  string
	Blocks []Block
	Names  []string // of its files
}

// Block is a part of the text: its field, which is title, heading, body or navigation, and what stands there.
type Block [2]string

//go:embed read.py
var program string

// Read returns how Python reads the messages in some files. It skips the test where there is no Python.
func Read(t testing.TB, files []string) (all []Reading) {
	t.Helper()
	if len(files) == 0 {
		return nil
	}
	c := exec.Command(testutil.Python(t, "email", "python3"), "-c", program)
	c.Stdin = strings.NewReader(strings.Join(files, "\n"))
	var complaints bytes.Buffer
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, complaints.String())
	}
	for line := range bytes.Lines(out) {
		var r Reading
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) != len(files) {
		t.Fatalf("%d readings of %d messages", len(all), len(files))
	}
	return all
}
