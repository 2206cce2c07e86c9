package fetch

import (
	"net/http"
	"testing"

	"github.com/webrace/webrace/pipeline/stagetest"
)

func TestConformance(t *testing.T) {
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusMovedPermanently)
		case "/gone":
			http.Error(w, "gone", http.StatusGone)
		default:
			w.Write([]byte("<p>a page</p>"))
		}
	}))
	options := local()
	options.Robots = true
	stagetest.Run(t, stagetest.Case{
		Type: "fetch", Options: options,
		Inputs: []any{get(base + "/"), get(base + "/moved"), get(base + "/gone")},
	})
}
