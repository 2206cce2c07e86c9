package portal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
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
