package robots

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

func TestFilesOfTheTDMReservationProtocol(t *testing.T) {
	t.Parallel()
	// the second example of the protocol's section on the file of an origin
	const groups = `[
		{"location": "/directory-a/", "tdm-reservation": 1},
		{"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy":"https://provider.com/policies/policy.json"},
		{"location": "/directory-b/images/*.jpg", "tdm-reservation": 0}
	]`
	for _, c := range []struct{ name, file, path, want string }{
		{"everything", `[{"location": "/", "tdm-reservation": 1}]`, "/a", "1 tdm-reservation: 1"},
		{"the first group", groups, "/directory-a/x.pdf", "1 tdm-reservation: 1"},
		{"the second, with its terms", groups, "/directory-b/html/", "2 tdm-reservation: 1|2 tdm-policy: https://provider.com/policies/policy.json"},
		{"the third", groups, "/directory-b/images/a/b.jpg", "3 tdm-reservation: 0"},
		{"none of them", groups, "/directory-b/images/a.png", ""},
		{"the first that matches counts", `[{"location": "/a", "tdm-reservation": 0}, {"location": "/a/b", "tdm-reservation": 1}]`, "/a/b", "1 tdm-reservation: 0"},
		{"the end", `[{"location": "/a$", "tdm-reservation": 1}]`, "/a/b", ""},
		{"escapes", `[{"location": "/foo-%24", "tdm-reservation": 1}]`, "/foo-$", "1 tdm-reservation: 1"},
		{"a rule that states nothing", `[{"location": "/", "tdm-reservation": 2}, {"location": "/", "tdm-reservation": true}, {"tdm-reservation": 1}, 5, {"location": 1}, {"location": "/", "tdm-reservation": "1"}]`, "/a", "6 tdm-reservation: 1"},
		{"terms with a line break", `[{"location": "/", "tdm-reservation": 1, "tdm-policy": "/a\nb"}]`, "/a", "1 tdm-reservation: 1"},
		{"no list", `{"location": "/", "tdm-reservation": 1}`, "/a", ""},
		{"no JSON", `<html>`, "/a", ""},
		{"nothing", ``, "/a", ""},
		{"too long", `[{"location": "/", "tdm-reservation": 1}]` + strings.Repeat(" ", MaxBytes), "/a", ""},
	} {
		var got []string
		for _, u := range ParseTDMRep([]byte(c.file)).Usage(c.path) {
			got = append(got, fmt.Sprint(u.Line, " ", u.Text))
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAmplificationOfTDMRep(t *testing.T) {
	for _, c := range []testutil.Construct{
		testutil.Repeated("rules", "[", `{"location":"/a%d","tdm-reservation":1},`, "1]"),
		testutil.Repeated("stars", `[{"tdm-reservation":1,"location":"/`, "*a", `b$"}]`),
		testutil.Repeated("lists", "", "[", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			ParseTDMRep(body).Usage("/" + string(testutil.Repeated("", "", "a", "").Grow(2000)))
			return len(body) > MaxBytes
		})
	}
}

// FuzzTDMRep wants lines that are lines, of a rule that there may be.
func FuzzTDMRep(f *testing.F) {
	f.Add([]byte(`[{"location": "/", "tdm-reservation": 1, "tdm-policy": "/x"}]`), "/")
	f.Add([]byte(`[{"location": "/*a$", "tdm-reservation": "0"}, null]`), "/ba?x")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		told := ParseTDMRep(file).Usage(path)
		for i, u := range told {
			if u.Line < 1 || u.Line > len(file) || strings.ContainsAny(u.Text, "\r\n") || i == 0 && u.Text != "tdm-reservation: 1" && u.Text != "tdm-reservation: 0" || i > 1 {
				t.Errorf("%q states %v of %q", file, told, path)
			}
		}
	})
}
