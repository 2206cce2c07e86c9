package admin

import (
	"net/http"
	"strings"

	"github.com/webrace/webrace/pipeline"
)

// actions are what can be done to a pipeline, by the last element of the path.
var actions = map[string]action{
	"pause":  (*pipeline.Run).Pause,
	"resume": (*pipeline.Run).Resume,
	"drain":  (*pipeline.Run).Drain,
}

// action changes how a pipeline runs. It returns at once, and may be done again without harm.
type action func(*pipeline.Run)

// serve does it. A program gets the state that this led to; a form, the page that it stands on.
func (a action) serve(w http.ResponseWriter, r *http.Request, run namedRun) {
	a(run.Run)
	if wantsPage(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	serveJSON(w, stateOf(run))
}

// wantsPage reports whether a browser asks for something to show, not a script or a program for an answer.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }
