package httpout

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// What a receiver answers decides whether a message is over, is sent again, or is given up; and nothing that is said of
// it shows its address.
func TestAnAnswerToAMessageIsUnderstood(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("answer") {
		case "taken":
			w.WriteHeader(http.StatusNoContent)
		case "busy":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "come back", http.StatusTooManyRequests)
		case "broken":
			http.Error(w, "oops", http.StatusBadGateway)
		case "moved":
			http.Redirect(w, r, "https://a.example/", http.StatusFound)
		case "gone":
			http.Error(w, "no such hook", http.StatusNotFound)
		case "silent":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	o := defaults
	o.AllowNetworks = []string{"loopback"}
	made, err := newStage(o, pipeline.NewEnv("p", "http-out", nil))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]delivery.Result{
		"taken": {Taken: true}, "busy": {Passing: true, After: 7 * time.Second, Said: "429 Too Many Requests: come back"},
		"broken": {Passing: true, Said: "502 Bad Gateway: oops"}, "moved": {Said: "302 Found, and redirects are not followed: give the URL to which it leads"},
		"gone": {Said: "404 Not Found: no such hook"}, "silent": {Passing: true, Said: "EOF"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/hush?answer="+answer, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		got := made.(*stage).resultOf(request)
		if got != want || strings.Contains(got.Said, "hush") {
			t.Errorf("%s: %+v, want %+v", answer, got, want)
		}
	}
	o.AllowNetworks = nil
	if made, err = newStage(o, pipeline.NewEnv("p", "http-out", nil)); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/hush?answer=taken", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := made.(*stage).resultOf(request); got.Taken || got.Passing || strings.Contains(got.Said, "hush") {
		t.Errorf("an address that may not be asked: %+v", got)
	}
}
