package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"

	"github.com/webrace/webrace/internal/testutil/chromium"
	"github.com/webrace/webrace/internal/testutil/npm"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Each page is accessible in the eyes of axe, by day and by night, on a desk and on a telephone, where it needs no
// scrolling to the side; and its console says nothing.
func TestAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("has a browser show each page in four ways: not in short mode")
	}
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join(npm.Package(t, "axe-core@4.14.1"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := chromium.Open(t)
	w := newWorld(t, func(o *Options) { o.SignUp = "open" })
	owner := w.account("anna", func(a *control.Account) { a.Admin = true })
	things := belongingsOf(w, "anna")
	i := w.aci("anna", things.byPath["/interests/"], "An annotation of very many words, and of_one_that_is_quite_long_without_any_space_in_it", func(a *xmlschema.ACI) {
		a.Explain = &xmlschema.Explain{Relevance: 60, Threshold: 20, Keywords: []xmlschema.KeywordShare{{Key: "boat", Weight: 5, Title: 1, Share: 0.6}, {Key: "sail", Weight: 1}}}
		a.Also = xmlschema.Also{Count: 1, Documents: []xmlschema.Mirror{{URI: "https://mirror.example/"}}}
		a.Urgency = 3
	})
	things.byPath["/a/"] = fmt.Sprint(i.Seq)
	link := "/in/" + w.invite("zoe")
	raw, err := b.Page(proto.TargetCreateTarget{})
	if err != nil {
		t.Fatal(err)
	}
	p := raw.Timeout(10 * time.Minute)
	paths := []string{"/nowhere", "/?state=bin", link}
	w.site.tools.open = func() (Reader, error) { return new(fakeReader), nil }
	for _, r := range routes() {
		method, _, is := strings.Cut(r.pattern, " ")
		path, _ := things.pathOf(r)
		if is && method == http.MethodGet && !strings.Contains(path, "{") && owner.get(path).isPage() {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		w.ok(p.SetCookies([]*proto.NetworkCookieParam{owner.cookieFor(path)}))
		w.ok(p.Navigate(w.url + path))
		w.ok(p.WaitLoad())
		if _, err := p.Eval("() => {" + string(axe) + "}"); err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 320} {
				w.ok(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}.Call(p))
				w.ok(proto.EmulationSetDeviceMetricsOverride{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}.Call(p))
				for _, v := range violationsOf(t, p) {
					t.Errorf("%s, %s, %d px: %s: %s", path, scheme, width, v.ID, strings.Join(v.Nodes, "\n"))
				}
			}
		}
	}
	t.Logf("%d pages", len(paths))
}

// violation is a rule that a page breaks, with the elements that do.
type violation struct {
	ID    string
	Nodes []string
}

// violationsOf has axe, which the page has loaded, look at it as it is shown.
func violationsOf(t *testing.T, p *rod.Page) (all []violation) {
	t.Helper()
	got, err := p.Eval(`async () => {
		const found = await axe.run({resultTypes: ["violations"]});
		const wide = document.documentElement.scrollWidth > window.innerWidth ? [{id: "wider than the screen", nodes: []}] : [];
		return JSON.stringify(found.violations.concat(wide).map(v => ({id: v.id, nodes: v.nodes.map(n => n.html + " " + n.failureSummary)})));
	}`)
	if err == nil {
		err = json.Unmarshal([]byte(got.Value.Str()), &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}
