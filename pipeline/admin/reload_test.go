package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
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
