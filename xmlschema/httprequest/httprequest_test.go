package httprequest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestRequestsThatSayTheSameHaveOneMark(t *testing.T) {
	t.Parallel()
	same := []*Request{
		{Method: "POST", Type: "a/b", Header: []Field{{"X-A", "1"}, {"Accept", "c/d"}}, Body: "{}"},
		{Method: "POST", Type: "a/b", Header: []Field{{"accept", "c/d"}, {"x-a", "1"}}, Body: "{}"},
	}
	others := []*Request{
		nil,
		{Header: []Field{{"X-A", "1"}, {"Accept", "c/d"}}},
		{Method: "POST", Type: "a/b", Header: []Field{{"X-A", "1"}, {"Accept", "c/d"}}, Body: "{} "},
		{Method: "POST", Type: "a/c", Header: []Field{{"X-A", "1"}, {"Accept", "c/d"}}, Body: "{}"},
		{Method: "POST", Type: "a/b", Header: []Field{{"X-A", "1"}}, Body: "{}"},
		{Method: "POST", Type: "a/b", Header: []Field{{"X-A", "1Accept"}, {"c", "d"}}, Body: "{}"},
		{Method: "POST", Type: "a/b", Header: []Field{{"X-A", "2"}, {"Accept", "c/d"}}, Body: "{}"},
	}
	marks := map[string]bool{same[0].Mark(): true}
	if got := same[1].Mark(); !marks[got] || !strings.HasPrefix(got, "POST-") {
		t.Errorf("%s and %s", same[0].Mark(), got)
	}
	for _, r := range others {
		if marks[r.Mark()] {
			t.Errorf("%+v has the mark of another", r)
		}
		marks[r.Mark()] = true
	}
	if get := (&Request{Header: []Field{{"A", "b"}}}); get.Mark() != (&Request{Method: "GET", Header: get.Header}).Mark() {
		t.Error("GET is no default")
	}
}

func TestFieldsOfTheCrawlerAndOfTheWayAreRefused(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"Host": "set by webrace", "user-agent": "fetch.user_agent", "If-None-Match": "set by webrace", "content-length": "set by webrace",
		"Connection": "hop by hop", "Proxy-Authorization": "hop by hop", "TE": "hop by hop", "Transfer-Encoding": "hop by hop",
		"": "no name", "a b": "no name", "ü": "no name", "Content-Type": "type=",
	} {
		if err := CheckField(name, "hush"); err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, value := range []string{"hush\r\nHost: x", "hush\x00", " hush", strings.Repeat("hush", MaxValue)} {
		if err := CheckField("X-A", value); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%.20q: %v", value, err)
		}
	}
	for _, name := range []string{"Accept", "Authorization", "Cookie", "X-Api-Key", "Referer"} {
		if err := CheckField(name, "é ${secret:a}"); err != nil {
			t.Error(err)
		}
	}
}

func TestSecretsStandWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	known := func(name string) (string, error) {
		if name != "a" && name != "b" {
			return "", fmt.Errorf("no secret %s", name)
		}
		return `"` + name + `" & co`, nil
	}
	for contentType, want := range map[string]string{
		"application/json; charset=utf-8":   `k=\"a\" \u0026 co`,
		"application/x-www-form-urlencoded": `k=%22a%22+%26+co`,
		"text/plain":                        `k="a" & co`,
	} {
		r := &Request{Method: "POST", Type: contentType, Header: []Field{{"x-key", "t ${secret:b}$"}}, Body: "k=${secret:a}"}
		header, body, err := r.Expand(known)
		if err != nil || string(body) != want || header.Get("X-Key") != `t "b" & co$` || header.Get("Content-Type") != contentType {
			t.Errorf("%s: %v %s %v", contentType, header, body, err)
		}
		if got := fmt.Sprint(r.Secrets()); got != "[a b]" {
			t.Error(got)
		}
	}
	broken := &Request{Header: []Field{{"X-Key", "${secret:a}"}}}
	if _, _, err := broken.Expand(func(string) (string, error) { return "hush\nX: y", nil }); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a secret with a line break: %v", err)
	}
	for _, text := range []string{"${secret:", "${secret:}", "${secret:a b}", "x${secret:a", "${secret:" + strings.Repeat("n", 257) + "}"} {
		if err := CheckReferences(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// A text is what remains of it when each reference is replaced by itself.
func FuzzReferences(f *testing.F) {
	for _, seed := range []string{"", "a", "${secret:a}", "${secret:${secret:a}}", "${secret:a", "$${secret:é}}", "${secret:a}${secret:b}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		same, err := replace(text, func(name string) (string, error) { return reference + name + "}", nil })
		if err != nil {
			return
		}
		if same != text {
			t.Fatalf("%q became %q", text, same)
		}
		count := 0
		gone, _ := replace(text, func(string) (string, error) { count++; return "", nil })
		if (count == 0) != (gone == text) || count > strings.Count(text, reference) {
			t.Fatalf("%q: %d references, %q", text, count, gone)
		}
	})
}

func TestMarkedRequestIsOfAMethod(t *testing.T) {
	t.Parallel()
	for _, m := range Methods {
		if r := (&Request{Method: m}); !strings.HasPrefix(r.Mark(), m+"-") || len(r.Mark()) != len(m)+21 {
			t.Error(r.Mark())
		}
	}
	if (*Request)(nil).Mark() != "" || http.MethodGet != Methods[0] {
		t.Error("a plain GET has a mark, or is not the first")
	}
}
