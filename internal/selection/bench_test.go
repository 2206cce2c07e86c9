package selection

import (
	"os"
	"testing"
)

// BenchmarkApply applies rules to a page of Python's documentation that was taken apart already, and to one
// that was not.
func BenchmarkApply(b *testing.B) {
	body, err := os.ReadFile(pythonDocs + "/library/functools.html")
	if err != nil {
		b.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	for _, list := range []string{"css #functools.reduce", "css h1", "css section p", "xpath //section[@id='x']", "-css .headerlink", `regex \d+ items`} {
		s, err := Compile(rules(list))
		if err != nil {
			b.Fatal(err)
		}
		d := open(b, string(body), "text/html")
		for name, fresh := range map[string]bool{"again": false, "first": true} {
			b.Run(list+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if fresh {
						d = Open(d.body, d.mediaType, "utf-8", d.text)
					}
					if _, err := s.Apply(b.Context(), d, NewBudget()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
