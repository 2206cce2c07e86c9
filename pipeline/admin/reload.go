package admin

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// OnReload mounts what makes the pipelines go on with another configuration:
//
//	POST /reload    200 and what has changed, as text, or the page for a browser; 422 and why nothing has
//
// The function is called once for each request, with its context, and possibly concurrently.
func (h *Handler) OnReload(reload func(context.Context) (summary string, err error)) {
	h.mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetWriteDeadline(time.Time{}) // it takes as long as stages take to open
		summary, err := reload(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		if wantsPage(r) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, summary)
	})
}
