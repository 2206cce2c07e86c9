package fulltext

import (
	"net/http"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

// TestADocumentIsOfTheLanguageOfItsWords indexes German text that declares nothing, or something else.
func TestADocumentIsOfTheLanguageOfItsWords(t *testing.T) {
	t.Parallel()
	const german = "Die Zeitung ist nicht von gestern, und wer sie auf dem Weg zur Arbeit liest, der hat an diesem Tag etwas zu sagen, auch wenn es nur das Wetter ist."
	const english = "The newspaper is not of yesterday, and who reads it on the way to work has something to say on that day, even if it is but the weather."
	for _, c := range []struct{ declared, text, want string }{
		{"", german, "de"}, {"en", german, "de"}, {"de-AT", german, "de-AT"},
		{"", english, "en"}, {"en-GB", english, "en-GB"}, {"tlh", english, "en"}, {"tlh", "batlh", "tlh"}, {"", "batlh", ""},
	} {
		got, ok, err := FromDocument(&webrace.Document{
			URL: "http://a.example/", Version: 1, At: time.Unix(1, 0), MediaType: "text/html", Header: http.Header{},
			Body: []byte(`<html lang="` + c.declared + `"><p>` + c.text),
		})
		if err != nil || !ok || got.Language != c.want {
			t.Errorf("declared %q: %q is %q, %v, %v; want %q", c.declared, c.text[:5], got.Language, ok, err, c.want)
		}
	}
}
