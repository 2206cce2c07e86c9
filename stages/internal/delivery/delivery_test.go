package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

func aci() *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: "a1", Owner: "eleni", URI: "https://a.org/?a=1&b=2", Title: "<b> & ε", Relevance: 70,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 3},
	}
}

func key(t *testing.T, values ...any) string {
	t.Helper()
	k, err := delivery.Keys(values)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAKeyIsThatOfWhatIsSaidAndOfNothingElse(t *testing.T) {
	t.Parallel()
	later := aci()
	later.Expired, later.Title = true, "the title changed while it waited"
	if key(t, aci()) != key(t, later) {
		t.Error("the key of an annotation changes while it waits")
	}
	version, other := aci(), aci()
	version.Docbase.Version++
	other.ID = "a2"
	seen := map[string]int{}
	for i, values := range [][]any{
		{aci()}, {version}, {other}, {aci(), other}, {other, aci()}, {"a1"}, {"a", "b"}, {"ab"}, {[]any{"a", "b"}},
		{&webrace.Notice{ID: "n1"}}, {&webrace.Notice{ID: "n2"}}, {}, {nil},
	} {
		k := key(t, values...)
		if j, twice := seen[k]; twice {
			t.Errorf("%d and %d have the same key", i, j)
		}
		seen[k] = i
	}
	if _, err := delivery.Keys([]any{1, func() {}}); err == nil {
		t.Error("a function has a key")
	}
}

func TestAnAnnotationIsWrittenAsTheCommandLinePrintsIt(t *testing.T) {
	t.Parallel()
	got, err := delivery.JSON(aci())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a1","owner":"eleni","uri":"https://a.org/?a=1&b=2","title":"<b> & ε","relevance":70,` +
		`"update_time":"2026-01-02T02:04:05.000000006Z","docbase":{"digest":"sha256:1","version":3}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGroupsAreTakenApart(t *testing.T) {
	t.Parallel()
	got := delivery.Values([]*pipeline.Item{{Value: 1}, {Value: []any{2, 3}}, {Value: []any{}}, {Value: "4"}})
	if len(got) != 4 || got[1] != 2 || got[3] != "4" {
		t.Errorf("got %v", got)
	}
}

func TestExamplesAreNobodysHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"example.org": true, "smtp.example.org": true, "a.example": true, "example": true,
		"anexample.org": false, "example.org.evil.io": false, "hooks.slack.com": false, "": false, "127.0.0.1": false,
	} {
		if got := delivery.Placeholder(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestAProgramThatLendsNoSecretsSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := delivery.OpenSecrets(pipeline.NewEnv("p", "hook", nil)); err == nil || !strings.Contains(err.Error(), "hook") {
		t.Errorf("got %v", err)
	}
	if _, err := (delivery.Secrets{}).Get(context.Background(), "s"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
