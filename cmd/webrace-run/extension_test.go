package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// Links to pictures and archives are not followed; who starts at one wants it, and where it has moved to.
func TestAStartIsAStartWhateverItsExtension(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var urds []*xmlschema.URD
	for i, path := range []string{"/picture.jpg", "/paper.pdf", "/archive.zip", "/style.css"} {
		w.handle(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			fmt.Fprint(w, "\x00\x01", path)
		})
		urds = append(urds, w.asks(fmt.Sprint("u", i), path))
	}
	w.handle("/moved.png", http.RedirectHandler("/new/moved.png", http.StatusMovedPermanently).ServeHTTP)
	w.handle("/new/moved.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "png")
	})
	w.page("/page", "/linked.jpg", "/linked")
	w.page("/linked", "tea")
	w.status("/linked.jpg", http.StatusOK)
	w.run(append(urds, w.asks("moved", "/moved.png"), w.asks("page", "/page", depth(2))))
	mustBe(t, "requests", w.requests(),
		"200 /archive.zip", "200 /linked", "200 /new/moved.png", "200 /page", "200 /paper.pdf", "200 /picture.jpg", "200 /style.css", "301 /moved.png")
	for _, path := range []string{"/picture.jpg", "/paper.pdf", "/archive.zip", "/style.css", "/new/moved.png"} {
		if n := len(w.versions(path)); n != 1 {
			t.Errorf("%d versions of %s are stored", n, path)
		}
	}
}
