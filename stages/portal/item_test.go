package portal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// An annotation is shown with the text that it speaks of, what was found in that, and what changed; the page itself is
// given to be saved alone.
func TestReadingAnItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := new(fakeReader)
	w.site.tools.open = func() (Reader, error) { return reader, nil }
	anna := w.account("anna")
	path := fmt.Sprint("/a/", w.aci("anna", w.urd("anna", "https://a.example/"), "Title").Seq)
	page := anna.get(path).wants(t, http.StatusOK, "Mark as read", `hx-trigger="load"`, "A &lt;b&gt;<mark>boat&lt;/mark&gt;&lt;script&gt;</mark>", "<ins>new &lt;i&gt;", "<del>old", "Version 2", "and 1 older").body
	if strings.Contains(page, "<script>") {
		t.Error(page)
	}
	raw := anna.get(path+"/page").wants(t, http.StatusOK, "<script>alert(1)")
	if raw.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment;") || raw.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may show it: %v", raw.header)
	}
	reader.gone = true
	anna.get(path).wants(t, http.StatusOK, "not stored any more")
	anna.get(path+"/page").wants(t, http.StatusGone, "not stored any more")
}

// What a model was asked and answered is shown as text, and why it was not.
func TestAJudgementIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna := w.account("anna")
	urd := w.urd("anna", "https://a.example/")
	judged := func(j xmlschema.Judgement) string {
		return fmt.Sprint("/a/", w.aci("anna", urd, "Title", func(a *xmlschema.ACI) { a.Judgement = &j }).Seq)
	}
	yes := judged(xmlschema.Judgement{Question: "Is it?", Answer: xmlschema.AnswerYes, Reason: "<script>it is", Model: "small:1b"})
	page := anna.get(yes).wants(t, http.StatusOK, "The model small:1b, asked “Is it?”, says yes: &lt;script&gt;it is").body
	if strings.Contains(page, "<script>it") {
		t.Error(page)
	}
	anna.get(yes+".txt").wants(t, http.StatusOK, "The model small:1b, asked")
	none := judged(xmlschema.Judgement{Question: "Is it?", Answer: xmlschema.AnswerNone, Reason: "it is away"})
	anna.get(none).wants(t, http.StatusOK, "No model has answered “Is it?”: it is away")
	anna.get("/").wants(t, http.StatusOK, "No model has answered “Is it?”: it is away", "says yes")
}
