package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestAReloadIsAskedFor(t *testing.T) {
	h := New()
	if status, _ := ask(t, h, "POST", "/reload"); status != http.StatusNotFound {
		t.Errorf("a program that cannot reload answers %d", status)
	}
	summary, failure := "p: replaced shout", error(nil)
	h.OnReload(func(context.Context) (string, error) { return summary, failure })
	if status, body := ask(t, h, "POST", "/reload"); status != http.StatusOK || strings.TrimSpace(body) != summary {
		t.Errorf("a reload is answered %d: %s", status, body)
	}
	failure = errors.New("p.toml:3:1: nothing reads \"flwo\"")
	if status, body := ask(t, h, "POST", "/reload"); status != http.StatusUnprocessableEntity || !strings.Contains(body, failure.Error()) {
		t.Errorf("a reload that fails is answered %d: %s", status, body)
	}
	if status, _ := ask(t, h, "GET", "/reload"); status != http.StatusMethodNotAllowed {
		t.Errorf("a GET that would reload is answered %d", status)
	}
}

func TestWhatBecameOfReloadsIsTold(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("toy", toyOptions{}))
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	tell := func(done, failed int64, why string, mended bool) {
		t.Helper()
		s := stateOfOnly(t, h)
		if s.Done != done || s.Failed != failed || (s.LastFailed == nil) != (why == "") {
			t.Fatalf("%d reloads, %d failed, last %+v", s.Done, s.Failed, s.LastFailed)
		}
		if l := s.LastFailed; l != nil && (l.Error != why || l.Mended != mended || l.Time.IsZero()) {
			t.Errorf("the last that failed is %+v", l)
		}
		_, metrics := ask(t, h, "GET", "/metrics")
		_, page := ask(t, h, "GET", "/")
		for _, line := range []string{
			fmt.Sprintf(`webrace_pipeline_reloads_total{pipeline="toy",result="done"} %d`, done),
			fmt.Sprintf(`webrace_pipeline_reloads_total{pipeline="toy",result="failed"} %d`, failed),
			fmt.Sprintf(`webrace_pipeline_last_reload_successful{pipeline="toy"} %v`, oneIf(why == "" || mended)),
		} {
			if !strings.Contains(metrics, line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
		if says := fmt.Sprintf("reloads: %d done, %d failed", done, failed); strings.Contains(page, says) != (done+failed > 0) {
			t.Errorf("the page does not say as it should that %s", says)
		}
		if shown := strings.Contains(page, why) && why != ""; shown != (why != "" && !mended) {
			t.Errorf("the page shows %q: %t", why, shown)
		}
	}
	tell(0, 0, "", false)
	h.ReloadRefused(errors.New("p.toml:3:1: no such option"))
	tell(0, 1, "p.toml:3:1: no such option", false)
	h.ReloadFailed("other", errors.New("nobody knows it"))
	if _, err := run.Reload(t.Context(), busyGraph("toy", toyOptions{Note: "new"})); err != nil {
		t.Fatal(err)
	}
	tell(1, 1, "p.toml:3:1: no such option", true)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := run.Reload(ended, busyGraph("toy", toyOptions{Note: "newer"}))
	if err == nil {
		t.Fatal("a reload is done that has no time")
	}
	h.ReloadFailed("toy", err)
	tell(1, 2, err.Error(), false)
}
