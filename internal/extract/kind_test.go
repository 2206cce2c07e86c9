package extract

import "testing"

func TestKindOfDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, body string
		want              Kind
	}{
		{"text/html", "", Nothing},
		{"", "", Nothing},
		{"text/html", "<p>Boat", Page},
		{"application/xhtml+xml", "<html/>", Page},
		{"application/json", "\ufeff\n<!DOCTYPE html><p>Boat", Page},
		{"text/csv", "<HTML><p>Boat", Page},
		{"text/html", `{"boat":1}`, Data},
		{"text/plain", "<htm", Data},
		{"image/png", "\x89PNG", Data},
		{"text/plain", `<rss version="2.0"><channel/></rss>`, Feed},
		{"application/json", `{"version":"https://jsonfeed.org/version/1.1","items":[]}`, Feed},
		{"text/calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR", Feed},
		{"application/rss+xml", "Fatal error", Data},
	} {
		r, err := Document([]byte(c.body), c.contentType, "https://a.example/", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := KindOf(r.MediaType, []byte(c.body), r.Text); got != c.want {
			t.Errorf("%s %q is of kind %d, want %d", c.contentType, c.body, got, c.want)
		}
	}
}
