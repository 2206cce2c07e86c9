package admin

import "time"

// Reloads are those of a pipeline.
type Reloads struct {
	Done       int64         `json:"reloads"`
	Failed     int64         `json:"failed_reloads"`
	LastFailed *FailedReload `json:"last_failed_reload,omitempty"` // if the handler was told why
}

// FailedReload is the last reload that failed.
type FailedReload struct {
	Time   time.Time `json:"time"`
	Error  string    `json:"error"`
	Mended bool      `json:"mended"` // one that came later was done
}

// ReloadFailed tells the handler why a reload of a pipeline failed, which its run has counted.
func (h *Handler) ReloadFailed(name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keepFailure(name, err)
}

// ReloadRefused tells the handler why a reload failed before it came to any pipeline, as of a configuration
// that cannot be read. It counts as a failed one of every pipeline.
func (h *Handler) ReloadRefused(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused++
	for name := range h.runs {
		h.keepFailure(name, err)
	}
}

// failedReload is what is kept of one.
type failedReload struct {
	at    time.Time
	err   error
	after int64 // reloads of the pipeline that were done before
}

func (h *Handler) keepFailure(name string, err error) {
	if run := h.runs[name]; run != nil {
		h.failures[name] = &failedReload{time.Now(), err, run.Snapshot().Reloads}
	}
}

// reloads adds what the handler was told to what the run has counted.
func (r namedRun) reloads(done, failed int64) Reloads {
	all := Reloads{Done: done, Failed: failed + r.refused}
	if f := r.failure; f != nil {
		all.LastFailed = &FailedReload{f.at, f.err.Error(), done > f.after}
	}
	return all
}

// InForce reports whether the pipeline is as its configuration was when it was last read.
func (r Reloads) InForce() bool { return r.LastFailed == nil || r.LastFailed.Mended }
