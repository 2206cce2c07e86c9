package portal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// The inbox shows what its owner was told, the latest first, by pages, states and interests; a mark moves it.
func TestInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	eleni.get("/").wants(t, http.StatusOK, "Write your first interest")
	boats, cars := w.urd("eleni", "https://boats.example/"), w.urd("eleni", "https://cars.example/")
	var last control.InboxItem
	for i := range inPage + 5 {
		last = w.aci("eleni", boats, fmt.Sprintf("Boat <%d>", i))
	}
	car := w.aci("eleni", cars, "Car")
	first := eleni.get("/").wants(t, http.StatusOK, "Car", "Boat &lt;54&gt;", "Older")
	if strings.Contains(first.body, "Boat &lt;5&gt;") || strings.Index(first.body, "Car") > strings.Index(first.body, "Boat &lt;54") {
		t.Error("the first page is not of the latest")
	}
	eleni.get(fmt.Sprintf("/?before=%d", last.Seq-40)).wants(t, http.StatusOK, "Boat &lt;5&gt;")
	if only := eleni.get("/?interest="+cars).wants(t, http.StatusOK, ">Car</a>"); strings.Contains(only.body, "Boat &lt;") {
		t.Error("of one interest it shows another")
	}
	seq := fmt.Sprint(car.Seq)
	eleni.get("/a/"+seq).wants(t, http.StatusOK, "Car", "https://cars.example/")
	eleni.post("/a/"+seq, "state", "useful", "to", "/a/"+seq).wants(t, http.StatusSeeOther, "/a/"+seq)
	eleni.get("/?state=useful").wants(t, http.StatusOK, ">Car</a>")
	eleni.post("/marks", "seq", seq, "state", "bin", "to", "/").wants(t, http.StatusSeeOther)
	if all := eleni.get("/").wants(t, http.StatusOK); strings.Contains(all.body, ">Car</a>") {
		t.Error("what is in the bin is shown")
	}
	eleni.get("/?state=bin").wants(t, http.StatusOK, ">Car</a>")
	for _, format := range []string{"txt", "json", "xml"} {
		eleni.get("/a/"+seq+"."+format).wants(t, http.StatusOK, "Car")
	}
}

// Nothing that a page says is more than text.
func TestWhatPagesSayIsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	evil := `</a><script src="//evil.example"></script>`
	i := w.aci("eleni", w.urd("eleni", "https://a.example/"), evil, func(a *xmlschema.ACI) { a.Summary, a.URI = evil, "javascript:alert(1)" })
	for _, path := range []string{"/", fmt.Sprint("/a/", i.Seq)} {
		page := eleni.get(path).wants(t, http.StatusOK).body
		if strings.Contains(page, "<script src=\"//evil") || strings.Contains(page, `href="javascript:`) {
			t.Errorf("%s: %s", path, page)
		}
	}
}
