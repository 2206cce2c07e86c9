package archive

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/objects"
)

// Other programs name in no field which page a screenshot is of: it is the last that was fetched before it was made.
func TestScreenshotsOfOtherProgramsComeWithTheirPages(t *testing.T) {
	t.Parallel()
	const signature = "\x89PNG\r\n\x1a\n "
	shot := func(scheme, page, date, fields, what string) string {
		return record("resource", scheme+page, date, fields, what)
	}
	other := "http://b.example/"
	shots := shot("urn:view:", home, "2026-01-01T00:00:09Z", "", signature+"of the first") +
		shot("urn:fullPage:", home, "2026-01-03T00:00:09Z", "", signature+"all of the second") +
		shot("urn:view:", home, "2026-01-03T00:00:09Z", "", signature+"some of the second") +
		shot("urn:view:", home, "2025-01-01T00:00:00Z", "", signature+"older than all") +
		shot("urn:view:", other, "2026-01-01T00:00:00Z", "WARC-Concurrent-To: <urn:uuid:b>\r\n", signature+"by its name") +
		shot("urn:view:", home, "2026-01-01T00:00:00Z", "WARC-Concurrent-To: <urn:uuid:nowhere>\r\n", signature+"of what is not there") +
		shot("urn:thumbnail:", home, "2026-01-01T00:00:00Z", "", signature+"small") +
		shot("urn:view:", other+"x", "2026-01-02T00:00:00Z", "", "\xff\xd8\xff a JPEG")
	pages := page(home, "2026-01-01T00:00:00Z", "one") + page(home, "2026-01-02T00:00:00Z", "two") +
		record("response", other, "2026-01-05T00:00:00Z", "WARC-Record-ID: <urn:uuid:b>\r\n", "HTTP/1.1 200 OK\r\n\r\nthree") +
		page(other+"x", "2026-01-01T00:00:00Z", "four")
	s := openStore(t)
	got, skipped := imported(t, s, file(t, zipped(shots)), file(t, pages))
	left := map[string]int{"further screenshots, and those of no document": 3, "records of other schemes than http, https, mid and ni": 1, "screenshots that are too large or no PNG": 1}
	if got.Versions != 4 || len(skipped) > 0 || !maps.Equal(got.Left, left) {
		t.Errorf("%+v, %q", got, skipped)
	}
	for _, want := range []struct {
		url    string
		number int
		what   string
		whole  bool
	}{{home, 1, "of the first", false}, {home, 2, "all of the second", true}, {other, 1, "by its name", false}, {other + "x", 1, "", false}} {
		v, err := s.Get(want.url, want.number)
		if err != nil {
			t.Fatal(err)
		}
		shot, err := s.Screenshot(v)
		if want.what == "" {
			if !errors.Is(err, objects.ErrNoScreenshot) {
				t.Errorf("%s: %v", want.url, err)
			}
			continue
		}
		if err != nil || !strings.HasSuffix(string(shot.PNG), want.what) || shot.Whole != want.whole {
			t.Errorf("%+v: %+v, %v", want, shot, err)
		}
	}
}
