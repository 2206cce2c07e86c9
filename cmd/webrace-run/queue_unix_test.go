//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil"
)

// senderTo is a program that sends to http-in.
type senderTo struct {
	t     *testing.T
	url   string
	token string
}

// mustPost sends a body, and returns the answer's body, which is to come with a status.
func (s senderTo) mustPost(status int, body string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.StatusCode != status {
		s.t.Fatalf("%s is answered by %d %s, want %d", body[:min(len(body), 100)], answer.StatusCode, said, status)
	}
	return string(said)
}

// What http-in answers by 200 is in the queue behind it: killed in the middle of it and started again, the program lets
// all of it through. What is not dealt with, or comes without the token, is answered otherwise and goes nowhere.
func TestKilledWithItemsInTheQueue(t *testing.T) {
	t.Parallel()
	dir, readings, loose := t.TempDir(), testutil.FreeAddress(t), testutil.FreeAddress(t)
	config := filepath.Join(dir, "pipelines.toml")
	writeFile(t, filepath.Join(dir, "token"), "a-token-of-some-length\n")
	writeFile(t, config, strings.NewReplacer("READINGS", readings, "LOOSE", loose).Replace(`version = 1
[pipeline.readings]
flow = ["http-in > queue > throttle > write-file"]
[pipeline.readings.stage]
http-in = { listen = "READINGS", path = "/readings", token = "${file:token}" }
queue = { max_bytes = "64KB", full = "fail" }
throttle = { count = 1, period = "1h" } # so that all but the first wait in the queue
write-file = { path = "readings.jsonl" }
[pipeline.loose]
flow = ["http-in > write-file"]
[pipeline.loose.stage]
http-in = { listen = "LOOSE", answer = "accepted" }
write-file = { path = "loose.jsonl" }
[pipeline.open]
flow = ["http-in > print"]
[pipeline.open.stage]
http-in = { listen = "0.0.0.0:0" }
`))
	start := func(more ...string) *command {
		p := newCommand(t, append([]string{"readings", "loose", "--config", config, "--data", filepath.Join(dir, "data"), "--log", "text"}, more...)...)
		p.Dir = dir
		p.begin()
		return p
	}
	known := senderTo{t, "http://" + readings + "/readings", "a-token-of-some-length"}
	stranger := senderTo{t, known.url, "a-token-of-some-lengtH"}

	p := start()
	p.waitUntilSaid("requests are taken", 2)
	mustSay(t, stranger.mustPost(http.StatusUnauthorized, `{"n":"stranger"}`), "a token is needed")
	mustSay(t, known.mustPost(http.StatusInternalServerError, fmt.Sprintf(`{"n":"large","more":%q}`, strings.Repeat("x", 100_000))), `"failed":[{"item":0,`)
	sent := map[string]bool{}
	for i := range 10 {
		first, second := fmt.Sprintf("%d a", i), fmt.Sprintf("%d b", i)
		sent[first], sent[second] = true, true
		mustSay(t, known.mustPost(http.StatusOK, fmt.Sprintf(`[{"n":%q},{"n":%q}]`, first, second)), `{"items":2}`)
	}
	mustSay(t, senderTo{t: t, url: "http://" + loose}.mustPost(http.StatusAccepted, `{"n":"accepted"}`), `{"items":1}`)
	waitFor(t, func() bool { return strings.Join(valuesOf(t, filepath.Join(dir, "loose.jsonl")), "") == "accepted" }, func() string { return "what was accepted does not come" })
	p.Process.Kill()
	if !p.isKilled() {
		t.Fatal(p.said())
	}
	if before := valuesOf(t, filepath.Join(dir, "readings.jsonl")); len(before) > 1 {
		t.Fatalf("%q came before the kill: the queue was not waited for", before)
	}

	p = start("--set", "throttle.period=1ms")
	came := map[string]int{}
	waitFor(t, func() bool {
		clear(came)
		for _, value := range valuesOf(t, filepath.Join(dir, "readings.jsonl")) {
			came[value]++
		}
		return len(came) >= len(sent)
	}, func() string { return fmt.Sprintf("%v of %d came:\n%s", came, len(sent), p.said()) })
	p.signal(syscall.SIGTERM)
	p.mustExit(cli.OK)
	for value, times := range came {
		if !sent[value] || times > 1 && value != "0 a" { // which may have been written just before the kill
			t.Errorf("%q came %d times", value, times)
		}
	}

	p = startCommand(t, "open", "--config", config, "--data", filepath.Join(dir, "other"))
	p.mustExit(cli.Usage)
	mustSay(t, p.said(), "0.0.0.0:0", "a token is needed", "listen on 127.0.0.1")
}

// valuesOf returns the field n of each record in a file of JSON lines, of which the last may not be whole yet.
func valuesOf(t *testing.T, path string) (values []string) {
	t.Helper()
	written, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(written) {
		var record struct{ N string }
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		values = append(values, record.N)
	}
	return values
}
